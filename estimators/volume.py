"""What a month of calls costs, as a range, and what the same month costs by a count of words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ..tokenizers.errors import TokengapError
from .as_of import parse_as_of
from .cost import Bill, Quantity, exact_total, make_bill, quote
from .currency import ExchangeRate, given_rate
from .price import Money, Price, PriceSource, given_price, money
from .price_book import STANDARD, PriceBook, check_names
from .usage import check_count

_WHOLE = re.compile(r"[0-9]{1,15}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Range:
    """The least, the usual and the most of something."""

    min: int
    typical: int
    max: int

    def __post_init__(self) -> None:
        for value in (self.min, self.typical, self.max):
            check_count(value, "a range")
        if not self.min <= self.typical <= self.max:
            raise TokengapError(f"bad range {self.min}/{self.typical}/{self.max}: min, typical, max must not fall")


@dataclass(frozen=True, slots=True)
class MoneyRange:
    """What the least, the usual and the most cost; ``None`` where that is not known."""

    min: Money | None
    typical: Money | None
    max: Money | None

    def to_dict(self) -> dict[str, Any]:
        return {
            name: amount.to_dict() if (amount := getattr(self, name)) is not None else None
            for name in ("min", "typical", "max")
        }


@dataclass(frozen=True, slots=True)
class VolumeEstimate:
    """A month of calls: its ``cost``, and by ``words`` in place of the input's tokens; ``gap`` = cost - words.

    A positive gap is what an estimate by words leaves out.
    """

    status: str
    calls: Range
    input: int
    output: Range
    cached_share: Fraction
    cost: MoneyRange
    word_input: Fraction | None
    words: MoneyRange | None
    gap: MoneyRange | None
    source: PriceSource
    warnings: tuple[str, ...]
    converted: MoneyRange | None = None
    per: str = "month"

    def to_dict(self) -> dict[str, Any]:
        return {
            "status": self.status,
            "calls": _numbers(self.calls),
            "per": self.per,
            "input": self.input,
            "output": _numbers(self.output),
            "cached_share": str(self.cached_share),
            "cost": self.cost.to_dict(),
            "converted": self.converted.to_dict() if self.converted else None,
            "word_input": None if self.word_input is None else str(self.word_input),
            "words": self.words.to_dict() if self.words else None,
            "gap": self.gap.to_dict() if self.gap else None,
            "warnings": list(self.warnings),
        }


def parse_range(text: str, what: str) -> Range:
    """Read ``300``, or ``100/300/900`` for min, typical and max.

    >>> parse_range("100/300/900", "output").typical
    300
    """
    parts = [part.strip() for part in text.split("/")]
    if len(parts) not in (1, 3) or not all(_WHOLE.fullmatch(part) for part in parts):
        raise TokengapError(f"bad {what} {text[:40]!r}: a whole number is needed, or min/typical/max as in 100/300/900")
    numbers = [int(part) for part in parts]
    return Range(*(numbers * 3 if len(numbers) == 1 else numbers))


def parse_share(text: str) -> Fraction:
    """Read a share as ``0.6`` or ``60%``."""
    match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,9})?)(%?)", text.strip(), re.ASCII)
    share = Fraction(match[1]) / (100 if match[2] else 1) if match else None
    if share is None or share > 1:
        raise TokengapError(f"bad share {text[:40]!r}: between 0 and 1 is needed, such as 0.6 or 60%")
    return share


def monthly_cost(  # noqa: PLR0913 - options, each by its name
    model: str | None,
    *,
    input: int,
    output: Range,
    calls: Range,
    cached_share: Fraction = Fraction(0),
    word_input: Fraction | None = None,
    provider: str | None = None,
    variant: str | None = None,
    as_of: str | date | None = None,
    price: Price | str | None = None,
    book: PriceBook | None = None,
    exchange_rate: ExchangeRate | str | None = None,
) -> VolumeEstimate:
    """What ``calls`` a month cost that send ``input`` tokens each, ``cached_share`` of them read from the cache.

    Of each call a whole number of tokens is read from the cache, a fraction rounded down.
    ``word_input`` is the same input by a count of words (words x factor). The least is the fewest
    calls with the shortest answers, the most the most with the longest. Raises UnknownNameError for
    a model without a known price, and TokengapError as price_usage does.
    """
    check_count(input, "input")
    check_names(model, provider, variant)
    for name, value, kinds, form in (
        ("output", output, (Range,), "Range(100, 300, 900)"),
        ("calls", calls, (Range,), "Range(1000, 1000, 1000)"),
        ("cached_share", cached_share, (int, Fraction), "Fraction(3, 5)"),
        ("word_input", word_input, (int, Fraction, type(None)), "Fraction(4000, 3)"),
    ):
        if not isinstance(value, kinds):
            raise TokengapError(f"{name} must be such as {form}, not {value!r:.40}")
    if not 0 <= cached_share <= 1:
        raise TokengapError(f"bad cached share {cached_share}: between 0 and 1 is needed")
    if word_input is not None and word_input < 0:
        raise TokengapError(f"bad word-based input {word_input}: it cannot be negative")
    price, exchange_rate = given_price(price), given_rate(exchange_rate)
    if price is None:
        if model is None:
            raise TokengapError("a model is needed, or a price, such as --model gpt-4o or --price '3 USD'")
        price = quote(model, parse_as_of(as_of), provider=provider, variant=variant, book=book)
    elif variant not in (None, STANDARD):
        raise TokengapError(f"a price given with the call is the price: leave out the variant {variant!r}")

    def by(tokens: Quantity) -> Callable[[int], Bill]:
        cached = int(tokens * cached_share)
        return lambda answer: make_bill(price, {"input": tokens, "cache_read": cached, "output": answer})

    typical = by(input)(output.typical)
    cost = _totals(by(input), output, calls)
    words = None if word_input is None else _totals(by(word_input), output, calls)
    gap = None if words is None else [_less(one, other) for one, other in zip(cost, words, strict=True)]
    warnings = typical.warnings
    if cached_share and "cache_write" in price.per_million:
        warnings += ("cache_writes_left_out: filling the cache is charged too, and is not in this estimate",)
    return VolumeEstimate(
        typical.status,
        calls,
        input,
        output,
        cached_share,
        _range(cost, price.currency),
        word_input,
        None if words is None else _range(words, price.currency),
        None if gap is None else _range(gap, price.currency),
        price.source,
        tuple(dict.fromkeys(warnings)),
        _converted(cost, price.currency, exchange_rate),
    )


def _totals(bill: Callable[[int], Bill], output: Range, calls: Range) -> list[Fraction | None]:
    """The least, the usual and the most, exact: a factor such as 4/3 goes into a sum whose decimals may end."""
    ends = ((output.min, calls.min), (output.typical, calls.typical), (output.max, calls.max))
    totals = [(exact_total(bill(answer)), times) for answer, times in ends]
    return [None if total is None else total * times for total, times in totals]


def _converted(totals: list[Fraction | None], currency: str, rate: ExchangeRate | None) -> MoneyRange | None:
    if rate is None or all(total is None for total in totals):
        return None
    rate.convert(Money(Decimal(0), currency))  # refuses another currency's rate
    return _range([None if total is None else total * Fraction(rate.rate) for total in totals], rate.quote)


def _less(cost: Fraction | None, words: Fraction | None) -> Fraction | None:
    return None if cost is None or words is None else cost - words


def _range(totals: list[Fraction | None], currency: str) -> MoneyRange:
    return MoneyRange(*(None if total is None else money(total, currency) for total in totals))


def _numbers(numbers: Range) -> dict[str, int]:
    return {"min": numbers.min, "typical": numbers.typical, "max": numbers.max}
