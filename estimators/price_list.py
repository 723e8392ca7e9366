"""The prices that a book has, to be looked through."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

from . import price_table
from .price import Price, plain
from .price_book import PriceBook
from .price_names import canonical


@dataclass(frozen=True, slots=True)
class ListedPrice:
    """One row of the public table at a time, and the variants it has, with the date each is known from."""

    provider: str
    model: str
    price: Price
    variants: dict[str, str | None]
    context_window: int | None

    def to_dict(self) -> dict[str, Any]:
        price = self.price
        return {
            "provider": self.provider,
            "model": self.model,
            "currency": price.currency,
            "per_million": {unit: plain(rate) for unit, rate in price.per_million.items()},
            "per_thousand": {unit: plain(rate) for unit, rate in price.per_thousand.items()},
            "tiers": [
                {"above": tier.above, "per_million": {unit: plain(rate) for unit, rate in tier.per_million.items()}}
                for tier in price.tiers
            ],
            "variants": self.variants,
            "effective_date": price.source.effective_date,
            "context_window": self.context_window,
            "warnings": list(price.warnings),
        }


def list_prices(
    book: PriceBook, as_of: datetime, pattern: str | None = None, provider: str | None = None
) -> list[ListedPrice]:
    """The public rows whose model matches ``pattern``, a part of its name or a glob, at ``provider`` or at all."""
    table = book.table
    where = canonical(provider) if provider else None
    wanted = (pattern or "").strip().lower()
    rows = []
    for found in table.rows:
        if where in (None, found.provider) and _matches(wanted, found.model.lower(), found.provider):
            price = price_table.price_at(table, found, as_of, None)
            window = found.info.context_window if found.info else None
            rows.append(ListedPrice(found.provider, found.model, price, price_table.variants_of(found), window))
    return rows


def count_models(book: PriceBook) -> dict[str, int]:
    """How many models the public table has, by provider."""
    return {entry.id: len(entry.models) for entry in book.table.providers}


def _matches(wanted: str, name: str, provider: str) -> bool:
    if any(sign in wanted for sign in "*?["):
        return fnmatchcase(name, wanted) or fnmatchcase(f"{provider}/{name}", wanted)
    return wanted in name or wanted in f"{provider}/{name}"
