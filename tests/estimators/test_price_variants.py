"""How a call was or is to be served: what a request, a report and the caller say of it agree, or are refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tokengap.estimators.cost import CostResult, price_report, price_usage
from tokengap.estimators.counting import ChatRequest
from tokengap.estimators.request_cost import price_request
from tokengap.estimators.request_settings import requested_variant
from tokengap.estimators.usage import Usage
from tokengap.tokenizers.errors import TokengapError

NOON = "2026-11-30T12:00:00Z"
MILLION = {"prompt_tokens": 10**6, "completion_tokens": 10**6}
BODY = {"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}


def total(result: CostResult) -> Decimal:
    assert result.total is not None, result
    return result.total.amount


@pytest.mark.parametrize(
    ("model", "tier", "variant", "amount"),
    [
        ("gpt-5", "flex", None, "5.625"),
        ("gpt-5", "flex", "flex", "5.625"),
        ("gpt-5", "flex", "standard", "11.25"),
        ("gpt-5", "scale", "standard", "11.25"),
        ("gpt-4o", "flex", "standard", "12.5"),
        ("gpt-5", "default", "standard", "11.25"),
        # OpenAI calls the tier of a batch's answers so
        ("gpt-5", "default", "batch", "5.625"),
        ("gpt-5", "auto", "flex", "5.625"),
    ],
)
def test_the_tier_of_a_report_and_the_variant(model: str, tier: str, variant: str | None, amount: str) -> None:
    report = {"model": model, "service_tier": tier, "usage": MILLION}
    result = price_report(report, variant=variant, as_of=NOON)
    assert total(result) == Decimal(amount)
    overruled = variant == "standard" and tier != "default"
    assert any("tier_not_priced" in warning for warning in result.warnings) == overruled


@pytest.mark.parametrize(
    ("tier", "variant"),
    [
        ({"service_tier": "default"}, "flex"),
        ({"service_tier": "default"}, "priority"),
        ({"service_tier": "priority"}, "batch"),
        ({"service_tier": "standard"}, "batch"),
        ({"usage": {"speed": "standard", "input_tokens": 1, "output_tokens": 1}}, "fast"),
        ({"usage": {"trafficType": "ON_DEMAND", "promptTokenCount": 1}}, "priority"),
    ],
)
def test_a_tier_that_rules_the_variant_out(tier: dict[str, Any], variant: str) -> None:
    with pytest.raises(TokengapError, match="contradicts the variant"):
        price_report({"model": "gpt-5", "usage": MILLION} | tier, variant=variant)


@pytest.mark.parametrize("tier", [5, True, ["flex"], {}])
def test_a_tier_that_is_no_word(tier: object) -> None:
    with pytest.raises(TokengapError, match=r"service_tier is .*, not the name of a service tier"):
        price_report({"model": "gpt-5", "service_tier": tier, "usage": MILLION})
    with pytest.raises(TokengapError, match=r"service_tier is .*, not the name of a service tier"):
        price_report({"model": "gpt-5", "usage": MILLION | {"service_tier": tier}})


def test_a_price_given_with_the_call_says_what_tier_it_passes_over() -> None:
    report = {"model": "gpt-5", "service_tier": "flex", "usage": MILLION}
    result = price_report(report, price="3 USD")
    assert total(result) == 6
    assert any("tier_not_priced" in warning for warning in result.warnings)
    request = price_request(ChatRequest("r", BODY | {"service_tier": "flex"}), price="3 USD")
    assert any("tier_not_priced" in warning for warning in request.cost.warnings)


@pytest.mark.parametrize(
    ("body", "variant"),
    [
        (BODY, None),
        (BODY | {"service_tier": "auto"}, None),
        (BODY | {"serviceTier": "priority"}, "priority"),
        (BODY | {"service_tier": "FLEX"}, "flex"),
        (BODY | {"service_tier": "fast"}, "fast"),
        (BODY | {"speed": "fast"}, "fast"),
        (BODY | {"speed": "fast", "service_tier": "standard_only"}, "fast"),
        (BODY | {"speed": "standard"}, None),
        ({"custom_id": "1", "body": BODY}, "batch"),
        ({"custom_id": "1", "body": BODY | {"service_tier": "default"}}, "batch"),
    ],
)
def test_what_a_request_is_billed_as(body: dict[str, Any], variant: str | None) -> None:
    assert requested_variant(body) == variant


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"custom_id": "1", "body": BODY | {"service_tier": "priority"}}, "batch and priority do not combine"),
        ({"custom_id": "1", "params": BODY | {"speed": "fast"}}, "batch and fast do not combine"),
        (BODY | {"service_tier": "flex", "speed": "fast"}, "flex and fast do not combine"),
        (BODY | {"speed": "ludicrous"}, "speed: no price is known for 'ludicrous'"),
        (BODY | {"service_tier": 5}, "service_tier: no price is known for '5'"),
    ],
)
def test_a_request_that_cannot_be_billed(body: dict[str, Any], problem: str) -> None:
    with pytest.raises(TokengapError, match=problem):
        requested_variant(body)


def test_a_fast_request_costs_what_its_usage_does() -> None:
    body = {"model": "claude-opus-4-8", "max_tokens": 9, "messages": BODY["messages"], "speed": "fast"}
    fast = price_request(ChatRequest("r", body), as_of=NOON).cost
    usual = price_request(ChatRequest("r", body), variant="standard", as_of=NOON).cost
    assert (fast.variant, usual.variant) == ("fast", None)
    assert total(fast) > total(usual)


def test_a_variant_without_any_rate_of_its_own_says_so() -> None:
    """The table has a batch variant of this model with no price in it."""
    result = price_usage(Usage(10**6, 10**6), "gpt-3.5-turbo-1106", variant="batch", as_of=NOON)
    units = {warning.rpartition(" ")[2] for warning in result.warnings if warning.startswith("standard_rate")}
    assert units == {"input", "output"}


@pytest.mark.parametrize(
    ("as_of", "amount", "rule", "warned"),
    [
        ("2026-05-01T02:00:00Z", "1.5", "the price of the hours 01:00-04:00 UTC", True),
        ("2026-05-01T05:00:00Z", "0.42", "the price outside the hours 01:00-04:00 and 06:00-10:00 UTC", False),
        ("2026-09-10T02:00:00Z", "1.5", "the price of the hours 01:00-04:00 UTC", False),
        ("2026-09-09T23:00:00Z", "0.88", "the price outside the hours", False),
    ],
)
def test_hours_and_dates_do_not_combine_in_the_table(as_of: str, amount: str, rule: str, warned: bool) -> None:
    result = price_usage(Usage(10**6, 10**6), "deepseek-v4-flash", as_of=as_of)
    assert total(result) == Decimal(amount)
    assert (result.rule or "").startswith(rule)
    assert any(warning.startswith("hours_undated") for warning in result.warnings) == warned
