"""Whole requests against the counts their providers reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tokengap.estimators.request_count import count_request
from tokengap.tokenizers.counter import WARNINGS
from tokengap.tokenizers.errors import TokengapError, UnknownNameError

ASK = [{"role": "user", "content": "x"}]
PUBLISHED = json.loads(Path(__file__).parents[1].joinpath("data", "request_counts.json").read_text(encoding="utf-8"))
WEATHER: dict[str, Any] = {  # OpenAI cookbook, How_to_count_tokens_with_tiktoken.ipynb
    "messages": [
        {"role": "system", "content": "You are a helpful assistant that can answer to questions about the weather."},
        {"role": "user", "content": "What's the weather like in San Francisco?"},
    ],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "get_current_weather",
                "description": "Get the current weather in a given location",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "location": {
                            "type": "string",
                            "description": "The city and state, e.g. San Francisco, CA",
                        },
                        "unit": {
                            "type": "string",
                            "description": "The unit of temperature to return",
                            "enum": ["celsius", "fahrenheit"],
                        },
                    },
                    "required": ["location"],
                },
            },
        }
    ],
}


@pytest.fixture(scope="session")
def chat_counts(shared_dir: Path) -> Any:
    return json.loads(shared_dir.joinpath("cases", "chat_counts.json").read_text(encoding="utf-8"))


def test_every_published_message_under_both_encodings(chat_counts: Any) -> None:
    for case in chat_counts["messages"]:
        for model, key in (("gpt-4", "count"), ("gpt-3.5-turbo", "count"), ("gpt-4o", "count_omni")):
            count = count_request([case["message"]], model)
            assert count.tokens == case[key], (model, case)
            assert count.tokens == count.text_tokens + count.framing_tokens
            assert count.kind == "reconstructed"


@pytest.mark.parametrize(
    ("model", "tokens"),
    [("gpt-4", 129), ("gpt-3.5-turbo-0613", 129), ("gpt-3.5-turbo-0301", 127), ("gpt-4o", 124), ("gpt-4o-mini", 124)],
)
def test_the_cookbook_example(chat_counts: Any, model: str, tokens: int) -> None:
    assert count_request({"messages": chat_counts["cookbook_example"]["messages"]}, model).tokens == tokens


def test_the_published_tool_counts(chat_counts: Any) -> None:
    for case in chat_counts["tools"]:
        request = {"messages": [case["system_message"]], "tools": case["tools"], "tool_choice": case["tool_choice"]}
        count = count_request(request, "gpt-4")
        assert count.tokens == case["count"]
        assert count.kind == "reconstructed"
        assert count.interval == (case["count"], case["count"])
        assert count.not_counted == ()


@pytest.mark.parametrize("case", PUBLISHED["current"], ids=lambda case: case["id"])
def test_tool_counts_of_today(case: Any) -> None:
    assert count_request(case["request"], "gpt-4").tokens == case["tokens"]


@pytest.mark.parametrize("case", PUBLISHED["until_2023"], ids=lambda case: case["id"])
def test_tool_counts_of_2023(case: Any) -> None:
    assert count_request(case["request"], "gpt-3.5-turbo-0613").tokens == case["tokens"]


@pytest.mark.parametrize(("model", "tokens"), [("gpt-4", 105), ("gpt-3.5-turbo", 105), ("gpt-4o", 101)])
def test_the_cookbook_tool_example(model: str, tokens: int) -> None:
    count = count_request(WEATHER, model)
    assert count.tokens == tokens
    assert {name: part.tokens for name, part in count.parts.items()} == {
        "messages": count_request({"messages": WEATHER["messages"]}, model).tokens,
        "tools": tokens - count_request({"messages": WEATHER["messages"]}, model).tokens,
    }


def test_a_null_content_is_nothing_and_its_calls_are_counted(shared_dir: Path) -> None:
    faults = json.loads(shared_dir.joinpath("cases", "reported_faults.json").read_text(encoding="utf-8"))
    case = next(case for case in faults["cases"] if case["id"] == "langchain-6706")
    calls = ["track", '{"id":7}']
    for encoding, model in (("cl100k_base", "gpt-4"), ("o200k_base", "gpt-4o")):
        count = count_request(case["input"], model)
        own = sum(count_request(text, counter=encoding).tokens for text in calls)
        assert count.tokens == case["expected"]["role_and_content_only"][encoding] + own + 3
        assert count.not_counted == ()
        assert count.interval is not None
        assert count.interval[0] < count.tokens < count.interval[1]


def test_anthropics_example_names_what_it_assumes() -> None:
    request = {
        "model": "claude-opus-4-6",
        "system": "You are a scientist",
        "messages": [{"role": "user", "content": "Hello, Claude"}],
    }
    count = count_request(request)
    assert (count.tokens, count.kind, count.interval) == (14, "heuristic", None)  # 14: Anthropic's token counting page
    assert count.tokenizer == "o200k_base"
    assert set(count.warnings) >= {"assumed_tokenizer", "uncalibrated"}
    assert count.rule is not None
    assert count.rule.name == "anthropic-messages"


@pytest.mark.parametrize(
    ("request_", "tokens"),
    [("tiktoken is great!", 6), (["tiktoken is great!", "hello"], 7), ({"prompt": "tiktoken is great!"}, 6), ([""], 0)],
)
def test_texts_alone_are_exact(request_: Any, tokens: int) -> None:
    count = count_request(request_, "gpt-4")
    assert (count.tokens, count.text_tokens, count.framing_tokens) == (tokens, tokens, 0)
    assert (count.kind, count.interval, count.rule) == ("exact", None, None)


def test_embeddings_have_no_frame() -> None:
    count = count_request({"model": "text-embedding-3-small", "input": ["tiktoken is great!", "hello"]})
    assert (count.tokens, count.kind) == (7, "exact")
    count = count_request({"input": "tiktoken is great!"}, "text-embedding-3-small")
    assert (count.tokens, count.kind) == (6, "exact")


def test_a_line_of_a_batch_file_is_its_request() -> None:
    line = {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {**WEATHER, "model": "gpt-4"}}
    count = count_request(line)
    assert (count.tokens, count.model, count.not_counted) == (105, "gpt-4", ())
    assert count_request({"custom_id": "1", "params": {**WEATHER, "x": 1}}, "gpt-4").not_counted == ("params.x",)


def test_one_conversation_in_three_shapes_costs_the_same() -> None:
    chat = {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello!"}]}
    responses = {"instructions": "Be brief.", "input": "Hello!"}
    items = {"instructions": "Be brief.", "input": [{"type": "message", "role": "user", "content": "Hello!"}]}
    parts = {"messages": [chat["messages"][0], {"role": "user", "content": [{"type": "text", "text": "Hello!"}]}]}
    assert len({count_request(shape, "gpt-4o").tokens for shape in (chat, responses, items, parts)}) == 1


def test_a_result_is_as_good_as_its_weakest_part() -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object", "properties": {}}}}
    count = count_request({**WEATHER, "response_format": schema}, "gpt-4o")
    assert count.parts["messages"].kind == count.parts["tools"].kind == "reconstructed"
    assert count.parts["structured_output"].kind == "heuristic"
    assert (count.kind, count.interval) == ("heuristic", None)
    assert count.tokens == sum(part.tokens for part in count.parts.values())


def test_intervals_add_up() -> None:
    request = {**WEATHER, "messages": [*WEATHER["messages"], {"role": "user", "content": "And tomorrow?"}]}
    count = count_request(request, "gpt-5")
    assert count.kind == "calibrated"
    assert count.interval is not None
    lows, highs = zip(*(part.interval for part in count.parts.values() if part.interval), strict=True)
    assert count.interval == (sum(lows), sum(highs))
    assert count.interval[0] <= count.tokens <= count.interval[1]


def test_what_no_count_was_published_for_has_a_bound() -> None:
    parameters = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1, "default": 3}}}
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    count = count_request({"messages": ASK, "tools": [tool]}, "gpt-4o")
    assert count.not_counted == ()  # what is in the interval is not listed
    tools = count.parts["tools"]
    assert tools.interval is not None
    assert tools.interval[0] < tools.tokens < tools.interval[1]


def test_a_counter_replaces_the_models_tokenizer_and_says_so() -> None:
    messages = [{"role": "user", "content": "Hello, how are you?"}]
    assert count_request(messages, "gpt-4o").tokens == count_request(messages, "gpt-4o", "o200k_base").tokens
    other = count_request(messages, "gpt-4o", "words:4/3")
    assert (other.kind, other.interval, other.tokenizer) == ("heuristic", None, "words:4/3")
    other = count_request(messages, "gpt-4o", "cl100k_base")
    assert (other.kind, other.interval) == ("heuristic", None)
    assert "assumed_tokenizer" in other.warnings


@pytest.mark.parametrize(
    ("model", "counter", "tokenizer", "kind"),
    [
        ("claude-sonnet-4-5", "o200k_base", "o200k_base", "heuristic"),
        ("gpt-4o", "model:gpt-4", "cl100k_base", "heuristic"),
        ("gpt-4o", "model:gpt-4o-mini", "o200k_base", "exact"),
        ("davinci", "gpt2", "r50k_base", "exact"),
        ("a model of our own", "cl100k_base", "cl100k_base", "heuristic"),
    ],
)
def test_a_counter_is_exact_for_a_model_whose_tokenizer_it_is(
    model: str, counter: str, tokenizer: str, kind: str
) -> None:
    count = count_request({"prompt": "Hello, how are you?"}, model, counter)
    assert (count.tokenizer.replace("gpt2", "r50k_base"), count.kind, count.interval) == (tokenizer, kind, None)
    assert ("assumed_tokenizer" in count.warnings) is (kind == "heuristic")


def test_a_counter_may_be_a_model() -> None:
    messages = [{"role": "user", "content": "Hello, how are you?"}]
    assert count_request(messages, counter="model:gpt-4o") == count_request(messages, "gpt-4o")


def test_an_encoding_alone_takes_the_frame_of_its_chat_models(chat_counts: Any) -> None:
    for case in chat_counts["messages"]:
        assert count_request([case["message"]], counter="cl100k_base").tokens == case["count"]
        assert count_request([case["message"]], counter="o200k_base").tokens == case["count_omni"]


def test_a_rule_of_thumb_is_rounded_once() -> None:
    messages = [{"role": "user", "content": "one"} for _ in range(30)]
    count = count_request(messages, counter="words:0.1")
    assert count.text_tokens == 3


def test_the_words_of_a_request_are_those_of_its_texts() -> None:
    count = count_request({**WEATHER, "user": "somebody else"}, "gpt-4o")
    texts = [message["content"] for message in WEATHER["messages"]]
    assert count.words == sum(len(text.split()) for text in texts)
    assert count.chars == count.bytes == sum(map(len, texts))


def test_the_json_has_every_field_and_known_warnings_only() -> None:
    request = {"messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}], "x": 1}
    shown = count_request(request, "claude-opus-4-6").to_dict()
    assert json.loads(json.dumps(shown)) == shown
    assert shown["not_counted"] == ["messages[0].content[0]", "x"]
    warnings = shown["warnings"]
    assert isinstance(warnings, list)
    assert set(warnings) <= WARNINGS.keys()
    assert "not_counted" in warnings


@pytest.mark.parametrize("name", ["gpt4", "claude-x", "gpt-99-super"])
def test_an_unknown_model_is_refused_unless_a_counter_is_named(name: str) -> None:
    messages = [{"role": "user", "content": "Hello"}]
    with pytest.raises(UnknownNameError) as caught:
        count_request({"model": name, "messages": messages})
    assert caught.value.suggestions
    assert count_request({"model": name, "messages": messages}, counter="o200k_base").model is None


def test_a_model_or_a_counter_is_needed() -> None:
    with pytest.raises(TokengapError, match="model: missing"):
        count_request({"messages": ASK})
