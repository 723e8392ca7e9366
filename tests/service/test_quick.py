"""The quick path for simple counts answers what the general one does, and leaves everything else to it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.service.bodies import CountBody
from tokengap.service.quick import MOST_FORMS, QuickCount
from tokengap.service.routes import Operations
from tokengap.service.settings import Settings

SPECS = (["o200k_base"], ["cl100k_base", "o200k_base", "gpt2"])


@pytest.fixture(scope="module")
def operations() -> Operations:
    made = Operations(Settings(preload=("o200k_base",)))
    made.warm_up()
    return made


def general(operations: Operations, body: dict[str, Any]) -> Any:
    return operations.count(CountBody.model_validate(body)).body


@given(text=st.text(), specs=st.sampled_from(SPECS))
@pytest.mark.parametrize("given_text", ["", " ", "a", "%d %s 100% \0", "नमस्ते", "word " * 500])
def test_both_paths_give_one_answer(operations: Operations, given_text: str, text: str, specs: list[str]) -> None:
    for each in (given_text, text):
        expected = general(operations, {"input": each, "counters": specs})
        answered = operations.quick.answer({"input": each, "counters": specs})
        assert answered is not None
        assert isinstance(answered.body, bytes)
        assert json.loads(answered.body) == json.loads(json.dumps(expected))
        assert [count.tokens for count in answered.counted] == [row["tokens"] for row in expected["results"]]


@pytest.mark.parametrize(
    "body",
    [
        {"input": "a\ud800"},
        {"input": "a" * 40_000},
        {"input": ["a"]},
        {"input": 3},
        {},
        [],
        "input",
        {"input": "a", "model": "gpt-4o"},
        {"input": "a", "counters": ["o200k_base"], "price": "3 USD"},
        {"input": "a", "counters": ["words:1"]},
        {"input": "a", "counters": "o200k_base"},
        {"input": "a", "counters": [3]},
        {"input": "a", "counters": {"o200k_base": 1}},
        {"input": "a", "counters": None},
        {"input": "a", "counters": ["o200k_base", "o200k_base"]},
        {"input": "a", "counters": ["unknown"]},
        {"counters": ["o200k_base"], "request": {}},
    ],
)
def test_all_else_is_left_to_the_general_path(operations: Operations, body: Any) -> None:
    assert operations.quick.answer(body) is None


def test_what_is_kept_is_bounded() -> None:
    quick = QuickCount(1000)
    names = ("o200k_base", "cl100k_base", "r50k_base", "p50k_base", "p50k_edit", "gpt2", "o200k_harmony")
    for first in names:
        for second in names:
            for third in names[:2]:
                quick.learn(tuple(dict.fromkeys((first, second, third))))
    assert 0 < len(quick._forms) <= MOST_FORMS
