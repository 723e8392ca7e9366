"""Usage and a price make an itemised cost. What has no known price is ``None``, never 0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ..tokenizers.errors import TokengapError, UnknownNameError
from .as_of import AsOf, in_utc, parse_as_of
from .currency import ExchangeRate, given_rate
from .price import CONTEXT, EVENTS_PER_PRICE, TOKENS_PER_PRICE, Money, Price, PriceSource, amount_of, given_price, plain
from .price_book import STANDARD, PriceBook, check_names, given_book
from .reported_usage import ReportedUsage, read_usage
from .usage import MODALITIES, Usage

VARIANTS = ("batch", "flex", "priority", "fast")
"""Ways to be served at another price; one at most."""

ONE_PRICE = "one price whatever the length"
"""The rule of a price that has neither tiers by length nor hours."""

BARE_DATE = "bare_date: this price depends on the time of day; 00:00 UTC was taken"

_KINDS = tuple((kind, f"input_{kind}", f"cache_read_{kind}", f"output_{kind}") for kind in MODALITIES)

Quantity = int | Fraction


@dataclass(frozen=True, slots=True)
class CostLine:
    """``quantity`` of ``unit`` at ``rate`` for ``per`` of them; ``None`` where the unit has no known price."""

    unit: str
    quantity: Quantity
    rate: Decimal | None
    per: int
    amount: Decimal | None

    def to_dict(self) -> dict[str, Any]:
        whole = isinstance(self.quantity, int)
        return {
            "unit": self.unit,
            "quantity": self.quantity if whole else str(self.quantity),
            "rate": None if self.rate is None else plain(self.rate),
            "per": self.per,
            "amount": None if self.amount is None else plain(self.amount),
        }


@dataclass(frozen=True, slots=True)
class Bill:
    """The lines of a usage at a price.

    ``total`` is ``None`` unless every line is priced; ``subtotal`` is of those that are. ``status``:
    "priced", "free" (every rate that holds is 0 in the table), "unpriced" (no line has a price) or
    "partial" (some have none). ``rule`` says in words which prices held.
    """

    status: str
    lines: tuple[CostLine, ...]
    total: Money | None
    subtotal: Money
    rule: str
    tier: int | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CostResult:
    """What a call costs, line by line, and where its price was read; see Bill for ``status`` and ``total``.

    For an unknown model ``status`` is "unknown_model" and ``suggestions`` are the nearest names.
    """

    status: str
    model: str | None
    usage: Usage
    as_of: datetime
    source: PriceSource
    total: Money | None = None
    subtotal: Money | None = None
    currency: str | None = None
    lines: tuple[CostLine, ...] = ()
    variant: str | None = None
    rule: str | None = None
    tier: int | None = None
    converted: Money | None = None
    exchange_rate: ExchangeRate | None = None
    suggestions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON: amounts are strings in full."""
        return {
            "status": self.status,
            "model": self.model,
            "total": self.total.to_dict() if self.total else None,
            "subtotal": self.subtotal.to_dict() if self.subtotal else None,
            "currency": self.currency,
            "lines": [line.to_dict() for line in self.lines],
            "variant": self.variant,
            "rule": self.rule,
            "tier": None if self.tier is None else {"above": self.tier, "applies_to": "whole request"},
            "usage": self.usage.to_dict(),
            "as_of": in_utc(self.as_of),
            "effective_date": self.source.effective_date,
            "source": self.source.to_dict(),
            "converted": self.converted.to_dict() if self.converted else None,
            "exchange_rate": self.exchange_rate.to_dict() if self.exchange_rate else None,
            "suggestions": list(self.suggestions),
            "warnings": list(self.warnings),
        }


def price_usage(
    usage: Usage,
    model: str | None = None,
    *,
    provider: str | None = None,
    variant: str | None = None,
    as_of: str | date | None = None,
    price: Price | str | None = None,
    book: PriceBook | None = None,
    exchange_rate: ExchangeRate | str | None = None,
) -> CostResult:
    """What ``usage`` costs with ``model`` at a time (default: now), by ``price`` or else by ``book``.

    ``price`` and ``exchange_rate`` may be given as text, such as '3 USD' and '1 USD = 0.92 EUR @ 2026-11-28'.

    >>> price_usage(Usage(input=1000, output=100), "gpt-4o", as_of="2026-11-30T12:00:00Z").total
    Money(amount=Decimal('0.0035'), currency='USD')

    Raises TokengapError for a variant the model does not have, or options that contradict each other;
    an unknown model is a result of its own.
    """
    if not isinstance(usage, Usage):
        raise TokengapError(f"a Usage is needed, not {type(usage).__name__}: price_report takes a provider's object")
    check_names(model, provider, variant)
    time, variant = parse_as_of(as_of), None if variant == STANDARD else variant
    price, exchange_rate, book = given_price(price), given_rate(exchange_rate), given_book(book)
    warnings = list(time.warnings)
    if price is None:
        if model is None:
            raise TokengapError("a model is needed, or a price, such as --model gpt-4o or --price '3 USD'")
        try:
            price = quote(model, time, provider=provider, variant=variant, book=book)
        except UnknownNameError as error:
            return _unknown(usage, model, time, book, error)
    elif variant is not None:
        raise TokengapError(f"a price given with the call is the price: leave out the variant {variant!r}")
    bill = make_bill(price, usage.counts())
    return CostResult(
        bill.status,
        model,
        usage,
        time.time,
        price.source,
        bill.total,
        bill.subtotal if bill.status in ("partial", "priced", "free") else None,
        price.currency,
        bill.lines,
        variant,
        bill.rule,
        bill.tier,
        exchange_rate.convert(bill.total) if exchange_rate and bill.total else None,
        exchange_rate,
        (),
        (*warnings, *bill.warnings),
    )


def price_report(
    report: object,
    model: str | None = None,
    *,
    format: str | None = None,
    provider: str | None = None,
    variant: str | None = None,
    as_of: str | date | None = None,
    price: Price | str | None = None,
    book: PriceBook | None = None,
    exchange_rate: ExchangeRate | str | None = None,
) -> CostResult:
    """What a provider's usage object, or the response that has one, costs; options as for price_usage.

    Model and service tier are those the report names, unless given; STANDARD is the standard price in any case.
    """
    check_names(model, provider, variant)
    read = read_usage(report, format, provider)
    price, book = given_price(price), given_book(book)
    warnings = list(read.warnings)
    if variant is None and price is None:
        variant = _known(read)
    elif read.variant and variant in (None, STANDARD):
        warnings.append(
            f"tier_not_priced: the report's {read.served.tier!r} was not priced, but what was given with the call"
        )
    elif variant is not None and (variant in read.served.excluded or read.variant not in (None, variant)):
        raise TokengapError(
            f"{read.served.path}: the usage says {read.served.tier!r}, which contradicts the variant {variant!r}"
        )
    if model and read.model and price is None and not book.same_model(model, read.model):
        warnings.append(f"model_differs: the report is of {read.model[:100]!r}, and was priced as {model[:100]!r}")
    result = price_usage(
        read.usage,
        model or read.model,
        provider=provider,
        variant=variant,
        as_of=as_of,
        price=price,
        book=book,
        exchange_rate=exchange_rate,
    )
    return replace(result, warnings=(*warnings, *result.warnings))


def _known(read: ReportedUsage) -> str | None:
    """The variant that a report names; TokengapError for a tier whose price is not known."""
    if read.variant is not None and read.variant not in VARIANTS:
        raise TokengapError(
            f"{read.served.path}: no price is known for {read.served.tier!r:.42}; say the variant that is billed"
        )
    return read.variant


def quote(
    model: str,
    as_of: AsOf | None = None,
    *,
    provider: str | None = None,
    variant: str | None = None,
    book: PriceBook | None = None,
) -> Price:
    """The price of a model; UnknownNameError, or TokengapError for a variant it does not have.

    A bare date is warned of where the price depends on the time of day.
    """
    variant = None if variant == STANDARD else variant
    if variant is not None and variant not in VARIANTS:
        known = ", ".join((*VARIANTS, STANDARD))
        raise TokengapError(f"unknown variant {str(variant)[:40]!r}: it is one of {known}, one at most")
    time, book = as_of or parse_as_of(None), given_book(book)
    price = book.price(model, time.time, provider=provider, variant=variant)
    if time.bare and book.varies_within_day(model, provider):
        return replace(price, warnings=(BARE_DATE, *price.warnings))
    return price


def make_bill(price: Price, counts: Mapping[str, Quantity | None], requests: int = 1) -> Bill:
    """Bill counts with the meaning of Usage's; each token is in exactly one line."""
    tier = price.tier(counts.get("input") or 0)
    rates = tier.per_million if tier else price.per_million
    warnings: list[str] = []
    lines: list[CostLine] = []
    for unit, quantity in _split(counts, rates):
        rate = rates.get(unit)
        if rate is None and unit.startswith("cache_read"):
            # No discount is published: the whole input rate is charged, and is the most it can be.
            rate = rates.get(unit.replace("cache_read", "input"))
            warnings += [f"no_cache_rate: no price for {unit} is known; billed as input"] if rate is not None else []
        lines.append(_line(unit, quantity, rate, TOKENS_PER_PRICE))
        if note := price.notes.get(unit):
            warnings.append(note)
    for unit in ("input_image", "input_video"):
        if counts.get(unit) and unit not in rates:
            warnings.append(f"billed_as_text: no price for {unit} is known; billed as input, as text is")
    if searches := counts.get("web_searches"):
        lines.append(_line("web_searches", searches, price.per_thousand.get("web_searches"), EVENTS_PER_PRICE))
    if fee := price.per_thousand.get("requests"):
        lines.append(_line("requests", requests, fee, EVENTS_PER_PRICE))
    return _sum(price, lines, tier.above if tier else None, counts.get("input") or 0, warnings)


def exact_total(bill: Bill) -> Fraction | None:
    """The total of a bill as an exact number of its currency's units; ``None`` where it is not known."""
    if bill.total is None:
        return None
    rates = [(line.quantity, line.rate, line.per) for line in bill.lines if line.rate is not None]
    return sum((Fraction(quantity) * Fraction(rate) / per for quantity, rate, per in rates), Fraction(0))


def _line(unit: str, quantity: Quantity, rate: Decimal | None, per: int) -> CostLine:
    return CostLine(unit, quantity, rate, per, None if rate is None else amount_of(quantity, rate, per))


def _sum(price: Price, lines: list[CostLine], above: int | None, input: Quantity, warnings: list[str]) -> Bill:
    amount = Decimal(0)
    missing = []
    for line in lines:
        if line.amount is None:
            missing.append(line.unit)
        else:
            amount = CONTEXT.add(amount, line.amount)
    if missing:
        warnings.append(f"no_rate: no price is known for {', '.join(missing)}")
    subtotal = Money(amount, price.currency)
    status = _status(price, lines, len(missing), amount)
    total = subtotal if status in ("priced", "free") else None
    return Bill(status, tuple(lines), total, subtotal, _rule(price, above, input), above, (*price.warnings, *warnings))


def _status(price: Price, lines: list[CostLine], missing: int, amount: Decimal) -> str:
    if missing:
        return "unpriced" if missing == len(lines) else "partial"
    if amount:
        return "priced"
    if not price.per_million and not price.per_thousand:
        return "unpriced"
    # No line has an amount above 0: every rate that holds is 0, or there is nothing to bill.
    return "priced" if not lines and any(price.per_million.values()) else "free"


def _rule(price: Price, above: int | None, input: Quantity) -> str:
    if above is not None:
        rule = f"input of {input} tokens is above {above}: that tier's prices hold for the whole request"
    elif price.tiers:
        rule = f"input of {input} tokens is not above {price.tiers[0].above}: the base prices hold"
    else:
        rule = ONE_PRICE
    return f"{price.rule}; {rule}" if price.rule else rule


def _split(counts: Mapping[str, Quantity | None], rates: Mapping[str, Decimal]) -> Iterator[tuple[str, Quantity]]:
    """Each token to the one unit it is billed as; the parts come out of the whole first."""
    input, output = counts.get("input") or 0, counts.get("output") or 0
    if not input and not output:
        return
    read, written = counts.get("cache_read") or 0, counts.get("cache_write") or 0
    long = counts.get("cache_write_1h") or 0
    reasoning = (counts.get("reasoning") or 0) if "reasoning" in rates else 0
    plain_input, plain_read, plain_output = input - read - written, read, output - reasoning
    parts: list[tuple[str, Quantity]] = []
    for kind, sent, cached_kind, received in _KINDS:
        if of_kind := counts.get(received):
            plain_output -= of_kind
            parts.append((received, of_kind))
        of_kind = counts.get(sent)
        # Pictures without a price of their own are billed as text, by OpenAI and Google alike; sound is dearer.
        if not of_kind or (kind != "audio" and sent not in rates):
            continue
        cached = counts.get(cached_kind)
        if cached is None:
            if read:
                raise TokengapError(
                    f"ambiguous usage: {read} tokens are cached and {of_kind} are {kind}, but not how many are both; "
                    f"say so in {cached_kind}"
                )
            cached = 0
        plain_input -= of_kind - cached
        plain_read -= cached
        parts += [(sent, of_kind - cached), (cached_kind, cached)]
    if plain_input < 0 or plain_read < 0 or plain_output < 0:
        raise TokengapError(f"contradictory usage: the parts of input ({input}) or output ({output}) exceed it")
    first = [
        ("input", plain_input),
        ("cache_read", plain_read),
        ("cache_write", written - long),
        ("cache_write_1h", long),
    ]
    yield from (item for item in (*first, ("output", plain_output), ("reasoning", reasoning), *parts) if item[1])


def _unknown(usage: Usage, model: str, time: AsOf, book: PriceBook, error: UnknownNameError) -> CostResult:
    table = book.table
    source = PriceSource(table.name, table.version, sha256=table.sha256, as_of=in_utc(time.time))
    return CostResult(
        "unknown_model",
        model,
        usage,
        time.time,
        source,
        suggestions=error.suggestions,
        warnings=(*time.warnings, f"unknown_model: {error}"),
    )
