"""Segments: their counts add up in any company, and the memo of them stays small."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from tokengap.tokenizers import segment_memo
from tokengap.tokenizers.encodings import ENCODINGS, load_ranks
from tokengap.tokenizers.segment_memo import SegmentMemo

NAMES = ("o200k_base", "cl100k_base", "p50k_base", "r50k_base")
AWKWARD = list(" \n\r\t\v'sStTlLvVeErRdDmM/.!,-aAzZ0123éÉ×ª²\xa0\x85\x1c’ſǅʰम\u0301\u094d書😀𐐀")
PIECES = [*AWKWARD, "  ", "   ", "\t\t", "\n\n", "\r\n", "'s", "'LL", "''s", "ab", "Cd", " x", "1234"]
ANY_TEXT = st.lists(st.one_of(st.sampled_from(PIECES), st.characters(codec="utf-8"))).map("".join)
ASCII_TEXT = st.lists(st.sampled_from([piece for piece in PIECES if piece.isascii()])).map("".join)


@cache
def reference(name: str) -> tiktoken.Encoding:
    """tiktoken itself, built apart from the code under test."""
    ranks = load_ranks(ENCODINGS[name].ranks)
    return tiktoken.Encoding(name, pat_str=ENCODINGS[name].pattern, mergeable_ranks=ranks, special_tokens={})


def tokens(name: str, text: str) -> int:
    return len(reference(name).encode_ordinary(text))


def memo(name: str) -> SegmentMemo:
    return SegmentMemo(
        partial(tokens, name),
        marks_are_letters=name == "o200k_base",
        digits_are_alike=name in ("o200k_base", "cl100k_base"),
    )


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=300)
@given(text=ANY_TEXT | ASCII_TEXT)
def test_segments_add_up(name: str, text: str) -> None:
    segments = memo(name).segments(text)
    assert sum(map(len, segments)) == len(text)
    assert sum(tokens(name, segment) for segment in segments) == tokens(name, text)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=300)
@given(text=ANY_TEXT | ASCII_TEXT, seed=st.integers(0, 9))
def test_segments_add_up_in_any_company(name: str, text: str, seed: int) -> None:
    """Those of a text that are not known are put together, the others left out."""
    segments = memo(name).segments(text)
    some = [segment for segment in segments if random.Random(f"{segment}{seed}").random() < 0.5]
    assert sum(tokens(name, segment) for segment in some) == tokens(name, "".join(some))


def test_a_text_that_is_known_is_not_counted_again() -> None:
    asked: list[str] = []

    def count(text: str) -> int:
        asked.append(text)
        return len(text)

    remembered = SegmentMemo(count, marks_are_letters=True, digits_are_alike=True)
    text = " INFO 10.0.0.1 started" * 100
    for number in range(4):
        assert remembered.count(text.replace("1", str(number))) == len(text)
    assert sum(map(len, asked)) < len(text) / 10


def test_most_texts_that_are_all_new_are_counted_at_once() -> None:
    asked: list[str] = []

    def count(text: str) -> int:
        asked.append(text)
        return len(text)

    remembered = SegmentMemo(count, marks_are_letters=True, digits_are_alike=False)
    as_letters = {ord(digit): letter for digit, letter in zip("0123456789", "abcdefghij", strict=True)}
    texts = ["".join(f" {number * 200 + part}" for part in range(200)).translate(as_letters) for number in range(200)]
    assert list(map(remembered.count, texts)) == list(map(len, texts))
    assert sum(text in asked for text in texts) > 190


def test_the_memo_stays_within_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_memo, "LIMIT", 100_000)
    remembered = SegmentMemo(len, marks_are_letters=True, digits_are_alike=False)
    for number in range(2_000):
        text = "".join(f" {number}a{part}b" for part in range(20))
        known, rest = remembered.look_up(text)
        assert known + len(rest) == len(text)
        assert remembered.bytes <= 100_000


def test_threads_share_a_memo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_memo, "LIMIT", 50_000)
    shared = memo("o200k_base")
    texts = [" ".join(f"Wort{number % 50} x{number * other} it's" for other in range(100)) for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(shared.count, texts * 3))
    assert found == [tokens("o200k_base", text) for text in texts] * 3
