"""The price of a model, from the public table that genai-prices ships."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

from ..tokenizers.errors import UnknownNameError, unknown_name
from .price import Price, PriceSource, Tier

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import ModelInfo, Provider

UNITS = {"input": "input_mtok", "output": "output_mtok"}
"""Our units and the table's names for their price per million tokens."""


def model_price(model: str, as_of: datetime | None = None) -> Price:
    """The price of a model at a time (default: now).

    A unit the table has no price for is absent from the result: unknown is never 0. Raises
    UnknownNameError, with the nearest names, for a model the table does not have.
    """
    as_of = as_of or datetime.now(UTC)
    provider, info = _find(model)
    prices = info.get_prices(as_of)
    base: dict[str, Decimal] = {}
    starts: dict[str, dict[int, Decimal]] = {}
    for unit, field in UNITS.items():
        price = getattr(prices, field, None)
        if price is None:
            continue
        base[unit] = getattr(price, "base", price)
        starts[unit] = {tier.start: tier.price for tier in getattr(price, "tiers", ())}
    source = PriceSource("genai-prices", _version(), provider.id, info.id, as_of.isoformat(timespec="seconds"))
    return Price("USD", base, source, tuple(_tiers(base, starts)))


def _tiers(base: dict[str, Decimal], starts: dict[str, dict[int, Decimal]]) -> Iterator[Tier]:
    rates = dict(base)
    for above in sorted({start for prices in starts.values() for start in prices}):
        rates |= {unit: prices[above] for unit, prices in starts.items() if above in prices}
        yield Tier(above, dict(rates))


@lru_cache(maxsize=1024)  # bounded: a server is asked for any name
def _find(model: str) -> tuple[Provider, ModelInfo]:
    snapshot = _snapshot()
    provider, slash, name = model.lower().partition("/")
    try:
        if slash:
            return snapshot.find_provider_model(name, None, provider, None)
        return snapshot.find_provider_model(provider, None, None, None)
    except LookupError:
        raise _unknown(model, snapshot) from None


def _unknown(model: str, snapshot: DataSnapshot) -> UnknownNameError:
    known = {info.id for provider in snapshot.providers for info in provider.models}
    return unknown_name("model", model, known, "no price is known for it; give one with --price '3 USD'")


def _snapshot() -> DataSnapshot:
    from genai_prices.data_snapshot import get_snapshot

    return get_snapshot()


def _version() -> str:
    from importlib.metadata import version

    return version("genai-prices")
