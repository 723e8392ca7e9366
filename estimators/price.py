"""Money: prices per million tokens, and what a number of tokens costs. ``Decimal`` throughout."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

from ..tokenizers.errors import TokengapError

TOKENS_PER_PRICE = 1_000_000
"""Prices are per this many tokens, everywhere."""

ABSURD = Decimal(1_000_000)
"""A price of this much per million tokens is one whole unit of currency a token: a mistaken unit."""

CONTEXT = Context(prec=50, rounding=ROUND_HALF_EVEN)
"""Our own decimal context, so that a caller's never changes a sum."""

_UNITS = {"in": "input", "input": "input", "out": "output", "output": "output"}
_FORM = "such as '3 EUR' or 'in=3,out=15 USD'"


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in one currency; never rounded."""

    amount: Decimal
    currency: str

    def __add__(self, other: Money) -> Money:
        return Money(CONTEXT.add(self.amount, self._same(other).amount), self.currency)

    def __sub__(self, other: Money) -> Money:
        return Money(CONTEXT.subtract(self.amount, self._same(other).amount), self.currency)

    def __mul__(self, times: int) -> Money:
        return Money(CONTEXT.multiply(self.amount, Decimal(times)), self.currency)

    def to_dict(self) -> dict[str, str]:
        return {"amount": plain(self.amount), "currency": self.currency}

    def _same(self, other: Money) -> Money:
        if self.currency != other.currency:
            raise TokengapError(f"{self.currency} and {other.currency} cannot be added without a rate")
        return other


@dataclass(frozen=True, slots=True)
class PriceSource:
    """Where a price was read: the table and its version, the model it is for, the time it holds at."""

    table: str
    version: str | None = None
    provider: str | None = None
    model: str | None = None
    as_of: str | None = None


@dataclass(frozen=True, slots=True)
class Tier:
    """The prices of a request whose input is longer than ``above`` tokens."""

    above: int
    per_million: Mapping[str, Decimal]


@dataclass(frozen=True, slots=True)
class Price:
    """Prices per million tokens by unit ("input", "output"), and where they were read.

    A unit that is absent has no known price; it never costs 0. ``tiers`` are the prices of a whole
    request whose input is longer than ``Tier.above`` tokens, lowest first.
    """

    currency: str
    per_million: Mapping[str, Decimal]
    source: PriceSource
    tiers: tuple[Tier, ...] = ()

    def cost(self, tokens: int | Fraction, unit: str = "input") -> Money | None:
        """What a request costs that is ``tokens`` of ``unit`` alone; ``None`` where the unit has no price.

        >>> parse_price("3 EUR").cost(1_000_000)
        Money(amount=Decimal('3'), currency='EUR')
        """
        rates = self.per_million
        if unit == "input":
            for tier in self.tiers:
                rates = tier.per_million if tokens > tier.above else rates
        rate = rates.get(unit)
        if rate is None:
            return None
        exact = Fraction(tokens) * Fraction(rate) / TOKENS_PER_PRICE
        return Money(CONTEXT.divide(Decimal(exact.numerator), Decimal(exact.denominator)), self.currency)


def parse_price(text: str) -> Price:
    """Read a price per million tokens: ``3 EUR`` for input and output alike, or ``in=3,out=15 USD``.

    Raises TokengapError for a price that is negative, not finite, absurdly high, or has no currency.
    """
    amounts, _, currency = text.strip().rpartition(" ")
    if not amounts or not re.fullmatch(r"[A-Za-z]{3}", currency):
        raise TokengapError(f"bad price {text[:80]!r}: an amount per million tokens and a currency are needed, {_FORM}")
    rates: dict[str, Decimal] = {}
    for part in amounts.split(","):
        name, equals, amount = part.partition("=")
        unit = _UNITS.get(name.strip()) if equals else None
        if equals and (unit is None or unit in rates):
            raise TokengapError(f"bad price {text[:80]!r}: {name.strip()!r} is not one of in, out (each once)")
        rate = _amount(amount if equals else part, text)
        if unit:
            rates[unit] = rate
        elif rates or "," in amounts:
            raise TokengapError(f"bad price {text[:80]!r}: several prices need names, {_FORM}")
        else:
            rates = {"input": rate, "output": rate}
    return Price(currency.upper(), rates, PriceSource("given"))


def _amount(text: str, price: str) -> Decimal:
    if not re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,15})?", text.strip()):
        raise TokengapError(f"bad price {price[:80]!r}: {text.strip()[:40]!r} is not a non-negative decimal, {_FORM}")
    amount = Decimal(text.strip())
    if amount >= ABSURD:
        raise TokengapError(f"bad price {price[:80]!r}: prices are per million tokens, and {amount} is a unit a token")
    return amount


def plain(amount: Decimal) -> str:
    """Write an amount in full: no exponent, no superfluous zeros.

    >>> plain(Decimal("3.50E-6"))
    '0.0000035'
    """
    text = f"{amount:f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"
