"""The prices that are known can be looked through."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokengap.estimators.as_of import parse_as_of
from tokengap.estimators.price_book import PriceBook, load_book
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


FILE = """
[[prices]]
provider = "openai"
model = "gpt-4o-2024-*"
in = "2.20 USD/1M"

[[prices]]
model = "gpt-4o"
provider = "openai"
multiplier = "0.5"

[[prices]]
model = "house-*"
in = "3 EUR/1M"

[[prices]]
model = "house-*"
variant = "batch"
from = 2026-01-01
in = "1 EUR/1M"

[[prices]]
model = "house-old"
to = 2026-01-01
in = "9 EUR/1M"
"""


def test_what_price_files_say_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "tokengap.toml"
    path.write_text(FILE)
    book = load_book(path)
    rows = {(row.provider, row.model): row for row in list_prices(book, TIME)}
    assert len(rows) == 2331
    house = rows[None, "house-*"].to_dict()
    assert (house["currency"], house["per_million"], house["variants"]) == (
        "EUR",
        {"input": "3"},
        {"batch": "2026-01-01"},
    )
    assert house["source"] == "project: tokengap.toml prices[2]"
    public = {(row.provider, row.model): row for row in list_prices(PriceBook(), TIME)}
    differing = {key for key, row in public.items() if rows[key].price.per_million != row.price.per_million}
    assert differing == {("openai", "gpt-4o"), ("openai", "gpt-4o-2024-05-13")}
    assert (
        rows["openai", "gpt-4o"].price.per_million["input"] * 2 == public["openai", "gpt-4o"].price.per_million["input"]
    )
    for key in differing:
        assert rows[key].price == book.price(key[1], TIME, provider=key[0])


def test_count_models() -> None:
    counts = count_models(PriceBook())
    assert sum(counts.values()) == len(list_prices(PriceBook(), TIME)) == 2330
