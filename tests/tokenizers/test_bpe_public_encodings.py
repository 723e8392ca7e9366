"""Our encoder with the public rank files gives tiktoken's ids: on real, random and hostile text."""

from __future__ import annotations

import json
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from tokengap.tokenizers.bpe import BpeTokenizer
from tokengap.tokenizers.bpe_exchange import from_ranks
from tokengap.tokenizers.encodings import ENCODINGS, load_ranks
from tokengap.tokenizers.pretokenize import pretokenizer
from tokengap.tokenizers.unicode_classes import classes

RULES = {"o200k_base": "o200k", "cl100k_base": "cl100k", "p50k_base": "gpt2", "r50k_base": "gpt2"}
ENDS = st.sampled_from(" \n\r\t\u3000\x1c/.'sStTlLvVeErRdDmMſaAzéÉǅʰªम\u0301\u094d書1½😀𐐀")
ANY_TEXT = st.lists(st.one_of(ENDS, st.characters(codec="utf-8"))).map("".join)


@cache
def both(name: str) -> tuple[BpeTokenizer, tiktoken.Encoding]:
    encoding = ENCODINGS[name]
    ranks = load_ranks(encoding.ranks)
    theirs = tiktoken.Encoding(name, pat_str=encoding.pattern, mergeable_ranks=ranks, special_tokens={})
    return BpeTokenizer(from_ranks(ranks, pretokenizer(RULES[name]), encoding.special_tokens)), theirs


def assert_same(name: str, text: str) -> None:
    ours, theirs = both(name)
    expected = theirs.encode_ordinary(text)
    assert ours.encode(text) == expected
    assert ours.count(text) == len(expected)


@pytest.mark.parametrize("name", RULES)
@given(text=ANY_TEXT)
def test_random_text_over_all_of_unicode(name: str, text: str) -> None:
    assert_same(name, text)


def assert_same_around(name: str, points: Sequence[int]) -> None:
    for start in range(0, len(points), 4096):
        assert_same(name, "".join(f"{chr(point)}a{chr(point)} 1" for point in points[start : start + 4096]))


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_the_edges_of_every_class(name: str) -> None:
    """Random text would rarely meet the few thousand characters that Unicode versions disagree on."""
    edges = {point for ranges in classes().values() for pair in ranges for point in (*pair, pair[0] - 1, pair[1] + 1)}
    assert_same_around(name, sorted(point for point in edges if is_character(point)))


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_every_character(name: str) -> None:
    assert_same_around(name, list(filter(is_character, range(0x110000))))


def is_character(point: int) -> bool:
    return 0 <= point < 0xD800 or 0xE000 <= point < 0x110000


@pytest.mark.parametrize("name", RULES)
def test_real_texts(name: str, shared_dir: Path) -> None:
    for path in sorted((*(shared_dir / "texts").iterdir(), *(shared_dir / "files").iterdir())):
        assert_same(name, path.read_bytes().decode())


def test_published_counts(shared_json: Callable[[str], Any]) -> None:
    for case in shared_json("cases/12_cl100k.json")["cases"]:
        if "cl100k_base" not in case["expected"]:
            continue
        text, also = case["text"], case["also"]
        ours, _ = both("cl100k_base")
        ids = ours.encode(text)
        assert ids == also["cl100k_ids"]
        assert len(ids) == case["expected"]["cl100k_base"]
        assert [ours.token_bytes(number).hex() for number in ids] == also["cl100k_pieces_hex"]
        for name in ("o200k_base", "r50k_base"):
            assert both(name)[0].count(text) == also[name]


def test_special_token_of_a_public_encoding(shared_json: Callable[[str], Any]) -> None:
    case = next(
        case for case in shared_json("cases/06_special.json")["cases"] if case["id"] == "special-tiktoken-default"
    )
    ours, _ = both(case["encoding"])
    assert ours.count(case["text"]) == case["expected"]["as_text"]
    allowed = ours.encode(case["text"], ["<|endoftext|>"])
    assert len(allowed) == case["expected"]["allowed_all"]
    assert allowed.count(100257) == 1


def hostile(case: Any) -> Iterator[tuple[str, dict[str, int]]]:
    """Texts of a reported fault with the counts it gives."""
    given_, expected = case["input"], case["expected"]
    counts = expected.get("counts") or expected.get("counts_as_plain_text") or expected.get("count_with_replacement")
    for one in [given_, *expected.get("more", ())]:
        text = one.get("text") or one.get("stdin")
        if "text_json" in one:
            text = json.loads(one["text_json"])
        if "text_repeat" in one:
            text = one["text_repeat"][0] * one["text_repeat"][1]
        if text is not None and (one.get("counts") or counts):
            yield text, one.get("counts") or counts
    for text in given_["texts"] if isinstance(given_.get("texts"), list) else ():
        yield text, expected[text]
    for language, text in given_["texts"].items() if isinstance(given_.get("texts"), dict) else ():
        yield text, expected[language]


def test_reported_faults(shared_json: Callable[[str], Any]) -> None:
    checked = 0
    for case in shared_json("cases/reported_faults.json")["cases"]:
        if case["area"] not in ("counter", "report", "cli") or "messages" in case["input"] or "models" in case["input"]:
            continue
        for text, counts in hostile(case):
            for name in RULES.keys() & counts.keys():
                assert both(name)[0].count(text) == counts[name], case["id"]
                checked += 1
    assert checked >= 50


@pytest.mark.parametrize("run", ["a", "^", " ", "\n", "\u0301", "書", "😀", "A", "1", " \n", "'s"])
@pytest.mark.parametrize("name", RULES)
def test_long_runs(name: str, run: str) -> None:
    for text in (run * 20_000, run * 20_000 + "x", "M" + run * 20_000 + "."):
        assert_same(name, text)


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_standard_library(name: str) -> None:
    for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if "site-packages" not in path.parts:
            assert_same(name, path.read_bytes().decode(errors="replace"))


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("run", ["a", "^", "\n", "\u0301", "書", "😀"])
def test_a_million_characters_of_one_kind(name: str, run: str) -> None:
    ours, theirs = both(name)
    assert ours.encode(run * 1_000_000) == theirs._encode_single_piece(run * 1_000_000)
