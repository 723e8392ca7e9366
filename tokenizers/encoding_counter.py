"""The counters of the public encodings: exact for every text, offline."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from . import engines
from .counter import Count
from .encodings import ALIASES, ENCODINGS
from .errors import TokengapError
from .locks import loading
from .text import well_formed
from .vocabulary import Vocabulary


class EncodingCounter:
    """The exact count of one public encoding. Text is data: special tokens in it are plain text."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._encoding = ENCODINGS[name]

    def count(self, text: str) -> Count:
        tokens, repaired = engines.count(text, self._encoding)
        count = Count(tokens, self.name, self._encoding.fingerprint, "exact")
        return count._replace(warnings=("lone_surrogate",)) if repaired else count

    def prepare(self, characters: int | None = None) -> None:
        engines.prepare(self._encoding, characters)

    @property
    def adds_up(self) -> bool:
        return True

    @property
    def splits_as_published(self) -> bool:
        return True

    @cached_property
    def longest_token(self) -> int:
        """The bytes of the longest token; special tokens never occur in a text."""
        return Vocabulary(self._encoding.ranks).longest_token()

    def pieces(self, text: str) -> list[bytes]:
        """The bytes of each token: joined, the UTF-8 of the text. One may begin or end inside a character."""
        with loading:
            from .tiktoken_encodings import pieces

        return pieces(well_formed(text)[0], self._encoding)

    def encode(self, text: str) -> list[int]:
        """The ids of the tokens, in the order of ``pieces``."""
        with loading:
            from .tiktoken_encodings import encode

        return encode(well_formed(text)[0], self._encoding)

    def decode(self, tokens: Sequence[int]) -> bytes:
        """The bytes that ids stand for, special tokens among them. Raises TokengapError for an id it does not have."""
        with loading:
            from .tiktoken_encodings import decode

        return decode(tokens, self._encoding)


def from_spec(spec: str) -> EncodingCounter:
    """The counter of an encoding or of one of its aliases."""
    name, colon, _ = spec.partition(":")
    if colon:
        raise TokengapError(f"the counter {name!r} takes no argument: {spec[:80]!r}")
    return EncodingCounter(ALIASES.get(name, name))
