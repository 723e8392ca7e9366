"""The public price table: what genai-prices ships, or a newer file of its own data format.

Only its data is used. Its arithmetic gives 0 for what it does not know, the standard price for a
variant it does not have, and depends on the caller's decimal context.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..tokenizers.errors import TokengapError
from . import price_names
from .as_of import in_utc
from .price import Price, PriceSource, Tier, plain
from .price_names import Found

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, Provider, TimeOfDateConstraint

UNITS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
    "reasoning": "output_reasoning_mtok",
    "input_audio": "input_audio_mtok",
    "input_image": "input_image_mtok",
    "input_video": "input_video_mtok",
    "output_audio": "output_audio_mtok",
    "output_image": "output_image_mtok",
    "output_video": "output_video_mtok",
    "cache_read_audio": "cache_audio_read_mtok",
    "cache_read_image": "cache_image_read_mtok",
    "cache_read_video": "cache_video_read_mtok",
}
"""Our units and the table's names for their price per million tokens."""

EVENTS = {"requests": "requests_kcount", "web_searches": "web_searches_kcount"}
"""Our units and the table's names for their price per thousand calls."""

VARIANTS: Mapping[str, tuple[Mapping[str, str], ...]] = {
    "batch": ({"processing": "batch"},),
    "flex": ({"service_tier": "flex"},),
    "priority": ({"service_tier": "priority"},),
    "fast": ({"service_tier": "fast"}, {"speed": "fast"}),
}
"""Our variants and what the table calls them; of several, the first the model has."""

_KNOWN_FILE = "5f4d8e175a91cf23cac17da33a4daa60a6a6c49525109c97e93db220d5197206"
_KNOWN_TABLE = "8cdd28bc686ebd7af57ab726031c95aaef50f1a3398526d14115aaf6fb9e6858"
"""The hashes of genai-prices 0.2.3: of the file that its table is read from, and of the table, whose normal form takes
0.2 s to make. A test makes it anew."""

_DESCRIPTIVE = frozenset(
    ("name", "description", "price_comments", "pricing_urls", "api_pattern", "extractors", "deprecated")
)


@dataclass(frozen=True, eq=False)
class PriceTable:
    """The prices of many providers, and where they were read."""

    name: str
    version: str | None
    providers: tuple[Provider, ...]
    file: str | None = None

    @cached_property
    def sha256(self) -> str:
        """The hash of everything that decides a price, in a normal form."""
        import json
        from hashlib import sha256

        if self.file and _file_hash(self.file) == _KNOWN_FILE:
            return _KNOWN_TABLE
        normal = json.dumps([_normal(entry) for entry in self.providers], sort_keys=True, ensure_ascii=False)
        return sha256(normal.encode()).hexdigest()

    @cached_property
    def rows(self) -> tuple[Found, ...]:
        """Every model of every provider, in the table's order."""
        return tuple(Found(entry.id, info.id, info) for entry in self.providers for info in entry.models)


@cache
def bundled() -> PriceTable:
    """The table of the installed genai-prices."""
    from importlib.metadata import version

    # Not get_snapshot(): another user of the process may have put other prices there.
    from genai_prices import data

    return PriceTable("genai-prices", version("genai-prices"), tuple(data.providers), data.__file__)


def _file_hash(path: str) -> str | None:
    from hashlib import sha256

    try:
        return sha256(Path(path).read_bytes()).hexdigest()
    except OSError:  # Python may run from an archive
        return None


@lru_cache(maxsize=1024)  # bounded: a server is asked for any name
def find(table: PriceTable, model: str, provider: str | None) -> Found:
    """The row of a model; raises UnknownNameError."""
    return price_names.find(table.providers, model, provider)


def price_at(table: PriceTable, found: Found, as_of: datetime, variant: str | None) -> Price:
    """The price of a row at a time.

    A unit the table has no price for is absent: unknown is never 0. Raises TokengapError for a
    variant the row does not have at that time.
    """
    # Prices change by the second at most, and calls are many a second.
    return _price_at(table, found, as_of.replace(microsecond=0), variant)


@lru_cache(maxsize=1024)  # bounded: a server is asked for any time
def _price_at(table: PriceTable, found: Found, as_of: datetime, variant: str | None) -> Price:
    if found.info is None:
        if variant:
            raise TokengapError(f"no {variant} price is known for {found.model}: the table has no price for it at all")
        return Price("USD", {}, source(table, found, as_of, None), warnings=found.warnings)
    standard, since = _standard(found.info, as_of)
    rows = _variant(found, as_of, variant) if variant else ()
    starts = [since, *(_start(found.info, row) for row in rows)]
    started = max((start for start in starts if start), default=None)
    price = _price(found, standard, rows, variant)
    rule, warnings = _hours(found.info, standard, as_of)
    return replace(price, source=source(table, found, as_of, started), rule=rule, warnings=(*price.warnings, *warnings))


def source(table: PriceTable, found: Found, as_of: datetime, since: date | None) -> PriceSource:
    started = since.isoformat() if since else None
    time = in_utc(as_of)
    return PriceSource(table.name, table.version, found.provider, found.model, time, started, table.sha256)


def newest_date(table: PriceTable, until: date) -> date | None:
    """The last day, up to ``until``, on which a price of the table began to hold: the table is no older than that."""
    starts = (
        getattr(entry.constraint, "start_date", None)
        for row in table.rows
        if row.info is not None
        for entry in (*(row.info.prices if isinstance(row.info.prices, list) else ()), *(row.info.price_variants or ()))
    )
    return max((start for start in starts if start and start <= until), default=None)


def varies_within_day(found: Found) -> bool:
    """Whether a price of this row depends on the time of day, so that a date alone does not decide it."""
    prices = found.info.prices if found.info else ()
    return isinstance(prices, list) and any(hasattr(entry.constraint, "start_time") for entry in prices)


def _hours(info: ModelInfo, held: int, as_of: datetime) -> tuple[str | None, tuple[str, ...]]:
    """The hours of the day that the price holds in, and whether they had another price then."""
    from genai_prices.types import TimeOfDateConstraint

    prices = info.prices if isinstance(info.prices, list) else []
    windows = [row.constraint for row in prices if isinstance(row.constraint, TimeOfDateConstraint)]
    if not windows:
        return None, ()
    constraint = prices[held].constraint
    if not isinstance(constraint, TimeOfDateConstraint):
        return f"the price outside the hours {' and '.join(map(_window, windows))} UTC", ()
    rule = f"the price of the hours {_window(constraint)} UTC"
    last = max((start for row in prices if (start := getattr(row.constraint, "start_date", None))), default=None)
    if last is None or as_of.astimezone(UTC).date() >= last:
        return rule, ()
    # A row of the table has a date or hours, never both: what these hours cost before is not in it.
    return rule, (
        f"hours_undated: the price of these hours is that of {last} and later; what it was before is not known",
    )


def _window(constraint: TimeOfDateConstraint) -> str:
    return f"{constraint.start_time:%H:%M}-{constraint.end_time:%H:%M}"


def variants_of(found: Found) -> dict[str, str | None]:
    """The variants a row has, with the date each is known from."""
    info = found.info
    if info is None or found.borrowed:
        return {}
    return {
        name: (start.isoformat() if (start := _start(info, index)) else None)
        for name, contexts in VARIANTS.items()
        for index, row in enumerate(info.price_variants or ())
        if row.when in contexts
    }


def _standard(info: ModelInfo, as_of: datetime) -> tuple[int, date | None]:
    """Which of a row's dated prices holds, and since when: the last whose condition is met, else the first."""
    if not isinstance(info.prices, list):
        return -1, None
    for index in range(len(info.prices) - 1, -1, -1):
        constraint = info.prices[index].constraint
        if constraint is None or constraint.active(as_of):
            return index, getattr(constraint, "start_date", None)
    return 0, None


def _variant(found: Found, as_of: datetime, variant: str) -> tuple[int, ...]:
    """Which of a row's variants hold, the first going before the next; TokengapError where none does."""
    contexts = VARIANTS.get(variant)
    if contexts is None:
        raise TokengapError(f"unknown variant {variant[:40]!r}: it is one of {', '.join(VARIANTS)}")
    if found.info is None or found.borrowed:
        raise TokengapError(
            f"no {variant} price is known for {found.model} at {found.provider}: its price here is its maker's, "
            "whose variants need not hold"
        )
    rows = found.info.price_variants or []
    for context in contexts:
        held = [
            index
            for index, row in enumerate(rows)
            if row.when == context and (row.constraint is None or row.constraint.active(as_of))
        ]
        if held:
            return tuple(held)
    known = variants_of(found)
    if variant in known:
        day = as_of.date().isoformat()
        raise TokengapError(f"the {variant} price of {found.model} is known from {known[variant]} on, not at {day}")
    names = ", ".join(known) or "none"
    raise TokengapError(f"no {variant} price is known for {found.provider}/{found.model}; its variants: {names}")


def _start(info: ModelInfo, row: int) -> date | None:
    return getattr((info.price_variants or [])[row].constraint, "start_date", None)


@lru_cache(maxsize=8192)
def _price(found: Found, standard: int, rows: tuple[int, ...], variant: str | None) -> Price:
    """The price of a row whose dated price and variants are chosen; its source is filled in later."""
    info = found.info
    assert info is not None  # noqa: S101 - price_at answers for rows without prices
    dated = info.prices if isinstance(info.prices, list) else None
    usual = info.prices if dated is None else dated[standard].prices if dated else None
    prices = {key: value for key, value in vars(usual).items() if value is not None} if usual else {}
    changed: dict[str, Any] = {}
    for row in rows:
        for key, value in (info.price_variants or [])[row].prices.__dict__.items():
            if value is not None:
                changed.setdefault(key, value)
    kept = [unit for unit, key in UNITS.items() if key in prices and key not in changed] if rows else []
    prices |= changed
    base, starts = _rates(prices)
    return Price(
        "USD",
        base,
        PriceSource("genai-prices"),
        tuple(_tiers(base, starts)),
        {unit: prices[key] for unit, key in EVENTS.items() if key in prices},
        variant,
        {unit: f"standard_rate: the table has no {variant} rate of its own for {unit}" for unit in kept},
        tuple(_warnings(found, prices)),
    )


def _warnings(found: Found, prices: Mapping[str, Any]) -> Iterator[str]:
    name = f"{found.provider}/{found.model}"
    if found.borrowed:
        yield f"borrowed_price: the table has no price for {name}; it is the one of {found.model} at its maker"
    if not prices:
        yield f"no_price: the table lists {name} without any price, which does not mean that it is free"
    others = [key for key in prices if key not in UNITS.values() and key not in EVENTS.values()]
    if others and "input_mtok" not in prices and "output_mtok" not in prices:
        yield f"not_token_priced: {name} is billed by {', '.join(others)}, not by tokens"


def _rates(prices: Mapping[str, Any]) -> tuple[dict[str, Decimal], dict[str, dict[int, Decimal]]]:
    base: dict[str, Decimal] = {}
    starts: dict[str, dict[int, Decimal]] = {}
    for unit, key in UNITS.items():
        if (price := prices.get(key)) is not None:
            base[unit] = getattr(price, "base", price)
            starts[unit] = {tier.start: tier.price for tier in getattr(price, "tiers", ())}
    return base, starts


def _tiers(base: dict[str, Decimal], starts: dict[str, dict[int, Decimal]]) -> Iterator[Tier]:
    rates = dict(base)
    for above in sorted({start for prices in starts.values() for start in prices}):
        rates |= {unit: prices[above] for unit, prices in starts.items() if above in prices}
        yield Tier(above, dict(rates))


def _normal(value: Any) -> Any:
    """A table's value as plain JSON, without what is only there to be read."""
    from genai_prices.types import ModelPrice

    if isinstance(value, Decimal):
        return plain(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, ModelPrice):
        return {key: _normal(price) for key, price in value.__dict__.items() if price is not None}
    if is_dataclass(value):
        items = ((item.name, getattr(value, item.name)) for item in fields(value) if item.name not in _DESCRIPTIVE)
        return {name: _normal(item) for name, item in items if item is not None}
    if isinstance(value, list | tuple):
        return [_normal(item) for item in value]
    return value
