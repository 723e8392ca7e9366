"""The time whose prices are asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime

from ..tokenizers.errors import TokengapError

_BARE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


@dataclass(frozen=True, slots=True)
class AsOf:
    """A time in UTC; ``bare`` where only a date was given, read as 00:00 UTC."""

    time: datetime
    bare: bool = False
    warnings: tuple[str, ...] = ()


def parse_as_of(value: str | date | None) -> AsOf:
    """Read a time, a date, or their ISO 8601 text; ``None`` is now.

    >>> in_utc(parse_as_of("2026-11-30T14:00:00+02:00").time)
    '2026-11-30T12:00:00Z'

    Raises TokengapError for a text that is neither.
    """
    if value is None:
        return AsOf(datetime.now(UTC))
    bare = False
    if isinstance(value, str):
        text = value.strip()
        bare = bool(_BARE.fullmatch(text))
        try:
            value = datetime.fromisoformat(text)
        except ValueError:
            raise TokengapError(
                f"bad time {text[:40]!r}: an ISO 8601 time is needed, such as 2026-11-30T12:00:00Z, or a date"
            ) from None
    elif not isinstance(value, date):
        raise TokengapError(f"bad time {value!r:.40}: a date, a datetime or ISO 8601 text is needed")
    elif not isinstance(value, datetime):
        value, bare = datetime(value.year, value.month, value.day, tzinfo=UTC), True
    if value.tzinfo is None:
        warnings = () if bare else ("time_without_offset: the time was read as UTC",)
        return AsOf(value.replace(tzinfo=UTC), bare, warnings)
    try:
        return AsOf(value.astimezone(UTC), bare)
    except OverflowError:
        raise TokengapError(f"bad time {value.isoformat()!r}: it is outside the calendar in UTC") from None


def in_utc(time: datetime) -> str:
    """A time in UTC as every answer writes it, to the second: ``2026-11-30T12:00:00Z``."""
    return time.isoformat(timespec="seconds").replace("+00:00", "Z")
