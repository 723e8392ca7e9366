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
        (" gpt-5\n", "o200k_base"),
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
        ("azure/us/gpt-4o", "o200k_base"),
        ("openrouter/openai/gpt-4.1", "o200k_base"),
        ("gpt-5.6-sol", "o200k_base"),
        ("openai.gpt-oss-120b-1:0", "o200k_harmony"),
        ("curie:ft-acme-2023-01-01", "r50k_base"),
    ],
)
def test_model_names(name: str, encoding: str) -> None:
    assert find_model(name).encoding == encoding


@pytest.mark.parametrize(
    "name",
    [
        *("gpt4", "claude-x", "gpt-99-super", "gpt-4o-2024", "gpt-4ox", "ft:", "nobody/gpt-4o", "gpt -4o"),
        *("", "openai/", "gpt-5.6", "gpt-4-1", "claude-opus-4-99", "gpt-4o-2024-13-01", "us.anthropic.claude-x-v1:0"),
        *("gpt-4o" * 1000, "/" * 1000, "ft:" * 1000, "nobody.gpt-4o", "models/"),
    ],
)
def test_unknown_models_are_refused(name: str) -> None:
    with pytest.raises(UnknownNameError):
        find_model(name)


@pytest.mark.parametrize(
    ("name", "model", "family"),
    [
        ("models/gemini-2.5-pro", "gemini-2.5-pro", "google"),
        ("publishers/google/models/gemini-2.5-pro", "gemini-2.5-pro", "google"),
        ("gemini/gemini-2.5-flash-preview-05-20", "gemini-2.5-flash", "google"),
        ("gemini-1.5-pro-002", "gemini-1.5-pro", "google"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5", "anthropic"),
        ("bedrock/us-east-1/anthropic.claude-3-opus-20240229-v1:0:200k", "claude-3-opus", "anthropic"),
        ("arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-opus-4-6-v1", "claude-opus-4-6", "anthropic"),
        ("vertex_ai/claude-opus-4-1@20250805", "claude-opus-4-1", "anthropic"),
        (
            "projects/p/locations/us-east5/publishers/anthropic/models/claude-3-5-sonnet-v2@20241022",
            "claude-3-5-sonnet-v2",
            "anthropic",
        ),
        ("anthropic/claude-opus-4.5:batch", "claude-opus-4-5", "anthropic"),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet", "anthropic"),
        ("Meta-Llama/Llama-3.3-70B-Instruct", "llama-3.3-70b-instruct", "meta"),
        ("meta.llama3-1-70b-instruct-v1:0", "llama3-1-70b-instruct", "meta"),
        ("mistral-large-2411", "mistral-large", "mistral"),
        ("mistral.mistral-7b-instruct-v0:2", "mistral-7b-instruct", "mistral"),
        ("deepseek/deepseek-chat", "deepseek-chat", "deepseek"),
        ("qwen/qwen3-32b", "qwen3-32b", "qwen"),
        ("x-ai/grok-4-0709", "grok-4", "xai"),
        ("amazon.nova-pro-v1:0", "nova-pro", "amazon"),
    ],
)
def test_models_of_other_families_have_an_assumed_tokenizer(name: str, model: str, family: str) -> None:
    found = find_model(name)
    assert (found.name, found.family, found.published) == (model, family, False)
    count = get_counter(f"model:{name}").count("Hello")
    assert (count.kind, count.interval, count.tokenizer) == ("heuristic", None, found.encoding)
    assert set(count.warnings) == {"assumed_tokenizer", "uncalibrated"}


def test_a_release_of_its_own_wins_over_its_base() -> None:
    assert find_model("gpt-3.5-turbo-0301").name == "gpt-3.5-turbo-0301"
    assert find_model("gpt-3.5-turbo-0125").name == "gpt-3.5-turbo"


def test_every_name_finds_itself() -> None:
    for name, model in models().items():
        assert find_model(name) is model


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


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("gpt-5.6", "gpt-5.6-sol"),
        ("gpt-4o-foo", "gpt-4o"),
        ("openai/gpt-4o-foo", "gpt-4o"),
        ("GPT-4o-mini-foo", "gpt-4o-mini"),
        ("claude-opus-4-99", "claude-opus-4"),
    ],
)
def test_the_nearest_names_are_suggested_each_once(name: str, first: str) -> None:
    with pytest.raises(UnknownNameError) as error:
        find_model(name)
    assert error.value.suggestions[0] == first
    assert len(set(error.value.suggestions)) == len(error.value.suggestions) <= 3
    assert repr(name) in str(error.value)
