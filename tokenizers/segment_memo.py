r"""Remembering the counts of segments, which are larger than chunks, before an engine that knows nothing of the past.

A segment is mostly a word with what is written together with it. A text whose runs of whitespace are `collapsed` is
cut into segments where every text can be, whatever stands around:

* Before a space: what is left of it is no space or tab any more. If it is a line break, a chunk ends there, as the
  alternative for runs up to a line break has no other space to go on to: a text in which a line break follows later
  in the same whitespace is given up on. Otherwise no chunk has a space inside. What follows the space is no
  whitespace, or a line break, which is in one chunk with it; both are in the segment.
* After the last of some line breaks, unless a ``/`` follows: as ``safe_cuts`` says.

So the count of a text is the sum of those of its segments, and to count those that are not known they can be written
one after the other with something between that no chunk reaches over: a space and a NUL, before a segment that begins
with a space, and these and a line feed, before one that begins a line. A text with a NUL of its own is given up on.

Numbers of one to three digits are each one token of o200k_base and cl100k_base, and chunks of digits are no longer;
so the digits of a segment are all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from operator import sub
from threading import Lock
from time import thread_time_ns
from typing import NamedTuple

from .whitespace_runs import collapsed

LIMIT = 32 << 20
"""Bytes that the memo of one encoding may take."""

LONGEST = 1 << 14
"""Characters of a text that is looked up: what is longer may have segments that the engine is not made for."""

_UNKNOWN = 1 << 40
"""In place of a count: a segment that is not in the memo."""

_START = "\0"
"""What a segment begins with that begins a line or a text; others begin with a space, which is left out."""

_BETWEEN = " \0"
_ENTRY = 180  # bytes of a dictionary's entry, at its emptiest, with a short string's head
_SAMPLE = 16  # one text in so many is counted the way that was slower of late
_SHORT = 500  # characters of a text that is counted sooner than it is looked up

Encode = Callable[[str], Sequence[int]]


class _Between(NamedTuple):
    """What stands between segments: the id of the token with a NUL in it, and the tokens before and after that."""

    nul: int
    before: int
    after: int


class _Pace:
    """The nanoseconds a character that late texts took each way."""

    def __init__(self) -> None:
        self.counted = self.looked_up = 100.0

    def learn(self, looked_up: bool, taken: float) -> None:
        if looked_up:
            self.looked_up += (taken - self.looked_up) / 8
        else:
            self.counted += (taken - self.counted) / 8


class SegmentMemo:
    """Counts texts by the counts of their segments; ``encode`` is asked for the ids of those that are not known.

    ``count`` counts a text without remembering any of it, and ``has_nul`` tells of an id whether its token has a NUL.
    Safe to share between threads.

    Which way is quicker depends on how much of a text is known, and on how much of the memo is in the processor's
    cache; so both are timed, and the quicker one is taken.
    """

    def __init__(self, count: Callable[[str], int], encode: Encode, has_nul: Callable[[int], bool]) -> None:
        self._count = count
        self._encode = encode
        self._word, self._line = (_between(encode(between), has_nul) for between in (_BETWEEN, _BETWEEN + "\n"))
        self._young: dict[str, int] = {_START: 0}
        self._old: dict[str, int] = {}  # what was met before the young took half of the limit
        self._young_bytes = self._old_bytes = 0
        self._paces = {True: _Pace(), False: _Pace()}  # of texts in ASCII, and of others
        self._turn = 0
        self._writing = Lock()

    def count(self, text: str) -> int:
        """The tokens of a well-formed text."""
        if not _SHORT <= len(text) <= LONGEST:
            return self._count(text)
        pace = self._paces[text.isascii()]
        self._turn += 1
        looked_up = (pace.looked_up < pace.counted) != (self._turn % _SAMPLE == 0)
        start = thread_time_ns()
        tokens = self.look_up(text) if looked_up else None
        if tokens is None:
            tokens = self._count(text)
        pace.learn(looked_up, (thread_time_ns() - start) / len(text))
        return tokens

    def look_up(self, text: str) -> int | None:
        """The tokens of a text, all of whose segments are known then; ``None`` if it is none that can be cut."""
        found = segments(text)
        if found is None:
            return None
        parts, tokens = found
        counts = list(map(self._young.get, parts, repeat(_UNKNOWN)))
        tokens += sum(counts)
        if tokens >= _UNKNOWN:
            new = [part for part, count in zip(parts, counts, strict=True) if count == _UNKNOWN]
            tokens = tokens % _UNKNOWN + self._learn(new)
        return tokens

    @property
    def bytes(self) -> int:
        """The bytes that are taken, about."""
        return self._young_bytes + self._old_bytes

    def _learn(self, parts: list[str]) -> int:
        """The tokens of segments that are not among the young, and among them from now on."""
        old = self._old
        found = {part: old[part] for part in parts if part in old}
        new = [part for part in dict.fromkeys(parts) if part not in found]
        found.update(zip(new, self._counts(new), strict=True))
        self._remember(found)
        return sum(map(found.__getitem__, parts))

    def _counts(self, parts: list[str]) -> list[int]:
        """Count segments by the ids of all of them, one after the other."""
        if not parts:
            return []
        text = "".join(f"{_BETWEEN}\n{part[1:]}" if part[0:1] == _START else f"{_BETWEEN} {part}" for part in parts)
        ids = self._encode(text)
        nuls = {self._word.nul, self._line.nul}
        places = [place for place, token in enumerate(ids) if token in nuls]
        kinds = [self._line if part[0:1] == _START else self._word for part in parts]
        starts = [place + 1 + kind.after for place, kind in zip(places, kinds, strict=True)]
        ends = [place - kind.before for place, kind in zip(places[1:], kinds[1:], strict=True)]
        return list(map(sub, (*ends, len(ids)), starts))

    def _remember(self, found: dict[str, int]) -> None:
        size = len(found) * _ENTRY + sum(len(part) if part.isascii() else 4 * len(part) for part in found)
        with self._writing:
            self._young_bytes += size
            if self._young_bytes > LIMIT // 2:
                self._old, self._young = self._young, {_START: 0}
                self._old_bytes, self._young_bytes = self._young_bytes - size, size
            self._young.update(found)


def segments(text: str) -> tuple[list[str], int] | None:
    """The segments of a text, and the tokens of what is not in them; ``None`` if it is none that can be cut.

    The digits of a segment are all zeros.
    """
    if text[:1] in "\n\r/" or "\0" in text or (found := collapsed(text)) is None or not _ends_lines_simply(found[0]):
        return None
    text, tokens = found
    for digit in "123456789":
        text = text.replace(digit, "0")
    text = text.replace("\n", f"\n {_START}").replace(f" {_START}\n", "\n").replace(f" {_START}/", "/")
    if "\r" in text:
        text = text.replace(f" {_START}\r", "\r")
    return (_START + text).split(" "), tokens


def _ends_lines_simply(text: str) -> bool:
    """Whether before every line break there is at most one space, and before that one no other line break."""
    if "  " in text or "\n \n" in text:
        return False
    if "\r" in text and any(map(text.__contains__, ("\n \r", "\r \n", "\r \r", "\t\r"))):
        return False
    return not ("\t" in text and "\t\n" in text) and (text.isascii() or "\xa0" not in text)


def _between(ids: Sequence[int], has_nul: Callable[[int], bool]) -> _Between:
    (place,) = (place for place, token in enumerate(ids) if has_nul(token))
    return _Between(ids[place], place, len(ids) - place - 1)
