"""Merges one by one: those a tokenizer applies to a text, and those that training would learn from it."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .bpe_artefact import Artefact
from .bpe_encoding import BpeTokenizer
from .bpe_inspection import escaped, piece, pieces
from .bpe_training import Alphabet
from .errors import TokengapError
from .pretokenize import Pretokenizer
from .text import well_formed

MAX_TRACED = 10_000
"""A trace shows the whole text after every merge, so only a short text can be traced (characters)."""


@dataclass(frozen=True, slots=True)
class Step:
    """One merge of a trace: its number from 1, what it joined, and every chunk's pieces after it."""

    number: int
    left: str
    right: str
    chunks: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """One merge while training: the pair, its count, all pairs that had it, and every chunk's pieces after it."""

    left: str
    right: str
    count: int
    tied: tuple[tuple[str, str], ...]
    chunks: tuple[tuple[str, ...], ...]


def trace(tokenizer: BpeTokenizer, text: str) -> list[Step]:
    """Every merge that changes a text, in order, with the pieces of its chunks after it.

    Raises TokengapError for a long text, and for a vocabulary without merges.
    """
    artefact = tokenizer.artefact
    if artefact.ranks is not None:
        raise TokengapError("this vocabulary keeps no merges to trace; export it as tokenizer.json and import that")
    chunks = _spelled(_traceable(text), artefact)
    numbers = artefact.ids or range(artefact.base_size + len(artefact.merges) + 1)
    steps = []
    for new, merge in enumerate(artefact.merges, artefact.base_size):
        replaced = [_replaced(chunk, (merge.left, merge.right), new) for chunk in chunks]
        if replaced != chunks:
            chunks = replaced
            joined = piece(tokenizer, numbers[merge.left]), piece(tokenizer, numbers[merge.right])
            shown = tuple(tuple(pieces(tokenizer, map(numbers.__getitem__, chunk))) for chunk in chunks)
            steps.append(Step(new - artefact.base_size + 1, *joined, shown))
    return steps


def pair_counts(chunks: Iterable[Sequence[str]]) -> dict[tuple[str, str], int]:
    """How often each pair of neighbours occurs, with overlap, in order of first occurrence.

    >>> pair_counts(["aaab"])
    {('a', 'a'): 2, ('a', 'b'): 1}
    """
    return dict(Tally(pair for chunk in chunks for pair in pairwise(chunk)))


def trace_training(text: str, merges: int, rule: Pretokenizer, alphabet: Alphabet = "characters") -> list[TrainingStep]:
    """Train on a short text in the open: what was counted, what tied, and the text after each merge.

    This is the plain method, which recounts everything; ``bpe_training`` learns the same merges faster.
    Raises TokengapError for a long text.
    """
    cut = rule.chunks(_traceable(text))
    chunks = [list(chunk.encode() if alphabet == "bytes" else map(ord, chunk)) for chunk in cut]
    shown = (lambda number: escaped(bytes([number]))) if alphabet == "bytes" else chr
    spelled = {number: shown(number) for chunk in chunks for number in chunk}
    steps: list[TrainingStep] = []
    while len(steps) < merges:
        counts = Tally(pair for chunk in chunks for pair in pairwise(chunk))
        if not counts:
            break
        highest = max(counts.values())
        tied = [pair for pair, count in counts.items() if count == highest]
        left, right = tied[0]
        new = -1 - len(steps)
        spelled[new] = spelled[left] + spelled[right]
        chunks = [_replaced(chunk, (left, right), new) for chunk in chunks]
        names = tuple((spelled[first], spelled[second]) for first, second in tied)
        after = tuple(tuple(map(spelled.__getitem__, chunk)) for chunk in chunks)
        steps.append(TrainingStep(spelled[left], spelled[right], highest, names, after))
    return steps


def _traceable(text: str) -> str:
    if len(text) > MAX_TRACED:
        raise TokengapError(f"a text of {len(text):,} characters is too long to trace; at most {MAX_TRACED:,}")
    return well_formed(text)[0]


def _spelled(text: str, artefact: Artefact) -> list[list[int]]:
    chunks = artefact.pretokenizer.chunks(text)
    if artefact.alphabet == "bytes":
        return [list(chunk.encode()) for chunk in chunks]
    index = {symbol: number for number, symbol in enumerate(artefact.symbols)}
    unknown = artefact.base_size + len(artefact.merges)
    return [[index.get(symbol, unknown) for symbol in chunk] for chunk in chunks]


def _replaced(chunk: list[int], pair: tuple[int, int], new: int) -> list[int]:
    out: list[int] = []
    position = 0
    while position < len(chunk):
        if position + 1 < len(chunk) and (chunk[position], chunk[position + 1]) == pair:
            out.append(new)
            position += 2
        else:
            out.append(chunk[position])
            position += 1
    return out
