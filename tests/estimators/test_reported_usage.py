"""Usage objects mean what their providers say they mean."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.estimators.cost import price_report
from tokengap.estimators.reported_usage import FORMATS, read_usage
from tokengap.estimators.usage import Usage
from tokengap.tokenizers.errors import TokengapError

NOON = "2026-11-30T12:00:00Z"


@pytest.mark.parametrize(
    ("report", "format", "usage"),
    [
        (
            {
                "prompt_tokens": 2006,
                "completion_tokens": 300,
                "total_tokens": 2306,
                "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": 0},
                "completion_tokens_details": {
                    "reasoning_tokens": 100,
                    "audio_tokens": 0,
                    "accepted_prediction_tokens": 20,
                    "rejected_prediction_tokens": 5,
                },
            },
            "openai-chat",
            Usage(input=2006, output=300, cache_read=1920, reasoning=100),
        ),
        ({"prompt_tokens": 8, "total_tokens": 8}, "openai-chat", Usage(input=8)),
        (
            {
                "input_tokens": 36,
                "input_tokens_details": {"cached_tokens": 30, "cache_write_tokens": 6},
                "output_tokens": 87,
                "output_tokens_details": {"reasoning_tokens": 80},
                "total_tokens": 123,
            },
            "openai-responses",
            Usage(input=36, output=87, cache_read=30, cache_write=6, reasoning=80),
        ),
        (
            {
                "input_tokens": 119,
                "input_token_details": {
                    "text_tokens": 19,
                    "audio_tokens": 100,
                    "cached_tokens": 64,
                    "cached_tokens_details": {"text_tokens": 4, "audio_tokens": 60},
                },
                "output_tokens": 30,
                "output_token_details": {"text_tokens": 10, "audio_tokens": 20},
                "total_tokens": 149,
            },
            "openai-responses",
            Usage(
                input=119,
                output=30,
                cache_read=64,
                input_audio=100,
                output_audio=20,
                cache_read_audio=60,
                cache_read_image=0,
            ),
        ),
        (
            {
                "input_tokens": 1000,
                "cache_creation_input_tokens": 6000,
                "cache_read_input_tokens": 3000,
                "cache_creation": {"ephemeral_5m_input_tokens": 2000, "ephemeral_1h_input_tokens": 4000},
                "output_tokens": 255,
                "output_tokens_details": {"thinking_tokens": 50},
                "server_tool_use": {"web_search_requests": 2, "web_fetch_requests": 3},
                "service_tier": "standard",
            },
            "anthropic",
            Usage(
                input=10_000,
                output=255,
                cache_read=3000,
                cache_write=6000,
                cache_write_1h=4000,
                reasoning=50,
                web_searches=2,
            ),
        ),
        (
            {
                "promptTokenCount": 1000,
                "cachedContentTokenCount": 400,
                "candidatesTokenCount": 50,
                "thoughtsTokenCount": 70,
                "toolUsePromptTokenCount": 30,
                "totalTokenCount": 1150,
                "promptTokensDetails": [
                    {"modality": "TEXT", "tokenCount": 742},
                    {"modality": "IMAGE", "tokenCount": 158},
                    {"modality": "DOCUMENT", "tokenCount": 100},
                ],
                "cacheTokensDetails": [{"modality": "TEXT", "tokenCount": 400}],
            },
            "gemini",
            Usage(
                input=1030,
                output=120,
                cache_read=400,
                reasoning=70,
                input_image=258,
                cache_read_audio=0,
                cache_read_image=0,
                cache_read_video=0,
            ),
        ),
        ({"prompt_token_count": 5, "candidates_token_count": 2}, "gemini", Usage(input=5, output=2)),
        ({"input": 5, "output": 2, "cache_read": 3}, "tokengap", Usage(input=5, output=2, cache_read=3)),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 15,
                "prompt_cache_hit_tokens": 4,
                "prompt_cache_miss_tokens": 6,
            },
            "openai-chat",
            Usage(input=10, output=5, cache_read=4),
        ),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 115,
                "completion_tokens_details": {"reasoning_tokens": 100},
            },
            "openai-chat",
            Usage(input=10, output=105, reasoning=100),
        ),
    ],
)
def test_read_usage(report: dict[str, Any], format: str, usage: Usage) -> None:
    read = read_usage(report)
    assert (read.format, read.usage) == (format, usage)
    assert read_usage(report, format).usage == usage
    assert (read.variant, read.model) == (None, None)


def test_reasoning_beside_the_output_is_warned_of() -> None:
    details = {"completion_tokens_details": {"reasoning_tokens": 100}}
    read = read_usage({"prompt_tokens": 10, "completion_tokens": 5, **details}, provider="x-ai")
    assert read.usage.output == 105
    assert "reasoning_beside_output" in read.warnings[0]
    assert read_usage({"prompt_tokens": 10, "completion_tokens": 500, **details}).usage.output == 500
    whole = {"model": "grok-4", "usage": {"prompt_tokens": 10, "completion_tokens": 5, **details}}
    assert read_usage(whole).usage.output == 105


@pytest.mark.parametrize(
    ("response", "model", "variant"),
    [
        (
            {
                "id": "x",
                "model": "gpt-5-2025-08-07",
                "service_tier": "flex",
                "usage": {"prompt_tokens": 1, "completion_tokens": 1},
            },
            "gpt-5-2025-08-07",
            "flex",
        ),
        (
            {"model": "gpt-5", "service_tier": "default", "usage": {"prompt_tokens": 1, "completion_tokens": 1}},
            "gpt-5",
            None,
        ),
        (
            {
                "model": "claude-opus-4-5",
                "usage": {
                    "input_tokens": 1,
                    "output_tokens": 1,
                    "cache_read_input_tokens": 0,
                    "service_tier": "batch",
                },
            },
            "claude-opus-4-5",
            "batch",
        ),
        (
            {"modelVersion": "gemini-2.5-pro", "usageMetadata": {"promptTokenCount": 1, "trafficType": "ON_DEMAND"}},
            "gemini-2.5-pro",
            None,
        ),
    ],
)
def test_a_whole_response_names_model_and_tier(response: dict[str, Any], model: str, variant: str | None) -> None:
    read = read_usage(response)
    assert (read.model, read.variant) == (model, variant)
    result = price_report(response, as_of=NOON)
    assert (result.status, result.model, result.variant) == ("priced", model, variant)


def test_a_tier_that_has_no_price_is_refused() -> None:
    response = {"model": "gpt-5", "service_tier": "scale", "usage": {"prompt_tokens": 1, "completion_tokens": 1}}
    with pytest.raises(TokengapError, match="service_tier: no price is known for 'scale'"):
        price_report(response)
    with pytest.raises(TokengapError, match="contradicts the variant 'batch'"):
        price_report(response | {"service_tier": "flex"}, variant="batch")


def test_a_region_is_warned_of() -> None:
    report = {"input_tokens": 1, "output_tokens": 1, "cache_read_input_tokens": 0, "inference_geo": "us"}
    assert any("regional_price" in warning for warning in read_usage(report).warnings)
    assert not read_usage(report | {"inference_geo": "global"}).warnings


@pytest.mark.parametrize(
    ("report", "message"),
    [
        (None, "an object is needed"),
        ([], "an object is needed"),
        ({}, "usage is empty"),
        ({"usage": None}, "usage is null, not an object"),
        ({"usage": 3}, "not an object"),
        ({"prompt_tokens": 1, "input_tokens": 1}, "looks like openai-chat and openai-responses"),
        (
            {"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": 3, "total_tokens": 10},
            "looks like anthropic and openai-responses",
        ),
        ({"completion_tokens": 1}, "usage.prompt_tokens is missing"),
        ({"prompt_tokens": None, "completion_tokens": 1}, "usage.prompt_tokens is missing"),
        ({"prompt_tokens": -1}, "usage.prompt_tokens is -1"),
        ({"prompt_tokens": 1.5}, "usage.prompt_tokens is 1.5"),
        ({"prompt_tokens": "7"}, "usage.prompt_tokens is '7'"),
        ({"prompt_tokens": True}, "usage.prompt_tokens is true"),
        ({"prompt_tokens": float("nan")}, "usage.prompt_tokens is NaN"),
        ({"prompt_tokens": float("inf")}, "usage.prompt_tokens is Infinity"),
        ({"prompt_tokens": 10**30}, "usage.prompt_tokens is 1000"),
        ({"prompt_tokens": 1, "prompt_tokens_details": 3}, "usage.prompt_tokens_details is 3, not an object"),
        ({"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": -3}}, "details.cached_tokens is -3"),
        ({"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 3}}, "contradictory"),
        ({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 3}, "total_tokens is 3"),
        ({"prompt_tokens": 1, "prompt_cache_hit_tokens": 1, "prompt_cache_miss_tokens": 1}, "prompt_cache_hit_tokens"),
        ({"prompt_tokens": 1, "prompt_tokens_details": {"video_tokens": 3}}, r"details\.video_tokens is a count"),
        ({"prompt_tokens": 1, "num_sources_used": 3}, "may be billed"),
        (
            {
                "input_tokens": 1,
                "cache_creation_input_tokens": 5,
                "cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 1},
            },
            "adds up to 2",
        ),
        ({"promptTokenCount": 5, "totalTokenCount": 6}, "its parts add up to 5"),
        ({"promptTokenCount": 5, "promptTokensDetails": {}}, "not a list of objects"),
        ({"promptTokenCount": 5, "promptTokensDetails": [{"modality": "SMELL", "tokenCount": 5}]}, "not known"),
        ({"promptTokenCount": 5, "promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 6}]}, "contradictory"),
        ({"model": 3, "usage": {"prompt_tokens": 1}}, "model is 3"),
    ],
)
def test_what_cannot_be_is_refused(report: Any, message: str) -> None:
    with pytest.raises(TokengapError, match=message):
        read_usage(report)


def test_what_is_not_read_is_said() -> None:
    read = read_usage(
        {
            "prompt_tokens": 1,
            "completion_tokens": 0,
            "cost": 0.01,
            "total_time": 0.5,
            "note": "x",
            "empty": {},
            "zero": 0,
        }
    )
    assert read.warnings == ("not_read: usage.cost", "not_read: usage.total_time", "not_read: usage.note")


def test_unknown_format_is_refused() -> None:
    with pytest.raises(TokengapError, match="openai-chat, openai-responses"):
        read_usage({"prompt_tokens": 1}, "openai")


COUNTS = st.integers(0, 10**9)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_same_call_costs_the_same_in_each_format(fresh: int, cached: int, text: int, reasoning: int) -> None:
    """The providers differ in where they put cached and reasoning tokens, not in what a call was."""
    input, output = fresh + cached, text + reasoning
    reports: dict[str, dict[str, Any]] = {
        "openai-chat": {
            "prompt_tokens": input,
            "completion_tokens": output,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        },
        "openai-responses": {
            "input_tokens": input,
            "output_tokens": output,
            "input_tokens_details": {"cached_tokens": cached},
            "output_tokens_details": {"reasoning_tokens": reasoning},
        },
        "anthropic": {
            "input_tokens": fresh,
            "cache_read_input_tokens": cached,
            "output_tokens": output,
            "output_tokens_details": {"thinking_tokens": reasoning},
        },
        "gemini": {
            "promptTokenCount": input,
            "cachedContentTokenCount": cached,
            "candidatesTokenCount": text,
            "thoughtsTokenCount": reasoning,
        },
        "tokengap": {"input": input, "output": output, "cache_read": cached, "reasoning": reasoning},
    }
    assert set(reports) == set(FORMATS)
    totals = {price_report(report, "gpt-5", format=name, as_of=NOON).total for name, report in reports.items()}
    (total,) = totals
    assert total is not None
    expected = Decimal("1.25") * fresh + Decimal("0.125") * cached + 10 * Decimal(output)
    assert total.amount == expected / 10**6


KEYS = """usage prompt_tokens input_tokens completion_tokens prompt_tokens_details cached_tokens promptTokenCount
promptTokensDetails modality tokenCount model service_tier cache_creation total_tokens x"""
LEAVES = st.none() | st.booleans() | COUNTS | st.floats() | st.text()
REPORTS = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(KEYS.split()), inner))


@given(REPORTS)
def test_any_object_is_read_or_refused(report: Any) -> None:
    try:
        read = read_usage(report)
    except TokengapError:
        return
    assert read.usage.input >= read.usage.cache_read


@pytest.mark.parametrize(
    ("report", "warned"),
    [
        ({"prompt_tokens": 5}, True),
        ({"input_tokens": 5}, True),
        ({"input_tokens": 5, "cache_read_input_tokens": 0}, True),
        ({"promptTokenCount": 5}, True),
        ({"prompt_tokens": 5, "total_tokens": 5}, False),  # of an embedding
        ({"prompt_tokens": 5, "completion_tokens": 0}, False),
        ({"promptTokenCount": 5, "totalTokenCount": 5}, False),
    ],
)
def test_a_usage_without_output_is_warned_of(report: dict[str, int], warned: bool) -> None:
    read = read_usage(report)
    assert read.usage.output == 0
    assert any(warning.startswith("no_output: ") for warning in read.warnings) is warned


@pytest.mark.parametrize(
    ("given", "reported", "warned"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06", False),
        ("openai/gpt-4o", "gpt-4o", False),
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929", False),
        ("gpt-4o-mini", "gpt-4o-2024-08-06", True),
        ("gpt-4o", "my-deployment", True),
    ],
)
def test_a_report_of_another_model_is_warned_of(given: str, reported: str, warned: bool) -> None:
    report = {"model": reported, "usage": {"prompt_tokens": 5, "completion_tokens": 1}}
    result = price_report(report, given)
    assert result.model == given
    assert any(warning.startswith("model_differs: ") for warning in result.warnings) is warned


SEARCH = {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "x"}}
RESPONSE = {"model": "gpt-5", "usage": {"input_tokens": 1000, "output_tokens": 100, "total_tokens": 1100}}


def test_the_web_searches_of_a_whole_response_are_priced() -> None:
    """Two searches at 10 USD a thousand, beside 1,000 tokens in (1.25 a million) and 100 out (10)."""
    opened = {"type": "web_search_call", "action": {"type": "open_page", "url": "https://x.example"}}
    response = {**RESPONSE, "output": [SEARCH, {"type": "reasoning"}, opened, {"type": "web_search_call"}]}
    result = price_report(response, as_of=NOON)
    assert result.usage.web_searches == 2
    assert result.total is not None
    assert result.total.amount == Decimal("0.02225")


@pytest.mark.parametrize(
    ("response", "warning"),
    [
        ({**RESPONSE, "output": [{"type": "file_search_call"}]}, "file_search_call"),
        (
            {
                "candidates": [{"groundingMetadata": {"webSearchQueries": ["a", "b"]}}],
                "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 1, "totalTokenCount": 6},
            },
            "grounded in web searches",
        ),
        (
            {
                "choices": [{"message": {"annotations": [{"type": "url_citation", "url_citation": {"url": "x"}}]}}],
                "usage": {"prompt_tokens": 5, "completion_tokens": 1},
            },
            "cites web pages",
        ),
    ],
)
def test_what_is_billed_beside_the_tokens_is_warned_of(response: dict[str, Any], warning: str) -> None:
    (found,) = read_usage(response).warnings
    assert found.startswith("not_priced: ")
    assert warning in found


@pytest.mark.parametrize(
    ("details", "problem"),
    [
        ({"text_tokens": 50, "audio_tokens": 60}, "text, audio and image are 110 tokens, of 100"),
        ({"text_tokens": 50}, "text, audio and image are 50 tokens, of 100"),
        ({"rejected_prediction_tokens": 200}, "200 tokens were predicted, of 100"),
        ({"accepted_prediction_tokens": 60, "rejected_prediction_tokens": 60}, "120 tokens were predicted, of 100"),
    ],
)
def test_parts_that_are_not_those_of_the_whole(details: dict[str, int], problem: str) -> None:
    report = {"prompt_tokens": 10, "completion_tokens": 100, "completion_tokens_details": details}
    with pytest.raises(TokengapError, match=problem):
        read_usage(report)


@pytest.mark.parametrize(
    "details",
    [
        {"text_tokens": 40, "audio_tokens": 60},
        {"text_tokens": 100, "reasoning_tokens": 30},
        {"text_tokens": 70, "reasoning_tokens": 30},
        {"audio_tokens": 60},
        {"text_tokens": 0, "reasoning_tokens": 100},
    ],
)
def test_parts_that_are(details: dict[str, int]) -> None:
    report = {"prompt_tokens": 10, "completion_tokens": 100, "completion_tokens_details": details}
    assert read_usage(report).usage.output == 100


@pytest.mark.parametrize("where", ["promptTokensDetails", "candidatesTokensDetails", "cacheTokensDetails"])
def test_gemini_s_kinds_are_no_more_than_their_whole(where: str) -> None:
    report = {"promptTokenCount": 10, "candidatesTokenCount": 10, "cachedContentTokenCount": 10}
    kinds = [{"modality": "TEXT", "tokenCount": 6}, {"modality": "AUDIO", "tokenCount": 5}]
    with pytest.raises(TokengapError, match=f"{where} add up to 11 tokens, more than 10"):
        read_usage(report | {where: kinds})


@pytest.mark.parametrize(
    ("extra", "path"),
    [
        ({"foo": {"bar_tokens": 5}}, r"usage\.foo\.bar_tokens"),
        ({"foo": [{"n": 0}, {"bar": {"n": 5}}]}, r"usage\.foo\[1\]\.bar\.n"),
        ({"prompt_tokens_details": {"new": {"n": 1}}}, r"usage\.prompt_tokens_details\.new\.n"),
    ],
)
def test_an_unknown_count_inside_an_unknown_object_is_refused(extra: dict[str, Any], path: str) -> None:
    with pytest.raises(TokengapError, match=f"{path} is a count that is not known here"):
        read_usage({"prompt_tokens": 10, "completion_tokens": 1, **extra})


@pytest.mark.parametrize(
    ("report", "format", "usage"),
    [
        (
            {"input_tokens": 5, "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 7}},
            "anthropic",
            Usage(input=5, output=9, reasoning=7),
        ),
        (
            {"prompt_tokens": 2006, "cached_tokens": 1920, "completion_tokens": 300},
            "openai-chat",
            Usage(input=2006, output=300, cache_read=1920),
        ),
    ],
)
def test_what_others_report_too(report: dict[str, Any], format: str, usage: Usage) -> None:
    read = read_usage(report)
    assert (read.format, read.usage) == (format, usage)


def test_two_counts_of_what_was_cached_agree() -> None:
    report = {"prompt_tokens": 10, "cached_tokens": 5, "completion_tokens": 1}
    with pytest.raises(TokengapError, match="cached_tokens is 5, its details say 4"):
        read_usage(report | {"prompt_tokens_details": {"cached_tokens": 4}})
