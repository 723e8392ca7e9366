"""A month of calls is a range, and the same month by words stands beside it."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.estimators.cost import price_usage
from tokengap.estimators.price import Money, parse_price
from tokengap.estimators.usage import Usage
from tokengap.estimators.volume import Range, monthly_cost, parse_range, parse_share
from tokengap.tokenizers.errors import TokengapError, UnknownNameError

NOON = "2026-11-30T12:00:00Z"


def test_a_month_of_gpt_4o() -> None:
    """1,200 tokens in (2.5 USD a million), 60% of them cached (1.25), 100 to 900 out (10), 1,000 to 3,000 calls."""
    estimate = monthly_cost(
        "gpt-4o",
        input=1200,
        output=Range(100, 300, 900),
        calls=Range(1000, 2000, 3000),
        cached_share=Fraction(3, 5),
        word_input=Fraction(900) * Fraction(4, 3) / 2,
        as_of=NOON,
    )
    one = Decimal("0.0012") + Decimal("0.0009")
    assert estimate.cost.min == Money((one + Decimal("0.001")) * 1000, "USD")
    assert estimate.cost.typical == Money((one + Decimal("0.003")) * 2000, "USD")
    assert estimate.cost.max == Money((one + Decimal("0.009")) * 3000, "USD")
    assert estimate.words is not None
    assert estimate.gap is not None
    assert estimate.words.typical == Money((one / 2 + Decimal("0.003")) * 2000, "USD")
    assert estimate.gap.typical == Money(one / 2 * 2000, "USD")
    assert estimate.to_dict()["gap"]["typical"] == {"amount": "2.1", "currency": "USD"}


def test_a_tier_holds_for_each_call_by_itself() -> None:
    few = monthly_cost("gemini-2.5-pro", input=200_000, output=Range(0, 0, 0), calls=Range(9, 9, 9), as_of=NOON)
    many = monthly_cost("gemini-2.5-pro", input=200_001, output=Range(0, 0, 0), calls=Range(9, 9, 9), as_of=NOON)
    assert few.cost.typical == Money(Decimal("2.25"), "USD")
    assert many.cost.typical == Money(Decimal("4.5000225"), "USD")


def test_filling_the_cache_is_left_out_and_said() -> None:
    options = {"input": 1000, "output": Range(1, 1, 1), "calls": Range(1, 1, 1), "as_of": NOON}
    estimate = monthly_cost("claude-sonnet-4-5", cached_share=Fraction(1, 2), **options)  # type: ignore[arg-type]
    assert any("cache_writes_left_out" in warning for warning in estimate.warnings)


def test_what_is_unpriced_stays_unknown() -> None:
    estimate = monthly_cost(
        "github-copilot/gpt-4o", input=1, output=Range(1, 1, 1), calls=Range(1, 1, 1), word_input=Fraction(1)
    )
    assert estimate.status == "unpriced"
    assert estimate.gap is not None
    assert (estimate.cost.max, estimate.gap.max) == (None, None)
    with pytest.raises(UnknownNameError):
        monthly_cost("gpt-99-super", input=1, output=Range(1, 1, 1), calls=Range(1, 1, 1))


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_month_is_its_calls(input: int, output: int, calls: int) -> None:
    price = parse_price("in=2.5,out=10 USD")
    month = monthly_cost(
        None, input=input, output=Range(output, output, output), calls=Range(calls, calls, calls), price=price
    )
    one = price_usage(Usage(input=input, output=output), price=price).total
    assert one is not None
    assert month.cost.min == month.cost.typical == month.cost.max == one * calls


@pytest.mark.parametrize(("text", "numbers"), [("7", (7, 7, 7)), ("0/0/0", (0, 0, 0)), (" 1 / 20/300", (1, 20, 300))])
def test_parse_range(text: str, numbers: tuple[int, int, int]) -> None:
    assert parse_range(text, "calls") == Range(*numbers)


@pytest.mark.parametrize("text", ["", "1/2", "3/2/1", "-1", "1.5", "1/2/3/4", "many", "1e3", "9" * 16])
def test_parse_range_refuses(text: str) -> None:
    with pytest.raises(TokengapError):
        parse_range(text, "calls")


@pytest.mark.parametrize(("text", "share"), [("0", "0"), ("0.6", "3/5"), ("60%", "3/5"), ("100%", "1"), ("1", "1")])
def test_parse_share(text: str, share: str) -> None:
    assert parse_share(text) == Fraction(share)


@pytest.mark.parametrize("text", ["", "-1", "1.1", "101%", "half", "60", "nan"])
def test_parse_share_refuses(text: str) -> None:
    with pytest.raises(TokengapError, match="bad share"):
        parse_share(text)


def test_a_month_is_summed_before_its_decimals_end() -> None:
    """Words x 4/3 are no whole number of tokens, yet 9,000 calls of them cost 30.09 exactly."""
    estimate = monthly_cost(
        "gpt-4o",
        input=1000,
        output=Range(1, 1, 1),
        calls=Range(9000, 9000, 9000),
        word_input=Fraction(4000, 3),
        as_of=NOON,
    )
    assert estimate.words is not None
    assert estimate.gap is not None
    assert estimate.words.typical == Money(Decimal("30.09"), "USD")
    assert estimate.cost.typical == Money(Decimal("22.59"), "USD")
    assert estimate.gap.typical == Money(Decimal("-7.5"), "USD")


@pytest.mark.parametrize(("tokens", "cached"), [(1200, 720), (1201, 720), (1, 0)])
def test_the_cached_share_of_a_call_is_whole_tokens(tokens: int, cached: int) -> None:
    one = price_usage(Usage(input=tokens, output=9, cache_read=cached), "gpt-4o", as_of=NOON).total
    month = monthly_cost(
        "gpt-4o",
        input=tokens,
        output=Range(9, 9, 9),
        calls=Range(2000, 2000, 2000),
        cached_share=Fraction(3, 5),
        word_input=Fraction(tokens),
        as_of=NOON,
    )
    assert one is not None
    assert month.cost.typical == one * 2000
    assert month.gap is not None
    assert month.gap.typical == Money(Decimal(0), "USD")
