"""Functions written out as the TypeScript declarations that OpenAI shows to its models.

How they are laid out was worked out from published counts: docs/requests.md tells how, and how far it holds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from .fields import NotCounted, fail, join, names
from .framing import ToolRule
from .schema import UNSEEN, resolve
from .tools import Tool

MAX_LEVELS = 64
MAX_PARTS = 20_000
"""Subschemas, and 50 characters of what a reference repeats: a small schema can stand for an endless one."""

_DRAWN = names(
    "type description properties required items enum anyOf oneOf allOf default nullable $ref $defs definitions"
)
_DRAWN_BARE = _DRAWN - {"description", "default"}  # where a schema is no property, these have no place


_SHAPES = frozenset({"anyOf", "oneOf", "allOf", "enum", "const", "items"})


@dataclass(frozen=True, slots=True)
class Declarations:
    """Functions written out. ``has_defaults``: with default values, which no published count confirms.

    ``left_out`` are the keywords that were not written, as text: what they would add if they were shown.
    ``guesses`` are tokens that constructs of no published count may be off by: unions, arrays of objects.
    """

    text: str
    has_defaults: bool
    left_out: tuple[str, ...]
    guesses: int


def declare(tools: tuple[Tool, ...], rule: ToolRule, not_counted: NotCounted, *, defaults: bool = True) -> Declarations:
    """Write functions out in the layout of the rule, noting the paths of the keywords that are left out."""
    lines = ["namespace functions {", ""]
    has_defaults = False
    left_out: list[str] = []
    guesses = 0
    for tool in tools:
        writer = _Writer(tool, rule, not_counted, defaults=defaults)
        lines += [*_comment(tool.description), f"type {tool.name} = ({writer.parameter()}) => any;", ""]
        writer.note_unused()
        has_defaults = has_defaults or writer.has_defaults
        left_out += writer.left_out
        guesses += writer.guesses
    lines.append("} // namespace functions")
    return Declarations("\n".join(lines), has_defaults, tuple(left_out), guesses)


@dataclass(frozen=True, slots=True)
class _Place:
    """A schema, where it stands, how deep among objects, and the references that led to it."""

    schema: Mapping[str, object]
    path: str
    depth: int
    seen: tuple[str, ...]


class _Writer:
    """Writes the parameters of one function."""

    def __init__(self, tool: Tool, rule: ToolRule, not_counted: NotCounted, *, defaults: bool) -> None:
        self.rule = rule
        self.root = tool.schema or {}
        self.root_path = tool.path
        self.not_counted = not_counted
        self.defaults = defaults
        self.has_defaults = False
        self.left_out: list[str] = []
        self.guesses = 0
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
        return f"_: {self._type(root)}"

    def note_unused(self) -> None:
        """Note definitions that nothing refers to: they are not written anywhere."""
        for keyword in ("$defs", "definitions"):
            definitions = self.root.get(keyword)
            for name in definitions if isinstance(definitions, Mapping) else ():
                start = f"#/{keyword}/{name.replace('~', '~0').replace('/', '~1')}"
                if not any(used == start or used.startswith(f"{start}/") for used in self.used):
                    self.not_counted.add(join(join(self.root_path, keyword), name))

    def _open(self, place: _Place, drawn: frozenset[str]) -> _Place:
        """Follow references; what stands beside one wins over what it names. A circle ends as anything at all."""
        schema, path, seen = place.schema, place.path, place.seen
        self._note_left_out(schema, path, drawn)
        while isinstance(reference := schema.get("$ref"), str):
            if reference in seen:
                return _Place({}, path, place.depth, seen)
            target = resolve(reference, self.root, join(path, "$ref"))
            if reference not in self.sizes:
                self.sizes[reference] = len(json.dumps(target)) // 50
            self.written += self.sizes[reference]  # what is referred to again is written again
            seen = (*seen, reference)
            self.used.add(reference)
            path = self.root_path
            for step in reference.split("/")[1:]:
                path = join(path, step.replace("~1", "/").replace("~0", "~"))
            self._note_left_out(target, path, drawn)
            schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
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
        return f"{text} | null" if place.schema.get("nullable") is True and "null" not in text else text

    def _shape(self, place: _Place) -> str:
        schema = place.schema
        for keyword, separator in (("anyOf", " | "), ("oneOf", " | "), ("allOf", " & ")):
            if isinstance(variants := schema.get(keyword), list):
                at = join(place.path, keyword)
                self.guesses += len(variants)
                return separator.join(self._member(variant, join(at, i), place) for i, variant in enumerate(variants))
        if isinstance(values := schema.get("enum"), list | tuple) and values:
            return " | ".join(_literal(value) for value in values)
        kinds = schema.get("type")
        if isinstance(kinds, list):
            self.guesses += len(kinds)
            return " | ".join(self._plain(kind, place) for kind in kinds)
        if kinds is None and "const" in schema:
            return _literal(schema["const"])
        return self._plain(kinds, place)

    def _plain(self, kind: object, place: _Place) -> str:
        schema = place.schema
        if kind == "object" or (kind is None and "properties" in schema):
            return self._object(_Place(schema, place.path, place.depth + 1, place.seen))
        if kind == "array" or (kind is None and "items" in schema):
            items = self._member(schema.get("items"), join(place.path, "items"), place)
            self.guesses += 0 if items.rstrip("[]").isalpha() else 2
            return f"{items}[]"
        return "number" if kind == "integer" else str(kind or "any")

    def _object(self, place: _Place) -> str:
        properties, required = place.schema.get("properties"), place.schema.get("required")
        if not isinstance(properties, Mapping) or not properties:
            self.guesses += 1
            return "{}"
        needed = frozenset(required) if isinstance(required, list | tuple) else frozenset()
        at = join(place.path, "properties")
        drawn = [
            self._property(f"{name}{'' if name in needed else '?'}", schema, join(at, name), place)
            for name, schema in properties.items()
        ]
        if self.rule.one_line_objects and not any(comments or "\n" in line or end for comments, line, end in drawn):
            return "{ " + ", ".join(line for _, line, _ in drawn) + " }"
        margin = " " * (self.rule.indent * place.depth)
        lines = [margin + text for comments, line, end in drawn for text in (*comments, f"{line},{end}")]
        return "\n".join(["{", *lines, "}"])

    def _property(self, name: str, schema: object, path: str, parent: _Place) -> tuple[list[str], str, str]:
        """The comments above a property, its line, and the comment at the end of that line."""
        if not isinstance(schema, Mapping):
            return [], f"{name}: {self._member(schema, path, parent)}", ""
        shown = self.rule.comment_depth is None or parent.depth < self.rule.comment_depth
        opened = self._open(
            _Place(schema, path, parent.depth, parent.seen), _DRAWN if shown else _DRAWN - {"description"}
        )
        description, end = opened.schema.get("description"), ""
        if "default" in opened.schema:
            self.has_defaults = True
            end = f" // default: {_literal(opened.schema['default'])}" if self.defaults else ""
        comments = _comment(description) if shown and isinstance(description, str) else []
        return comments, f"{name}: {self._type(opened)}", end

    def _note_left_out(self, schema: Mapping[str, object], path: str, drawn: frozenset[str]) -> None:
        for keyword, value in schema.items():
            if keyword in drawn or keyword in UNSEEN:
                continue
            if keyword == "additionalProperties" and isinstance(value, bool):
                continue  # strict schemas say it at every object; no published count moves with it
            if keyword == "const" and "type" not in schema:
                continue
            self.not_counted.add(join(path, keyword))
            self.left_out.append(f"{keyword}: {json.dumps(value, ensure_ascii=False)}")


def _comment(text: str | None) -> list[str]:
    return [f"// {line}" for line in text.splitlines()] if text else []


def _literal(value: object) -> str:
    """A value of an enum: a string in quotes as it is, anything else as JSON."""
    return f'"{value}"' if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
