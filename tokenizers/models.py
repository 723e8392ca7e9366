"""From a model's name to the encoding it uses, with how sure that is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .counter import Count, Counter, adds_up, prepare
from .errors import TokengapError, unknown_name

_REGION = r"(?:us|eu|apac|ap|au|jp|ca|sa|in|global|us-gov)"
_ARN = re.compile(r"arn:aws[a-z-]*:bedrock:[^/]*/")
_VERTEX = re.compile(r"(?:projects/[^/]+/)?(?:locations/[^/]+/)?publishers/[^/]+/models/")
_BEDROCK = re.compile(rf"(?:{_REGION}\.)?([a-z0-9]+)\.([^:]+?)(?:-v[0-9]+|(?:-v?[0-9]+)?:[0-9]+(?::[0-9a-z]+)?)?")
_AWS_REGION = re.compile(r"[a-z]{2}(?:-gov)?-[a-z]+-[0-9]")
_FINE_TUNE = re.compile(r"ft:([^:]+)(?::.*)?|([^:]+):ft-.+")
_VARIANT = re.compile(r":(?:batch|beta|extended|free|nitro|floor|thinking)\Z|@(?:default|latest|[0-9]{3}|20[0-9]{6})\Z")
_MONTH, _DAY = r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12][0-9]|3[01])"
_RELEASE = re.compile(
    rf"-(?:20[0-9]{{2}}-{_MONTH}-{_DAY}|20[0-9]{{2}}{_MONTH}{_DAY}|{_MONTH}{_DAY}|2[0-9]{_MONTH}|{_MONTH}-20[0-9]{{2}}"
    rf"|(?:preview|exp)-{_MONTH}-?{_DAY}|00[1-9]|latest)\Z"
)
"""What names one release of a model: a date in any of the providers' forms, ``-001``, ``-latest``."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model that tokengap can count for. ``published``: its maker has named the encoding.

    ``family`` is that of its maker ("openai", "anthropic", …); rules for framing and images go by it.
    """

    name: str
    encoding: str
    published: bool
    family: str = "openai"


@dataclass(frozen=True, slots=True)
class ModelCounter:
    """A counter for a model; heuristic where it is not known to count with the model's own tokenizer."""

    name: str
    model: Model
    counter: Counter
    own: bool = True

    def count(self, text: str) -> Count:
        count = self.counter.count(text)
        if self.own:
            return count
        warnings = dict.fromkeys(("assumed_tokenizer", "uncalibrated", *count.warnings))
        return count._replace(kind="heuristic", interval=None, warnings=tuple(warnings))

    def prepare(self, characters: int | None = None) -> None:
        prepare(self.counter, characters)

    @property
    def adds_up(self) -> bool:
        return adds_up(self.counter)


def from_spec(spec: str) -> ModelCounter:
    """Build the counter of ``model:NAME``."""
    from .registry import get_counter

    name = spec.partition(":")[2]
    if not name:
        raise TokengapError("the counter 'model' needs a name, such as model:gpt-4o")
    model = find_model(name)
    return ModelCounter(spec, model, get_counter(model.encoding), model.published)


def counter_for(model: str | None, spec: str | None) -> Counter:
    """The counter ``spec`` for texts that are sent to a model, or without it the model's own.

    Exact counts of another tokenizer are no exact counts of the model's tokens: they are heuristic. So are those of
    any tokenizer for a model that is not known, for nobody knows what its own is.

    >>> counter_for("gpt-4o", "cl100k_base").count("Hello, world").kind
    'heuristic'

    Raises UnknownNameError for an unknown counter, or an unknown model without a counter.
    """
    from .registry import get_counter

    if spec is None:
        return get_counter(f"model:{model or ''}")
    counter = get_counter(spec)
    if model is None:
        return counter
    known = known_model(model)
    if known and is_own(counter, known):
        return counter
    return ModelCounter(spec, known or Model(model, "", published=False, family=""), counter, own=False)


def is_own(counter: Counter, model: Model) -> bool:
    """Whether a counter is known to count with the tokenizer of a model: its maker has named it, and it is the same."""
    from .registry import get_counter

    nothing = counter.count("")
    same = nothing.fingerprint == get_counter(model.encoding).count("").fingerprint
    return model.published and same and nothing.kind == "exact"


def find_model(name: str) -> Model:
    """Find a model by its name, whatever its case, provider prefix, date or fine-tune.

    >>> find_model("openai/gpt-4o-2024-08-06").encoding
    'o200k_base'
    >>> find_model("us.anthropic.claude-sonnet-4-5-20250929-v1:0").name
    'claude-sonnet-4-5'

    Raises UnknownNameError; no model is ever guessed from the beginning of its name.
    """
    if model := known_model(name):
        return model
    advice = "no tokenizer is known for it. Name a counter instead, such as o200k_base, or see 'tokengap counters'"
    raise unknown_name("model", name[:100], models(), advice, looked_up=_base_name(name))


def known_model(name: str) -> Model | None:
    """The model that ``find_model`` finds, or ``None`` where it finds none."""
    known = models()
    return next((known[form] for form in _candidates(_base_name(name)) if form in known), None)


@cache
def models() -> Mapping[str, Model]:
    """Every model in the table, by name."""
    table = _table()
    published = {
        name: Model(name, encoding, published=True) for encoding, names in table["published"].items() for name in names
    }
    assumed = {
        name: Model(name, encoding, published=False, family=family)
        for family, encodings in table["assumed"].items()
        for encoding, names in encodings.items()
        for name in names
    }
    return assumed | published


@cache
def _table() -> Mapping[str, Mapping[str, Mapping[str, list[str]]]]:
    import json

    table: Mapping[str, Mapping[str, Mapping[str, list[str]]]]
    table = json.loads(Path(__file__).with_name("data").joinpath("models.json").read_bytes())
    return table


def _base_name(name: str) -> str:
    """Take off what only says where the model is served, and by whom it was tuned."""
    plain = name.strip().lower()
    if len(plain) > 300:  # no name, and what follows is not meant for it
        return plain
    plain = _VERTEX.sub("", _ARN.sub("", plain, count=1), count=1)
    while "/" in plain:
        prefix, _, rest = plain.partition("/")
        if prefix not in _table()["providers"] and not _AWS_REGION.fullmatch(prefix):
            return plain
        plain = rest
    if tuned := _FINE_TUNE.fullmatch(plain):
        plain = tuned[1] or tuned[2]
    if (bedrock := _BEDROCK.fullmatch(plain)) and bedrock[1] in _table()["vendors"]:
        plain = bedrock[2]
    return _VARIANT.sub("", plain)


def _candidates(plain: str) -> Iterator[str]:
    """The spellings of one name, from the whole of it to the one without its release."""
    for _ in range(3):  # as in gemini-2.5-flash-preview-05-20, or mistral-large-2411-latest
        yield plain
        yield plain.replace(".", "-")  # claude-3.5-sonnet and claude-3-5-sonnet are one
        release = _RELEASE.search(plain)
        if release is None:
            return
        plain = plain[: release.start()]
