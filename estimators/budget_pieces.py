"""The tokens and the price of each text, request or list of tools that one call sends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..tokenizers.counter import Kind, weakest
from ..tokenizers.errors import TokengapError, UnknownNameError
from ..tokenizers.models import counter_for
from .bounds import sum_known, upper_bound
from .budget_texts import Contents, Sent, tools_of
from .price import Money, Price
from .uncounted import most_tokens

if TYPE_CHECKING:
    from ..tokenizers.counter import Counter
    from .budget_plan import Plan
    from .request_count import RequestCount


class Piece(NamedTuple):
    """What one call sends."""

    tokens: int
    upper: int | None
    kind: Kind
    price: Price | None
    not_counted: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unpriced: str = ""
    model: str | None = None
    tokenizer: str | None = None

    @property
    def cost(self) -> Money | None:
        """What the call costs, by the bound where there is one."""
        from .cost import make_bill

        tokens = self.tokens if self.upper is None else self.upper
        return make_bill(self.price, {"input": tokens}).total if self.price else None


def pieces(contents: Contents, plan: Plan, path: str) -> Iterator[Piece]:
    if contents.texts:
        counter = plan.counter
        yield from (_text_piece(text, counter, plan) for text in contents.texts)
    for number, request in enumerate((*contents.requests, *contents.tools), start=1):
        try:
            yield _tools_piece(request, plan) if contents.tools else _request_piece(request, plan)
        except TokengapError as error:
            where = f"{path}: request {number}" if len(contents.requests) > 1 else path
            raise TokengapError(f"{where}: {error}") from None


def _text_piece(text: Sent, counter: Counter, plan: Plan) -> Piece:
    counts = [counter.count(part) for part in text.parts] or [counter.count("")]
    kind = weakest(count.kind for count in counts)
    tokens = sum(count.tokens for count in counts) + text.allowance
    upper = sum_known((*map(upper_bound, counts), text.allowance))
    warnings = tuple(code for count in counts for code in count.warnings)
    # An allowance is a bound that somebody stated, not a count.
    kind = "heuristic" if text.allowance else kind
    return Piece(tokens, upper, kind, plan.price, (), warnings, "", plan.model, counts[0].tokenizer)


def _request_piece(request: object, plan: Plan) -> Piece:
    counted = _counted(request, request, plan)
    bounded = None if counted.not_counted else upper_bound(counted)
    price, unpriced = _request_price(request, plan)
    warnings = (*counted.warnings, *_other_model(request, plan))
    model, tokenizer = plan.model_of(request), counted.tokenizer
    return Piece(
        counted.tokens, bounded, counted.kind, price, counted.not_counted, warnings, unpriced, model, tokenizer
    )


def _counted(request: object, file: object, plan: Plan) -> RequestCount:
    """The count of a request for the model of what it is in."""
    from .request_count import count_request

    model, counter = _counted_as(file, plan)
    try:
        return count_request(request, model, counter)
    except UnknownNameError as error:
        if plan.budget.model or plan.budget.counter:
            raise
        raise TokengapError(f"{error}; or set the budget's 'model', which holds whatever a request names") from None


def _counted_as(file: object, plan: Plan) -> tuple[str | None, str | None]:
    """The model and the counter of a request or of tools; one of them there is."""
    model, counter = plan.model_of(file), plan.spec if plan.budget.counter else None
    if model is None and counter is None:
        raise TokengapError('it names no model: write model = "openai/gpt-4o" at the top, or in the budget')
    if model and counter:
        plan.pricing.refuse_mistyped(model)
    return model, counter


def _request_price(request: object, plan: Plan) -> tuple[Price | None, str]:
    """The price of the request's model at the tier that it names, or that of a batch; or why there is none."""
    from .request_settings import requested_variant

    try:
        variant = requested_variant(request)
    except TokengapError as error:  # a tier whose price nobody knows
        return None, str(error).partition(";")[0]
    model = plan.model_of(request)
    price = plan.pricing.price_of(model, variant) if model and (variant or model != plan.model) else plan.price
    limit = plan.budget.max_cost
    if price and limit and price.currency != limit.currency:
        raise TokengapError(f"the price of {model} is in {price.currency}, and max_cost is in {limit.currency}")
    return price, f"variant {variant!r}" if variant and price is None else ""


def _other_model(request: object, plan: Plan) -> Iterator[str]:
    """The code ``other_model`` where the budget's own model holds against the one that a request names."""
    from .request_settings import named_model

    own, named = plan.budget.model, named_model(request)
    if own and named and not _is_same(own, named, plan):
        yield "other_model"


def _is_same(one: str, other: str, plan: Plan) -> bool:
    """Whether two names are one, but for who serves the model at the same price: its releases have prices apart."""
    one, other = one.strip().lower(), other.strip().lower()
    if one.rpartition("/")[2] != other.rpartition("/")[2]:
        return False
    if one == other:
        return True
    prices = [plan.pricing.price_of(name, None) for name in (one, other)]
    rates = [price and (price.currency, price.per_million, price.tiers) for price in prices]
    return rates[0] == rates[1]


def _tools_piece(value: object, plan: Plan) -> Piece:
    """Tools as they stand in a prompt, without the messages beside them."""
    model, counter = _counted_as(value, plan)
    price, unpriced = _request_price(value, plan)
    if not (tools := tools_of(value)):
        return Piece(0, 0, "exact", price, (), (), unpriced, model, counter_for(model, counter).count("").tokenizer)
    request = {"messages": [{"role": "user", "content": ""}], "tools": tools}
    counted = _counted(request, value, plan)
    warnings = (*counted.warnings, *_other_model(value, plan))
    part = counted.parts.get("tools")
    tokenizer = counted.tokenizer
    if part is None:
        return Piece(0, None, "heuristic", price, counted.not_counted, warnings, unpriced, model, tokenizer)
    upper = upper_bound(part)
    if upper is not None and counted.not_counted:
        # The most that those keys of tools can add which the rule does not show.
        own = counter_for(model, counter)
        upper = sum_known((upper, *(most_tokens(request, path, own) for path in counted.not_counted)))
    return Piece(part.tokens, upper, part.kind, price, counted.not_counted, warnings, unpriced, model, tokenizer)
