"""Split rules: the documents' chunks, losslessness, safe cuts, and linear time by construction.

That the published rules agree with tiktoken is shown by the ids in ``test_bpe_public_encodings.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.tokenizers.errors import TokengapError
from tokengap.tokenizers.pretokenize import custom, pretokenizer, restored
from tokengap.tokenizers.split_rules import RULES

TEXTS = st.text(
    alphabet=st.one_of(st.sampled_from(" \n\r\t\x1c/'aAsſ1.,é\u0301書😀𐐀\u3000"), st.characters(codec="utf-8"))
)


@pytest.mark.parametrize(
    ("rule", "text", "chunks"),
    [
        ("none", "a b", ["a b"]),
        ("none", "", []),
        ("words", "two  words\r\nand a\nline", ["two", "words", "and", "a", "line"]),
        ("workbook", "don't  stop_9", ["don", "'", "t", "  ", "stop_9"]),
        ("gpt2", "I'll pay 1200  now\n", ["I", "'ll", " pay", " 1200", " ", " now", "\n"]),
        ("cl100k", "I'LL pay 1200...\n\n  now", ["I", "'LL", " pay", " ", "120", "0", "...\n\n", " ", " now"]),
        ("o200k", "I'll McDonald ok/\n\n x", ["I'll", " Mc", "Donald", " ok", "/\n\n", " x"]),
        ("cl100k", "'ſ", ["'ſ"]),
    ],
)
def test_chunks(rule: str, text: str, chunks: list[str]) -> None:
    assert pretokenizer(rule).chunks(text) == chunks


def test_documents_chunks(shared_json: Callable[[str], Any]) -> None:
    cases = shared_json("cases/02_chunks.json")["cases"]
    assert [pretokenizer("workbook").chunks(case["text"]) for case in cases] == [
        case["expected"]["chunks"] for case in cases
    ]


@given(TEXTS)
@pytest.mark.parametrize("name", RULES)
def test_every_character_is_in_one_chunk(name: str, text: str) -> None:
    rule = pretokenizer(name)
    chunks = rule.chunks(text)
    assert [text[start:end] for start, end in rule.spans(text)] == chunks
    assert all(chunks)
    dropped = " \n\r" if rule.lossy else ""
    assert "".join(chunks) == "".join(character for character in text if character not in dropped)


@given(TEXTS)
@pytest.mark.parametrize("name", RULES)
def test_stored_pattern_alone_gives_the_same_chunks(name: str, text: str) -> None:
    """What runs is a pattern cut down to the characters at hand; what an artefact keeps is the whole one."""
    rule = pretokenizer(name)
    assert re.findall(rule.pattern, text) == rule.chunks(text)


@given(TEXTS)
def test_workbook_is_the_documents_pattern(text: str) -> None:
    known = "".join(character for character in text if ord(character) < 0x1C80 or character in "書😀𐐀\u3000")
    assert pretokenizer("workbook").chunks(known) == re.findall(r" ?\w+| ?[^\w\s]+|\s+", known)


@given(st.text(alphabet=" \n\r\t\x1c/'as1.é書😀", min_size=3), st.integers(0, 20))
@pytest.mark.parametrize("name", sorted(RULES.keys() - {"none"}))
def test_a_safe_cut_changes_no_chunk(name: str, text: str, position: int) -> None:
    rule = pretokenizer(name)
    cut = rule.safe_cut(text, position)
    if cut is not None:
        assert rule.chunks(text[:cut]) + rule.chunks(text[cut:]) == rule.chunks(text)


def test_long_text_is_cut_into_blocks_and_chunked_the_same() -> None:
    text = "Größe 書 😀 x,\n\n y/\nz " * 5000
    assert len(text) > 1 << 16
    for name in RULES:
        assert pretokenizer(name).chunks(text) == re.findall(pretokenizer(name).pattern, text)


@pytest.mark.parametrize(
    "text", ["a", "A", " ", "\n", "^", "\u0301", "書", "1", "'", "aA", "A\u0301", " \n", "😀", "𐐀"]
)
@pytest.mark.parametrize("name", RULES)
def test_one_endless_run_is_split_at_all(name: str, text: str) -> None:
    """Backtracking over such a run once per character would take days, not a moment."""
    for endless in (text * 100_000, text * 100_000 + "x", "M" + text * 100_000 + "."):
        assert sum(map(len, pretokenizer(name).chunks(endless))) <= len(endless)


def test_custom_rule_keeps_what_it_does_not_match() -> None:
    rule = custom(r"[a-z]+")
    assert rule.chunks("ab, cd!") == ["ab", ", ", "cd", "!"]
    assert list(rule.spans("ab, cd!")) == [(0, 2), (2, 4), (4, 6), (6, 7)]
    assert rule.safe_cut("a b c", 0) is None


def test_unknown_rule() -> None:
    with pytest.raises(TokengapError, match="did you mean workbook"):
        pretokenizer("workbok")


def test_restored() -> None:
    for rule in (*map(pretokenizer, RULES), custom(r"\w+|.")):
        assert restored(rule.name, rule.pattern, rule.unicode_version) == rule
    with pytest.raises(TokengapError, match="is not the one"):
        restored("gpt2", pretokenizer("cl100k").pattern, "16.0.0")
    with pytest.raises(TokengapError, match="is not the one"):
        restored("gpt2", pretokenizer("gpt2").pattern, "15.0.0")
    with pytest.raises(TokengapError, match="not written out"):
        restored("custom", r"\w+", "16.0.0")
