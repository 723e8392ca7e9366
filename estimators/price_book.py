"""The price of a model: a project's own prices, an organisation's, the public table; the first hit wins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from os import PathLike
from pathlib import Path
from re import Pattern
from typing import TYPE_CHECKING

from ..tokenizers.errors import TokengapError, UnknownNameError
from . import price_table
from .as_of import in_utc, parse_as_of
from .price import CONTEXT, Price, PriceSource, Tier, check_rate
from .price_names import ALIASES, MAX_NAME, Found, canonical, clean, forms

if TYPE_CHECKING:
    from .price_table import PriceTable


MOST_MULTIPLES = 16
"""Most multipliers on one another: a region's uplift on a discount on a base price are three."""


@dataclass(frozen=True, eq=False)
class Entry:
    """One price of a price file: ``price`` itself, or ``multiplier`` on another.

    ``globs`` are ``models`` as they were written. ``base`` is the provider and model that ``multiplier``
    is on; ``None`` for the price that would hold without this entry. ``start`` is included, ``end`` is not.
    ``mistake`` makes the error for what is wrong at a key of it, with its line.
    """

    where: str
    globs: tuple[str, ...]
    models: tuple[Pattern[str], ...]
    provider: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    variant: str | None = None
    price: Price | None = None
    multiplier: Decimal | None = None
    base: str | None = None
    mistake: Callable[[str, str], TokengapError] | None = None

    def fault(self, key: str, problem: str) -> TokengapError:
        """What is wrong at a key of it."""
        return self.mistake(key, problem) if self.mistake else TokengapError(f"{self.where}.{key}: {problem}")

    def holds(self, names: Iterable[str], providers: frozenset[str], as_of: datetime) -> bool:
        if self.provider and providers and self.provider not in providers:
            return False
        if (self.start and as_of < self.start) or (self.end and as_of >= self.end):
            return False
        return any(glob.match(name) for glob in self.models for name in names)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The question put to a book."""

    model: str
    provider: str | None
    as_of: datetime
    variant: str | None


@dataclass(frozen=True, eq=False)
class Layer:
    """The entries of one price file, in its order; the first that holds wins."""

    name: str
    path: str
    sha256: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, eq=False)
class PriceBook:
    """Price files, first first, over a public table (default: the one that is installed)."""

    layers: tuple[Layer, ...] = ()
    public: PriceTable | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.layers, tuple) or not all(isinstance(layer, Layer) for layer in self.layers):
            raise TokengapError("a PriceBook is made of Layers, in a tuple; load_book reads them from files")
        if not isinstance(self.public, price_table.PriceTable | None):
            raise TokengapError("a PriceBook's public table is a PriceTable, as load_book(price_data=FILE) reads one")

    @cached_property
    def table(self) -> PriceTable:
        return self.public or price_table.bundled()

    @cached_property
    def entries(self) -> tuple[tuple[Layer, Entry], ...]:
        """Every entry of the price files, first first."""
        return tuple((layer, entry) for layer in self.layers for entry in layer.entries)

    def price(
        self,
        model: str,
        as_of: datetime,
        *,
        provider: str | None = None,
        variant: str | None = None,
    ) -> Price:
        """The price of a model at a time.

        Raises UnknownNameError, with the nearest names, for a model that no layer has; TokengapError
        for a variant that the layer which prices the model does not have.
        """
        try:
            return self._price(_Asked(model, provider, as_of, variant), 0, ())
        except UnknownNameError as error:
            raise self._suggest_own(model, error) from None

    def _suggest_own(self, model: str, error: UnknownNameError) -> UnknownNameError:
        """The error with the nearest names of the price files, if any is near."""
        own = [glob for _, entry in self.entries for glob in entry.globs if not any(sign in glob for sign in "*?[")]
        if not own:
            return error
        from difflib import get_close_matches

        near = get_close_matches(model.strip().lower()[:MAX_NAME], own, n=3, cutoff=0.6)
        if not near:
            return error
        message = f"unknown model {model[:MAX_NAME]!r}: did you mean {' or '.join(near)}, of a price file?"
        return UnknownNameError(message, model, dict.fromkeys((*near, *error.suggestions)))

    def _price(self, asked: _Asked, first: int, used: tuple[int, ...]) -> Price:
        """The price by the entries from ``first`` on; ``used`` are the multiples it is the base of."""
        passed: Entry | None = None
        names, providers = self._identity(asked) if self.entries else ((), frozenset())
        for index in range(first, len(self.entries)):
            layer, entry = self.entries[index]
            if used[-1:] == (index,) or not entry.holds(names, providers, asked.as_of):
                continue
            if entry.multiplier is not None and entry.variant in (None, asked.variant):
                if index in used:
                    raise TokengapError(f"{entry.where}: these prices are multiples of each other in a circle")
                if len(used) >= MOST_MULTIPLES:
                    raise TokengapError(f"{entry.where}: a multiple of more than {MOST_MULTIPLES} multiples")
                base = self._base(asked, entry, index, used)
                return _multiple(base, entry, entry.multiplier, _source(layer, entry, asked, base.source))
            if entry.price is not None and entry.variant == asked.variant:
                return replace(entry.price, source=_source(layer, entry, asked), variant=asked.variant)
            if entry.variant is None and passed is None:
                passed = entry
        if passed:
            # Its standard price was negotiated; the public price of the variant was not.
            raise TokengapError(f"{passed.where} prices {asked.model!r}, but not its {asked.variant} variant; add that")

        found = price_table.find(self.table, asked.model, asked.provider)
        return price_table.price_at(self.table, found, asked.as_of, asked.variant)

    def _base(self, asked: _Asked, entry: Entry, index: int, used: tuple[int, ...]) -> Price:
        """The price that an entry is a multiple of."""
        if entry.base is None:
            return self._price(asked, index + 1, (*used, index))
        try:
            return self._price(replace(asked, model=entry.base, provider=None), 0, (*used, index))
        except UnknownNameError as error:
            raise entry.fault("base", str(error)) from None

    def _identity(self, asked: _Asked) -> tuple[tuple[str, ...], frozenset[str]]:
        """The names and providers that a price file may know a model by."""
        model, provider = asked.model, asked.provider
        name = clean(model)
        prefix, slash, rest = name.partition("/")
        names = [name, *([rest] if slash else [])]
        providers = {canonical(provider)} if provider else {canonical(prefix)} if slash else set()
        if providers:
            names.append(f"{next(iter(providers))}/{rest if slash and not provider else name}")
        try:
            found = price_table.find(self.table, model, provider)
        except UnknownNameError:
            return _forms(names), frozenset(providers)
        if provider and slash and canonical(prefix) != canonical(provider):
            names.remove(rest)
        return _forms((*names, *public_names(found))), frozenset({found.provider})

    def same_model(self, one: str, other: str) -> bool:
        """Whether two names are of one model: the same row of the table, or but for a provider the same name."""
        found = []
        for name in (one, other):
            try:
                found.append(price_table.find(self.table, name, None).model)
            except UnknownNameError:
                found.append(clean(name).rpartition("/")[2])
        return found[0] == found[1]

    def varies_within_day(self, model: str, provider: str | None) -> bool:
        """Whether the public price of a model depends on the time of day."""
        try:
            return price_table.varies_within_day(price_table.find(self.table, model, provider))
        except UnknownNameError:
            return False


STANDARD = "standard"
"""The variant that says: at the standard price, whatever a request or a report names."""

_DEFAULT = PriceBook()


def _forms(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(form for name in names for form in forms(name)))


def public_names(found: Found) -> tuple[str, ...]:
    """The names that a price file may know a row of the public table by."""
    return _forms((found.model.lower(), f"{found.provider}/{found.model}".lower()))


def default_book() -> PriceBook:
    """The public table alone."""
    return _DEFAULT


def given_book(book: object) -> PriceBook:
    """The book given with a call, or the default one."""
    if book is None:
        return _DEFAULT
    if isinstance(book, PriceBook):
        return book
    raise TokengapError(f"a book must be a PriceBook, as load_book gives one, not {type(book).__name__}")


def load_book(
    project: str | PathLike[str] | None = None,
    organisation: str | PathLike[str] | None = None,
    price_data: str | PathLike[str] | None = None,
) -> PriceBook:
    """Read a book from files: a project's configuration, an organisation's prices, newer public prices.

    The organisation's file may also be named by ``organisation_prices`` in the project's
    configuration; the argument goes first. Raises TokengapError for a file that is not as it should be.
    """
    from .price_config import read_named, read_prices, read_project
    from .price_data import read_price_data

    layers = []
    if project is not None:
        own, named = read_project(_path(project))
        layers += [own] if own else []
        if organisation is None and named is not None:
            layers.append(read_named(_path(project), named))
    if organisation is not None:
        layers.append(read_prices(_path(organisation)))
    book = PriceBook(tuple(layers), None if price_data is None else read_price_data(_path(price_data)))
    _check_providers(book)
    return book


def _path(path: object) -> Path:
    if not isinstance(path, str | PathLike) or not str(path):
        raise TokengapError(f"the path of a file is needed, not {path!r:.40}")
    return Path(path)


def _check_providers(book: PriceBook) -> None:
    """Refuse a provider that is a known one mistyped: its price would never hold, in silence."""
    from difflib import get_close_matches

    entries = {entry.provider: entry for _, entry in book.entries if entry.provider}
    if not entries:
        return
    known = {*ALIASES, *(provider.id for provider in book.table.providers)}
    for provider, entry in entries.items():
        if provider not in known and (near := get_close_matches(provider, known, n=1, cutoff=0.8)):
            raise entry.fault("provider", f"unknown provider {provider!r}; did you mean {near[0]!r}?")


def model_price(
    model: str,
    as_of: str | date | None = None,
    *,
    provider: str | None = None,
    variant: str | None = None,
    book: PriceBook | None = None,
) -> Price:
    """The price of a model at a time (default: now; a date is 00:00 UTC, and so is what has no offset UTC).

    A unit the table has no price for is absent from the result: unknown is never 0. Raises
    UnknownNameError, with the nearest names, for a model the table does not have.
    """
    check_names(model, provider, variant)
    time = parse_as_of(as_of).time
    return given_book(book).price(model, time, provider=provider, variant=None if variant == STANDARD else variant)


def check_names(*names: object) -> None:
    """Refuse the name of a model, provider or variant that is no text."""
    for name in names:
        if name is not None and not isinstance(name, str):
            raise TokengapError(f"the names of models, providers and variants are str, not {name!r:.40}")


def _source(layer: Layer, entry: Entry, asked: _Asked, based_on: PriceSource | None = None) -> PriceSource:
    start: date | None = entry.start.date() if entry.start else None
    provider = entry.provider or (based_on.provider if based_on else asked.provider)
    prefix, slash, rest = asked.model.partition("/")
    return PriceSource(
        f"{layer.name}: {entry.where}",
        None,
        provider,
        rest if slash and provider and canonical(prefix) == provider else asked.model,
        in_utc(asked.as_of),
        start.isoformat() if start else None,
        layer.sha256,
        based_on,
    )


def _multiple(base: Price, entry: Entry, multiplier: Decimal, source: PriceSource) -> Price:
    def scale(rates: Mapping[str, Decimal]) -> dict[str, Decimal]:
        scaled = {unit: CONTEXT.multiply(rate, multiplier) for unit, rate in rates.items()}
        for unit, rate in scaled.items():
            if rate > rates[unit]:  # what is absurd is so after a multiplier too
                check_rate(rate, base.currency, f"{entry.where}.multiplier: price of {unit}")
        return scaled

    return replace(
        base,
        per_million=scale(base.per_million),
        tiers=tuple(Tier(tier.above, scale(tier.per_million)) for tier in base.tiers),
        per_thousand=scale(base.per_thousand),
        source=source,
    )
