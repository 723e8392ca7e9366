from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.estimators import Text, TokengapError, UnknownNameError, compare, count, report_json
from tokengap.estimators.contract import rational
from tokengap.estimators.counting import Texts, Total
from tokengap.estimators.gap import gap_between, reason, volume
from tokengap.estimators.price import Money
from tokengap.tokenizers.text import TextSize

SHOP = ("the parcel will arrive tomorrow", "when will my orders arrive", "complaint about a broken television")


def total(counter: str, tokens: int, cost: Fraction | None = None) -> Total:
    return Total(counter, tokens, TextSize(0, 0, 0), cost, "EUR" if cost is not None else None)


def test_shop_arithmetic() -> None:
    """The shop lesson: 15 words are 47 tokens, and 200,000 messages cost 9.40 EUR where words say 3.00."""
    price = Fraction(3, 1_000_000)
    words, tokens = total("words:1", 15, 15 * price), total("bpe", 47, 47 * price)
    gap = gap_between(words, tokens, ())
    assert (gap.tokens, gap.percent, gap.ratio) == (32, Decimal("68.09"), Fraction(47, 15))
    month = volume(words, tokens, 200_000, "month", texts=3)
    assert month.baseline_cost == Money(Decimal("3"), "EUR")
    assert month.reference_cost == Money(Decimal("9.4"), "EUR")
    assert month.cost == Money(Decimal("6.4"), "EUR")


@pytest.mark.parametrize(
    ("baseline", "reference", "tokens", "percent", "ratio"),
    [
        (240, 201, -39, Decimal("-19.40"), Fraction(201, 240)),
        (0, 0, 0, None, None),
        (0, 5, 5, Decimal("100.00"), None),
        (5, 0, -5, None, Fraction(0)),
        (3, 3, 0, Decimal("0.00"), Fraction(1)),
    ],
)
def test_gap(baseline: int, reference: int, tokens: int, percent: Decimal | None, ratio: Fraction | None) -> None:
    gap = gap_between(total("a", baseline), total("b", reference), ())
    assert (gap.tokens, gap.percent, gap.ratio, gap.cost) == (tokens, percent, ratio, None)


def test_compare_shop_messages_with_a_real_encoding() -> None:
    report = compare(SHOP, price="3 EUR", calls=200_000)
    gap = report.gap
    assert gap is not None
    assert (gap.baseline, gap.reference) == ("words:1", "o200k_base")
    totals = {entry.counter: entry.tokens for entry in report.total}
    assert totals == {"o200k_base": 16, "words:1": 15}
    assert gap.percent == Decimal("6.25")
    assert gap.volume is not None
    assert gap.volume.reference_cost == Money(Decimal("3.2"), "EUR")
    assert gap.volume.cost == Money(Decimal("0.2"), "EUR")


def test_prices_follow_the_model() -> None:
    report = count("Hello, how are you today?", ["model:gpt-4o", "words:1", "model:gpt-4o-mini"])
    costs = {row.counter: row.cost.amount for row in report.results if row.cost}
    assert costs == {
        "model:gpt-4o": Decimal("0.0000175"),
        "words:1": Decimal("0.0000125"),
        "model:gpt-4o-mini": Decimal("0.00000105"),
    }
    output = count("Hello, how are you today?", ["model:gpt-4o"], unit="output").results[0].cost
    assert output == Money(Decimal("0.00007"), "USD")
    assert count("Hello").results[0].cost is None


def test_a_model_without_a_price_is_unpriced_not_free() -> None:
    row = count("Hello", ["model:code-davinci-002"]).results[0]
    assert row.cost is None
    assert "unpriced" in row.warnings
    partly = count("Hello", price="in=3 USD", unit="output").results[0]
    assert (partly.cost, partly.warnings) == (None, ("unpriced",))


@pytest.mark.parametrize(
    ("counters", "baseline", "reference"),
    [
        ([], "words:1", "o200k_base"),
        (["words:4/3", "cl100k_base"], "words:1", "cl100k_base"),
        (["words:1"], "words:1", "o200k_base"),
        (["words:4/3"], "words:1", "words:4/3"),
        (["r50k_base", "model:gpt-4o"], "words:1", "r50k_base"),
        (["o200k_base"], "o200k_base", "o200k_base"),
    ],
)
def test_reference_and_baseline(counters: list[str], baseline: str, reference: str) -> None:
    if baseline == reference:
        with pytest.raises(TokengapError, match="baseline"):
            compare("a b", counters, baseline=baseline)
        return
    gap = compare("a b", counters, baseline=baseline).gap
    assert gap is not None
    assert (gap.baseline, gap.reference) == (baseline, reference)


def test_texts_in_every_shape() -> None:
    shapes: list[tuple[Texts, list[str]]] = [
        ("a", ["text"]),
        (["a", "b"], ["text:1", "text:2"]),
        ({"x.md": "a"}, ["x.md"]),
        ([Text("y", "a"), "b"], ["y", "text:2"]),
        ((t for t in ["a"]), ["text:1"]),
        ([], []),
    ]
    for texts, sources in shapes:
        assert [row.source for row in count(texts, ["bytes"]).results] == sources


@pytest.mark.parametrize("texts", [b"a", 5, None, [b"a"], [None], {"a": 1}])
def test_what_is_no_text_is_refused(texts: object) -> None:
    with pytest.raises(TokengapError, match="must be str"):
        count(texts, ["bytes"])  # type: ignore[arg-type]


def test_refusals() -> None:
    with pytest.raises(UnknownNameError):
        count([], ["nope"])
    for options in ({"calls": 0}, {"calls": -1}, {"per": "fortnight"}, {"unit": "both"}, {"price": "x"}):
        with pytest.raises(TokengapError):
            compare("a", **options)


def test_totals_of_estimates_are_exact() -> None:
    """Three texts of one word at words × 4/3 are four tokens of money, not three times a rounded 1.33."""
    report = count(["a", "b", "c"], ["words:4/3"], price="3 USD")
    assert report.total[0].cost == Money(Decimal("0.000012"), "USD")
    assert report.total[0].tokens == 6


def test_parts_add_up_and_name_the_dear_words() -> None:
    text = 'the parcel 1234567890123 नमस्ते {"a":[1]} defenestration\n\n\nend'
    gap = compare(text).gap
    assert gap is not None
    assert sum(part.tokens for part in gap.parts) == count(text).total[0].tokens
    assert sum(part.words for part in gap.parts) == len(text.split())
    assert "words with digits take" in reason(gap.parts)


def test_json_contract() -> None:
    body = report_json(compare(SHOP, ["o200k_base", "words:4/3"], price="3 EUR", calls=10, per="day"))
    assert set(body) == {"results", "total", "prices", "gap"}
    results, gap = body["results"], body["gap"]
    assert isinstance(results, list)
    assert isinstance(gap, dict)
    assert set(results[0]) >= {
        *("source", "counter", "tokens", "estimate", "kind", "interval", "fingerprint"),
        *("words", "chars", "bytes", "cost", "warnings"),
    }
    assert len(results) == 9
    assert results[1]["estimate"] == "20/3"
    assert results[0]["cost"] == {"amount": "0.000015", "currency": "EUR"}
    assert set(gap) >= {"baseline", "reference", "tokens", "percent", "ratio", "cost", "volume"}
    assert set(gap["volume"]) == {"calls", "per", "baseline_cost", "reference_cost", "cost"}


@pytest.mark.parametrize(
    ("value", "text"),
    [("5", "5"), ("6.665", "6.665"), ("20/3", "20/3"), ("1/8", "0.125"), ("3/2", "1.5"), ("0", "0"), ("100", "100")],
)
def test_rational(value: str, text: str) -> None:
    assert rational(Fraction(value)) == text
    assert Fraction(text) == Fraction(value)


@given(st.lists(st.text(st.characters(codec=None)), max_size=4))
def test_any_texts(texts: list[str]) -> None:
    report = compare(texts, ["r50k_base", "chars:4"], price="3 EUR")
    assert report.gap is not None
    assert report.gap.tokens == report.total[0].tokens - report.total[2].tokens
    report_json(report)
