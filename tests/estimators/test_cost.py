"""A bill is the sum of its lines, each token is billed once, and unknown is never 0."""

from __future__ import annotations

import decimal
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.estimators import price_table
from tokengap.estimators.cost import make_bill, price_usage
from tokengap.estimators.price import EVENT_UNITS, TOKEN_UNITS, Price, PriceSource, Tier, parse_price
from tokengap.estimators.usage import Usage
from tokengap.tokenizers.errors import TokengapError

NOON = "2026-11-30T12:00:00Z"
RATES = st.decimals(min_value=0, max_value=9_999, places=6, allow_nan=False, allow_infinity=False)


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    """Every usage that can be: parts drawn first, the totals made of them."""
    some = st.integers(0, 10**6)
    fresh, read, short, long, text, thought = (draw(some) for _ in range(6))
    audio, image, video, cached_audio, cached_image, got_audio, got_image = (draw(some) for _ in range(7))
    return Usage(
        input=fresh + read + short + long + audio + image + video + cached_audio + cached_image,
        output=text + thought + got_audio + got_image,
        cache_read=read + cached_audio + cached_image,
        cache_write=short + long,
        cache_write_1h=long,
        reasoning=thought,
        input_audio=audio + cached_audio,
        input_image=image + cached_image,
        input_video=video,
        output_audio=got_audio,
        output_image=got_image,
        cache_read_audio=cached_audio,
        cache_read_image=cached_image,
        cache_read_video=0,
        web_searches=draw(st.integers(0, 50)),
    )


@st.composite
def prices(draw: st.DrawFn) -> Price:
    units = draw(st.dictionaries(st.sampled_from(TOKEN_UNITS), RATES, min_size=1))
    events = draw(st.dictionaries(st.sampled_from(EVENT_UNITS), RATES))
    tiers: tuple[Tier, ...] = ()
    if draw(st.booleans()):
        higher = {unit: rate * 2 for unit, rate in units.items()}
        tiers = (Tier(draw(st.integers(1, 10**6)), higher),)
    return Price("USD", units, PriceSource("given"), tiers, events)


@given(prices(), usages())
def test_a_bill_adds_up(price: Price, usage: Usage) -> None:
    bill = make_bill(price, usage.counts())
    known = [line.amount for line in bill.lines if line.amount is not None]
    with decimal.localcontext() as context:
        context.prec = 100
        assert sum(known, Decimal(0)) == bill.subtotal.amount
        for line in bill.lines:
            if line.rate is not None:
                assert line.amount == line.rate * int(line.quantity) / line.per
    assert all(amount >= 0 for amount in known)
    assert all(line.quantity > 0 for line in bill.lines)
    missing = [line for line in bill.lines if line.rate is None]
    assert (bill.total is None) == bool(missing)
    assert bill.total in (None, bill.subtotal)
    assert (bill.status in ("partial", "unpriced")) == bool(missing)
    assert (bill.status == "unpriced") == (bool(missing) and len(missing) == len(bill.lines))
    assert bill.status != "free" or not any(line.rate for line in bill.lines)


@given(prices(), usages())
def test_each_token_is_billed_once(price: Price, usage: Usage) -> None:
    lines = make_bill(price, usage.counts()).lines
    units = [line.unit for line in lines]
    assert len(units) == len(set(units))
    sent = sum(line.quantity for line in lines if line.unit.startswith(("input", "cache_")))
    received = sum(line.quantity for line in lines if line.unit.startswith(("output", "reasoning")))
    assert (sent, received) == (usage.input, usage.output)


@given(prices(), usages(), st.integers(1, 9), st.sampled_from([decimal.ROUND_UP, decimal.ROUND_DOWN]))
def test_the_ambient_decimal_context_changes_nothing(price: Price, usage: Usage, digits: int, rounding: str) -> None:
    usual = make_bill(price, usage.counts())
    with decimal.localcontext() as context:
        context.prec, context.rounding = digits, rounding
        context.traps[decimal.Inexact] = True
        assert make_bill(price, usage.counts()) == usual


@given(prices(), usages(), usages())
def test_money_is_additive_within_a_tier(price: Price, one: Usage, other: Usage) -> None:
    flat = Price(price.currency, price.per_million, price.source, (), {})
    whole = Usage(**{name: (count or 0) + (other.counts()[name] or 0) for name, count in one.counts().items()})
    apart = make_bill(flat, one.counts()).subtotal + make_bill(flat, other.counts()).subtotal
    assert make_bill(flat, whole.counts()).subtotal == apart


@given(prices(), usages(), st.integers(1, 10**6))
def test_more_text_never_costs_less(price: Price, usage: Usage, more: int) -> None:
    counts = usage.counts()
    longer = {**counts, "input": (counts["input"] or 0) + more}
    if "input" in price.per_million:
        assert make_bill(price, longer).subtotal.amount >= make_bill(price, counts).subtotal.amount


@pytest.mark.parametrize(
    ("text", "counts", "status", "total"),
    [
        ("3 USD", {"input": 10**6}, "priced", "3"),
        ("0 USD", {"input": 10**6}, "free", "0"),
        ("in=0,out=1 USD", {"input": 10**6}, "free", "0"),
        ("in=0,out=1 USD", {"input": 1, "output": 10**6}, "priced", "1"),
        ("3 USD", {}, "priced", "0"),
        ("0 USD", {}, "free", "0"),
        ("out=3 USD", {"input": 1}, "unpriced", None),
        ("out=3 USD", {"input": 1, "output": 1}, "partial", None),
        ("in=3 USD", {"input": 1, "cache_write": 1}, "unpriced", None),
        ("in=3 USD", {"input": 2, "cache_write": 1}, "partial", None),
        ("in=3 USD", {"input": 10, "cache_read": 10}, "priced", "0.00003"),
        ("in=3,out=6 USD", {"input": 10, "output": 10, "reasoning": 9}, "priced", "0.00009"),
        ("in=3,out=6,reasoning=1 USD", {"output": 10, "reasoning": 9}, "priced", "0.000015"),
        ("3 USD", {"input": 10, "input_image": 9}, "priced", "0.00003"),
        ("in=3,input_image=5 USD", {"input": 10, "input_image": 9}, "priced", "0.000048"),
        ("3 USD", {"input": 10, "input_audio": 9}, "partial", None),
        ("3 USD", {"output": 10, "output_image": 9}, "partial", None),
        ("3 USD", {"input": 10, "web_searches": 1}, "partial", None),
        ("in=3,requests=5 USD", {"input": 10**6}, "priced", "3.005"),
    ],
)
def test_status(text: str, counts: dict[str, int], status: str, total: str | None) -> None:
    result = price_usage(Usage(**counts), price=parse_price(text))
    assert result.status == status
    assert result.to_dict()["total"] == (None if total is None else {"amount": total, "currency": "USD"})


@pytest.mark.parametrize(
    ("counts", "warning"),
    [
        ({"input": 10, "cache_read": 10}, "no_cache_rate"),
        ({"input": 10, "input_image": 10}, "billed_as_text"),
        ({"input": 10, "cache_write": 10}, "no_rate"),
    ],
)
def test_what_was_assumed_is_said(counts: dict[str, int], warning: str) -> None:
    result = price_usage(Usage(**counts), price=parse_price("3 USD"))
    assert [each.partition(":")[0] for each in result.warnings] == [warning]


def test_the_result_as_json() -> None:
    result = price_usage(Usage(input=10_000, cache_read=8000, output=500), "gpt-4o", as_of=NOON).to_dict()
    assert result["lines"] == [
        {"unit": "input", "quantity": 2000, "rate": "2.5", "per": 1_000_000, "amount": "0.005"},
        {"unit": "cache_read", "quantity": 8000, "rate": "1.25", "per": 1_000_000, "amount": "0.01"},
        {"unit": "output", "quantity": 500, "rate": "10", "per": 1_000_000, "amount": "0.005"},
    ]
    assert result["total"] == {"amount": "0.02", "currency": "USD"}
    assert result["usage"] == {"input": 10_000, "output": 500, "cache_read": 8000}
    assert (result["status"], result["currency"], result["as_of"]) == ("priced", "USD", NOON)
    assert result["source"]["provider"] == "openai"


def test_the_rule_applied_is_shown() -> None:
    below = price_usage(Usage(input=200_000), "gemini-2.5-pro", as_of=NOON).to_dict()
    above = price_usage(Usage(input=200_001), "gemini-2.5-pro", as_of=NOON).to_dict()
    assert below["tier"] is None
    assert "not above 200000" in below["rule"]
    assert above["tier"] == {"above": 200_000, "applies_to": "whole request"}
    assert "above 200000" in above["rule"]


@pytest.mark.parametrize(
    "options",
    [{}, {"price": parse_price("3 USD"), "variant": "batch"}, {"model": "gpt-4o", "as_of": "soon"}],
)
def test_options_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(TokengapError):
        price_usage(Usage(input=1), **options)


def test_the_table_loads_only_when_a_model_is_priced() -> None:
    import subprocess
    import sys

    program = (
        "import sys; from tokengap.estimators.cost import price_usage, price_report\n"
        "from tokengap.estimators.usage import Usage; from tokengap.estimators.price import parse_price\n"
        "price_usage(Usage(input=1), price=parse_price('3 USD'))\n"
        "assert not [name for name in sys.modules if name.startswith(('genai_prices', 'pydantic', 'httpx'))]"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("row", ["openai/gpt-4o", "anthropic/claude-opus-4-5"])
def test_a_row_that_was_asked_for_is_found_once(row: str) -> None:
    table = price_table.bundled()
    assert price_table.find(table, row, None) is price_table.find(table, row, None)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (({"input": 5}, "gpt-4o"), {}),
        ((None, "gpt-4o"), {}),
        ((Usage(5), 7), {}),
        ((Usage(5), "gpt-4o"), {"provider": 7}),
        ((Usage(5), "gpt-4o"), {"variant": 7}),
        ((Usage(5), "gpt-4o"), {"as_of": 7}),
    ],
)
def test_what_is_of_another_type_is_refused(arguments: tuple[Any, Any], options: dict[str, Any]) -> None:
    with pytest.raises(TokengapError):
        price_usage(*arguments, **options)
