"""The most that what was counted can be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ..tokenizers.counter import Kind


class Counted(Protocol):
    """A count of a text, of a request, or of a part of one."""

    @property
    def tokens(self) -> int: ...

    @property
    def kind(self) -> Kind: ...

    @property
    def interval(self) -> tuple[int, int] | None: ...


def upper_bound(count: Counted) -> int | None:
    """The most tokens it can be: those of an exact count, else the end of its interval; ``None`` without one."""
    return count.tokens if count.kind == "exact" else count.interval and count.interval[1]


def sum_known(numbers: Iterable[int | None]) -> int | None:
    """A sum that is not known where one of its parts is not."""
    total = 0
    for number in numbers:
        if number is None:
            return None
        total += number
    return total
