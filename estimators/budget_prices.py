"""The prices that budgets are checked at, and how old they are."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, date, datetime

from ..tokenizers.errors import TokengapError, UnknownNameError
from .as_of import AsOf
from .budget_report import Prices
from .mistyped_model import refuse_mistyped
from .price import Price
from .price_book import PriceBook
from .price_table import newest_date

MOST_DAYS = 90
"""Prices older than this many days are warned of."""


class Pricing:
    """Looks up the price of each model once."""

    def __init__(self, at: AsOf | None, book: PriceBook, today: date | None) -> None:
        self._at = at or AsOf(datetime.now(UTC))
        self._pinned = at is not None
        self._book = book
        self._today = today or datetime.now(UTC).date()
        self._prices: dict[str, Price | None] = {}
        self._named: dict[str, Price | None] = {}
        self._not_mistyped: set[str] = set()

    def price_of(self, model: str, variant: str | None) -> Price | None:
        """The price of the model of a request, at a variant such as batch; ``None`` where that has none."""
        if model not in self._named:
            self._named[model] = self._prices[model] if model in self._prices else self._look_up(model)
        if variant is None:
            return self._named[model]
        try:
            return self._book.price(model, self._at.time, variant=variant)
        except TokengapError:
            return None

    def price(self, model: str) -> Price | None:
        """The price of a model of the configuration; ``None`` where no table has it."""
        if model not in self._prices:
            self._prices[model] = self._look_up(model)
        return self._prices[model]

    def refuse_mistyped(self, model: str) -> None:
        """Raise UnknownNameError for a model beside a counter whose name is nearly that of a known one."""
        if model not in self._not_mistyped:
            refuse_mistyped(model, self._at.time, self._book)
            self._not_mistyped.add(model)

    def _look_up(self, model: str) -> Price | None:
        try:
            return self._book.price(model, self._at.time)
        except UnknownNameError:
            return None

    def used(self, models: Collection[str]) -> Prices:
        """The prices of the models that something was counted as."""
        prices = self._of(models)
        age = self._age(prices)
        return Prices(self._at, self._pinned, age, age > MOST_DAYS, prices)

    def _of(self, models: Collection[str]) -> dict[str, Price | None]:
        """The configuration's, then the requests', whose order must not depend on what was counted first."""
        named = sorted(self._named.keys() - self._prices.keys())
        looked_up = self._prices | {model: self._named[model] for model in named}
        return {model: price for model, price in looked_up.items() if model in models}

    def notices(self, models: Collection[str]) -> Iterator[str]:
        """What to know of the prices of these models before they are believed."""
        yield from self._at.warnings
        prices = self._of(models)
        known = {model: price for model, price in prices.items() if price}
        days = (self._today - self._at.time.date()).days
        if known and days > MOST_DAYS:
            yield f"the prices are {days} days old: prices_at is {self._at.time:%Y-%m-%d}"
        elif known and days < 0:
            yield f"the prices are of a day to come: prices_at is {self._at.time:%Y-%m-%d}"
        if self._is_public(prices) and (newest := newest_date(self._book.table, self._today)):
            days = (self._today - newest).days
            if days > MOST_DAYS:
                table = f"{self._book.table.name} {self._book.table.version}"
                yield f"the price table {table} may be out of date: its newest price is {days} days old"
        for model, price in known.items():
            for warning in (*price.warnings, *((price.notes["input"],) if "input" in price.notes else ())):
                yield f"price of {model}: {warning}"
            if self._at.bare and self._book.varies_within_day(model, None):
                yield f"the price of {model} depends on the time of day; 00:00 UTC was taken"

    def _is_public(self, prices: Mapping[str, Price | None]) -> bool:
        return any(price and price.source.table == self._book.table.name for price in prices.values())

    def _age(self, prices: Mapping[str, Price | None]) -> int:
        """Days since the prices held, or since the table that has them was made at the latest."""
        ages = [max((self._today - self._at.time.date()).days, 0)]
        if self._is_public(prices) and (newest := newest_date(self._book.table, self._today)):
            ages.append((self._today - newest).days)
        return max(ages)
