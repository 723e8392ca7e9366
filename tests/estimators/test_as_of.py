"""The time whose prices are asked for is always one moment in UTC."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from tokengap.estimators.as_of import parse_as_of
from tokengap.tokenizers.errors import TokengapError

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "time", "bare", "warned"),
    [
        ("2026-11-30T12:00:00Z", NOON, False, False),
        ("2026-11-30T14:00:00+02:00", NOON, False, False),
        (" 2026-11-30T12:00Z ", NOON, False, False),
        ("2026-11-30T12:00:00", NOON, False, True),
        ("2026-11-30", datetime(2026, 11, 30, tzinfo=UTC), True, False),
        (date(2026, 11, 30), datetime(2026, 11, 30, tzinfo=UTC), True, False),
        (datetime(2026, 11, 30, 7, tzinfo=timezone(timedelta(hours=-5))), NOON, False, False),
    ],
)
def test_parse_as_of(value: str | date, time: datetime, bare: bool, warned: bool) -> None:
    parsed = parse_as_of(value)
    assert (parsed.time, parsed.bare, bool(parsed.warnings)) == (time, bare, warned)
    assert parsed.time.utcoffset() == timedelta(0)


def test_default_is_now() -> None:
    before = datetime.now(UTC)
    assert before <= parse_as_of(None).time <= datetime.now(UTC)


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "2026-02-30", "30.11.2026", "0001-01-01T00:00+05:00"])
def test_refuses(text: str) -> None:
    with pytest.raises(TokengapError, match="bad time"):
        parse_as_of(text)
