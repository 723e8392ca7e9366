"""Texts × counters: how many tokens each text is, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ..tokenizers.counter import WARNINGS as COUNT_WARNINGS
from ..tokenizers.counter import Count, Counter, added, adds_up, prepare
from ..tokenizers.errors import TokengapError, UnknownNameError
from ..tokenizers.registry import DEFAULT_COUNTER, get_counter
from ..tokenizers.text import TextSize, measure

if TYPE_CHECKING:
    from datetime import date
    from fractions import Fraction

    from .as_of import AsOf
    from .gap import Gap
    from .price import Money, Price
    from .price_book import PriceBook
    from .request_count import RequestCount

UNITS = ("input", "output")
WARNINGS = COUNT_WARNINGS | {"unpriced": "no price is known for this; --price gives one"}
_MODEL = "model:"


class Text(NamedTuple):
    """A text and the name it is reported under: a path, or where it came from."""

    source: str
    text: str


class LongText(NamedTuple):
    """A text too long to be held at once, in parts cut as in ``tokenizers.safe_cuts``, each read when it is counted.

    It is held at once all the same under a counter whose counts do not add up, such as another package's.
    """

    source: str
    parts: Iterator[str]
    size: int | None = None
    """Its bytes, if they are known before it is read."""


class ChatRequest(NamedTuple):
    """A whole request, as JSON read it, and the name it is reported under; counted by ``request_count``."""

    source: str
    body: object


Given: TypeAlias = Text | LongText | ChatRequest

Texts: TypeAlias = str | Mapping[str, str] | Iterable[str | Given]
"""One text, texts by name, or any number of texts and requests."""


class Row(NamedTuple):
    """One text or request under one counter.

    ``counter`` is the spec asked for, ``count.tokenizer`` what answered. ``request`` has what there is
    to say of a request beyond its count.
    """

    source: str
    counter: str
    count: Count  # type: ignore[assignment]  # not tuple's method of that name, which nobody needs of a row
    size: TextSize
    price: Price | None
    unit: str
    request: RequestCount | None = None

    @property
    def exact_cost(self) -> Fraction | None:
        """The cost of the exact estimate where there is one, else of the tokens."""
        tokens = self.count.tokens if self.count.estimate is None else self.count.estimate
        return self.price.exact_cost(tokens, self.unit) if self.price else None

    @property
    def cost(self) -> Money | None:
        return as_money(self.exact_cost, self.price.currency if self.price else None)

    @property
    def warnings(self) -> tuple[str, ...]:
        unpriced = self.exact_cost is None and (self.price or self.counter.startswith(_MODEL))
        return self.count.warnings + (("unpriced",) if unpriced else ())


class Total(NamedTuple):
    """All texts under one counter. ``exact_cost`` is ``None`` unless every text has a price, all in one currency."""

    counter: str
    tokens: int
    size: TextSize
    exact_cost: Fraction | None
    currency: str | None

    @property
    def cost(self) -> Money | None:
        return as_money(self.exact_cost, self.currency)


class Report(NamedTuple):
    """Every text under every counter, the totals, and for a comparison the gap."""

    results: tuple[Row, ...]
    total: tuple[Total, ...]
    gap: Gap | None = None

    def prices(self) -> list[tuple[str, Price]]:
        """The prices used, each with its counter; a counter of requests at several tiers has several."""
        found = {(row.counter, row.price.variant): row.price for row in self.results if row.price}
        return [(counter, price) for (counter, _), price in found.items()]


def count(
    texts: Texts,
    counters: Sequence[str] = (),
    *,
    price: Price | str | None = None,
    unit: str = "input",
    book: PriceBook | None = None,
    as_of: str | date | None = None,
) -> Report:
    """Count texts under counters (specs such as ``o200k_base`` or ``model:gpt-4o``), and price them.

    >>> count("Hello, world", ["cl100k_base"]).results[0].count.tokens
    3

    Without counters it is ``o200k_base``. A ``model:`` counter is priced as that model, and so are
    counters that name no model beside it; ``price`` overrides both. ``unit`` is "input" or "output";
    ``book`` holds the prices (default: the public table), ``as_of`` is their time (default: now).
    Raises TokengapError for an unknown counter, model or price, or texts that are not ``str``.
    """
    specs = unique_specs(counters)
    prices = prices_of(specs, price, book=book, as_of=as_of)
    results = tuple(row for _, rows in count_texts(texts, specs, prices, unit) for row in rows)
    return Report(results, totals(results, specs))


class Prices(NamedTuple):
    """The price each counter's tokens are paid at, and where that of another tier is looked up.

    ``models`` are the ``model:`` counters whose prices these are; a price given for the call has none.
    """

    standard: Mapping[str, Price]
    models: Mapping[str, str]
    book: PriceBook | None = None
    as_of: AsOf | None = None

    def of_request(self, spec: str, body: object) -> Price | None:
        """The price of a request at the tier that it names; ``None`` where that has none."""
        if spec not in self.models:
            return self.standard.get(spec)
        from .request_settings import requested_variant

        try:
            variant = requested_variant(body)
            return _model_price(self.models[spec], self.book, self.as_of, variant) if variant else self.standard[spec]
        except TokengapError:
            return None


def count_texts(
    texts: Texts, specs: Sequence[str], prices: Prices, unit: str, *, whole: bool = False
) -> Iterator[tuple[Given, tuple[Row, ...]]]:
    """Each text or request with its rows, one for each counter; ``whole`` makes a text of what comes in parts."""
    one_of("unit", unit, UNITS)
    counters = {spec: get_counter(spec) for spec in specs}
    for text in _named(texts, whole=whole):
        if isinstance(text, ChatRequest):
            yield text, tuple(_request_row(text, spec, prices.of_request(spec, text.body), unit) for spec in specs)
            continue
        if isinstance(text, Text):
            size = measure(text.text)
            counts = [counter.count(text.text) for counter in counters.values()]
        else:
            size, counts = _count_parts(text, list(counters.values()))
        rows = zip(specs, counts, strict=True)
        yield text, tuple(Row(text.source, spec, count, size, prices.standard.get(spec), unit) for spec, count in rows)


def _count_parts(text: LongText, counters: Sequence[Counter]) -> tuple[TextSize, list[Count]]:
    parts = text.parts if all(map(adds_up, counters)) else ("".join(text.parts),)
    for counter in counters:
        prepare(counter, text.size or 0)
    size, counts = measure(""), [counter.count("") for counter in counters]
    for part in parts:
        size = TextSize(*map(sum, zip(size, measure(part), strict=True)))
        counts = [added(count, counter.count(part)) for count, counter in zip(counts, counters, strict=True)]
    return size, counts


def _request_row(request: ChatRequest, spec: str, price: Price | None, unit: str) -> Row:
    from .request_count import count_request

    try:
        counted = count_request(request.body, counter=spec)
    except TokengapError as error:
        raise TokengapError(f"{request.source}: {error}") from error
    count = Count(
        tokens=counted.tokens,
        tokenizer=counted.tokenizer,
        fingerprint=counted.fingerprint,
        kind=counted.kind,
        estimate=counted.estimate,
        interval=counted.interval,
        warnings=counted.warnings,
    )
    size = TextSize(counted.words, counted.chars, counted.bytes)
    return Row(request.source, spec, count, size, price, unit, counted)


def unique_specs(counters: Sequence[str]) -> tuple[str, ...]:
    """The counters asked for, each once; the default one where there are none."""
    if isinstance(counters, str):
        counters = (counters,)
    specs = tuple(dict.fromkeys(counters)) if isinstance(counters, Iterable) else (None,)
    if not all(isinstance(spec, str) for spec in specs):
        raise TokengapError("counters must be specs, each a str such as 'o200k_base'")
    return specs or (DEFAULT_COUNTER,)


def one_of(what: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise TokengapError(f"unknown {what} {value!r}: it is one of {', '.join(allowed)}")


def totals(results: Sequence[Row], specs: Sequence[str]) -> tuple[Total, ...]:
    """The sums over all texts, one for each counter."""
    return tuple(_total(spec, [row for row in results if row.counter == spec]) for spec in specs)


def _total(spec: str, rows: Sequence[Row]) -> Total:
    size = TextSize(
        words=sum(row.size.words for row in rows),
        chars=sum(row.size.chars for row in rows),
        bytes=sum(row.size.bytes for row in rows),
    )
    costs = [cost for row in rows if (cost := row.exact_cost) is not None]
    currencies = {row.price.currency for row in rows if row.price}
    return Total(
        counter=spec,
        tokens=sum(row.count.tokens for row in rows),
        size=size,
        exact_cost=sum(costs[1:], costs[0]) if len(costs) == len(rows) and len(currencies) == 1 else None,
        currency=currencies.pop() if len(currencies) == 1 else None,
    )


def prices_of(
    specs: Sequence[str],
    given: Price | str | None,
    *,
    reference: str | None = None,
    book: PriceBook | None = None,
    as_of: str | date | None = None,
) -> Prices:
    """The price each counter's tokens are paid at: the given one, its model's, or else the reference's."""
    own = [spec for spec in specs if spec.startswith(_MODEL)]
    time = None
    if own or as_of is not None:
        from .as_of import parse_as_of

        time = parse_as_of(as_of)
    if given is not None:
        from .price import Price, parse_price

        price = parse_price(given) if isinstance(given, str) else given
        if not isinstance(price, Price):
            raise TokengapError(f"a price must be a str such as '3 EUR' or a Price, not {type(given).__name__}")
        return Prices(dict.fromkeys(specs, price), {})
    priced = {spec: known for spec in own if (known := _model_price(spec, book, time)) is not None}
    shared = reference if reference in priced else next(iter(priced), None)
    models = {spec: shared for spec in specs if shared and spec not in own} | {spec: spec for spec in priced}
    return Prices({spec: priced[model] for spec, model in models.items()}, models, book, time)


def _model_price(spec: str, book: PriceBook | None, as_of: AsOf | None, variant: str | None = None) -> Price | None:
    from .cost import quote

    get_counter(spec)  # a model without a tokenizer is refused before its price is looked up
    try:
        return quote(spec.removeprefix(_MODEL), as_of, variant=variant, book=book)
    except UnknownNameError:
        return None


def _named(texts: Texts, *, whole: bool) -> Iterator[Given]:
    if isinstance(texts, str):
        texts = Text("text", texts)
    if isinstance(texts, Given):
        texts = (texts,)
    if not isinstance(texts, Iterable) or isinstance(texts, (bytes, bytearray)):
        raise TokengapError(f"texts must be str, not {type(texts).__name__}")
    pairs = texts.items() if isinstance(texts, Mapping) else ((f"text:{n}", text) for n, text in enumerate(texts, 1))
    for name, text in pairs:
        if isinstance(text, ChatRequest) or (isinstance(text, LongText) and not whole):
            yield text
            continue
        if isinstance(text, LongText):
            yield Text(text.source, "".join(text.parts))
            continue
        named = text if isinstance(text, Text) else Text(name, text)
        if not isinstance(named.source, str):
            raise TokengapError(f"the name of a text must be str, not {type(named.source).__name__}")
        if not isinstance(named.text, str):
            raise TokengapError(f"{name}: a text must be str, not {type(named.text).__name__}; decode bytes as UTF-8")
        yield named


def as_money(exact: Fraction | None, currency: str | None) -> Money | None:
    """An exact sum as money; unknown stays unknown."""
    if exact is None or currency is None:
        return None
    from .price import money

    return money(exact, currency)


def per_word(tokens: int, size: TextSize) -> Fraction | None:
    """Tokens per word, ``None`` for a text without words."""
    from fractions import Fraction

    return Fraction(tokens, size.words) if size.words else None


def bytes_per_token(tokens: int, size: TextSize) -> Fraction | None:
    """UTF-8 bytes per token, ``None`` for a text without tokens."""
    from fractions import Fraction

    return Fraction(size.bytes, tokens) if tokens else None
