"""The list of models: the encoding of each, and its limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..tokenizers.models import known_model, models
from .limits import Limits, documented_models, find_limits
from .price_table import bundled


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One line of the list of models. ``published``: the maker has named the encoding."""

    name: str
    encoding: str | None
    published: bool | None
    limits: Limits

    def to_dict(self) -> dict[str, Any]:
        return self.limits.to_dict() | {"model": self.name, "encoding": self.encoding, "published": self.published}


def list_models(containing: str = "", *, everything: bool = False) -> list[ModelRow]:
    """The models with a known tokenizer or documented limits, by name; with ``everything``, the price table's too.

    ``containing`` keeps the names that have it in them, in any case. Each name can be given to ``find_limits``.
    """
    names = [*models(), *documented_models()]
    if everything:
        names += [f"{row.provider}/{row.model}" for row in bundled().rows]
    return [_row(name) for name in sorted(set(names)) if containing.lower() in name.lower()]


def _row(name: str) -> ModelRow:
    model = known_model(name)
    return ModelRow(name, model.encoding if model else None, model.published if model else None, find_limits(name))
