"""Money: prices per million tokens, and what a number of tokens costs. ``Decimal`` throughout."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, Inexact
from fractions import Fraction

from ..tokenizers.errors import TokengapError

TOKENS_PER_PRICE = 1_000_000
"""Prices are per this many tokens, everywhere."""

ABSURD = Decimal(1_000_000)
"""A price of this much per million tokens is one whole unit of currency a token: a mistaken unit."""

CONTEXT = Context(prec=50, rounding=ROUND_HALF_UP)
"""Our own decimal context, so that a caller's never changes a sum."""

_UNITS = {"in": "input", "input": "input", "out": "output", "output": "output"}
_FORM = "such as '3 EUR' or 'in=3,out=15 USD'"


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in one currency, never rounded where its decimals end."""

    amount: Decimal
    currency: str

    def to_dict(self) -> dict[str, str]:
        return {"amount": plain(self.amount), "currency": self.currency}


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

    def exact_cost(self, tokens: int | Fraction, unit: str = "input") -> Fraction | None:
        """The cost of a request that is ``tokens`` of ``unit`` alone; ``None`` where the unit has no price."""
        rates = self.per_million
        if unit == "input":
            for tier in self.tiers:
                rates = tier.per_million if tokens > tier.above else rates
        rate = rates.get(unit)
        return None if rate is None else Fraction(tokens) * Fraction(rate) / TOKENS_PER_PRICE

    def cost(self, tokens: int | Fraction, unit: str = "input") -> Money | None:
        """The same as money.

        >>> parse_price("3 EUR").cost(1_000_000)
        Money(amount=Decimal('3'), currency='EUR')
        """
        exact = self.exact_cost(tokens, unit)
        return None if exact is None else money(exact, self.currency)


def money(exact: Fraction, currency: str) -> Money:
    """An exact sum as money: in full where its decimals end, else to 20 significant digits.

    Only a rule of thumb such as words × 4/3 costs a sum whose decimals do not end.
    """
    context = CONTEXT.copy()
    context.clear_flags()
    amount = context.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    if context.flags[Inexact]:
        amount = Context(prec=20, rounding=ROUND_HALF_UP).plus(amount)
    return Money(amount, currency)


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


def display(money: Money) -> str:
    """Money for a person: two decimals, or four significant digits where it is less than one unit.

    >>> display(Money(Decimal("0.0000035"), "USD")), display(Money(Decimal("9.4"), "EUR"))
    ('0.0000035 USD', '9.40 EUR')
    """
    amount = money.amount
    if not amount or abs(amount) >= 1:
        return f"{amount.quantize(Decimal('0.01'), ROUND_HALF_UP, CONTEXT):,f} {money.currency}"
    rounded = Context(prec=4, rounding=ROUND_HALF_UP).plus(amount).normalize()
    digits = max(2, -int(rounded.as_tuple().exponent))
    return f"{rounded:.{digits}f} {money.currency}"
