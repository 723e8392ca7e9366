"""Counts of the public encodings: against published values, against tiktoken, and on hostile text."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import tiktoken
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tokengap.tokenizers import tiktoken_encodings
from tokengap.tokenizers.encodings import ENCODINGS, load_ranks
from tokengap.tokenizers.registry import get_counter

NAMES = ("o200k_base", "cl100k_base", "p50k_base", "r50k_base")
MILLION = 1_000_000


@cache
def reference(name: str) -> tiktoken.Encoding:
    """tiktoken itself, built apart from the code under test."""
    encoding = ENCODINGS[name]
    return tiktoken.Encoding(
        name,
        pat_str=encoding.pattern,
        mergeable_ranks=load_ranks(encoding.ranks),
        special_tokens=dict(encoding.special_tokens),
    )


def tokens(name: str, text: str) -> int:
    return get_counter(name).count(text).tokens


@pytest.mark.parametrize(
    ("text", "cl100k", "o200k", "r50k"),
    [  # the documents' own figures, verified with tiktoken 0.14.0
        ("1234567", 3, 3, 3),
        ("Hello, how are you today?", 7, 7, 7),
        ("नमस्ते, आज तपाईंलाई कस्तो छ?", 28, 12, 44),
        ("The quick brown fox jumps over the lazy dog.", 10, 10, 10),
        ("छिटो खैरो स्याल अल्छी कुकुरमाथि उफ्रन्छ।", 41, 23, 68),
        ("", 0, 0, 0),
        ("Intro.<|endoftext|>Outro.", 11, 10, 12),  # repomix 89: the marker is text
        ('const eot = "<|endoftext|>";\n', 11, 11, 13),  # ttok 17
        ("facture\udbc0 7", 5, 5, 4),  # tiktoken 82: as U+FFFD
        ("facture\ufffd 7", 5, 5, 4),
        ("It's late, I'm sorry, we don't know.", 13, 10, 13),  # gpt-tokenizer 78
        ("Good day! Here is a sample. zzzzz abc ddd", 14, 14, 15),  # TiktokenSharp 10
        ("a longer sentence that is surely more than three tokens qwrtp sdfgh", 15, 15, 17),  # litellm 1702
        ("toString", 1, 2, 2),  # gpt3-tokenizer 6
        ("constructor", 1, 1, 2),
        ("__proto__ hasOwnProperty valueOf", 7, 8, 9),
    ],
)
def test_published_counts(text: str, cl100k: int, o200k: int, r50k: int) -> None:
    counts = tuple(tokens(name, text) for name in ("cl100k_base", "o200k_base", "r50k_base"))
    assert counts == (cl100k, o200k, r50k)
    for name in NAMES:
        assert tokens(name, text) == len(reference(name).encode_ordinary(text))


@pytest.mark.parametrize("name", NAMES)
def test_count_says_how_good_it_is(name: str) -> None:
    count = get_counter(name).count("Hello")
    assert (count.kind, count.interval, count.estimate, count.warnings) == ("exact", None, None, ())
    assert count.tokenizer == name
    assert count.fingerprint == ENCODINGS[name].fingerprint
    assert get_counter(name).count("a\ud800").warnings == ("lone_surrogate",)


@pytest.mark.parametrize("name", ENCODINGS)
def test_special_tokens_in_text_are_text(name: str) -> None:
    for special in list(ENCODINGS[name].special_tokens)[:20]:
        assert tokens(name, special) > 1


@settings(max_examples=300)
@given(st.text(st.characters()))
def test_any_text_as_tiktoken(text: str) -> None:
    for name in NAMES:
        assert tokens(name, text) == len(reference(name).encode_ordinary(text))


@settings(max_examples=200)
@given(st.text(st.characters(codec=None)))
def test_any_string_has_a_count(text: str) -> None:
    for name in NAMES:
        assert tokens(name, text) == len(reference(name).encode(text, disallowed_special=()))


SPACES = (" ", "  ", "\n", "\r\n", "\t", "\xa0", "\u3000", "\x1c")
LETTERS = ("a", "B", "s", "l", "L", "ſ", "é", "Б", "ǅ", "ʰ", "字", "\u0301")
RUNS = st.lists(st.sampled_from((*SPACES, *LETTERS, "'", "'s", "'ll", "7", "!", "/")))


@pytest.fixture
def short_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a few characters for a text, and for a chunk, of which tiktoken is given parts."""
    monkeypatch.setattr(tiktoken_encodings, "_BLOCK", 5)
    monkeypatch.setattr(tiktoken_encodings, "LONG", 3)
    monkeypatch.setattr(tiktoken_encodings, "WINDOW", 2)


@pytest.mark.usefixtures("short_is_long")
@settings(max_examples=500, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RUNS.map("".join) | st.text())
def test_parts_have_the_tokens_of_the_whole(text: str) -> None:
    for name in NAMES:
        ids = reference(name).encode_ordinary(text)
        assert tiktoken_encodings.encode(text, ENCODINGS[name]) == ids
        assert tiktoken_encodings.count(text, ENCODINGS[name]) == len(ids)


@pytest.mark.parametrize("repeated", ["don't", "it'll", "éé'll", "中'll", "字ABCDEFGc", "ǅa", "\n/", "/\n", "a\x1c\n'"])
@pytest.mark.parametrize("name", NAMES)
def test_a_text_without_a_place_to_cut(name: str, repeated: str) -> None:
    for before in range(7):
        text = "a" * before + repeated * (70_000 // len(repeated))
        assert tokens(name, text) == len(reference(name).encode_ordinary(text))


def _letters() -> str:
    return "".join(random.Random(7).choices("abcdefghijklmnopqrstuvwxyz", k=MILLION))


HOSTILE: dict[str, tuple[Callable[[], str], dict[str, int]]] = {
    # Counts of runs that tiktoken cannot take follow from its longest whitespace tokens and from
    # shorter runs; the others are tiktoken's own.
    "letter": (lambda: "a" * MILLION, {"o200k_base": 125_000, "cl100k_base": 125_000}),
    "spaces": (lambda: " " * MILLION, {"o200k_base": 7_813, "cl100k_base": 7_813, "r50k_base": MILLION}),
    "newlines": (lambda: "\n" * MILLION, {"o200k_base": 62_500, "cl100k_base": 31_250, "r50k_base": 500_000}),
    "tabs": (lambda: "\t" * MILLION, {"cl100k_base": 62_500}),
    "carets": (lambda: "^" * MILLION, {"cl100k_base": 250_000, "o200k_base": 125_000}),
    "emoji": (lambda: "😀" * (MILLION // 4), {}),
    "random letters": (_letters, {}),
    "Han": (lambda: "中文字符" * (MILLION // 12), {}),
    "capitals": (lambda: "A" * MILLION, {}),
    "marks": (lambda: "\u0301" * (MILLION // 2), {}),
    "apostrophes": (lambda: "'s" * (MILLION // 2), {}),
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("name", NAMES)
def test_hostile_text_has_its_right_count(name: str, kind: str) -> None:
    make, expected = HOSTILE[kind]
    text = make()
    counted = tokens(name, text)
    assert counted == expected.get(name, counted)
    assert counted == tiktoken_count(name, text)


def tiktoken_count(name: str, text: str) -> int:
    """tiktoken's count; where its pattern engine stops, of the text as the one chunk it is."""
    try:
        return len(reference(name).encode_ordinary(text))
    except BaseException as failure:
        if type(failure).__name__ != "PanicException":
            raise
        assert text.isspace()
        return len(reference(name)._encode_single_piece(text))


@pytest.mark.parametrize("name", ["o200k_base", "r50k_base"])
@pytest.mark.parametrize("space", [" ", "\u3000"])
@pytest.mark.parametrize(("before", "after"), [("a", "x"), ("!", "!"), ("a\n", "7"), ("", "\nx")])
def test_a_long_run_inside_text(name: str, space: str, before: str, after: str) -> None:
    """A million characters of whitespace count as runs that tiktoken can still do suggest: linearly."""
    longest = 1_024
    base, more = (tiktoken_count(name, before + space * (longest * n) + after) for n in (2, 3))
    text = before + space * (longest * 1_000) + after
    assert tokens(name, text) == base + (more - base) * 998


def test_two_long_runs() -> None:
    text = "a" + " " * 300_000 + "b\n" + "\t" * 400_000 + "\nc" + " " * 250_000
    for name in NAMES:
        assert tokens(name, text) == len(reference(name).encode_ordinary(text))


def test_published_cases(shared_json: Callable[[str], Any]) -> None:
    for case in shared_json("cases/12_cl100k.json")["cases"]:
        if "text" in case and "cl100k_base" in case["expected"]:
            assert tokens("cl100k_base", case["text"]) == case["expected"]["cl100k_base"]
            for name in ("o200k_base", "r50k_base"):
                assert tokens(name, case["text"]) == case["also"][name]


def test_reported_faults(shared_json: Callable[[str], Any]) -> None:
    """Every text count among the faults reported of other tools."""
    checked = 0
    for case in shared_json("cases/reported_faults.json")["cases"]:
        for text, counts in _text_counts(case):
            for name, expected in counts.items():
                if name in NAMES:
                    assert tokens(name, text) == expected, (case["id"], name)
                    checked += 1
    assert checked > 40


def _text_counts(case: dict[str, Any]) -> list[tuple[str, dict[str, int]]]:
    given, expected = case["input"], case["expected"]
    if case["area"] not in ("counter", "cli", "report"):
        return []
    if case["id"] == "tiktoken-82":
        return [("facture\udbc0 7", expected["count_with_replacement"])]
    if case["id"] == "tiktoken-195":
        runs = [{**given, "counts": expected["counts"]}, *expected["more"]]
        return [(run["text_repeat"][0] * run["text_repeat"][1], run["counts"]) for run in runs]
    if "texts" in given and isinstance(given["texts"], dict):
        return [(text, expected[key]) for key, text in given["texts"].items()]
    if "texts" in given:
        return [(text, expected[text]) for text in given["texts"]]
    text = given.get("text", given.get("stdin"))
    if text is None:
        return []
    return [(text, expected.get("counts") or expected["counts_as_plain_text"])]


def test_baselines_of_other_scripts(shared_json: Callable[[str], Any]) -> None:
    (case,) = (c for c in shared_json("cases/reported_faults.json")["cases"] if c["id"] == "langchainjs-11303")
    for key, text in case["input"]["texts"].items():
        expected = case["expected"][key]
        assert tokens("chars:4", text) == expected["chars_div_4_up"]
        assert tokens("words:1", text) == expected["whitespace_words"]


def test_real_files(shared_dir: Any, shared_json: Callable[[str], Any]) -> None:
    for row in shared_json("files/index.json")["rows"]:
        text = (shared_dir / "files" / row["file"]).read_bytes().decode()
        for name in ("o200k_base", "cl100k_base", "r50k_base"):
            assert tokens(name, text) == row[name], row["file"]


def test_the_same_text_in_many_languages(shared_json: Callable[[str], Any]) -> None:
    texts = shared_json("texts/udhr.json")["languages"]
    for language, parts in shared_json("texts/udhr_counts.json")["counts"].items():
        for part, field in (("article1", "text"), ("articles_1_30", "articles_1_30"), ("preamble", "preamble")):
            if part in parts and texts[language].get(field):
                for name in ("o200k_base", "cl100k_base", "r50k_base"):
                    assert tokens(name, texts[language][field]) == parts[part][name], (language, part)
