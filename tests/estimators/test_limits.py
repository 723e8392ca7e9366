"""Limits of models, and what fits them."""

import json
import re
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokengap.estimators.limits as limits_module
from tokengap.estimators.limits import WARNINGS, Limits, find_limits, fit, list_models
from tokengap.tokenizers.errors import TokengapError, UnknownNameError
from tokengap.tokenizers.models import models

SUPPLEMENT = json.loads(Path(limits_module.__file__).with_name("model_limits.json").read_bytes())


@pytest.mark.parametrize(
    ("model", "window", "max_input", "max_output"),
    [
        ("gpt-4o", 128_000, None, 16_384),
        ("openai/GPT-4o-2024-08-06", 128_000, None, 16_384),
        ("gpt-4o-2024-05-13", 128_000, None, 4_096),  # the first release answered shorter
        ("gpt-4", 8_192, None, None),
        ("gpt-5", 400_000, 272_000, 128_000),
        ("gpt-4.1", 1_047_576, None, 32_768),
        ("gpt-5-chat-latest", 128_000, None, 16_384),  # not gpt-5, whose price it has
        ("gpt-3.5-turbo-instruct", 4_096, None, 4_096),  # not gpt-3.5-turbo
        ("text-embedding-3-small", 8_192, None, None),
        ("claude-haiku-4-5-20251001", 200_000, None, 64_000),
        ("anthropic/claude-opus-4-5", 200_000, None, 64_000),
        ("gemini-2.5-pro", 1_048_576, 1_048_576, 65_535),
        ("models/gemini-2.5-pro", 1_048_576, 1_048_576, 65_535),
        ("deepseek/deepseek-chat", 64_000, None, None),
        ("gpt-5.5-cyber", None, None, None),
    ],
)
def test_limits(model: str, window: int | None, max_input: int | None, max_output: int | None) -> None:
    limits = find_limits(model)
    assert (limits.context_window, limits.max_input, limits.max_output) == (window, max_input, max_output)
    known = {name for name in ("context_window", "max_input", "max_output") if getattr(limits, name) is not None}
    assert set(limits.sources) == known


def test_a_window_from_the_price_table_says_so() -> None:
    assert find_limits("gpt-4").sources == {"context_window": "genai-prices 0.2.3"}


def test_where_the_table_and_the_documentation_differ_there_is_a_warning() -> None:
    limits = find_limits("gpt-4.1")
    assert limits.warnings == ("window_differs",)
    assert "00bb5540" in limits.sources["context_window"]


@pytest.mark.parametrize("model", ["gpt-4o-foo", "gpt-5.6-sol-x", "claude-sonnet-4-5-foo", "gemini-2.5-pro-foo", "o3x"])
def test_a_model_that_only_begins_like_another_is_refused(model: str) -> None:
    """The table's own clauses match the beginning of a name."""
    with pytest.raises(UnknownNameError, match=f"unknown model '{model}'") as raised:
        find_limits(model)
    assert raised.value.suggestions


@pytest.mark.parametrize("model", ["", "no-such-model", "/", "gpt-4o/"])
def test_an_unknown_model_is_refused(model: str) -> None:
    with pytest.raises(UnknownNameError, match="'tokengap models' lists those that are"):
        find_limits(model)


@pytest.mark.parametrize(
    ("model", "tokens", "output", "expected"),
    [
        ("gpt-4o", 1_000, 0, (True, 127_000, 0)),
        ("gpt-4o", 128_000, 0, (True, 0, 0)),
        ("gpt-4o", 128_001, 0, (False, 0, 1)),
        ("gpt-4o", 120_000, 8_000, (True, 0, 0)),
        ("gpt-4o", 120_000, 10_000, (False, 0, 2_000)),
        ("gpt-4o", 1_000, 16_385, (False, 110_615, 0)),  # the answer is over its own limit
        ("gpt-5", 272_000, 128_000, (True, 0, 0)),  # input and output have limits of their own
        ("gpt-5", 272_001, 0, (False, 0, 1)),
        ("gemini-2.5-pro", 1_048_576, 65_535, (True, 0, 0)),
        ("gpt-4", 8_000, 100, (None, 92, 0)),  # nobody documents gpt-4's output limit
        ("gpt-4", 8_000, 200, (False, 0, 8)),
        ("gpt-4", 0, 9_000, (False, 0, 0)),
        ("gpt-4", 5, 9_000, (False, 0, 5)),
        ("gpt-5.5-cyber", 5, 0, (None, None, None)),
    ],
)
def test_fit(model: str, tokens: int, output: int, expected: tuple[bool | None, int | None, int | None]) -> None:
    result = fit(tokens, model, output)
    assert (result.fits, result.left, result.must_cut) == expected


@pytest.mark.parametrize(
    ("model", "output", "warning"),
    [
        ("gpt-5.5-cyber", 0, "unknown_window"),
        ("gpt-4", 100, "unknown_output_limit"),
        ("gpt-4o", 16_385, "output_over_limit"),
        ("gpt-4.1", 0, "window_differs"),
    ],
)
def test_what_is_not_known_is_said(model: str, output: int, warning: str) -> None:
    assert warning in fit(10, model, output).warnings
    assert warning in WARNINGS


def test_an_output_limit_alone_can_refuse() -> None:
    result = fit(10, Limits("made-up", max_output=100), 101)
    assert (result.fits, result.left) == (False, None)


@pytest.mark.parametrize(
    ("model", "tokens", "room"),
    [
        ("gpt-4o", 1_000, 16_384),
        ("gpt-4o", 127_000, 1_000),
        ("gpt-4o", 200_000, 0),
        ("gpt-5", 272_000, 128_000),
        ("gpt-4", 10, None),
        ("gpt-5.5-cyber", 10, None),
    ],
)
def test_the_room_for_an_answer(model: str, tokens: int, room: int | None) -> None:
    assert fit(tokens, model).answer_room == room


@pytest.mark.parametrize(("tokens", "output"), [(-1, 0), (0, -1)])
def test_negative_numbers_are_refused(tokens: int, output: int) -> None:
    with pytest.raises(TokengapError, match="is -1 tokens: a whole number is needed"):
        fit(tokens, "gpt-4o", output)


@pytest.mark.parametrize("tokens", [True, 1.0, "5", None])
def test_what_is_no_count_is_refused(tokens: object) -> None:
    with pytest.raises(TokengapError, match="a whole number is needed"):
        fit(tokens, "gpt-4o")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("interval", "complete", "fits", "left", "must_cut", "warning"),
    [
        ((8_000, 8_192), True, True, 0, 0, None),
        ((8_000, 8_193), True, None, 0, 1, "limit_in_interval"),
        ((8_193, 8_200), True, False, 0, 8, None),
        ((8_000, 8_100), False, None, 92, 0, "part_not_counted"),
        ((8_193, 8_200), False, False, 0, 8, None),
    ],
)
def test_an_inexact_count_fits_where_all_of_its_interval_does(
    interval: tuple[int, int], complete: bool, fits: bool | None, left: int, must_cut: int, warning: str | None
) -> None:
    result = fit(interval[0], "gpt-4", interval=interval, complete=complete)
    assert (result.fits, result.left, result.must_cut) == (fits, left, must_cut)
    own = {"limit_in_interval", "part_not_counted"} & set(result.warnings)
    assert own == ({warning} if warning else set())


def test_an_interval_holds_its_count() -> None:
    with pytest.raises(TokengapError, match="does not hold the count"):
        fit(5, "gpt-4", interval=(6, 7))


limit = st.none() | st.integers(1, 200)


@given(limit, limit, limit, st.integers(0, 300), st.integers(0, 300))
def test_what_is_cut_as_told_fits(
    window: int | None, max_input: int | None, max_output: int | None, tokens: int, output: int
) -> None:
    limits = Limits("made-up", window, max_input, max_output)
    result = fit(tokens, limits, output)
    if result.must_cut is None:
        assert result.fits is not True
        return
    assert result.left == 0 or result.must_cut == 0
    again = fit(tokens - result.must_cut, limits, 0 if max_input is None and output > (window or 0) else output)
    assert again.must_cut == 0
    if result.fits:
        assert fit(tokens + (result.left or 0), limits, output).fits
        assert fit(tokens + (result.left or 0) + 1, limits, output).fits is False


def test_the_list_has_every_model_with_a_tokenizer_and_every_documented_one() -> None:
    rows = {row.name: row for row in list_models()}
    assert list(rows) == sorted({*models(), *SUPPLEMENT["models"]})
    assert (rows["gpt-4o"].encoding, rows["gpt-4o"].published) == ("o200k_base", True)
    assert (rows["gpt-6-sol"].encoding, rows["gpt-6-sol"].published) == ("o200k_base", False)
    assert rows["gpt-4o"].limits == find_limits("gpt-4o")


def test_the_list_can_be_narrowed_and_widened() -> None:
    assert {row.name for row in list_models("GPT-4.1")} == {"gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano"}
    assert list_models("no-such") == []
    wide = {row.name: row for row in list_models("qwen3-32b", everything=True)}
    assert wide["groq/qwen/qwen3-32b"].limits.context_window == 131_072


@pytest.mark.parametrize("model", SUPPLEMENT["models"])
def test_every_documented_limit_has_a_dated_source_and_makes_sense(model: str) -> None:
    entry = SUPPLEMENT["models"][model]
    source = SUPPLEMENT["sources"][entry["source"]]
    assert source["url"].startswith("https://")
    assert source["title"]
    assert date(2026, 1, 1) <= date.fromisoformat(source["date"]) <= date(2026, 11, 30)
    assert re.fullmatch(r"[a-z0-9.-]+", model)
    figures = {name: value for name, value in entry.items() if name != "source"}
    assert figures
    assert figures.keys() <= {"context_window", "max_input", "max_output"}
    assert all(type(value) is int and value > 0 for value in figures.values())
    window = find_limits(model).context_window
    assert window is not None
    assert all(value <= window for value in figures.values())


def test_every_source_is_used() -> None:
    assert {entry["source"] for entry in SUPPLEMENT["models"].values()} == set(SUPPLEMENT["sources"])
