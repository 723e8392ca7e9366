"""Requests as the providers' references write them: each is counted, and what of it is not is named."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokengap.estimators import fields
from tokengap.estimators.request_count import count_request
from tokengap.tokenizers.errors import TokengapError

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z/C/HgAGgwJ/lK3Q6wAAAABJRU5ErkJggg=="  # 1 by 1
DATA = Path(__file__).parents[1].joinpath("data", "request_bodies.json").read_text(encoding="utf-8")
BODIES: list[dict[str, Any]] = json.loads(DATA.replace('"PNG"', f'"{PNG}"').replace("base64,PNG", f"base64,{PNG}"))[
    "bodies"
]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body["id"])
def test_a_real_request_is_counted_and_its_rest_is_named(body: dict[str, Any]) -> None:
    count = count_request(body["request"], body["model"])
    assert sorted(count.not_counted) == sorted(body["not_counted"])
    assert list(count.parts) == body["parts"]
    assert count.tokens == sum(part.tokens for part in count.parts.values()) > 0
    assert ("not_counted" in count.warnings) is bool(body["not_counted"])


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body["id"])
def test_a_request_can_be_counted_for_any_model(body: dict[str, Any]) -> None:
    for model in ("gpt-4o", "gpt-5.2", "claude-opus-4-6", "gemini-2.5-pro", "llama-3.1-8b-instruct"):
        count = count_request(body["request"], model)
        assert set(count.not_counted) >= set(body["not_counted"]) - {"images"}
        assert count.interval is None or count.interval[0] <= count.tokens <= count.interval[1]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every position in a request: what holds it, and its key or index."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from places(value[key])


_FREE = {
    *("metadata", "labels", "logit_bias", "input", "args", "response", "prompt_args"),  # keys of the caller's own
    *("http_options", "httpOptions", "moderation", "fallbacks", "diagnostics", "billing_policy"),  # of other services
    *("partMetadata", "part_metadata", "properties", "$defs", "definitions"),
}


def objects(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object whose keys have a meaning, with its path."""
    if isinstance(value, dict):
        yield path, value
        for key, member in value.items():
            if key not in _FREE or isinstance(member, list):
                yield from objects(member, fields.join(path, key))
            elif key in ("properties", "$defs"):
                for name, schema in member.items():
                    yield from objects(schema, fields.join(fields.join(path, key), name))
    elif isinstance(value, list):
        for i, member in enumerate(value):
            yield from objects(member, fields.join(path, i))


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body["id"])
def test_an_unknown_key_is_listed_or_something_around_it(body: dict[str, Any]) -> None:
    for path in [path for path, _ in objects(body["request"])]:
        request = copy.deepcopy(body["request"])
        next(found for place, found in objects(request) if place == path)["zz"] = {"a": 1}
        unknown = fields.join(path, "zz")
        assert any(
            unknown == listed or unknown.startswith((f"{listed}.", f"{listed}["))
            for listed in count_request(request, body["model"]).not_counted
        ), unknown


WORDS = (
    "messages input contents parts system role user content type text tools function name parameters properties items "
    "anyOf $ref enum required default const nullable image_url url source data tool_calls arguments tool_choice id "
    "functionDeclarations inlineData mimeType generationConfig responseSchema auto object array string"
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS.split()) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(WORDS.split()) | st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
)
NO_JSON = st.sampled_from(
    [b"x", {1}, object(), 1j, range(3), {1: 2}, {None: 1}, 10**5000, -(10**400), (), type, lambda: 1]
)


@settings(max_examples=400)
@given(st.data(), JSON | NO_JSON)
def test_anything_at_any_place_is_counted_or_refused(data: st.DataObject, value: Any) -> None:
    body = copy.deepcopy(data.draw(st.sampled_from(BODIES)))
    holder, key = data.draw(st.sampled_from(list(places(body["request"]))))
    if isinstance(holder, dict) and data.draw(st.booleans()):
        key = data.draw(st.sampled_from(WORDS.split()))
    holder[key] = value
    with contextlib.suppress(TokengapError):
        count = count_request(body["request"], body["model"])
        assert count.tokens >= 0
        json.dumps(count.to_dict())


@given(JSON | NO_JSON, JSON | NO_JSON, JSON | NO_JSON)
def test_anything_for_any_argument_is_counted_or_refused(request_: Any, model: Any, counter: Any) -> None:
    for arguments in ((request_, "gpt-4o"), ("text", model), ("text", None, counter), (request_, model, counter)):
        with contextlib.suppress(TokengapError):
            assert count_request(*arguments).tokens >= 0


def test_lists_that_hold_each_other_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "MAX_VALUES", 20_000)
    value: Any = "x"
    for _ in range(60):  # 2 ** 60 values, though 60 lists
        value = [value, value]
    with pytest.raises(TokengapError, match="more than 20,000 values"):
        count_request({"messages": [{"role": "user", "content": "x"}], "metadata": value}, "gpt-4o")
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(TokengapError, match="nested deeper than 100 levels"):
        count_request(circle, "gpt-4o")
