"""Merges: identical to recounting everything, whatever the ties, the alphabet and the rule."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokengap.tokenizers.bpe_training import Alphabet, Learned, learn
from tokengap.tokenizers.pretokenize import custom, pretokenizer
from tokengap.tokenizers.split_rules import RULES

WORDS = st.lists(st.text(alphabet="ab", min_size=1, max_size=9), max_size=12).map(" ".join)
LINES = st.text(alphabet="aaabbc  \n.é😀", max_size=80)
CUSTOM = custom(r"[ab]+|\s")


Pair = tuple[int, int]


def replaced(ids: Sequence[int], pair: Pair, new: int) -> tuple[int, ...]:
    out: list[int] = []
    position = 0
    while position < len(ids):
        if tuple(ids[position : position + 2]) == pair:
            out.append(new)
            position += 2
        else:
            out.append(ids[position])
            position += 1
    return tuple(out)


def recounted_pairs(chunks: Mapping[tuple[int, ...], int]) -> Counter[Pair]:
    """Every pair's weighted count, in order of first occurrence."""
    pairs: Counter[Pair] = Counter()
    for chunk, times in chunks.items():
        for pair in pairwise(chunk):
            pairs[pair] += times
    return pairs


def recounted_merges(
    chunks: Mapping[tuple[int, ...], int], merges: int, first: int, min_frequency: int = 1
) -> list[tuple[int, int, int, int]]:
    """Rows of left, right, count, tied: the documents' program, slow and plain on purpose."""
    learned: list[tuple[int, int, int, int]] = []
    while len(learned) < merges and (pairs := recounted_pairs(chunks)):
        best = max(pairs, key=pairs.__getitem__)  # the first of equals
        count = pairs[best]
        if count < min_frequency:
            break
        new = first + len(learned)
        learned.append((*best, count, sum(other == count for other in pairs.values())))
        chunks = {replaced(chunk, best, new): times for chunk, times in chunks.items()}
    return learned


def learned(text: str, rule: str, merges: int = 1000, **options: Any) -> Learned:
    split = CUSTOM if rule == "custom" else pretokenizer(rule)
    return learn(Counter(split.chunks(text)), merges, **options)


def rows(found: Learned) -> list[tuple[int, int, int, int]]:
    return [(merge.left, merge.right, merge.count, merge.tied) for merge in found.merges]


def recounted(text: str, rule: str, alphabet: Alphabet, **options: Any) -> list[tuple[int, int, int, int]]:
    split = CUSTOM if rule == "custom" else pretokenizer(rule)
    chunks = Counter(split.chunks(text))
    if alphabet == "bytes":
        return recounted_merges({tuple(chunk.encode()): times for chunk, times in chunks.items()}, 1000, 256, **options)
    symbols = sorted(set("".join(chunks)))
    spelled = {tuple(map(symbols.index, chunk)): times for chunk, times in chunks.items()}
    return recounted_merges(spelled, 1000, len(symbols), **options)


@pytest.mark.parametrize("alphabet", ["bytes", "characters"])
@pytest.mark.parametrize("rule", [*RULES, "custom"])
@given(text=WORDS | LINES)
@settings(max_examples=60)
def test_same_merges_as_recounting(rule: str, alphabet: Alphabet, text: str) -> None:
    assert rows(learned(text, rule, alphabet=alphabet)) == recounted(text, rule, alphabet)


@given(text=WORDS, least=st.integers(1, 4))
def test_least_frequency(text: str, least: int) -> None:
    found = learned(text, "workbook", min_frequency=least)
    assert rows(found) == recounted(text, "workbook", "bytes", min_frequency=least)


@given(text=st.text(alphabet="ab", max_size=200))
def test_one_long_run_with_overlaps(text: str) -> None:
    assert rows(learned(text, "none")) == recounted(text, "none", "bytes")


@given(text=LINES, merges=st.integers(0, 30))
def test_fewer_merges_are_a_prefix_of_more(text: str, merges: int) -> None:
    all_of_them = learned(text, "gpt2")
    assert learned(text, "gpt2", merges).merges == all_of_them.merges[:merges]
    assert len(all_of_them.tokens) == len(all_of_them.merges) + 1
    assert all_of_them.tokens[0] == len(text.encode())


@pytest.mark.parametrize(
    ("text", "merges"),
    [
        ("bbbaaaddddcccc", ["dd", "cc", "bb", "aa"]),
        ("aaabbbccccdddd", ["cc", "dd", "aa", "bb"]),
        ("aaabdaaabac", ["aa", "aaa", "aaab"]),
        ("", []),
        ("a", []),
        ("\n", []),
    ],
)
def test_order_of_the_text_breaks_ties(text: str, merges: list[str]) -> None:
    found = learned(text, "none", max(len(merges), 1))
    pieces = [bytes([value]) for value in range(256)]
    for merge in found.merges:
        pieces.append(pieces[merge.left] + pieces[merge.right])
    assert [piece.decode() for piece in pieces[256:]] == merges


def test_characters_are_numbered_by_code_point() -> None:
    found = learned("zß zß", "words", alphabet="characters")
    assert found.symbols == ("z", "ß")
    assert rows(found) == [(0, 1, 2, 1)]


def test_progress_is_reported_and_ends_with_what_was_learned() -> None:
    calls: list[tuple[int, int]] = []
    found = learn({"abcdefghij" * 40: 1}, 1000, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (len(found.merges), len(found.merges))
    assert calls == sorted(calls)


PROGRAM = """
import sys
from collections import Counter
from tokengap.tokenizers.bpe_training import learn
from tokengap.tokenizers.pretokenize import pretokenizer
from tokengap.tokenizers.split_rules import RULES
text = sys.stdin.read()
for rule in RULES:
    for alphabet in ("bytes", "characters"):
        for merge in learn(Counter(pretokenizer(rule).chunks(text)), 300, alphabet=alphabet).merges:
            print(rule, alphabet, merge)
"""


def test_hash_seed_changes_nothing() -> None:
    text = Path(json.__file__).with_name("encoder.py").read_text(encoding="utf-8")
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            input=text.encode(),
            capture_output=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONUTF8": "1"},
        ).stdout
        for seed in ("0", "1", "random")
    }
    assert len(outputs) == 1
    printed = outputs.pop().decode().splitlines()
    assert printed == [
        f"{rule} {alphabet} {merge}"
        for rule in RULES
        for alphabet in ("bytes", "characters")
        for merge in learned(text, rule, 300, alphabet=alphabet).merges
    ]


def test_real_text_against_recounting() -> None:
    text = Path(json.__file__).with_name("decoder.py").read_text(encoding="utf-8")
    assert rows(learned(text, "o200k", 150)) == recounted(text, "o200k", "bytes")[:150]


def test_whole_shakespeare(shared_dir: Path, shared_json: Callable[[str], Any]) -> None:
    text = (shared_dir / "texts/tinyshakespeare.txt").read_bytes().decode()
    case = shared_json("cases/16_full_shakespeare.json")["cases"][0]
    expected = case["expected"]
    chunks = Counter(pretokenizer("workbook").chunks(text))
    assert (chunks.total(), len(chunks)) == (expected["chunks_total"], expected["chunks_distinct"])
    found = learn(chunks, 500)
    pairs = [[merge.left, merge.right] for merge in found.merges]
    assert pairs == case["merges"]
    assert hashlib.sha256(json.dumps(pairs, separators=(",", ":")).encode()).hexdigest() == expected["merges_sha256"]
    assert found.tokens[-1] == expected["tokens"]
    assert sum(merge.tied > 1 for merge in found.merges) == expected["merges_with_a_tie"]
