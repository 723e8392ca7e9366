"""What a request says of how it is served."""

from __future__ import annotations

from typing import Any

import pytest

from tokengap.estimators.request_settings import named_model, requested_variant
from tokengap.tokenizers.errors import TokengapError


@pytest.mark.parametrize(
    ("body", "variant"),
    [
        ({"contents": "x", "serviceTier": "flex"}, "flex"),
        ({"contents": "x", "serviceTier": "PRIORITY"}, "priority"),
        ({"contents": "x", "serviceTier": "standard"}, None),
        ({"contents": "x", "config": {"service_tier": "flex"}}, "flex"),
        ({"contents": "x", "service_tier": "unspecified"}, None),
        ({"messages": [], "service_tier": None}, None),
        ({"key": "1", "request": {"contents": "x"}}, "batch"),
    ],
)
def test_the_tier_of_a_request(body: Any, variant: str | None) -> None:
    assert requested_variant(body) == variant


def test_a_tier_without_a_price_is_refused() -> None:
    with pytest.raises(TokengapError, match="serviceTier: no price is known for 'gold'"):
        requested_variant({"contents": "x", "serviceTier": "gold"})


def test_the_model_that_is_sent_goes_before_the_one_around_it() -> None:
    assert named_model({"model": "a", "body": {"model": "b"}}) == "b"
    assert named_model({"model": "a", "body": {}}) == "a"
