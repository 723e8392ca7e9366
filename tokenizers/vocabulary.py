"""Compiled vocabularies: files that are mapped into memory and looked things up in, without being read.

``tools/compile_vocabularies.py`` makes them from OpenAI's rank files. All numbers are 32 bits, little-endian:

====================  ==================================================================
bytes                 what
====================  ==================================================================
8                     ``tokengap``
3 × 4                 format version; ranks (the highest + 1); slots
32                    sha256 of the rank file this was made from
4 × slots             a hash table: 0 where empty, else rank + 1 in the lower 18 bits and
                      the upper 14 bits of the token's CRC-32
4 × (ranks + 1)       where each token begins in what follows; one without bytes is no token
the rest              the tokens, one after the other
====================  ==================================================================

The number of slots is a power of two. A token's slot is its CRC-32 modulo that number, or the first free one
after it. Where a file begins with the ranks of another, as p50k_base with those of r50k_base, it serves both.
"""

from __future__ import annotations

import os
import sys
from binascii import crc32
from itertools import pairwise
from mmap import ACCESS_READ, mmap
from typing import NamedTuple

from .errors import TokengapError

MAGIC = b"tokengap"
VERSION = 1
HEADER = len(MAGIC) + 12 + 32
RANK_BITS = 18
_RANK_MASK = (1 << RANK_BITS) - 1
DATA = os.path.join(os.path.dirname(__file__), "data")  # pathlib would take longer to import than to count takes


class File(NamedTuple):
    """A compiled file: the sha256 of the rank file it is made from, and its own."""

    name: str
    made_from: str
    sha256: str


class Ranks(NamedTuple):
    """A rank file: its name, the sha256 of its plain text as published, and the compiled file that has it.

    ``size`` is how many of the ranks in the compiled file are this one's.
    """

    name: str
    sha256: str
    file: File
    size: int


class Vocabulary:
    """The tokens of a compiled file and their ranks. Safe to share between threads."""

    def __init__(self, ranks: Ranks) -> None:
        """Map the file, if it is made from the right ranks and of the right length; ``load`` checks every byte."""
        self._ranks = ranks
        name = f"{ranks.file.name}.vocabulary"
        try:
            with open(os.path.join(DATA, name), "rb") as file:
                self._file = mmap(file.fileno(), 0, access=ACCESS_READ)
        except (OSError, ValueError) as error:  # an empty file cannot be mapped
            raise TokengapError(f"the vocabulary {name} cannot be read; reinstall tokengap") from error
        view = memoryview(self._file)
        version, count, slots = _words(view[len(MAGIC) : len(MAGIC) + 12]) if len(view) > HEADER else (0, 0, 0)
        tokens = HEADER + 4 * (slots + count + 1)
        right = self._file[: len(MAGIC)] == MAGIC and version == VERSION
        right = right and view[HEADER - 32 : HEADER] == bytes.fromhex(ranks.file.made_from)
        if right and tokens < len(view):
            self._slots = _words(view[HEADER : HEADER + 4 * slots])
            self._starts = _words(view[HEADER + 4 * slots : tokens])
        if not right or tokens >= len(view) or tokens + self._starts[count] != len(view):
            raise TokengapError(f"the vocabulary {name} is damaged or of another version; reinstall tokengap")
        self._tokens = view[tokens:]
        self._mask = slots - 1

    def rank(self, token: bytes, default: int) -> int:
        """The rank of a token, or the default."""
        crc = crc32(token)
        slot = crc & self._mask
        while found := self._slots[slot]:
            if (found ^ crc) >> RANK_BITS == 0:
                rank = (found & _RANK_MASK) - 1
                if self._tokens[self._starts[rank] : self._starts[rank + 1]] == token:
                    return rank if rank < self._ranks.size else default
            slot = (slot + 1) & self._mask
        return default

    def token(self, rank: int) -> bytes:
        """The bytes of the token that has a rank."""
        return bytes(self._tokens[self._starts[rank] : self._starts[rank + 1]])

    def longest_token(self) -> int:
        """The bytes of the longest token."""
        return max(end - start for start, end in pairwise(self._starts[: self._ranks.size + 1]))

    def load(self) -> dict[bytes, int]:
        """All tokens with their ranks, in the order of the ranks.

        Raises TokengapError unless the file is, byte for byte, the one that belongs here.
        """
        from hashlib import sha256

        file = self._ranks.file
        if sha256(self._file).hexdigest() != file.sha256:
            raise TokengapError(f"the vocabulary {file.name}.vocabulary is damaged (wrong sha256); reinstall tokengap")
        tokens = self._tokens.tobytes()
        places = pairwise(self._starts[: self._ranks.size + 1].tolist())
        return {tokens[start:end]: rank for rank, (start, end) in enumerate(places) if start < end}


def _words(view: memoryview) -> memoryview:
    """Bytes as 32-bit numbers; on a big-endian machine a copy of them."""
    if sys.byteorder == "big":
        from array import array

        numbers = array("I", view.tobytes())
        numbers.byteswap()
        view = memoryview(numbers).cast("B")
    return view.cast("I")
