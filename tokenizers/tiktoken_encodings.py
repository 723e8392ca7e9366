"""Counting with tiktoken: offline, and total where tiktoken itself gives up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from .encodings import R50K_PATTERN, Encoding, load_ranks
from .errors import TokengapError
from .segment_memo import SegmentMemo
from .simple_patterns import latin, simple_pattern
from .text import WHITE_SPACE
from .vocabulary import Ranks
from .whitespace_runs import collapsed

if TYPE_CHECKING:
    from tiktoken import Encoding as Tiktoken

LONG_RUN = 100_000
"""Whitespace runs of this many characters are kept from tiktoken's split pattern.

Its engine stops at a million backtracking steps, one for each character of such a run.
"""

_ALL = r"[\s\S]+"
_building = Lock()
_built: dict[tuple[str, str], Tiktoken] = {}


def count(text: str, encoding: Encoding) -> int:
    """The tokens of a well-formed text."""
    if (pattern := simple_pattern(encoding.pattern)) and latin(text) and (found := collapsed(text)):
        return len(tiktoken_for(encoding.ranks, pattern).encode_ordinary(found[0])) + found[1]
    newline_ends_run = encoding.pattern != R50K_PATTERN
    return count_tokens(text, tiktoken_for(encoding.ranks, encoding.pattern), newline_ends_run=newline_ends_run)


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
    tiktoken = tiktoken_for(encoding.ranks, encoding.pattern)
    parts = _encode(text, tiktoken, encoding.pattern != R50K_PATTERN, LONG_RUN)
    return [token for ids in parts for token in ids]


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
    newline_ends_run = encoding.pattern != R50K_PATTERN
    return token_bytes(text, tiktoken_for(encoding.ranks, encoding.pattern), newline_ends_run=newline_ends_run)


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
        yield _one_chunk(encoding).encode_ordinary(text[left:right])
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


def _one_chunk(encoding: Tiktoken) -> Tiktoken:
    """The encoding with all of a text as one chunk.

    tiktoken has a function for one chunk, but it stops every other thread meanwhile: for seconds, here.
    """
    key = encoding.name, _ALL
    with _building:
        if key not in _built:
            from tiktoken import Encoding as Tiktoken

            ranks = encoding._mergeable_ranks
            _built[key] = Tiktoken(encoding.name, pat_str=_ALL, mergeable_ranks=ranks, special_tokens={})
        return _built[key]
