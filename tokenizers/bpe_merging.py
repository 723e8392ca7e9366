"""Merging the symbols of one chunk: lowest pair first, leftmost first, until no pair is left that merges.

A short chunk is cheapest to scan again after each merge. In a long one that would take time with the
square of its length, so there all places of a pair are kept in a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise

FindMerge = Callable[[tuple[int, int], int], int]
"""From a pair of tokens to the one they become, or to the default. The lower result is merged first."""

Lengths = Mapping[int, int] | Sequence[int]
"""How many symbols each token is made of."""

_NO_MERGE = 1 << 62
_LONG = 96  # symbols
_BOUNDARY = -1


def merge_all(parts: list[int], find: FindMerge, lengths: Lengths) -> list[int]:
    """The tokens that a chunk's symbols become."""
    return merge_short(parts, find) if len(parts) <= _LONG else merge_long(parts, find, lengths)


def merge_short(parts: list[int], find: FindMerge) -> list[int]:
    """Merge the leftmost of the lowest pairs, one at a time. Takes time with the square of the length."""
    found = [find(pair, _NO_MERGE) for pair in pairwise(parts)]
    while found:
        lowest = min(found)
        if lowest == _NO_MERGE:
            break
        at = found.index(lowest)
        parts[at : at + 2] = [lowest]
        del found[at]
        if at < len(found):
            found[at] = find((lowest, parts[at + 1]), _NO_MERGE)
        if at:
            found[at - 1] = find((parts[at - 1], lowest), _NO_MERGE)
    return parts


def merge_long(parts: list[int], find: FindMerge, lengths: Lengths) -> list[int]:
    """The same result in near-linear time: all places of the lowest pair at once, lowest pair after lowest pair.

    As in training, a token stands at its first and its last place, with a boundary around the chunk; here
    the last is written as ``-2 - token``, so that no place is taken for the first when it is the last.
    """
    sequence = [_BOUNDARY, *parts, _BOUNDARY]
    places: dict[int, list[int]] = {}
    for place, pair in enumerate(pairwise(parts), 1):
        if (merged := find(pair, _NO_MERGE)) != _NO_MERGE:
            places.setdefault(merged, []).append(place)
    waiting = list(places)
    heapify(waiting)
    while waiting:
        lowest = heappop(waiting)
        at = sorted(places.pop(lowest, ()))
        for done, place in enumerate(at, 1):
            for neighbour, merged in _merge_at(place, lowest, sequence, find, lengths):
                if merged not in places:
                    places[merged] = []
                    heappush(waiting, merged)
                places[merged].append(neighbour)
            if waiting and waiting[0] < lowest and done < len(at):
                # Only a vocabulary that was not learned in order of its ids has such pairs: they go first.
                places.setdefault(lowest, []).extend(at[done:])
                heappush(waiting, lowest)
                break
    return _tokens_of(sequence, lengths)


def _merge_at(
    place: int, merged: int, sequence: list[int], find: FindMerge, lengths: Lengths
) -> Iterator[tuple[int, int]]:
    """Merge the two tokens at a place, if they still become ``merged``. Yields the new pairs around."""
    left = sequence[place]
    if left < 0:
        return
    middle = place + lengths[left]
    right = sequence[middle]
    if right < 0 or find((left, right), _NO_MERGE) != merged:
        return
    end = middle + lengths[right]
    before, after = sequence[place - 1], sequence[end]
    if before < _BOUNDARY:
        before = -2 - before
    sequence[middle - 1] = sequence[middle] = _BOUNDARY
    sequence[place], sequence[end - 1] = merged, -2 - merged
    if before >= 0 and (found := find((before, merged), _NO_MERGE)) != _NO_MERGE:
        yield place - lengths[before], found
    if after >= 0 and (found := find((merged, after), _NO_MERGE)) != _NO_MERGE:
        yield place, found


def _tokens_of(sequence: list[int], lengths: Lengths) -> list[int]:
    tokens = []
    place, end = 1, len(sequence) - 1
    while place < end:
        tokens.append(sequence[place])
        place += lengths[sequence[place]]
    return tokens
