"""Limits of models, and what fits them."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokengap.estimators.limits as limits_module
from tokengap.estimators import price_table
from tokengap.estimators.counting import ChatRequest, Text
from tokengap.estimators.fitting import fit_input
from tokengap.estimators.limits import WARNINGS, Limits, find_limits, fit
from tokengap.estimators.model_list import list_models
from tokengap.tokenizers.errors import TokengapError, UnknownNameError
from tokengap.tokenizers.models import models
from tokengap.tokenizers.registry import get_counter

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
        ("gpt-3.5-turbo-0613", 4_096, None, None),  # not those of gpt-3.5-turbo, as the table has it
        ("gpt-3.5-turbo-1106", 16_385, None, 4_096),
        ("avian/minimax/minimax-m3", 512_000, None, None),  # 1,000,000 at its maker
        ("openrouter/google/gemini-3-pro-image", 131_072, None, None),
        ("openrouter/openai/gpt-3.5-turbo-0613", 4_095, None, None),
        ("openrouter/openai/gpt-4o", 128_000, None, None),  # the output limit documented is OpenAI's
        ("cloudflare/@cf/meta/llama-3.3-70b-instruct-fp8-fast", 24_000, None, None),
        ("azure/o1", 200_000, None, 100_000),
        ("azure/eu/gpt-4o", 128_000, None, 16_384),  # a region has its provider's models
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000, None, None),
        ("llama-3.3-70b-instruct", None, None, None),  # served by many, and no name of whom
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


def test_every_row_of_the_price_table_has_its_own_window() -> None:
    """Only its maker's documentation, or that of the provider itself, goes before the table, and says so."""
    overridden = set()
    for row in price_table.bundled().rows:
        name = f"{row.provider}/{row.model}"
        assert row.info is not None
        limits = find_limits(name)
        if limits.context_window == row.info.context_window:
            continue
        overridden.add(name)
        source = SUPPLEMENT["sources"][SUPPLEMENT["models"][row.model]["source"]]
        assert row.provider in source["providers"]
        assert ("window_differs" in limits.warnings) is (row.info.context_window is not None), name
        assert source["url"] in limits.sources["context_window"]
    assert "openai/gpt-4.1" in overridden
    assert len(overridden) < 20


def test_every_name_of_the_list_can_be_asked_for() -> None:
    """With the model's own counter where the list has an encoding, and with a named one where it has none."""
    rows = list_models(everything=True)
    assert len(rows) > 2_330
    for row in rows[::5]:  # the limits of every one are found already; a fifth of them is fitted
        counter = None if row.encoding else "o200k_base"
        fitted = fit_input("one two three", row.name, counter=counter)
        assert fitted.verdict.limits == row.limits
        assert fitted.count.tokenizer == (row.encoding or counter)
    with pytest.raises(TokengapError, match="not its tokenizer; name a counter"):
        fit_input("one", "cloudflare/@cf/meta/llama-3.3-70b-instruct-fp8-fast")


@pytest.mark.parametrize("model", ["gpt-4o-latest", "o3-2099-12-31", "gpt-5-0613", "gpt-4-1106"])
def test_a_release_that_no_table_lists_takes_no_limits_of_its_relatives(model: str) -> None:
    """Its tokenizer is known, so it can be counted; its price is not, and nor are its limits."""
    with pytest.raises(UnknownNameError):
        price_table.find(price_table.bundled(), model, None)
    limits = find_limits(model)
    assert (limits.context_window, limits.max_input, limits.max_output) == (None, None, None)
    assert limits.warnings == ("unlisted_release",)
    assert fit(10, model).fits is None


@pytest.mark.parametrize("model", ["gpt-4o-2024-13-45", "gpt-4o-20999999", "no-such/gpt-4o", "ft:gpt-4x:org::id"])
def test_what_is_no_release_is_refused(model: str) -> None:
    with pytest.raises(UnknownNameError, match=f"unknown model '{model}'"):
        find_limits(model)


@pytest.mark.parametrize(
    ("model", "base"),
    [
        ("ft:gpt-4o:org::id", "gpt-4o"),
        ("openai/ft:gpt-4o-2024-05-13:org::id", "gpt-4o-2024-05-13"),
        ("ft:gpt-3.5-turbo-0613:org:name:id", "gpt-3.5-turbo-0613"),
        ("davinci-002:ft-org-2023", "davinci-002"),
    ],
)
def test_a_fine_tune_has_the_limits_of_its_base_and_says_so(model: str, base: str) -> None:
    tuned, limits = find_limits(model), find_limits(base)
    assert tuned == replace(limits, model=model, warnings=(*limits.warnings, "fine_tune_limits"))


@pytest.mark.parametrize(
    ("model", "warnings"),
    [
        ("azure/claude-sonnet-4-5", ("borrowed_limits",)),  # nothing is documented of it
        ("azure/claude-opus-4-5", ("borrowed_limits",)),  # Anthropic documents its own
        ("azure/gpt-4o", ()),  # Azure documents it
    ],
)
def test_limits_borrowed_from_the_maker_say_so(model: str, warnings: tuple[str, ...]) -> None:
    """The table has no row of these at Azure, but says whose models Azure serves."""
    own = find_limits(model.partition("/")[2])
    assert find_limits(model) == replace(own, model=model, warnings=(*own.warnings, *warnings))


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
        # The answer is over its own limit, so the room left is for one as long as that.
        ("gpt-4o", 1_000, 16_385, (False, 110_616, 0)),
        ("gpt-4o", 6, 128_000, (False, 111_610, 0)),
        ("gpt-4o", 6, 200_000, (False, 111_610, 0)),
        ("gpt-4o", 120_000, 200_000, (False, 0, 8_384)),
        ("gpt-5", 272_000, 128_000, (True, 0, 0)),  # input and output have limits of their own
        ("gpt-5", 272_001, 0, (False, 0, 1)),
        ("gemini-2.5-pro", 1_048_576, 65_535, (True, 0, 0)),
        ("gpt-4", 8_000, 100, (None, 92, 0)),  # nobody documents gpt-4's output limit
        ("gpt-4", 8_000, 200, (False, 0, 8)),
        ("gpt-4", 0, 9_000, (False, 8_192, 0)),  # longer than the window, and no output limit is known
        ("gpt-4", 5, 9_000, (False, 8_187, 0)),
        ("gpt-4", 5, 8_192, (False, 0, 5)),
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
        ("gpt-4", 9_000, "output_over_limit"),
        ("gpt-4o-latest", 0, "unlisted_release"),
        ("ft:gpt-4o:org::id", 0, "fine_tune_limits"),
        ("azure/claude-sonnet-4-5", 0, "borrowed_limits"),
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


@pytest.mark.parametrize("model", [None, 5, b"gpt-4o", ["gpt-4o"], {}])
def test_a_model_is_named_by_a_str(model: object) -> None:
    calls: list[Callable[..., object]] = [find_limits, partial(fit, 10)]
    for call in calls:
        with pytest.raises(TokengapError, match="a model's name must be a str, not"):
            call(model)


@pytest.mark.parametrize("interval", [5, "12", (1,), (1, 2, 3), (None, 10), (1.0, 10.0), ("1", "9"), (-1, 20), {1, 2}])
def test_an_interval_is_two_numbers(interval: object) -> None:
    with pytest.raises(TokengapError, match="an interval is two whole numbers"):
        fit(5, "gpt-4", interval=interval)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "options"),
    [
        (b"bytes", {}),
        (None, {}),
        ({"messages": []}, {}),
        (Text("a.md", b"bytes"), {}),  # type: ignore[arg-type]
        (Text("a.md", None), {}),  # type: ignore[arg-type]
        ("text", {"model": 5}),
        ("text", {"model": ["gpt-4o"]}),
        ("text", {"counter": 5}),
        ("text", {"counter": get_counter("o200k_base")}),
        ("text", {"counter": ""}),
        ("text", {"answer": b"bytes"}),
        ("text", {"answer": 5}),
        ("text", {"output_tokens": "5"}),
        ("text", {"output_tokens": 5.0, "answer": "sample"}),
        ("text", {"output_tokens": -1, "answer": "sample"}),
        (ChatRequest("r.json", None), {}),
    ],
)
def test_what_is_of_another_type_does_not_fit(given: object, options: dict[str, object]) -> None:
    with pytest.raises(TokengapError):
        fit_input(given, **({"model": "gpt-4o"} | options))  # type: ignore[arg-type]


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
    assert fit(tokens - result.must_cut, limits, output).must_cut == 0
    assert (result.answer_over > 0) is ("output_over_limit" in result.warnings)
    if not result.answer_over and None not in (max_output, window) and (max_input or output <= (window or 0) - tokens):
        assert fit(tokens - result.must_cut, limits, output).fits
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
    assert source["providers"]
    assert set(source["providers"]) <= {row.provider for row in price_table.bundled().rows}
    assert date(2023, 1, 1) <= date.fromisoformat(source["date"]) <= date(2026, 11, 30)
    assert re.fullmatch(r"[a-z0-9.-]+", model)
    if model in {"gpt-35-turbo-0301", "gpt-35-turbo-0613"}:
        assert entry == SUPPLEMENT["models"][model.replace("35", "3.5")]
    figures = {name: value for name, value in entry.items() if name != "source"}
    assert figures
    assert figures.keys() <= {"context_window", "max_input", "max_output"}
    assert all(type(value) is int and value > 0 for value in figures.values())
    window = find_limits(model).context_window
    assert window is not None
    assert all(value <= window for value in figures.values())


def test_every_source_is_used() -> None:
    assert {entry["source"] for entry in SUPPLEMENT["models"].values()} == set(SUPPLEMENT["sources"])
