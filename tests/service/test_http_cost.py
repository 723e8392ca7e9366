"""Prices over HTTP are those of the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

AT = "2026-11-30T12:00:00Z"
CHAT = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello, how are you?"}]}
USAGE = {"model": "gpt-4o", "usage": {"prompt_tokens": 1000, "completion_tokens": 100}}


@pytest.mark.parametrize(
    ("body", "command"),
    [
        ({"model": "gpt-4o", "input_tokens": 1000, "output_tokens": 100}, "--input-tokens 1000 --output-tokens 100"),
        ({"model": "gpt-4o", "input_tokens": 10000, "cache_read": 8000, "output_tokens": 500},
         "--input-tokens 10000 --cache-read 8000 --output-tokens 500"),
        ({"model": "gpt-4o", "input_tokens": 100, "output_tokens": "10/20/30", "calls": 1000, "cached_share": "60%",
          "words": 80, "words_factor": "4/3"},
         "--input-tokens 100 --output-tokens 10/20/30 --calls 1000 --cached-share 60% --words 80 --words-factor 4/3"),
        ({"model": "gpt-4o", "input_tokens": 1000, "exchange_rate": "1 USD = 0.92 EUR @ 2026-11-28"},
         "--input-tokens 1000 --exchange-rate 1~USD~=~0.92~EUR~@~2026-11-28"),
    ],
)  # fmt: skip
def test_costs_are_those_of_the_command_line(
    server: Any, answer: Callable[..., Any], body: dict[str, Any], command: str
) -> None:
    words = [word.replace("~", " ") for word in command.split(" ")]
    printed = answer("cost", "--model", "gpt-4o", "--as-of", AT, "--no-config", *words)
    assert server.post("/v1/cost", {"as_of": AT, **body}).json() == printed


def test_a_call_costs_what_the_table_says(server: Any) -> None:
    body = {"model": "gpt-4o", "input_tokens": 1000, "output_tokens": 100, "as_of": AT}
    assert server.post("/v1/cost", body).json()["total"] == {"amount": "0.0035", "currency": "USD"}


def test_usage_and_requests(server: Any, answer: Callable[..., Any], tmp_path: Path) -> None:
    usage, request = tmp_path / "usage.json", tmp_path / "request.json"
    usage.write_text(json.dumps(USAGE))
    request.write_text(json.dumps(CHAT))
    options = ("--as-of", AT, "--no-config")
    assert server.post("/v1/cost", {"usage": USAGE, "as_of": AT}).json() == answer(
        "cost", "--usage", str(usage), *options
    )
    priced = server.post("/v1/cost", {"request": CHAT, "output_tokens": 20, "as_of": AT}).json()
    assert priced == answer("cost", "--request", str(request), "--output-tokens", "20", *options)
    assert priced["usage"]["input"] == 13


@pytest.mark.parametrize(
    "request_body",
    [
        {**CHAT, "service_tier": "flex", "model": "gpt-5"},
        {**CHAT, "service_tier": "auto"},
        {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": CHAT},
        {**CHAT, "tools": [{"type": "web_search"}]},
    ],
)
def test_requests_cost_what_the_command_line_says(
    server: Any, answer: Callable[..., Any], tmp_path: Path, request_body: dict[str, Any]
) -> None:
    file = tmp_path / "request.json"
    file.write_text(json.dumps(request_body))
    printed = answer("cost", "--request", str(file), "--output-tokens", "9", "--as-of", AT, "--no-config")
    assert server.post("/v1/cost", {"request": request_body, "output_tokens": 9, "as_of": AT}).json() == printed


def test_a_part_of_a_request_may_be_cached(server: Any) -> None:
    usage = server.post("/v1/cost", {"request": CHAT, "cache_read": 5, "as_of": AT}).json()["usage"]
    assert usage == {"input": 13, "output": 0, "cache_read": 5}


@pytest.mark.parametrize(
    ("body", "status", "pointer"),
    [
        ({"model": "gpt-99-super", "input_tokens": 1}, 404, "/model"),
        ({"request": {**CHAT, "model": "gpt-99"}}, 404, "/request/model"),
        ({"request": {**CHAT, "service_tier": "gold"}}, 422, "/request/service_tier"),
        ({"request": CHAT, "model": "text-embedding-99"}, 404, "/model"),
        ({"model": "gpt-4o"}, 422, ""),
        ({"input_tokens": 1}, 422, "/model"),
        ({"model": "gpt-4o", "input_tokens": 1, "provider": "nope"}, 404, "/provider"),
        ({"request": CHAT, "provider": "nope"}, 404, "/provider"),
        ({"model": "gpt-4o", "usage": USAGE, "usage_format": "nope"}, 422, "/usage_format"),
        ({"model": "gpt-4o", "input_tokens": 10, "cache_write": 20}, 422, "/cache_write"),
        ({"model": "gpt-4o", "input_tokens": 10, "cache_write": 5, "cache_write_1h": 6}, 422, "/cache_write_1h"),
        ({"model": "gpt-4o", "input_tokens": 10, "output_tokens": 5, "reasoning_tokens": 6}, 422, "/reasoning_tokens"),
        ({"request": CHAT, "cache_read": 14}, 422, "/cache_read"),
        ({"request": CHAT, "reasoning_tokens": 1}, 422, "/reasoning_tokens"),
        ({"model": "gpt-4o", "usage": {"prompt_tokens": "a"}}, 422, "/usage/prompt_tokens"),
        ({"usage": {**USAGE, "usage": {"prompt_tokens": -1}}}, 422, "/usage/usage/prompt_tokens"),
        ({"usage": {"prompt_tokens": 1, "completion_tokens": 1}}, 422, "/model"),
        ({"model": "gpt-3.5-turbo", "input_tokens": 1, "variant": "flex"}, 422, "/variant"),
        ({"model": "gpt-4o", "input_tokens": 1, "variant": "flex", "price": "3 USD"}, 422, "/variant"),
        ({"request": {**CHAT, "model": "gpt-3.5-turbo", "service_tier": "flex"}}, 422, "/request/service_tier"),
        ({"request": {"custom_id": "a", "body": {**CHAT, "service_tier": "gold"}}}, 422, "/request/body/service_tier"),
        ({"request": {"custom_id": "a", "body": {**CHAT, "model": "gpt-5.3-codex"}}}, 422, "/request/custom_id"),
        ({"model": "gpt-4o", "input_tokens": -1}, 422, "/input_tokens"),
        ({"model": "gpt-4o", "input_tokens": 1, "output_tokens": "1/2/3"}, 422, "/output_tokens"),
        ({"model": "gpt-4o", "input_tokens": 1, "calls": "many"}, 422, "/calls"),
        ({"model": "gpt-4o", "input_tokens": 1, "cached_share": "50%"}, 422, "/calls"),
        ({"model": "gpt-4o", "usage": USAGE, "input_tokens": 1}, 422, "/usage"),
        ({"model": "gpt-4o", "usage": {"tokens": 3}}, 422, "/usage"),
        ({"model": "gpt-4o", "input_tokens": 10, "cache_read": 20}, 422, "/cache_read"),
        ({"model": "gpt-4o", "input_tokens": 10, "price": "x"}, 422, "/price"),
        ({"model": "gpt-4o", "input_tokens": 10, "exchange_rate": "x"}, 422, "/exchange_rate"),
        ({"model": "gpt-4o", "input_tokens": 10, "as_of": "x"}, 422, "/as_of"),
        ({"model": "gpt-4o", "input_tokens": 10, "variant": "cheap"}, 422, "/variant"),
    ],
)
def test_what_cannot_be_priced(server: Any, body: Any, status: int, pointer: str) -> None:
    response = server.post("/v1/cost", body)
    assert response.status_code == status
    assert response.json()["errors"][0]["pointer"] == pointer
    assert "--" not in response.json()["detail"], "an option of the command line"


SENT, GOT = {"prompt_tokens": 10}, {"completion_tokens": 5}
GEMINI = {"promptTokenCount": 10, "candidatesTokenCount": 5}
IN_PYTHON = {"prompt_token_count": 10, "candidates_token_count": 5}
CLAUDE = {"input_tokens": 10, "output_tokens": 5}
CACHED = ("cachedContentTokenCount", "promptTokenCount", "toolUsePromptTokenCount")


@pytest.mark.parametrize(
    ("usage", "places"),
    [
        ({**SENT, **GOT, "prompt_tokens_details": {"cached_tokens": 20}},
         ["prompt_tokens_details/cached_tokens", "prompt_tokens"]),
        ({**SENT, **GOT, "prompt_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 5}},
         ["prompt_tokens_details/cached_tokens", "prompt_tokens_details/cache_write_tokens", "prompt_tokens"]),
        ({**SENT, **GOT, "prompt_tokens_details": {"audio_tokens": 8, "image_tokens": 5}},
         ["prompt_tokens_details/audio_tokens", "prompt_tokens_details/image_tokens", "prompt_tokens"]),
        ({**SENT, **GOT, "completion_tokens_details": {"reasoning_tokens": 6}},
         ["completion_tokens_details/reasoning_tokens", "completion_tokens"]),
        ({**SENT, **GOT, "prompt_cache_hit_tokens": 20}, ["prompt_cache_hit_tokens", "prompt_tokens"]),
        ({**SENT, **GOT, "total_tokens": 20}, ["total_tokens"]),
        ({**CLAUDE, "input_token_details": {"cached_tokens": 20}},
         ["input_token_details/cached_tokens", "input_tokens"]),
        ({"usage": {**CLAUDE, "output_tokens_details": {"thinking_tokens": 6}}},
         ["usage/output_tokens_details/thinking_tokens", "usage/output_tokens"]),
        ({**CLAUDE, "cache_creation_input_tokens": 3, "cache_creation": {"ephemeral_1h_input_tokens": 5}},
         ["cache_creation", "cache_creation_input_tokens"]),
        ({**GEMINI, "totalTokenCount": 5}, ["totalTokenCount"]),
        ({**IN_PYTHON, "total_token_count": 5}, ["total_token_count"]),
        ({"usageMetadata": {**GEMINI, "toolUsePromptTokenCount": 2, "cachedContentTokenCount": 13}},
         [f"usageMetadata/{name}" for name in CACHED]),
        ({"usage_metadata": {**IN_PYTHON, "cached_content_token_count": 13}},
         ["usage_metadata/cached_content_token_count", "usage_metadata/prompt_token_count"]),
        ({**IN_PYTHON, "prompt_tokens_details": [{"modality": "AUDIO", "token_count": 11}]}, ["prompt_tokens_details"]),
        ({**GEMINI, "promptTokensDetails": [{"modality": "SMELL", "tokenCount": 1}]},
         ["promptTokensDetails/0/modality"]),
        ({**GEMINI, "cachedContentTokenCount": 5, "cacheTokensDetails": [{"modality": "AUDIO", "tokenCount": 5}]},
         ["cacheTokensDetails"]),
        ({"input": 10, "output": 1, "cache_read": 2, "cache_read_audio": 2, "cache_read_image": 1, "input_audio": 3},
         ["cache_read_audio", "cache_read_image", "cache_read"]),
        ({"service_tier": "priority", "usage": {**CLAUDE, "speed": "fast"}}, ["service_tier", "usage/speed"]),
    ],
)  # fmt: skip
def test_a_contradiction_in_a_report_points_to_its_members(server: Any, usage: Any, places: list[str]) -> None:
    """The part comes first, and the message has the names of the report, as it does on the command line."""
    problem = server.post("/v1/cost", {"model": "gpt-4o", "usage": usage}).json()
    assert problem["status"] == 422
    assert [error["pointer"] for error in problem["errors"]] == [f"/usage/{place}" for place in places]
    for place in places:
        assert place.rpartition("/")[2] in problem["detail"]


@pytest.mark.parametrize(
    ("query", "command"),
    [
        ("pattern=gpt-4o", ["gpt-4o"]),
        ("pattern=gpt-5*&provider=openai", ["gpt-5*", "--provider", "openai"]),
        ("", []),
    ],
)
def test_prices_are_those_of_the_command_line(
    server: Any, answer: Callable[..., Any], query: str, command: list[str]
) -> None:
    listed = server.get(f"/v1/prices?as_of={AT}&{query}").json()
    assert listed == answer("prices", *command, "--as-of", AT, "--no-config")
    assert server.get("/v1/prices?as_of=soon").json()["errors"][0]["pointer"] == "/as_of"
    assert server.get(f"/v1/prices?as_of={AT}&pattern=no-such-model").json()["prices"] == []
