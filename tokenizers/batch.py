"""Counting many texts on all cores: in order, with few of them held at a time.

Threads, since tiktoken lets others run while it counts; so nothing is copied between processes, and all share one
tokenizer and one memo.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from functools import partial

from .counter import Count, Counter, check_counter
from .errors import TokengapError
from .threads import in_order, usable_cores

_CHARACTERS = 1 << 16
"""How much text a thread is given at a time: enough for the handing over not to matter."""

_TEXTS = 1 << 10


def count_many(texts: Iterable[str], counter: Counter, *, threads: int | None = None) -> Generator[Count, None, None]:
    """The count of each text, in their order. Texts are taken as counts are; three batches a thread are under way.

    >>> from .registry import get_counter
    >>> [count.tokens for count in count_many(["one", "one two"], get_counter("words"))]
    [1, 2]

    ``threads`` are by default as many as this process may use cores.

    Raises TokengapError for wrong arguments, and for what is not text, by its position; that and what the iterable of
    texts raises come after the counts of all texts before.
    """
    if isinstance(texts, str):
        raise TokengapError("count_many takes texts, not one text; count takes that")
    if not isinstance(texts, Iterable):
        raise TokengapError(f"count_many takes texts, not {texts!r:.80}")
    check_counter(counter)
    if threads is None:
        threads = usable_cores()
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise TokengapError(f"threads must be a whole number of at least 1, not {threads!r}")
    return _counts(texts, counter, threads)


def _counts(texts: Iterable[str], counter: Counter, threads: int) -> Generator[Count, None, None]:
    failed: list[Exception] = []
    for counts in in_order(partial(_count, counter=counter), _batches(texts, failed), threads):
        yield from counts
    if failed:
        raise failed[0]


def _count(texts: list[str], counter: Counter) -> list[Count]:
    return [counter.count(text) for text in texts]


def _batches(texts: Iterable[str], failed: list[Exception]) -> Iterator[list[str]]:
    """Texts in batches, up to what fails, which is added to ``failed``."""
    batch: list[str] = []
    characters = 0
    try:
        for number, text in enumerate(texts):
            if not isinstance(text, str):
                raise TokengapError(f"text {number}, from 0, is no text: {text!r:.80}")
            batch.append(text)
            characters += len(text)
            if characters >= _CHARACTERS or len(batch) >= _TEXTS:
                yield batch
                batch, characters = [], 0
    except Exception as error:
        failed.append(error)
    if batch:
        yield batch
