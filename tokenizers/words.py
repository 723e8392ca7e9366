"""The naive baselines: words × factor, characters ÷ size, and bytes.

They are what people use in place of a tokenizer, kept here to show how far off they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from hashlib import sha256
from math import ceil

from .counter import Count
from .errors import TokengapError
from .text import TextSize, measure, well_formed

_NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?|[0-9]{1,12}/[0-9]{1,12}")


class NaiveCounter:
    """A rule of thumb over the size of a text. ``rule`` says it in words, for the fingerprint."""

    def __init__(self, name: str, rule: str, estimate: Callable[[TextSize], Fraction]) -> None:
        self.name = name
        self._fingerprint = f"sha256:{sha256(rule.encode()).hexdigest()}"
        self._estimate = estimate

    def count(self, text: str) -> Count:
        text, repaired = well_formed(text)
        estimate = self._estimate(measure(text))
        return Count(
            tokens=ceil(estimate),
            tokenizer=self.name,
            fingerprint=self._fingerprint,
            kind="heuristic",
            estimate=estimate,
            warnings=("uncalibrated", "lone_surrogate") if repaired else ("uncalibrated",),
        )

    @property
    def adds_up(self) -> bool:
        return True


def from_spec(spec: str) -> NaiveCounter:
    """Build ``words[:FACTOR]`` (default 1), ``chars[:SIZE]`` (default 4) or ``bytes``."""
    name, colon, argument = spec.partition(":")
    if name == "bytes":
        if colon:
            raise TokengapError(f"the counter 'bytes' takes no argument: {spec[:80]!r}")
        return NaiveCounter(spec, "UTF-8 bytes", lambda size: Fraction(size.bytes))
    if name == "words":
        factor = _positive(argument if colon else "1", spec, "words:1.333 or words:4/3")
        return NaiveCounter(spec, f"str.split() words x {factor}", lambda size: size.words * factor)
    length = _positive(argument if colon else "4", spec, "chars:4 or chars:7/2")
    return NaiveCounter(spec, f"code points / {length}", lambda size: size.chars / length)


def _positive(number: str, spec: str, example: str) -> Fraction:
    try:
        value = Fraction(number) if _NUMBER.fullmatch(number) else Fraction(0)
    except ZeroDivisionError:
        value = Fraction(0)
    if value > 0:
        return value
    raise TokengapError(
        f"bad factor in counter {spec[:80]!r}: a positive decimal or fraction is needed, such as {example}"
    )
