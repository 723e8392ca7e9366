r"""Encoding a chunk of any length in time linear in it: in windows, joined where that is proved to be right.

tiktoken takes four times as long for each byte of a megabyte as for each of a kilobyte. Why windows can be joined:

**Tokens are the encoding of a chunk if each two neighbours, taken together, have themselves as their encoding.**
Suppose they were not. Then in merging the chunk there is a first merge across the end of one of them, of a last part
of the one and a first part of its neighbour. Until then nothing was merged across an end of these two, so what was
merged inside them is what would have been merged were they alone: the lowest rank of all, wherever it is taken
inside them, is the lowest there, and the leftmost. So alone they would be merged across that end as well.
The same argument shows that neighbours in an encoding have this property.

So when all tokens left of a place are neighbours in one encoding, and all tokens right of it in another, only the two
at the place have to be looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

WINDOW = 1024
"""Bytes that are encoded at once; also the longest chunk that is left to tiktoken alone."""

_REMEMBERED = 64  # windows, and pairs at their ends: what repeats itself over a megabyte is encoded once
_ATTEMPTS = 12  # to get further in a chunk, each with a window twice as large
_HELD = 2 * _ATTEMPTS  # ids; each attempt takes back one at most

EncodePiece = Callable[[bytes], list[int]]
Decode = Callable[[list[int]], bytes]


def encode_long(chunk: bytes, encode: EncodePiece, decode: Decode, window: int = WINDOW) -> list[int]:
    """The ids of one chunk. ``encode`` encodes bytes as one chunk, and ``decode`` gives the bytes of ids."""
    ids: list[int] = []
    for part in _joined(chunk, encode, decode, window):
        if part is None:
            ids.clear()
        else:
            ids += part
    return ids


def count_long(chunk: bytes, encode: EncodePiece, decode: Decode, window: int = WINDOW) -> int:
    """The number of these ids, of which few are held at a time."""
    tokens = 0
    for part in _joined(chunk, encode, decode, window):
        tokens = 0 if part is None else tokens + len(part)
    return tokens


def _joined(chunk: bytes, encode: EncodePiece, decode: Decode, window: int) -> Iterator[list[int] | None]:
    """The ids of one chunk, part by part; ``None`` takes back all that came before."""
    encode = lru_cache(_REMEMBERED)(encode)
    ids: list[int] = []  # the last ones, which may have to be encoded anew
    start = furthest = failed = 0
    size = window
    while failed < _ATTEMPTS:
        found = encode(chunk[start : start + size])
        if ids and encode(decode([ids[-1], found[0]])) != [ids[-1], found[0]]:
            start -= len(decode([ids.pop()]))
            size, failed = 2 * size, failed + 1
            continue
        end = start + size
        if end >= len(chunk):
            yield ids + found
            return
        # What a window ends with may be encoded otherwise where more follows.
        left = found[-1 - len(found) // 64 :]
        ids += found[: -len(left)]
        start = end - len(decode(left))
        if start > furthest:
            furthest, failed, size = start, 0, window
            yield ids[:-_HELD]
            del ids[:-_HELD]
        else:
            size, failed = 2 * size, failed + 1
    yield None
    yield encode(chunk)
