"""Chunks of a text under a published split rule, in a process that is to count at once.

A pattern with the classes of Unicode 16 written out takes up to a tenth of a second to compile. Here every
character beyond ASCII is replaced by another of its kind, one of seven, and the pattern only knows these: the
replaced text falls into chunks of the same lengths. ``tools/unicode_classes.py`` writes the table.
"""

from __future__ import annotations

import os
import re
import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterable
from functools import cache
from itertools import accumulate, chain, pairwise, starmap

from .split_rules import RULES, filled

UPPER, LOWER, LETTER, MARK, NUMBER, SPACE, OTHER = "B", "b", "\xaa", "\xb0", "0", "\t", "!"
"""Upper and lower case are of letters that contractions do not have; letters without case and marks are of no ASCII."""

_LONG_S = 0x17F  # stands for itself: it is an s in the contractions of some rules, and not of others
_CLASSES = {
    "L": "A-Za-z\u017f" + LETTER,
    "N": "0-9",
    "upper": "A-Z" + LETTER + MARK,
    "lower": "a-z\u017f" + LETTER + MARK,
    "white_space": r"\t-\r\x20",
    "any": r"\s\S",
}
_MOST = 1 << 16  # characters remembered; few texts have more


class Chunker:
    """Cuts texts by the named rule. Safe to share between threads."""

    def __init__(self, rule: str) -> None:
        self.pattern = re.compile(filled(RULES[rule], _CLASSES.__getitem__))

    def chunks(self, text: str) -> Iterable[str]:
        """The chunks of a well-formed text."""
        if text.isascii():
            return self.pattern.findall(text)
        lengths = map(len, self.pattern.findall(plain(text)))
        places = starmap(slice, pairwise(chain((0,), accumulate(lengths))))
        return map(text.__getitem__, places)


def plain(text: str) -> str:
    """A text whose chunks under the pattern of a ``Chunker`` are as long as those of this one under the rule."""
    return text if text.isascii() else text.translate(_stand_ins())


@cache
def chunker(rule: str) -> Chunker:
    """The one for a named rule."""
    return Chunker(rule)


class _StandIns(dict[int, int]):
    """From a character to its stand-in, looked up in the table when it is first met."""

    def __init__(self) -> None:
        with open(os.path.join(os.path.dirname(__file__), "data", "unicode16.stand_ins"), "rb") as file:
            self._runs = array("I", file.read())
        if sys.byteorder == "big":
            self._runs.byteswap()
        self.clear()

    def clear(self) -> None:
        super().clear()
        self.update({point: point for point in (*range(0x80), _LONG_S)})

    def __missing__(self, point: int) -> int:
        if len(self) > _MOST:
            self.clear()
        run = bisect_right(self._runs, point << 8 | 0xFF)
        stand_in = self[point] = self._runs[run - 1] & 0xFF
        return stand_in


@cache
def _stand_ins() -> _StandIns:
    return _StandIns()
