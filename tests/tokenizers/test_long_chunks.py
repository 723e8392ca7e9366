"""Windows of a long chunk, joined, are its encoding as tiktoken gives it."""

from __future__ import annotations

from functools import cache

import pytest
import tiktoken
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tokengap.tokenizers.encodings import ENCODINGS, load_ranks
from tokengap.tokenizers.long_chunks import encode_long

NAMES = ("o200k_base", "cl100k_base", "r50k_base")
UNITS = ["a", "b", "A", " ", "\n", "=", "é", "書", "😀", "\u0301", "the", "ing", "xyz", "  "]
FEW_UNITS = st.lists(st.sampled_from(UNITS), min_size=1, max_size=4).flatmap(
    lambda units: st.lists(st.sampled_from(units), max_size=300).map("".join)
)

CHUNKS = FEW_UNITS.filter(bool).map(str.encode) | st.binary(min_size=1, max_size=200)


@cache
def reference(name: str) -> tiktoken.Encoding:
    ranks = load_ranks(ENCODINGS[name].ranks)
    return tiktoken.Encoding(name, pat_str=ENCODINGS[name].pattern, mergeable_ranks=ranks, special_tokens={})


def encoded(name: str, chunk: bytes, window: int) -> list[int]:
    encoding = reference(name)
    return encode_long(chunk, encoding._encode_single_piece, encoding.decode_bytes, window)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=300)
@given(chunk=CHUNKS, window=st.sampled_from([1, 2, 3, 7, 16, 64]))
@example(chunk=b" " * 300, window=130)
def test_joined_windows_are_the_encoding(name: str, chunk: bytes, window: int) -> None:
    assert encoded(name, chunk, window) == reference(name)._encode_single_piece(chunk)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unit", ["a", "ab", "= ", "\u0301", "the "])
def test_a_window_is_encoded_about_once(name: str, unit: str) -> None:
    """However long the chunk is: the work grows with its length and no faster."""
    encoding = reference(name)
    given: list[int] = []

    def encode(data: bytes) -> list[int]:
        given.append(len(data))
        return encoding._encode_single_piece(data)

    chunk = unit.encode() * (200_000 // len(unit.encode()))
    ids = encode_long(chunk, encode, encoding.decode_bytes)
    assert encoding.decode_bytes(ids) == chunk
    assert sum(given) < 1.5 * len(chunk)
