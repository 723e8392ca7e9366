"""Which engine counts a text under a public encoding: the one place that decides.

Every engine gives the number that tiktoken gives, so all that is decided is how long it takes.

==========================================  ===================================================================
a process that has counted little           the standard library: nothing to load
the same once it has counted a megabyte,    tiktoken, behind a memo of the segments that came before;
and any text larger than two                block by block
once it has been asked for 24 million       fastokens, where the extra ``fast`` is installed and it passes its
characters, or at once if it was prepared   check, in pieces; for what cannot be cut into pieces, the above
==========================================  ===================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from . import fast_engine, python_engine
from .encodings import ENCODINGS, Encoding
from .locks import loading
from .safe_cuts import LONG, blocks, published_cut
from .text import check_text, well_formed

LARGE = 2_000_000
"""Characters of a text that tiktoken is loaded for at once."""

_BLOCK = 1 << 14  # characters; larger ones are no quicker, and smaller ones cut more segments in two

_loaded: dict[str, Callable[[str], int]] = {}
"""What counts under a rank file once tiktoken is loaded."""


def count(text: str, encoding: Encoding) -> tuple[int, bool]:
    """The tokens of a text, and whether it had to be made well-formed. Raises TokengapError for what is no ``str``."""
    check_text(text)
    try:
        return fast_engine.count(text, encoding, _count_without_extras), False
    except UnicodeEncodeError:
        text, repaired = well_formed(text)
        return fast_engine.count(text, encoding, _count_without_extras), repaired


def prepare(encoding: Encoding, characters: int | None = None) -> None:
    """Load at once what much text is counted with: what so many characters are worth, or without a number all."""
    if characters is not None and characters <= LARGE:
        return
    python_engine.engine(encoding).spend()
    if characters is not None and characters >= fast_engine.WORTH and fast_engine.prepare(encoding).used:
        return  # to hold tiktoken as well takes 120 MB
    _load(encoding.ranks.name)
    if characters is None:
        fast_engine.prepare(encoding)


def _count_without_extras(text: str, encoding: Encoding) -> int:
    if not text.isascii():
        text.encode()  # which fails if the text is not well-formed
    if encoding.ranks.name in _loaded or len(text) > LARGE:
        return _count_loaded(text, encoding)
    python = python_engine.engine(encoding)
    tokens = done = 0
    for block in blocks(text, _BLOCK, published_cut):
        if python.is_spent or len(block) > LONG:
            return tokens + _count_loaded(text[done:], encoding)
        tokens += python.count(block)
        done += len(block)
    return tokens


def _count_loaded(text: str, encoding: Encoding) -> int:
    """Count with what takes long to load."""
    count = _loaded.get(encoding.ranks.name) or _load(encoding.ranks.name)
    return count(text) if len(text) <= _BLOCK else sum(map(count, blocks(text, _BLOCK, published_cut)))


def _load(name: str) -> Callable[[str], int]:
    with loading:  # or two threads would have a memo each
        if name not in _loaded:
            from . import tiktoken_encodings
            from .segment_memo import PATTERNS, SegmentMemo

            encoding = ENCODINGS[name]
            tiktoken_encodings.tiktoken_for(encoding)
            count = partial(tiktoken_encodings.count, encoding=encoding)
            encode = partial(tiktoken_encodings.encode, encoding=encoding)
            _loaded[name] = SegmentMemo(count, encode).count if encoding.pattern in PATTERNS else count
        return _loaded[name]
