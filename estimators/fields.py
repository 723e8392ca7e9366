"""JSON input whose every key is accounted for: taken, known to be no part of a prompt, or not counted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import NoReturn, TypeAlias

from ..tokenizers.errors import TokengapError

MAX_DEPTH = 100
"""Deeper nesting than any real request has; it keeps every recursion below Python's own limit."""
MAX_VALUES = 1_000_000
"""More values than any context window holds; in Python a few lists that hold each other can stand for endless ones."""
MAX_BITS = 1024
"""Of a whole number: beyond, it is no double any more, and readers of JSON differ."""

Known: TypeAlias = "frozenset[str] | Mapping[str, Known] | None"
"""The keys an object may hold, with those that their own objects may hold; None: any."""

_PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
_NAMES = {
    dict: "an object",
    list: "an array",
    tuple: "an array",
    str: "a string",
    bool: "a boolean",
    int: "a number",
    float: "a number",
}


def join(path: str, key: str | int) -> str:
    """The path of a member: ``messages[2].content``, as the errors and ``not_counted`` name it."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    if not _PLAIN_KEY.fullmatch(key):
        import json

        return f"{path}[{json.dumps(key)}]"
    return f"{path}.{key}" if path else key


def names(text: str) -> frozenset[str]:
    """The names in a text, for long lists of keys."""
    return frozenset(text.split())


def snake_case(name: str) -> str:
    """A camelCase name in Python's spelling, as protobuf's JSON reads it as well."""
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def spellings(text: str) -> frozenset[str]:
    """The names in a text, in camelCase and in snake_case."""
    return names(text) | {snake_case(name) for name in names(text)}


def fail(path: str, problem: str) -> NoReturn:
    """Refuse the input, naming the place."""
    raise TokengapError(f"{path or 'request'}: {problem}")


def describe(value: object) -> str:
    """A value's type, in JSON's words."""
    return "null" if value is None else _NAMES.get(type(value), f"a Python {type(value).__name__}")


def show(value: object) -> str:
    """A value as a short piece of an error: strings and numbers themselves, of anything else its type."""
    if isinstance(value, str):
        return f"{value[:40]!r}, a string"
    return str(value)[:40] if isinstance(value, int | float) and not isinstance(value, bool) else describe(value)


def members(value: object, path: str) -> list[tuple[object, str]]:
    """The members of an object or array that are not plain text, each with its path; of anything else none."""
    pairs: Iterable[tuple[str | int, object]] = ()
    if isinstance(value, Mapping):
        pairs = value.items()
    elif isinstance(value, list | tuple):
        pairs = enumerate(value)
    return [(member, join(path, key)) for key, member in pairs if not isinstance(member, str)]


def check_json(value: object) -> None:
    """Refuse what is not JSON: NaN and infinity, keys that are no strings, other types, nesting without end."""
    todo: list[tuple[object, str, int]] = [(value, "", 0)]
    left = MAX_VALUES
    while todo:
        item, path, depth = todo.pop()
        if depth > MAX_DEPTH:
            fail(path[:200], f"nested deeper than {MAX_DEPTH} levels")
        _check_value(item, path)
        if isinstance(item, Mapping | list | tuple):
            left -= len(item)
            if left < 0:
                fail("", f"more than {MAX_VALUES:,} values")
            todo.extend((member, place, depth + 1) for member, place in reversed(members(item, path)))


def _check_value(item: object, path: str) -> None:
    """Refuse one value that JSON has not, without a look at its members."""
    if isinstance(item, Mapping):
        for key in item:
            if not isinstance(key, str):
                fail(path, f"a key must be a string, not {describe(key)}")
    elif isinstance(item, float) and not isfinite(item):
        fail(path, f"{item} is not a JSON number")
    elif isinstance(item, int) and item.bit_length() > MAX_BITS:
        fail(path, "the number is too large")
    elif item is not None and not isinstance(item, str | int | float | list | tuple):
        fail(path, f"{describe(item)} is not JSON; give an object as a dict, such as its model_dump()")


class NotCounted:
    """The paths of what was not counted, in order, each once."""

    def __init__(self) -> None:
        self._paths: dict[str, None] = {}

    def add(self, path: str) -> None:
        self._paths[path] = None

    def paths(self) -> tuple[str, ...]:
        return tuple(self._paths)

    def add_unknown(self, value: object, path: str, known: Known) -> None:
        """Note what is unknown inside a setting: keys outside ``known``, objects in lists; None: any key is fine."""
        if known is None:
            return
        if isinstance(value, Mapping):
            for key, member in value.items():
                if key in known:
                    inner = known[key] if isinstance(known, Mapping) else frozenset()
                    self.add_unknown(member, join(path, key), inner)
                else:
                    self.add(join(path, key))
        elif isinstance(value, list | tuple):
            for i, member in enumerate(value):
                self.add_unknown(member, join(path, i), known)


class Fields:
    """The keys of one object. Each is taken once; ``close`` notes those that nobody took."""

    def __init__(self, value: object, path: str, not_counted: NotCounted) -> None:
        if not isinstance(value, Mapping):
            fail(path, f"an object is needed, not {describe(value)}")
        self.path = path
        self.not_counted = not_counted
        self._left: dict[str, object] = dict(value)

    def is_object(self, key: str) -> bool:
        return isinstance(self._left.get(key), Mapping)

    def at(self, key: str | int) -> str:
        return join(self.path, key)

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def peek(self, key: str) -> object:
        """A member that stays to be taken."""
        return self._left.get(key)

    def take(self, key: str) -> object:
        return self._left.pop(key, None)

    def text(self, key: str, *, required: bool = False) -> str | None:
        """Take a string; null and absent are None, unless it is ``required``."""
        if key not in self._left and required:
            fail(self.path, f"{key!r} is missing")
        value = self.take(key)
        if isinstance(value, str) or (value is None and not required):
            return value
        fail(self.at(key), f"a string is needed, not {describe(value)}")

    def spelled(self, key: str) -> str:
        """A key of Google's API as it stands here: camelCase as in its reference, or snake_case as in Python."""
        other = snake_case(key)
        if other in self._left and other != key:
            if key in self._left:
                fail(self.path, f"both {key!r} and {other!r} are given")
            return other
        return key

    def items(self, key: str) -> Sequence[object]:
        """Take an array; null and absent are empty."""
        value = self.take(key)
        if value is None:
            return ()
        if not isinstance(value, list | tuple):
            fail(self.at(key), f"an array is needed, not {describe(value)}")
        return value

    def each(self, key: str) -> list[tuple[object, str]]:
        """Take an array, or the one object in its place that Google's API takes too: the members with their paths."""
        if self.is_object(key):
            return [(self.take(key), self.at(key))]
        return [(item, join(self.at(key), i)) for i, item in enumerate(self.items(key))]

    def fields(self, key: str) -> Fields | None:
        """Take an object; null and absent are None."""
        value = self.take(key)
        return None if value is None else Fields(value, self.at(key), self.not_counted)

    def size(self, key: str) -> int | None:
        """Take a positive whole number, as of pixels."""
        value = self.take(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
            return value
        fail(self.at(key), f"a positive whole number is needed, not {show(value)}")

    def skip(self, settings: Mapping[str, Known]) -> None:
        """Drop what is known to be no part of the prompt; unknown keys inside it are still noted."""
        for key in [key for key in self._left if key in settings]:
            self.not_counted.add_unknown(self._left.pop(key), self.at(key), settings[key])

    def skip_uncounted(self, keys: frozenset[str]) -> None:
        """Note keys whose content is part of the prompt, or may be, but is not at hand."""
        for key in [key for key in self._left if key in keys]:
            if self._left.pop(key) is not None:
                self.not_counted.add(self.at(key))

    def close(self) -> None:
        for key in self._left:
            self.not_counted.add(self.at(key))
        self._left.clear()
