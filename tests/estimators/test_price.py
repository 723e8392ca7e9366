from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.estimators.price import Money, Price, PriceSource, Tier, display, money, parse_price, plain
from tokengap.tokenizers.errors import TokengapError


@pytest.mark.parametrize(
    ("text", "currency", "rates"),
    [
        ("3 EUR", "EUR", {"input": "3", "output": "3"}),
        ("in=3,out=15 USD", "USD", {"input": "3", "output": "15"}),
        ("input=0.25, output=2 usd", "USD", {"input": "0.25", "output": "2"}),
        ("out=15 USD", "USD", {"output": "15"}),
        ("  0 EUR ", "EUR", {"input": "0", "output": "0"}),
        ("0.000001 GBP", "GBP", {"input": "0.000001", "output": "0.000001"}),
    ],
)
def test_parse_price(text: str, currency: str, rates: dict[str, str]) -> None:
    price = parse_price(text)
    assert price.currency == currency
    assert price.per_million == {unit: Decimal(rate) for unit, rate in rates.items()}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3",
        "EUR",
        " EUR",
        "-3 EUR",
        "nan EUR",
        "inf EUR",
        "Infinity USD",
        "1e3 USD",
        "3 EURO",
        "3 €",
        "€3",
        "3,4 USD",
        "in=3,in=4 USD",
        "in=3,4 USD",
        "4,in=3 USD",
        "in= USD",
        "cached=3 USD",
        "in=3 out=15 USD",
        "1000000 USD",
        "٣ USD",
        "3" * 100 + " USD",
        "in=3;out=15 USD",
    ],
)
def test_bad_price_is_refused(text: str) -> None:
    with pytest.raises(TokengapError, match="bad price"):
        parse_price(text)


def test_a_missing_unit_costs_nothing_known() -> None:
    assert parse_price("in=3 USD").cost(100, "output") is None
    assert parse_price("in=0 USD").cost(100) == Money(Decimal(0), "USD")


@pytest.mark.parametrize(("tokens", "amount"), [(200_000, "0.25"), (200_001, "0.5000025"), (0, "0"), (1, "0.00000125")])
def test_a_tier_prices_the_whole_request_above_its_boundary(tokens: int, amount: str) -> None:
    rates = {"input": Decimal("1.25")}
    price = Price("USD", rates, PriceSource("test"), (Tier(200_000, {"input": Decimal("2.5")}),))
    cost = price.cost(tokens)
    assert cost is not None
    assert plain(cost.amount) == amount


@given(
    st.integers(0, 10**12),
    st.integers(0, 10**12),
    st.decimals(0, 999_999, places=6, allow_nan=False),
    st.integers(1, 12),
)
def test_money_is_additive_and_needs_no_context(first: int, second: int, rate: Decimal, precision: int) -> None:
    price = Price("USD", {"input": rate}, PriceSource("test"))
    whole = price.cost(first + second)
    with localcontext(prec=precision):
        parts = [price.cost(tokens) for tokens in (first, second)]
        again = price.cost(first + second)
    assert whole is not None
    assert whole == again
    assert whole.amount >= 0
    assert Fraction(whole.amount) == sum(Fraction(part.amount) for part in parts if part)


def test_sums_whose_decimals_do_not_end() -> None:
    third = money(Fraction(1, 3), "EUR")
    assert third.amount == Decimal("0.33333333333333333333")
    assert money(Fraction(1, 2**40), "EUR").amount == Decimal(1) / 2**40


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("3.50E-6", "0.0000035"),
        ("0E-7", "0"),
        ("1E+2", "100"),
        ("22.50", "22.5"),
        ("-0.10", "-0.1"),
        ("100", "100"),
    ],
)
def test_plain(amount: str, text: str) -> None:
    assert plain(Decimal(amount)) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("0", "0.00 EUR"),
        ("9.4", "9.40 EUR"),
        ("0.0000035", "0.0000035 EUR"),
        ("0.5", "0.50 EUR"),
        ("0.0228251", "0.02283 EUR"),
        ("0.99999", "1.00 EUR"),
        ("1234567.891", "1,234,567.89 EUR"),
        ("-0.0035", "-0.0035 EUR"),
    ],
)
def test_display(amount: str, text: str) -> None:
    assert display(Money(Decimal(amount), "EUR")) == text
