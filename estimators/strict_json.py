"""JSON, parsed strictly: what JSON leaves open would be a wrong number later."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from math import isfinite
from typing import NamedTuple, NoReturn

from ..tokenizers.errors import TokengapError
from .fields import MAX_DEPTH, join, members

_LONGEST_NUMBER = 309  # digits; a longer one is beyond what readers of JSON agree on
_IN_WORDS: Mapping[str, str] = {
    # What Python's parser says, in JSON's words; each is followed by the place.
    "Expecting value": "a JSON value is expected",
    "Expecting property name enclosed in double quotes": "a key in double quotes is expected",
    "Expecting ':' delimiter": "':' is expected",
    "Expecting ',' delimiter": "',' is expected",
    "Illegal trailing comma before end of object": "a comma before '}'",
    "Illegal trailing comma before end of array": "a comma before ']'",
    "Extra data": "the value has ended, and more follows",
    "Unterminated string starting at": "a string without an end",
    "Invalid control character at": "a line break, tab or other control character in a string must be escaped",
    "Invalid \\escape": "an unknown escape in a string",
    "Invalid \\uXXXX escape": "\\u needs four hexadecimal digits",
}
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


class NotJSONError(TokengapError):
    """A text that is not JSON at all, rather than JSON that is refused. Lines and columns are from 1."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(f"not JSON: {problem} (line {line}, column {column})")
        self.problem = problem
        self.column = column


class RefusedError(TokengapError):
    """JSON with what every reader takes another way; the message begins with its path."""


class _Refused(NamedTuple):
    """Stands in the parsed value where something is refused, until its path is known. ``key``: of what is there."""

    problem: str
    key: str | None = None


def parse_json(text: str) -> object:
    """Parse JSON, refusing duplicate keys, numbers that are none, and nesting without end.

    Raises NotJSONError, or RefusedError that names the path of what is refused.
    """
    try:
        value: object = _STRICT.decode(text)
    except (ValueError, RecursionError):
        return _explain(text)
    return value


def _explain(text: str) -> object:
    """What ``parse_json`` does, slower, with a path for what it refuses."""
    if text.startswith("\ufeff"):
        raise RefusedError("begins with a byte order mark (U+FEFF), which JSON has not; save it as UTF-8 without one")
    refused: list[_Refused] = []

    def refuse(problem: str, key: str | None = None) -> _Refused:
        refused.append(_Refused(problem, key))
        return refused[-1]

    try:
        value: object = json.loads(
            text,
            object_pairs_hook=lambda pairs: _unique(pairs, refuse),
            parse_constant=lambda constant: refuse(f"{constant} is not a JSON number"),
            parse_float=lambda digits: _number(digits, refuse),
            parse_int=lambda digits: _whole_number(digits, refuse),
        )
    except json.JSONDecodeError as error:
        problem = _IN_WORDS.get(error.msg.split(": ")[0], error.msg)
        raise NotJSONError(problem, error.lineno, error.colno) from None
    except RecursionError:
        raise RefusedError(f"nested deeper than {MAX_DEPTH} levels ({_too_deep(text)})") from None
    if refused:
        _raise_first(value)
    return value


def _refuse(problem: str, key: str | None = None) -> NoReturn:
    raise ValueError(problem)


def _unique(pairs: list[tuple[str, object]], refuse: Callable[[str, str], _Refused]) -> object:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    times = Counter(key for key, _ in pairs)
    return refuse("the key is there twice", next(key for key in times if times[key] > 1))


def _number(digits: str, refuse: Callable[[str], _Refused]) -> object:
    value = float(digits)
    return value if isfinite(value) else refuse(f"{digits[:40]} is too large a number")


def _whole_number(digits: str, refuse: Callable[[str], _Refused]) -> object:
    if len(digits) > _LONGEST_NUMBER:
        return refuse(f"a number of {len(digits):,} digits is too large")
    return int(digits)


def _raise_first(value: object) -> NoReturn:
    """Name the first of what was refused, in the order of the file."""
    todo = [(value, "")]
    while True:
        item, path = todo.pop()
        if isinstance(item, _Refused):
            path = join(path, item.key) if item.key is not None else path
            raise RefusedError(f"{path}: {item.problem}" if path else item.problem)
        todo.extend(reversed(members(item, path)))


def _too_deep(text: str) -> str:
    """The place where a text is nested too deeply."""
    depth = 0
    for bracket in _BRACKETS.finditer(text):
        depth += 1 if bracket[0] in "[{" else -1 if bracket[0] in "]}" else 0
        if depth > MAX_DEPTH:
            line = text.count("\n", 0, bracket.start()) + 1
            return f"line {line}, column {bracket.start() - text.rfind(chr(10), 0, bracket.start())}"
    return "at its end"


_STRICT = json.JSONDecoder(
    object_pairs_hook=lambda pairs: _unique(pairs, _refuse),
    parse_constant=_refuse,
    parse_float=lambda digits: _number(digits, _refuse),
    parse_int=lambda digits: _whole_number(digits, _refuse),
)
"""Refuses the same, without a word on where; made once, since to make it takes longer than to parse a short text."""
