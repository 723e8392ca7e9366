"""What a call used, in tokens: one meaning for every provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from operator import attrgetter

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
        counts = _needed_of(self)
        # One look at all of them decides for nearly every call; to name the culprit takes a look at each.
        if set(map(type, counts)) != {int} or min(counts) < 0 or max(counts) > MAX_TOKENS:
            for name, count in zip(_NEEDED, counts, strict=True):
                check_count(count, name)
        for name in _OPTIONAL:
            if (count := getattr(self, name)) is not None:
                check_count(count, name)
        if self.cache_read + self.cache_write > self.input:
            raise self._more(("cache_read", "cache_write"), "input")
        if self.cache_write_1h > self.cache_write:
            raise self._more(("cache_write_1h",), "cache_write")
        if self.reasoning > self.output:
            raise self._more(("reasoning",), "output")
        if self.input_audio + self.input_image + self.input_video > self.input:
            raise self._more(("input_audio", "input_image", "input_video"), "input")
        if self.output_audio + self.output_image + self.output_video > self.output:
            raise self._more(("output_audio", "output_image", "output_video"), "output")
        self._check_cached_kinds()

    def _check_cached_kinds(self) -> None:
        cached = (self.cache_read_audio or 0, self.cache_read_image or 0, self.cache_read_video or 0)
        if sum(cached) > self.cache_read:
            raise self._more(_OPTIONAL, "cache_read")
        for kind, count in zip(MODALITIES, cached, strict=True):
            if count and count > getattr(self, f"input_{kind}"):
                raise self._more((f"cache_read_{kind}",), f"input_{kind}")

    def _more(self, parts: tuple[str, ...], whole: str) -> TokengapError:
        counts = {part: count for part in parts if (count := getattr(self, part))}
        *others, last = counts
        named = f"{', '.join(others)} and {last}" if others else last
        return TokengapError(
            f"contradictory usage: {named} ({sum(counts.values())}) cannot be more than {whole} "
            f"({getattr(self, whole)}), of which they are a part"
        )

    def counts(self) -> dict[str, int | None]:
        """Every count by its name."""
        return dict(zip(UNITS, _values_of(self), strict=True))

    def to_dict(self) -> dict[str, int]:
        """The counts that are not 0, and ``input`` and ``output`` in any case."""
        counts = self.counts()
        return {name: count for name, count in counts.items() if count or (count == 0 and name in ("input", "output"))}


UNITS = tuple(item.name for item in fields(Usage))
"""The names of the counts."""

_OPTIONAL = tuple(f"cache_read_{kind}" for kind in MODALITIES)
_NEEDED = tuple(name for name in UNITS if name not in _OPTIONAL)
_needed_of, _values_of = attrgetter(*_NEEDED), attrgetter(*UNITS)


def check_count(count: object, where: str) -> int:
    """Refuse what is not a whole number of tokens."""
    if isinstance(count, bool) or not isinstance(count, int):
        raise TokengapError(f"bad usage: {where} is {shown(count)}, not a whole number of tokens")
    if not 0 <= count <= MAX_TOKENS:
        raise TokengapError(f"bad usage: {where} is {count}, not between 0 and {MAX_TOKENS}")
    return count


def shown(value: object) -> str:
    """A value as an error repeats it: as JSON writes it, but for a string's quotes."""
    import json

    text = repr(value) if isinstance(value, str) else json.dumps(value, default=repr)
    return text[:40]


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
    from .project_file import nearest

    return nearest(name, UNITS)
