r"""Remembering the counts of segments, which are larger than chunks, before an engine that knows nothing of the past.

A segment is what stands before a word, and the word: everything up to the end of a run of letters. So a text is cut
after letters, and where that is done, its count is the sum of those of its segments, whatever they stand beside:

* **Right of a cut a chunk begins.** Letters (and marks, under o200k) end a chunk as soon as something else follows,
  but for an apostrophe, with which a contraction may go on; so no cut is made before one. Nothing in the chunks to
  come depends on what was before, since no published pattern looks back.
* **Left of a cut all chunks are as they would be at the end of a text.** The patterns look ahead from whitespace
  only: whether the character after it is whitespace, or the text ends there. All whitespace left of the cut has the
  letters before the cut after it. A run of letters and what may go on after it end there in both cases.
* **Segments may be put together in another order**, since each but the first of a text begins with what ends a run of
  letters; the first, which may begin with a letter, is kept first.

Under cl100k and the older patterns a mark is no letter: there the run ends before it, and a chunk begins with it.
Characters beyond the Basic Multilingual Plane are taken for what a run may go on with, since the pattern does not
tell letters from others there.

Numbers of one to three digits are each one token of o200k_base and cl100k_base, and chunks of digits are no longer;
so for these the digits of a segment are all the same.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from itertools import repeat
from threading import Lock

LIMIT = 32 << 20
"""Bytes that the memo of one encoding may take."""

_UNKNOWN = 1 << 40
"""In place of a count: a segment that was never met, or in the memo, one that was met once."""

_LONGEST = 64  # characters of a segment that is remembered
_ENTRY = 120  # bytes of a dictionary's entry, at its emptiest
_WORTH = 0.02
"""The part of a text that may be unknown for the memo to save time: what is rare takes an engine longest."""

_SAMPLE = 32  # where it saves none, one text in so many is looked up all the same, to learn
_SHORT = 500  # characters of a text that is counted sooner than it is looked up


class SegmentMemo:
    """Counts texts by the counts of their segments; ``count`` is asked for those that are not known.

    A segment is counted and remembered when it is met the second time. That pays where nearly all of a text has been
    met before, as in logs; where it has not of late, most texts are counted at once. Safe to share between threads.
    """

    def __init__(self, count: Callable[[str], int], *, marks_are_letters: bool, digits_are_alike: bool) -> None:
        self._count = count
        self._marks_are_letters = marks_are_letters
        self._digits_are_alike = digits_are_alike
        self._young: dict[str, int] = {}
        self._old: dict[str, int] = {}  # what was met before the young took half of the limit
        self._young_bytes = self._old_bytes = 0
        self._unknown = {True: 0.0, False: 0.0}  # the part of late texts that was, in ASCII and not
        self._skipped = 0
        self._writing = Lock()

    def count(self, text: str) -> int:
        """The tokens of a well-formed text."""
        ascii = text.isascii()
        if len(text) < _SHORT:
            return self._count(text)
        if self._unknown[ascii] > _WORTH:
            self._skipped += 1
            if self._skipped % _SAMPLE:
                return self._count(text)
        tokens, unknown = self.look_up(text)
        self._unknown[ascii] += (len(unknown) / len(text) - self._unknown[ascii]) / 2
        return tokens + self._count(unknown) if unknown else tokens

    def look_up(self, text: str) -> tuple[int, str]:
        """The tokens of what is known of a text, and all the rest of it."""
        segments = self.segments(text)
        counts = list(map(self._young.get, segments, repeat(_UNKNOWN)))
        tokens = sum(counts)
        if tokens < _UNKNOWN:
            return tokens, ""
        unknown = [segment for segment, count in zip(segments, counts, strict=True) if count == _UNKNOWN]
        known, rest = self._learn(unknown)
        return tokens % _UNKNOWN + known, rest

    @property
    def bytes(self) -> int:
        """The bytes that are taken, about."""
        return self._young_bytes + self._old_bytes

    def segments(self, text: str) -> list[str]:
        """The segments of a text, all of whose digits may have become the same."""
        if self._digits_are_alike:
            for digit in "123456789":
                text = text.replace(digit, "0")
        return _splitter(text.isascii(), self._marks_are_letters)(text)

    def _learn(self, unknown: list[str]) -> tuple[int, str]:
        """Count the segments that were met before; the text of the others is still to be counted."""
        tokens = 0
        rest = []
        with self._writing:
            for segment in unknown:
                count = self._young.get(segment) or self._old.get(segment)
                if count is None:
                    count = _UNKNOWN
                    rest.append(segment)
                elif count == _UNKNOWN:
                    count = self._count(segment)
                if count != _UNKNOWN:
                    tokens += count
                self._remember(segment, count)
        return tokens, "".join(rest)

    def _remember(self, segment: str, count: int) -> None:
        if len(segment) > _LONGEST:
            return
        if segment not in self._young:
            size = sys.getsizeof(segment) + _ENTRY
            self._young_bytes += size
            if self._young_bytes > LIMIT // 2:
                self._old, self._young = self._young, {}
                self._old_bytes, self._young_bytes = self._young_bytes - size, size
        self._young[segment] = count


Split = Callable[[str], list[str]]


@cache
def _splitter(ascii: bool, marks_are_letters: bool) -> Split:
    """The function that cuts a text into segments."""
    letters, runs_on, astral = "a-zA-Z", "a-zA-Z", ""
    if not ascii:
        from .unicode_classes import classes, union, written

        letters = written(classes()["L"], 0xFFFF)
        runs_on = written(union(classes()["L"], classes()["M"]), 0xFFFF) if marks_are_letters else letters
        astral = "\U00010000-\U0010ffff"
    word = f"[{letters}][{runs_on}]*+"
    pattern = f"[^{letters}]*+{word}(?:['{astral}][^{letters}]*+(?:{word})?+)*+|[^{letters}]++"
    return re.compile(pattern).findall
