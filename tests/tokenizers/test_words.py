from __future__ import annotations

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.tokenizers.errors import TokengapError
from tokengap.tokenizers.registry import get_counter


@pytest.mark.parametrize(
    ("spec", "text", "tokens", "estimate"),
    [
        ("words:1", "the parcel will arrive tomorrow", 5, Fraction(5)),
        ("words", "two words", 2, Fraction(2)),
        ("words:1.333", "a b c d e", 7, Fraction("6.665")),
        ("words:4/3", "a b c d e", 7, Fraction(20, 3)),
        ("words:4/3", "a b c", 4, Fraction(4)),
        ("words:0.75", "a", 1, Fraction(3, 4)),
        ("words:4/3", "", 0, Fraction(0)),
        ("chars:4", "abcde", 2, Fraction(5, 4)),
        ("chars", "abcd", 1, Fraction(1)),
        ("chars:7/2", "abcdefg", 2, Fraction(2)),
        ("bytes", "café", 5, Fraction(5)),
    ],
)
def test_rules_of_thumb(spec: str, text: str, tokens: int, estimate: Fraction) -> None:
    count = get_counter(spec).count(text)
    assert (count.tokens, count.estimate) == (tokens, estimate)
    assert count.kind == "heuristic"
    assert count.interval is None
    assert count.warnings == ("uncalibrated",)


@pytest.mark.parametrize(
    "spec",
    [
        "words:",
        "words:0",
        "words:0.0",
        "words:-1",
        "words:1/0",
        "words:0/3",
        "words:nan",
        "words:inf",
        "words:1e9",
        "words:1_0",
        "words:٣",
        "words:1:2",
        "words: 1",
        "words:1/2/3",
        "words:" + "9" * 10_000,
        "chars:0",
        "chars:x",
        "bytes:1",
    ],
)
def test_bad_factor_is_refused(spec: str) -> None:
    with pytest.raises(TokengapError) as error:
        get_counter(spec)
    assert len(str(error.value)) < 250


def test_fingerprint_is_of_the_rule() -> None:
    prints = {
        spec: get_counter(spec).count("").fingerprint for spec in ("words:1.5", "words:3/2", "words:2", "chars:2")
    }
    assert prints["words:1.5"] == prints["words:3/2"]
    assert len(set(prints.values())) == 3


@given(st.text(st.characters(codec=None)), st.fractions(min_value="1/1000", max_value=1000, max_denominator=1000))
def test_any_text_and_factor(text: str, factor: Fraction) -> None:
    count = get_counter(f"words:{factor}").count(text)
    assert count.estimate == len(text.split()) * factor
    assert count.tokens == ceil(count.estimate)
