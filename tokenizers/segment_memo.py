r"""Remembering the counts of segments, before an engine that knows nothing of the past.

Programs send the same text again and again: instructions, templates, the turns of a conversation so far. A segment is
a line with the blank and indented ones after it: a text is cut after a line feed if neither whitespace nor a ``/``
follows. Under o200k and cl100k the count of a text is the sum of those of its segments, whatever stands around:

* A chunk ends at the cut. Of the alternatives that take a line feed, those for punctuation go on over line breaks
  only, and under o200k over ``/``, and the others over whitespace only; none of these follows.
* What is left of the cut ends with the same chunk if nothing follows: a run of whitespace that ends with a line feed
  is taken whole, by the same alternative or, under cl100k, by ``\s++$``, which is tried first.
* No pattern looks behind, so what is right of it is chunked as if it stood alone.

So segments that are new can be counted together, the known ones left out. Most are never met again, and not worth an
entry: what is kept of a text and its segments at first is their hash. Those that are met again are encoded with a line
between that no chunk reaches over, a NUL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import compress, repeat

from .encodings import CL100K_PATTERN, O200K_PATTERN
from .locks import remembering

PATTERNS = (O200K_PATTERN, CL100K_PATTERN)
"""The patterns that what is said above is true of."""

LIMIT = 32 << 20
"""Bytes that the memo of one encoding may take."""

_SHORT = 200  # characters of a text that is counted about as soon as it is looked up
_LONGEST = 1 << 14  # characters of a segment that is remembered
_MOST_SKIPPED = 7  # texts that are counted at once, and then one is looked up again
_UNKNOWN = 1 << 40
"""In place of a count: a segment that is not in the memo."""

_BETWEEN = "\0\n"
_ENTRY = 180  # bytes of a dictionary's entry, at its emptiest, with a short string's head
_HASH = 100  # bytes of a number in a set, at its emptiest
_segments = re.compile(r"(?=[\s\S])[^\n]*+(?:\n(?![^\s/])[^\n]*+)*+\n?").findall


class SegmentMemo:
    """Counts texts by the counts of their segments.

    ``count`` and ``encode`` give the tokens and the ids of what is not known. Safe to share between threads.
    """

    def __init__(self, count: Callable[[str], int], encode: Callable[[str], Sequence[int]]) -> None:
        self._count = count
        self._encode = encode
        between = encode(_BETWEEN)
        self._nul, self._between = between[0], len(between)
        self._young: dict[str, int] = {}
        self._old: dict[str, int] = {}  # what was met before the young took half of the limit
        self._young_bytes = self._old_bytes = 0
        self._met: set[int] = set()
        self._skipped = self._to_skip = 0  # texts; threads may miscount, which does no harm

    def count(self, text: str) -> int:
        """The tokens of a well-formed text."""
        if len(text) < _SHORT:
            return self._count(text)
        if self._to_skip > 0 and hash(text) not in self._met:
            self._to_skip -= 1
            self._met.add(hash(text))
            return self._count(text)
        found = _segments(text)
        counts = list(map(self._young.get, found, repeat(_UNKNOWN)))
        unknown, tokens = divmod(sum(counts), _UNKNOWN)
        more = new = 0
        if unknown:
            more, new = self._learn(text, list(compress(found, map(_UNKNOWN.__eq__, counts))))
        self._skip(8 * new > 7 * len(text))
        return tokens + more

    @property
    def bytes(self) -> int:
        """The bytes that are taken, about."""
        return self._young_bytes + self._old_bytes + _HASH * len(self._met)

    def _skip(self, in_vain: bool) -> None:
        """Look fewer texts up while they have little in common with those before."""
        self._skipped = min(2 * self._skipped + 1, _MOST_SKIPPED) if in_vain else 0
        self._to_skip = self._skipped

    def _learn(self, text: str, unknown: list[str]) -> tuple[int, int]:
        """The tokens of segments that are not among the young, and how many characters of them are met first here.

        Those that were met before, alone or in a text that was, are among the young from now on.
        """
        hashes = set(map(hash, unknown))
        met = hashes.copy() if hash(text) in self._met else self._met & hashes
        hashes.add(hash(text))
        again = [part for part in dict.fromkeys(unknown) if hash(part) in met and _fits(part)] if met else []
        counts = self._counts(again)
        self._remember(counts, hashes)
        new = "".join([part for part in unknown if part not in counts] if counts else unknown)
        tokens = self._count(new) if new else 0
        return tokens + sum(map(counts.get, unknown, repeat(0))), len(new)

    def _counts(self, parts: list[str]) -> dict[str, int]:
        """The tokens of each of some segments, of which only the last may have no line feed at its end."""
        old = self._old
        counts = {part: old[part] for part in parts if part in old}
        new = [part for part in parts if part not in counts]
        ids = self._encode(_BETWEEN.join(new)) if new else ()
        start = 0
        for part in new:
            end = len(ids) if part is new[-1] else ids.index(self._nul, start)
            counts[part] = end - start
            start = end + self._between
        return counts

    def _remember(self, counts: dict[str, int], hashes: set[int]) -> None:
        size = sum(_ENTRY + (len(part) if part.isascii() else 4 * len(part)) for part in counts)
        with remembering:
            self._young_bytes += size
            if self._young_bytes + _HASH * (len(self._met) + len(hashes)) > LIMIT // 2:
                self._old, self._young, self._met = self._young, {}, set()
                self._old_bytes, self._young_bytes = self._young_bytes - size, size
            self._young.update(counts)
            self._met |= hashes


def _fits(part: str) -> bool:
    return len(part) <= _LONGEST and "\0" not in part
