"""How many tokens a prefix or a suffix of a text has, recounted near the cut only.

Counts are neither monotone nor additive: ``toke`` is two tokens where ``token`` is one. But most of a
long text can be left alone.

1. Every published split pattern ends a chunk at certain places whatever stands around them
   (`is_boundary`), and tokens never cross chunks: there counts add up.
2. Inside a chunk, byte-pair encoding is local: a sequence of tokens is the encoding of its bytes if
   and only if each adjacent pair is the encoding of its own (van Antwerpen and Neubeck, "So many
   tokens, so little time", GitHub, 2024). So an old beginning and a new end fit together where the
   new end begins with the very tokens that follow the old beginning.

A recount starts at a place of the first kind, or else `LOOK` characters away, and has to reproduce
the tokens that are known there; where it does not, the whole prefix or suffix is counted.
"""

from __future__ import annotations

import re
from itertools import accumulate

from ..tokenizers.counter import Tokenizer

LOOK = 4096
"""How far to look for a chunk boundary, and how far to recount without one, in characters."""

_KEPT = 64
"""Repetitions of a token that are still counted, so that what follows them has its say."""

_PUNCTUATION = frozenset('!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~、。，．：；！？（）「」『』…—')
"""Marks that begin a chunk after a letter in every published pattern; an apostrophe may not."""


def is_boundary(text: str, at: int) -> bool:
    r"""Whether every published split pattern ends a chunk at ``at``, whatever the rest of the text is.

    Before a space that follows a visible character; between a newline and a letter; between a letter
    and a digit, either way; before punctuation (an apostrophe aside) that follows a letter.

    >>> [at for at in range(7) if is_boundary("ab c1\nd", at)]
    [2, 4, 6]
    """
    if not 0 < at < len(text):
        return False
    left, right = text[at - 1], text[at]
    if right == " ":
        return not left.isspace()
    if left.isalpha():
        return right in _PUNCTUATION or "0" <= right <= "9"
    return right.isalpha() and (left in "\r\n" or "0" <= left <= "9")


class Pieces:
    """The tokens of ``text[start:end]``, and which of them begin at a character: ``index[offset]``."""

    def __init__(self, tokenizer: Tokenizer, text: str, start: int = 0, end: int | None = None) -> None:
        self.pieces = tokenizer.pieces(text[start:end])
        self.index: dict[int, int] = {}
        offsets = accumulate(map(_characters, self.pieces), initial=start)
        for number, (offset, piece) in enumerate(zip(offsets, [*self.pieces, b""], strict=True)):
            if not piece or not 0x80 <= piece[0] < 0xC0:
                self.index[offset] = number

    def __len__(self) -> int:
        return len(self.pieces)


class Prefixes:
    """Counts prefixes of a text, of whose beginning the tokens are known."""

    def __init__(self, tokenizer: Tokenizer, text: str, known: Pieces) -> None:
        self._tokenizer, self._text, self._known = tokenizer, text, known
        self._reach = tokenizer.longest_token

    def count(self, end: int) -> int:
        """How many tokens ``text[:end]`` has."""
        if not self._tokenizer.splits_as_published:
            return len(self._tokenizer.pieces(self._text[:end]))
        start, agree = self._start(end)
        local = self._tokenizer.pieces(self._text[start:end])
        before = self._known.index[start]
        if local[:agree] != self._known.pieces[before : before + agree]:
            return len(self._tokenizer.pieces(self._text[:end]))
        return before + len(local)

    def _start(self, end: int) -> tuple[int, int]:
        """Where to recount from, and how many of the tokens from there on have to be the known ones."""
        index, text = self._known.index, self._text
        latest = end - 2 * self._reach  # far enough back for the first token to be a known one
        if latest <= 0:
            return 0, 0
        earliest = max(latest - LOOK, 0)
        for start in range(latest, earliest, -1):
            if start in index and is_boundary(text, start):
                return start, 1
        start = next(at for at in range(earliest, -1, -1) if at in index)
        stop = next(at for at in range(latest, -1, -1) if at in index)
        return start, index[stop] - index[start]


class Suffixes:
    """Counts suffixes of a text, of whose end the tokens are known."""

    def __init__(self, tokenizer: Tokenizer, text: str, known: Pieces) -> None:
        self._tokenizer, self._text, self._known = tokenizer, text, known
        self._reach = tokenizer.longest_token
        self._goal = -1
        self._after: dict[int, tuple[list[bytes], int]] = {}

    def count(self, start: int) -> int:
        """How many tokens ``text[start:]`` has."""
        if not self._tokenizer.splits_as_published:
            return len(self._tokenizer.pieces(self._text[start:]))
        known, text = self._known, self._text
        target = start + 2 * self._reach  # far enough on for the last token before it to be a known one
        for end in range(target, min(target + LOOK, len(text))):
            if known.index.get(end) and is_boundary(text, end):
                local = self._tokenizer.pieces(text[start:end])
                if local[-1] == known.pieces[known.index[end] - 1]:
                    return len(local) + len(known) - known.index[end]
                break
        else:
            if target + LOOK < len(text) and (tokens := self._inside(start)) is not None:
                return tokens
        return len(self._tokenizer.pieces(text[start:]))

    def _inside(self, start: int) -> int | None:
        """The count where no chunk boundary is in sight; ``None`` where nothing known fits."""
        if not start + self._reach <= self._goal <= start + 3 * self._reach:
            self._goal = start + 3 * self._reach  # one goal for many starts, so that they share what follows
        local = Pieces(self._tokenizer, self._text, start, start + LOOK)
        sure = max(number for at, number in local.index.items() if at <= start + LOOK - self._reach)
        joints = [at for at in range(self._goal, self._goal + self._reach) if local.index.get(at, sure) < sure]
        for at in joints:
            number, known = local.index[at], self._known.index.get(at, len(self._known))
            if self._known.pieces[known : known + sure - number] == local.pieces[number:sure]:
                return number + len(self._known) - known
        for at in joints[:1]:
            number = local.index[at]
            first, after = self._count_after(at)
            if first[: sure - number] == local.pieces[number:sure]:
                return number + after
        return None

    def _count_after(self, at: int) -> tuple[list[bytes], int]:
        """The first tokens of ``text[at:]`` and how many there are, stepping over a token's repetitions.

        Where a text begins with the token x, and x follows x as a token, one more x in front is one
        token more: each adjacent pair is still the encoding of its own.
        """
        if at not in self._after:
            first = self._tokenizer.pieces(self._text[at : at + LOOK])
            skipped, step = self._repetitions(at, first)
            pieces = self._tokenizer.pieces(self._text[at + skipped * step :])
            if skipped and pieces[0] != first[0]:
                skipped, pieces = 0, self._tokenizer.pieces(self._text[at:])
            self._after[at] = (first if skipped else pieces[: len(first)]), skipped + len(pieces)
        return self._after[at]

    def _repetitions(self, at: int, first: list[bytes]) -> tuple[int, int]:
        """How often the first token can be stepped over, and its length in characters."""
        token = first[0].decode(errors="ignore")
        if len(first) < 2 or first[0] != first[1] or token.encode() != first[0]:
            return 0, 0
        run = re.compile(f"(?:{re.escape(token)})*+").match(self._text, at)
        repeats = (run.end() - at) // len(token) if run else 0
        return max(repeats - _KEPT, 0), len(token)


def _characters(piece: bytes) -> int:
    """How many characters begin in a token."""
    return len(piece) if piece.isascii() else sum(byte & 0xC0 != 0x80 for byte in piece)
