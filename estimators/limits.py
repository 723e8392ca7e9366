"""What a model takes: context window, input and output limit; and whether a text fits.

A limit is read from the dated supplement beside this file, where it names the model, and else from
the public table that genai-prices ships. What neither knows is ``None``, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..tokenizers.errors import TokengapError, UnknownNameError, unknown_name
from ..tokenizers.models import find_model, models

if TYPE_CHECKING:
    from genai_prices.types import MatchLogic, ModelInfo

WARNINGS: Mapping[str, str] = {
    "limit_in_interval": "the limit lies inside the count's interval, so whether it fits is not known",
    "part_not_counted": "what was counted fits, but not everything was counted",
    "unknown_window": "no context window is known for this model, so whether the text fits is not known either",
    "unknown_output_limit": "no output limit is known for this model, so whether the answer fits is not known",
    "output_over_limit": "the expected answer is longer than the model's output limit: it would be cut off",
    "window_differs": "the price table has another context window than the provider's documentation, which is used",
}

_MAKERS = ("openai", "anthropic", "google", "mistral", "cohere", "deepseek", "x-ai", "moonshotai")
"""The providers whose models are looked up without a prefix: those that make what they serve."""

_RELEASE = re.compile(r"[-@](20[0-9]{2}-?[0-9]{2}-?[0-9]{2}|latest)\Z")


@dataclass(frozen=True, slots=True)
class Limits:
    """A model's limits in tokens; ``None`` where none is known.

    ``context_window`` is for input and output together. ``max_input`` is known only where a provider
    limits the input apart: the answer then has room of its own. ``sources`` says where each was read.
    """

    model: str
    context_window: int | None = None
    max_input: int | None = None
    max_output: int | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "context_window": self.context_window,
            "max_input": self.max_input,
            "max_output": self.max_output,
            "sources": dict(self.sources),
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a text fits a model, with room for an answer of ``output_tokens``.

    ``fits`` is ``None`` where a limit that decides it is not known, or lies inside the count's interval.
    ``left`` is how many more tokens of input there is room for, ``must_cut`` how many are too many, and
    ``answer_room`` the longest answer that this input leaves room for: all three by the upper end of
    the interval, so that they are safe.
    """

    limits: Limits
    tokens: int
    output_tokens: int
    fits: bool | None
    left: int | None
    must_cut: int | None
    answer_room: int | None
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return self.limits.to_dict() | {
            "fits": self.fits,
            "tokens": self.tokens,
            "output_tokens": self.output_tokens,
            "left": self.left,
            "must_cut": self.must_cut,
            "answer_room": self.answer_room,
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One line of the list of models. ``published``: the maker has named the encoding."""

    name: str
    encoding: str | None
    published: bool | None
    limits: Limits

    def to_dict(self) -> dict[str, Any]:
        return self.limits.to_dict() | {"model": self.name, "encoding": self.encoding, "published": self.published}


def fit(
    tokens: int,
    model: str | Limits,
    output_tokens: int = 0,
    *,
    interval: tuple[int, int] | None = None,
    complete: bool = True,
) -> Fit:
    """Say whether ``tokens`` of input and an answer of ``output_tokens`` fit a model.

    >>> fit(120_000, "gpt-4o", 10_000).must_cut
    2000

    ``interval`` is that of an inexact count; without ``complete`` there is input that was not counted.
    Raises UnknownNameError for a model without limits and tokenizer, TokengapError for numbers that are
    no counts.
    """
    low, high = interval or (tokens, tokens)
    for number, what in ((tokens, "the input"), (output_tokens, "the expected answer")):
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise TokengapError(f"{what} is {number!r} tokens: a whole number is needed, 0 or more")
    if not low <= tokens <= high:
        raise TokengapError(f"the interval {low} to {high} does not hold the count, {tokens}")
    limits = find_limits(model) if isinstance(model, str) else model
    room = limits.max_input
    if room is None and limits.context_window is not None:
        room = limits.context_window - output_tokens
    input_fits = None if room is None else _within(low, high, room)
    unsure = input_fits is None and room is not None
    if input_fits and not complete:
        input_fits = None
    output_fits = not output_tokens or (None if limits.max_output is None else output_tokens <= limits.max_output)
    checks = (input_fits, output_fits)
    found = {
        "limit_in_interval": unsure,
        "part_not_counted": not complete and input_fits is None and room is not None and not unsure,
        "unknown_window": room is None,
        "unknown_output_limit": output_fits is None,
        "output_over_limit": output_fits is False,
    }
    return Fit(
        limits=limits,
        tokens=tokens,
        output_tokens=output_tokens,
        fits=False if False in checks else None if None in checks else True,
        left=None if room is None else max(room - high, 0),
        must_cut=None if room is None else max(high - max(room, 0), 0),
        answer_room=_answer_room(limits, high),
        warnings=(*limits.warnings, *(code for code, holds in found.items() if holds)),
    )


def _within(low: int, high: int, room: int) -> bool | None:
    """Whether a count is within a limit; ``None`` where the limit lies inside its interval."""
    return True if high <= room else False if low > room else None


def _answer_room(limits: Limits, tokens: int) -> int | None:
    """The longest answer after ``tokens`` of input; ``None`` where a limit on it is not known."""
    if limits.max_output is None or limits.context_window is None:
        return None
    return max(min(limits.max_output, limits.context_window - (0 if limits.max_input else tokens)), 0)


@lru_cache(maxsize=1024)  # bounded: a server is asked for any name
def find_limits(model: str) -> Limits:
    """The limits of a model, found by its name with or without provider, date and case.

    Raises UnknownNameError, with the nearest names, for a model that no table has.
    """
    names = _spellings(model)
    entry = next((_supplement()["models"][name] for name in names if name in _supplement()["models"]), None)
    info = _table_row(model, names)
    if entry is None and info is None and not any(name in models() for name in names):
        known = {*models(), *_supplement()["models"], *(info.id for _, info in _table_rows(_MAKERS))}
        advice = "no limits and no tokenizer are known for it; 'tokengap models' lists those that are"
        raise unknown_name("model", model[:100], known, advice)
    return _limits(names[0], entry or {}, info)


def list_models(containing: str = "", *, everything: bool = False) -> list[ModelRow]:
    """The models with a known tokenizer or documented limits, by name; with ``everything``, the price table's too.

    ``containing`` keeps the names that have it in them, in any case.
    """
    names = dict.fromkeys((*models(), *_supplement()["models"]))
    rows = {name: ModelRow(name, *_encoding(name), find_limits(name)) for name in names if containing.lower() in name}
    if everything:
        for provider, info in _table_rows():
            name = f"{provider}/{info.id}"
            if containing.lower() in name.lower() and info.id not in rows:
                rows[name] = ModelRow(name, None, None, _limits(name, {}, info))
    return [rows[name] for name in sorted(rows)]


def _encoding(name: str) -> tuple[str | None, bool | None]:
    try:
        model = find_model(name)
    except UnknownNameError:
        return None, None
    return model.encoding, model.published


def _limits(name: str, entry: Mapping[str, Any], info: ModelInfo | None) -> Limits:
    window = info.context_window if info else None
    documented = entry.get("context_window")
    sources: dict[str, str] = {}
    if documented is None and window is not None:
        sources["context_window"] = f"genai-prices {_version()}"
    for limit in ("context_window", "max_input", "max_output"):
        if limit in entry:
            source = _supplement()["sources"][entry["source"]]
            sources[limit] = f"{source['url']} ({source['date']})"
    return Limits(
        model=name,
        context_window=window if documented is None else documented,
        max_input=entry.get("max_input"),
        max_output=entry.get("max_output"),
        sources=sources,
        warnings=("window_differs",) if None not in (documented, window) and documented != window else (),
    )


def _spellings(model: str) -> list[str]:
    """The names a model may be listed under, the likeliest first."""
    plain = model.strip().lower()
    bare = plain.rpartition("/")[2]
    names = [bare, _RELEASE.sub("", bare)]
    with suppress(UnknownNameError):
        names.append(find_model(plain).name)
    return list(dict.fromkeys(names))


def _table_row(model: str, names: list[str]) -> ModelInfo | None:
    """The price table's row of a model; a row that only begins like its name is another model's."""
    provider = model.strip().lower().rpartition("/")[0].rpartition("/")[2]
    prefixed = _table_rows((provider,)) if provider else ()
    for rows in (list(prefixed), list(_table_rows(_MAKERS))):
        for name in names:
            for _, info in rows:
                if info.id.lower() == name:
                    return info
            for _, info in rows:
                if info.id.lower() == f"{name}-latest" or _names(info.match, name):
                    return info
    return None


def _names(match: MatchLogic, name: str) -> bool:
    """Whether a clause of the table is this very name."""
    from genai_prices import types

    if isinstance(match, types.ClauseOr):
        return any(_names(clause, name) for clause in match.or_)
    return isinstance(match, types.ClauseEquals) and match.equals.lower() == name


def _table_rows(providers: Iterable[str] = ()) -> Iterator[tuple[str, ModelInfo]]:
    """The rows of some providers, in their order, or of all."""
    from genai_prices.data_snapshot import get_snapshot

    by_id = {provider.id: provider for provider in get_snapshot().providers}
    for name in providers or by_id:
        if name in by_id:
            yield from ((name, info) for info in by_id[name].models)


@cache
def _supplement() -> Mapping[str, Mapping[str, Any]]:
    import json

    table: Mapping[str, Mapping[str, Any]] = json.loads(Path(__file__).with_name("model_limits.json").read_bytes())
    return table


@cache
def _version() -> str:
    from importlib.metadata import version

    return version("genai-prices")
