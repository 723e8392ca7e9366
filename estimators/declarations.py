"""Functions written out as the TypeScript declarations that OpenAI shows to its models.

How they are laid out was worked out from published counts: docs/requests.md tells how, and how far it holds. What
no published count covers is also written in the shortest and in the longest form it may have.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from .fields import NotCounted, join, names
from .framing import ToolRule
from .schema import UNSEEN, Steps, circular, resolve
from .tools import Tool

MAX_LEVELS = 32
"""Deeper, a reference is not followed: with the levels that JSON may have it keeps recursion below Python's limit."""
MAX_REPEATED = 5_000
"""Parts of 50 characters that the longest form writes again: OpenAI takes 5,000 properties in a schema at the most."""

CONFIRMED_DEPTH = 1
CONFIRMED_VALUES = 5
"""How deep among the parameters objects stand, and how many values enums have, in published counts."""

Form = Literal["likely", "least", "most"]

_DRAWN = names(
    "type description properties required items enum anyOf oneOf allOf default nullable $ref $defs definitions"
)
_DRAWN_BARE = _DRAWN - {"description", "default"}  # where a schema is no property, these have no place
_UNIONS: Mapping[str, str] = {"anyOf": " | ", "oneOf": " | ", "allOf": " & "}
_SHAPES = frozenset(_UNIONS) | {"enum", "const", "items"}
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


@dataclass(frozen=True, slots=True)
class Declarations:
    """Functions written out. ``least`` and ``most`` are the shortest and the longest form they may have.

    They are the same text unless something in it has no published count. ``below`` and ``above`` are tokens less and
    more for what has no form of its own. ``bare`` is without any parameters, ``bare_below`` of it alone: no form is
    shorter. ``left_out`` are the keywords that were not written, as text, and how often: what they would add if they
    were shown.
    """

    text: str
    least: str
    most: str
    below: int
    above: int
    bare: str
    bare_below: int
    left_out: Mapping[str, int]


def declare(tools: tuple[Tool, ...], rule: ToolRule, not_counted: NotCounted) -> Declarations:
    """Write functions out in the layout of the rule, noting the paths of the keywords that are left out."""
    likely = _write(tools, rule, "likely")
    for writer in likely.writers:
        writer.note_unused(not_counted)
    least = most = likely
    if any(writer.has_forms for writer in likely.writers):
        least, most = _write(tools, rule, "least"), _write(tools, rule, "most")
    bare = _write(tuple(replace(tool, schema=None) for tool in tools), rule, "likely")
    left_out = Counter(keyword for writer in most.writers for keyword in writer.left_out)
    return Declarations(
        likely.text, least.text, most.text, least.below(), most.above(), bare.text, bare.below(), left_out
    )


class _Written(NamedTuple):
    text: str
    writers: list[_Writer]

    def below(self) -> int:
        return sum(writer.below for writer in self.writers)

    def above(self) -> int:
        return sum(writer.above for writer in self.writers)


def _write(tools: tuple[Tool, ...], rule: ToolRule, form: Form) -> _Written:
    lines = ["namespace functions {", ""]
    writers = []
    for tool in tools:
        writer = _Writer(tool, rule, form)
        writers.append(writer)
        comments = writer.comment(tool.description)
        lines += [*comments, f"type {tool.name} = ({writer.parameter()}) => any;", ""]
    lines.append("} // namespace functions")
    return _Written("\n".join(lines), writers)


@dataclass(frozen=True, slots=True)
class _Place:
    """A schema, where it stands, how deep among objects, and the definitions it is within."""

    schema: Mapping[str, object]
    path: str
    depth: int
    within: tuple[Steps, ...]


class _Writer:
    """Writes the parameters of one function.

    ``has_forms``: something in it has a shorter or a longer form than the likely one.
    """

    def __init__(self, tool: Tool, rule: ToolRule, form: Form) -> None:
        self.rule = rule
        self.root = tool.schema or {}
        self.root_path = tool.schema_path
        self.form = form
        self.has_forms = False
        self.left_out: list[str] = []
        self.below = self.above = 0
        self.written: set[Steps] = {()}
        self.circular: frozenset[Steps] | None = None
        self.levels = 0
        self.repeated = 0

    def parameter(self) -> str:
        root = self._open(_Place(self.root, self.root_path, 0, ((),)), _DRAWN_BARE)
        if root.schema.get("properties"):
            return f"_: {self._object(root)}"
        if root.schema.get("type", "object") == "object" and not root.schema.keys() & _SHAPES:
            return ""
        if self.form == "least":
            return ""
        return self._forms(f"_: {self._type(root)}", least="", slack=3)

    def comment(self, text: str | None) -> list[str]:
        """A description as comments; where it has several lines, each but the first may be off by one."""
        lines = text.removesuffix("\n").split("\n") if text else []
        self._slack(max(len(lines) - 1, 0))
        return [f"// {line}" for line in lines]

    def note_unused(self, not_counted: NotCounted) -> None:
        """Note definitions that are not written anywhere: nothing that is written refers to them."""
        used = {steps[:2] for steps in self.written}
        for keyword in ("$defs", "definitions"):
            definitions = self.root.get(keyword)
            for name in definitions if isinstance(definitions, Mapping) else ():
                if (keyword, name) not in used:
                    not_counted.add(join(join(self.root_path, keyword), name))

    def _slack(self, tokens: int) -> None:
        self.below += tokens
        self.above += tokens

    def _forms(self, likely: str, *, least: str | None = None, most: str | None = None, slack: int = 0) -> str:
        """What no published count covers, in the form that is being written."""
        self.has_forms = True
        self.above += slack
        self.below += slack if least is None else 0
        other = least if self.form == "least" else most if self.form == "most" else None
        return likely if other is None else other

    def _open(self, place: _Place, drawn: frozenset[str]) -> _Place:
        """Follow references; what stands beside one wins over what it names. One not followed is anything at all."""
        schema, path, within = place.schema, place.path, place.within
        self._note_left_out(schema, drawn)
        while isinstance(reference := schema.get("$ref"), str):
            target, steps = resolve(reference, self.root, join(path, "$ref"))
            self.has_forms = True
            self.above += 2
            schema = {key: value for key, value in schema.items() if key != "$ref"}
            if self._is_written_here(steps, target, within):
                within = (*within, steps)
                path = self.root_path
                for step in steps:
                    path = join(path, step)
                self._note_left_out(target, drawn)
                schema = {**target, **schema}
        return _Place(schema, path, place.depth, within)

    def _is_written_here(self, steps: Steps, target: Mapping[str, object], within: tuple[Steps, ...]) -> bool:
        """Whether a definition is written where it is referred to.

        In the likely form that is where it is first met, in the longest also where it is met again, unless it
        refers to itself; in the shortest nowhere.
        """
        if self.form == "least" or steps in within or self.levels > MAX_LEVELS:
            return False
        if steps not in self.written:
            self.written.add(steps)
            return True
        if self.form == "likely":
            return False
        if self.circular is None:
            self.circular = circular(self.root)
        if steps in self.circular:
            return False
        self.repeated += 1 + len(json.dumps(target)) // 50
        return self.repeated <= MAX_REPEATED

    def _member(self, schema: object, path: str, parent: _Place, drawn: frozenset[str] = _DRAWN_BARE) -> str:
        """The type of a schema inside another one."""
        if not isinstance(schema, Mapping):
            return "never" if schema is False else "any"
        return self._type(self._open(_Place(schema, path, parent.depth, parent.within), drawn))

    def _type(self, place: _Place) -> str:
        self.levels += 1
        text = self._shape(place)
        self.levels -= 1
        if place.schema.get("nullable") is True and "null" not in text:
            return self._forms(f"{text} | null", least=text, slack=1)
        return text

    def _shape(self, place: _Place) -> str:
        schema, kinds = place.schema, place.schema.get("type")
        for keyword, separator in _UNIONS.items():
            if isinstance(variants := schema.get(keyword), list) and not schema.get("properties"):
                return self._union(keyword, separator, variants, place)
        if isinstance(values := schema.get("enum"), list | tuple) and values:
            return self._enum(values, place)
        if isinstance(kinds, list):
            if self.form == "least":
                return self._plain(next((kind for kind in kinds if kind != "null"), None), place)
            return self._forms(" | ".join(self._plain(kind, place) for kind in kinds) or "any", slack=len(kinds))
        if kinds is None and "const" in schema:
            return self._forms(_literal(schema["const"]), least="any", slack=1)
        return self._plain(kinds, place)

    def _union(self, keyword: str, separator: str, variants: list[object], place: _Place) -> str:
        if self.form == "least" and keyword == "allOf":
            return "any"
        at = join(place.path, keyword)
        each = [self._member(variant, join(at, i), place) for i, variant in enumerate(variants)]
        if keyword in self.rule.confirmed:
            return separator.join(each)
        return self._forms(
            separator.join(each),
            most="".join(f"\n{separator}{text}" for text in each),
            slack=len(each),
        )

    def _enum(self, values: Sequence[object], place: _Place) -> str:
        text = " | ".join(_literal(value) for value in values)
        kind = place.schema.get("type")
        needed = str if kind == "string" else int | float
        if kind not in ("string", "integer", "number") or not all(
            isinstance(value, needed) and not isinstance(value, bool) for value in values
        ):
            if self.form == "least":
                return self._plain(kind, place) if isinstance(kind, str) else "any"
            return self._forms(text, slack=len(values))
        self._slack(max(len(values) - CONFIRMED_VALUES, 0))
        escaped = " | ".join(json.dumps(value, ensure_ascii=False) for value in values)
        return text if escaped == text else self._forms(text, most=escaped, slack=1)

    def _plain(self, kind: object, place: _Place) -> str:
        schema = place.schema
        if kind == "object" or (kind is None and "properties" in schema):
            return self._object(_Place(schema, place.path, place.depth + 1, place.within))
        if kind == "array" or (kind is None and "items" in schema):
            items = self._member(schema.get("items"), join(place.path, "items"), place)
            if not isinstance(schema.get("items"), Mapping) or not items.isalpha():
                self._slack(0 if "array" in self.rule.confirmed and items.endswith("}") else 2)
            return f"{items}[]"
        return "number" if kind == "integer" else str(kind or "any")

    def _object(self, place: _Place) -> str:
        properties, required = place.schema.get("properties"), place.schema.get("required")
        if not isinstance(properties, Mapping) or not properties:
            self._slack(1)
            return "{}"
        needed = frozenset(required) if isinstance(required, list | tuple) else frozenset()
        at = join(place.path, "properties")
        drawn = [
            self._property(name, name in needed, schema, join(at, name), place) for name, schema in properties.items()
        ]
        is_deep = place.depth > CONFIRMED_DEPTH
        on_one_line = self.rule.one_line_objects and not any(
            comments or "\n" in line or end for comments, line, end in drawn
        )
        indent = self.rule.indent
        self._slack(len(drawn) if is_deep else 0)
        if self.rule.one_line_objects and (is_deep or (on_one_line and len(drawn) > 1)):
            self.has_forms = True  # published counts have one property on one line, no more
            if self.form == "most":
                on_one_line, indent = False, 2
        if on_one_line:
            return "{ " + ", ".join(line for _, line, _ in drawn) + " }"
        margin = " " * (indent * place.depth)
        lines = [margin + text for comments, line, end in drawn for text in (*comments, f"{line},{end}")]
        return "\n".join(["{", *lines, "}"])

    def _property(
        self, name: str, is_needed: bool, schema: object, path: str, parent: _Place
    ) -> tuple[list[str], str, str]:
        """The comments above a property, its line, and the comment at the end of that line."""
        if not _NAME.fullmatch(name) and "name" not in self.rule.confirmed:
            self._slack(2)  # it may stand in quotes
        name = f"{name}{'' if is_needed else '?'}"
        if not isinstance(schema, Mapping):
            return [], f"{name}: {self._member(schema, path, parent)}", ""
        shown = self.rule.comment_depth is None or parent.depth < self.rule.comment_depth
        opened = self._open(
            _Place(schema, path, parent.depth, parent.within), _DRAWN if shown else _DRAWN - {"description"}
        )
        description, end = opened.schema.get("description"), ""
        if "default" in opened.schema:
            end = self._forms(f" // default: {_literal(opened.schema['default'])}", least="", slack=1)
        comments = self.comment(description) if shown and isinstance(description, str) else []
        return comments, f"{name}: {self._type(opened)}", end

    def _note_left_out(self, schema: Mapping[str, object], drawn: frozenset[str]) -> None:
        """Keep keywords that are not drawn, for the interval: nobody knows whether they are shown."""
        for keyword, value in schema.items():
            is_beside = keyword in _UNIONS and bool(schema.get("properties"))  # what an object may be besides
            if keyword in self.rule.confirmed or ((keyword in drawn or keyword in UNSEEN) and not is_beside):
                continue
            if keyword == "additionalProperties" and isinstance(value, bool):
                continue  # strict schemas say it at every object; no published count moves with it
            if keyword == "const" and "type" not in schema:
                continue
            self.left_out.append(_as_comment(keyword, value))


def _as_comment(keyword: str, value: object) -> str:
    """A keyword as the comment it may be, a list of examples with a line for each."""
    if isinstance(value, list):
        return "\n// - ".join([f"{keyword}:", *(_literal(item) for item in value)])
    return f"{keyword}: {json.dumps(value, ensure_ascii=False)}"


def _literal(value: object) -> str:
    """A value of an enum: a string in quotes as it is, anything else as JSON."""
    return f'"{value}"' if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
