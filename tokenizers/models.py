"""From a model's name to the encoding it uses, with how sure that is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from .counter import Count, Counter
from .errors import TokengapError, unknown_name

_PROVIDER = re.compile(r"(openai|azure)/")
_FINE_TUNE = re.compile(r"ft:([^:]+)(:.*)?")
_DATE = re.compile(r"-(20[0-9]{2}-[0-9]{2}-[0-9]{2}|20[0-9]{6}|[01][0-9][0-3][0-9])\Z")


@dataclass(frozen=True, slots=True)
class Model:
    """A model that tokengap can count for. ``published``: its maker has named the encoding."""

    name: str
    encoding: str
    published: bool


@dataclass(frozen=True, slots=True)
class ModelCounter:
    """The counter of the encoding a model uses; heuristic where that encoding is only assumed."""

    name: str
    model: Model
    counter: Counter

    def count(self, text: str) -> Count:
        count = self.counter.count(text)
        if self.model.published:
            return count
        return replace(count, kind="heuristic", warnings=("assumed_tokenizer", "uncalibrated", *count.warnings))


def from_spec(spec: str) -> ModelCounter:
    """Build the counter of ``model:NAME``."""
    from .registry import get_counter

    name = spec.partition(":")[2]
    if not name:
        raise TokengapError("the counter 'model' needs a name, such as model:gpt-4o")
    model = find_model(name)
    return ModelCounter(spec, model, get_counter(model.encoding))


def find_model(name: str) -> Model:
    """Find a model by its name, whatever its case, provider prefix, date or fine-tune.

    >>> find_model("openai/gpt-4o-2024-08-06").encoding
    'o200k_base'

    Raises UnknownNameError; no model is ever guessed from the beginning of its name.
    """
    known = models()
    plain = _PROVIDER.sub("", name.lower(), count=1)
    if tuned := _FINE_TUNE.fullmatch(plain):
        plain = tuned[1]
    undated = plain[: -len(date[0])] if (date := _DATE.search(plain)) else plain
    model = known.get(plain) or known.get(undated)
    if model is None:
        advice = "no tokenizer is known for it. Name a counter instead, such as o200k_base, or see 'tokengap counters'"
        raise unknown_name("model", name, known, advice)
    return model


@cache
def models() -> Mapping[str, Model]:
    """Every model in the table, by name."""
    import json

    table = json.loads(Path(__file__).with_name("data").joinpath("models.json").read_bytes())
    return {
        name: Model(name, encoding, published=sure == "published")
        for sure in ("published", "assumed")
        for encoding, names in table[sure].items()
        for name in names
    }
