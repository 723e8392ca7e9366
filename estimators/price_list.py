"""The prices that a book has, to be looked through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from re import Pattern
from typing import Any

from ..tokenizers.errors import TokengapError
from . import price_table
from .price import Price, plain
from .price_book import Entry, PriceBook, public_names
from .price_names import Found, canonical


@dataclass(frozen=True, slots=True)
class ListedPrice:
    """The price of a model at a time, and the variants it has, with the date each is known from.

    ``model`` may be a glob, of a price file.
    """

    provider: str | None
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
            "source": price.source.table,
            "context_window": self.context_window,
            "warnings": list(price.warnings),
        }


def list_prices(
    book: PriceBook, as_of: datetime, pattern: str | None = None, provider: str | None = None
) -> list[ListedPrice]:
    """The prices whose model matches ``pattern``, a part of its name or a glob, at ``provider`` or at all.

    First those of price files for models that the public table does not have; then the table's rows,
    each at the price that holds for it: a price file's where one has it.
    """
    where = canonical(provider) if provider else None
    wanted = (pattern or "").strip().lower()
    own = [row for row in _own_rows(book, as_of) if where in (None, row.provider) and _matches(wanted, row)]
    public = (row for row in book.table.rows if where in (None, row.provider) and _matches(wanted, row))
    return [*own, *(_public_row(book, row, as_of) for row in public)]


def _public_row(book: PriceBook, found: Found, as_of: datetime) -> ListedPrice:
    own = [entry for _, entry in book.entries if entry.holds(public_names(found), frozenset((found.provider,)), as_of)]
    if any(entry.variant is None for entry in own):
        price = book.price(found.model, as_of, provider=found.provider)
    else:
        price = price_table.price_at(book.table, found, as_of, None)
    variants = _variants(own) if any(entry.price for entry in own) else price_table.variants_of(found) | _variants(own)
    window = found.info.context_window if found.info else None
    return ListedPrice(found.provider, found.model, price, variants, window)


def _own_rows(book: PriceBook, as_of: datetime) -> Iterator[ListedPrice]:
    """The prices of price files for models that the public table does not have, each name or glob once."""
    found: dict[tuple[str | None, str], list[Entry]] = {}
    for _, entry in book.entries:
        for glob, models in zip(entry.globs, entry.models, strict=True):
            if entry.holds((glob,), frozenset(), as_of) and not _is_public(book, entry, models):
                found.setdefault((entry.provider, glob), []).append(entry)
    for (provider, glob), entries in found.items():
        standard = any(entry.variant is None for entry in entries)
        with suppress(TokengapError):  # a multiple of a price that is not there
            price = book.price(glob, as_of, provider=provider, variant=None if standard else entries[0].variant)
            yield ListedPrice(provider, glob, price, _variants(entries), None)


def _is_public(book: PriceBook, entry: Entry, models: Pattern[str]) -> bool:
    return any(
        entry.provider in (None, found.provider) and any(map(models.match, public_names(found)))
        for found in book.table.rows
    )


def _variants(entries: Iterable[Entry]) -> dict[str, str | None]:
    return {
        entry.variant: entry.start.date().isoformat() if entry.start else None for entry in entries if entry.variant
    }


def count_models(book: PriceBook) -> dict[str, int]:
    """How many models the public table has, by provider."""
    return {entry.id: len(entry.models) for entry in book.table.providers}


def _matches(wanted: str, row: Found | ListedPrice) -> bool:
    name, provider = row.model.lower(), row.provider or ""
    if any(sign in wanted for sign in "*?["):
        return fnmatchcase(name, wanted) or fnmatchcase(f"{provider}/{name}", wanted)
    return wanted in name or wanted in f"{provider}/{name}"
