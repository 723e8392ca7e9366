"""Money in another currency, at a rate and date that the user supplies. Nothing is looked up."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from ..tokenizers.errors import TokengapError
from .price import CONTEXT, Money, plain

_FORM = "'1 USD = 0.92 EUR @ 2026-11-28'"
_RATE = re.compile(
    r"1 ?([A-Za-z]{3}) ?= ?([0-9]{1,12}(?:\.[0-9]{1,12})?) ?([A-Za-z]{3}) ?@ ?([0-9]{4}-[0-9]{2}-[0-9]{2})", re.ASCII
)


@dataclass(frozen=True, slots=True)
class ExchangeRate:
    """One unit of ``base`` is ``rate`` units of ``quote``, on ``date``."""

    base: str
    quote: str
    rate: Decimal
    date: date

    def convert(self, money: Money) -> Money:
        """The same amount in ``quote``, not rounded; TokengapError for money of another currency."""
        if money.currency != self.base:
            raise TokengapError(f"the exchange rate is from {self.base}, but the price is in {money.currency}")
        return Money(CONTEXT.multiply(money.amount, self.rate), self.quote)

    def to_dict(self) -> dict[str, str]:
        return {"base": self.base, "quote": self.quote, "rate": plain(self.rate), "date": self.date.isoformat()}


def given_rate(rate: object) -> ExchangeRate | None:
    """An exchange rate given with a call: an ExchangeRate, or its text as parse_exchange_rate reads it."""
    if isinstance(rate, str):
        return parse_exchange_rate(rate)
    if rate is None or isinstance(rate, ExchangeRate):
        return rate
    raise TokengapError(f"an exchange rate must be a str such as {_FORM} or an ExchangeRate, not {type(rate).__name__}")


def parse_exchange_rate(text: str) -> ExchangeRate:
    """Read a rate with its date.

    >>> parse_exchange_rate("1 USD = 0.92 EUR @ 2026-11-28").quote
    'EUR'
    """
    if not isinstance(text, str):
        raise TokengapError(f"an exchange rate is a str such as {_FORM}, not {type(text).__name__}")
    match = _RATE.fullmatch(text.strip())
    if match is None:
        raise TokengapError(f"bad exchange rate {text[:60]!r}: a rate and its date are needed, such as {_FORM}")
    base, rate, quote, day = match.groups()
    try:
        when = date.fromisoformat(day)
    except ValueError:
        raise TokengapError(f"bad exchange rate {text[:60]!r}: {day} is not a date; write it as in {_FORM}") from None
    if base.upper() == quote.upper() or not Decimal(rate):
        raise TokengapError(f"bad exchange rate {text[:60]!r}: two currencies and a rate above 0 are needed: {_FORM}")
    return ExchangeRate(base.upper(), quote.upper(), Decimal(rate), when)
