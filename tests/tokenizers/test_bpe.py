"""The tokenizer as a counter, and the options of training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tokengap.tokenizers import bpe
from tokengap.tokenizers.counter import Count, Counter
from tokengap.tokenizers.errors import TokengapError
from tokengap.tokenizers.registry import get_counter

TEXT = "low lower lowest slow slower"


def kept(tmp_path: Path, **options: Any) -> str:
    path = tmp_path / "town.bpe"
    bpe.save(bpe.train([TEXT], merges=5, **options), path)
    return f"bpe:{path}"


def test_counts_like_any_counter(tmp_path: Path) -> None:
    spec = kept(tmp_path)
    counter = get_counter(spec)
    assert isinstance(counter, Counter)
    fingerprint = bpe.load(spec.removeprefix("bpe:")).artefact.fingerprint
    assert counter.count("lower") == Count(2, spec, fingerprint, "exact")
    assert counter.count("") == Count(0, spec, fingerprint, "exact")
    assert counter.count("a\ud800").warnings == ("lone_surrogate",)
    assert counter.count("a\ud800").tokens == counter.count("a\ufffd").tokens == 4


def test_unknown_characters_are_reported(tmp_path: Path) -> None:
    counter = get_counter(kept(tmp_path, alphabet="characters", pretokenizer="words"))
    assert counter.count("low zoo\ud800").warnings == ("lone_surrogate", "unknown_characters")
    assert counter.count("low\nlow").warnings == ()


@pytest.mark.parametrize("spec", ["bpe", "bpe:"])
def test_a_file_is_needed(spec: str) -> None:
    with pytest.raises(TokengapError, match=r"such as bpe:town\.bpe"):
        get_counter(spec)


def test_no_such_file() -> None:
    with pytest.raises(TokengapError, match="cannot read the tokenizer"):
        get_counter("bpe:no-such-file.bpe")


@pytest.mark.parametrize(
    ("options", "size"),
    [
        ({"vocab_size": 256}, 256),
        ({"vocab_size": 258}, 258),
        ({"vocab_size": 260, "special_tokens": ["<a>", "<b>"]}, 260),
        ({"vocab_size": 258, "special_tokens": ["<a>", "<b>"]}, 258),
        ({"vocab_size": 100_000}, 256 + 11),
        ({"vocab_size": 10, "alphabet": "characters", "pretokenizer": "words"}, 10),
        ({"vocab_size": 9, "alphabet": "characters", "pretokenizer": "words", "special_tokens": ["<a>"]}, 9),
        ({"merges": 0}, 256),
    ],
)
def test_vocabulary_size_is_an_upper_bound(options: dict[str, Any], size: int) -> None:
    assert bpe.train([TEXT], **options).artefact.vocabulary_size == size


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "either a number of merges or a vocabulary size"),
        ({"merges": 1, "vocab_size": 300}, "either"),
        ({"merges": -1}, "from 0 to"),
        ({"merges": 10**8}, "from 0 to"),
        ({"vocab_size": 10**8}, "at most"),
        ({"vocab_size": 100}, "a vocabulary of 100 is too small: the 256 bytes of the alphabet take 256"),
        ({"vocab_size": 256, "special_tokens": ["<a>"]}, "and the special tokens take 257"),
        ({"vocab_size": 7, "alphabet": "characters"}, "the 8 characters of the alphabet, the unknown character take 9"),
        ({"merges": 1, "min_frequency": 0}, "at least 1"),
        ({"merges": 1, "alphabet": "letters"}, "no alphabet 'letters'"),
        ({"merges": 1, "special_tokens": [""]}, "different names"),
        ({"merges": 1, "special_tokens": ["<a>", "<a>"]}, "different names"),
        ({"merges": 1, "special_tokens": ["\ud800"]}, "valid Unicode"),
        ({"merges": 1, "pretokenizer": "spaces"}, "unknown pre-tokenizer"),
    ],
)
def test_options_that_cannot_be_met(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TokengapError, match=message):
        bpe.train([TEXT], **options)


def test_one_string_is_one_document() -> None:
    assert bpe.train("abab", merges=1).artefact == bpe.train(["abab"], merges=1).artefact


def test_surrogates_in_the_training_text_are_repaired_and_reported() -> None:
    artefact = bpe.train(["a\ud800"], merges=1).artefact
    assert artefact.training["warnings"] == ["lone_surrogate"]
    assert artefact.merges == bpe.train(["a\ufffd"], merges=1).artefact.merges


@pytest.mark.parametrize(
    ("documents", "options"),
    [
        (b"bytes", {"merges": 1}),
        ([b"bytes"], {"merges": 1}),
        (7, {"merges": 1}),
        (["a"], {"merges": "1"}),
        (["a"], {"merges": 1.0}),
        (["a"], {"merges": True}),
        (["a"], {"merges": 1, "special_tokens": "<|end|>"}),
        (["a"], {"merges": 1, "special_tokens": [7]}),
        (["a"], {"merges": 1, "pretokenizer": 7}),
    ],
)
def test_what_is_of_another_type_is_refused(documents: Any, options: dict[str, Any]) -> None:
    with pytest.raises(TokengapError):
        bpe.train(documents, **options)


@pytest.mark.parametrize("number", [True, 97.0, "97", None])
def test_what_is_no_id_is_refused(number: Any) -> None:
    with pytest.raises(TokengapError, match="an id is a whole number"):
        bpe.train(["a"], merges=0).decode([number])
