from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tokengap.tokenizers.errors import TokengapError, UnknownNameError
from tokengap.tokenizers.models import find_model, models
from tokengap.tokenizers.registry import get_counter


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("gpt-5", "o200k_base"),
        ("GPT-5", "o200k_base"),
        ("gpt-4o-2024-08-06", "o200k_base"),
        ("gpt-5.2-20251211", "o200k_base"),
        ("gpt-4-0613", "cl100k_base"),
        ("gpt-3.5-turbo-0125", "cl100k_base"),
        ("openai/gpt-4o", "o200k_base"),
        ("azure/gpt-35-turbo", "cl100k_base"),
        ("ft:gpt-4o:acme::x", "o200k_base"),
        ("ft:gpt-4o-2024-08-06:acme::x", "o200k_base"),
        ("ft:gpt-3.5-turbo:acme", "cl100k_base"),
        ("gpt-oss-120b", "o200k_harmony"),
        ("gpt2", "r50k_base"),
        ("text-davinci-edit-001", "p50k_edit"),
        ("gpt-6-sol", "o200k_base"),
    ],
)
def test_model_names(name: str, encoding: str) -> None:
    assert find_model(name).encoding == encoding


@pytest.mark.parametrize(
    "name", ["gpt4", "claude-x", "gpt-99-super", "gpt-4o-2024", "gpt-4ox", "ft:", "nobody/gpt-4o", " gpt-4o"]
)
def test_unknown_models_are_refused(name: str) -> None:
    with pytest.raises(UnknownNameError):
        find_model(name)


def test_suggestions() -> None:
    with pytest.raises(UnknownNameError, match="gpt-4") as error:
        find_model("gpt4")
    assert "gpt-4" in error.value.suggestions


def test_an_assumed_tokenizer_says_so() -> None:
    count = get_counter("model:gpt-6-sol").count("Hello")
    assert count.kind == "heuristic"
    assert "assumed_tokenizer" in count.warnings
    assert count.interval is None
    assert get_counter("model:gpt-5").count("Hello").kind == "exact"


def test_model_needs_a_name() -> None:
    with pytest.raises(TokengapError, match="needs a name"):
        get_counter("model:")


def test_published_models_are_tiktokens() -> None:
    from tiktoken.model import encoding_name_for_model

    for model in models().values():
        if model.published:
            expected = encoding_name_for_model(model.name)
            assert model.encoding == {"gpt2": "r50k_base"}.get(expected, expected)


def test_reported_prefix_fault(shared_json: Callable[[str], Any]) -> None:
    (case,) = (c for c in shared_json("cases/reported_faults.json")["cases"] if c["id"] == "headroom-2108")
    for name, encoding in case["expected"]["encodings"].items():
        assert find_model(name).encoding == encoding
