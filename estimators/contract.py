"""The JSON every door answers with. Fields may be added to it, never renamed or given new meaning."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from .counting import Report, Row, Total, bytes_per_token, per_word
from .price import Money, Price, plain

if TYPE_CHECKING:
    from .gap import Gap, Volume
    from .request_count import RequestCount

Json = dict[str, object]


def report_json(report: Report) -> Json:
    """``{"results", "total", "prices"}``, and ``"gap"`` for a comparison."""
    body: Json = {
        "results": [_row(row) for row in report.results],
        "total": [_total(total) for total in report.total],
        "prices": [{"counter": counter, **price_json(price)} for counter, price in report.prices()],
    }
    if report.gap:
        body["gap"] = _gap(report.gap)
    return body


def price_json(price: Price) -> Json:
    """A price per million tokens by unit, and where it is from."""
    return {
        "currency": price.currency,
        "variant": price.variant,
        "per_million_tokens": {unit: plain(amount) for unit, amount in price.per_million.items()},
        "tiers": [
            {"above": tier.above, "per_million_tokens": {unit: plain(rate) for unit, rate in tier.per_million.items()}}
            for tier in price.tiers
        ],
        "source": price.source.to_dict(),
        "warnings": list(price.warnings),
    }


def _row(row: Row) -> Json:
    count, size = row.count, row.size
    return {
        "source": row.source,
        "counter": row.counter,
        "tokenizer": count.tokenizer,
        "tokens": count.tokens,
        "estimate": None if count.estimate is None else rational(count.estimate),
        "kind": count.kind,
        "interval": count.interval,
        "fingerprint": count.fingerprint,
        "words": size.words,
        "chars": size.chars,
        "bytes": size.bytes,
        "tokens_per_word": _number(per_word(count.tokens, size)),
        "bytes_per_token": _number(bytes_per_token(count.tokens, size)),
        "cost": _money(row.cost),
        "warnings": row.warnings,
        **(_request(row.request) if row.request else {}),
    }


def _request(request: RequestCount) -> Json:
    """What the count of a request says beyond that of a text."""
    whole = request.to_dict()
    return {name: whole[name] for name in ("model", "text_tokens", "framing_tokens", "parts", "rule", "not_counted")}


def _total(total: Total) -> Json:
    return {
        "counter": total.counter,
        "tokens": total.tokens,
        "words": total.size.words,
        "chars": total.size.chars,
        "bytes": total.size.bytes,
        "cost": _money(total.cost),
    }


def _gap(gap: Gap) -> Json:
    return {
        "baseline": gap.baseline,
        "reference": gap.reference,
        "tokens": gap.tokens,
        "percent": None if gap.percent is None else float(gap.percent),
        "ratio": _number(gap.ratio),
        "cost": _money(gap.cost),
        "volume": _volume(gap.volume) if gap.volume else None,
        "parts": [{"kind": part.kind, "words": part.words, "tokens": part.tokens} for part in gap.parts],
    }


def _volume(volume: Volume) -> Json:
    return {
        "calls": volume.calls,
        "per": volume.per,
        "baseline_cost": _money(volume.baseline_cost),
        "reference_cost": _money(volume.reference_cost),
        "cost": _money(volume.cost),
    }


def _money(money: Money | None) -> dict[str, str] | None:
    return None if money is None else money.to_dict()


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def rational(value: Fraction) -> str:
    """Write a rational exactly: as a decimal where it ends, else as a fraction.

    >>> rational(Fraction("6.665")), rational(Fraction(20, 3))
    ('6.665', '20/3')
    """
    twos = fives = 0
    rest = value.denominator
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest > 1:
        return f"{value.numerator}/{value.denominator}"
    digits = max(twos, fives)
    scaled = value.numerator * 10**digits // value.denominator
    text = f"{scaled:0{digits + 1}d}"
    return f"{text[:-digits]}.{text[-digits:]}" if digits else text
