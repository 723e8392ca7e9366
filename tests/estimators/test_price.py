"""Money is exact, a price has its unit, and what is shown is not less than what is there."""

from __future__ import annotations

import decimal
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.estimators.price import (
    CONTEXT,
    Money,
    Price,
    PriceSource,
    Tier,
    amount_of,
    display,
    money,
    parse_price,
    plain,
)
from tokengap.tokenizers.errors import TokengapError

AMOUNTS = st.decimals(min_value=0, max_value=10**9, places=12, allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("text", "per_million", "per_thousand", "currency"),
    [
        ("3 EUR", {"input": "3", "output": "3"}, {}, "EUR"),
        ("in=3,out=15 USD", {"input": "3", "output": "15"}, {}, "USD"),
        ("in=3,cache_read=0.3,out=15 USD", {"input": "3", "cache_read": "0.3", "output": "15"}, {}, "USD"),
        ("in=3, out=15 usd/1M", {"input": "3", "output": "15"}, {}, "USD"),
        ("input=1,web_searches=10 USD", {"input": "1"}, {"web_searches": "10"}, "USD"),
        ("in=78000,out=390000 VND", {"input": "78000", "output": "390000"}, {}, "VND"),
        ("out=15 USD", {"output": "15"}, {}, "USD"),
        ("0.000001 GBP", {"input": "0.000001", "output": "0.000001"}, {}, "GBP"),
        ("0 USD", {"input": "0", "output": "0"}, {}, "USD"),
    ],
)
def test_parse_price(text: str, per_million: dict[str, str], per_thousand: dict[str, str], currency: str) -> None:
    price = parse_price(text)
    assert price.per_million == {unit: Decimal(rate) for unit, rate in per_million.items()}
    assert price.per_thousand == {unit: Decimal(rate) for unit, rate in per_thousand.items()}
    assert price.currency == currency


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3",
        "EUR",
        "-3 EUR",
        "nan EUR",
        "inf EUR",
        "1e3 EUR",
        "3 EUROS",
        "in=3,in=4 EUR",
        "in=3,input=4 EUR",
        "in=3,cached=4 EUR",
        "3,4 EUR",
        "2500000 USD",
        "10000 USD",
        "3 USD/1K",
        "٣ USD",
        "in= USD",
        " EUR",
        "Infinity USD",
        "3 €",
        "€3",
        "in=3,4 USD",
        "4,in=3 USD",
        "in=3 out=15 USD",
        "in=3;out=15 USD",
        "3" * 100 + " USD",
    ],
)
def test_parse_price_refuses(text: str) -> None:
    with pytest.raises(TokengapError):
        parse_price(text)


def test_tier_boundary_is_strict() -> None:
    tier = Tier(128_000, {"input": Decimal(6)})
    price = Price("USD", {"input": Decimal(3)}, PriceSource("given"), (tier,))
    assert price.tier(128_000) is None
    assert price.tier(128_001) is tier
    assert price.cost(128_000) == Money(Decimal("0.384"), "USD")
    assert price.cost(128_001) == Money(Decimal("0.768006"), "USD")
    assert price.cost(1, "output") is None


def test_fractions_of_a_token_have_a_price() -> None:
    assert parse_price("3 USD").cost(Fraction(1, 3)) == Money(Decimal("0.000001"), "USD")


@pytest.mark.parametrize(
    ("amount", "text"),
    [("3.50E-6", "0.0000035"), ("0E-7", "0"), ("1E+2", "100"), ("22.50", "22.5"), ("-0.10", "-0.1"), ("100", "100")],
)
def test_plain(amount: str, text: str) -> None:
    assert plain(Decimal(amount)) == text


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        ("0", "0.00 USD"),
        ("0.0000035", "0.0000035 USD"),
        ("0.0035", "0.0035 USD"),
        ("0.02", "0.02 USD"),
        ("0.5150025", "0.515 USD"),
        ("1.222506", "1.22 USD"),
        ("0.99999", "1.00 USD"),
        ("0.0228251", "0.02283 USD"),
        ("1234567.895", "1,234,567.90 USD"),
        ("1234.5", "1,234.50 USD"),
        ("12345678.999", "12,345,679.00 USD"),
        ("-0.000035", "-0.000035 USD"),
        ("1E-30", "0.000000000000000000000000000001 USD"),
        ("1E+70", f"1{',000' * 23}0.00 USD".replace("1,000", "10,000", 1).replace("0000.00", "000.00")),
    ],
)
def test_display(amount: str, shown: str) -> None:
    assert display(Money(Decimal(amount), "USD")) == shown


def test_display_of_the_unknown_is_not_zero() -> None:
    assert display(None) == "unknown"


@given(AMOUNTS.filter(bool))
def test_display_never_shows_something_as_nothing(amount: Decimal) -> None:
    shown = display(Money(amount, "USD")).removesuffix(" USD").replace(",", "")
    assert Decimal(shown) != 0
    assert abs(Decimal(shown) - amount) <= amount / 1000 + Decimal("0.005")


@given(AMOUNTS)
def test_plain_is_exact(amount: Decimal) -> None:
    assert Decimal(plain(amount)) == amount
    assert "E" not in plain(amount).upper()


@given(AMOUNTS, AMOUNTS, st.integers(1, 6))
def test_money_ignores_the_ambient_context(one: Decimal, other: Decimal, digits: int) -> None:
    sums = [(Money(one, "USD") + Money(other, "USD")).amount, (Money(one, "USD") * 7).amount, amount_of(7, one, 10**6)]
    with decimal.localcontext() as context:
        context.prec = digits
        again = [
            (Money(one, "USD") + Money(other, "USD")).amount,
            (Money(one, "USD") * 7).amount,
            amount_of(7, one, 10**6),
        ]
        context.Emax, context.Emin = 1, -1
        shown = display(Money(one, "USD"))
    assert sums == again
    assert sums[0] == CONTEXT.add(one, other)
    assert shown == display(Money(one, "USD"))


def test_sums_whose_decimals_do_not_end() -> None:
    assert money(Fraction(1, 3), "EUR").amount == Decimal("0.33333333333333333333")
    assert money(Fraction(1, 2**40), "EUR").amount == Decimal(1) / 2**40
    assert amount_of(Fraction(1, 3), Decimal(1), 10**6) == Decimal("3.3333333333333333333E-7")


def test_currencies_do_not_mix() -> None:
    with pytest.raises(TokengapError, match="USD and EUR"):
        Money(Decimal(1), "USD") + Money(Decimal(1), "EUR")
