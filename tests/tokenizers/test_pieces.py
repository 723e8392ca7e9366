"""Counters that show their tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.tokenizers import tiktoken_encodings
from tokengap.tokenizers.counter import Tokenizer
from tokengap.tokenizers.encoding_counter import EncodingCounter
from tokengap.tokenizers.encodings import ENCODINGS
from tokengap.tokenizers.registry import get_counter
from tokengap.tokenizers.tiktoken_encodings import tiktoken_for


@pytest.mark.parametrize("name", ENCODINGS)
@given(text=st.text())
def test_pieces_join_to_the_text_and_are_as_many_as_its_tokens(name: str, text: str) -> None:
    tokenizer = EncodingCounter(name)
    pieces = tokenizer.pieces(text)
    assert b"".join(pieces) == text.encode()
    assert len(pieces) == tokenizer.count(text).tokens


def test_pieces_are_the_tokens_tiktoken_gives() -> None:
    tokenizer = EncodingCounter("cl100k_base")
    assert tokenizer.pieces("Hello, wörld 🙂") == [b"Hello", b",", b" w", b"\xc3\xb6r", b"ld", b" \xf0\x9f\x99\x82"]


def test_a_piece_may_end_inside_a_character() -> None:
    pieces = EncodingCounter("r50k_base").pieces("日")
    assert b"".join(pieces) == "日".encode()
    assert len(pieces) > 1


@pytest.mark.parametrize("text", [" " * 300, "a" + " " * 300 + "b", "\n" * 40 + " " * 300, " \n" * 150 + "x"])
@pytest.mark.parametrize("name", ["o200k_base", "r50k_base"])
def test_long_whitespace_gives_the_pieces_tiktoken_gives(name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiktoken_encodings, "LONG", 100)
    monkeypatch.setattr(tiktoken_encodings, "WINDOW", 50)
    theirs = tiktoken_for(ENCODINGS[name])
    pieces = EncodingCounter(name).pieces(text)
    assert pieces == theirs.decode_tokens_bytes(theirs.encode_ordinary(text))


def test_a_million_spaces_have_pieces() -> None:
    tokenizer = EncodingCounter("o200k_base")
    pieces = tokenizer.pieces(" " * 1_000_000)
    assert sum(map(len, pieces)) == 1_000_000
    assert len(pieces) == tokenizer.count(" " * 1_000_000).tokens


@pytest.mark.parametrize(("name", "longest"), [("o200k_base", 128), ("cl100k_base", 128), ("r50k_base", 128)])
def test_longest_token(name: str, longest: int) -> None:
    assert EncodingCounter(name).longest_token == longest


def test_a_lone_surrogate_is_the_character_it_is_counted_as() -> None:
    assert b"".join(EncodingCounter("o200k_base").pieces("a\udc00")) == "a\ufffd".encode()


@pytest.mark.parametrize(("spec", "shows"), [("o200k_base", True), ("gpt2", True), ("words", False), ("bytes", False)])
def test_which_counters_show_their_pieces(spec: str, shows: bool) -> None:
    assert isinstance(get_counter(spec), Tokenizer) is shows
