"""The classes of Unicode 16, as tiktoken behaves and as this interpreter agrees on older characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
import tiktoken

from tokengap.tokenizers.unicode_classes import classes, complement, of, union, written

EVERY_CHARACTER = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
RUST_NAMES = {"white_space": r"\s", "any": r"[\s\S]"}
ASSIGNED_HERE = {character for character in EVERY_CHARACTER if unicodedata.category(character) != "Cn"}


def members(name: str) -> set[str]:
    characters = (map(chr, range(first, last + 1)) for first, last in classes()[name])
    return {character for run in characters for character in run if not "\ud800" <= character <= "\udfff"}


def matched_by_tiktoken(pattern: str) -> set[str]:
    """tiktoken drops what its pattern does not match: one call over all characters probes each of them."""
    every_byte = {bytes([value]): value for value in range(256)}
    probe = tiktoken.Encoding("probe", pat_str=pattern, mergeable_ranks=every_byte, special_tokens={})
    return set(probe.decode_bytes(probe.encode_ordinary(EVERY_CHARACTER)).decode())


@pytest.mark.parametrize("name", [name for name in classes() if name not in ("word", "digit", "space")])
def test_class_is_what_tiktoken_takes_it_for(name: str) -> None:
    assert members(name) == matched_by_tiktoken(RUST_NAMES.get(name, rf"\p{{{name}}}"))


@pytest.mark.parametrize(("name", "shorthand"), [("word", r"\w"), ("digit", r"\d"), ("space", r"\s")])
def test_shorthand_is_python_s_on_every_character_python_knows(name: str, shorthand: str) -> None:
    pattern = re.compile(shorthand)
    here = {character for character in ASSIGNED_HERE if pattern.match(character)}
    assert members(name) & ASSIGNED_HERE == here


def test_published_probe_of_letters_marks_and_numbers(shared_json: Callable[[str], Any]) -> None:
    probed = shared_json("cases/unicode16_classes_probed.json")
    for name, parts in (("LM", ("L", "M")), ("N", ("N",))):
        ranges = union(*(classes()[part] for part in parts))
        assert [[first, last] for first, last in ranges if first > 0x7F] == probed[name]


def test_case_folding_that_contractions_need() -> None:
    for letter in "sdmtlver":
        assert matched_by_tiktoken(f"(?i:{letter})") - {letter, letter.upper()} == ({"ſ"} if letter == "s" else set())


def test_complement_and_limit() -> None:
    assert complement(complement(classes()["L"])) == classes()["L"]
    assert complement(classes()["any"]) == ()
    assert written(classes()["Nd"], 0x7F) == "0-9"
    assert re.compile(f"[{written(of('^-]'))}]+").fullmatch("]-^")
