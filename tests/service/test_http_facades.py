"""The façades under the vendors' own, unmodified SDKs, against a real server."""

from __future__ import annotations

from typing import Any

import anthropic
import openai
import pytest
from google import genai
from google.genai import errors, types

from tokengap.estimators import count_request
from tokengap.tokenizers.models import models

TOOL = {
    "type": "function",
    "name": "weather",
    "description": "The weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}


def openai_of(server: Any) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="any", max_retries=0)


def anthropic_of(server: Any) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=server.url, api_key="any", max_retries=0)


def google_of(server: Any) -> genai.Client:
    return genai.Client(api_key="any", http_options=types.HttpOptions(base_url=server.url))


@pytest.mark.parametrize(
    "body",
    [
        {"input": "Hello, how are you?"},
        {"input": "Hello", "instructions": "Answer in French.", "tools": [TOOL], "reasoning": {"effort": "low"}},
        {"input": [{"role": "user", "content": [{"type": "input_text", "text": "Hello"}]}]},
    ],
)
def test_openai(server: Any, body: dict[str, Any]) -> None:
    raw = openai_of(server).responses.input_tokens.with_raw_response.count(model="gpt-4o", **body)
    counted = count_request(body, "gpt-4o")
    parsed = raw.parse()
    assert (parsed.object, parsed.input_tokens) == ("response.input_tokens", counted.tokens)
    assert raw.headers["x-tokengap-kind"] == counted.kind
    assert raw.headers["x-tokengap-method"].startswith("o200k_base; openai-")
    low, high = counted.interval or (None, None)
    assert raw.headers.get("x-tokengap-interval") == (None if low is None else f"{low}-{high}")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"tools": [{"type": "web_search"}]}, "tools[0]"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]},
            "input[0].content[0].file_id",
        ),
    ],
)
def test_openai_refuses_what_it_cannot_count(server: Any, body: dict[str, Any], param: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        openai_of(server).responses.input_tokens.count(**{"model": "gpt-4o", "input": "Hello", **body})
    assert caught.value.param == param
    assert caught.value.type == "invalid_request_error"


def test_openai_unknown_model(server: Any) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        openai_of(server).responses.input_tokens.count(model="gpt-99-super", input="Hello")
    assert (caught.value.code, caught.value.param) == ("model_not_found", "model")


def test_anthropic(server: Any) -> None:
    messages: Any = [{"role": "user", "content": "Hello, Claude"}]
    client = anthropic_of(server)
    counted = client.messages.count_tokens(model="claude-opus-4-6", system="You are a scientist", messages=messages)
    assert counted.input_tokens == 14  # as in Anthropic's own example
    raw = client.messages.with_raw_response.count_tokens(model="claude-opus-4-6", messages=messages)
    assert raw.headers["x-tokengap-kind"] == "heuristic"
    assert "x-tokengap-interval" not in raw.headers


def test_anthropic_errors(server: Any) -> None:
    messages: Any = [{"role": "user", "content": "Hello"}]
    client = anthropic_of(server)
    with pytest.raises(anthropic.NotFoundError) as missing:
        client.messages.count_tokens(model="claude-99", messages=messages)
    assert missing.value.body["error"]["type"] == "not_found_error"  # type: ignore[index]
    search: Any = [{"type": "web_search_20250305", "name": "web_search"}]
    with pytest.raises(anthropic.BadRequestError) as refused:
        client.messages.count_tokens(model="claude-opus-4-6", messages=messages, tools=search)
    assert refused.value.body["error"]["type"] == "invalid_request_error"  # type: ignore[index]
    assert "tools[0]" in str(refused.value)


def test_google(server: Any) -> None:
    client = google_of(server)
    counted = client.models.count_tokens(model="gemini-2.5-pro", contents="What is your name?")
    body = {"contents": [{"role": "user", "parts": [{"text": "What is your name?"}]}]}
    assert counted.total_tokens == count_request(body, "gemini-2.5-pro").tokens
    with pytest.raises(errors.ClientError) as missing:
        client.models.count_tokens(model="gemini-99", contents="Hello")
    assert (missing.value.code, missing.value.status) == (404, "NOT_FOUND")


def test_google_on_vertex(server: Any) -> None:
    options = types.HttpOptions(base_url=server.url)
    client = genai.Client(vertexai=True, api_key="any", http_options=options)
    config = types.CountTokensConfig(system_instruction="Be brief.")
    counted = client.models.count_tokens(model="gemini-2.5-pro", contents="What is your name?", config=config)
    body = {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": "What is your name?"}]}],
    }
    assert counted.total_tokens == count_request(body, "gemini-2.5-pro").tokens
    path = "/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-pro:countTokens"
    assert server.post(path, body).json() == {"totalTokens": counted.total_tokens}


HOSTED = [
    *("googleSearch", "google_search", "googleSearchRetrieval", "codeExecution", "code_execution", "urlContext"),
    *("retrieval", "googleMaps", "fileSearch", "computerUse", "enterpriseWebSearch"),
]


@pytest.mark.parametrize("hosted", HOSTED)
@pytest.mark.parametrize("inside", [False, True])
def test_google_refuses_tools_that_it_runs_itself(server: Any, hosted: str, inside: bool) -> None:
    body: Any = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "tools": [{hosted: {}}]}
    response = server.post(
        "/v1beta/models/gemini-2.5-pro:countTokens", {"generateContentRequest": body} if inside else body
    )
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
    assert f"tools[0].{hosted}" in error["message"]


def test_google_refuses_them_on_vertex(server: Any) -> None:
    client = genai.Client(vertexai=True, api_key="any", http_options=types.HttpOptions(base_url=server.url))
    config = types.CountTokensConfig(tools=[types.Tool(google_search=types.GoogleSearch())])
    with pytest.raises(errors.ClientError) as refused:
        client.models.count_tokens(model="gemini-2.5-pro", contents="Hi", config=config)
    assert (refused.value.code, refused.value.status) == (400, "INVALID_ARGUMENT")


SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "x-widget": "map"}}}


RESPONSES, MESSAGES, GEMINI = (
    "/v1/responses/input_tokens",
    "/v1/messages/count_tokens",
    "/v1beta/models/gemini-3-pro-preview:countTokens",
)
USER = {"role": "user", "content": "a"}
ASKED = {"role": "user", "parts": [{"text": "a"}]}
CALL = {"functionCall": {"name": "f", "args": {"a": 1}}}


def with_thought(part: dict[str, Any]) -> dict[str, Any]:
    return {"contents": [ASKED, {"role": "model", "parts": [part]}]}


@pytest.mark.parametrize(
    ("path", "body", "without"),
    [
        (RESPONSES, {"input": "a", "tools": [{**TOOL, "parameters": SCHEMA}]}, None),
        (RESPONSES, {"input": "a", "tools": [{**TOOL, "beta": True}]}, {"input": "a", "tools": [TOOL]}),
        (RESPONSES, {"input": "a", "text": {"format": {"type": "json_schema", "name": "a", "schema": SCHEMA}}}, None),
        (RESPONSES, {"input": [USER, {"type": "reasoning", "id": "1", "summary": [], "encrypted_content": "x" * 99}]},
         {"input": [USER]}),
        (MESSAGES, {"messages": [USER], "tools": [{"name": "a", "input_schema": SCHEMA, "input_examples": [{"a": 1}]}]},
         None),
        (MESSAGES, {"messages": [USER, {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "sig"}, {"type": "text", "text": "x"}]}]},
         {"messages": [USER, {"role": "assistant", "content": [{"type": "text", "text": "x"}]}]}),
        (MESSAGES, {"messages": [USER, {"role": "assistant", "content": [
            {"type": "redacted_thinking", "data": "abc"}, {"type": "text", "text": "x"}]}]},
         {"messages": [USER, {"role": "assistant", "content": [{"type": "text", "text": "x"}]}]}),
        (GEMINI, with_thought({**CALL, "thoughtSignature": "YWJj"}), with_thought(CALL)),
        (GEMINI, with_thought({"text": "t", "thought": True}), None),
    ],
)  # fmt: skip
def test_what_a_request_shows_widens_the_interval(
    server: Any, path: str, body: dict[str, Any], without: dict[str, Any] | None
) -> None:
    """What programs send back of earlier turns, and what schemas have beside the keywords, is never refused."""
    model = {} if path == GEMINI else {"model": "claude-opus-4-6" if path == MESSAGES else "gpt-4o"}
    response = server.post(path, {**model, **body})
    assert response.status_code == 200, response.text
    assert "part_not_counted" in response.headers["x-tokengap-warnings"]
    if without is not None:
        plain = server.post(path, {**model, **without})
        assert response.json() == plain.json()
        if path == RESPONSES:
            low, high = map(int, response.headers["x-tokengap-interval"].split("-"))
            assert (low, plain.headers["x-tokengap-interval"]) != (low, f"{low}-{high}")


@pytest.mark.parametrize(
    ("path", "body", "place"),
    [
        (RESPONSES, {"input": "a", "tools": [{"type": "web_search"}]}, "tools[0]"),
        (RESPONSES, {"input": "a", "prompt": {"id": "pmpt_1"}}, "prompt"),
        (MESSAGES, {"messages": [USER], "mcp_servers": [{"type": "url", "url": "https://x"}]}, "mcp_servers"),
        (MESSAGES, {"messages": [USER], "tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "tools[0]"),
        (GEMINI, {"contents": [ASKED], "tools": [{"functionDeclarations": [{"name": "f"}], "googleSearch": {}}]},
         "tools[0].googleSearch"),
        (GEMINI, {"contents": [ASKED], "cachedContent": "cachedContents/1"}, "cachedContent"),
    ],
)  # fmt: skip
def test_what_a_request_does_not_show_is_refused(server: Any, path: str, body: dict[str, Any], place: str) -> None:
    model = {} if path == GEMINI else {"model": "claude-opus-4-6" if path == MESSAGES else "gpt-4o"}
    response = server.post(path, {**model, **body})
    assert response.status_code == 400
    assert place in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (RESPONSES, {"input": "a", "prompt": None, "context_management": None}),
        (RESPONSES, {"input": [
            USER, {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}", "async_": None},
            {"type": "function_call_output", "call_id": "1", "output": "x"}]}),
        (MESSAGES, {"messages": [USER], "mcp_servers": [], "context_management": {"edits": []}}),
        (GEMINI, {"contents": [ASKED], "generationConfig": {"responseFormat": None}}),
    ],
)  # fmt: skip
def test_what_is_empty_adds_nothing(server: Any, path: str, body: dict[str, Any]) -> None:
    model = {} if path == GEMINI else {"model": "claude-opus-4-6" if path == MESSAGES else "gpt-4o"}
    response = server.post(path, {**model, **body})
    assert response.status_code == 200, response.text
    assert "part_not_counted" not in response.headers.get("x-tokengap-warnings", "")


WHOLE = "generateContentRequest."


@pytest.mark.parametrize(
    ("path", "body", "place", "message"),
    [
        (GEMINI, {"contents": [{"parts": [{"text": 3}]}]}, "contents[0].parts[0].text",
         "a string is needed, not a number"),
        (GEMINI, {"generateContentRequest": {"contents": [{"parts": [{"text": 3}]}]}},
         f"{WHOLE}contents[0].parts[0].text", "a string is needed, not a number"),
        (GEMINI, {"generateContentRequest": {"contents": []}}, f"{WHOLE}contents",
         "empty: at least one message or text is needed"),
        (GEMINI, {"contents": 3}, "contents", "an array of contents is needed, each with its parts"),
        (GEMINI, {"model": 3}, "model", "Input should be a valid string"),
        (GEMINI, {"contents": [ASKED], "tools": [{"functionDeclarations": [{"name": "f", "parameters": {
            "type": "object", "properties": {"a b/c": {"type": "x"}}}}]}]},
         'tools[0].functionDeclarations[0].parameters.properties["a b/c"].type', "'x' is not a JSON Schema type"),
        (MESSAGES, {"messages": [USER], "tools": [{"name": "a", "input_schema": {"type": "object", "properties": {
            "a b": {"type": "x"}}}}]}, 'tools[0].input_schema.properties["a b"].type', "'x' is not a JSON Schema type"),
        (MESSAGES, {"messages": 3}, "messages", "an array is needed, not a number"),
        (RESPONSES, {"input": "a", "model": 3}, "model", "Input should be a valid string"),
        (RESPONSES, {"input": [{"role": "user", "content": 3}]}, "input[0].content", "a text, an array of parts"),
        ("/tokenize", {"prompt": 3}, "prompt", "Input should be a valid string"),
    ],
)  # fmt: skip
def test_the_place_of_a_fault_is_said_once(
    server: Any, path: str, body: dict[str, Any], place: str, message: str
) -> None:
    model = {RESPONSES: {"model": "gpt-4o"}, MESSAGES: {"model": "claude-opus-4-6"}}.get(path, {})
    error = server.post(path, {**model, **body}).json()["error"]
    assert error["message"].startswith(f"{place}: {message}")
    assert error.get("param", place) == place


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"contents": [{**ASKED, "a b": 1}]}, 'contents[0]["a b"] may be part of the prompt'),
        ({"generateContentRequest": {"contents": [ASKED], "tools": [{"googleSearch": {}}]}},
         f"{WHOLE}tools[0].googleSearch may be part of the prompt"),
        ({"generateContentRequest": {}}, f"{WHOLE}contents: 'contents' is missing"),
        ({"foo": 1}, "'foo' is no member of this call"),
    ],
)  # fmt: skip
def test_a_message_that_names_the_place_is_not_put_after_it(server: Any, body: dict[str, Any], message: str) -> None:
    assert server.post(GEMINI, body).json()["error"]["message"].startswith(message)


@pytest.mark.parametrize("version", ["v1", "v1beta"])
def test_google_paths(server: Any, version: str) -> None:
    path = f"/{version}/models/gemini-2.5-pro:countTokens"
    body = {"contents": [{"parts": [{"text": "Hello"}]}]}
    plain = server.post(path, body)
    assert plain.status_code == 200
    for model in ("gemini-2.5-pro", "models/gemini-2.5-pro"):
        assert server.post(path, {"generateContentRequest": {"model": model, **body}}).json() == plain.json()
    wrong = server.post(path, {"contents": 3}).json()["error"]
    assert (wrong["code"], wrong["status"]) == (400, "INVALID_ARGUMENT")


HI = {"role": "user", "content": "Hi"}
IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}


@pytest.mark.parametrize(
    ("path", "body", "place"),
    [
        ("openai", {"messages": [HI]}, "messages"),
        ("openai", {"input": "a", "messages": [HI]}, "messages"),
        ("openai", {"prompt": "a"}, "prompt"),
        ("openai", {"input": "a", "system": "b"}, "system"),
        ("openai", {}, "input"),
        ("openai", {"input": ["a", "b"]}, "input[0]"),
        ("openai", {"input": [{"role": "user", "content": [{"type": "text", "text": "a"}]}]},
         "input[0].content[0].type"),
        ("openai", {"input": [{"role": "tool", "content": "a"}]}, "input[0].role"),
        ("openai", {"input": "a", "tools": [{"type": "function", "function": {"name": "a"}}]}, "tools[0].function"),
        ("openai", {"input": "a", "tools": [{"name": "a", "input_schema": {"type": "object"}}]},
         "tools[0].input_schema"),
        ("openai", {"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}]},
         "input[0].content[0].file_id"),
        ("anthropic", {"input": "hi"}, "input"),
        ("anthropic", {"contents": [{"parts": [{"text": "a"}]}]}, "contents"),
        ("anthropic", {"prompt": "hi"}, "prompt"),
        ("anthropic", {}, "messages"),
        ("anthropic", {"messages": [HI], "instructions": "a"}, "instructions"),
        ("anthropic", {"messages": [{"role": "user", "content": [{"type": "input_text", "text": "a"}]}]},
         "messages[0].content[0].type"),
        ("anthropic", {"messages": [{"role": "developer", "content": "a"}]}, "messages[0].role"),
        ("anthropic", {"messages": [HI], "tools": [{"type": "function", "function": {"name": "a"}}]},
         "tools[0].function"),
        ("anthropic", {"messages": [{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "image", "source":
             {"type": "file", "file_id": "f"}}]}]}]}, "messages[0].content[0].content[0].source.file_id"),
        ("google", {"messages": [HI]}, "messages"),
        ("google", {"input": "a"}, "input"),
        ("google", {}, "contents"),
        ("google", {"contents": "a"}, "contents"),
        ("google", {"contents": [{"role": "user", "content": "a"}]}, "contents[0]"),
        ("google", {"contents": [{"parts": ["a"]}]}, "contents[0].parts[0]"),
        ("google", {"contents": [{"parts": [{"text": "a"}]}], "tools": [{"type": "function", "name": "a"}]},
         "tools[0].type"),
        ("google", {"generateContentRequest": {"model": "models/gemini-2.0-flash", "contents": []}}, "another model"),
        ("google", {"model": "gemini-2.0-flash", "contents": []}, "another model"),
    ],
)  # fmt: skip
def test_other_shapes_are_refused_as_the_vendor_would(server: Any, path: str, body: dict[str, Any], place: str) -> None:
    paths = {
        "openai": ("/v1/responses/input_tokens", {"model": "gpt-4o"}),
        "anthropic": ("/v1/messages/count_tokens", {"model": "claude-opus-4-6"}),
        "google": ("/v1beta/models/gemini-2.5-pro:countTokens", {}),
    }
    response = server.post(paths[path][0], {**paths[path][1], **body})
    error = response.json()["error"]
    assert response.status_code == 400
    if path == "openai":
        assert error["param"] == place
    else:
        assert place in error["message"]


def test_a_style_of_unknown_length_is_said_to_be_one(server: Any) -> None:
    client = openai_of(server).responses.input_tokens.with_raw_response
    plain = client.count(model="gpt-4o", input="Hi")
    styled = client.count(model="gpt-4o", input="Hi", personality="friendly")
    assert styled.parse() == plain.parse()
    assert plain.headers["x-tokengap-kind"] == "reconstructed"
    assert styled.headers["x-tokengap-kind"] == "heuristic"
    assert "x-tokengap-interval" not in styled.headers
    assert {"uncalibrated", "part_not_counted"} <= set(styled.headers["x-tokengap-warnings"].split(", "))


@pytest.mark.parametrize("name", ["audioTimestamp", "audio_timestamp"])
def test_timestamps_of_audio_add_nothing_where_there_is_none(server: Any, name: str) -> None:
    plain = server.post(GEMINI, {"contents": [ASKED]})
    marked = server.post(GEMINI, {"contents": [ASKED], "generationConfig": {name: True}})
    assert (marked.status_code, marked.json()) == (200, plain.json())
    assert marked.headers["x-tokengap-warnings"] == plain.headers["x-tokengap-warnings"]


def test_settings_that_add_nothing_pass(server: Any) -> None:
    body = {"model": "gpt-4o", "input": "Hi", "temperature": 0, "max_output_tokens": 9, "metadata": {"a": "b"}}
    assert server.post("/v1/responses/input_tokens", body).status_code == 200
    body = {"model": "claude-opus-4-6", "messages": [HI], "max_tokens": 9}
    assert server.post("/v1/messages/count_tokens", body).status_code == 200


def test_an_image_of_unknown_size_is_counted_as_the_most_and_says_so(server: Any) -> None:
    text = {"type": "text", "text": "Hi"}
    ask = {"model": "claude-opus-4-6", "messages": [{"role": "user", "content": [IMAGE, text]}]}
    of_text = count_request({**ask, "messages": [{"role": "user", "content": [text]}]}).tokens
    response = server.post("/v1/messages/count_tokens", ask)
    counted, part = response.json()["input_tokens"], count_request(ask).parts["images"]
    assert part.interval is not None
    low, high = (of_text + bound for bound in part.interval)
    assert response.headers["x-tokengap-interval"] == f"{low}-{high}"
    assert low < counted <= high
    assert "image_size_unknown" in response.headers["x-tokengap-warnings"].split(", ")


@pytest.mark.parametrize("model", ["claude-opus-4-6", "gemini-2.5-pro", "gpt-4o", "o200k_base", None])
def test_vllm_says_how_good_a_tokenizer_is_as_tokenize_does(server: Any, model: str | None) -> None:
    named = {} if model is None else {"model": model}
    response = server.post("/tokenize", {"prompt": "hi", **named})
    by = {"counter": model} if model == "o200k_base" else named
    (shown,) = server.post("/v1/tokenize", {"input": "hi", **by}).json()["results"]
    assert response.headers["x-tokengap-kind"] == shown["kind"]
    assert response.headers.get("x-tokengap-warnings", "") == ", ".join(shown["warnings"])
    assert (shown["kind"] == "heuristic") == (model in ("claude-opus-4-6", "gemini-2.5-pro"))


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/v1beta/tunedModels/x:countTokens", "google"),
        ("/v1beta/models/gemini-2.5-pro:generateContent", "google"),
        ("/v1beta1/publishers/google/models/gemini-2.5-pro:computeTokens", "google"),
        ("/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-pro:computeTokens", "google"),
        ("/v1/models/gemini-2.5-pro:generateContent", "google"),
        ("/v1beta/files", "google"),
        ("/v1/models/a%0Ab/c:countTokens", "google"),
        ("/v1/messages", "anthropic"),
        ("/v1/messages/batches", "anthropic"),
        ("/v1/responses", "openai"),
        ("/v1/chat/completions", "openai"),
        ("/v1/nothing", "own"),
    ],
)
def test_what_is_not_offered_is_said_in_the_shape_of_its_vendor(server: Any, path: str, shape: str) -> None:
    response = server.post(path, {})
    body = response.json()
    assert response.status_code == 404
    if shape == "google":
        assert (body["error"]["code"], body["error"]["status"]) == (404, "NOT_FOUND")
    elif shape == "anthropic":
        assert (body["type"], body["error"]["type"]) == ("error", "not_found_error")
        assert response.headers["request-id"] == body["request_id"]
    elif shape == "openai":
        assert (body["error"]["type"], body["error"]["code"]) == ("invalid_request_error", None)
    else:
        assert response.headers["content-type"] == "application/problem+json"


def test_sdks_show_what_is_not_offered(server: Any) -> None:
    client = google_of(server)
    with pytest.raises(errors.ClientError) as google:
        client.models.generate_content(model="gemini-2.5-pro", contents="Hi")
    assert (google.value.code, google.value.status) == (404, "NOT_FOUND")
    assert "no operation has this path" in str(google.value.message)
    with pytest.raises(anthropic.NotFoundError) as claude:
        anthropic_of(server).messages.create(model="claude-opus-4-6", max_tokens=1, messages=[HI])  # type: ignore[list-item]
    assert claude.value.request_id


def test_the_id_of_a_request_is_where_each_sdk_looks_for_it(server: Any) -> None:
    client, messages = anthropic_of(server), [HI]
    with pytest.raises(anthropic.NotFoundError) as missing:
        client.messages.count_tokens(model="claude-99", messages=messages)  # type: ignore[arg-type]
    assert missing.value.request_id == missing.value.body["request_id"]  # type: ignore[index]
    raw = client.messages.with_raw_response.count_tokens(model="claude-opus-4-6", messages=messages)  # type: ignore[arg-type]
    assert raw.headers["request-id"] == raw.headers["x-request-id"]
    with pytest.raises(openai.NotFoundError) as unknown:
        openai_of(server).responses.input_tokens.count(model="gpt-99-super", input="Hello")
    assert unknown.value.request_id == unknown.value.response.headers["x-request-id"]


def test_vllm_names_what_a_client_may_not_do(serve: Any) -> None:
    with serve(counters="o200k_base", preload="o200k_base", api_keys="k") as server:
        unknown = server.post("/tokenize", {"prompt": "a"})
        refused = server.post("/tokenize", {"prompt": "a", "model": "gpt-4"}, headers={"X-Api-Key": "k"})
    assert (unknown.status_code, unknown.json()["error"]["type"]) == (401, "AuthenticationError")
    assert (refused.status_code, refused.json()["error"]["type"]) == (403, "PermissionDeniedError")


@pytest.mark.parametrize(
    ("path", "body", "param"),
    [
        ("/tokenize", {"prompt": "a" * 100_001}, "prompt"),
        ("/v1/responses/input_tokens", {"model": "gpt-4o", "input": "a" * 2_000_001}, None),
    ],
)
def test_too_much_text_is_where_it_is(server: Any, path: str, body: dict[str, Any], param: str | None) -> None:
    response = server.post(path, body)
    assert (response.status_code, response.json()["error"]["param"]) == (413, param)


def test_vllm(server: Any) -> None:
    answered = server.post("/tokenize", {"model": "gpt-4o", "prompt": "Hello 😀", "return_token_strs": True}).json()
    assert answered["count"] == len(answered["tokens"]) == len(answered["token_strs"])
    assert answered["max_model_len"] == 128_000
    assert server.post("/detokenize", {"tokens": answered["tokens"]}).json() == {"prompt": "Hello 😀"}
    for body in ({"messages": [{"role": "user", "content": "Hi"}]}, {"prompt": "a", "chat_template": "x"}, {}):
        refused = server.post("/tokenize", body)
        assert refused.status_code == refused.json()["error"]["code"] == 400
    assert server.post("/detokenize", {"tokens": [300_000]}).status_code == 400


NAMES = sorted(models())


def test_each_sdk_lists_the_models_that_its_counting_call_knows(server: Any) -> None:
    with openai_of(server) as gpt, anthropic_of(server) as claude, google_of(server) as gemini:
        assert [model.id for model in gpt.models.list()] == NAMES
        assert [model.id for model in claude.models.list()] == NAMES
        assert [model.id for model in claude.beta.models.list()] == NAMES
        listed = list(gemini.models.list())
    assert [model.name for model in listed] == [f"models/{name}" for name in NAMES]
    assert listed[0].supported_actions == ["countTokens"]
    assert server.get("/v1beta/models").json()["models"][0]["name"] == f"models/{NAMES[0]}"
    assert server.get("/v1/models").json().keys() == {"models"}


def test_lists_come_in_pages(server: Any) -> None:
    size = len(NAMES) // 3 + 1
    with anthropic_of(server) as claude:
        page = claude.models.list(limit=size)
        assert ([model.id for model in page.data], page.has_more) == (NAMES[:size], True)
        assert [model.id for model in page] == NAMES
        before = claude.models.list(limit=2, before_id=NAMES[5])
        assert ([model.id for model in before.data], before.has_more) == (NAMES[3:5], True)
        assert not claude.models.list(limit=9, before_id=NAMES[2]).has_more
    with google_of(server) as gemini:
        listed = gemini.models.list(config={"page_size": size})
        assert len(listed.page) == size
        assert [model.name for model in listed] == [f"models/{name}" for name in NAMES]


@pytest.mark.parametrize("query", [{"limit": "0"}, {"limit": "x"}, {"limit": "1001"}, {"after_id": "gpt-99"},
                                   {"after_id": "gpt-4", "before_id": "gpt-4o"}])  # fmt: skip
def test_a_page_that_there_is_not(server: Any, query: dict[str, str]) -> None:
    answered = server.get("/v1/models", params=query, headers={"anthropic-version": "2023-06-01"})
    assert (answered.status_code, answered.json()["error"]["type"]) == (400, "invalid_request_error")
    assert answered.headers["request-id"]


@pytest.mark.parametrize("query", ["pageSize=0", "pageToken=gpt-99", "pageSize=2&pageSize=3", "limit=3"])
def test_a_page_that_google_has_not(server: Any, query: str) -> None:
    answered = server.get(f"/v1beta/models?{query}")
    assert (answered.status_code, answered.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


def test_one_model_is_not_offered_in_the_shape_of_who_asks(server: Any) -> None:
    with openai_of(server) as gpt, pytest.raises(openai.NotFoundError) as missing:
        gpt.models.retrieve("gpt-4o")
    assert missing.value.type == "invalid_request_error"
    with anthropic_of(server) as claude, pytest.raises(anthropic.NotFoundError) as unknown:
        claude.models.retrieve("claude-opus-4-6")
    assert unknown.value.body["error"]["type"] == "not_found_error"  # type: ignore[index]  # the SDK says object
    with google_of(server) as gemini, pytest.raises(errors.ClientError) as google:
        gemini.models.get(model="gemini-2.5-pro")
    assert google.value.status == "NOT_FOUND"
    assert server.get("/v1/models/gpt-4o").headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        (MESSAGES, "beta=true", 200),
        (RESPONSES, "api-version=preview", 200),
        (GEMINI, "key=any", 200),
        (GEMINI, "%24alt=json;enum-encoding=int&prettyPrint=false&quotaUser=me", 200),
        (GEMINI, "alt=json", 200),
        (GEMINI, "alt=sse", 400),
        (GEMINI, "$alt=proto", 400),
        (GEMINI, "fields=totalTokens", 400),
        (GEMINI, "callback=f", 400),
        (GEMINI, "foo=1", 400),
        (GEMINI, "key=a&key=b", 400),
    ],
)
def test_parameters_are_taken_as_the_vendor_takes_them(server: Any, path: str, query: str, status: int) -> None:
    bodies = {
        MESSAGES: {"model": "claude-opus-4-6", "messages": [USER]},
        RESPONSES: {"model": "gpt-4o", "input": "a"},
        GEMINI: {"contents": [ASKED]},
    }
    answered = server.post(f"{path}?{query}", bodies[path])
    assert answered.status_code == status, answered.text
    if status == 400:
        assert answered.json()["error"]["status"] == "INVALID_ARGUMENT"
        assert query.partition("=")[0] in answered.json()["error"]["message"]
