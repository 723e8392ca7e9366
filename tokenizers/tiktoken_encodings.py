"""Counting with tiktoken: offline, and total where tiktoken itself gives up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from .encodings import ENCODINGS, Encoding, load_ranks
from .errors import TokengapError
from .locks import loading
from .long_chunks import WINDOW, count_long, encode_long
from .python_engine import rule
from .safe_cuts import LONG, blocks, published_cut
from .stand_ins import chunker, plain
from .text import WHITE_SPACE

if TYPE_CHECKING:
    from tiktoken import Encoding as Tiktoken

_BLOCK = 1 << 14  # characters that tiktoken is given at once

_NO_SPECIAL: frozenset[str] = frozenset()

_built: dict[str, Tiktoken] = {}


def count(text: str, encoding: Encoding) -> int:
    """The tokens of a well-formed text, which is better cut before where it can be."""
    tiktoken = tiktoken_for(encoding)
    if len(text) <= LONG:
        return _count(text, tiktoken)
    return sum(
        count_long(part.encode(), tiktoken._encode_single_piece, tiktoken.decode_bytes)
        if is_long
        else _count(part, tiktoken)
        for part, is_long in _parts(text, encoding)
    )


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


def _count(text: str, tiktoken: Tiktoken) -> int:
    """How many ids there are, for which no Python object has to be made of each: 4 bytes an id."""
    return memoryview(tiktoken._core_bpe.encode_to_tiktoken_buffer(text, _NO_SPECIAL)).nbytes // 4


def _encode(text: str, encoding: Encoding) -> Iterator[list[int]]:
    """The ids of a well-formed text of any shape, in time linear in its length."""
    tiktoken = tiktoken_for(encoding)
    for block in blocks(text, _BLOCK, published_cut):
        for part, is_long in _parts(block, encoding) if len(block) > LONG else ((block, False),):
            if is_long:
                yield encode_long(part.encode(), tiktoken._encode_single_piece, tiktoken.decode_bytes)
            else:
                yield tiktoken.encode_ordinary(part)


def _parts(text: str, encoding: Encoding) -> Iterator[tuple[str, bool]]:
    """Cut a text into single long chunks and stretches of short ones, and say which of the two each part is.

    A long chunk takes tiktoken long, or makes its pattern engine give up, which it does after a million backtracking
    steps, one for each character of a run of whitespace. A stretch ends with a chunk that is not all whitespace, and
    has the same chunks if it stands alone: the patterns look ahead from whitespace only, so what else could match
    could match before as well, and of that the first was taken. A chunk alone is one for the same reason.
    """
    starts = [0]  # of the chunks that no part has yet, and of the next
    for match in chunker(rule(encoding)).pattern.finditer(plain(text)):
        start, end = match.span()
        if end - start > WINDOW:
            cut = _last_cut(text, starts)
            for first, last in pairwise(dict.fromkeys((starts[0], *starts[cut:]))):
                yield text[first:last], False
            yield text[start:end], True
            starts = [end]
        else:
            starts.append(end)
            if end - starts[0] >= _BLOCK and (cut := _last_cut(text, starts)):
                yield text[starts[0] : starts[cut]], False
                del starts[:cut]
    yield text[starts[0] :], False


def _last_cut(text: str, starts: Sequence[int]) -> int:
    """The last of these that follows a chunk which is not all whitespace, or the first."""
    cut = len(starts) - 1
    while cut and not text[starts[cut - 1] : starts[cut]].strip(WHITE_SPACE):
        cut -= 1
    return cut


def tiktoken_for(encoding: Encoding) -> Tiktoken:
    """tiktoken's tokenizer, which those encodings share that have the same ranks.

    Its special tokens are those of the first of them: no text is searched for them, but without any to look for
    ``_count`` takes twice as long.
    """
    name = encoding.ranks.name
    if name in _built:
        return _built[name]
    with loading:  # two threads must not both build what takes half a second and 60 MB
        if name not in _built:
            from tiktoken import Encoding as Tiktoken

            pattern, ranks = grouped(encoding.pattern), load_ranks(encoding.ranks)
            special = dict(ENCODINGS[name].special_tokens)
            _built[name] = Tiktoken(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
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
