"""Recounting near the cut gives what counting everything gives."""

import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tokengap.estimators import recount
from tokengap.estimators.recount import Pieces, Prefixes, Suffixes, is_boundary
from tokengap.tokenizers.encoding_counter import EncodingCounter
from tokengap.tokenizers.encodings import ENCODINGS

AWKWARD = "aB9 ' \n\r\t/.,!-s'llre日ªʰ\u0301\u200d❤️👍🏽１٣é\u00a0\u3000ß́。Z_"
"""Characters that the split patterns treat differently, each as a neighbour of the others."""

pieces_of_text = st.text(st.sampled_from(AWKWARD) | st.characters(exclude_categories=["Cs"]), max_size=40)


@pytest.mark.parametrize("name", ENCODINGS)
@given(text=pieces_of_text)
@example("'s.x")
@example("!\n//b")
@example("it's 12a\n日 x")
def test_counts_add_up_at_boundaries(name: str, text: str) -> None:
    tokenizer = EncodingCounter(name)
    for at in range(len(text) + 1):
        if is_boundary(text, at):
            assert tokenizer.pieces(text[:at]) + tokenizer.pieces(text[at:]) == tokenizer.pieces(text)


def test_what_python_calls_a_letter_is_one_for_the_patterns(shared_dir: Path) -> None:
    """tiktoken 0.14.0 follows Unicode 16, Python its own version; a boundary may rest on what both agree on only."""
    probed = json.loads((shared_dir / "cases" / "unicode16_classes_probed.json").read_bytes())
    letters = {code for first, last in probed["LM"] for code in range(first, last + 1)}
    disputed = [code for code in range(0x80, 0x110000) if chr(code).isalpha() and code not in letters]
    assert all(not is_boundary(f"{chr(code)},", 1) for code in disputed), disputed[:10]


def test_boundaries_are_frequent_in_prose() -> None:
    text = "The first line, of 12 words.\nAnd the second's no longer.\n"
    assert sum(is_boundary(text, at) for at in range(len(text))) >= 10


@pytest.fixture(params=[recount.LOOK, 1000], ids=["look", "short-look"])
def look(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recount, "LOOK", request.param)


LONG = {
    "prose": "The quick brown fox, it's said, jumps over 13 lazy dogs.\n" * 30,
    "one letter": "a" * 3000,
    "capitals": "日" + "A" * 2000 + "a" * 500,
    "spaces": "x" + " " * 2500 + "y",
    "newlines": "!\n\n\n  " + "\n" * 2500 + " x",
    "digits": "1234567" * 400,
    "other digits": "٣٤٥٦٧" * 500,
    "letters": "abcdefghij" * 60 + "etaoinshrdlu" * 150,
    "chinese": "人人生而自由在尊严和权利上一律平等" * 120,
    "emoji": "❤️👍🏽🙂" * 400,
    "accents": "e\u0301a\u0300B" * 500,
    "slashes": "!\n" + "/" * 2500 + "!b",
    "quotes": "it'll'll" * 300,
    "rule": "=-" * 1500,
}


@pytest.mark.usefixtures("look")
@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base", "r50k_base"])
@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_prefixes_and_suffixes_have_the_count_of_a_whole_count(name: str, text: str) -> None:
    tokenizer = EncodingCounter(name)
    known = Pieces(tokenizer, text)
    prefixes, suffixes = Prefixes(tokenizer, text, known), Suffixes(tokenizer, text, known)
    for at in range(1, len(text), 67):
        assert prefixes.count(at) == len(tokenizer.pieces(text[:at]))
        assert suffixes.count(at) == len(tokenizer.pieces(text[at:]))


@settings(max_examples=60)
@given(parts=st.lists(st.tuples(pieces_of_text, st.integers(1, 300)), max_size=6), at=st.floats(0, 1))
def test_any_mixture_of_runs(parts: list[tuple[str, int]], at: float) -> None:
    text = "".join(text * times for text, times in parts)
    tokenizer = EncodingCounter("o200k_base")
    known = Pieces(tokenizer, text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recount, "LOOK", 1000)
        cut = int(at * len(text))
        assert Prefixes(tokenizer, text, known).count(cut) == len(tokenizer.pieces(text[:cut]))
        assert Suffixes(tokenizer, text, known).count(cut) == len(tokenizer.pieces(text[cut:]))
