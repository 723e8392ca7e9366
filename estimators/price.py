"""Money: prices per million tokens, and what a number of tokens costs. ``Decimal`` throughout."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Context, Decimal, Inexact
from fractions import Fraction
from typing import Any

from ..tokenizers.errors import TokengapError

TOKENS_PER_PRICE = 1_000_000
"""Prices are per this many tokens, everywhere."""

EVENTS_PER_PRICE = 1_000
"""Prices of what is counted in calls, not in tokens, are per this many."""

TOKEN_UNITS = (
    "input",
    "output",
    "cache_read",
    "cache_write",
    "cache_write_1h",
    "reasoning",
    "input_audio",
    "input_image",
    "input_video",
    "output_audio",
    "output_image",
    "output_video",
    "cache_read_audio",
    "cache_read_image",
    "cache_read_video",
)
"""What tokens are billed as. Where a price has no ``reasoning``, those tokens are billed as output."""

EVENT_UNITS = ("requests", "web_searches")
"""What is billed by the call."""

CONTEXT = Context(prec=60, rounding=ROUND_HALF_UP)
"""Our own decimal context, so that a caller's never changes a sum."""

ABSURD = Decimal(10_000)
"""A price of this much per million tokens is refused as a mistaken unit: the dearest model known costs
600 USD (o1-pro's output, 2026-11), and a price a thousand tokens read as one a million is off by 1,000."""

_PER = {per: Decimal(per) for per in (TOKENS_PER_PRICE, EVENTS_PER_PRICE)}

MAX_DECIMALS = 18
"""A rate begins within this many decimals."""

_ABSURD_SMALL = Decimal(100_000_000)
_SMALL_UNITS = frozenset(
    ("ARS", "CLP", "COP", "HUF", "IDR", "INR", "IRR", "JPY", "KRW", "NGN", "PKR", "RUB", "TZS", "UGX", "UZS", "VND")
)
"""Currencies worth under two US cents, for which a sound price has more digits."""

_NAMES = {unit: unit for unit in (*TOKEN_UNITS, *EVENT_UNITS)} | {"in": "input", "out": "output"}
_FORM = "such as '3 EUR', or 'in=3,cache_read=0.3,out=15 USD'"


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in one currency, never rounded where its decimals end."""

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
    """Where a price was read: the table and its version, the model it is for, the time it holds at.

    ``sha256`` is of the table's prices in a normal form, so that two answers can be told to come from
    the same prices. ``effective_date`` is since when the price holds, where the table says. ``based_on``
    is the source of the price that this one is a multiple of.
    """

    table: str
    version: str | None = None
    provider: str | None = None
    model: str | None = None
    as_of: str | None = None
    effective_date: str | None = None
    sha256: str | None = None
    based_on: PriceSource | None = None

    @property
    def row(self) -> str:
        """The provider and the model as ``provider/model``, as far as they are known."""
        if self.provider and self.model and not self.model.startswith(f"{self.provider}/"):
            return f"{self.provider}/{self.model}"
        return self.model or self.provider or ""

    def to_dict(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in self.__slots__}
        return plain | {"based_on": self.based_on.to_dict() if self.based_on else None}


@dataclass(frozen=True, slots=True)
class Tier:
    """The prices of a request whose input is longer than ``above`` tokens."""

    above: int
    per_million: Mapping[str, Decimal]


@dataclass(frozen=True, slots=True)
class Price:
    """Prices per million tokens by unit (one of TOKEN_UNITS), and where they were read.

    A unit that is absent has no known price; it never costs 0. ``tiers`` are the prices of a whole
    request whose input is longer than ``Tier.above`` tokens, lowest first. ``per_thousand`` prices
    what is counted in calls (EVENT_UNITS). ``notes`` says, by unit, what to know where it is used;
    ``warnings`` hold whatever is used. ``rule`` says which of several prices by the time of day this is.
    """

    currency: str
    per_million: Mapping[str, Decimal]
    source: PriceSource
    tiers: tuple[Tier, ...] = ()
    per_thousand: Mapping[str, Decimal] = field(default_factory=dict)
    variant: str | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    rule: str | None = None

    def tier(self, input_tokens: int | Fraction) -> Tier | None:
        """The tier of a request with this much input, cache included; ``None`` for the base prices.

        The boundary is strict: a request of exactly ``above`` tokens is still in the tier below.
        """
        reached = None
        for tier in self.tiers:
            if input_tokens > tier.above:
                reached = tier
        return reached

    def exact_cost(self, tokens: int | Fraction, unit: str = "input") -> Fraction | None:
        """The cost of a request that is ``tokens`` of ``unit`` alone; ``None`` where the unit has no price."""
        tier = self.tier(tokens) if unit == "input" else None
        rate = (tier.per_million if tier else self.per_million).get(unit)
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

    Only a rule of thumb such as words × 4/3, or a share of the input, costs a sum whose decimals do not end.
    """
    return Money(_decimal(exact), currency)


def amount_of(quantity: int | Fraction, rate: Decimal, per: int) -> Decimal:
    """``quantity`` × ``rate`` / ``per``, a power of ten: exactly for whole quantities, else as ``money`` does.

    >>> amount_of(8000, Decimal("1.25"), 1_000_000)
    Decimal('0.01')
    """
    if isinstance(quantity, int):
        return CONTEXT.divide(CONTEXT.multiply(Decimal(quantity), rate), _PER[per])
    return _decimal(quantity * Fraction(rate) / per)


def _decimal(exact: Fraction) -> Decimal:
    context = CONTEXT.copy()
    context.clear_flags()
    amount = context.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    return Context(prec=20, rounding=ROUND_HALF_UP).plus(amount) if context.flags[Inexact] else amount


def parse_price(text: str) -> Price:
    """Read a price per million tokens: ``3 EUR`` for input and output alike, or ``in=3,out=15 USD``.

    The other units of TOKEN_UNITS go by their names, ``in=3,cache_read=0.3,out=15 USD``; EVENT_UNITS
    are per thousand. ``/1M`` may follow the currency. Raises TokengapError for a price that is
    negative, not finite, absurdly high, or has no currency.
    """
    if not isinstance(text, str):
        raise TokengapError(f"a price is a str, {_FORM}, not {type(text).__name__}")
    amounts, _, currency = text.strip().removesuffix("/1M").rpartition(" ")
    if not amounts or not re.fullmatch(r"[A-Za-z]{3}", currency):
        raise TokengapError(f"bad price {text[:80]!r}: an amount per million tokens and a currency are needed, {_FORM}")
    currency = currency.upper()
    rates: dict[str, Decimal] = {}
    for part in amounts.split(","):
        name, equals, amount = part.partition("=")
        unit = _NAMES.get(name.strip()) if equals else None
        if equals and (unit is None or unit in rates):
            known = ", ".join(("in", "out", *TOKEN_UNITS[2:], *EVENT_UNITS))
            raise TokengapError(f"bad price {text[:80]!r}: {name.strip()!r} is not one of {known} (each once)")
        rate = read_rate(amount if equals else part, currency, f"price {text[:80]!r}")
        if unit:
            rates[unit] = rate
        elif rates or "," in amounts:
            raise TokengapError(f"bad price {text[:80]!r}: several prices need names, {_FORM}")
        else:
            rates = {"input": rate, "output": rate}
    return Price(
        currency,
        {unit: rate for unit, rate in rates.items() if unit in TOKEN_UNITS},
        PriceSource("given"),
        per_thousand={unit: rate for unit, rate in rates.items() if unit in EVENT_UNITS},
    )


def given_price(price: object) -> Price | None:
    """A price given with a call: a Price, or its text as parse_price reads it."""
    if isinstance(price, str):
        return parse_price(price)
    if price is None or isinstance(price, Price):
        return price
    raise TokengapError(f"a price must be a str such as '3 EUR' or a Price, not {type(price).__name__}")


def read_rate(text: str, currency: str, where: str) -> Decimal:
    """Read one non-negative amount of a price; ``where`` names the price in the error."""
    if not re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,15})?", text.strip(), re.ASCII):
        raise TokengapError(f"bad {where}: {text.strip()[:40]!r} is not a non-negative decimal, {_FORM}")
    return check_rate(Decimal(text.strip()), currency, where)


def check_rate(rate: Decimal, currency: str, where: str) -> Decimal:
    """Refuse a rate per million tokens that is negative, not finite, or so high that its unit must be wrong."""
    if not rate.is_finite() or rate < 0:
        raise TokengapError(f"bad {where}: {rate} is not a non-negative amount")
    if rate and rate.adjusted() < -MAX_DECIMALS:
        raise TokengapError(f"bad {where}: {rate} is below what any price is; is its unit right?")
    if rate >= (_ABSURD_SMALL if currency in _SMALL_UNITS else ABSURD):
        raise TokengapError(
            f"bad {where}: prices are per million tokens, and {plain(rate)} {currency} is absurdly high; "
            "is its unit right?"
        )
    return rate


def plain(amount: Decimal) -> str:
    """Write an amount in full: no exponent, no superfluous zeros.

    >>> plain(Decimal("3.50E-6"))
    '0.0000035'
    """
    text = f"{amount:f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


def display(money: Money | None) -> str:
    """Money for a person: two decimals, or four significant digits where it is less than one unit.

    >>> display(Money(Decimal("1234.5"), "USD")), display(Money(Decimal("0.0000035"), "USD"))
    ('1,234.50 USD', '0.0000035 USD')

    ``None`` is unknown, and is written as such: it is never 0.
    """
    if money is None:
        return "unknown"
    amount = money.amount
    places = 3 - amount.adjusted() if amount and amount.adjusted() < 0 else 2
    context = Context(prec=max(60, amount.adjusted() + places + 2), rounding=ROUND_HALF_UP)
    # quantize needs as many digits as its result
    rounded = amount.quantize(Decimal((0, (1,), -places)), context=context)
    whole, _, decimals = f"{rounded:,f}".partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(2, '0')} {money.currency}"
