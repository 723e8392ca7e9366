"""Which engine counts a text under a public encoding: the one place that decides.

Every engine gives the number that tiktoken gives, so all that is decided is how long it takes.

==========================================  ===================================================================
a process that has counted little           the standard library: nothing to load
the same once it has counted a megabyte,    tiktoken, behind a memo of segments where texts repeat themselves,
and any text larger than two                block by block
once it has been asked for 24 million       fastokens, where the extra ``fast`` is installed and it passes its
characters, or at once if it was prepared   check, in pieces; for what cannot be cut into pieces, the above
==========================================  ===================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from . import fast_engine, python_engine
from .encodings import ENCODINGS, Encoding
from .safe_cuts import LONG, blocks

LARGE = 2_000_000
"""Characters of a text that tiktoken is loaded for at once."""

_BLOCK = 1 << 12  # characters; what is made of a block stays in the processor's cache


def count(text: str, encoding: Encoding) -> int:
    """The tokens of a well-formed text."""
    return fast_engine.count(text, encoding, _count_without_extras)


def prepare(encoding: Encoding, characters: int | None = None) -> None:
    """Load at once what much text is counted with: what so many characters are worth, or without a number all."""
    if characters is not None and characters <= LARGE:
        return
    python_engine.engine(encoding).spend()
    if characters is not None and characters >= fast_engine.WORTH and fast_engine.prepare(encoding).used:
        return  # to hold tiktoken as well takes 120 MB
    from .tiktoken_encodings import load

    load(encoding)
    if characters is None:
        fast_engine.prepare(encoding)


def _count_without_extras(text: str, encoding: Encoding) -> int:
    python = python_engine.engine(encoding)
    if python.is_spent or len(text) > LARGE:
        return _count_loaded(text, encoding)
    tokens = done = 0
    for block in blocks(text, _BLOCK):
        if python.is_spent or len(block) > LONG:
            return tokens + _count_loaded(text[done:], encoding)
        tokens += python.count(block)
        done += len(block)
    return tokens


def _count_loaded(text: str, encoding: Encoding) -> int:
    """Count with what takes long to load."""
    count = _counting(encoding.ranks.name)
    return sum(map(count, blocks(text, _BLOCK))) if len(text) > _BLOCK else count(text)


@cache
def _counting(name: str) -> Callable[[str], int]:
    from .tiktoken_encodings import count, remembering

    memo = remembering(ENCODINGS[name])
    return memo.count if memo else partial(count, encoding=ENCODINGS[name])
