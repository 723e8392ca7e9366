"""Chunks found by stand-ins are those that the written-out classes give."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.tokenizers import stand_ins
from tokengap.tokenizers.pretokenize import pretokenizer
from tokengap.tokenizers.stand_ins import LETTER, LOWER, MARK, NUMBER, OTHER, SPACE, UPPER, Chunker
from tokengap.tokenizers.unicode_classes import classes

RULES = ("o200k", "cl100k", "gpt2")
ANY_TEXT = st.lists(
    st.one_of(
        st.sampled_from(" \n\r\t\u3000\x1c/.'sStTlLvVeErRdDmMſaAzéÉǅʰªम\u0301書1½😀𐐀°"), st.characters(codec="utf-8")
    )
).map("".join)


@pytest.mark.parametrize("rule", RULES)
@given(text=ANY_TEXT)
def test_same_chunks(rule: str, text: str) -> None:
    assert list(Chunker(rule).chunks(text)) == pretokenizer(rule).chunks(text)


def test_every_character_has_the_stand_in_of_its_class() -> None:
    kinds = {
        UPPER: ("Lu", "Lt"),
        LOWER: ("Ll",),
        LETTER: ("Lm", "Lo"),
        MARK: ("M",),
        NUMBER: ("N",),
        SPACE: ("white_space",),
    }
    expected = dict.fromkeys(range(0x80, 0x110000), ord(OTHER))
    for stand_in, names in kinds.items():
        for name in names:
            for first, last in classes()[name]:
                expected |= {point: ord(stand_in) for point in range(max(first, 0x80), last + 1)}
    table = stand_ins._StandIns()
    for point, character in expected.items():
        assert table[point] == (point if point == 0x17F else character), hex(point)
    assert len(table) <= (1 << 16) + 0x100
