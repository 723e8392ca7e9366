"""Which engine counts a text under a public encoding: the one place that decides.

Every engine gives the number that tiktoken gives, so all that is decided is how long it takes. To load tiktoken
takes about as long as to count a megabyte of prose without it: until a process has done that much, it counts with
the standard library.
"""

from __future__ import annotations

from . import python_engine
from .encodings import Encoding
from .safe_cuts import blocks

LARGE = 2_000_000
"""Characters of a text that tiktoken is loaded for at once."""

_BLOCK = 1 << 14


def count(text: str, encoding: Encoding) -> int:
    """The tokens of a well-formed text."""
    python = python_engine.engine(encoding)
    tokens = done = 0
    if not python.is_spent and len(text) < LARGE:
        for block in blocks(text, _BLOCK):
            tokens += python.count(block)
            done += len(block)
            if python.is_spent:
                break
    if done == len(text):
        return tokens
    from . import tiktoken_encodings

    return tokens + tiktoken_encodings.count(text[done:] if done else text, encoding)
