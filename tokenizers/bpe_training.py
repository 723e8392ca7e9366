"""Learning merges: byte-pair encoding over distinct chunks, each weighted by how often it occurs.

The rule, exactly: the pair of neighbours with the highest weighted count is merged; among equals, the one
whose first occurrence comes first when the distinct chunks are scanned in the order of their first
appearance in the text, left to right, as they are segmented at that moment. Neighbours are counted with
overlap (``aa`` occurs twice in ``aaa``) and replaced left to right without.

Recounting everything before each merge would follow that rule and take hours. Three facts make it cheap:

- An occurrence of a pair comes into being only when the younger of its two tokens is made. After that
  occurrences only vanish, so a pair's count never rises, and its list of places never grows.
- So the highest count never rises either, and pairs can wait in buckets by count until theirs is reached.
- While a pair's count stays the same, so do its occurrences, the first one included. It is therefore
  looked for once, when the bucket of its count is reached: not for every pair, and not at every merge.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, MutableSequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Literal

from .errors import TokengapError

Alphabet = Literal["bytes", "characters"]
Pair = tuple[int, int]
Progress = Callable[[int, int], None]
"""Called with how much is done and how much there is to do."""

BYTES = 256
MAX_MERGES = 10_000_000
_BOUNDARY = -1
_REPORT_EVERY = 50


@dataclass(frozen=True, slots=True)
class Merge:
    """One learned rule: two ids that become the next one.

    ``count`` is the weighted count the pair had then, ``tied`` how many pairs had that count, itself
    included: 1 means that there was no tie.
    """

    left: int
    right: int
    count: int
    tied: int


@dataclass(frozen=True, slots=True)
class Learned:
    """What training found. ``tokens[n]`` is how many tokens the training text is after n merges."""

    symbols: tuple[str, ...]
    merges: tuple[Merge, ...]
    tokens: tuple[int, ...]


def learn(
    chunks: Mapping[str, int],
    merges: int,
    *,
    alphabet: Alphabet = "bytes",
    min_frequency: int = 1,
    progress: Progress | None = None,
) -> Learned:
    """Learn up to ``merges`` merges; fewer when no pair is left that occurs ``min_frequency`` times.

    ``chunks`` maps each distinct chunk to how often it occurs, in order of first appearance. The ids below
    the first merge are the bytes, or the characters in the order of their code points (``symbols``).

    >>> learn({"aaabdaaabac": 1}, 2).merges
    (Merge(left=97, right=97, count=4, tied=1), Merge(left=256, right=97, count=2, tied=2))
    """
    symbols = tuple(sorted({character for chunk in chunks for character in chunk})) if alphabet == "characters" else ()
    sequence, weights = _laid_out(chunks, symbols if alphabet == "characters" else None)
    trainer = _Trainer(sequence, weights, len(symbols) if alphabet == "characters" else BYTES)
    tokens = [sum(weights)]
    learned: list[Merge] = []
    while len(learned) < merges and (merge := trainer.best(min_frequency)):
        tokens.append(tokens[-1] - trainer.apply(merge))
        learned.append(merge)
        if progress and len(learned) % _REPORT_EVERY == 0:
            progress(len(learned), merges)
    if progress:
        progress(len(learned), len(learned))
    return Learned(symbols, tuple(learned), tuple(tokens))


def merges_for(vocab_size: int, reserved: int, what: str) -> int:
    """How many merges keep a vocabulary within its size. Raises TokengapError below the alphabet."""
    if vocab_size < reserved:
        raise TokengapError(f"a vocabulary of {vocab_size:,} is too small: {what} take {reserved:,}; ask for more")
    return vocab_size - reserved


def _laid_out(chunks: Mapping[str, int], symbols: tuple[str, ...] | None) -> tuple[list[int], list[int]]:
    """All chunks in one sequence of ids, a boundary around each, and the weight of every place, 0 at boundaries."""
    index = None if symbols is None else {symbol: number for number, symbol in enumerate(symbols)}
    sequence, weights = [_BOUNDARY], [0]
    for chunk, times in chunks.items():
        ids: Iterable[int] = chunk.encode() if index is None else map(index.__getitem__, chunk)
        sequence.extend(ids)
        sequence.append(_BOUNDARY)
        weights.extend([times] * (len(sequence) - len(weights) - 1))
        weights.append(0)
    return sequence, weights


class _Trainer:
    """The sequence under training, the count and the places of every pair, and the pairs by count.

    A token is written at its first and at its last place, and its length is known by its id, so both
    neighbours of a token are one step away. A place is the first of the left token of a pair; since places
    never move, they also order pairs by first occurrence.
    """

    def __init__(self, sequence: list[int], weights: list[int], alphabet_size: int) -> None:
        self.sequence = sequence
        self.weights = weights
        self.lengths = [1] * alphabet_size
        self.places: dict[Pair, MutableSequence[int]] = _places(sequence)
        weight = weights.__getitem__
        self.counts = {pair: sum(map(weight, places)) for pair, places in self.places.items()}
        self.buckets: defaultdict[int, list[Pair]] = defaultdict(list)
        for pair, count in self.counts.items():
            self.buckets[count].append(pair)
        self.waiting = [-count for count in self.buckets]
        heapify(self.waiting)
        self.top = 0
        self.tied = 0
        self.leaders: list[tuple[int, Pair]] = []  # a heap by first place

    def best(self, min_frequency: int) -> Merge | None:
        """The pair to merge next, or None when there is none that is frequent enough."""
        while True:
            while self.leaders:
                _, pair = heappop(self.leaders)
                count = self.counts.get(pair, 0)
                if count == self.top:
                    if count < min_frequency:
                        return None
                    return Merge(*pair, count, self.tied)
                if count:
                    self._wait(pair, count)
            if not self.waiting:
                return None
            self._open_bucket()

    def _wait(self, pair: Pair, count: int) -> None:
        bucket = self.buckets[count]
        if not bucket:
            heappush(self.waiting, -count)
        bucket.append(pair)

    def _open_bucket(self) -> None:
        self.top = -heappop(self.waiting)
        for pair in self.buckets.pop(self.top):
            count = self.counts.get(pair, 0)
            if count == self.top:
                self.leaders.append((self._first_place(pair), pair))
            elif count:
                self._wait(pair, count)
        heapify(self.leaders)
        self.tied = len(self.leaders)

    def _first_place(self, pair: Pair) -> int:
        left, right = pair
        sequence, step = self.sequence, self.lengths[left]
        places = self.places[pair]
        for gone, place in enumerate(places):
            if sequence[place] == left and sequence[place + step] == right:
                del places[:gone]
                return place
        raise AssertionError(f"the pair {pair} is counted but nowhere to be found")

    def apply(self, merge: Merge) -> int:
        """Replace a pair everywhere. Returns how many tokens the training text has lost."""
        left, right = merge.left, merge.right
        new = len(self.lengths)
        before, after, lost, undone = self._replace(left, right, new)
        del self.counts[left, right]
        self.tied -= 1
        weight = self.weights.__getitem__
        for neighbour, places in before.items():
            count = sum(map(weight, places))
            if neighbour != new:
                self._lose((neighbour, left), count)
            self._gain((neighbour, new), count, places)
        for neighbour, places in after.items():
            count = sum(map(weight, places))
            self._lose((right, neighbour), count + undone if neighbour == left else count)
            if count:
                self._gain((new, neighbour), count, places)
        return lost

    def _replace(self, left: int, right: int, new: int) -> tuple[dict[int, list[int]], dict[int, list[int]], int, int]:
        """Write the new token wherever the pair stands, left to right.

        Returns the places of its new pairs by the neighbour before and after, the weight of all it
        replaced, and that of the pairs (new, left) that the next replacement has already undone, as the
        first of two in ``abab``.
        """
        sequence, weights, lengths = self.sequence, self.weights, self.lengths
        step = lengths[left]
        length = step + lengths[right]
        lengths.append(length)
        before: defaultdict[int, list[int]] = defaultdict(list)
        after: defaultdict[int, list[int]] = defaultdict(list)
        lost = undone = 0
        for place in self.places.pop((left, right)):
            middle = place + step
            if sequence[place] != left or sequence[middle] != right:
                continue
            weight = weights[place]
            lost += weight
            end = place + length
            neighbour = sequence[place - 1]
            if neighbour >= 0:
                if neighbour == new:
                    after[left].pop()
                    undone += weight
                before[neighbour].append(place - lengths[neighbour])
            neighbour = sequence[end]
            if neighbour >= 0:
                after[neighbour].append(place)
            sequence[middle - 1] = sequence[middle] = _BOUNDARY  # no token begins or ends inside another
            sequence[place] = sequence[end - 1] = new
        return before, after, lost, undone

    def _lose(self, pair: Pair, weight: int) -> None:
        count = self.counts.get(pair, 0)
        if not count:
            return  # the pair being merged, which overlaps itself
        if count == self.top:
            self.tied -= 1
        if count == weight:
            del self.counts[pair], self.places[pair]
        else:
            self.counts[pair] = count - weight

    def _gain(self, pair: Pair, count: int, places: list[int]) -> None:
        self.counts[pair] = count
        self.places[pair] = places
        if count == self.top:
            self.tied += 1
            heappush(self.leaders, (places[0], pair))
        else:
            self._wait(pair, count)


def _places(sequence: list[int]) -> dict[Pair, MutableSequence[int]]:
    """Every pair of neighbours, in order of first occurrence, with the places it stands at."""
    places: defaultdict[Pair, array[int]] = defaultdict(lambda: array("q"))
    following = iter(sequence)
    next(following)
    for place, pair in enumerate(zip(sequence, following, strict=False)):
        places[pair].append(place)
    return {pair: found for pair, found in places.items() if _BOUNDARY not in pair}
