"""The fixture ``token_budget``: it counts, compares with the limits, and remembers for the summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Never

import pytest

from ..estimators.bounds import upper_bound
from ..estimators.budget_config import Needed, read_configuration
from ..estimators.counting import ChatRequest, Text, as_money
from ..estimators.mistyped_model import refuse_mistyped
from ..estimators.price import Money, Price, display, parse_price
from ..estimators.price_book import PriceBook, load_book, model_price
from ..estimators.project_file import find_project, nearest, read_bytes
from ..estimators.request_count import RequestCount, count_request
from ..estimators.request_settings import named_model
from ..tokenizers.counter import Count, Kind, weakest
from ..tokenizers.errors import TokengapError, UnknownNameError
from ..tokenizers.models import counter_for
from ..tokenizers.registry import DEFAULT_COUNTER
from .inputs import read_text
from .pytest_summary import Line
from .pytest_terms import Terms, joined, read_terms
from .reports import explained


class Counted(NamedTuple):
    """What was counted and what it comes to.

    ``most`` is the upper bound of the tokens where one is known, else the tokens: limits are for ``most``, and
    ``exact_cost`` is that of ``most`` tokens in all calls. It is ``None`` where no price is known.
    ``too_vague``: the count is not as good as it must be.
    """

    name: str
    tokens: int
    most: int
    kind: Kind
    tokenizer: str
    exact_cost: Fraction | None
    currency: str | None
    too_vague: bool
    warnings: tuple[str, ...] = ()

    @property
    def cost(self) -> Money | None:
        return as_money(self.exact_cost, self.currency)


class Broken(NamedTuple):
    """A limit that does not hold, or that cannot be held to: ``code`` is OVER, UNPRICED or VAGUE."""

    code: str
    message: str


class TokenBudget:
    """The fixture: call it with what is to be counted. ``counted`` is all that the test has counted so far."""

    def __init__(self, marked: Terms, rootdir: Path) -> None:
        self.counted: list[Counted] = []
        self._own: list[Terms] = []
        self._marked = marked
        self._rootdir = rootdir

    def __call__(
        self,
        what: str | Path | Mapping[str, Any] | Sequence[Any],
        *,
        name: str | None = None,
        max_tokens: int | str | None = None,
        max_cost: str | None = None,
        calls: int | None = None,
        model: str | None = None,
        counter: str | None = None,
        price: str | None = None,
        as_of: str | date | None = None,
        count: Needed | None = None,
        **other: Never,
    ) -> Counted:
        """Count a text, the text of a file (a ``Path``), a request or the list of its messages.

        The limits given here are for this count, those of the marker for all counts of the test together.
        How it is counted is taken from the marker where it is not given here, and then from the project's
        configuration; a request may name its model itself. Fails the test where a limit is exceeded, and
        where a count is too vague or a price too unknown to tell. Raises TokengapError for what cannot be
        counted, and where there is no limit at all.
        """
        __tracebackhide__ = True
        given = {
            "max_tokens": max_tokens,
            "max_cost": max_cost,
            "calls": calls,
            "model": model,
            "counter": counter,
            "price": price,
            "as_of": as_of,
            "count": count,
        }
        try:
            for key in other:
                raise TokengapError(f"{key}: {nearest(key, ('name', *Terms._fields))}")
            counted, broken = self._count(what, name, read_terms(**given))
        except TokengapError as error:
            raise error.with_traceback(None) from None  # the test's own line is what there is to see
        if broken:
            lines = [*(each.message for each in broken), *counted.warnings]
            pytest.fail("token budget: " + "\n".join(lines))
        return counted

    def _count(self, what: object, name: str | None, own: Terms) -> tuple[Counted, list[Broken]]:
        if not (own.limited or self._marked.limited):
            raise TokengapError("no limit: give max_tokens or max_cost, here or in the marker token_budget")
        terms = joined(own, self._marked)
        if terms.calls and terms.max_cost is None:
            raise TokengapError("calls means nothing without max_cost, here or in the marker token_budget")
        counted = _count(what, name, terms, self._rootdir)
        broken = (*exceeded(counted, own), *exceeded(total([*self.counted, counted]), self._marked))
        self.counted.append(counted)
        self._own.append(own)
        return counted, list(dict.fromkeys(broken))

    def lines(self) -> list[dict[str, Any]]:
        """What the summary shows of this test."""
        return [line._asdict() for line in self._lines()]

    def _lines(self) -> Iterator[Line]:
        if len(self.counted) == 1 and not (self._own[0].limited and self._marked.limited):
            yield _line(self.counted[0], joined(self._own[0], self._marked))
            return
        for counted, own in zip(self.counted, self._own, strict=True):
            yield _line(counted, own)
        if self.counted and self._marked.limited:
            yield _line(total(self.counted), self._marked)


def exceeded(counted: Counted, limits: Terms) -> Iterator[Broken]:
    """Each limit that is exceeded, and by how much; what cannot be held to a limit has not kept it."""
    if limits.max_tokens is not None and counted.most > limits.max_tokens:
        bound = f" at most, {counted.tokens:,} by the count" if counted.most > counted.tokens else ""
        found = f"{counted.most:,} tokens{bound} ({counted.kind}, {counted.tokenizer})"
        more = f"{counted.most - limits.max_tokens:,} more than max_tokens={limits.max_tokens:,}"
        yield Broken("OVER", f"{counted.name}: {found}, {more}")
    if counted.too_vague and limits.limited:
        found = f"{counted.tokens:,} tokens ({counted.kind}, {counted.tokenizer})"
        advice = "count for a model whose tokenizer is known, or give count='any'"
        yield Broken("VAGUE", f"{counted.name}: {found} is not as good a count as this budget needs: {advice}")
    if limits.max_cost is None:
        return
    limit = f"max_cost={display(limits.max_cost)!r}"
    if counted.cost is None:
        advice = "name a model that has one, or give price"
        yield Broken("UNPRICED", f"{counted.name}: {limit}, and no price is known ({counted.tokenizer}): {advice}")
    elif counted.currency != limits.max_cost.currency:
        raise TokengapError(f"{limit}, and the price is in {counted.currency}: give both in the same currency")
    elif counted.cost.amount > limits.max_cost.amount:
        more = display(counted.cost - limits.max_cost)
        yield Broken("OVER", f"{counted.name}: {display(counted.cost)}, {more} more than {limit}")


def total(counted: Sequence[Counted]) -> Counted:
    """All that a test counted as one."""
    if len(counted) == 1:
        return counted[0]
    costs = [each.exact_cost for each in counted if each.exact_cost is not None]
    currencies = {each.currency for each in counted}
    known = len(costs) == len(counted) and len(currencies) == 1
    return Counted(
        f"{len(counted)} counts together",
        sum(each.tokens for each in counted),
        sum(each.most for each in counted),
        weakest(each.kind for each in counted),
        ", ".join(dict.fromkeys(each.tokenizer for each in counted)),
        sum(costs, Fraction()) if known else None,
        currencies.pop() if known else None,
        any(each.too_vague for each in counted),
    )


def _line(counted: Counted, limits: Terms) -> Line:
    return Line(
        counted.name,
        counted.tokens,
        counted.most,
        limits.max_tokens,
        display(counted.cost) if counted.cost else "",
        display(limits.max_cost) if limits.max_cost else "",
        counted.kind,
        list(dict.fromkeys(broken.code for broken in exceeded(counted, limits))),
    )


def _count(what: object, name: str | None, terms: Terms, rootdir: Path) -> Counted:
    """Count it; what neither the test nor the request says is taken from the project's configuration."""
    text, project = _named(what, name), _project(rootdir)
    model = terms.model or (named_model(text.body) if isinstance(text, ChatRequest) else None) or project.model
    spec = terms.counter or (None if model else DEFAULT_COUNTER)
    if model and spec:
        refuse_mistyped(model, terms.as_of or project.prices_at or datetime.now(UTC), project.book)
    price = parse_price(terms.price) if terms.price else _price(model, terms.as_of or project.prices_at, project.book)
    found: Count | RequestCount
    if isinstance(text, ChatRequest):
        found = _request(text, model, spec)
        not_counted = found.not_counted
    else:
        found, not_counted = counter_for(model, spec).count(text.text), ()
    upper = None if not_counted else upper_bound(found)
    most = found.tokens if upper is None else upper
    cost = price.exact_cost(most if found.estimate is None else found.estimate) if price else None
    named = spec or f"model:{model}"
    return Counted(
        text.source,
        found.tokens,
        most,
        found.kind,
        found.tokenizer if named == found.tokenizer else f"{named}, {found.tokenizer}",
        None if cost is None else cost * (terms.calls or 1),
        price.currency if price else None,
        {"exact": found.kind != "exact", "bounded": upper is None, "any": False}[terms.count or "bounded"],
        tuple(explained(code, not_counted) for code in found.warnings),
    )


def _request(request: ChatRequest, model: str | None, spec: str | None) -> RequestCount:
    try:
        return count_request(request.body, model, spec)
    except TokengapError as error:
        raise TokengapError(f"{request.source}: {error}") from error


class _Project(NamedTuple):
    model: str | None = None
    prices_at: datetime | None = None
    book: PriceBook = PriceBook()


@cache
def _project(rootdir: Path) -> _Project:
    """What the configuration of 'tokengap check' says, where the project has one."""
    path = find_project(rootdir)
    if path is None:
        return _Project()
    configuration = read_configuration(read_bytes(path), str(path)).configuration
    at = configuration.prices_at
    return _Project(configuration.model, at.time if at else None, load_book(path))


def _price(model: str | None, as_of: datetime | None, book: PriceBook) -> Price | None:
    try:
        return model_price(model, as_of, book=book) if model else None
    except UnknownNameError:
        return None


def _named(what: object, name: str | None) -> Text | ChatRequest:
    if isinstance(what, str):
        return Text(name or "text", what)
    if isinstance(what, Path):
        return Text(name or str(what), read_text(str(what)))
    return ChatRequest(name or "request", what)
