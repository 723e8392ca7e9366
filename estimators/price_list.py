"""The prices that a book has, to be looked through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from re import Pattern
from typing import Any

from ..tokenizers.errors import UnknownNameError, unknown_name
from . import price_table
from .as_of import AsOf
from .cost import BARE_DATE
from .price import Price, plain
from .price_book import Entry, PriceBook, public_names
from .price_names import ALIASES, Found, canonical


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

    @property
    def name(self) -> str:
        """The provider, where it is known, and the model."""
        return f"{self.provider}/{self.model}" if self.provider else self.model

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
    book: PriceBook, as_of: AsOf | datetime, pattern: str | None = None, provider: str | None = None
) -> list[ListedPrice]:
    """The prices whose model matches ``pattern``, a part of its name or a glob, at ``provider`` or at all.

    First those of price files for models that the public table does not have; then the table's rows,
    each at the price that holds for it: a price file's where one has it. Raises UnknownNameError for a
    provider that neither has, and TokengapError for a price file's multiple of nothing.
    """
    time = as_of if isinstance(as_of, AsOf) else AsOf(as_of)
    where = canonical(provider) if provider else None
    known = {entry.id for entry in book.table.providers}
    known |= {entry.provider for _, entry in book.entries if entry.provider}
    if where is not None and where not in known:
        raise unknown_name("provider", provider or "", [*known, *ALIASES], "'tokengap prices' lists them")
    wanted = (pattern or "").strip().lower()

    def asked(provider: str | None, model: str) -> bool:
        return where in (None, provider) and _matches(wanted, provider, model)

    own = [_own_row(book, *group, time) for group in _own_groups(book, time.time) if asked(*group[:2])]
    public = (row for row in book.table.rows if asked(row.provider, row.model))
    return [*(row for row in own if row), *(_public_row(book, row, time) for row in public)]


def _public_row(book: PriceBook, found: Found, time: AsOf) -> ListedPrice:
    as_of = time.time
    own = [entry for _, entry in book.entries if entry.holds(public_names(found), frozenset((found.provider,)), as_of)]
    if any(entry.variant is None for entry in own):
        price = book.price(found.model, as_of, provider=found.provider)
    else:
        price = price_table.price_at(book.table, found, as_of, None)
        if time.bare and price_table.varies_within_day(found):
            price = replace(price, warnings=(BARE_DATE, *price.warnings))
    variants = _variants(own) if any(entry.price for entry in own) else price_table.variants_of(found) | _variants(own)
    window = found.info.context_window if found.info else None
    return ListedPrice(found.provider, found.model, price, variants, window)


def _own_groups(book: PriceBook, as_of: datetime) -> Iterator[tuple[str | None, str, list[Entry]]]:
    """The entries of price files for models that the public table does not have, by provider and name or glob."""
    found: dict[tuple[str | None, str], list[Entry]] = {}
    for _, entry in book.entries:
        for glob, models in zip(entry.globs, entry.models, strict=True):
            if entry.holds((glob,), frozenset(), as_of) and not _is_public(book, entry, models):
                found.setdefault((entry.provider, glob), []).append(entry)
    return ((provider, glob, entries) for (provider, glob), entries in found.items())


def _own_row(book: PriceBook, provider: str | None, glob: str, entries: list[Entry], time: AsOf) -> ListedPrice | None:
    standard = any(entry.variant is None for entry in entries)
    with suppress(UnknownNameError):  # a multiple of whatever else holds, where nothing does
        variant = None if standard else entries[0].variant
        price = book.price(glob, time.time, provider=provider, variant=variant)
        return ListedPrice(provider, glob, price, _variants(entries), None)
    return None


def _is_public(book: PriceBook, entry: Entry, models: Pattern[str]) -> bool:
    return any(
        entry.provider in (None, found.provider) and any(map(models.match, public_names(found)))
        for found in book.table.rows
    )


def _variants(entries: Iterable[Entry]) -> dict[str, str | None]:
    return {
        entry.variant: entry.start.date().isoformat() if entry.start else None for entry in entries if entry.variant
    }


def count_models(book: PriceBook, as_of: datetime | None = None) -> dict[str, int]:
    """How many models there are by provider: the public table's, and those only price files have."""
    found = {entry.id: len(entry.models) for entry in book.table.providers}
    for provider, _, _ in _own_groups(book, as_of or datetime.now(UTC)):
        if provider is not None:
            found[provider] = found.get(provider, 0) + 1
    return found


def _matches(wanted: str, provider: str | None, model: str) -> bool:
    name, full = model.lower(), f"{provider or ''}/{model}".lower()
    if any(sign in wanted for sign in "*?["):
        return fnmatchcase(name, wanted) or fnmatchcase(full, wanted)
    return wanted in name or wanted in full
