"""Budgets as they are configured: every key and value is understood or refused, with its line.

They are read without pydantic, whose import would take more than half the time of a check that has nothing to do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple, get_args

from .as_of import AsOf
from .budget_values import (
    BadValueError,
    Growth,
    one_of,
    read_allowances,
    read_calls,
    read_cost,
    read_field,
    read_growth,
    read_name,
    read_named,
    read_number,
    read_paths,
    read_positive,
    read_time,
    read_variables,
)
from .misplaced import refuse_misplaced
from .price import Money
from .project_file import PREFIX
from .toml_origin import Origin, Steps, parse_toml

MOST_BUDGETS = 200
"""Budgets of one configuration."""

ELSEWHERE = ("prices", "organisation_prices")
"""Top-level keys that the price files' reader reads."""

Type = Literal["text", "chat", "tools", "jinja", "format"]
Needed = Literal["exact", "bounded", "any"]
Severity = Literal["error", "warning"]
TEMPLATES = ("jinja", "format")


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What some files may cost.

    ``type`` is what a file, or a ``field`` of it, holds; ``variables`` are samples for a template, and
    ``allowances`` tokens for variables without one. ``count`` is the least that a count must be:
    "exact", "bounded" (exact, or with an upper bound, which is what is compared) or "any".
    ``max_cost`` is for all files together, sent ``calls`` times. Growth of up to ``growth_tolerance``
    tokens is always within ``max_growth``.
    """

    name: str
    paths: tuple[str, ...]
    type: Type = "text"
    field: str | None = None
    variables: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    allowances: Mapping[str, int] = dataclasses.field(default_factory=dict)
    model: str | None = None
    counter: str | None = None
    count: Needed = "bounded"
    max_tokens: int | None = None
    max_tokens_per_file: int | None = None
    max_cost: Money | None = None
    calls: int = 1
    max_growth: Growth | None = None
    growth_tolerance: int = 0
    severity: Severity = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """A model, the time its prices hold at, and budgets."""

    model: str | None = None
    prices_at: AsOf | None = None
    budget: tuple[Budget, ...] = ()


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
    if in_pyproject:
        refuse_misplaced(tables, data, path)
    settings = _below_tool(tables, origin) if in_pyproject else tables
    configuration = validate({key: settings[key] for key in settings if key not in ELSEWHERE}, origin)
    return Loaded(configuration, origin, not settings.keys().isdisjoint(ELSEWHERE))


def validate(settings: Mapping[str, Any], origin: Origin) -> Configuration:
    """Make a configuration of plain values, as TOML or JSON has them."""
    reading = _Reading(origin.header("budget"))
    configuration = reading.configuration(settings)
    if configuration is not None:
        return configuration
    # A mistyped key is missing as well: its misspelling says more.
    first = min(reading.faults, key=lambda fault: (fault.missing, origin.line(*fault.steps)))
    more = f" (and {len(reading.faults) - 1} more)" if len(reading.faults) > 1 else ""
    raise origin.error(first.steps, first.text + more)


class _Fault(NamedTuple):
    steps: Steps
    text: str
    missing: bool = False


class _Reading:
    """All that is wrong in a configuration, as it is read; ``header`` is that of a budget."""

    def __init__(self, header: str) -> None:
        self._header = header
        self.faults: list[_Fault] = []

    def configuration(self, settings: Mapping[str, Any]) -> Configuration | None:
        """The configuration, or None where something is wrong."""
        read = self._table({key: value for key, value in settings.items() if key != "budget"}, _TOP, ())
        budgets = self._budgets(settings.get("budget", ()))
        return None if self.faults else Configuration(**read, budget=budgets)

    def _budgets(self, tables: object) -> tuple[Budget, ...]:
        if not isinstance(tables, list | tuple):
            self._fault(f"a list of tables is needed, each under its own {self._header}", "budget")
            return ()
        if len(tables) > MOST_BUDGETS:
            self._fault(f"more than {MOST_BUDGETS} budgets", "budget")
            return ()
        budgets = [budget for place, table in enumerate(tables) if (budget := self._budget(table, place))]
        if len(budgets) == len(tables):
            names: set[str] = set()
            for place, budget in enumerate(budgets):
                if budget.name in names:
                    self._fault(f"a budget before it is called {budget.name!r} too", "budget", place, "name")
                names.add(budget.name)
        return tuple(budgets)

    def _budget(self, table: object, place: int) -> Budget | None:
        at: Steps = ("budget", place)
        if not isinstance(table, dict):
            self._fault(f"a list of tables is needed, each under its own {self._header}", *at)
            return None
        before = len(self.faults)
        read = self._table(table, _BUDGET, at)
        for key in ("name", "paths"):
            if key not in table:
                self.faults.append(_Fault((*at, key), f"the key {key!r} is missing", missing=True))
        if len(self.faults) > before:
            return None
        budget = Budget(**read)
        for text, *steps in _contradictions(budget, table):
            self._fault(text, *at, *steps)
            return None
        return budget

    def _table(self, table: Mapping[str, Any], readers: Mapping[str, Reader], at: Steps) -> dict[str, Any]:
        read: dict[str, Any] = {}
        for key, value in table.items():
            if key not in readers:
                self._fault(self._unknown(key, at_top=not at), *at, key)
                continue
            try:
                read[key] = readers[key](value)
            except BadValueError as error:
                self._fault(str(error), *at, key, *error.steps)
        return read

    def _unknown(self, key: str, *, at_top: bool) -> str:
        """An unknown key: where it belongs, or the nearest that would do."""
        from .project_file import nearest

        top = (*_TOP, "budget", *ELSEWHERE)
        if at_top and key in _BUDGET:
            return f"misplaced key {key!r}: it belongs under a {self._header}"
        if not at_top and key in top:
            return f"misplaced key {key!r}: it belongs at the top, before every {self._header}"
        if at_top and key == "tool":
            return "misplaced key 'tool': only in pyproject.toml do the keys stand under tool.tokengap"
        if not at_top and key.lower().startswith(("exclude", "ignore")):
            return f"unknown key {key[:60]!r}; a pattern in 'paths' that begins with ! takes files away"
        return nearest(key, top if at_top else _BUDGET, cutoff=0.7)

    def _fault(self, text: str, *steps: str | int) -> None:
        self.faults.append(_Fault(steps, text))


Reader = Callable[[object], Any]

_TOP: Mapping[str, Reader] = {"model": read_named, "prices_at": read_time}

_BUDGET: Mapping[str, Reader] = {
    "name": read_name,
    "paths": read_paths,
    "type": one_of(get_args(Type)),
    "field": read_field,
    "variables": read_variables,
    "allowances": read_allowances,
    "model": read_named,
    "counter": read_named,
    "count": one_of(get_args(Needed)),
    "max_tokens": read_positive,
    "max_tokens_per_file": read_positive,
    "max_cost": read_cost,
    "calls": read_calls,
    "max_growth": read_growth,
    "growth_tolerance": read_number,
    "severity": one_of(get_args(Severity)),
}


def _contradictions(budget: Budget, table: Mapping[str, Any]) -> Iterator[tuple[str, *tuple[str, ...]]]:
    """What a budget's keys, each good by itself, cannot mean together, and the key to blame."""
    limits = ("max_tokens", "max_tokens_per_file", "max_cost", "max_growth")
    if all(getattr(budget, limit) is None for limit in limits):
        yield (f"nothing is limited: at least one of {', '.join(limits)} is needed",)
    for key, needed in (("growth_tolerance", "max_growth"), ("calls", "max_cost")):
        if key in table and getattr(budget, needed) is None:
            yield f"{key!r} means nothing without {needed!r}", key
    for key in ("variables", "allowances"):
        if getattr(budget, key) and budget.type not in TEMPLATES:
            yield f'{key!r} is for templates: type = "jinja" or "format"', key
    for name in budget.variables.keys() & budget.allowances.keys():
        yield f"{name!r} has a sample in 'variables' already", "allowances"


def _below_tool(tables: Mapping[str, Any], origin: Origin) -> Mapping[str, Any]:
    tools = tables.get("tool", {})
    settings = tools.get("tokengap", {}) if isinstance(tools, dict) else {}
    if not isinstance(settings, dict):
        raise origin.error((), "a table is needed")
    return settings
