"""Counting many texts at once: in order, not too far ahead, and nothing left behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tokengap.tokenizers.batch import count_many
from tokengap.tokenizers.counter import Count
from tokengap.tokenizers.errors import TokengapError
from tokengap.tokenizers.registry import get_counter


@pytest.mark.parametrize("threads", [1, 2, 5, None])
@pytest.mark.parametrize("spec", ["o200k_base", "words:4/3"])
def test_counts_in_order(spec: str, threads: int | None) -> None:
    texts = [f"text {number} " * (number % 50) for number in range(5_000)]
    counter = get_counter(spec)
    assert list(count_many(texts, counter, threads=threads)) == [counter.count(text) for text in texts]


def test_no_texts() -> None:
    assert list(count_many([], get_counter("words"))) == []


def test_texts_are_taken_as_counts_are() -> None:
    taken = 0

    def texts() -> Iterator[str]:
        nonlocal taken
        while True:  # more than could ever be held
            taken += 1
            yield "a b " * 5_000

    counts = count_many(texts(), get_counter("words"), threads=2)
    assert [next(counts).tokens for _ in range(100)] == [10_000] * 100
    assert taken < 200
    counts.close()


class Failing:
    name = "failing"

    def count(self, text: str) -> Count:
        raise ValueError(text)


def test_a_failure_is_raised_and_no_thread_left() -> None:
    before = threading.active_count()
    with pytest.raises(ValueError, match="first"):
        list(count_many(["first", *["x" * 70_000] * 50], Failing(), threads=2))
    assert threading.active_count() == before


@pytest.mark.parametrize("bad", [None, b"bytes", 7, ["a"]])
def test_what_is_no_text_is_told_by_its_place(bad: object) -> None:
    counts = count_many([*"abcde", bad, "g"], get_counter("words"))  # type: ignore[list-item]  # as from a caller without types
    assert [next(counts).tokens for _ in range(5)] == [1] * 5
    with pytest.raises(TokengapError, match="text 5, from 0, is no text"):
        next(counts)


@pytest.mark.parametrize(
    ("texts", "counter", "threads", "message"),
    [
        ("one text", get_counter("words"), None, "takes texts, not one text"),
        (7, get_counter("words"), None, "takes texts, not 7"),
        (["a"], "o200k_base", None, "'o200k_base' is no counter: get one with get_counter"),
        (["a"], None, None, "None is no counter"),
        (["a"], get_counter("words"), 0, "at least 1, not 0"),
        (["a"], get_counter("words"), True, "at least 1, not True"),
        (["a"], get_counter("words"), "2", "at least 1, not '2'"),
    ],
)
def test_wrong_arguments(texts: Any, counter: Any, threads: Any, message: str) -> None:
    with pytest.raises(TokengapError, match=message):
        count_many(texts, counter, threads=threads)


def test_what_the_texts_raise_comes_after_the_counts_before() -> None:
    def texts() -> Iterator[str]:
        yield "a"
        yield "a b"
        raise OSError("gone")

    counts = count_many(texts(), get_counter("words"))
    assert [next(counts).tokens, next(counts).tokens] == [1, 2]
    with pytest.raises(OSError, match="gone"):
        next(counts)


def test_one_text_is_not_many() -> None:
    with pytest.raises(TokengapError, match="not one text"):
        count_many("hello", get_counter("words"))


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2"])
def test_threads_that_cannot_be(threads: int) -> None:
    with pytest.raises(TokengapError, match="threads must be a whole number of at least 1"):
        count_many(["a"], get_counter("words"), threads=threads)
