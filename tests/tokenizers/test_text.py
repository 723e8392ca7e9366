from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.tokenizers.text import WHITE_SPACE, TextSize, measure, well_formed


@pytest.mark.parametrize(
    ("text", "words", "chars", "size"),
    [
        ("", 0, 0, 0),
        ("tokens", 1, 6, 6),
        ("New  York", 2, 9, 9),
        ("café", 1, 4, 5),
        ("£5", 1, 2, 3),
        ("書", 1, 1, 3),
        ("😀", 1, 1, 4),
        ("a\r\nb\n", 2, 5, 5),
        ("a\udbc0", 1, 2, 4),
    ],
)
def test_measure(text: str, words: int, chars: int, size: int) -> None:
    assert measure(text) == TextSize(words, chars, size)


@pytest.mark.parametrize(
    ("text", "joined", "repaired"),
    [
        ("plain", "plain", False),
        ("नमस्ते", "नमस्ते", False),
        ("\ufffd", "\ufffd", False),
        ("facture\udbc0 7", "facture\ufffd 7", True),
        ("\ud83d\ude00", "😀", False),  # a pair is the character it stands for
        ("\ude00\ud83d", "\ufffd\ufffd", True),
        ("\ud83d\ud83d\ude00", "\ufffd😀", True),
        ("\ufffd\ud800", "\ufffd\ufffd", True),
        ("end\ud800", "end\ufffd", True),
    ],
)
def test_well_formed(text: str, joined: str, repaired: bool) -> None:
    assert well_formed(text) == (joined, repaired)


@given(st.text())
def test_valid_text_is_left_alone(text: str) -> None:
    assert well_formed(text) == (text, False)


@given(st.text(st.characters(codec=None)))
def test_every_text_becomes_valid(text: str) -> None:
    joined, _ = well_formed(text)
    joined.encode()


def test_white_space_is_unicodes() -> None:
    """Python's ``\\s`` is White_Space and four control characters."""
    python = {chr(i) for i in range(0x110000) if re.match(r"\s", chr(i))}
    assert python - set(WHITE_SPACE) == set("\x1c\x1d\x1e\x1f")
    assert set(WHITE_SPACE) <= python


@given(st.text(st.characters(max_codepoint=0x7F)))
def test_words_are_those_of_split(text: str) -> None:
    assert measure(text) == TextSize(len(text.split()), len(text), len(text.encode()))
