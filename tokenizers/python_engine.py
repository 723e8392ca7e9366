"""Counting with the standard library alone: what a process counts with until another engine is worth its loading.

A chunk that is a token counts as one. Any other begins as its bytes, and the pair of neighbours whose joined bytes
have the lowest rank is merged, leftmost first, until no pair has one: that gives tiktoken's tokens. Nothing is
loaded but the pages of the vocabulary that are looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeVar

from .bpe_merging import merge_long
from .encodings import O200K_PATTERN, R50K_PATTERN, Encoding
from .stand_ins import chunker
from .vocabulary import Ranks, Vocabulary

T = TypeVar("T")

_LONG = 128  # bytes; in a longer chunk, to scan all pairs after every merge would take too long
_NO_RANK = 1 << 62
_LONGEST_KEY = 64  # characters
_MOST_KEYS = 1 << 16

WORTH = 200_000
"""Bytes of chunks that are looked up and merged here in about half the time that tiktoken takes to load."""

_RULES = {R50K_PATTERN: "gpt2", O200K_PATTERN: "o200k"}  # the others are cl100k


class PythonEngine:
    """Counts under one rank file and rule. Safe to share between threads."""

    def __init__(self, ranks: Ranks, rule: str) -> None:
        self._chunks = chunker(rule).chunks
        self._counts = _Counts(_RankMemo(Vocabulary(ranks)))

    def count(self, text: str) -> int:
        """The tokens of a well-formed text."""
        self._counts.work += len(text) // 8  # to find the chunks, and those that are known
        return sum(map(self._counts.__getitem__, self._chunks(text)))

    def spend(self) -> None:
        """Leave all further counting to what takes longer to load."""
        self._counts.work = max(self._counts.work, WORTH + 1)

    @property
    def is_spent(self) -> bool:
        """Whether this engine has done so much that to load tiktoken would not have taken longer."""
        return self._counts.work > WORTH


def engine(encoding: Encoding) -> PythonEngine:
    """The engine of an encoding; those with the same ranks share it."""
    return build(encoding.ranks, rule(encoding))


def rule(encoding: Encoding) -> str:
    """The named split rule that is the same as the published pattern of an encoding."""
    return _RULES.get(encoding.pattern, "cl100k")


@cache
def build(ranks: Ranks, rule: str) -> PythonEngine:
    return PythonEngine(ranks, rule)


class _RankMemo(dict[bytes, int]):
    """The ranks of the byte strings asked for lately: a dictionary is ten times as quick as the file."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.vocabulary = vocabulary

    def __missing__(self, token: bytes) -> int:
        rank = self.vocabulary.rank(token, _NO_RANK)
        if len(token) <= _LONGEST_KEY:
            if len(self) >= _MOST_KEYS:
                self.clear()
            self[token] = rank
        return rank


class _Counts(dict[str, int]):
    """The number of tokens of the chunks met lately. ``work`` is the bytes looked up, more for those to be merged."""

    def __init__(self, ranks: _RankMemo) -> None:
        super().__init__()
        self.work = 0
        self._ranks = ranks

    def __missing__(self, chunk: str) -> int:
        data = chunk.encode()
        if self._ranks[data] != _NO_RANK:
            tokens = 1
            self.work += len(data)
        else:
            tokens = _merged(data, self._ranks)
            self.work += (2 if len(data) <= _LONG else 5) * len(data)
        if len(chunk) <= _LONGEST_KEY:
            if len(self) >= _MOST_KEYS:
                self.clear()
            self[chunk] = tokens
        return tokens


def _merged(data: bytes, ranks: _RankMemo) -> int:
    """How many tokens a chunk is that is not one."""
    if len(data) > _LONG:
        return _merged_long(data, ranks)
    starts = [*range(len(data) + 1)]
    found = [ranks[data[start : start + 2]] for start in range(len(data) - 1)]
    while found and (lowest := min(found)) != _NO_RANK:
        at = found.index(lowest)
        del starts[at + 1], found[at]
        if at < len(found):
            found[at] = ranks[data[starts[at] : starts[at + 2]]]
        if at:
            found[at - 1] = ranks[data[starts[at - 1] : starts[at + 1]]]
    return len(starts) - 1


def _merged_long(data: bytes, ranks: _RankMemo) -> int:
    """The same in time that grows little faster than the chunk."""
    tokens = _Lazy(ranks.vocabulary.token)
    lengths = _Lazy(lambda rank: len(tokens[rank]))

    def find(pair: tuple[int, int], default: int) -> int:
        rank = ranks[tokens[pair[0]] + tokens[pair[1]]]
        return default if rank == _NO_RANK else rank

    single = [ranks[bytes((value,))] for value in range(256)]
    return len(merge_long([single[value] for value in data], find, lengths))


class _Lazy(dict[int, T]):
    """What a function gives for the numbers it was asked for."""

    def __init__(self, find: Callable[[int], T]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, number: int) -> T:
        found = self[number] = self._find(number)
        return found
