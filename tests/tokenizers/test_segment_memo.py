"""Segments: their counts add up in any company, and the memo of them stays small."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest
import tiktoken
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tokengap.tokenizers import segment_memo
from tokengap.tokenizers.encodings import ENCODINGS, load_ranks
from tokengap.tokenizers.segment_memo import PATTERNS, SegmentMemo
from tokengap.tokenizers.text import WHITE_SPACE

NAMES = ("o200k_base", "cl100k_base")
AWKWARD = list("'sStTlLvVeErRdDmM/.!,-aAzZ0123éÉ×ª²\x1c\0’ſǅʰम\u0301\u094d書😀𐐀") + list(WHITE_SPACE)
PIECES = [*AWKWARD, "  ", "\t\t", "\n\n", "\r\n", " \n", "\n ", "\n/", ".\n", ";\n//", "'s", "ab", "Cd", " x", "1234"]
ANY_TEXT = st.lists(st.one_of(st.sampled_from(PIECES), st.characters(codec="utf-8"))).map("".join)
LINES = st.lists(st.sampled_from([*PIECES, "\n", "\n", "\n", "\n  ", "a\n", ")\n", "/b"])).map("".join)
named = pytest.mark.parametrize("name", NAMES)


@cache
def reference(name: str) -> tiktoken.Encoding:
    """tiktoken itself, built apart from the code under test."""
    ranks = load_ranks(ENCODINGS[name].ranks)
    return tiktoken.Encoding(name, pat_str=ENCODINGS[name].pattern, mergeable_ranks=ranks, special_tokens={})


def tokens(name: str, text: str) -> int:
    return len(reference(name).encode_ordinary(text))


def memo_of(name: str) -> SegmentMemo:
    return SegmentMemo(lambda text: tokens(name, text), reference(name).encode_ordinary)


class Watched:
    """A memo over tiktoken that tells what it asks for."""

    def __init__(self, name: str = "o200k_base") -> None:
        self.counted: list[str] = []

        def count(text: str) -> int:
            self.counted.append(text)
            return tokens(name, text)

        def encode(text: str) -> list[int]:
            if text != "\0\n":  # as it does first of all
                self.counted.append(text)
            return reference(name).encode_ordinary(text)

        self.memo = SegmentMemo(count, encode)


@named
@settings(max_examples=1000)
@given(text=ANY_TEXT | LINES, data=st.data())
@example("a \n b\n\nc.\n/d 's\n'll ", None)
@example("a\r\n\r\nb \r\nc\rd", None)
@example("a\n\rb\n \rc", None)
@example("/a\n b\n\n /b \n/c", None)
@example("a\n \n b", None)
@example("a.\n\tb\n\t\tc\t\n ", None)
@example("\n\n", None)
@example("a\n\n//\n //\n\x1c\n", None)
def test_segments_add_up_in_any_company(name: str, text: str, data: st.DataObject | None) -> None:
    segments = segment_memo._segments(text)
    assert "".join(segments) == text
    assert sum(tokens(name, part) for part in segments) == tokens(name, text)
    known = data.draw(st.lists(st.booleans(), min_size=len(segments), max_size=len(segments))) if data else []
    left = [part for part, out in zip(segments, known, strict=False) if not out]
    assert sum(tokens(name, part) for part in left) == tokens(name, "".join(left))


@named
@settings(max_examples=300)
@given(texts=st.lists(LINES, min_size=2, max_size=8))
def test_any_texts_in_a_row(name: str, texts: list[str]) -> None:
    memo = memo_of(name)
    for text in [*texts, *texts, "".join(texts), *texts, "".join(reversed(texts))]:
        longer = text + "and a few words more than it takes to be looked up. " * 4
        memo._to_skip = 0
        assert memo.count(longer) == tokens(name, longer)


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\nb", ["a\n", "b"]),
        ("a\n    b\nc\n", ["a\n    b\n", "c\n"]),
        ("a\n\n \nb", ["a\n\n \n", "b"]),
        ("\n\na\n", ["\n\n", "a\n"]),
        ("a;\n// b\n// c\nd", ["a;\n// b\n// c\n", "d"]),
        ("a\r\n\r\nb", ["a\r\n\r\n", "b"]),
        ("a\n  ", ["a\n  "]),
        ("書は\n本だ\n", ["書は\n", "本だ\n"]),
    ],
)
def test_where_texts_are_cut(text: str, segments: list[str]) -> None:
    assert segment_memo._segments(text) == segments


@pytest.mark.parametrize("run", ["\n", "\n/", " \n", "\r", "\n ", "\n\r", " ", "/", "a\n"])
def test_segments_of_hostile_text(run: str) -> None:
    text = run * 300_000
    assert "".join(segment_memo._segments(text)) == text


def test_what_came_twice_is_not_counted_again() -> None:
    watched = Watched()
    rules, turn = "Answer briefly.\n" + "- Cite the source of each figure.\n" * 9, "What did {} eat?\n"
    for name in ("Ann", "Max", "Bob", "Eve", "Ann"):
        text = rules + turn.format(name)
        assert watched.memo.count(text) == tokens("o200k_base", text)
    ann, skipped, again, bob, eve, ann_again = watched.counted
    assert ann == rules + "What did Ann eat?\n"
    assert skipped == rules + "What did Max eat?\n"
    assert again == "Answer briefly.\n\0\n- Cite the source of each figure.\n"
    assert (bob, eve) == ("What did Bob eat?\n", "What did Eve eat?\n")
    assert ann_again == "What did Ann eat?\n"


def test_texts_with_nothing_in_common_are_seldom_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched()
    learned: list[list[str]] = []
    learn = watched.memo._learn

    def watched_learn(text: str, parts: list[str]) -> tuple[int, int]:
        learned.append(parts)
        return learn(text, parts)

    monkeypatch.setattr(watched.memo, "_learn", watched_learn)
    for number in range(8 * 10):
        watched.memo.count("".join(f"Line {number} {line} is new.\n" for line in range(20)))
    assert 10 <= len(learned) <= 14


def test_a_text_that_comes_again_is_always_looked_up() -> None:
    """So that the messages of a conversation are known from their third time on."""
    watched = Watched()
    messages = ["".join(f"Line {number} {line} is new.\n" for line in range(20)) for number in range(30)]
    for message in [*messages, *messages]:
        watched.memo.count(message)
    watched.counted.clear()
    for message in messages:
        assert watched.memo.count(message) == tokens("o200k_base", message)
    assert watched.counted == []


def test_short_texts_are_counted_at_once() -> None:
    watched = Watched()
    for _ in range(3):
        watched.memo.count("a b\n" * 20)
    assert watched.counted == ["a b\n" * 20] * 3


def test_long_segments_are_not_remembered() -> None:
    watched = Watched()
    line = "a b " * 5_000
    for _ in range(9):
        assert watched.memo.count(f"{line}\n") == tokens("o200k_base", f"{line}\n")
    assert len(watched.counted) == 9
    assert watched.memo.bytes < len(line)


def test_the_memo_stays_within_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_memo, "LIMIT", 100_000)
    memo = memo_of("o200k_base")
    for number in range(1_000):
        text = "".join(f"{number // repeats} and {'more' * 10}\n" for repeats in range(1, 20))
        assert memo.count(text) == tokens("o200k_base", text)
        assert memo.bytes <= 100_000


def test_what_is_asked_for_stays_when_the_memo_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_memo, "LIMIT", 100_000)
    watched = Watched()
    template = "".join(f"Rule {number} of the house: {'be kind ' * number}\n" for number in range(20))
    for number in range(2_000):
        watched.memo.count(template + f"Question {number}: what is {number} squared, and why is that so?\n")
    again = [text for text in watched.counted[-1_000:] if "Rule" in text]
    assert len(again) < 100


def test_threads_share_a_memo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_memo, "LIMIT", 50_000)
    shared = memo_of("o200k_base")
    words = random.Random(7)
    texts = ["".join(f"Wort{words.choice('abcdefgh')} it's\n" for _ in range(100)) for _ in range(200)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(shared.count, texts * 3))
    assert found == [tokens("o200k_base", text) for text in texts] * 3


def test_older_patterns_have_no_memo() -> None:
    """Under them a chunk of whitespace goes on over a line break."""
    assert ENCODINGS["p50k_base"].pattern not in PATTERNS
