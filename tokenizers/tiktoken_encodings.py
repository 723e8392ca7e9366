"""Counting with tiktoken: offline, and total where tiktoken itself gives up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING

from .encodings import Encoding, load_ranks
from .errors import TokengapError
from .long_chunks import WINDOW, encode_long
from .python_engine import RULES
from .safe_cuts import LONG, blocks
from .stand_ins import chunker
from .text import WHITE_SPACE

if TYPE_CHECKING:
    from tiktoken import Encoding as Tiktoken

_BLOCK = 1 << 14  # characters that tiktoken is given at once

_building = Lock()
_built: dict[str, Tiktoken] = {}


def count(text: str, encoding: Encoding) -> int:
    """The tokens of a well-formed text, which is better cut before where it can be."""
    if len(text) > LONG:
        return sum(map(len, _encode_block(text, encoding)))
    return len(tiktoken_for(encoding).encode_ordinary(text))


def encode(text: str, encoding: Encoding) -> list[int]:
    """The ids of a well-formed text, in the order of ``pieces``."""
    if len(text) > LONG:
        return list(chain.from_iterable(_encode(text, encoding)))
    return tiktoken_for(encoding).encode_ordinary(text)


def decode(tokens: Sequence[int], encoding: Encoding) -> bytes:
    """The bytes that ids stand for, special tokens among them. Raises TokengapError for an id it does not have."""
    tiktoken = tiktoken_for(encoding)
    special = {number: name.encode() for name, number in encoding.special_tokens.items()}
    one = tiktoken.decode_single_token_bytes
    try:
        return b"".join(special[token] if token in special else one(token) for token in tokens)
    except (KeyError, OverflowError):
        highest = max((tiktoken.max_token_value, *special))
        raise TokengapError(f"not every token is an id of {encoding.name}, from 0 to {highest}") from None


def pieces(text: str, encoding: Encoding) -> list[bytes]:
    """The bytes of each token of a well-formed text."""
    tiktoken = tiktoken_for(encoding)
    return [piece for ids in _encode(text, encoding) for piece in tiktoken.decode_tokens_bytes(ids)]


def _encode(text: str, encoding: Encoding) -> Iterator[list[int]]:
    """The ids of a well-formed text of any shape, in time linear in its length."""
    for block in blocks(text, _BLOCK):
        yield from _encode_block(block, encoding)


def _encode_block(text: str, encoding: Encoding) -> Iterator[list[int]]:
    """The same, of a text that need not be cut, or cannot be."""
    tiktoken = tiktoken_for(encoding)
    start = 0
    for left, right in _long_chunks(text, encoding) if len(text) > LONG else ():
        yield tiktoken.encode_ordinary(text[start:left])
        if right - left > WINDOW:
            yield encode_long(text[left:right].encode(), tiktoken._encode_single_piece, tiktoken.decode_bytes)
        else:
            yield tiktoken.encode_ordinary(text[left:right])
        start = right
    yield tiktoken.encode_ordinary(text[start:])


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


def tiktoken_for(encoding: Encoding) -> Tiktoken:
    """tiktoken's tokenizer, without special tokens, since none is meant in a text that is counted.

    Encodings with the same ranks share it.
    """
    name = encoding.ranks.name
    if name in _built:
        return _built[name]
    with _building:  # two threads must not both build what takes half a second and 60 MB
        if name not in _built:
            from tiktoken import Encoding as Tiktoken

            pattern, ranks = grouped(encoding.pattern), load_ranks(encoding.ranks)
            _built[name] = Tiktoken(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        return _built[name]


def grouped(published: str) -> str:
    r"""A published pattern, written so that tiktoken's pattern engine gets through it in less time.

    The engine tries each alternative by itself if one of them looks ahead; those before that one, in a group, it takes
    for one pattern that it runs in a single pass. That cannot be possessive, which makes no difference here: what
    follows a possessive class in an alternative cannot match what that class would give back.
    """
    ahead = r"|\s+(?!\S)"
    first, _, last = published.partition(ahead)
    greedy = re.sub(r"([+*?]|\{[0-9,]+\})\+", r"\1", first)
    return f"(?:{greedy}){ahead}{last}"
