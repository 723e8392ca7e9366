"""Counting with tiktoken: offline, and total where tiktoken itself gives up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING

from .encodings import Encoding, load_ranks
from .errors import TokengapError
from .long_chunks import WINDOW, encode_long
from .python_engine import RULES
from .safe_cuts import LONG, blocks
from .segment_memo import SegmentMemo
from .simple_patterns import latin, simple_pattern
from .stand_ins import chunker
from .text import WHITE_SPACE
from .vocabulary import Ranks
from .whitespace_runs import collapsed

if TYPE_CHECKING:
    from tiktoken import Encoding as Tiktoken

_BLOCK = 1 << 14  # characters that tiktoken is given at once

_building = Lock()
_built: dict[tuple[str, str], Tiktoken] = {}


def count(text: str, encoding: Encoding) -> int:
    """The tokens of a well-formed text."""
    if len(text) > LONG:
        return sum(map(len, _encode(text, encoding)))
    if (pattern := simple_pattern(encoding.pattern)) and latin(text) and (found := collapsed(text)):
        return len(tiktoken_for(encoding.ranks, pattern).encode_ordinary(found[0])) + found[1]
    return len(tiktoken_for(encoding.ranks, encoding.pattern).encode_ordinary(text))


def remembering(encoding: Encoding) -> SegmentMemo | None:
    """A memo of the segments of texts; ``None`` under the older patterns, for which it has no proof."""
    if (pattern := simple_pattern(encoding.pattern)) is None:
        return None
    published, simple = tiktoken_for(encoding.ranks, encoding.pattern), tiktoken_for(encoding.ranks, pattern)
    return SegmentMemo(
        partial(count, encoding=encoding),
        lambda text: (simple if latin(text) else published).encode_ordinary(text),
        lambda token: b"\0" in published.decode_single_token_bytes(token),
    )


def load(encoding: Encoding) -> None:
    """Build all that texts are counted with, so that none waits for it."""
    tiktoken_for(encoding.ranks, encoding.pattern)
    if pattern := simple_pattern(encoding.pattern):
        tiktoken_for(encoding.ranks, pattern)


def encode(text: str, encoding: Encoding) -> list[int]:
    """The ids of a well-formed text, in the order of ``pieces``."""
    return list(chain.from_iterable(_encode(text, encoding)))


def decode(tokens: Sequence[int], encoding: Encoding) -> bytes:
    """The bytes that ids stand for, special tokens among them. Raises TokengapError for an id it does not have."""
    tiktoken = tiktoken_for(encoding.ranks, encoding.pattern)
    special = {number: name.encode() for name, number in encoding.special_tokens.items()}
    one = tiktoken.decode_single_token_bytes
    try:
        return b"".join(special[token] if token in special else one(token) for token in tokens)
    except (KeyError, OverflowError):
        highest = max((tiktoken.max_token_value, *special))
        raise TokengapError(f"not every token is an id of {encoding.name}, from 0 to {highest}") from None


def pieces(text: str, encoding: Encoding) -> list[bytes]:
    """The bytes of each token of a well-formed text."""
    tiktoken = tiktoken_for(encoding.ranks, encoding.pattern)
    return [piece for ids in _encode(text, encoding) for piece in tiktoken.decode_tokens_bytes(ids)]


def _encode(text: str, encoding: Encoding) -> Iterator[list[int]]:
    """The ids of a well-formed text of any shape, in time linear in its length."""
    tiktoken = tiktoken_for(encoding.ranks, encoding.pattern)
    for block in blocks(text, _BLOCK):
        start = 0
        for left, right in _long_chunks(block, encoding) if len(block) > LONG else ():
            yield tiktoken.encode_ordinary(block[start:left])
            if right - left > WINDOW:
                yield encode_long(block[left:right].encode(), tiktoken._encode_single_piece, tiktoken.decode_bytes)
            else:
                yield tiktoken.encode_ordinary(block[left:right])
            start = right
        yield tiktoken.encode_ordinary(block[start:])


def _long_chunks(text: str, encoding: Encoding) -> Iterator[tuple[int, int]]:
    """Where the chunks are that take tiktoken long, or that its pattern engine gives up on, which it does after a
    million backtracking steps, one for each character of a run of whitespace.

    The text between these chunks has the same chunks if it stands alone, since the patterns look ahead from whitespace
    only, and all of it that ends a text is one chunk. That is true of what stands before a long chunk but for one case:
    the last character of a run of whitespace may be a chunk of its own. So whitespace before one is given apart.
    """
    start = end = 0
    for chunk in chunker(RULES.get(encoding.pattern, "cl100k")).chunks(text):
        before, start, end = start, end, end + len(chunk)
        if len(chunk) > WINDOW:
            if 0 < start - before <= WINDOW and not text[before:start].strip(WHITE_SPACE):
                yield before, start
            yield start, end


def tiktoken_for(ranks: Ranks, pattern: str) -> Tiktoken:
    """tiktoken's tokenizer, without special tokens, since none is meant in a text that is counted."""
    key = ranks.name, pattern
    if key in _built:
        return _built[key]
    with _building:  # two threads must not both build what takes half a second and 60 MB
        if key not in _built:
            from tiktoken import Encoding as Tiktoken

            known = next((built._mergeable_ranks for (name, _), built in _built.items() if name == ranks.name), None)
            known = load_ranks(ranks) if known is None else known
            _built[key] = Tiktoken(ranks.name, pat_str=pattern, mergeable_ranks=known, special_tokens={})
        return _built[key]
