"""A user's own pattern: what it is rewritten to, and what is refused."""

from __future__ import annotations

import re

import pytest

from tokengap.tokenizers.errors import TokengapError
from tokengap.tokenizers.split_pattern import explicit, for_rust

SPACE = r"\x09-\x0d\x1c-\x20\u0085\u00a0\u1680\u2000-\u200a\u2028-\u2029\u202f\u205f\u3000"


@pytest.mark.parametrize(
    ("pattern", "written_out"),
    [
        ("[a-z]+|.", "[a-z]+|."),
        (r"\s+", f"[{SPACE}]+"),
        (r"[^\s,]", f"[^{SPACE},]"),
        (r"(a)|b", "(?:a)|b"),
        (r"(?i:'s|k)", "(?:'[sS\\u017f]|[kK\\u212a])"),
        (r"(?i:a(b)c)d", "(?:[aA](?:[bB])[cC])d"),
        (r"(?i:[sx])s", "(?:[sS\\u017fxX])s"),
        (r"[]x]+", r"[\]x]+"),
        (r"[^]x]+", r"[^\]x]+"),
        (r"\x{1F600}|\u{e9}|\(", r"\U0001f600|\u00e9|\("),
        (r"[\b]", r"[\b]"),
        ("^a|[$^]", r"\Aa|[$^]"),
        ("a$", r"a(?=\n?\Z)"),
    ],
)
def test_written_out(pattern: str, written_out: str) -> None:
    assert explicit(pattern) == written_out
    assert explicit(written_out) == written_out


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\w+", "Grüße_9"),
        (r"\W+", " ,\u0301"),
        (r"\d+", "09०"),
        (r"\D+", "ab"),
        (r"[\D\d]+", "a1"),
        (r"\p{L}\p{M}", "e\u0301"),
        (r"\P{L}+", "12"),
        (r"\p{^L}+", "12"),
        (r"[\p{Lu}\p{N}]+", "A1"),
        (r"\pN", "½"),
    ],
)
def test_shorthands_match(pattern: str, text: str) -> None:
    assert re.fullmatch(explicit(pattern), text)


def test_published_space_is_narrower() -> None:
    assert re.fullmatch(explicit(r"\s"), "\x1c")
    assert not re.fullmatch(explicit(r"\s", rust=True), "\x1c")


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "does not compile"),
        ("[a", "does not compile"),
        ("a++{2}", "does not compile"),
        ("", "nothing at all"),
        ("a*", "nothing at all"),
        ("a|(?=b)", "nothing at all"),
        (r"\Z", "nothing at all"),
        (r"\bword", r"\\b"),
        (r"(?x) a", "flag"),
        (r"(?P<n>a)", "flag"),
        (r"(a)\1", "back"),
        (r"\p{Greek}", "unknown class"),
        (r"\p{", "unknown class"),
        (r"[[:alpha:]]", "inside brackets"),
        (r"(?i:é)", "ASCII"),
        (r"(?i:[a-z])", "ASCII"),
        (r"\x{110000}", "does not exist"),
        ("a\ud800", "valid Unicode"),
        ("a" * 200_001, "at most"),
        ("(" * 5000 + "a" + ")" * 5000, "does not compile"),
    ],
)
def test_refused(pattern: str, message: str) -> None:
    with pytest.raises(TokengapError, match=message):
        explicit(pattern)


def test_for_rust() -> None:
    assert for_rust(explicit(r"\s++$|a", rust=True)).endswith(r"]++\z|a")
    assert for_rust(r"[\x20\u00e9-\U0001f600]|\\u0041|\-") == r"[\x{20}\x{e9}-\x{1f600}]|\\u0041|\-"
