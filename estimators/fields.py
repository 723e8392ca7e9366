"""JSON input whose every key is accounted for: taken, known to be no part of a prompt, or not counted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import NoReturn

from ..tokenizers.errors import TokengapError

MAX_DEPTH = 100
"""Deeper nesting than any real request has; it keeps every recursion below Python's own limit."""

_PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
_NAMES = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number"}


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


def fail(path: str, problem: str) -> NoReturn:
    """Refuse the input, naming the place."""
    raise TokengapError(f"{path or 'request'}: {problem}")


def describe(value: object) -> str:
    """A value's type, in JSON's words."""
    return "null" if value is None else _NAMES.get(type(value), f"a Python {type(value).__name__}")


def check_json(value: object) -> None:
    """Refuse what is not JSON: NaN and infinity, keys that are no strings, other types, too deep a nesting."""
    todo: list[tuple[object, str, int]] = [(value, "", 0)]
    while todo:
        item, path, depth = todo.pop()
        if depth > MAX_DEPTH:
            fail(path[:200], f"nested deeper than {MAX_DEPTH} levels")
        if isinstance(item, Mapping):
            for key, member in item.items():
                if not isinstance(key, str):
                    fail(path, f"the key {str(key)[:80]!r} is not a string")
                todo.append((member, join(path, key), depth + 1))
        elif isinstance(item, list | tuple):
            todo.extend((member, join(path, i), depth + 1) for i, member in enumerate(item))
        elif isinstance(item, float) and not isfinite(item):
            fail(path, f"{item} is not a JSON number")
        elif item is not None and not isinstance(item, str | int | float):
            fail(path, f"{describe(item)} is not JSON")


class NotCounted:
    """The paths of what was not counted, in order, each once."""

    def __init__(self) -> None:
        self._paths: dict[str, None] = {}

    def add(self, path: str) -> None:
        self._paths[path] = None

    def paths(self) -> tuple[str, ...]:
        return tuple(self._paths)

    def add_unknown(self, value: object, path: str, known: frozenset[str] | None) -> None:
        """Note what is unknown inside a setting: keys outside ``known``, objects in lists; None: any key is fine."""
        if known is None:
            return
        if isinstance(value, Mapping):
            for key, member in value.items():
                if key in known:
                    self.add_unknown(member, join(path, key), frozenset())
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

    def items(self, key: str) -> Sequence[object]:
        """Take an array; null and absent are empty."""
        value = self.take(key)
        if value is None:
            return ()
        if not isinstance(value, list | tuple):
            fail(self.at(key), f"an array is needed, not {describe(value)}")
        return value

    def fields(self, key: str) -> Fields | None:
        """Take an object; null and absent are None."""
        value = self.take(key)
        return None if value is None else Fields(value, self.at(key), self.not_counted)

    def size(self, key: str) -> int | None:
        """Take a positive whole number, as of pixels."""
        value = self.take(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
            return value
        fail(self.at(key), f"a positive whole number is needed, not {str(value)[:40]}")

    def skip(self, settings: Mapping[str, frozenset[str] | None]) -> None:
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
