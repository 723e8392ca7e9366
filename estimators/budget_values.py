"""The values of a budget as people write them: ``8k``, ``0.02 USD``, ``5%``; what is none is refused in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ..tokenizers.errors import TokengapError
from .as_of import AsOf, parse_as_of
from .field_path import parse_path
from .path_patterns import check_pattern
from .price import Money

MOST_PATTERNS = 100
"""Patterns of one budget."""

_SCALE = {"": 1, "k": 1_000, "K": 1_000, "M": 1_000_000}
_TOO_MANY = 10**12 + 1
_NUMBER = re.compile(r"(?P<number>[0-9]{1,30}(?:\.[0-9]{1,6})?) ?(?P<scale>[kKM]?)", re.ASCII)
_COST = re.compile(r"(?P<amount>[0-9]{1,12}(?:\.[0-9]{1,12})?) ?(?P<currency>[A-Za-z]{3})", re.ASCII)
_PERCENT = re.compile(r"(?P<percent>[0-9]{1,6}(?:\.[0-9]{1,6})?) ?%", re.ASCII)


@dataclass(frozen=True, slots=True)
class Growth:
    """How much more than on the base is allowed: a share of it in percent, or a number of tokens."""

    percent: Fraction | None
    tokens: int | None
    text: str

    def most(self, base: int) -> Fraction:
        """The most tokens that are within it, from ``base`` tokens on."""
        return Fraction(base) * (1 + self.percent / 100) if self.percent is not None else Fraction(base + self.tokens)  # type: ignore[operator]


class BadValueError(ValueError):
    """What is wrong with a value; ``steps`` lead from it to the part of it that is to blame."""

    def __init__(self, text: str, *steps: str | int) -> None:
        super().__init__(text)
        self.steps = steps


def read_named(value: object) -> str:
    """The name of a model or a counter, which is looked up when it is needed."""
    if not isinstance(value, str) or not value.strip():
        raise BadValueError("a name in quotes is needed; without one leave the key out")
    return value


def one_of(choices: tuple[str, ...]) -> Callable[[object], str]:
    """A reader of one of some words."""

    def read(value: object) -> str:
        if value not in choices:
            *others, last = map(repr, choices)
            raise BadValueError(f"{value!r:.60} is not one of {', '.join(others)} or {last}")
        return str(value)

    return read


def read_number(value: object) -> int:
    """A number of tokens: ``8000``, ``"8k"`` (thousands), ``"1.5M"`` (millions) or ``"8 k tokens"``.

    >>> read_number("8k")
    8000
    """
    return _whole(value, value.strip().removesuffix("tokens").rstrip() if isinstance(value, str) else value)


def _whole(value: object, written: object) -> int:
    """``written`` is what is read of ``value``, which errors show."""
    if isinstance(written, int) and not isinstance(written, bool):
        written = str(min(written, _TOO_MANY))
    match = _NUMBER.fullmatch(written) if isinstance(written, str) else None
    number = Fraction(match["number"]) * _SCALE[match["scale"]] if match else Fraction(1, 2)
    if number.denominator != 1:
        if isinstance(written, str) and _NUMBER.fullmatch(written.removesuffix("m") + "M"):
            raise BadValueError(f'{value!r:.60}: m is no unit here; millions are written with M, such as "1.5M"')
        raise BadValueError(f'{value!r:.60} is not a whole number such as 8000, "8k" (8,000) or "1.5M" (1,500,000)')
    if number >= _TOO_MANY:
        raise BadValueError(f"{value!r:.60} is more than any budget can mean")
    return int(number)


def read_positive(value: object) -> int:
    """The same, at least 1."""
    if not (number := read_number(value)):
        raise BadValueError("0 would allow nothing; 1 is the least")
    return number


def read_calls(value: object) -> int:
    """A number of calls, at least 1: ``1000``, ``"200k"`` or ``"1.5M"``."""
    if not (number := _whole(value, value.strip() if isinstance(value, str) else value)):
        raise BadValueError("0 calls would cost nothing; 1 is the least")
    return number


def read_cost(value: object) -> Money:
    match = _COST.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise BadValueError(f'{value!r:.60} is not an amount with its currency, in quotes, such as "0.02 USD"')
    if not (amount := Decimal(match["amount"])):
        raise BadValueError("a budget of 0 would allow nothing")
    return Money(amount, match["currency"].upper())


def read_growth(value: object) -> Growth:
    if isinstance(value, str) and (match := _PERCENT.fullmatch(value.strip())):
        return Growth(Fraction(match["percent"]), None, f"{match['percent']}%")
    try:
        tokens = read_number(value)
    except BadValueError:
        raise BadValueError(f'{value!r:.60} is neither a share such as "5%" nor tokens such as 200 or "2k"') from None
    return Growth(None, tokens, f"{tokens:,} token{'' if tokens == 1 else 's'}")


def read_name(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > 200:
        raise BadValueError("a name of printable characters is needed, in quotes, at most 200 of them")
    return value.strip()


def read_paths(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not value or not all(isinstance(pattern, str) for pattern in value):
        raise BadValueError('a list of patterns is needed, such as ["prompts/**/*.md", "!prompts/draft/**"]')
    if len(value) > MOST_PATTERNS:
        raise BadValueError(f"more than {MOST_PATTERNS} patterns; name a folder for all in it")
    for index, pattern in enumerate(value):
        if fault := check_pattern(pattern, first=index == 0):
            raise BadValueError(fault, index)
    return tuple(value)


def read_field(value: object) -> str:
    if not isinstance(value, str):
        raise BadValueError('a field is needed, in quotes, such as "agents[*].system"')
    try:
        parse_path(value)
    except TokengapError as error:
        raise BadValueError(str(error)) from None
    return value


def read_variables(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadValueError('a table of variables is needed, such as { user = "Ann" }')
    for name in value:
        if not name.isidentifier():
            raise BadValueError("not the name of a variable", name)
    return value


def read_allowances(value: object) -> dict[str, int]:
    """The tokens that each of some variables may have."""
    allowed: dict[str, int] = {}
    for name, tokens in read_variables(value).items():
        try:
            allowed[name] = read_number(tokens)
        except BadValueError as error:
            raise BadValueError(str(error), name) from None
    return allowed


def read_time(value: object) -> AsOf:
    if not isinstance(value, str | date):
        raise BadValueError("a date is needed, such as 2026-11-30")
    try:
        return parse_as_of(value)
    except TokengapError as error:
        raise BadValueError(str(error)) from None
