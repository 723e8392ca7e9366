"""What a call used, in tokens: one meaning for every provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from ..tokenizers.errors import TokengapError

MAX_TOKENS = 10**15
"""Largest count taken; more is a mistake of units, and would cost digits."""

MODALITIES = ("audio", "image", "video")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, the totals with their parts inside them.

    - ``input`` is everything sent, cache included; ``output`` everything received, reasoning included.
    - ``cache_read`` and ``cache_write`` are parts of ``input``; ``cache_write_1h`` of ``cache_write``.
    - ``reasoning`` is a part of ``output``.
    - ``input_audio`` and its like are parts of ``input`` or ``output``, the rest being text;
      ``cache_read_audio`` and its like are parts of both ``cache_read`` and ``input_audio``, ``None``
      where it is not known how much of the one is the other.
    - ``web_searches`` are calls, not tokens.

    Raises TokengapError for a count that is negative, not whole, or more than what it is a part of.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    reasoning: int = 0
    input_audio: int = 0
    input_image: int = 0
    input_video: int = 0
    output_audio: int = 0
    output_image: int = 0
    output_video: int = 0
    cache_read_audio: int | None = None
    cache_read_image: int | None = None
    cache_read_video: int | None = None
    web_searches: int = 0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            count = getattr(self, name)
            if count is not None or not name.startswith("cache_read_"):
                check_count(count, name)
        self._within("cache_read and cache_write", self.cache_read + self.cache_write, "input")
        self._within("cache_write_1h", self.cache_write_1h, "cache_write")
        self._within("reasoning", self.reasoning, "output")
        for side in ("input", "output"):
            kinds = [f"{side}_{kind}" for kind in MODALITIES]
            self._within(" and ".join(kinds), sum(getattr(self, kind) for kind in kinds), side)
        cached = [getattr(self, f"cache_read_{kind}") or 0 for kind in MODALITIES]
        self._within("cache_read_audio and its like", sum(cached), "cache_read")
        for kind, count in zip(MODALITIES, cached, strict=True):
            self._within(f"cache_read_{kind}", count, f"input_{kind}")

    def _within(self, part: str, count: int, whole: str) -> None:
        if count > getattr(self, whole):
            raise TokengapError(
                f"contradictory usage: {part} ({count}) cannot be more than {whole} ({getattr(self, whole)}), "
                "of which they are a part"
            )

    def counts(self) -> dict[str, int | None]:
        """Every count by its name."""
        return {name: getattr(self, name) for name in self.__slots__}

    def to_dict(self) -> dict[str, int]:
        """The counts that are not 0, and ``input`` and ``output`` in any case."""
        counts = self.counts()
        return {name: count for name, count in counts.items() if count or (count == 0 and name in ("input", "output"))}


UNITS = tuple(item.name for item in fields(Usage))
"""The names of the counts."""


def check_count(count: object, where: str) -> int:
    """Refuse what is not a whole number of tokens."""
    if isinstance(count, bool) or not isinstance(count, int):
        raise TokengapError(f"bad usage: {where} is {count!r:.40}, not a whole number of tokens")
    if not 0 <= count <= MAX_TOKENS:
        raise TokengapError(f"bad usage: {where} is {count}, not between 0 and {MAX_TOKENS}")
    return count


def usage_from_counts(counts: Mapping[str, object]) -> Usage:
    """Build a Usage from names and counts, refusing names it does not have.

    >>> usage_from_counts({"input": 1000, "output": 100}).output
    100
    """
    for name in counts:
        if name not in UNITS:
            raise TokengapError(f"bad usage: {_nearest(str(name))}")
    return Usage(**{name: check_count(count, name) for name, count in counts.items() if count is not None})


def _nearest(name: str) -> str:
    from .price_data import nearest

    return nearest(name, UNITS)
