"""Counters over tiktoken: exact, offline, and total where tiktoken itself gives up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

from .counter import Count
from .encodings import ALIASES, ENCODINGS, R50K_PATTERN, load_ranks
from .errors import TokengapError
from .text import WHITE_SPACE, well_formed

if TYPE_CHECKING:
    from tiktoken import Encoding as Tiktoken

LONG_RUN = 100_000
"""Whitespace runs of this many characters are kept from tiktoken's split pattern.

Its engine stops at a million backtracking steps, one for each character of such a run.
"""

_building = Lock()


class TiktokenCounter:
    """The exact count of one public encoding. Text is data: special tokens in it are plain text."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._fingerprint = ENCODINGS[name].fingerprint
        self._newline_ends_run = ENCODINGS[name].pattern != R50K_PATTERN

    def count(self, text: str) -> Count:
        text, repaired = well_formed(text)
        return Count(
            tokens=count_tokens(text, _tiktoken(self.name), newline_ends_run=self._newline_ends_run),
            tokenizer=self.name,
            fingerprint=self._fingerprint,
            kind="exact",
            warnings=("lone_surrogate",) if repaired else (),
        )

    @property
    def splits_as_published(self) -> bool:
        return True

    @property
    def longest_token(self) -> int:
        """The bytes of the longest token; special tokens never occur in a text."""
        return _longest_token(self.name)

    def pieces(self, text: str) -> list[bytes]:
        """The bytes of each token: joined, the UTF-8 of the text. One may begin or end inside a character."""
        text, _ = well_formed(text)
        return token_bytes(text, _tiktoken(self.name), newline_ends_run=self._newline_ends_run)

    def encode(self, text: str) -> list[int]:
        """The ids of the tokens, in the order of ``pieces``."""
        text, _ = well_formed(text)
        parts = _encode(text, _tiktoken(self.name), self._newline_ends_run, LONG_RUN)
        return [token for ids in parts for token in ids]

    def decode(self, tokens: Sequence[int]) -> bytes:
        """The bytes that ids stand for, special tokens among them. Raises TokengapError for an id it does not have."""
        encoding = _tiktoken(self.name)
        try:
            return encoding.decode_bytes(tokens)
        except (KeyError, OverflowError):
            raise TokengapError(
                f"not every token is an id of {self.name}, from 0 to {encoding.max_token_value}"
            ) from None


def from_spec(spec: str) -> TiktokenCounter:
    """The counter of an encoding or of one of its aliases."""
    name, colon, _ = spec.partition(":")
    if colon:
        raise TokengapError(f"the counter {name!r} takes no argument: {spec[:80]!r}")
    return TiktokenCounter(ALIASES.get(name, name))


def count_tokens(text: str, encoding: Tiktoken, *, newline_ends_run: bool, long_run: int = LONG_RUN) -> int:
    """Count a well-formed text of any shape in time linear in its length."""
    return sum(map(len, _encode(text, encoding, newline_ends_run, long_run)))


def token_bytes(text: str, encoding: Tiktoken, *, newline_ends_run: bool, long_run: int = LONG_RUN) -> list[bytes]:
    """The tokens of a well-formed text as bytes, of any shape, in time linear in its length."""
    parts = _encode(text, encoding, newline_ends_run, long_run)
    return [piece for ids in parts for piece in encoding.decode_tokens_bytes(ids)]


def _encode(text: str, encoding: Tiktoken, newline_ends_run: bool, long_run: int) -> Iterator[list[int]]:
    start = 0
    for left, right in _long_whitespace_chunks(text, newline_ends_run, long_run):
        yield encoding.encode_ordinary(text[start:left])
        yield encoding._encode_single_piece(text[left:right].encode())
        start = right
    yield encoding.encode_ordinary(text[start:] if start else text)


def _long_whitespace_chunks(text: str, newline_ends_run: bool, long_run: int) -> Iterator[tuple[int, int]]:
    r"""Find the spans that every published pattern makes one chunk of, and that are too long for tiktoken.

    In a run of whitespace, what follows the last newline (all of the run, for patterns without a rule
    for newlines) begins a chunk: nothing before it can reach into it. ``\s+(?!\S)`` then takes all of
    it at the end of the text, and all but its last character elsewhere; that character goes with what
    follows. So the text can be cut on both sides of the chunk.
    """
    stride = max(long_run // 2, 1)  # every run of long_run characters holds a sampled position
    position = 0
    while position < len(text):
        if text[position] not in WHITE_SPACE:
            position += stride
            continue
        start = _run_start(text, position)
        end = _run_end(text, position)
        if newline_ends_run:
            start = max(text.rfind("\n", start, end), text.rfind("\r", start, end), start - 1) + 1
        stop = end if end == len(text) else end - 1
        if stop - start >= long_run:
            yield start, stop
        position = end + stride


def _run_start(text: str, position: int) -> int:
    """Where the whitespace run around ``position`` begins, looking back in doubling steps."""
    step, end = 64, position
    while end > 0:
        begin = max(end - step, 0)
        kept = len(text[begin:end].rstrip(WHITE_SPACE))
        if kept:
            return begin + kept
        step, end = step * 2, begin
    return 0


def _run_end(text: str, position: int) -> int:
    """Where the whitespace run around ``position`` ends."""
    step, begin = 64, position
    while begin < len(text):
        piece = text[begin : begin + step]
        rest = len(piece.lstrip(WHITE_SPACE))
        if rest:
            return begin + len(piece) - rest
        step, begin = step * 2, begin + step
    return len(text)


def _tiktoken(name: str) -> Tiktoken:
    with _building:  # two threads must not both build what takes a second and 100 MB
        return _build(name)


@cache
def _build(name: str) -> Tiktoken:
    from tiktoken import Encoding as Tiktoken

    encoding = ENCODINGS[name]
    return Tiktoken(
        name,
        pat_str=encoding.pattern,
        mergeable_ranks=load_ranks(encoding.ranks),
        special_tokens=dict(encoding.special_tokens),
    )


@cache
def _longest_token(name: str) -> int:
    return max(map(len, _tiktoken(name)._mergeable_ranks))
