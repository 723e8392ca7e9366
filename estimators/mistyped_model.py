"""A model's name that is nearly another's, beside a counter which would count under any name."""

from __future__ import annotations

from datetime import datetime
from difflib import get_close_matches

from ..tokenizers.errors import TokengapError, UnknownNameError, unknown_name
from ..tokenizers.models import find_model
from .price_book import PriceBook

NEAR = 0.8
"""How alike two names are, as difflib tells it, for one to be the other mistyped."""


def refuse_mistyped(model: str, as_of: datetime, book: PriceBook) -> None:
    """Raise UnknownNameError for a model of which neither tokenizer nor price is known, if a known name is near it.

    Any other unknown name is taken for a model of the project's own.
    """
    try:
        find_model(model)
        return
    except UnknownNameError as error:
        known = error.suggestions
    try:
        book.price(model, as_of)
        return
    except UnknownNameError as error:
        known += error.suggestions
    except TokengapError:  # it has a price, only none that holds
        return
    name = model.strip().lower().rpartition("/")[2]
    if get_close_matches(name, [each.lower().rpartition("/")[2] for each in known], cutoff=NEAR):
        raise unknown_name(
            "model", model, known, "A counter beside it does not make it known; a model of your own needs a price"
        )
