"""The published prices and the reported faults, to the last digit."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tokengap.estimators.cost import CostResult, price_report, price_usage
from tokengap.estimators.price import parse_price
from tokengap.estimators.price_book import PriceBook
from tokengap.estimators.price_config import read_prices
from tokengap.estimators.usage import usage_from_counts
from tokengap.tokenizers.errors import TokengapError

DATA = Path(__file__).resolve().parent.parent / "data"
CASES: list[dict[str, Any]] = json.loads((DATA / "prices.json").read_bytes())["cases"]


def price(case: dict[str, Any]) -> CostResult:
    return price_usage(
        usage_from_counts(case["usage"]),
        case["model"],
        provider=case["provider"],
        variant=case.get("variant"),
        as_of=case["as_of"],
    )


@pytest.mark.parametrize("case", [case for case in CASES if case["total_usd"] is not None], ids=lambda case: case["id"])
def test_published_price(case: dict[str, Any]) -> None:
    result = price(case)
    assert result.total is not None
    assert (result.status, result.total.amount, result.currency) == ("priced", Decimal(case["total_usd"]), "USD")
    assert sum((line.amount or Decimal(0) for line in result.lines), Decimal(0)) == result.total.amount
    assert (result.source.table, result.source.version) == ("genai-prices", "0.2.3")
    assert len(result.source.sha256 or "") == 64
    assert result.to_dict()["as_of"] == case["as_of"]


def test_unknown_model_has_no_price() -> None:
    (case,) = [case for case in CASES if case["id"] == "p22"]
    result = price(case)
    assert (result.status, result.total, result.lines) == ("unknown_model", None, ())
    assert result.suggestions
    assert result.to_dict()["total"] is None


def test_more_cached_than_input_is_refused() -> None:
    (case,) = [case for case in CASES if case["id"] == "p23"]
    with pytest.raises(TokengapError, match=r"cache_read.*8000.*input.*100"):
        price(case)


def test_every_case_is_covered(shared_dir: Path) -> None:
    assert json.loads((shared_dir / "cases" / "prices.json").read_bytes())["cases"] == CASES


FAULTS = [
    ("litellm-6215", 2006, 1920, 300, "in=2.50,cache_read=1.25,out=10.00 USD", "0.005615"),
    ("aider-5516", 17111, 17102, 0, "in=1,cache_read=0.10,out=5 USD", "0.0017192"),
    ("litellm-14849", 262960, 257955, 1744, "in=1.25,cache_read=0.625,out=10 USD", "0.184918125"),
    ("hermes-agent-107989", 1_000_000, 0, 100_000, "in=1.40,out=4.40 USD", "1.84"),
]


@pytest.mark.parametrize(("name", "input", "cached", "output", "prices", "cost"), FAULTS, ids=[f[0] for f in FAULTS])
def test_reported_fault(name: str, input: int, cached: int, output: int, prices: str, cost: str) -> None:
    report = {
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input + output,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    total = price_report(report, price=parse_price(prices)).total
    assert total is not None
    assert total.amount == Decimal(cost)


@pytest.mark.parametrize(("prompt", "cost"), [(162_732, "1.015632"), (128_000, "0.40362"), (128_001, "0.807246")])
def test_reported_fault_of_the_long_context_tier(tmp_path: Path, prompt: int, cost: str) -> None:
    """litellm-14834: the whole request changes price, and only above the boundary."""
    file = tmp_path / "prices.toml"
    file.write_text(
        """
        [[prices]]
        model = "long"
        in = "3 USD/1M"
        out = "15 USD/1M"
        tiers = [{ above = 128000, in = "6 USD/1M", out = "30 USD/1M" }]
        """
    )
    book = PriceBook((read_prices(file),))
    result = price_report({"prompt_tokens": prompt, "completion_tokens": 1308}, "long", book=book)
    assert result.total is not None
    assert result.total.amount == Decimal(cost)
    assert result.tier == (128_000 if prompt > 128_000 else None)


def test_every_fault_of_pricing_is_covered(shared_dir: Path) -> None:
    cases = json.loads((shared_dir / "cases" / "reported_faults.json").read_bytes())["cases"]
    names = {case["id"] for case in cases if case["area"] == "pricing"}
    assert names == {fault[0] for fault in FAULTS} | {"litellm-14834"}
    costs = {case["id"]: case["expected"]["cost"] for case in cases if case["area"] == "pricing"}
    assert costs == {fault[0]: fault[-1] for fault in FAULTS} | {"litellm-14834": "1.015632"}
