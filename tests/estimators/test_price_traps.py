"""The traps of the public table, one test each: what its own arithmetic does, and that ours does not."""

from __future__ import annotations

import decimal
import warnings
from decimal import Decimal
from typing import Any

import genai_prices
import pytest
from genai_prices.data_snapshot import get_snapshot

from tokengap.estimators import price_table
from tokengap.estimators.as_of import parse_as_of
from tokengap.estimators.cost import CostResult, price_report, price_usage
from tokengap.estimators.price_book import PriceBook, model_price
from tokengap.estimators.price_list import list_prices
from tokengap.estimators.usage import Usage, usage_from_counts
from tokengap.tokenizers.errors import TokengapError, UnknownNameError

NOON = "2026-11-30T12:00:00Z"
THOUSAND = Usage(input=1000, output=1000)


def price(model: str, usage: Usage = THOUSAND, **options: Any) -> CostResult:
    return price_usage(usage, model, **({"as_of": NOON} | options))


def test_1_unknown_keys_are_refused() -> None:
    assert genai_prices.calc_price({"prompt_tokens": 1000}, "gpt-4o").total_price == 0
    with pytest.raises(TokengapError, match="unknown key 'prompt_tokens'"):
        usage_from_counts({"prompt_tokens": 1000})
    with pytest.raises(TokengapError, match=r"usage\.video_seconds is a count that is not known"):
        price_report({"prompt_tokens": 1000, "completion_tokens": 1, "video_seconds": 9}, "gpt-4o")


def test_2_a_missing_price_is_not_the_parents() -> None:
    sound = price("gpt-4o-audio-preview", Usage(input=1000, output=10, input_audio=900))
    assert (sound.status, sound.total) == ("partial", None)
    assert [(line.unit, line.rate) for line in sound.lines if line.rate is None] == [("input_audio", None)]
    search = price("gpt-4o-search-preview", Usage(input=1000, output=10, web_searches=2))
    assert (search.status, search.total) == ("partial", None)
    assert search.lines[-1].to_dict() == {
        "unit": "web_searches",
        "quantity": 2,
        "rate": None,
        "per": 1000,
        "amount": None,
    }
    assert any("web_searches" in warning for warning in search.warnings)


def test_2_searches_that_have_a_price_are_billed() -> None:
    result = price("gpt-4o", Usage(input=1000, output=100, web_searches=2))
    assert result.total is not None
    assert result.total.amount == Decimal("0.0035") + Decimal("0.02")


def test_2_a_fee_for_each_request_is_billed() -> None:
    result = price("perplexity/sonar")
    assert [line.unit for line in result.lines] == ["input", "output", "requests"]
    assert result.total is not None
    assert result.total.amount == Decimal("0.002") + Decimal("0.012")


def test_3_no_row_of_the_table_costs_nothing() -> None:
    """Every row: a total of 0 is said only where the table has a rate of 0, and unknown is never 0."""
    table = price_table.bundled()
    statuses = {}
    for row in table.rows:
        result = price(row.model, provider=row.provider)
        statuses[row.provider, row.model] = result.status
        assert (result.total is not None) == (result.status in ("priced", "free"))
        if result.status == "priced":
            assert result.total is not None
            assert result.total.amount > 0
    assert statuses["github-copilot", "gpt-4o"] == "unpriced"
    assert statuses["google", "gemma-3"] == "unpriced"
    assert sum(status == "unpriced" for status in statuses.values()) > 150
    assert sum(status == "partial" for status in statuses.values()) > 50
    assert "free" not in statuses.values()  # no row of this version has an explicit 0


@pytest.mark.parametrize(
    ("model", "warning"),
    [("github-copilot/gpt-4o", "does not mean that it is free"), ("whisper-1", "billed by audio_hours")],
)
def test_3_unpriced_says_why(model: str, warning: str) -> None:
    result = price(model)
    assert (result.status, result.total, result.subtotal) == ("unpriced", None, None)
    assert any(warning in each for each in result.warnings)


@pytest.mark.parametrize("variant", ["Batch", "BATCH", "batch ", "default", "processing", ""])
def test_4_a_variant_that_does_not_exist_is_refused(variant: str) -> None:
    with pytest.raises(TokengapError, match="unknown variant"):
        price("gpt-4o", variant=variant)


@pytest.mark.parametrize(
    ("model", "variant", "as_of", "message"),
    [
        ("gpt-4o", "flex", NOON, "no flex price is known for openai/gpt-4o; its variants: "),
        ("gpt-4o", "batch", "2026-10-13T12:00:00Z", "known from 2026-10-14 on, not at 2026-10-13"),
        ("text-embedding-ada-002", "priority", NOON, "no priority price"),
        ("github-copilot/gpt-4o", "batch", NOON, "no batch price"),
    ],
)
def test_4_a_variant_that_matched_nothing_is_not_the_standard_price(
    model: str, variant: str, as_of: str, message: str
) -> None:
    with pytest.raises(TokengapError, match=message):
        price(model, variant=variant, as_of=as_of)


def test_4_a_variant_holds_from_its_day() -> None:
    result = price("gpt-4o", Usage(input=10**6, output=10**6), variant="batch", as_of="2026-10-14T00:00:00Z")
    assert result.total is not None
    assert result.total.amount == Decimal("6.25")
    assert result.source.effective_date == "2026-10-14"


def test_4_what_the_variant_does_not_price_is_said() -> None:
    result = price("gpt-4o", Usage(input=1000, cache_read=500), variant="batch")
    assert any("no batch rate of its own for cache_read" in warning for warning in result.warnings)
    assert not any("standard_rate" in warning for warning in price("gpt-4o", variant="batch").warnings)


@pytest.mark.parametrize(
    ("model", "provider", "row"),
    [
        ("openai/gpt-4o", None, ("openai", "gpt-4o")),
        ("openai/gpt-4o", "litellm", ("openai", "gpt-4o")),
        ("models/gemini-2.5-pro", None, ("google", "gemini-2.5-pro")),
        ("publishers/google/models/gemini-2.5-pro", None, ("google", "gemini-2.5-pro")),
        (" GPT-4o ", None, ("openai", "gpt-4o")),
        ("gpt-5.2-20251211", None, ("openai", "gpt-5.2")),
        ("text-embedding-3-small", None, ("openai", "text-embedding-3-small")),
        ("ft:gpt-4o-2024-08-06:org::id", None, ("openai", "ft:gpt-4o")),
        ("claude-sonnet-4-5@20250929", "vertex_ai", ("google", "claude-sonnet-4-5")),
        (
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            None,
            ("aws", "regional.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ),
        ("gpt-4o", "azure_ai", ("azure", "gpt-4o")),
        ("gpt-4o", "azure.ai.openai", ("azure", "gpt-4o")),
        ("openrouter/openai/gpt-4o", None, ("openrouter", "openai/gpt-4o")),
        ("gpt-5.6-sol", None, ("openai", "gpt-5.6-sol")),
    ],
)
def test_5_names_as_people_write_them(model: str, provider: str | None, row: tuple[str, str]) -> None:
    result = price(model, provider=provider)
    assert (result.source.provider, result.source.model) == row
    assert result.status == ("partial" if "embedding" in model else "priced")


@pytest.mark.parametrize(
    "model",
    ["gpt-99-super", "no-such-model", "claude-opus-4-99", "claude-sonnet-4-5-nonsense", "gpt-5.6-sol-2", "gpt-4o-x"],
)
def test_5_unknown_names_are_not_guessed(model: str) -> None:
    result = price(model)
    assert (result.status, result.total) == ("unknown_model", None)
    with pytest.raises(UnknownNameError):
        model_price(model)


def test_5_a_close_name_is_not_the_same_price() -> None:
    """The table itself gives this name its relative's price."""
    assert genai_prices.calc_price({"input_tokens": 1000}, "claude-sonnet-4-5-nonsense").total_price > 0
    assert "claude-sonnet-4-5" in price("claude-sonnet-4-5-nonsense").suggestions


@pytest.mark.parametrize(
    ("model", "warning"),
    [
        ("azure/us/gpt-4o", "region_unpriced"),
        ("ft:gpt-4o:org::id", "fine_tune_unpriced"),
        ("ft:gpt-4-0613", "fine_tune"),
    ],
)
def test_5_kin_of_a_priced_model_is_known_and_unpriced(model: str, warning: str) -> None:
    result = price(model)
    assert (result.status, result.total) == ("unpriced", None)
    assert any(warning in each for each in result.warnings)


def test_6_cached_tokens_are_inside_the_input_and_anthropic_reports_them_beside_it() -> None:
    report = {"input_tokens": 1000, "cache_read_input_tokens": 3000, "cache_creation_input_tokens": 6000}
    result = price_report(report | {"output_tokens": 255}, "claude-sonnet-4-5", as_of=NOON)
    assert result.usage.input == 10_000
    assert {line.unit: line.quantity for line in result.lines} == {
        "input": 1000,
        "cache_read": 3000,
        "cache_write": 6000,
        "output": 255,
    }


def test_6_audio_and_cache_that_overlap_need_to_be_told_apart() -> None:
    usage = {"input": 1000, "cache_read": 500, "input_audio": 600}
    with pytest.raises(TokengapError, match="say so in cache_read_audio"):
        price("gpt-realtime", usage_from_counts(usage))
    result = price("gpt-realtime", usage_from_counts(usage | {"cache_read_audio": 200}))
    assert {line.unit: line.quantity for line in result.lines} == {
        "input": 100,
        "cache_read": 300,
        "input_audio": 400,
        "cache_read_audio": 200,
    }
    assert result.status == "priced"


@pytest.mark.parametrize(
    ("as_of", "total", "warned"),
    [
        ("2026-11-30T00:00:00Z", "0.685", False),
        ("2026-11-30T02:00:00Z", "1.37", False),
        ("2026-11-30T02:00:00+02:00", "0.685", False),
        ("2026-11-30", "0.685", True),
    ],
)
def test_7_the_time_of_day_counts_in_utc(as_of: str, total: str, warned: bool) -> None:
    result = price("deepseek-chat", Usage(input=10**6, output=10**6), as_of=as_of)
    assert result.total is not None
    assert result.total.amount == Decimal(total)
    assert any("bare_date" in warning for warning in result.warnings) == warned
    assert not price("gpt-4o", as_of="2026-11-30").warnings


def test_8_the_callers_decimal_context_changes_nothing() -> None:
    usage = Usage(input=123_456_789, output=1)
    with decimal.localcontext() as context:
        context.prec = 5
        context.rounding = decimal.ROUND_UP
        narrow = price("gpt-4o", usage)
    assert narrow.total is not None
    assert narrow.total.amount == Decimal("308.6419825")
    assert narrow.to_dict() == price("gpt-4o", usage).to_dict()


def test_9_the_table_is_named_by_version_and_hash() -> None:
    source = price("gpt-4o").to_dict()["source"]
    assert source["table"] == "genai-prices"
    assert source["version"] == genai_prices.__version__
    assert source["sha256"] == price_table.PriceTable("copy", None, price_table.bundled().providers).sha256
    assert source["sha256"] == price_table._KNOWN_TABLE, "a new genai-prices: write both of its hashes down"
    assert price_table._file_hash(price_table.bundled().file or "") == price_table._KNOWN_FILE
    fewer = price_table.PriceTable("fewer", None, price_table.bundled().providers[:-1])
    assert fewer.sha256 != source["sha256"]


def test_10_names_from_users_do_not_pile_up() -> None:
    snapshot = get_snapshot()
    before = len(snapshot._provider_cache), len(snapshot._provider_misses), len(snapshot._lookup_cache)
    for number in range(1500):
        name = f"ft:gpt-4o-2024-08-06:org:{number}:id" if number % 2 else f"no-such-model-{number}"
        price(name)
    after = len(snapshot._provider_cache), len(snapshot._provider_misses), len(snapshot._lookup_cache)
    assert before == after
    assert price_table.find.cache_info().currsize <= 1024


@pytest.mark.parametrize("model", ["x" * 257, "", "  ", "gpt-4o\x00", "gpt\n4o"])
def test_10_a_name_that_is_none_is_refused(model: str) -> None:
    result = price(model)
    assert (result.status, result.total) == ("unknown_model", None)
    assert "bad model name" in result.warnings[0]


def test_11_an_unknown_context_window_stays_unknown() -> None:
    rows = list_prices(PriceBook(), parse_as_of(NOON).time, "gemini-2.5-pro", "google")
    assert {row.model: row.context_window for row in rows}["gemini-2.5-pro"] is None


@pytest.mark.parametrize("variant", ["batch", "priority"])
def test_12_a_borrowed_price_has_no_variants(variant: str) -> None:
    """The table ignores the variant here, and gives the standard price."""
    standard = genai_prices.calc_price({"input_tokens": 1000}, "gpt-4o", provider_id="azure").total_price
    context = {"processing": "batch"} if variant == "batch" else {"service_tier": variant}
    ignored = genai_prices.calc_price({"input_tokens": 1000}, "gpt-4o", provider_id="azure", price_context=context)
    assert ignored.total_price == standard
    with pytest.raises(TokengapError, match="need not hold"):
        price("gpt-4o", provider="azure", variant=variant)
    assert any("borrowed_price" in warning for warning in price("gpt-4o", provider="azure").warnings)


def test_the_whole_table_agrees_where_it_knows_its_prices() -> None:
    """Where every unit used has a rate, our sums are the table's own, variants and tiers included."""
    table = price_table.bundled()
    time = parse_as_of(NOON).time
    compared = 0
    for row in table.rows:
        assert row.info is not None
        for variant in (None, *price_table.variants_of(row)):
            usage = Usage(input=300_001, output=1_234, cache_read=100_000, cache_write=5_000, cache_write_1h=2_000)
            price = price_table.price_at(table, row, time, variant)
            known = price.per_million.keys()
            if not {"input", "output"} <= known:
                continue
            parts = {unit: getattr(usage, unit) if unit in known else 0 for unit in ("cache_read", "cache_write")}
            long = usage.cache_write_1h if "cache_write_1h" in known else 0
            usage = Usage(
                300_001, 1_234, parts["cache_read"], parts["cache_write"], long if parts["cache_write"] else 0
            )
            ours = price_usage(usage, row.model, provider=row.provider, variant=variant, as_of=NOON)
            with warnings.catch_warnings(), decimal.localcontext() as context:
                warnings.simplefilter("ignore")
                context.prec = 60
                theirs = row.info.get_prices(time, _context(row.info, variant)).calc_price(
                    {
                        "input_tokens": usage.input,
                        "output_tokens": usage.output,
                        "cache_read_tokens": usage.cache_read,
                        "cache_write_tokens": usage.cache_write,
                        "cache_write_1h_tokens": usage.cache_write_1h,
                    }
                )
            assert ours.total is not None, (row, variant)
            assert ours.total.amount == theirs["total_price"], (row.provider, row.model, variant)
            compared += 1
    assert compared > 2_000


def _context(info: Any, variant: str | None) -> dict[str, str] | None:
    rows = info.price_variants or []
    return next((dict(c) for c in price_table.VARIANTS.get(variant or "", ()) if any(r.when == c for r in rows)), None)
