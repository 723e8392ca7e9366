"""Texts prepared for the simple patterns have the tokens that the published patterns give them."""

from __future__ import annotations

from functools import cache

import pytest
import tiktoken
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tokengap.tokenizers.encodings import ENCODINGS, R50K_PATTERN, load_ranks
from tokengap.tokenizers.simple_patterns import latin, simple_pattern
from tokengap.tokenizers.whitespace_runs import collapsed

NAMES = ("o200k_base", "cl100k_base")
PIECES = [*" \n\r\tsStTlLvVeErR'/.!aAzZ059éÉ×ª²µ\xa0\x85’—\u2003\x1c", "  ", "   ", "\t\t", " \n", "\n  ", "'s"]


@cache
def tokenizers(name: str) -> tuple[tiktoken.Encoding, tiktoken.Encoding]:
    """tiktoken with the published pattern and with the simple one."""
    ranks, published = load_ranks(ENCODINGS[name].ranks), ENCODINGS[name].pattern
    simple = simple_pattern(published)
    assert simple is not None
    one, other = (
        tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        for pattern in (published, simple)
    )
    return one, other


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=1000)
@given(text=st.lists(st.sampled_from(PIECES)).map("".join))
@example("a" + " " * 80 + "b")
@example("a\n" + "\t" * 21 + "b")
@example("a\n" + " " * 79 + "b  \n  ")
def test_same_tokens(name: str, text: str) -> None:
    published, simple = tokenizers(name)
    if latin(text) and (found := collapsed(text)) is not None:
        assert len(simple.encode_ordinary(found[0])) + found[1] == len(published.encode_ordinary(text))


@pytest.mark.parametrize("name", NAMES)
def test_every_character_that_is_taken(name: str) -> None:
    published, simple = tokenizers(name)
    for point in (*range(0x100), *range(0x2000, 0x2040)):
        character = chr(point)
        for text in (
            character,
            f" {character}",
            f"a{character}",
            f"{character}'s {character}s",
            f"1{character}2!{character}",
        ):
            if latin(text) and collapsed(text) is not None:
                assert len(simple.encode_ordinary(text)) == len(published.encode_ordinary(text))


@pytest.mark.parametrize("text", ["字", "Ā", "😀", "aé字", "— 字", "é\u2040", "é\u1fff"])
def test_what_is_not_latin(text: str) -> None:
    assert not latin(text)


@pytest.mark.parametrize("text", ["", "a", "é", "“é” — ñ", "ÿ\u2000\u203f"])
def test_what_is_latin(text: str) -> None:
    assert latin(text)


@pytest.mark.parametrize(
    "text",
    ["x\u3000y", "\u2003", "a\t b", "a \tb", "a\xa0 b", "a\xa0\xa0b", "\v", "x\x85", "a" + " " * 81 + "b"],
)
def test_what_is_not_collapsed(text: str) -> None:
    assert collapsed(text) is None


@pytest.mark.parametrize(
    ("text", "simple", "runs"),
    [("a  b", "a b", 1), ("a\n    b\n  c  ", "a\n b\n c  ", 2), ("\t\tx\t\n", "\tx\t\n", 1), ("a — “b”", "a — “b”", 0)],
)
def test_collapsed(text: str, simple: str, runs: int) -> None:
    assert collapsed(text) == (simple, runs)


def test_older_patterns_have_none() -> None:
    assert simple_pattern(R50K_PATTERN) is None
