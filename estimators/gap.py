"""How far the naive estimate is from the token count: in tokens, in money, and why."""

from __future__ import annotations

import re
from collections import Counter as Tally
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from ..tokenizers.counter import Counter
from .counting import as_money
from .price import CONTEXT, Money

if TYPE_CHECKING:
    from .counting import Total

_OTHER_SCRIPT = re.compile(r"[^\W\d_\u0000-\u024f]")  # a letter outside Latin
_NUMBER = re.compile(r"\d")
_PLAIN = re.compile(r"[\W_]{0,2}[^\W\d_]++(['’-][^\W\d_]++)*+[.,;:!?)\"'”’…]{0,2}")


@dataclass(frozen=True, slots=True)
class Part:
    """The words of one kind in the texts, and the tokens they take, each counted with a space before it."""

    kind: str
    words: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Volume:
    """The gap in money for a number of calls per period, each an average one of the texts."""

    calls: int
    per: str
    baseline_cost: Money | None
    reference_cost: Money | None
    cost: Money | None


@dataclass(frozen=True, slots=True)
class Gap:
    """Reference minus baseline, so positive where the baseline under-estimates.

    ``percent`` is the gap / reference × 100 to two decimals, ``ratio`` reference / baseline; each is
    ``None`` where it would divide by zero. ``parts`` say which kinds of words the tokens go to.
    """

    baseline: str
    reference: str
    tokens: int
    percent: Decimal | None
    ratio: Fraction | None
    cost: Money | None
    volume: Volume | None
    parts: tuple[Part, ...]


class WordTally:
    """The words of many texts by kind, with the tokens each takes under one counter."""

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._words: Tally[str] = Tally()
        self._framing = 0

    def add(self, *texts: str, framing: int = 0) -> None:
        """Take the words of texts, and the tokens of what stands around them in a request."""
        for text in texts:
            self._words.update(text.split())
        self._framing += framing

    def parts(self, total_tokens: int) -> tuple[Part, ...]:
        """The kinds, most tokens first. What the words do not explain is the space between them."""
        words: Tally[str] = Tally()
        tokens: Tally[str] = Tally()
        for word, times in self._words.items():
            length = self._counter.count(f" {word}").tokens
            kind = _kind(word, length)
            words[kind] += times
            tokens[kind] += times * length
        tokens["message frames, tools and images"] = self._framing
        tokens["space between words"] = total_tokens - tokens.total()
        return tuple(Part(kind, words[kind], count) for kind, count in tokens.most_common() if count)


def gap_between(baseline: Total, reference: Total, parts: tuple[Part, ...]) -> Gap:
    """The gap between two totals over the same texts."""
    tokens = reference.tokens - baseline.tokens
    return Gap(
        baseline=baseline.counter,
        reference=reference.counter,
        tokens=tokens,
        percent=_percent(tokens, reference.tokens),
        ratio=Fraction(reference.tokens, baseline.tokens) if baseline.tokens else None,
        cost=_difference(reference.exact_cost, baseline.exact_cost, reference.currency),
        volume=None,
        parts=parts,
    )


def volume(baseline: Total, reference: Total, calls: int, per: str, *, texts: int) -> Volume:
    """The money of two totals over ``texts`` texts, for ``calls`` calls with an average one each."""
    low, high = (
        None if total.exact_cost is None else total.exact_cost * calls / texts for total in (baseline, reference)
    )
    currency = reference.currency
    return Volume(calls, per, as_money(low, currency), as_money(high, currency), _difference(high, low, currency))


def _kind(word: str, tokens: int) -> str:
    if _OTHER_SCRIPT.search(word):
        return "words in other scripts"
    if _NUMBER.search(word):
        return "words with digits"
    if _PLAIN.fullmatch(word):
        return "common words" if tokens == 1 else "rarer words"
    return "code and punctuation"


def _percent(part: int, whole: int) -> Decimal | None:
    if not whole:
        return None
    exact = Fraction(part * 100, whole)
    return CONTEXT.divide(Decimal(exact.numerator), Decimal(exact.denominator)).quantize(
        Decimal("0.01"), rounding=ROUND_HALF_UP, context=CONTEXT
    )


def _difference(high: Fraction | None, low: Fraction | None, currency: str | None) -> Money | None:
    return None if high is None or low is None else as_money(high - low, currency)


def reason(parts: Iterable[Part]) -> str:
    """One line on why words are the wrong unit, from the parts that differ most from one token a word."""
    dear = sorted(
        (part for part in parts if part.words and part.tokens > part.words),
        key=lambda part: part.words - part.tokens,
    )
    if not dear:
        return "Here nearly every word is one token; other texts are not like that."
    named = [f"{part.kind} take {part.tokens / part.words:.1f} tokens each" for part in dear[:3]]
    return f"Words are not what is billed: {', '.join(named)}."
