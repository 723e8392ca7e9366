"""Functions written out as the TypeScript declarations that OpenAI shows to its models.

How they are laid out was worked out from published counts: docs/requests.md tells how, and how far it holds. What
no published count covers is also written in the shortest and in the longest form it may have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .fields import NotCounted, fail, join, names
from .framing import ToolRule
from .schema import UNSEEN, resolve
from .tools import Tool

MAX_LEVELS = 64
MAX_PARTS = 20_000
"""Subschemas, and 50 characters of what a reference repeats: a small schema can stand for an endless one."""

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

    ``left_out`` are the keywords that were not written, as text: what they would add if they were shown.
    ``slack`` are tokens either way for what has no form of its own: they are the same text unless something in it
    has no published count.
    """

    text: str
    least: str
    most: str
    left_out: tuple[str, ...]
    slack: int


def declare(tools: tuple[Tool, ...], rule: ToolRule, not_counted: NotCounted) -> Declarations:
    """Write functions out in the layout of the rule, noting the paths of the keywords that are left out."""
    text, writers = _write(tools, rule, not_counted, "likely")
    left_out = tuple(keyword for writer in writers for keyword in writer.left_out)
    slack = sum(writer.slack for writer in writers)
    if not any(writer.has_forms for writer in writers):
        return Declarations(text, text, text, left_out, slack)
    least, _ = _write(tools, rule, NotCounted(), "least")
    most, _ = _write(tools, rule, NotCounted(), "most")
    return Declarations(text, least, most, left_out, slack)


def _write(tools: tuple[Tool, ...], rule: ToolRule, not_counted: NotCounted, form: Form) -> tuple[str, list[_Writer]]:
    lines = ["namespace functions {", ""]
    writers = []
    for tool in tools:
        writer = _Writer(tool, rule, not_counted, form)
        writers.append(writer)
        comments = writer.comment(tool.description)
        lines += [*comments, f"type {tool.name} = ({writer.parameter()}) => any;", ""]
        writer.note_unused()
    lines.append("} // namespace functions")
    return "\n".join(lines), writers


@dataclass(frozen=True, slots=True)
class _Place:
    """A schema, where it stands, how deep among objects, and the references that led to it."""

    schema: Mapping[str, object]
    path: str
    depth: int
    seen: tuple[str, ...]


class _Writer:
    """Writes the parameters of one function.

    ``has_forms``: something in it has a shorter or a longer form than the likely one.
    """

    def __init__(self, tool: Tool, rule: ToolRule, not_counted: NotCounted, form: Form) -> None:
        self.rule = rule
        self.root = tool.schema or {}
        self.root_path = tool.schema_path
        self.not_counted = not_counted
        self.form = form
        self.has_forms = False
        self.left_out: list[str] = []
        self.slack = 0
        self.used: set[str] = set()
        self.sizes: dict[str, int] = {}
        self.levels = 0
        self.written = 0

    def parameter(self) -> str:
        root = self._open(_Place(self.root, self.root_path, 0, ()), _DRAWN_BARE)
        if root.schema.get("properties"):
            return f"_: {self._object(root)}"
        if root.schema.get("type", "object") == "object" and not root.schema.keys() & _SHAPES:
            return ""
        return self._forms(f"_: {self._type(root)}", least="", slack=3)

    def comment(self, text: str | None) -> list[str]:
        """A description as comments; where it has several lines, each but the first may be off by one."""
        lines = text.removesuffix("\n").split("\n") if text else []
        self.slack += max(len(lines) - 1, 0)
        return [f"// {line}" for line in lines]

    def note_unused(self) -> None:
        """Note definitions that nothing refers to: they are not written anywhere."""
        for keyword in ("$defs", "definitions"):
            definitions = self.root.get(keyword)
            for name in definitions if isinstance(definitions, Mapping) else ():
                start = f"#/{keyword}/{name.replace('~', '~0').replace('/', '~1')}"
                if not any(used == start or used.startswith(f"{start}/") for used in self.used):
                    self.not_counted.add(join(join(self.root_path, keyword), name))

    def _forms(self, likely: str, *, least: str | None = None, most: str | None = None, slack: int = 0) -> str:
        """What no published count covers, in the form that is being written."""
        self.has_forms = True
        self.slack += slack
        other = least if self.form == "least" else most if self.form == "most" else None
        return likely if other is None else other

    def _open(self, place: _Place, drawn: frozenset[str]) -> _Place:
        """Follow references; what stands beside one wins over what it names. A circle ends as anything at all."""
        schema, path, seen = place.schema, place.path, place.seen
        self._note_left_out(schema, path, drawn)
        while isinstance(reference := schema.get("$ref"), str):
            if reference in seen:
                return _Place({}, path, place.depth, seen)
            target = resolve(reference, self.root, join(path, "$ref"))
            self.has_forms = True
            self.slack += 2
            if reference not in self.sizes:
                self.sizes[reference] = len(json.dumps(target)) // 50
            self.written += self.sizes[reference]  # what is referred to again is written again
            seen = (*seen, reference)
            self.used.add(reference)
            path = self.root_path
            for step in reference.split("/")[1:]:
                path = join(path, step.replace("~1", "/").replace("~0", "~"))
            self._note_left_out(target, path, drawn)
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            schema = beside if self.form == "least" else {**target, **beside}
        return _Place(schema, path, place.depth, seen)

    def _member(self, schema: object, path: str, parent: _Place, drawn: frozenset[str] = _DRAWN_BARE) -> str:
        """The type of a schema inside another one."""
        if not isinstance(schema, Mapping):
            return "never" if schema is False else "any"
        return self._type(self._open(_Place(schema, path, parent.depth, parent.seen), drawn))

    def _type(self, place: _Place) -> str:
        self.levels += 1
        self.written += 1
        if self.levels > MAX_LEVELS or self.written > MAX_PARTS:
            fail(place.path, f"the schema is deeper than {MAX_LEVELS} levels or has over {MAX_PARTS} parts")
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
            each = [self._plain(kind, place) for kind in kinds]
            shortest = next((text for kind, text in zip(kinds, each, strict=True) if kind != "null"), "any")
            return self._forms(" | ".join(each), least=shortest, slack=len(kinds))
        if kinds is None and "const" in schema:
            return self._forms(_literal(schema["const"]), least="any", slack=1)
        return self._plain(kinds, place)

    def _union(self, keyword: str, separator: str, variants: list[object], place: _Place) -> str:
        at = join(place.path, keyword)
        each = [self._member(variant, join(at, i), place) for i, variant in enumerate(variants)]
        if keyword in self.rule.confirmed:
            return separator.join(each)
        return self._forms(
            separator.join(each),
            least="any" if keyword == "allOf" else None,
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
            shortest = self._plain(kind, place) if isinstance(kind, str) else "any"
            return self._forms(text, least=shortest, slack=len(values))
        self.slack += max(len(values) - CONFIRMED_VALUES, 0)
        escaped = " | ".join(json.dumps(value, ensure_ascii=False) for value in values)
        return text if escaped == text else self._forms(text, most=escaped, slack=1)

    def _plain(self, kind: object, place: _Place) -> str:
        schema = place.schema
        if kind == "object" or (kind is None and "properties" in schema):
            return self._object(_Place(schema, place.path, place.depth + 1, place.seen))
        if kind == "array" or (kind is None and "items" in schema):
            items = self._member(schema.get("items"), join(place.path, "items"), place)
            if not isinstance(schema.get("items"), Mapping) or not items.isalpha():
                self.slack += 0 if "array" in self.rule.confirmed and items.endswith("}") else 2
            return f"{items}[]"
        return "number" if kind == "integer" else str(kind or "any")

    def _object(self, place: _Place) -> str:
        properties, required = place.schema.get("properties"), place.schema.get("required")
        if not isinstance(properties, Mapping) or not properties:
            self.slack += 1
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
        self.slack += len(drawn) if is_deep else 0
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
            self.slack += 2  # it may stand in quotes
        name = f"{name}{'' if is_needed else '?'}"
        if not isinstance(schema, Mapping):
            return [], f"{name}: {self._member(schema, path, parent)}", ""
        shown = self.rule.comment_depth is None or parent.depth < self.rule.comment_depth
        opened = self._open(
            _Place(schema, path, parent.depth, parent.seen), _DRAWN if shown else _DRAWN - {"description"}
        )
        description, end = opened.schema.get("description"), ""
        if "default" in opened.schema:
            end = self._forms(f" // default: {_literal(opened.schema['default'])}", least="", slack=1)
        comments = self.comment(description) if shown and isinstance(description, str) else []
        return comments, f"{name}: {self._type(opened)}", end

    def _note_left_out(self, schema: Mapping[str, object], path: str, drawn: frozenset[str]) -> None:
        for keyword, value in schema.items():
            is_beside = keyword in _UNIONS and bool(schema.get("properties"))  # what an object may be besides
            if (keyword in drawn or keyword in UNSEEN) and not is_beside:
                continue
            if keyword == "additionalProperties" and isinstance(value, bool):
                continue  # strict schemas say it at every object; no published count moves with it
            if keyword == "const" and "type" not in schema:
                continue
            self.not_counted.add(join(path, keyword))
            if keyword not in self.rule.confirmed:
                self.left_out.append(_as_comment(keyword, value))


def _as_comment(keyword: str, value: object) -> str:
    """A keyword as the comment it may be, a list of examples with a line for each."""
    if isinstance(value, list):
        return "\n// - ".join([f"{keyword}:", *(_literal(item) for item in value)])
    return f"{keyword}: {json.dumps(value, ensure_ascii=False)}"


def _literal(value: object) -> str:
    """A value of an enum: a string in quotes as it is, anything else as JSON."""
    return f'"{value}"' if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
