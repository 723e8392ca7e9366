"""Conversion comes last, at the rate and date that the user gives."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from tokengap.estimators.cost import price_usage
from tokengap.estimators.currency import ExchangeRate, parse_exchange_rate
from tokengap.estimators.price import Money, parse_price
from tokengap.estimators.usage import Usage
from tokengap.tokenizers.errors import TokengapError


def test_parse() -> None:
    rate = parse_exchange_rate("1 usd = 0.92 EUR @ 2026-11-28")
    assert rate == ExchangeRate("USD", "EUR", Decimal("0.92"), date(2026, 11, 28))
    assert rate.convert(Money(Decimal("0.0000035"), "USD")) == Money(Decimal("0.00000322"), "EUR")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0.92",
        "USD=EUR",
        "1 USD = 0.92 EUR",
        "1 USD = -1 EUR @ 2026-11-28",
        "1 USD = 0 EUR @ 2026-11-28",
        "1 USD = 1 USD @ 2026-11-28",
        "1 USD = 0.92 EUR @ 2026-02-30",
        "2 USD = 0.92 EUR @ 2026-11-28",
    ],
)
def test_refuses(text: str) -> None:
    with pytest.raises(TokengapError, match="bad exchange rate"):
        parse_exchange_rate(text)


def test_the_total_stays_in_its_own_currency() -> None:
    result = price_usage(
        Usage(input=1_000_000),
        price=parse_price("3 USD"),
        exchange_rate=parse_exchange_rate("1 USD = 0.92 EUR @ 2026-11-28"),
    )
    assert result.total == Money(Decimal(3), "USD")
    assert result.converted == Money(Decimal("2.76"), "EUR")
    shown = result.to_dict()
    assert shown["converted"] == {"amount": "2.76", "currency": "EUR"}
    assert shown["exchange_rate"] == {"base": "USD", "quote": "EUR", "rate": "0.92", "date": "2026-11-28"}


def test_a_rate_from_another_currency_is_refused() -> None:
    with pytest.raises(TokengapError, match="from USD, but the price is in EUR"):
        price_usage(
            Usage(input=1),
            price=parse_price("3 EUR"),
            exchange_rate=parse_exchange_rate("1 USD = 0.92 GBP @ 2026-11-28"),
        )
