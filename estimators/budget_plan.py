"""How the files of a budget are counted and priced."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..tokenizers.errors import TokengapError
from ..tokenizers.models import counter_for
from ..tokenizers.registry import get_counter

if TYPE_CHECKING:
    from ..tokenizers.counter import Counter
    from .budget_config import Budget, Loaded
    from .budget_prices import Pricing
    from .price import Price
    from .toml_origin import Origin, Steps


class Plan(NamedTuple):
    """How a budget's files are counted and priced.

    ``model`` is that of the budget or of the configuration, ``price`` its price, ``None`` where none is known;
    ``spec`` is the counter, ``None`` where each request must name its own model;
    ``pricing`` has the prices of the models and variants that requests name.
    """

    budget: Budget
    model: str | None
    spec: str | None
    price: Price | None
    pricing: Pricing

    @property
    def counter(self) -> Counter:
        """What counts texts: as tokens of the model, which another tokenizer than its own can only estimate."""
        return counter_for(self.model, self.spec if self.budget.counter else None)

    def model_of(self, request: object) -> str | None:
        """The model that a request is counted and priced as: the budget's own, the one it names, or the project's."""
        from .request_settings import named_model

        return self.budget.model or named_model(request) or self.model


def make_plan(loaded: Loaded, place: int, pricing: Pricing) -> Plan:
    """How to count a budget's files, or an error at the name that is not known."""
    configuration, origin, _ = loaded
    budget = configuration.budget[place]
    model = budget.model or configuration.model
    named: Steps = ("budget", place, "model") if budget.model else ("model",)
    if budget.counter:
        named, spec = ("budget", place, "counter"), _from_folder(budget.counter, origin)
    elif model:
        spec = f"model:{model}"
    elif budget.type in ("chat", "tools"):
        return Plan(budget, None, None, None, pricing)
    else:
        raise origin.error(("budget", place), 'no model: write model = "openai/gpt-4o" at the top, or a counter here')
    try:
        get_counter(spec)
    except TokengapError as error:
        meant = _counter_meant(model) if named[-1] == "model" and model else None
        raise origin.error(named, meant or str(error)) from None
    if budget.counter and model:
        try:
            pricing.refuse_mistyped(model)
        except TokengapError as error:
            raise origin.error(("budget", place, "model") if budget.model else ("model",), str(error)) from None
    price = pricing.price(model) if model else None
    if price and budget.max_cost and price.currency != budget.max_cost.currency:
        raise origin.error(
            ("budget", place, "max_cost"),
            f"it is in {budget.max_cost.currency}, and the price of {model} in {price.currency}; write it in that",
        )
    return Plan(budget, model, spec, price, pricing)


def _counter_meant(model: str) -> str | None:
    """What is wrong where a model's name is a counter's."""
    try:
        get_counter(model)
    except TokengapError:
        return None
    return f'{model!r} is no model but a counter: write counter = "{model}" in the budget'


def _from_folder(counter: str, origin: Origin) -> str:
    """A tokenizer's file is named from the configuration's folder, as every path in it is."""
    name, colon, path = counter.partition(":")
    return f"bpe:{Path(origin.path).parent / path}" if name == "bpe" and colon else counter
