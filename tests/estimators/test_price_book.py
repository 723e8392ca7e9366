from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from tokengap.estimators.price import plain
from tokengap.estimators.price_book import model_price
from tokengap.tokenizers.errors import UnknownNameError

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("model", "tokens", "unit", "amount"),
    [  # from the golden prices of genai-prices 0.2.3, 2026-11-30
        ("gpt-4o", 1000, "input", "0.0025"),
        ("gpt-4o", 100, "output", "0.001"),
        ("gpt-4o-2024-08-06", 1000, "input", "0.0025"),
        ("openai/gpt-4o", 1000, "input", "0.0025"),
        ("gemini-2.5-pro", 200_000, "input", "0.25"),
        ("gemini-2.5-pro", 200_001, "input", "0.5000025"),
        ("openai/text-embedding-3-large", 123_456, "input", "0.01604928"),
    ],
)
def test_golden_prices(model: str, tokens: int, unit: str, amount: str) -> None:
    cost = model_price(model, NOON).cost(tokens, unit)
    assert cost is not None
    assert (plain(cost.amount), cost.currency) == (amount, "USD")


def test_prices_have_a_history() -> None:
    before, after = (
        model_price("gpt-5.6-sol", when)
        for when in (datetime(2026, 8, 20, tzinfo=UTC), datetime(2026, 8, 21, tzinfo=UTC))
    )
    assert before.per_million["input"] == Decimal(5)
    assert after.per_million["input"] == Decimal(4)


def test_source() -> None:
    source = model_price("gpt-4o", NOON).source
    assert (source.table, source.version, source.provider, source.model) == (
        "genai-prices",
        "0.2.3",
        "openai",
        "gpt-4o",
    )
    assert source.as_of == "2026-11-30T12:00:00Z"


@pytest.mark.parametrize("model", ["gpt-99-super", "no-such-model", "nope/gpt-4o", "", "/", "gpt-4o-"])
def test_unknown_model_is_refused(model: str) -> None:
    with pytest.raises(UnknownNameError, match="no price is known"):
        model_price(model)


def test_no_price_is_never_zero() -> None:
    """Models the table lists without prices have none here, rather than 0."""
    assert model_price("github-copilot/gpt-4o", NOON).cost(1000) is None
