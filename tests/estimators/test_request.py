"""What a request may hold: nothing in it is dropped in silence, and what is wrong is named by its place."""

from __future__ import annotations

import contextlib
import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokengap.estimators.fields import MAX_DEPTH, join
from tokengap.estimators.request_count import count_request
from tokengap.tokenizers.errors import TokengapError

ASK = [{"role": "user", "content": "x"}]
PNG_DATA = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z/C/HgAGgwJ/lK3Q6wAAAABJRU5ErkJggg=="  # 1 by 1
PNG = f"data:image/png;base64,{PNG_DATA}"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "place": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "Its name"}, "at": {"$ref": "#/$defs/Point"}},
            "required": ["city"],
        },
        "tags": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
        "unit": {"type": "string", "enum": ["c", "f"], "default": "c"},
    },
    "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "number"}}}},
    "additionalProperties": False,
}
CHAT: dict[str, Any] = {
    "model": "gpt-4o",
    "temperature": 0.5,
    "metadata": {"team": "search"},
    "stream_options": {"include_usage": True},
    "messages": [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "name": "ann",
            "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"place":{"city":"Ulm"}}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "a pixel"},
    ],
    "tools": [{"type": "function", "function": {"name": "look", "description": "Look it up", "parameters": SCHEMA}}],
    "tool_choice": {"type": "function", "function": {"name": "look"}},
    "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}},
}
RESPONSES: dict[str, Any] = {
    "model": "gpt-4o",
    "instructions": "Be brief.",
    "reasoning": {"effort": "low"},
    "input": [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "What is this?"},
                {"type": "input_image", "image_url": PNG, "detail": "low"},
            ],
        },
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "a pixel"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One pixel."}]},
    ],
    "tools": [{"type": "function", "name": "look", "parameters": SCHEMA, "strict": True}],
    "tool_choice": {"type": "function", "name": "look"},
    "text": {"format": {"type": "json_schema", "name": "answer", "schema": SCHEMA}, "verbosity": "low"},
}
ANTHROPIC: dict[str, Any] = {
    "model": "claude-opus-4-6",
    "max_tokens": 100,
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    "thinking": {"type": "enabled", "budget_tokens": 2000},
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG_DATA}},
                {
                    "type": "document",
                    "title": "Note",
                    "source": {"type": "text", "media_type": "text/plain", "data": "x"},
                },
            ],
        },
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "look", "input": {}}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a pixel"}]},
            ],
        },
    ],
    "tools": [{"name": "look", "description": "Look it up", "input_schema": SCHEMA}],
    "tool_choice": {"type": "tool", "name": "look"},
}
GEMINI: dict[str, Any] = {
    "model": "models/gemini-2.5-pro",
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "contents": [
        {"role": "user", "parts": [{"text": "What?"}, {"inlineData": {"mimeType": "image/png", "data": PNG_DATA}}]},
        {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {}}}]},
    ],
    "tools": [{"functionDeclarations": [{"name": "look", "parameters": {"type": "OBJECT", "properties": {}}}]}],
    "generationConfig": {"temperature": 0.5},
}
SHAPES = {"chat": CHAT, "responses": RESPONSES, "anthropic": ANTHROPIC, "gemini": GEMINI}

_OF_THE_CALLER = {"metadata", "input", "args", "response"}  # whose keys are text, or mean nothing to the model
_NAMES = {"properties", "$defs"}  # whose keys are names of schemas


def objects(value: Any, path: str = "", key: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of a request whose keys have a meaning, with its path."""
    if isinstance(value, dict):
        if key not in _NAMES:
            yield path, value
        for name, member in value.items():
            if name not in _OF_THE_CALLER or isinstance(member, list):
                yield from objects(member, join(path, name), name)
    elif isinstance(value, list):
        for i, member in enumerate(value):
            yield from objects(member, join(path, i))


PLACES = [(shape, path) for shape, request in SHAPES.items() for path, _ in objects(request)]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_known_request_is_counted_whole(shape: str) -> None:
    count = count_request(SHAPES[shape])
    assert count.not_counted == ()
    assert count.tokens == sum(part.tokens for part in count.parts.values())
    assert set(count.parts) >= {"messages", "tools", "images"}


def test_every_depth_is_tried() -> None:
    assert len(PLACES) > 80
    assert max(path.count(".") + path.count("[") for _, path in PLACES) >= 8


@pytest.mark.parametrize(("shape", "path"), PLACES)
@settings(max_examples=10)
@given(
    key=st.text(min_size=1, max_size=8).map("zz_".__add__),
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
        max_leaves=3,
    ),
)
def test_an_unknown_key_is_listed_at_every_depth(shape: str, path: str, key: str, value: Any) -> None:
    request = copy.deepcopy(SHAPES[shape])
    next(found for place, found in objects(request) if place == path)[key] = value
    assert join(path, key) in count_request(request).not_counted


@st.composite
def messages(draw: st.DrawFn) -> list[dict[str, Any]]:
    text = st.text(max_size=20)
    content = text | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": text}), min_size=1, max_size=3)
    call = st.fixed_dictionaries(
        {
            "id": st.just("c"),
            "type": st.just("function"),
            "function": st.fixed_dictionaries({"name": st.just("look"), "arguments": text}),
        }
    )
    said = st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "developer", "user", "tool", "function"]), "content": content},
        optional={"name": text},
    )
    called = st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": st.none() | text}, optional={"tool_calls": st.lists(call, max_size=3)}
    )
    return draw(st.lists(said | called, max_size=5))


@given(
    before=messages().filter(len),
    added=messages().filter(len),
    after=messages(),
    model=st.sampled_from(["gpt-4", "gpt-4o", "gpt-3.5-turbo-0301", "gpt-5", "claude-opus-4-6", "gemini-2.5-pro"]),
    with_tools=st.booleans(),
)
def test_adding_a_message_never_lowers_a_count(
    before: Any, added: Any, after: Any, model: str, with_tools: bool
) -> None:
    rest = {"tools": CHAT["tools"]} if with_tools else {}
    fewer = count_request({"messages": before + after, **rest}, model)
    more = count_request({"messages": before + added[:1] + after, **rest}, model)
    assert more.tokens >= fewer.tokens
    assert more.interval is None or (fewer.interval is not None and more.interval[1] >= fewer.interval[1])


NO_SCHEMAS: tuple[Any, ...] = ("", [], 0, False)


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        ({}, "request: none of messages, input, contents, prompt given"),
        ({"messages": ASK, "input": "x"}, "request: both messages and input given"),
        (3, "request: an object, a list of messages or a text is needed, not a number"),
        (None, "request: an object"),
        ({"messages": "Hello"}, "messages: an array is needed, not a string"),
        ({"input": 3}, "input: a text or an array is needed, not a number"),
        (["Hello", {"role": "user", "content": ""}], r"\[0\]: an object is needed, not a string"),
        ([{"content": "x"}], r"\[0\]: 'role' is missing"),
        ([{"role": "user"}], r"\[0\]: 'content' is missing"),
        ([{"role": "usr", "content": ""}], r"\[0\].role: unknown role 'usr'; known: assistant, developer"),
        ([{"role": 3, "content": ""}], r"\[0\].role: a string is needed, not a number"),
        ([{"role": "user", "content": 3}], r"\[0\].content: a text, an array of parts or null is needed"),
        ([{"role": "user", "content": [{"text": "x"}]}], r"\[0\].content\[0\]: 'type' is missing"),
        ([{"role": "user", "content": [{"type": "text"}]}], r"\[0\].content\[0\]: 'text' is missing"),
        ([{"role": "user", "content": [{"type": "txt"}]}], r"\[0\].content\[0\].type: unknown part type 'txt'"),
        (
            [{"role": "user", "content": [{"type": "text", "text": None}]}],
            r"\[0\].content\[0\].text: a string is needed",
        ),
        ({"input": [{"type": "function_cal"}]}, r"input\[0\].type: unknown item type 'function_cal'"),
        ({"input": [[1, 2]]}, "input: token ids are counted already"),
        ({"prompt": []}, "prompt: empty: at least one message or text is needed"),
        ({"prompt": [{"role": "user", "content": "x"}]}, "prompt: a text or"),
        ({"input": ["x"], "instructions": "y"}, "input: a list of texts cannot have instructions"),
        ({"messages": [{"role": "user", "content": "x", "weight": float("nan")}]}, r"messages\[0\].weight: nan is not"),
        ({"messages": ASK, "x": float("inf")}, "x: inf is not a JSON number"),
        ({"messages": ASK, "x": {1}}, "x: a Python set is not JSON"),
        ({"messages": ASK, "x": b"x"}, "x: a Python bytes is not JSON"),
        ({"messages": ASK, 1: "x"}, "request: a key must be a string, not a number"),
        ({"messages": ASK, "model": 4}, "model: a string is needed"),
        ({"messages": ASK, "tools": {}}, "tools: an array is needed, not an object"),
        ({"messages": ASK, "tools": [{}]}, r"tools\[0\]: not a tool"),
        ({"messages": ASK, "tools": [{"type": "function", "function": {}}]}, r"tools\[0\].function: 'name' is missing"),
        ({"messages": ASK, "tool_choice": "always"}, "tool_choice: unknown choice 'always'; known: auto, none"),
        ({"messages": ASK, "response_format": {"type": "yaml"}}, "response_format.type: unknown format 'yaml'"),
        ([{"role": "assistant", "tool_calls": [{"id": "c"}]}], r"\[0\].tool_calls\[0\]: 'function' is missing"),
        ({"messages": ASK, "x": 10**400}, "x: the number is too large"),
        ({"messages": ASK, "x": [object()]}, r"x\[0\]: a Python object is not JSON; give an object as a dict"),
        ({"messages": ASK, "a": float("nan"), "b": float("inf")}, "a: nan is not a JSON number"),  # the first of them
        ([], "request: an empty array: give at least one message or text"),
        ({"messages": []}, "messages: empty: at least one message or text is needed"),
        ({"input": []}, "input: empty: at least one message or text is needed"),
        ({"messages": [], "system": "x", "tools": []}, "messages: empty"),
        ({"messages": ASK, "contents": "x"}, "request: both messages and contents given; exactly one is needed"),
        ({"body": {"messages": ASK, "input": "x"}}, "body: both messages and input given"),
        ({"params": {"messages": [{"role": "user"}]}}, r"params.messages\[0\]: 'content' is missing"),
        ({"requests": [{}]}, "requests: several requests; count each on its own"),
        ({"requests": []}, "requests: empty"),
        ({"requests": "x"}, "requests: an array is needed, not a string"),
        ([{"messages": ASK}, {"messages": ASK}], r"\[0\]: a request in an array: .* JSONL, with one a line"),
        ([{"custom_id": "1", "body": {}}], r"\[0\]: a request in an array"),
        ({"body": {"body": {"messages": ASK}}}, "body.body: 'body' within 'body': a line of a batch file holds one"),
        ({"messages": ASK, "tools": [{"name": "f"}]}, r"tools\[0\]: 'input_schema' is missing"),
        *(
            (
                {
                    "messages": ASK,
                    "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": no}},
                },
                r"response_format.json_schema.schema: a JSON schema \(an object\) is needed",
            )
            for no in NO_SCHEMAS
        ),
        *(
            (
                {"input": "x", "text": {"format": {"type": "json_schema", "name": "a", "schema": no}}},
                r"text.format.schema: a JSON schema \(an object\) is needed",
            )
            for no in NO_SCHEMAS
        ),
        (
            {"messages": ASK, "response_format": {"type": "json_schema", "json_schema": {"schema": {}}}},
            "response_format.json_schema: 'name' is missing",
        ),
        ({"input": "x", "text": {"format": {"type": "json_schema", "schema": {}}}}, "text.format: 'name' is missing"),
        ({"prompt": [1, 2]}, "prompt: token ids are counted already: their number is the count"),
        ({"messages": ASK, "instructions": "x"}, "instructions: it goes with 'input', not with 'messages'"),
        ({"input": "x", "system": "y"}, "system: it goes with 'messages', not with 'input'"),
        (
            [{"role": "user", "content": None}],
            r"\[0\].content: null: a text or at least one part is needed",
        ),
        ([{"role": "tool", "content": []}], r"\[0\].content: empty: a text or at least one part is needed"),
        ({"messages": ASK, "tools": [{"name": "look up"}]}, r"tools\[0\].name: 'look up' is no name of a tool"),
        ({"messages": ASK, "functions": [{"name": ""}]}, r"functions\[0\].name: '' is no name of a tool"),
        (
            {"messages": ASK, "response_format": {"type": "json_schema"}},
            "response_format: 'json_schema' is missing, or 'schema'",
        ),
        ({"messages": ASK, "tool_choice": "required"}, "tool_choice: a tool is required, and there are no tools"),
        ({"messages": ASK, "tool_choice": {"type": "any"}}, "tool_choice: a tool is required, and there are no tools"),
        (
            {**CHAT, "tool_choice": {"type": "function", "function": {"name": "find"}}},
            "tool_choice.function.name: there is no tool 'find'; known: look",
        ),
        (
            {**RESPONSES, "tool_choice": {"type": "function", "name": "find"}},
            "tool_choice.name: there is no tool 'find'",
        ),
        ({**ANTHROPIC, "tool_choice": {"type": "tool", "name": "find"}}, "tool_choice.name: there is no tool 'find'"),
        ({"messages": ASK, "function_call": {"name": "find"}}, "function_call.name: there is no tool 'find'"),
        (
            {"messages": [*ASK, {"role": "tool", "tool_call_id": "c", "content": "x"}]},
            r"messages\[1\].tool_call_id: no earlier message makes the call 'c'",
        ),
        (
            {"messages": [CHAT["messages"][3], *CHAT["messages"][1:3]]},
            r"messages\[0\].tool_call_id: no earlier message makes the call 'c1'",
        ),
        (
            {"input": [{"type": "function_call_output", "call_id": "c", "output": "x"}]},
            r"input\[0\].call_id: no earlier message makes the call 'c'",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c"}]}]},
            r"messages\[0\].content\[0\].tool_use_id: no earlier message makes the call 'c'",
        ),
    ],
)
def test_bad_input_is_named_by_its_place(request_: Any, error: str) -> None:
    with pytest.raises(TokengapError, match=f"^{error}"):
        count_request(request_, "gpt-4o")


RESULT = {"type": "function_call_output", "call_id": "c", "output": "x"}


@pytest.mark.parametrize(
    "request_",
    [
        # An earlier call that the request need not show: a piece of a conversation, or what the provider keeps.
        [{"role": "tool", "tool_call_id": "c", "content": "x"}],
        {"input": [RESULT], "previous_response_id": "r"},
        {"input": [RESULT], "conversation": {"id": "c"}},
        {"input": [{"type": "item_reference", "id": "i"}, RESULT]},
        {"input": [{"id": "i"}, RESULT]},
        # A call without an id, and a result without one: not every server sets them.
        {"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}, CHAT["messages"][3]]},
        {"messages": [*ASK, {"role": "tool", "content": "x"}]},
        # A conversation that ends with a call, as a line of training data does.
        {"messages": [*ASK, CHAT["messages"][2]]},
        {"messages": [*ASK, {"role": "assistant", "content": None}]},
        {"messages": [{"role": "function", "name": "f", "content": None}]},
        # OpenAI refuses a space in it, servers in its shape do not.
        {"messages": [{"role": "user", "name": "Ada Lovelace", "content": "x"}]},
        # Nothing is chosen where there is nothing to choose.
        {"messages": ASK, "tool_choice": "auto", "tools": []},
        {"messages": ASK, "tool_choice": "none", "tools": None},
        # Tools of the provider's, with a name, or with names that only it knows.
        {
            "messages": ASK,
            "tools": [{"type": "web_search_1", "name": "w"}],
            "tool_choice": {"type": "tool", "name": "w"},
        },
        {"messages": ASK, "tools": [{"type": "mcp_toolset"}], "tool_choice": {"type": "tool", "name": "any"}},
        {"messages": ASK, "mcp_servers": [{}], "tool_choice": {"type": "tool", "name": "any"}},
        {"input": "x", "tools": [{"type": "mcp"}], "tool_choice": {"type": "function", "name": "any"}},
        {
            "input": [{"type": "additional_tools", "role": "developer", "tools": []}, *ASK],
            "tool_choice": {"type": "function", "name": "any"},
        },
        {"prompt": {"id": "p"}, "tool_choice": {"type": "function", "name": "any"}},
        {
            "messages": ASK,
            "tools": [{"type": "custom", "custom": {"name": "c"}}],
            "tool_choice": {"type": "custom", "custom": {"name": "c"}},
        },
        # No input where the provider has all of it.
        {"previous_response_id": "r"},
        {"conversation": "c", "instructions": "x"},
        {"input": [], "previous_response_id": "r"},
    ],
)
def test_what_some_provider_takes_is_counted(request_: Any) -> None:
    assert count_request(request_, "gpt-4o").tokens > 0


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        ({"type": "strng"}, "type: 'strng' is not a JSON Schema type"),
        ({"type": 3}, "type: 3 is not"),
        ({"properties": []}, "properties: an object of schemas is needed, not an array"),
        (
            {"properties": {"a b": "string"}},
            r'properties\["a b"\]: a JSON schema \(an object\) is needed, not a string',
        ),
        ({"anyOf": []}, "anyOf: a non-empty array of schemas is needed"),
        ({"enum": "a"}, "enum: an array is needed, not a string"),
        ({"required": [1]}, "required: an array of property names is needed"),
        ({"items": 3}, "items: a JSON schema"),
        ({"minimum": True}, "minimum: a number is needed, not a boolean"),
        ({"description": 3}, "description: a string is needed"),
        ({"properties": {"a": {"$ref": "#/$defs/B"}}}, r"properties.a.\$ref: '#/\$defs/B' is not in the schema"),
        ({"properties": {"a": {"$ref": "http://x"}}}, r"properties.a.\$ref: only references within the schema"),
        (["type"], r"function.parameters: a JSON schema \(an object\) is needed, not an array"),
    ],
)
def test_what_is_no_schema_is_named_by_its_place(schema: Any, error: str) -> None:
    request = {"messages": ASK, "tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}]}
    with pytest.raises(TokengapError, match=r"^tools\[0\]\.function\.parameters.*") as caught:
        count_request(request, "gpt-4o")
    assert re.search(error, str(caught.value))


def nested(levels: int, build: Any, core: Any) -> Any:
    for _ in range(levels):
        core = build(core)
    return core


@pytest.mark.parametrize("levels", [MAX_DEPTH, 10_000])
@pytest.mark.parametrize(
    "build",
    [lambda x: [x], lambda x: {"properties": {"a": x}}, lambda x: {"items": x}, lambda x: {"anyOf": [x]}],
    ids=["array", "properties", "items", "anyOf"],
)
def test_hostile_nesting_is_refused(levels: int, build: Any) -> None:
    deep = nested(levels, build, {"type": "string"})
    parameters = deep if isinstance(deep, dict) else {"default": deep}
    for model in ("gpt-4o", "claude-opus-4-6"):
        with pytest.raises(TokengapError, match="deep"):
            count_request(
                {"messages": ASK, "tools": [{"type": "function", "function": {"name": "f", "parameters": parameters}}]},
                model,
            )
    with pytest.raises(TokengapError, match="deep"):
        count_request([{"role": "user", "content": deep}], "gpt-4o")


def test_deep_but_allowed() -> None:
    for build, levels in ((lambda x: {"items": x}, 60), (lambda x: {"properties": {"a": x}}, 45)):
        parameters = nested(levels, build, {"type": "string"})
        tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
        for model in ("gpt-4o", "claude-opus-4-6"):
            assert count_request({"messages": ASK, "tools": tools}, model).tokens > 40


WORDS = (
    "messages input contents system role content type text tools function name parameters properties items anyOf "
    "$ref enum required default image_url url source parts tool_calls arguments"
)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(WORDS.split()) | st.text(max_size=3),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    ),
    st.sampled_from(["gpt-4o", "claude-opus-4-6", "gemini-2.5-pro"]),
)
def test_any_json_is_counted_or_refused(request_: Any, model: str) -> None:
    try:
        count = count_request(request_, model)
    except TokengapError:
        return
    json.dumps(count.to_dict())
    assert count.tokens >= 0


@given(st.data())
def test_any_damage_to_a_request_is_counted_or_refused(data: st.DataObject) -> None:
    request = copy.deepcopy(data.draw(st.sampled_from(list(SHAPES.values()))))
    found = [place for _, place in objects(request)]
    place = data.draw(st.sampled_from(found))
    if place:
        place[data.draw(st.sampled_from(sorted(place)))] = data.draw(
            st.sampled_from([None, True, 0, -1, 1.5, "", "x", [], {}, ["x"], {"type": "x"}, [[]], [{}], float("nan")])
        )
    with contextlib.suppress(TokengapError):
        assert count_request(request).tokens >= 0


def test_references_that_multiply_or_circle() -> None:
    doubling = {
        f"D{i}": {"properties": {"a": {"$ref": f"#/$defs/D{i + 1}"}, "b": {"$ref": f"#/$defs/D{i + 1}"}}}
        for i in range(40)
    }
    doubling["D40"] = {"properties": {"a": {}}}
    parameters: dict[str, Any] = {"properties": {"a": {"$ref": "#/$defs/D0"}}, "$defs": doubling}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    doubled = count_request({"messages": ASK, "tools": tools}, "gpt-4o").parts["tools"]
    assert doubled.interval is not None
    assert 20 < doubled.interval[0] < doubled.tokens < 1_000 < doubled.interval[1]
    wide = {f"p{i}": {"$ref": "#/$defs/Long"} for i in range(200)}
    parameters = {"properties": wide, "$defs": {"Long": {"type": "string", "description": "so much " * 10_000}}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    repeated = count_request({"messages": ASK, "tools": tools}, "gpt-4o").parts["tools"]
    assert repeated.interval is not None
    assert 200 < repeated.interval[0] < repeated.tokens < 30_000 < repeated.interval[1]
    node = {"properties": {"next": {"$ref": "#/$defs/Node"}, "value": {"type": "string"}}}
    parameters = {
        "properties": {"head": {"$ref": "#/$defs/Node"}},
        "$defs": {"Node": node, "Unused": {"type": "string"}},
    }
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    count = count_request({"messages": ASK, "tools": tools}, "gpt-4o")
    assert count.not_counted == ("tools[0].function.parameters.$defs.Unused",)


@pytest.mark.parametrize(
    "setting",
    [
        {"moderation": {"model": "m", "policy": {"input": {"mode": "score"}}}},
        {"prompt_cache_options": {"mode": "explicit", "ttl": "30m", "prewarm": True}},
        {"reasoning": {"effort": "low", "summary": "auto", "context": "auto", "mode": "standard"}},
        {"thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}}},
        {"audio": {"voice": {"id": "v"}, "format": "wav"}},
        {"fallbacks": [{"model": "m"}], "billing_policy": {"type": "billing_policy"}, "diagnostics": None},
        {"anthropic_version": "bedrock-2023-05-31", "anthropic_beta": ["x"], "workspace_id": "w"},
        {"background_options": {"completion_window": "2h"}, "access_programs": {"cyber": "standard"}},
        {"serviceTier": "flex", "modelArmorConfig": {"promptTemplateName": "t"}},
    ],
)
def test_a_setting_adds_nothing(setting: dict[str, Any]) -> None:
    count = count_request({"messages": ASK, **setting}, "gpt-4o")
    assert count.not_counted == ()
    assert count.tokens == count_request({"messages": ASK}, "gpt-4o").tokens


def test_a_system_message_may_only_clear_what_went_before() -> None:
    # anthropic 2.14.0, BetaSystemMessageParam
    assert (
        count_request(
            {"messages": [*ASK, {"role": "system", "clear_at": "next_user_message"}]}, "claude-opus-4-6"
        ).tokens
        > 0
    )
    note = {"role": "system", "content": "Be brief.", "clear_at": "next_user_message"}
    shown = count_request({"messages": [*ASK, note]}, "claude-opus-4-6").tokens
    cleared = count_request({"messages": [*ASK, note, *ASK]}, "claude-opus-4-6").tokens
    assert shown > count_request({"messages": ASK}, "claude-opus-4-6").tokens
    assert cleared == count_request({"messages": [*ASK, *ASK]}, "claude-opus-4-6").tokens


def test_a_line_of_a_batch_may_name_its_model() -> None:
    whole = count_request({"model": "gpt-4", "body": {"messages": ASK}})
    assert whole == count_request({"messages": ASK}, "gpt-4")


def test_citations_that_are_off_add_nothing() -> None:
    source = {"type": "text", "media_type": "text/plain", "data": "x"}
    document = {"type": "document", "source": source, "citations": {"enabled": False, "zz": 1}}
    count = count_request({"messages": [{"role": "user", "content": [document]}]}, "claude-opus-4-6")
    assert count.not_counted == ("messages[0].content[0].citations.zz",)


def test_labels_of_parts_add_nothing() -> None:
    plain = {"type": "text", "text": "x"}
    labels = {"cache_control": {"type": "ephemeral"}, "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "30m"}}
    citations = {"citations": [{"type": "char_location", "cited_text": "x" * 99, "document_index": 0}]}
    labelled = [{"role": "assistant", "content": [{**plain, **labels, **citations}]}]
    assert count_request(labelled, "gpt-4o") == count_request([{"role": "assistant", "content": [plain]}], "gpt-4o")


def test_how_parts_are_joined_is_not_known() -> None:
    def texts(*words: str) -> Any:
        return count_request(
            [{"role": "user", "content": [{"type": "text", "text": word} for word in words]}], "gpt-4o"
        )

    apart, together = texts("Hello", " wor", "ld"), texts("Hello world")
    assert apart.interval[0] <= together.tokens < apart.tokens < apart.interval[1]
    assert together.interval == (together.tokens, together.tokens)


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        ({"input": "x", "previous_response_id": "r"}, "previous_response_id"),
        ({"input": "x", "tools": [{"type": "web_search"}]}, "tools[0]"),
        ({"input": [{"type": "reasoning", "id": "r", "encrypted_content": "AAAA" * 100}]}, "input[0]"),
        (
            {"messages": [{"role": "user", "content": [{"type": "file", "file": {"file_data": "A"}}]}]},
            "messages[0].content[0]",
        ),
        ({"messages": [{"role": "assistant", "audio": {"id": "a"}}]}, "messages[0].audio"),
        (
            {"messages": [{"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": "y"}]}]},
            "messages[0].content[0].thinking",
        ),
        ({"messages": ASK, "metadata": {}, "stream_options": {"x": 1}}, "stream_options.x"),
        ({"messages": ASK, "tool_choice": {"type": "allowed_tools", "tools": []}}, "tool_choice"),
        ({"messages": ASK, "tools": [{"type": "custom", "name": "c", "description": "any text"}]}, "tools[0]"),
        ({"messages": ASK, "tools": [{"name": "f", "input_schema": {}, "defer_loading": True}]}, "tools[0]"),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "document",
                                "source": {"type": "text", "media_type": "text/plain", "data": "x"},
                                "citations": {"enabled": True},
                            }
                        ],
                    }
                ]
            },
            "messages[0].content[0].citations",
        ),
        ({"prompt": "a", "suffix": "b"}, "suffix"),
        ({"prompt": {"id": "p"}}, "prompt"),
        ({"prompt": {"id": "p"}, "input": "x"}, "prompt"),
    ],
)
def test_what_is_not_at_hand_is_listed(request_: Any, path: str) -> None:
    count = count_request(request_, "gpt-4o")
    assert count.not_counted == (path,)
    assert "not_counted" in count.warnings


def test_an_answer_can_be_sent_back_as_it_came() -> None:
    plain = {"role": "assistant", "content": "Hi"}
    nulls = dict.fromkeys(("refusal", "audio", "function_call", "tool_calls", "reasoning_content"))
    whole = {**plain, **nulls, "annotations": [{"type": "url_citation", "url": "x"}]}
    assert count_request([whole], "gpt-4o") == count_request([plain], "gpt-4o")


def test_real_tool_definitions(shared_dir: Any) -> None:
    tools = json.loads(shared_dir.joinpath("files", "tool_schemas_github_mcp_all.min.json").read_bytes())
    tools = tools["tools"] if isinstance(tools, dict) else tools
    shown = [
        {
            "type": "function",
            "function": {
                "name": tool["name"],
                "description": tool.get("description"),
                "parameters": tool["inputSchema"],
            },
        }
        for tool in tools
    ]
    count = count_request({"messages": ASK, "tools": shown}, "gpt-4o")
    assert count.parts["tools"].tokens > 1000
    assert count.interval is not None
