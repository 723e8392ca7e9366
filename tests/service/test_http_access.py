"""Who may ask, over a real connection: keys in any of their headers, and calls from browsers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

ORIGIN = "https://app.example"


@pytest.fixture(scope="module")
def guarded(serve: Callable[..., Any]) -> Iterator[Any]:
    with serve(
        api_keys="right,other", cors_origins=f"{ORIGIN},http://localhost:3000", rate_limit="1000/minute"
    ) as server:
        yield server


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer right"}, 200),
        ({"Authorization": "bearer right"}, 200),
        ({"X-Api-Key": "right"}, 200),
        ({"X-Goog-Api-Key": "other"}, 200),
        ({"Authorization": "Bearer wrong", "X-Api-Key": "right"}, 200),
        ({"Authorization": "Bearer", "X-Api-Key": "right"}, 200),
        ({"Authorization": "Basic cmlnaHQ=", "X-Goog-Api-Key": "right"}, 200),
        ({"X-Api-Key": "wrong", "X-Goog-Api-Key": "right"}, 200),
        ({}, 401),
        ({"Authorization": "Bearer wrong", "X-Api-Key": "wrong", "X-Goog-Api-Key": "wrong"}, 401),
        ({"Authorization": "right"}, 401),
        ({"Authorization": "Basic right"}, 401),
        ({"X-Api-Key": ""}, 401),
        ({"X-Api-Key": "right,other"}, 401),
    ],
)
def test_one_right_key_in_any_of_its_headers_is_enough(guarded: Any, headers: dict[str, str], status: int) -> None:
    answer = guarded.post("/v1/count", {"input": "a"}, headers=headers)
    assert answer.status_code == status
    if status == 401:
        assert answer.json()["type"] == "urn:tokengap:problem:missing-key"
        assert answer.headers["www-authenticate"] == "Bearer"


GOOGLE = "/v1beta/models/gemini-2.5-pro:countTokens"


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        (GOOGLE, "key=right", 200),
        (GOOGLE, "%24key=other&alt=json", 200),
        (GOOGLE, "key=wrong", 401),
        (GOOGLE, "key=", 401),
        (GOOGLE, "key=%ff", 401),
        (GOOGLE, "", 401),
        ("/v1/publishers/google/models/gemini-2.5-pro:countTokens", "key=right", 200),
        ("/v1/count", "key=right", 401),
        ("/v1/messages/count_tokens", "key=right", 401),
    ],
)
def test_google_takes_the_key_in_the_query_too(guarded: Any, path: str, query: str, status: int) -> None:
    answer = guarded.post(f"{path}?{query}", {"contents": [{"parts": [{"text": "a"}]}]})
    assert answer.status_code == status, answer.text


def test_a_key_in_the_query_is_in_no_log(guarded: Any, eventually: Callable[..., None]) -> None:
    asked = {"X-Request-Id": "with-a-key"}
    assert guarded.get("/v1beta/models?key=other", headers=asked).status_code == 200
    eventually(lambda: "with-a-key" in guarded.log.read_text(), "the line of the request")
    assert "key=" not in guarded.log.read_text()


def test_each_sdk_is_refused_a_list_in_its_own_shape(guarded: Any) -> None:
    sent_by = {"x-stainless-lang": "python"}
    openai = guarded.get("/v1/models", headers=sent_by).json()
    assert openai["error"]["code"] == "invalid_api_key"
    claude = guarded.get("/v1/models", headers={**sent_by, "anthropic-version": "2023-06-01"}).json()
    assert claude["error"]["type"] == "authentication_error"
    google = guarded.get("/v1/models", headers={"x-goog-api-client": "google-genai-sdk/3.6.1"}).json()
    assert google["error"]["status"] == "UNAUTHENTICATED"
    assert guarded.get("/v1/models").json()["type"] == "urn:tokengap:problem:missing-key"


def preflight(
    server: Any, origin: str = ORIGIN, method: str = "POST", headers: str = "", path: str = "/v1/count"
) -> Any:
    asked = {"Origin": origin, "Access-Control-Request-Method": method}
    if headers:
        asked["Access-Control-Request-Headers"] = headers
    return httpx2.request("OPTIONS", server.url + path, headers=asked)


@pytest.mark.parametrize(
    "headers",
    [
        "authorization,content-type",
        "x-api-key,anthropic-version,anthropic-beta,anthropic-dangerous-direct-browser-access",
        "x-goog-api-key,x-goog-api-client",
        "openai-organization,openai-project,x-stainless-lang,x-stainless-retry-count",
        "x-request-id",
    ],
)
def test_a_page_of_an_origin_may_send_what_the_sdks_send(guarded: Any, headers: str) -> None:
    answer = preflight(guarded, headers=headers)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert answer.headers["access-control-allow-headers"] == headers
    assert "access-control-allow-credentials" not in answer.headers
    assert answer.headers["x-request-id"]
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("origin", "method", "what"),
    [("https://evil.example", "POST", "origin"), (ORIGIN, "DELETE", "method"), ("null", "PUT", "origin, method")],
)
def test_a_refused_preflight_is_a_problem(guarded: Any, origin: str, method: str, what: str) -> None:
    answer = preflight(guarded, origin, method)
    assert answer.status_code == 403
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "urn:tokengap:problem:cors-refused"
    assert answer.json()["detail"].endswith(f"with this {what}")
    assert answer.json()["instance"] == f"urn:tokengap:request:{answer.headers['x-request-id']}"
    assert "access-control-allow-origin" not in answer.headers or origin == ORIGIN


@pytest.mark.parametrize(("key", "status"), [("right", 200), ("wrong", 401)])
def test_a_page_may_read_every_answer_and_its_headers(guarded: Any, key: str, status: int) -> None:
    body = {"model": "claude-opus-4-6", "messages": [{"role": "user", "content": "Hello"}]}
    answer = guarded.post("/v1/messages/count_tokens", body, headers={"X-Api-Key": key, "Origin": ORIGIN})
    assert answer.status_code == status
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    exposed = {name.strip().lower() for name in answer.headers["access-control-expose-headers"].split(",")}
    assert {"x-request-id", "retry-after"} <= exposed
    assert {name for name in answer.headers if name.startswith("x-tokengap-")} <= exposed
    assert answer.headers["vary"] == "Origin"


def test_other_origins_get_answers_that_their_pages_may_not_read(guarded: Any) -> None:
    answer = guarded.post("/v1/count", {"input": "a"}, headers={"X-Api-Key": "right", "Origin": "https://evil.example"})
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers


def test_preflights_do_not_get_past_the_keys(guarded: Any) -> None:
    """Nor does OPTIONS without what makes it a preflight."""
    assert httpx2.request("OPTIONS", guarded.url + "/v1/count", headers={"Origin": ORIGIN}).status_code == 401
    assert httpx2.request("OPTIONS", guarded.url + "/v1/count").status_code == 401


def test_without_the_setting_a_preflight_is_refused(server: Any) -> None:
    answer = preflight(server)
    assert answer.status_code == 405
    assert "access-control-allow-origin" not in answer.headers
