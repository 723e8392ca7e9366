"""Budgets as they are configured: every key and value is understood or refused, with its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError, model_validator
from pydantic_core import ErrorDetails

from .as_of import AsOf
from .budget_values import (
    Growth,
    problem,
    read_allowances,
    read_cost,
    read_field,
    read_growth,
    read_name,
    read_number,
    read_paths,
    read_positive,
    read_time,
    read_variables,
)
from .price import Money
from .project_file import PREFIX
from .toml_origin import Origin, Steps, parse_toml

MOST_BUDGETS = 200
"""Budgets of one configuration."""

ELSEWHERE = ("prices", "organisation_prices")
"""Top-level keys that the price files' reader reads."""

Tokens = Annotated[int, PlainValidator(read_positive)]
Type = Literal["text", "chat", "tools", "jinja", "format"]
Needed = Literal["exact", "bounded", "any"]
Severity = Literal["error", "warning"]
TEMPLATES = ("jinja", "format")


class Budget(BaseModel):
    """What some files may cost.

    ``type`` is what a file, or a ``field`` of it, holds; ``variables`` are samples for a template, and
    ``allowances`` tokens for variables without one. ``count`` is the least that a count must be:
    "exact", "bounded" (exact, or with an upper bound, which is what is compared) or "any".
    ``max_cost`` is for all files together, sent ``calls`` times. Growth of up to ``growth_tolerance``
    tokens is always within ``max_growth``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    name: Annotated[str, PlainValidator(read_name)]
    paths: Annotated[tuple[str, ...], PlainValidator(read_paths)]
    type: Type = "text"
    field: Annotated[str | None, PlainValidator(read_field)] = None
    variables: Annotated[dict[str, Any], PlainValidator(read_variables)] = Field(default_factory=dict)
    allowances: Annotated[dict[str, int], PlainValidator(read_allowances)] = Field(default_factory=dict)
    model: str | None = None
    counter: str | None = None
    count: Needed = "bounded"
    max_tokens: Tokens | None = None
    max_tokens_per_file: Tokens | None = None
    max_cost: Annotated[Money | None, PlainValidator(read_cost)] = None
    calls: Tokens = 1
    max_growth: Annotated[Growth | None, PlainValidator(read_growth)] = None
    growth_tolerance: Annotated[int, PlainValidator(read_number)] = 0
    severity: Severity = "error"

    @model_validator(mode="after")
    def _is_consistent(self) -> Budget:
        limits = ("max_tokens", "max_tokens_per_file", "max_cost", "max_growth")
        if all(getattr(self, limit) is None for limit in limits):
            raise problem(f"nothing is limited: at least one of {', '.join(limits)} is needed")
        for key, needs in (("growth_tolerance", self.max_growth), ("calls", self.max_cost)):
            if key in self.model_fields_set and needs is None:
                raise problem(f"{key!r} means nothing without {'max_growth' if key != 'calls' else 'max_cost'!r}", key)
        for key in ("variables", "allowances"):
            if getattr(self, key) and self.type not in TEMPLATES:
                raise problem(f'{key!r} is for templates: type = "jinja" or "format"', key)
        for name in self.variables.keys() & self.allowances.keys():
            raise problem(f"{name!r} has a sample in 'variables' already", "allowances")
        return self


class Configuration(BaseModel):
    """A model, the time its prices hold at, and budgets."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    model: str | None = None
    prices_at: Annotated[AsOf | None, PlainValidator(read_time)] = None
    budget: tuple[Budget, ...] = ()

    @model_validator(mode="after")
    def _names_differ(self) -> Configuration:
        if len(self.budget) > MOST_BUDGETS:
            raise problem(f"more than {MOST_BUDGETS} budgets", "budget")
        seen: set[str] = set()
        for index, budget in enumerate(self.budget):
            if budget.name in seen:
                raise problem(f"a budget before it is called {budget.name!r} too", f"budget {index} name")
            seen.add(budget.name)
        return self


class Loaded(NamedTuple):
    """A configuration and where it was read. ``has_prices``: its file has prices too, which are read apart."""

    configuration: Configuration
    origin: Origin
    has_prices: bool = False


def read_configuration(data: bytes, path: str) -> Loaded:
    """Read the bytes of a ``tokengap.toml`` or ``pyproject.toml``.

    Raises TokengapError for the first thing that is wrong, with the file's line and the nearest key
    that would do.
    """
    tables = parse_toml(data, path)
    in_pyproject = PurePosixPath(path).name == "pyproject.toml"
    origin = Origin(path, data, PREFIX if in_pyproject else ())
    settings = _below_tool(tables, origin) if in_pyproject else tables
    configuration = validate({key: settings[key] for key in settings if key not in ELSEWHERE}, origin)
    return Loaded(configuration, origin, not settings.keys().isdisjoint(ELSEWHERE))


def validate(settings: Mapping[str, Any], origin: Origin) -> Configuration:
    """Make a configuration of plain values, as TOML or JSON has them."""
    try:
        return Configuration.model_validate(dict(settings))
    except ValidationError as error:
        # A mistyped key is missing as well: its misspelling says more.
        faults = list(_faults(error, origin))
        steps, problem = faults[0]
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise origin.error(steps, problem + more) from None


def _below_tool(tables: Mapping[str, Any], origin: Origin) -> Mapping[str, Any]:
    tools = tables.get("tool", {})
    settings = tools.get("tokengap", {}) if isinstance(tools, dict) else {}
    if not isinstance(settings, dict):
        raise origin.error((), "a table is needed")
    return settings


def _faults(error: ValidationError, origin: Origin) -> Iterator[tuple[Steps, str]]:
    def first(detail: ErrorDetails) -> tuple[bool, int]:
        return detail["type"] == "missing", origin.line(*detail["loc"])

    for detail in sorted(error.errors(include_url=False), key=first):
        steps: Steps = detail["loc"]
        key = detail.get("ctx", {}).get("key") if detail["type"] == "tokengap" else None
        if isinstance(key, str) and key.startswith("budget "):
            _, index, name = key.split(" ")
            steps = (*steps, "budget", int(index), name)
        elif key is not None:
            steps = (*steps, key)
        yield steps, _words(detail, steps)


def _words(detail: ErrorDetails, steps: Steps) -> str:
    """What pydantic found, in words that say what to write instead."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "tokengap":
        return str(context["text"])
    if kind == "extra_forbidden":
        return _unknown(str(steps[-1]), at_top=len(steps) == 1)
    if kind == "literal_error":
        return f"{detail['input']!r:.60} is not one of {context['expected']}"
    if steps[:1] == ("budget",) and len(steps) <= 2:
        return "a list of tables is needed, each under its own [[budget]]"
    words = {"missing": f"the key {steps[-1]!r} is missing", "string_type": "a text in quotes is needed"}
    return words.get(kind, detail["msg"])


def _unknown(key: str, *, at_top: bool) -> str:
    """An unknown key: where it belongs, or the nearest that would do."""
    from .project_file import nearest

    top, inner = (*Configuration.model_fields, *ELSEWHERE), tuple(Budget.model_fields)
    if at_top and key in inner:
        return f"misplaced key {key!r}: it belongs under a [[budget]]"
    if not at_top and key in top:
        return f"misplaced key {key!r}: it belongs at the top, before every [[budget]]"
    if at_top and key == "tool":
        return "misplaced key 'tool': only in pyproject.toml do the keys stand under tool.tokengap"
    return nearest(key, top if at_top else inner)
