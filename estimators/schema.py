"""JSON Schema as far as a prompt needs it: known keywords, their right types, local references."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from .fields import NotCounted, describe, fail, join, names, show, snake_case

TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})

_SCHEMAS_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_SCHEMA_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SCHEMAS = names(
    "items additionalItems contains not if then else propertyNames additionalProperties unevaluatedProperties "
    "unevaluatedItems"
)
_STRINGS = names(
    "description title format pattern $ref $schema $id $anchor $comment $dynamicRef $dynamicAnchor contentEncoding "
    "contentMediaType"
)
_NUMBERS = names(
    "minimum maximum multipleOf minLength maxLength minItems maxItems minProperties maxProperties minContains "
    "maxContains"
)
_FLAGS = frozenset({"uniqueItems", "nullable", "deprecated", "readOnly", "writeOnly"})
_LISTS = frozenset({"enum", "examples", "required", "propertyOrdering"})
_ANY = names("const default example exclusiveMinimum exclusiveMaximum dependentRequired $vocabulary discriminator")

UNSEEN = frozenset({"$schema", "$id", "$anchor", "$comment", "$dynamicAnchor", "$vocabulary"})
"""Keywords about the schema rather than the data."""


Steps: TypeAlias = "tuple[str | int, ...]"
"""Where a definition stands: the keys and indexes that lead to it from the root."""

_ROOT: Steps = ()


class _Reading(NamedTuple):
    """Where to note what nobody knows, and whether keywords may be in snake_case, as Google's API takes them."""

    not_counted: NotCounted
    in_snake_case: bool


def check_schema(
    value: object, path: str, not_counted: NotCounted, *, in_snake_case: bool = False
) -> dict[str, object]:
    """Check a schema and return it without the keywords nobody knows, whose paths are noted.

    Raises TokengapError that names the path of what is no JSON Schema.
    """
    return _check(value, path, _Reading(not_counted, in_snake_case))


def _check(value: object, path: str, reading: _Reading) -> dict[str, object]:
    if not isinstance(value, Mapping):
        fail(path, f"a JSON schema (an object) is needed, not {describe(value)}")
    kept: dict[str, object] = {}
    for written, content in value.items():
        place, keyword = join(path, written), written
        if reading.in_snake_case and written in _IN_CAMEL_CASE and _IN_CAMEL_CASE[written] not in value:
            keyword = _IN_CAMEL_CASE[written]
        check = _CHECKS.get(keyword)
        if check is None:
            reading.not_counted.add(place)
        elif content == "TYPE_UNSPECIFIED" and keyword == "type":
            continue  # Gemini's word for none
        elif content is not None or keyword in ("const", "default", "example"):
            kept[keyword] = check(content, place, reading)
    return kept


def resolve(reference: str, root: Mapping[str, object], path: str) -> tuple[Mapping[str, object], Steps]:
    """What a local ``$ref`` such as ``#/$defs/Place`` stands for, and where that is.

    Raises TokengapError, naming the path, for one that leads out of the schema or to nothing in it.
    """
    if reference and not reference.startswith("#"):
        fail(path, f"only references within the schema can be read, not {reference[:80]!r}")
    found = _find(reference, root)
    if found is None:
        fail(path, f"{reference[:80]!r} is not in the schema")
    return found


def _find(reference: str, root: Mapping[str, object]) -> tuple[Mapping[str, object], Steps] | None:
    """Follow a JSON pointer in a URI's fragment (RFC 6901, section 6)."""
    if "%" in reference:
        from urllib.parse import unquote

        reference = unquote(reference)
    if not f"{reference}/".startswith("#/"):
        return (root, ()) if not reference else None
    target: object = root
    steps: list[str | int] = []
    for step in reference.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(target, Mapping) and key in target:
            target = target[key]
            steps.append(key)
        elif isinstance(target, list) and key.isdecimal() and len(key) < 8 and int(key) < len(target):
            target = target[int(key)]
            steps.append(int(key))
        else:
            return None
    if isinstance(target, bool):
        target = {}
    return (target, tuple(steps)) if isinstance(target, Mapping) else None


def circular(root: Mapping[str, object]) -> frozenset[Steps]:
    """The definitions that refer to themselves, straight or by way of others, and those between two such circles."""
    refers: dict[Steps, set[Steps]] = {}
    todo = [(root, _ROOT)]
    while todo:
        schema, at = todo.pop()
        if at not in refers:
            found = [target for reference in _references(schema) if (target := _find(reference, root))]
            refers[at] = {steps for _, steps in found}
            todo += found
    return frozenset(_in_circles(_in_circles(refers, backwards=False), backwards=True))


def _in_circles(refers: Mapping[Steps, set[Steps]], *, backwards: bool) -> dict[Steps, set[Steps]]:
    """Without the definitions that refer to none of the others, or none of them to it, until no more fall away."""
    ahead = {at: targets & refers.keys() for at, targets in refers.items()}
    behind: dict[Steps, set[Steps]] = {at: set() for at in ahead}
    for at, targets in ahead.items():
        for target in targets:
            behind[target].add(at)
    if backwards:
        ahead, behind = behind, ahead
    left = {at: len(targets) for at, targets in ahead.items()}
    loose = [at for at, count in left.items() if not count]
    while loose:
        gone = loose.pop()
        del left[gone]
        for at in behind[gone]:
            left[at] -= 1
            if not left[at]:
                loose.append(at)
    return {at: refers[at] & left.keys() for at in left}


def _references(schema: Mapping[str, object]) -> list[str]:
    """Every ``$ref`` inside a schema."""
    found: list[str] = []
    todo: list[object] = [schema]
    while todo:
        item = todo.pop()
        if isinstance(item, Mapping):
            reference = item.get("$ref")
            if isinstance(reference, str):
                found.append(reference)
            todo += item.values()
        elif isinstance(item, list | tuple):
            todo += item
    return found


def _subschema(value: object, path: str, reading: _Reading) -> object:
    return value if isinstance(value, bool) else _check(value, path, reading)


def _by_name(value: object, path: str, reading: _Reading) -> object:
    if not isinstance(value, Mapping):
        fail(path, f"an object of schemas is needed, not {describe(value)}")
    return {name: _subschema(schema, join(path, name), reading) for name, schema in value.items()}


def _list_of(value: object, path: str, reading: _Reading) -> object:
    if not isinstance(value, list | tuple) or not value:
        fail(path, f"a non-empty array of schemas is needed, not {describe(value) if value else 'an empty one'}")
    return [_subschema(schema, join(path, i), reading) for i, schema in enumerate(value)]


def _items(value: object, path: str, reading: _Reading) -> object:
    if isinstance(value, list | tuple):  # a tuple, in drafts before 2020-12
        return [_subschema(schema, join(path, i), reading) for i, schema in enumerate(value)]
    return _subschema(value, path, reading)


def _type(value: object, path: str, _: _Reading) -> object:
    names = value if isinstance(value, list | tuple) else [value]
    for name in names:
        if not isinstance(name, str) or name.lower() not in TYPES:
            shown = repr(name[:40]) if isinstance(name, str) else show(name)
            fail(path, f"{shown} is not a JSON Schema type; known: {', '.join(sorted(TYPES))}")
    lowered = [name.lower() for name in names if isinstance(name, str)]  # Gemini writes STRING
    return lowered if isinstance(value, list | tuple) else lowered[0]


def _typed(needed: type | tuple[type, ...], name: str) -> Callable[[object, str, _Reading], object]:
    def check(value: object, path: str, _: _Reading) -> object:
        if not isinstance(value, needed) or (name == "a number" and isinstance(value, bool)):
            fail(path, f"{name} is needed, not {describe(value)}")
        return value

    return check


def _required(value: object, path: str, _: _Reading) -> object:
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        fail(path, "an array of property names is needed")
    return value


def _anything(value: object, path: str, _: _Reading) -> object:
    return value


_CHECKS: Mapping[str, Callable[[object, str, _Reading], object]] = {
    **dict.fromkeys(_SCHEMAS_BY_NAME, _by_name),
    **dict.fromkeys(_SCHEMA_LISTS, _list_of),
    **dict.fromkeys(_SCHEMAS, _subschema),
    **dict.fromkeys(_STRINGS, _typed(str, "a string")),
    **dict.fromkeys(_NUMBERS, _typed((int, float, str), "a number")),  # Gemini's int64 are strings
    **dict.fromkeys(_FLAGS, _typed(bool, "a boolean")),
    **dict.fromkeys(_LISTS, _typed((list, tuple), "an array")),
    **dict.fromkeys(_ANY, _anything),
    "items": _items,
    "type": _type,
    "required": _required,
}
_IN_CAMEL_CASE = {snake_case(keyword): keyword for keyword in _CHECKS}
