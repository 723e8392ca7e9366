"""Counts that cannot be are refused, whatever door they come through."""

from __future__ import annotations

from typing import Any

import pytest

from tokengap.estimators.usage import MAX_TOKENS, UNITS, Usage, usage_from_counts
from tokengap.tokenizers.errors import TokengapError


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("count", [-1, 1.5, 2.0, True, "3", float("nan"), MAX_TOKENS + 1, [1]])
def test_refuses_what_is_no_count(unit: str, count: Any) -> None:
    with pytest.raises(TokengapError, match=unit):
        Usage(**{unit: count})


@pytest.mark.parametrize(
    "counts",
    [
        {"input": 100, "cache_read": 8000},
        {"input": 100, "cache_read": 60, "cache_write": 60},
        {"input": 100, "cache_write": 50, "cache_write_1h": 51},
        {"output": 10, "reasoning": 11},
        {"input": 10, "input_audio": 6, "input_image": 6},
        {"output": 10, "output_audio": 6, "output_image": 6},
        {"input": 10, "input_audio": 6, "cache_read": 5, "cache_read_audio": 6},
        {"input": 10, "input_audio": 3, "cache_read": 5, "cache_read_audio": 4},
    ],
)
def test_refuses_contradictions(counts: dict[str, int]) -> None:
    with pytest.raises(TokengapError, match="contradictory"):
        Usage(**counts)


def test_a_part_may_be_the_whole() -> None:
    usage = Usage(input=10, cache_read=4, cache_write=6, cache_write_1h=6, output=5, reasoning=5, output_audio=5)
    assert usage.to_dict() == {
        "input": 10,
        "output": 5,
        "cache_read": 4,
        "cache_write": 6,
        "cache_write_1h": 6,
        "reasoning": 5,
        "output_audio": 5,
    }


def test_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(TokengapError, match="did you mean 'cache_read'"):
        usage_from_counts({"input": 1, "cached_read": 1})
    with pytest.raises(TokengapError, match="known are"):
        usage_from_counts({"zzz": 1})
