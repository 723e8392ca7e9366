"""The HTTP service over a real connection: answers, errors, limits."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tokengap.service.problems import TITLES
from tokengap.tokenizers.registry import get_counter

HELLO = "Hello, how are you today?"
CHAT = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello, how are you?"}]}


def test_health_and_readiness(server: Any) -> None:
    assert server.get("/healthz").json() == {"status": "alive"}
    assert server.get("/readyz").json() == {"status": "ready"}


@pytest.mark.parametrize(
    ("path", "body", "command"),
    [
        ("/v1/count", {"input": HELLO, "counters": ["o200k_base", "words:4/3"]}, "count -c o200k_base -c words:4/3"),
        ("/v1/count", {"input": HELLO}, "count"),
        ("/v1/count", {"input": HELLO, "model": "gpt-4o", "as": "output"}, "count -m gpt-4o --as output"),
        ("/v1/count", {"input": HELLO, "price": "in=3,out=15 EUR"}, "count --price in=3,out=15\xa0EUR"),
        ("/v1/compare", {"input": HELLO, "model": "gpt-4o", "calls": 9, "per": "day"},
         "compare -m gpt-4o --calls 9 --per day"),
        ("/v1/compare", {"input": HELLO, "counters": ["cl100k_base"], "baseline": "chars:4"},
         "compare -c cl100k_base --baseline chars:4"),
        ("/v1/compare", {"input": HELLO}, "compare"),
    ],
)  # fmt: skip
def test_numbers_are_those_of_the_command_line(
    server: Any, answer: Callable[..., Any], path: str, body: Any, command: str
) -> None:
    body = {"as_of": "2026-11-30T12:00:00Z", **body}
    words = [word.replace("\xa0", " ") for word in command.split(" ")]
    printed = answer(*words, "--text", HELLO, "--as-of", "2026-11-30T12:00:00Z", "--no-config")
    printed.pop("skipped")
    answered = server.post(path, body).json()
    for row in (*printed["results"], *answered["results"]):
        row.pop("source")
    assert answered == printed


def test_a_request_is_counted_as_on_the_command_line(server: Any, answer: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "request.json"
    file.write_text(json.dumps(CHAT))
    at = "2026-11-30T12:00:00Z"
    printed = answer("count", "--request", str(file), "--as-of", at, "--no-config")
    answered = server.post("/v1/count", {"request": CHAT, "as_of": at}).json()
    assert answered["results"][0]["tokens"] == 13
    assert answered["results"] == [{**printed["results"][0], "source": "request"}]
    fitted = server.post("/v1/fit", {"request": CHAT, "model": "gpt-4o", "output_tokens": 100}).json()
    assert fitted == answer("fit", "--request", str(file), "--model", "gpt-4o", "--output-tokens", "100")


def test_a_batch_has_a_row_for_each_text_and_counter(server: Any) -> None:
    answered = server.post("/v1/count", {"input": ["a b", "c"], "counters": ["o200k_base", "bytes"]}).json()
    assert [(row["source"], row["counter"], row["tokens"]) for row in answered["results"]] == [
        ("text:1", "o200k_base", 2),
        ("text:1", "bytes", 3),
        ("text:2", "o200k_base", 1),
        ("text:2", "bytes", 1),
    ]
    assert [total["tokens"] for total in answered["total"]] == [3, 4]


@pytest.mark.parametrize("text", ["<|endoftext|>", "नमस्ते 😀 e\u0301", "a\x00b\r\n", "", " " * 200_000])
def test_every_text_is_counted_as_it_is(server: Any, text: str) -> None:
    answered = server.post("/v1/count", {"input": text}).json()
    assert answered["results"][0]["tokens"] == get_counter("o200k_base").count(text).tokens


@pytest.mark.parametrize(("escape", "warnings"), [(r"a\ud800b", ["lone_surrogate"]), (r"a\ud83d\ude00b", [])])
def test_surrogate_escapes(server: Any, escape: str, warnings: list[str]) -> None:
    body = b'{"input": "%s"}' % escape.encode()
    answered = server.post("/v1/count", content=body, headers={"Content-Type": "application/json"}).json()
    assert answered["results"][0]["warnings"] == warnings
    assert answered["results"][0]["chars"] == 3


@pytest.mark.parametrize("by", [{"counter": "gpt2"}, {"model": "gpt-4o"}, {"model": "claude-opus-4-6"}])
@pytest.mark.parametrize("text", ["a", "a\ud800"])
def test_tokens_are_shown_with_what_a_count_says(server: Any, by: dict[str, str], text: str) -> None:
    def ask(path: str, **names: Any) -> Any:
        body = json.dumps({"input": text, **names})
        return server.post(path, content=body, headers={"Content-Type": "application/json"}).json()["results"][0]

    shown = ask("/v1/tokenize", **by)
    counted = ask("/v1/count", **({"counters": [by["counter"]]} if "counter" in by else by))
    assert len(shown.pop("pieces")) == counted["tokens"]
    assert shown == {name: counted[name] for name in shown}


def test_times_and_sources_of_prices_have_one_form(server: Any) -> None:
    """Whatever is asked, a price says where it is from and when it holds in the same words."""
    at, call = "2026-11-30T14:00:00+02:00", {"model": "gpt-4o", "input_tokens": 1}
    (counted,) = server.post("/v1/count", {"input": "a", "model": "gpt-4o", "as_of": at}).json()["prices"]
    compared, *_ = server.post("/v1/compare", {"input": "a", "model": "gpt-4o", "as_of": at}).json()["prices"]
    priced = server.post("/v1/cost", {**call, "as_of": at}).json()
    (listed,) = [
        row
        for row in server.get("/v1/prices", params={"pattern": "gpt-4o", "provider": "openai", "as_of": at}).json()[
            "prices"
        ]
        if row["model"] == "gpt-4o"
    ]
    assert counted["source"] == compared["source"] == priced["source"]
    assert counted["source"]["as_of"] == priced["as_of"] == "2026-11-30T12:00:00Z"
    assert counted["source"]["effective_date"] == priced["effective_date"] == listed["effective_date"]
    assert len(counted["source"]["sha256"]) == 64


def test_tokens_are_shown_with_ids_and_spans(server: Any) -> None:
    text = "héllo 日本 नमस्ते 😀"
    result = server.post("/v1/tokenize", {"input": text, "counter": "cl100k_base"}).json()["results"][0]
    data = text.encode()
    assert result["tokens"] == len(result["pieces"]) == get_counter("cl100k_base").count(text).tokens
    assert b"".join(data[p["byte_start"] : p["byte_end"]] for p in result["pieces"]) == data
    for piece in result["pieces"]:
        if piece["text"] is not None:
            assert piece["text"] == text[piece["start"] : piece["end"]]
    ids = [piece["id"] for piece in result["pieces"]]
    assert server.post("/detokenize", {"model": "cl100k_base", "tokens": ids}).json() == {"prompt": text}


@pytest.mark.parametrize(
    ("path", "body", "status", "kind", "pointer"),
    [
        ("/v1/count", {"input": "a", "counters": ["words", "o200k_bas"]}, 404, "unknown-name", "/counters/1"),
        ("/v1/count", {"input": "a", "model": "gpt-99-super"}, 404, "unknown-name", "/model"),
        ("/v1/count", {"request": {**CHAT, "model": "gpt-99"}}, 404, "unknown-name", "/request/model"),
        ("/v1/count", {"input": "a", "counters": ["bpe:/etc/passwd"]}, 403, "counter-not-allowed", "/counters/0"),
        ("/v1/compare", {"input": "a", "baseline": "bpe:x"}, 403, "counter-not-allowed", "/baseline"),
        ("/v1/fit", {"input": "a", "model": "gpt-4o", "counter": "bpe:x"}, 403, "counter-not-allowed", "/counter"),
        ("/v1/tokenize", {"input": "a", "counter": "bpe:x"}, 403, "counter-not-allowed", "/counter"),
        ("/v1/fit", {"input": "a", "model": "gpt-4x"}, 404, "unknown-name", "/model"),
        ("/v1/tokenize", {"input": "a", "counter": "words:1"}, 422, "invalid-request", "/counter"),
        ("/v1/count", {"input": "a", "request": CHAT}, 422, "invalid-request", ""),
        ("/v1/count", {}, 422, "invalid-request", ""),
        ("/v1/count", {"input": ["a", 3]}, 422, "invalid-request", "/input/1"),
        ("/v1/tokenize", {"input": ["a", None]}, 422, "invalid-request", "/input/1"),
        ("/v1/count", {"input": None}, 422, "invalid-request", "/input"),
        ("/v1/count", {"input": "a", "request": {}}, 422, "invalid-request", ""),
        ("/v1/count", {"request": 5}, 422, "invalid-request", "/request"),
        ("/v1/count", {"request": None, "model": "gpt-4o"}, 422, "invalid-request", "/request"),
        ("/v1/count", {"request": {}}, 422, "invalid-request", "/request"),
        ("/v1/count", {"request": {"custom_id": "a", "body": {**CHAT, "model": "gpt-99"}}}, 404, "unknown-name",
         "/request/body/model"),
        ("/v1/count", {"request": {"custom_id": "a", "body": {"messages": CHAT["messages"]}}}, 422, "invalid-request",
         "/request/body/model"),
        ("/v1/count", {"request": {**CHAT, "metadata": {"a b": [{}] * 2}, "tools": [{"type": "function", "function":
         {"name": "a", "parameters": {"properties": {"a b/c": {"type": "x"}}}}}]}}, 422, "invalid-request",
         "/request/tools/0/function/parameters/properties/a b~1c/type"),
        ("/v1/fit", {"input": "a"}, 422, "invalid-request", "/model"),
        ("/v1/count", {"input": "a", "counters": []}, 422, "invalid-request", "/counters"),
        ("/v1/compare", {"input": "a", "counters": []}, 422, "invalid-request", "/counters"),
        ("/v1/count?x=1", {"input": "a"}, 422, "invalid-request", "/x"),
        ("/v1/cost?model=gpt-4o", {"input_tokens": 1}, 422, "invalid-request", "/model"),
        ("/v1/count", {"request": {**CHAT, "messages": [{"role": "user", "content": [{"type": "image_url", "image_url":
         {"url": "file:///etc/passwd"}}]}]}}, 422, "invalid-request", "/request/messages/0/content/0/image_url/url"),
        ("/v1/count", {"model": "claude-opus-4-6", "request": {"messages": [{"role": "user", "content": [
         {"type": "image", "source": {"type": "url", "url": "ftp://a/b"}}]}]}}, 422, "invalid-request",
         "/request/messages/0/content/0/source/url"),
        ("/v1/count", {"model": "gemini-2.5-pro", "request": {"contents": [{"parts": [{"fileData":
         {"mimeType": "image/png", "fileUri": "file:///a"}}]}]}}, 422, "invalid-request",
         "/request/contents/0/parts/0/fileData/fileUri"),
        ("/v1/fit", {"request": {"messages": CHAT["messages"]}}, 422, "invalid-request", "/request/model"),
        ("/v1/fit", {"request": 5}, 422, "invalid-request", "/request"),
        ("/v1/fit", {"model": "gpt-4o", "request": None}, 422, "invalid-request", "/request"),
        ("/v1/count", {"input": "a", "modle": "gpt-4o"}, 422, "invalid-request", "/modle"),
        ("/v1/count", {"input": "a", "counters": ["words:0"]}, 422, "invalid-request", "/counters/0"),
        ("/v1/count", {"input": "a", "price": "cheap"}, 422, "invalid-request", "/price"),
        ("/v1/count", {"input": "a", "as_of": "soon"}, 422, "invalid-request", "/as_of"),
        ("/v1/count", {"request": {"messages": CHAT["messages"]}}, 422, "invalid-request", "/request/model"),
        ("/v1/count", {"request": {**CHAT, "messages": [{"role": "user", "content": 3}]}}, 422, "invalid-request",
         "/request/messages/0/content"),
        ("/v1/count", [1], 422, "invalid-request", ""),
        ("/v1/count", {"input": "a", "counters": ["bytes"] * 17}, 422, "invalid-request", "/counters"),
        ("/v1/count", {"input": ["a"] * 1001}, 413, "too-much-text", "/input"),
        ("/v1/count", {"input": ["a"] * 200_001}, 413, "too-much-text", ""),
        ("/v1/count", {"request": {**CHAT, "metadata": [0] * 200_001}}, 413, "too-much-text", ""),
        ("/v1/count", {"input": "a" * 1_000_000, "counters": ["bytes", "words", "chars"]}, 413, "too-much-text",
         "/input"),
        ("/v1/count", {"request": {**CHAT, "messages": [[]] * 50_001}}, 413, "too-much-text", "/request"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_a_problem_that_points_to_it(
    server: Any, path: str, body: Any, status: int, kind: str, pointer: str
) -> None:
    response = server.post(path, body)
    problem = response.json()
    assert response.status_code == problem["status"] == status
    assert response.headers["content-type"] == "application/problem+json"
    assert problem["type"] == f"urn:tokengap:problem:{kind}"
    assert problem["title"] == TITLES[kind][1]
    assert problem["errors"][0]["pointer"] == pointer
    assert problem["instance"].endswith(response.headers["x-request-id"])


def test_a_lone_surrogate_in_a_sample_answer_is_refused_where_it_is(server: Any) -> None:
    content = b'{"model": "gpt-4o", "input": "a", "answer": "\\ud800"}'
    problem = server.post("/v1/fit", content=content, headers={"Content-Type": "application/json"}).json()
    assert problem["errors"][0]["pointer"] == "/answer"
    assert problem["detail"].startswith("the answer holds a lone surrogate")


@pytest.mark.parametrize(
    ("path", "body", "detail"),
    [
        ("/v1/count", {"request": 5, "model": "gpt-4o"},
         "an object, a list of messages or a text is needed, not a number"),
        ("/v1/count", [1], "the body: an object is needed, not an array"),
        ("/v1/count", {"input": 5}, "/input: Input should be a valid string or a valid array"),
        ("/v1/count", {"input": "a", "counters": ["gpt-4o"]},
         "unknown counter 'gpt-4o': did you mean model:gpt-4o? GET /v1/counters lists them all"),
        ("/v1beta/models/gemini-2.5-pro:countTokens", [1], "the body: an object is needed, not an array"),
        ("/v1beta/models/gemini-2.5-pro:countTokens", {}, "'contents' is missing"),
        ("/v1/responses/input_tokens", {"model": "gpt-4o", "messages": []}, "'messages' is no member of this call"),
        ("/v1/messages/count_tokens", {"model": "o200k_base", "messages": CHAT["messages"]},
         "unknown model 'o200k_base': GET /v1/models lists those that are known"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_the_words_of_the_body(server: Any, path: str, body: Any, detail: str) -> None:
    answered = server.post(path, body).json()
    message = answered["error"]["message"] if "error" in answered else answered["detail"]
    assert message.removeprefix("model: ") == detail


@pytest.fixture(scope="module")
def restricted(serve: Callable[..., Any]) -> Iterator[Any]:
    with serve(counters="words,o200k_base", preload="o200k_base") as started:
        yield started


@pytest.fixture(scope="module")
def few(serve: Callable[..., Any]) -> Iterator[Any]:
    with serve(counters="chars,bytes") as started:
        yield started


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("/v1/count", {"input": "a", "model": "gpt-4"}, "/model"),
        ("/v1/count", {"input": "a", "counters": ["cl100k_base"]}, "/counters/0"),
        ("/v1/compare", {"input": "a", "counters": ["o200k_base"], "baseline": "chars:4"}, "/baseline"),
        ("/v1/tokenize", {"input": "a", "model": "gpt-4"}, "/model"),
        ("/v1/fit", {"model": "gpt-4", "input": "a"}, "/model"),
        ("/v1/fit", {"request": {**CHAT, "model": "gpt-4"}}, "/request/model"),
        ("/v1/fit", {"model": "gpt-4", "input": "a", "counter": "cl100k_base"}, "/counter"),
        ("/v1/cost", {"request": {**CHAT, "model": "gpt-4"}}, "/request/model"),
        ("/v1/cost", {"model": "gpt-4", "request": CHAT}, "/model"),
        ("/v1/cost", {"request": CHAT, "counter": "cl100k_base"}, "/counter"),
        ("/v1/budgets/check",
         {"configuration": {"model": "gpt-4", "budget": [{"name": "a", "paths": ["**"], "max_tokens": 9}]},
          "files": {"a": "a"}}, None),
        ("/v1/budgets/check",
         {"configuration": {"budget": [{"name": "a", "paths": ["**"], "type": "chat", "max_tokens": 9}]},
          "files": {"a": '{"model": "gpt-4", "messages": [{"role": "user", "content": "a"}]}'}}, None),
        ("/v1/responses/input_tokens", {"model": "gpt-4", "input": "a"}, None),
        ("/v1/messages/count_tokens", {"model": "gpt-4", "messages": CHAT["messages"]}, None),
        ("/v1beta/models/gpt-4:countTokens", {"contents": [{"parts": [{"text": "a"}]}]}, None),
        ("/tokenize", {"model": "gpt-4", "prompt": "a"}, None),
        ("/detokenize", {"model": "cl100k_base", "tokens": [1]}, None),
    ],
)  # fmt: skip
def test_only_the_counters_of_the_settings_are_used(restricted: Any, path: str, body: Any, pointer: str | None) -> None:
    response = restricted.post(path, body)
    assert response.status_code == 403, response.text
    if pointer is not None:
        assert response.json()["errors"][0]["pointer"] == pointer
    assert restricted.post("/v1/fit", {"model": "gpt-4", "input": "a", "counter": "o200k_base"}).json()["tokens"] == 1


@pytest.mark.parametrize(
    ("path", "body", "member", "default"),
    [
        ("/v1/count", {"input": "a"}, "counters", "o200k_base"),
        ("/v1/compare", {"input": "a"}, "counters", "o200k_base"),
        ("/v1/compare", {"input": "a", "counters": ["chars"]}, "baseline", "words"),
        ("/v1/tokenize", {"input": "a"}, "counter", "o200k_base"),
        ("/tokenize", {"prompt": "a"}, "model", "o200k_base"),
        ("/detokenize", {"tokens": [1]}, "model", "o200k_base"),
    ],
)
def test_a_default_that_is_not_offered_is_no_member_of_the_body(
    few: Any, path: str, body: Any, member: str, default: str
) -> None:
    """It is said which counters there are and how to name one; none of them is taken in place of the default."""
    response = few.post(path, body)
    answered = response.json()
    detail = f"give '{member}': its default, '{default}', is not offered over HTTP; GET /v1/counters lists those "
    assert response.status_code == 403
    if "error" in answered:
        assert answered["error"]["param"] is None
        assert answered["error"]["message"] == detail + "that are: chars, bytes"
    else:
        assert answered["errors"] == [{"pointer": "", "detail": detail + "that are: chars, bytes"}]


def test_a_cost_without_a_model_misses_that_first(few: Any) -> None:
    problem = few.post("/v1/cost", {"request": {"messages": CHAT["messages"]}}).json()
    assert (problem["status"], problem["errors"][0]["pointer"]) == (422, "/request/model")


def test_as_much_as_the_documents_say_is_taken(server: Any) -> None:
    """16 counters, 1,000 texts, 2,000,000 characters times counters; one more of each is refused above."""
    counters = [f"words:{number}" for number in range(1, 17)]
    assert server.post("/v1/count", {"input": ["a"] * 1000, "counters": counters}).status_code == 200
    assert server.post("/v1/count", {"input": "a" * 125_000, "counters": counters}).status_code == 200
    assert server.post("/v1/count", {"input": "a" * 125_001, "counters": counters}).status_code == 413
    page = (Path(__file__).parents[2] / "docs" / "http.md").read_text(encoding="utf-8")
    assert "up to 16 counters" in page
    assert "(200,000)" in page


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"{", {}, 400),
        (b'{"input": "\xff"}', {}, 400),
        (b'{"input": NaN}', {}, 400),
        (b'{"input": "a", "input": "b"}', {}, 400),
        (b"[" * 100_000, {}, 400),
        (b'{"input":"a"}', {"Content-Type": "text/plain"}, 415),
        (b'{"input":"a"}', {"Content-Encoding": "gzip"}, 415),
        (b'{"input":"a"}', {"Content-Type": "application/json; charset=utf-8"}, 200),
        (b'{"input":"a"}', {"Content-Type": 'application/json; charset="UTF-8"'}, 200),
        ('{"input":"a"}'.encode("utf-16"), {"Content-Type": "application/json; charset=utf-16"}, 415),
        (b'{"input":"a"}', {"Content-Type": "application/json; charset=utf-16"}, 415),
    ],
)
def test_bodies_that_are_no_json(server: Any, content: bytes, headers: dict[str, str], status: int) -> None:
    response = server.post("/v1/count", content=content, headers={"Content-Type": "application/json", **headers})
    assert response.status_code == status


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_long_is_refused(server: Any, chunked: bool) -> None:
    content = b" " * (4 * 2**20 + 1)
    pieces = (content[i : i + 65536] for i in range(0, len(content), 65536))
    response = server.post(
        "/v1/count", content=pieces if chunked else content, headers={"Content-Type": "application/json"}
    )
    assert response.status_code == 413
    assert response.json()["type"].endswith("body-too-large")


def test_a_long_name_that_is_cut_off_takes_no_time_to_place(server: Any) -> None:
    """The place is cut inside of quotes, so that it is none; to find that out took time exponential in the name."""
    content: Any = "deep"
    for _ in range(110):
        content = [content]
    response = server.post("/v1/count", {"request": {**CHAT, "a" * 60: {"b " + "c" * 200: content}}})
    assert response.status_code == 422
    assert response.json()["detail"].endswith("nested deeper than 100 levels")


def test_nesting_inside_a_request_is_bounded(server: Any) -> None:
    content: Any = "deep"
    for _ in range(150):
        content = [content]
    response = server.post(
        "/v1/count", {"model": "gpt-4o", "request": {"messages": [{"role": "user", "content": content}]}}
    )
    assert response.status_code == 422


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/nope", 404), ("GET", "/v1/count", 405)])
def test_paths_and_methods(server: Any, method: str, path: str, status: int) -> None:
    response = server.get(path)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("path", ["/v1/count/", "/healthz/", "/v1/models/?all=true", "/openapi.json/", "/tokenize/"])
@pytest.mark.parametrize("method", ["GET", "POST", "HEAD"])
def test_a_slash_at_the_end_is_another_path_and_no_redirect(server: Any, method: str, path: str) -> None:
    """A redirect would name whatever host the client says it asked."""
    import httpx2

    response = httpx2.request(method, server.url + path, headers={"Host": "evil.example"})
    assert response.status_code == 404
    assert "evil" not in str(response.headers)
    assert response.headers["content-type"].startswith("application/")
    if method != "HEAD" and path != "/tokenize/":
        assert response.json()["type"] == "urn:tokengap:problem:not-found"


@pytest.mark.parametrize(
    "path", ["/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/counters", "/v1/models?all=true", "/v1/prices"]
)
def test_head_is_answered_as_get_without_a_body(server: Any, path: str) -> None:
    import httpx2

    got, head = server.get(path), httpx2.head(server.url + path)
    assert head.status_code == got.status_code == 200
    assert head.content == b""
    same = (
        "content-type",
        "cache-control",
        "x-content-type-options",
        *(() if path == "/metrics" else ("content-length",)),
    )
    assert {name: head.headers[name] for name in same} == {name: got.headers[name] for name in same}
    refused = server.post(path)
    assert refused.status_code == 405
    assert refused.headers["allow"] == "GET, HEAD"


def test_head_of_what_takes_another_method_or_is_not_there(server: Any) -> None:
    import httpx2

    refused = httpx2.head(server.url + "/v1/count")
    assert (refused.status_code, refused.headers["allow"], refused.content) == (405, "POST", b"")
    assert httpx2.head(server.url + "/nope").status_code == 404
    assert httpx2.head(server.url + "/v1/models?all=maybe").status_code == 422


def test_security_headers_and_request_id(server: Any) -> None:
    response = server.get("/healthz", headers={"X-Request-Id": "abc-1", "Origin": "https://example.org"})
    assert response.headers["x-request-id"] == "abc-1"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in response.headers
    assert server.get("/healthz", headers={"X-Request-Id": "not one!"}).headers["x-request-id"] != "not one!"


def test_lists(server: Any, answer: Callable[..., Any]) -> None:
    counters = server.get("/v1/counters").json()["counters"]
    assert counters == [entry for entry in answer("counters")["counters"] if entry["name"] != "bpe"]
    assert server.get("/v1/models?containing=gpt-4o").json()["models"] == answer("models", "gpt-4o")
    assert server.get("/v1/models?all=maybe").status_code == 422
    assert server.get("/v1/models?containing=gpt-99").json() == {"models": []}


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        ("/v1/models?contains=x", "/contains"),
        ("/v1/models?containing=a&containing=b", "/containing"),
        ("/v1/counters?all=true", "/all"),
        ("/v1/prices?model=gpt-4o", "/model"),
        ("/v1/prices?as_of=2026-11-30&as_of=2026-11-29", "/as_of"),
    ],
)
def test_parameters_that_would_be_ignored_are_refused(server: Any, path: str, pointer: str) -> None:
    response = server.get(path)
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == pointer


@pytest.mark.slow
def test_a_slow_body_is_given_up(serve: Callable[..., Any]) -> None:
    with serve(body_seconds="0.5") as server:
        host, port = server.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            head = (
                "POST /v1/count HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
            )
            connection.sendall(head.encode())
            assert connection.recv(100).startswith(b"HTTP/1.1 408")


@pytest.mark.slow
def test_overload_is_shed_and_slow_work_given_up(serve: Callable[..., Any]) -> None:
    """One thread, nobody waiting: of many long requests at once some are answered, the others told to come back."""
    with serve(threads="1", queue="0", work_seconds="30") as server:
        statuses: list[tuple[int, str | None]] = []

        def ask() -> None:
            response = server.post("/v1/count", {"input": "word " * 200_000})
            statuses.append((response.status_code, response.headers.get("retry-after")))

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        assert server.post("/v1/count", {"input": "small"}).status_code == 200
        for thread in threads:
            thread.join()
    assert {status for status, _ in statuses} == {200, 503}
    assert all(retry == "1" for status, retry in statuses if status == 503)
    with serve(work_seconds="0.01") as server:
        response = server.post("/v1/count", {"input": "word " * 200_000})
        assert (response.status_code, response.json()["type"]) == (503, "urn:tokengap:problem:too-slow")
        assert "retry-after" in response.headers
