"""Text to ids and back, with a byte-pair encoding.

In each chunk the merge that was learned first is applied first, wherever it stands, leftmost first, until
none is left. That gives the ids that replaying all merges in order would give.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left, bisect_right
from collections import Counter as Tally
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal

from .bpe_artefact import Artefact
from .bpe_merging import FindMerge, Lengths, merge_all
from .errors import TokengapError
from .text import well_formed

Errors = Literal["strict", "replace"]

_REMEMBERED_CHUNKS = 1 << 16
_REMEMBERED_LENGTH = 256
_REPLACEMENT = "\ufffd"


@dataclass(frozen=True, slots=True)
class Encoded:
    """The tokens of a text, and what each stands for in it.

    Spans are start and end positions in the text as it was encoded: a lone surrogate in it is U+FFFD, and
    ``warnings`` says so. The character span of a token that begins or ends inside a character takes in the
    whole of it. ``unknown`` counts the characters outside the alphabet; each became one unknown token.
    """

    ids: tuple[int, ...]
    byte_spans: tuple[tuple[int, int], ...]
    char_spans: tuple[tuple[int, int], ...]
    unknown: Mapping[str, int]
    warnings: tuple[str, ...]


_Spanned = tuple[int, tuple[int, int], tuple[int, int]]  # an id, its bytes, its characters


class BpeTokenizer:
    """Encodes, counts and decodes. Safe to share between threads."""

    def __init__(self, artefact: Artefact) -> None:
        self.artefact = artefact
        self._encode_chunk = _chunk_encoder(artefact)
        self._memo = _ChunkMemo(self._encode_chunk)
        self._special = dict(artefact.special_tokens)

    def encode(self, text: str, allowed_special: Collection[str] = ()) -> list[int]:
        """The ids of a text, in which the name of a special token is ordinary text unless allowed by name.

        A lone surrogate is encoded as U+FFFD, and a character outside the alphabet as the unknown token;
        ``encode_with_offsets`` reports both. Raises TokengapError for an allowed name there is no token of.
        """
        ids: list[int] = []
        for part, special in self._parts(well_formed(text)[0], allowed_special):
            if special is not None:
                ids.append(special)
                continue
            for chunk_ids in map(self._memo.__getitem__, self.artefact.pretokenizer.chunks(part)):
                ids += chunk_ids
        return ids

    def count(self, text: str) -> int:
        """How many tokens a text is, without making the list of ids."""
        chunks = self.artefact.pretokenizer.chunks(well_formed(text)[0])
        return sum(map(len, map(self._memo.__getitem__, chunks)))

    def encode_documents(self, documents: Iterable[str], end: str) -> list[int]:
        """The ids of several documents, each followed by a special token that no text in them can forge."""
        marker = self._special_id(end)
        return [number for document in documents for number in (*self.encode(document), marker)]

    def encode_with_offsets(self, text: str, allowed_special: Collection[str] = ()) -> Encoded:
        """The tokens of a text with the bytes and characters each stands for. See ``encode``."""
        text, repaired = well_formed(text)
        tokens: list[_Spanned] = []
        start = byte_start = 0
        for part, special in self._parts(text, allowed_special):
            end, byte_end = start + len(part), byte_start + len(part.encode())
            if special is None:
                tokens += self._spanned(part, start, byte_start)
            else:
                tokens.append((special, (byte_start, byte_end), (start, end)))
            start, byte_start = end, byte_end
        unknown = Tally(text[slice(*chars)] for number, _, chars in tokens if number == self.artefact.unknown_id)
        applies = {"lone_surrogate": repaired, "unknown_characters": bool(unknown)}
        return Encoded(
            ids=tuple(token[0] for token in tokens),
            byte_spans=tuple(token[1] for token in tokens),
            char_spans=tuple(token[2] for token in tokens),
            unknown=dict(unknown),
            warnings=tuple(warning for warning, found in applies.items() if found),
        )

    def unknown_characters(self, text: str) -> bool:
        """Whether a text has characters outside the alphabet, in the chunks that are encoded."""
        if self.artefact.alphabet == "bytes":
            return False
        known = frozenset(self.artefact.symbols)
        return not known.issuperset("".join(self.artefact.pretokenizer.chunks(well_formed(text)[0])))

    def decode(self, ids: Iterable[int], errors: Errors = "strict") -> str:
        """The text of some ids. ``replace`` puts U+FFFD where their bytes are not valid UTF-8.

        Raises TokengapError for an id there is no token of, and under ``strict`` for invalid UTF-8.
        """
        data = b"".join(map(self.token_bytes, ids))
        try:
            return data.decode(errors=errors)
        except UnicodeDecodeError as error:
            raise TokengapError(
                f"the ids do not decode to valid UTF-8: {error.reason} at byte {error.start} of {len(data)}; "
                "decode with errors='replace' to see the rest"
            ) from error

    def token_bytes(self, number: int) -> bytes:
        """The bytes of one token. Raises TokengapError for an id there is no token of."""
        if isinstance(number, bool) or not isinstance(number, int):
            raise TokengapError(f"an id is a whole number, not {number!r:.40}")
        try:
            return self._tokens[number]
        except KeyError:
            highest = max(self._tokens)
            raise TokengapError(f"there is no token with the id {number}; the highest id is {highest}") from None

    @cached_property
    def longest_token(self) -> int:
        """The bytes of the longest token; special tokens never occur in a text."""
        return max(map(len, self.artefact.vocabulary.values()))

    @cached_property
    def _tokens(self) -> dict[int, bytes]:
        tokens = dict(self.artefact.vocabulary)
        if self.artefact.unknown_id is not None:
            tokens[self.artefact.unknown_id] = _REPLACEMENT.encode()
        return tokens | {number: name.encode() for name, number in self._special.items()}

    def _special_id(self, name: str) -> int:
        if name not in self._special:
            there_are = f"there are {', '.join(self._special)}" if self._special else "it has none"
            raise TokengapError(f"the tokenizer has no special token {name!r}; {there_are}")
        return self._special[name]

    def _parts(self, text: str, allowed: Collection[str]) -> Iterator[tuple[str, int | None]]:
        if not allowed:
            yield text, None
            return
        numbers = {name: self._special_id(name) for name in ([allowed] if isinstance(allowed, str) else allowed)}
        names = sorted(numbers, key=len, reverse=True)  # of two names that begin alike, the longer one is meant
        for part in re.split(f"({'|'.join(map(re.escape, names))})", text):
            if part:
                yield part, numbers.get(part)

    def _spanned(self, text: str, start: int, byte_start: int) -> Iterator[_Spanned]:
        """The tokens of a part of a text that begins at ``start``."""
        byte_ends = [0, *accumulate(len(character.encode()) for character in text)]
        for first, last in self.artefact.pretokenizer.spans(text):
            position = byte_ends[first]
            for number in self._memo[text[first:last]]:
                inside = bisect_right(byte_ends, position) - 1
                if number == self.artefact.unknown_id:
                    end = byte_ends[inside + 1]
                else:
                    end = position + len(self._tokens[number])
                chars = (start + inside, start + bisect_left(byte_ends, end))
                yield number, (byte_start + position, byte_start + end), chars
                position = end


class IncrementalDecoder:
    """Decodes a stream of ids, holding back the bytes of an unfinished character.

    ``feed`` returns what can be shown already; ``finish`` the rest, which under ``strict`` must be nothing.
    """

    def __init__(self, tokenizer: BpeTokenizer, errors: Errors = "strict") -> None:
        self._token_bytes = tokenizer.token_bytes
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors)

    def feed(self, number: int) -> str:
        return self._decoded(self._token_bytes(number), final=False)

    def finish(self) -> str:
        return self._decoded(b"", final=True)

    def _decoded(self, data: bytes, *, final: bool) -> str:
        try:
            return self._decoder.decode(data, final)
        except UnicodeDecodeError as error:
            self._decoder.reset()
            raise TokengapError(f"the ids do not decode to valid UTF-8: {error.reason}") from error


class _ChunkMemo(dict[str, tuple[int, ...]]):
    """The ids of the chunks met most recently; a miss encodes. Bounded in entries and in their length."""

    def __init__(self, encode: Callable[[str], tuple[int, ...]]) -> None:
        super().__init__()
        self._encode = encode

    def __missing__(self, chunk: str) -> tuple[int, ...]:
        ids = self._encode(chunk)
        if len(chunk) <= _REMEMBERED_LENGTH:
            if len(self) >= _REMEMBERED_CHUNKS:
                self.clear()
            self[chunk] = ids
        return ids


def _chunk_encoder(artefact: Artefact) -> Callable[[str], tuple[int, ...]]:
    """Build the function from a chunk to its ids."""
    symbols = _symbol_ids(artefact)
    find = _merge_finder(artefact)
    whole = {token: number for number, token in artefact.vocabulary.items()} if artefact.whole_chunks else {}
    lengths = _symbol_lengths(artefact)
    renumbered = artefact.ids

    def encode(chunk: str) -> tuple[int, ...]:
        if whole and (number := whole.get(chunk.encode())) is not None:
            return (number,)
        parts = symbols(chunk)
        merged = merge_all(parts, find, lengths)
        return tuple(merged) if renumbered is None else tuple(map(renumbered.__getitem__, merged))

    return encode


def _symbol_ids(artefact: Artefact) -> Callable[[str], list[int]]:
    if artefact.alphabet == "characters":
        index = {symbol: number for number, symbol in enumerate(artefact.symbols)}
        unknown = artefact.base_size + len(artefact.merges)
        return lambda chunk: [index.get(symbol, unknown) for symbol in chunk]
    if artefact.ranks is None:
        return lambda chunk: list(chunk.encode())
    of_byte = [artefact.ranks[bytes([value])] for value in range(256)]
    return lambda chunk: [of_byte[value] for value in chunk.encode()]


def _merge_finder(artefact: Artefact) -> FindMerge:
    if artefact.ranks is None:
        merges = enumerate(artefact.merges, artefact.base_size)
        table = {(merge.left, merge.right): number for number, merge in merges}
        return table.get
    ranks, tokens = artefact.ranks, artefact.vocabulary
    return lambda pair, default: ranks.get(tokens[pair[0]] + tokens[pair[1]], default)


def _symbol_lengths(artefact: Artefact) -> Lengths:
    """How many symbols each token is made of, by the number it has while merging."""
    if artefact.ranks is not None:
        return {number: len(token) for token, number in artefact.ranks.items()}
    lengths = [1] * artefact.base_size
    for merge in artefact.merges:
        lengths.append(lengths[merge.left] + lengths[merge.right])
    return [*lengths, 1]  # the unknown character's
