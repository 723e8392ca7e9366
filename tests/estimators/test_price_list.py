"""The prices that are known can be looked through."""

from __future__ import annotations

import pytest

from tokengap.estimators.as_of import parse_as_of
from tokengap.estimators.price_book import PriceBook
from tokengap.estimators.price_list import count_models, list_prices

TIME = parse_as_of("2026-11-30T12:00:00Z").time


@pytest.mark.parametrize(
    ("pattern", "provider", "models"),
    [
        ("claude-sonnet-4-5", "anthropic", {"claude-sonnet-4-5"}),
        ("anthropic/claude-sonnet-4-5", None, {"claude-sonnet-4-5"}),
        ("ft:gpt-4o*", None, {"ft:gpt-4o", "ft:gpt-4o-mini"}),
        ("no such model", None, set()),
    ],
)
def test_list_prices(pattern: str, provider: str | None, models: set[str]) -> None:
    rows = list_prices(PriceBook(), TIME, pattern, provider)
    assert {row.model for row in rows if row.provider in ("anthropic", "openai")} == models


def test_a_row_shows_tiers_and_variants() -> None:
    (row,) = list_prices(PriceBook(), TIME, "claude-sonnet-4-5", "anthropic")
    shown = row.to_dict()
    assert shown["per_million"]["input"] == "3"
    assert shown["per_thousand"] == {"web_searches": "10"}
    assert [tier["above"] for tier in shown["tiers"]] == [200_000]
    assert shown["tiers"][0]["per_million"]["output"] == "22.5"
    assert shown["variants"] == {"batch": "2026-10-14"}


def test_count_models() -> None:
    counts = count_models(PriceBook())
    assert sum(counts.values()) == len(list_prices(PriceBook(), TIME)) == 2330
