"""What a whole request costs: its input is counted, the rest of its usage is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from ..tokenizers.errors import TokengapError, UnknownNameError
from .cost import CostResult, price_usage
from .counting import WARNINGS, ChatRequest
from .currency import ExchangeRate
from .price import Money, Price, given_price
from .price_book import PriceBook, check_names
from .request_count import RequestCount, count_request
from .request_settings import named_model, requested_variant
from .usage import Usage


@dataclass(frozen=True, slots=True)
class RequestCost:
    """What the request of that name costs, and the count that rests on; ``None`` for an unknown model."""

    name: str
    cost: CostResult
    count: RequestCount | None

    def to_dict(self) -> dict[str, Any]:
        body = self.cost.to_dict()
        if self.count is None:  # and so is its input, which is not 0
            return body | {"usage": body["usage"] | {"input": None}}
        return body | {"request": self.count.to_dict()}


@dataclass(frozen=True, slots=True)
class CostSum:
    """What several calls cost together; ``total`` is ``None`` unless all are priced, in one currency.

    ``status`` is that of all of them: the first of unknown_model, partial, unpriced that any has, else
    priced, or free where all are. ``totals`` are what is known in each currency, and ``converted`` is
    the total at the exchange rate of the calls.
    """

    status: str
    total: Money | None
    subtotal: Money | None
    currency: str | None
    totals: tuple[Money, ...] = ()
    converted: Money | None = None
    exchange_rate: ExchangeRate | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "status": self.status,
            "total": self.total.to_dict() if self.total else None,
            "subtotal": self.subtotal.to_dict() if self.subtotal else None,
            "currency": self.currency,
            "totals": [total.to_dict() for total in self.totals],
            "converted": self.converted.to_dict() if self.converted else None,
            "exchange_rate": self.exchange_rate.to_dict() if self.exchange_rate else None,
        }


def price_request(
    request: ChatRequest | Mapping[str, Any],
    model: str | None = None,
    *,
    counter: str | None = None,
    usage: Callable[[int], Usage] = Usage,
    provider: str | None = None,
    variant: str | None = None,
    as_of: str | date | None = None,
    price: Price | str | None = None,
    book: PriceBook | None = None,
    exchange_rate: ExchangeRate | str | None = None,
) -> RequestCost:
    """Count a request for a model, by default the one it names, and price it as ``price_usage`` does.

    ``usage`` makes the whole usage of the input tokens; the default has no output. Without a
    ``variant`` it is the one the request is billed as (its ``service_tier``, or batch for a line of a
    batch file); "standard" is the standard price in any case.

    Raises TokengapError for a request, model or variant that cannot be priced.
    """
    if isinstance(request, Mapping):
        request = ChatRequest("request", request)
    if not isinstance(request, ChatRequest):
        raise TokengapError(f"a request is a ChatRequest or its body, not {type(request).__name__}")
    if not callable(usage):
        raise TokengapError(f"usage makes a Usage of the number of input tokens, and is not {type(usage).__name__}")
    check_names(model, provider, variant, counter)
    model = named_model(request.body) if model is None else model
    price = given_price(price)
    ignored: tuple[str, ...] = ()
    if price is not None:
        ignored = tuple(_tier_warning(request.body))
    elif variant is None:
        variant = requested_variant(request.body)
    options: dict[str, Any] = {
        "provider": provider,
        "variant": variant,
        "as_of": as_of,
        "price": price,
        "book": book,
        "exchange_rate": exchange_rate,
    }
    try:
        count = count_request(request.body, model, counter)
    except UnknownNameError:
        # The price table may know the model, whose tokenizer is then what is missing, or have better suggestions.
        unknown = price_usage(_without_input(usage), model, **options)
        if unknown.status != "unknown_model":
            raise
        return RequestCost(request.source, unknown, None)
    cost = price_usage(usage(count.tokens), model, **options)
    warnings = (*ignored, *cost.warnings, *_count_warnings(count))
    return RequestCost(request.source, replace(cost, warnings=warnings), count)


def add_costs(costs: Sequence[CostResult]) -> CostSum:
    """The sum of what several calls cost."""
    statuses = {cost.status for cost in costs}
    worst = next((status for status in ("unknown_model", "partial", "unpriced") if status in statuses), None)
    if worst == "unpriced" and len(statuses) > 1:
        worst = "partial"
    status = worst or ("free" if statuses == {"free"} else "priced")
    sums: dict[str, Money] = {}
    for cost in costs:
        if known := cost.subtotal:
            sums[known.currency] = sums[known.currency] + known if known.currency in sums else known
    totals, rate = tuple(sums.values()), next((cost.exchange_rate for cost in costs if cost.exchange_rate), None)
    if len({cost.currency for cost in costs if cost.currency}) != 1 or not totals:
        return CostSum(status, None, None, None, totals, None, rate)
    total = None if worst else totals[0]
    return CostSum(
        status, total, totals[0], totals[0].currency, totals, rate.convert(total) if rate and total else None, rate
    )


def _without_input(usage: Callable[[int], Usage]) -> Usage:
    """The usage of a call whose input cannot be counted, without what is a part of that."""
    try:
        return usage(0)
    except TokengapError:
        return Usage()


def _tier_warning(body: object) -> Iterator[str]:
    """A price given with the call is taken as it is, whatever the request names: that is said."""
    try:
        tier = requested_variant(body)
    except TokengapError as error:
        yield f"tier_not_priced: {error}; the price given with the call was taken as it is"
        return
    if tier is not None:
        yield f"tier_not_priced: the request is served as {tier}; the price given with the call was taken as it is"


def _count_warnings(count: RequestCount) -> Iterator[str]:
    """What the count of a request warns of is true of its price as well."""
    for code in count.warnings:
        if code == "not_counted":
            yield f"{code}: the input is at least this, without {', '.join(count.not_counted)}"
        else:
            yield f"{code}: {WARNINGS.get(code, code)}"
