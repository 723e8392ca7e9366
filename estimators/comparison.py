"""Counts side by side with a naive estimate, and the gap between the two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..tokenizers.errors import TokengapError
from ..tokenizers.registry import DEFAULT_COUNTER, get_counter
from .counting import Report, Row, Text, Texts, count_texts, one_of, prices_of, totals, unique_specs
from .gap import WordTally, gap_between, volume
from .price import Price

if TYPE_CHECKING:
    from datetime import date

    from .price_book import PriceBook

DEFAULT_BASELINE = "words:1"
PERIODS = ("hour", "day", "week", "month", "year")


def compare(
    texts: Texts,
    counters: Sequence[str] = (),
    *,
    baseline: str = DEFAULT_BASELINE,
    price: Price | str | None = None,
    unit: str = "input",
    calls: int | None = None,
    per: str = "month",
    book: PriceBook | None = None,
    as_of: str | date | None = None,
) -> Report:
    """Count as ``count`` does, beside a naive ``baseline``, and report the gap between the two.

    The reference is the first counter that is no rule of thumb. With ``calls``, each call being an
    average one of the texts, the gap is also given in money for that many calls ``per`` period.
    """
    if calls is not None and (not isinstance(calls, int) or isinstance(calls, bool) or calls < 1):
        raise TokengapError(f"calls must be a whole number of at least 1, not {calls!r}")
    (baseline,) = unique_specs((baseline,))
    one_of("period", per, PERIODS)
    specs = unique_specs(counters)
    if specs == (baseline,) == (DEFAULT_COUNTER,):
        raise TokengapError(f"the baseline {baseline} is the only counter: name another one to compare it with")
    if specs == (baseline,):
        specs = (DEFAULT_COUNTER, baseline)
    reference = _reference(specs, baseline)
    specs = tuple(dict.fromkeys((*specs, baseline)))
    prices = prices_of(specs, price, reference=reference, book=book, as_of=as_of)
    tally = WordTally(get_counter(reference))
    results: list[Row] = []
    for text, rows in count_texts(texts, specs, prices, unit, whole=True):
        results += rows
        if isinstance(text, Text):
            tally.add(text.text)
        else:
            counted = next(row.request for row in rows if row.counter == reference and row.request)
            tally.add(*counted.texts, framing=counted.framing_tokens)
    total = totals(results, specs)
    low, high = (next(entry for entry in total if entry.counter == spec) for spec in (baseline, reference))
    gap = gap_between(low, high, tally.parts(high.tokens))
    if calls is not None:
        gap = replace(gap, volume=volume(low, high, calls, per, texts=len(results) // len(specs)))
    return Report(tuple(results), total, gap)


def _reference(specs: Sequence[str], baseline: str) -> str:
    others = [spec for spec in specs if spec != baseline]
    return next((spec for spec in others if get_counter(spec).count("").estimate is None), others[0])
