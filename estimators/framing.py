"""The framing rules: what a provider adds to the texts of a request, read from ``framing.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

from ..tokenizers.counter import Kind
from ..tokenizers.models import Model

Style = Literal["typescript", "json"]
Method = Literal["tiles", "patches", "claude", "squares", "fixed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What every rule says of itself. ``models`` are globs over model names, first match wins."""

    name: str
    source: str
    date: str
    kind: Kind
    models: tuple[str, ...] = ()
    families: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, str]:
        return {"name": self.name, "source": self.source, "date": self.date}


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRule(Rule):
    """Tokens around messages. ``below`` and ``above`` are how far off the rule may be."""

    per_request: int
    per_message: int
    per_name: int
    role: bool
    system_frame: bool
    function_result: int
    per_call: int
    calls_below: int = 0
    calls_above: int = 0
    parallel_calls_above: int = 0
    below: int = 0
    above_per_message: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRule(Rule):
    """How tool definitions reach the prompt, and what stands around them.

    ``confirmed`` are the constructs of a schema that published counts cover beyond the plain ones (declarations.py).
    """

    style: Style
    overhead: int
    one_line_objects: bool = False
    indent: int = 0
    comment_depth: int | None = None
    with_system: int = 0
    system_suffix: str = ""
    choice_none: int = 0
    choice_required: int = 0
    choice_named: int = 0
    function_call_named: int = 0
    below: int = 0
    above: int = 0
    above_per_tool: int = 0
    confirmed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRule(Rule):
    """How an image becomes tokens; which fields count depends on ``method`` (see images.py)."""

    method: Method
    base: int = 0
    tile: int = 0
    multiplier: str = "1"
    details: Mapping[str, str | Mapping[str, int]] | None = None
    side: int = 0
    budget: int = 0
    side_at_least: int = 0
    resized_above: int = 0
    small_side: int = 0
    tile_side: int = 0
    tokens: int = 0
    at_least: int = 0
    at_most: int = 0
    resolutions: Mapping[str, int] | None = None


AnyRule = TypeVar("AnyRule", bound=Rule)


@dataclass(frozen=True, slots=True)
class Rules:
    """All the rules, in the order in which they are tried."""

    messages: tuple[MessageRule, ...]
    tools: tuple[ToolRule, ...]
    structured_output: tuple[Rule, ...]
    images: tuple[ImageRule, ...]


@cache
def rules() -> Rules:
    """The table that comes with tokengap."""
    import json

    table = json.loads(Path(__file__).with_name("framing.json").read_bytes())

    def read(rule: type[AnyRule], entries: list[dict[str, object]]) -> tuple[AnyRule, ...]:
        return tuple(
            rule(**{key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()})  # type: ignore[arg-type]
            for entry in entries
        )

    return Rules(
        read(MessageRule, table["messages"]),
        read(ToolRule, table["tools"]),
        read(Rule, table["structured_output"]),
        read(ImageRule, table["images"]),
    )


def find_rule(candidates: tuple[AnyRule, ...], model: Model) -> AnyRule | None:
    """The first rule that names the model, by a glob over its name or by its family."""
    for rule in candidates:
        if model.family in rule.families or any(fnmatchcase(model.name, glob) for glob in rule.models):
            return rule
    return None
