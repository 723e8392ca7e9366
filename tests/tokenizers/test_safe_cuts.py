"""Safe cuts change no count, and parts are regrouped so that they end at one."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.tokenizers.counter import Count, added, adds_up
from tokengap.tokenizers.registry import get_counter
from tokengap.tokenizers.safe_cuts import blocks, regrouped

SPECS = (
    "o200k_base",
    "cl100k_base",
    "p50k_base",
    "r50k_base",
    "words:4/3",
    "chars:7/2",
    "bytes",
    "model:claude-opus-4-1",
)
TEXT = st.lists(st.sampled_from([*" \n\r\t/'.!aB1\x1c\u3000書😀\u0301", "  ", " a", "b ", "\nc", "'s"])).map("".join)


def sum_of(counts: list[Count]) -> Count:
    total = counts[0]
    for count in counts[1:]:
        total = added(total, count)
    return total


@pytest.mark.parametrize("spec", SPECS)
@given(text=TEXT, size=st.integers(1, 6))
def test_counts_of_parts_add_up(spec: str, text: str, size: int) -> None:
    counter = get_counter(spec)
    assert adds_up(counter)
    parts = [text[start : start + size] for start in range(0, len(text), size)] or [""]
    groups = list(regrouped(parts)) or [""]
    assert "".join(groups) == text
    assert sum_of([counter.count(group) for group in groups]) == counter.count(text)


@pytest.mark.parametrize("spec", SPECS)
@given(text=TEXT, size=st.integers(1, 6))
def test_counts_of_blocks_add_up(spec: str, text: str, size: int) -> None:
    counter = get_counter(spec)
    found = list(blocks(text, size))
    assert "".join(found) == text
    assert sum_of([counter.count(block) for block in found]) == counter.count(text)


def test_parts_without_a_cut_are_one() -> None:
    assert list(regrouped(["aa", "bb", " ", "\n", "cc"])) == ["aabb \ncc"]
    assert list(regrouped(["aa b", "b", "c d"])) == ["aa", " bbc", " d"]
    assert list(regrouped([])) == []


def test_warnings_and_estimates_add_up() -> None:
    one, other = get_counter("words:4/3").count("a"), get_counter("words:4/3").count("b\ud800 c")
    both = added(one, other)
    assert (both.tokens, both.estimate) == (4, Fraction(4))
    assert both.warnings == ("uncalibrated", "lone_surrogate")
