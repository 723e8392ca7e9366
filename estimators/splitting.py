"""Split a text into chunks of a number of tokens, each repeating the end of the one before."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from ..tokenizers.counter import Counter, Tokenizer
from ..tokenizers.errors import TokengapError
from .cutting import not_negative, tokenizer_of, whole_text
from .recount import Pieces


@dataclass(frozen=True, slots=True)
class Chunk:
    """``text[start:end]`` of a text, in characters; the first ``overlap`` repeat the chunk before."""

    text: str
    tokens: int
    start: int
    end: int
    overlap: int


@dataclass(frozen=True, slots=True)
class _Known:
    """A text and its tokens: token ``numbers[i]`` begins at character ``offsets[i]``."""

    tokenizer: Tokenizer
    text: str
    offsets: list[int]
    numbers: list[int]

    def count(self, start: int, end: int) -> int:
        return self.tokenizer.count(self.text[start:end]).tokens


def split(text: str, max_tokens: int, counter: Counter, *, overlap: int = 0) -> Iterator[Chunk]:
    """Split a text into chunks of at most ``max_tokens``, each repeating up to ``overlap`` tokens of the one before.

    Both are recounts: of the chunk, and of what it repeats. Chunks end on characters, and without what
    they repeat they join to the text.

    >>> from tokengap.tokenizers.registry import get_counter
    >>> [chunk.text for chunk in split("one two three four five six", 3, get_counter("o200k_base"), overlap=1)]
    ['one two three', ' three four five', ' five six']

    Raises TokengapError at once for limits that make no sense and for a counter without tokens to cut
    at, and on the way for a character of more than ``max_tokens`` tokens.
    """
    tokenizer = tokenizer_of(counter)
    not_negative(overlap, "the overlap")
    not_negative(max_tokens, "the tokens of a chunk")
    if max_tokens < 1 or overlap >= max_tokens:
        raise TokengapError(
            f"chunks of {max_tokens} tokens with an overlap of {overlap}: a chunk needs at least 1 token, "
            "and more than its overlap"
        )
    return _chunks(tokenizer, whole_text(text), max_tokens, overlap)


def _chunks(tokenizer: Tokenizer, text: str, max_tokens: int, overlap: int) -> Iterator[Chunk]:
    index = Pieces(tokenizer, text).index
    known = _Known(tokenizer, text, list(index), list(index.values()))
    start = end = 0
    while end < len(text):
        for at in _starts(known, start, end, overlap):
            if found := _end(known, at, end, max_tokens):
                yield Chunk(text[at : found[0]], found[1], at, found[0], end - at)
                start, end = at, found[0]
                break
        else:
            raise TokengapError(
                f"character {end} of the text, {text[end]!r}, is {known.count(end, end + 1)} tokens by itself: "
                f"a chunk of {max_tokens} cannot hold it"
            )


def _starts(known: _Known, previous: int, end: int, overlap: int) -> Iterator[int]:
    """Where the next chunk may start: from ``overlap`` tokens before ``end``, the earliest first, up to it."""
    last = bisect_right(known.offsets, end) - 1
    first = bisect_left(known.numbers, known.numbers[last] - overlap)
    for at in known.offsets[first : last + 1] if overlap else ():
        if previous < at < end and known.count(at, end) <= overlap:
            yield at
    yield end


def _end(known: _Known, start: int, after: int, max_tokens: int) -> tuple[int, int] | None:
    """Where a chunk that goes beyond ``after`` ends, and its tokens; ``None`` where there is no room for more."""
    first = bisect_right(known.offsets, start) - 1
    last = bisect_right(known.numbers, known.numbers[first] + max_tokens) - 1
    for place in range(last, first, -1):
        if known.offsets[place] <= after:
            break
        if (tokens := known.count(start, known.offsets[place])) <= max_tokens:
            return known.offsets[place], tokens
    end = None  # the next token that ends on a character is too far: go on by characters
    for at in range(after + 1, min(after + max_tokens, len(known.text)) + 1):
        if (tokens := known.count(start, at)) > max_tokens:
            break
        end = at, tokens
    return end
