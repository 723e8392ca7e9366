"""Segments: their counts add up in any company, and the memo of them stays small."""

from __future__ import annotations

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest
import tiktoken
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tokengap.tokenizers import segment_memo
from tokengap.tokenizers.encodings import ENCODINGS, load_ranks
from tokengap.tokenizers.segment_memo import SegmentMemo, segments
from tokengap.tokenizers.tiktoken_encodings import remembering

NAMES = ("o200k_base", "cl100k_base")
AWKWARD = list(" \n\r\t\v'sStTlLvVeErRdDmM/.!,-aAzZ0123éÉ×ª²\xa0\x85\x1c\0’ſǅʰम\u0301\u094d書😀𐐀")
PIECES = [*AWKWARD, "  ", "   ", "\t\t", "\n\n", "\r\n", " \n", "\n ", "'s", "'LL", "''s", "ab", "Cd", " x", "1234"]
ANY_TEXT = st.lists(st.one_of(st.sampled_from(PIECES), st.characters(codec="utf-8"))).map("".join)
PLAIN = [piece for piece in PIECES if piece not in (*"\v\xa0\x85\0\t\r", "\t\t", "   ")]
PLAIN_TEXT = st.lists(st.sampled_from([*PLAIN, " and", " of", ".\n", "line\n"])).map("".join)


@cache
def reference(name: str) -> tiktoken.Encoding:
    """tiktoken itself, built apart from the code under test."""
    ranks = load_ranks(ENCODINGS[name].ranks)
    return tiktoken.Encoding(name, pat_str=ENCODINGS[name].pattern, mergeable_ranks=ranks, special_tokens={})


def tokens(name: str, text: str) -> int:
    return len(reference(name).encode_ordinary(text))


def memo(name: str) -> SegmentMemo:
    made = remembering(ENCODINGS[name])
    assert made is not None
    return made


class Watched:
    """A memo over tiktoken that tells what it asks for."""

    def __init__(self) -> None:
        encoding = reference("o200k_base")
        self.counted: list[str] = []
        self.encoded: list[str] = []

        def count(text: str) -> int:
            self.counted.append(text)
            return len(encoding.encode_ordinary(text))

        def encode(text: str) -> Sequence[int]:
            self.encoded.append(text)
            return encoding.encode_ordinary(text)

        self.memo = SegmentMemo(count, encode, lambda token: b"\0" in encoding.decode_single_token_bytes(token))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=500)
@given(text=ANY_TEXT | PLAIN_TEXT)
@example("a \n b\n\nc.\n/d 's\n'll ")
@example("a\r\n\r\nb \r\nc\rd")
@example("/a\n b")
@example("a\n\n /b \n/c")
@example("a\n \n b")
@example("a\r \n b")
@example("a\n\tb\n\t\tc\t\n")
@example(" a")
@example("a ")
def test_segments_add_up(name: str, text: str) -> None:
    """Whether none of them is known, or all."""
    remembered = memo(name)
    for _ in range(2):
        assert remembered.look_up(text) in (None, tokens(name, text))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=500)
@given(texts=st.lists(PLAIN_TEXT, min_size=2, max_size=6))
def test_segments_add_up_in_any_company(name: str, texts: list[str]) -> None:
    """Those of a text that are not known are put together, the others left out."""
    remembered = memo(name)
    for text in texts:
        assert remembered.look_up(text) in (None, tokens(name, text))


@pytest.mark.parametrize(
    "text", ["a b\n\nc, d.\n  e\n\tf 12\n", "Größe — it’s\r\nso\r\n", "書 は 本\n", "a ", "x\n\t\ty"]
)
def test_what_is_cut(text: str) -> None:
    assert segments(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "/a",
        "a\0",
        "a\n \nb",
        "a\r \nb",
        "a\t\nb",
        "a  \nb",
        "a\t b",
        "a\u3000b",
        "a\xa0b",
        "\vx",
        "a" + " " * 99,
    ],
)
def test_what_is_not_cut(text: str) -> None:
    assert segments(text) is None


def test_a_text_that_is_known_is_not_counted_again() -> None:
    watched = Watched()
    text = "INFO 10.0.0.1 started" + " INFO 10.0.0.1 started" * 100
    for number in range(4):
        version = text.replace("1", str(number))
        assert watched.memo.look_up(version) == tokens("o200k_base", version)
    assert len(watched.encoded) == 3  # two of them to learn what stands between segments
    assert len(watched.encoded[-1]) < 60
    assert watched.counted == []


def test_the_quicker_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that says so: first to look a text up takes longer, then to count it."""
    now, price = 0, {"counted": 1, "looked up": 3}

    def clock() -> int:
        return now

    monkeypatch.setattr(segment_memo, "thread_time_ns", clock)
    watched = Watched()
    count, look_up = watched.memo._count, watched.memo.look_up
    text = "one two three " * 100 + "end"

    def dear_count(text: str) -> int:
        nonlocal now
        now += price["counted"] * 100 * len(text)
        return count(text)

    def dear_look_up(text: str) -> int | None:
        nonlocal now
        now += price["looked up"] * 100 * len(text)
        return look_up(text)

    monkeypatch.setattr(watched.memo, "_count", dear_count)
    monkeypatch.setattr(watched.memo, "look_up", dear_look_up)
    for _ in range(320):
        watched.memo.count(text)
    assert len(watched.counted) > 280
    price.update({"counted": 3, "looked up": 1})
    for _ in range(640):
        watched.memo.count(text)
    before = len(watched.counted)
    for _ in range(320):
        watched.memo.count(text)
    assert len(watched.counted) - before == 320 // 16


def test_short_and_long_texts_are_counted_at_once() -> None:
    watched = Watched()
    for text in ("a b " * 20, "a b " * 10_000):
        for _ in range(40):
            watched.memo.count(text)
        assert watched.counted == [text] * 40
        watched.counted.clear()


def test_the_memo_stays_within_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_memo, "LIMIT", 100_000)
    remembered = memo("o200k_base")
    for number in range(1_000):
        text = " ".join(f"{chr(97 + number % 26)}{chr(97 + part)}x{'y' * (number // 26)}" for part in range(20))
        assert remembered.look_up(text) == tokens("o200k_base", text)
        assert remembered.bytes <= 100_000


def test_threads_share_a_memo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_memo, "LIMIT", 50_000)
    shared = memo("o200k_base")
    words = random.Random(7)
    texts = [" ".join(f"Wort{words.choice('abcdefgh')} x{words.random()} it's" for _ in range(100)) for _ in range(200)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(shared.look_up, texts * 3))
    assert found == [tokens("o200k_base", text) for text in texts] * 3


def test_older_patterns_have_none() -> None:
    assert remembering(ENCODINGS["p50k_base"]) is None
