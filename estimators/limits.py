"""What a model takes: context window, input and output limit; and whether a text fits.

A limit is read from the dated supplement beside this file, where it names the model, and else from
the public table that genai-prices ships. What neither knows is ``None``, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ..tokenizers.errors import TokengapError, UnknownNameError, unknown_name
from ..tokenizers.models import known_model, models
from . import price_names, price_table
from .price_names import Found

WARNINGS: Mapping[str, str] = {
    "borrowed_limits": "the table has no limits at this provider: they are those of the model at its maker",
    "fine_tune_limits": "the limits are those of the model that was tuned: none of the fine-tune itself are known",
    "limit_in_interval": "the limit lies inside the count's interval, so whether it fits is not known",
    "part_not_counted": "what was counted fits, but not everything was counted",
    "unknown_window": "no context window is known for this model, so whether the text fits is not known either",
    "unknown_output_limit": "no output limit is known for this model, so whether the answer fits is not known",
    "output_over_limit": "the expected answer is longer than any this model can give: cutting the input does not help",
    "unlisted_release": "no table lists a release of this name, and the limits of its relatives are not taken for it",
    "window_differs": "the price table has another context window than the provider's documentation, which is used",
}

_FINE_TUNE = re.compile(r"(?P<where>(?:.*/)?)(?:ft:(?P<base>[^:/]+):.*|(?P<older>[^:/]+):ft-.+)")
"""The name of a fine-tune, ``ft:gpt-4o:org::id`` or the older ``davinci:ft-org``, with what stands before it."""


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
    the interval, so that they are safe. No cut makes room for an answer that is over the output limit:
    ``left`` and ``must_cut`` then are for an answer as long as that limit, and ``answer_over`` is not 0.
    """

    limits: Limits
    tokens: int
    output_tokens: int
    fits: bool | None
    left: int | None
    must_cut: int | None
    answer_room: int | None
    warnings: tuple[str, ...] = ()

    @property
    def answer_over(self) -> int:
        """How many tokens the expected answer is longer than any that the model can give."""
        return _over(self.limits, self.output_tokens)

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
    An answer over the output limit, or over the whole window, does not fit however much is cut: what is
    left or must be cut is then told for the longest answer that the model gives, where that is known.
    Raises UnknownNameError for a model without limits and tokenizer, TokengapError for numbers that are
    no counts.
    """
    whole_number(tokens, "the input")
    whole_number(output_tokens, "the expected answer")
    low, high = _bounds(interval, tokens)
    limits = model if isinstance(model, Limits) else find_limits(model)
    over = _over(limits, output_tokens)
    room = limits.max_input
    if room is None and limits.context_window is not None:
        room = limits.context_window - (_longest_answer(limits) if over else output_tokens)
    input_fits = None if room is None else _within(low, high, room)
    unsure = input_fits is None and room is not None
    if input_fits and not complete:
        input_fits = None
    output_fits = False if over else True if limits.max_output is not None or not output_tokens else None
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


def whole_number(number: object, what: str) -> None:
    """Refuse what is no number of tokens, saying of what it is."""
    if not _is_whole(number):
        raise TokengapError(f"{what} is {number!r:.40} tokens: a whole number is needed, 0 or more")


def _is_whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number >= 0


def _bounds(interval: tuple[int, int] | None, tokens: int) -> tuple[int, int]:
    if interval is None:
        return tokens, tokens
    if not isinstance(interval, tuple | list) or len(interval) != 2 or not all(map(_is_whole, interval)):
        raise TokengapError(f"an interval is two whole numbers, such as (10, 12), not {interval!r:.40}")
    low, high = interval
    if not low <= tokens <= high:
        raise TokengapError(f"the interval {low} to {high} does not hold the count, {tokens}")
    return low, high


def _over(limits: Limits, output_tokens: int) -> int:
    """How many tokens an answer is longer than any the model can give, as far as is known."""
    known = [limit for limit in (limits.max_output, limits.context_window) if limit is not None]
    return max(output_tokens - min(known), 0) if known else 0


def _longest_answer(limits: Limits) -> int:
    """The output limit, where one is known that the window has room for."""
    limit = limits.max_output or 0
    return limit if limits.context_window is None or limit <= limits.context_window else 0


def _within(low: int, high: int, room: int) -> bool | None:
    """Whether a count is within a limit; ``None`` where the limit lies inside its interval."""
    return True if high <= room else False if low > room else None


def _answer_room(limits: Limits, tokens: int) -> int | None:
    """The longest answer after ``tokens`` of input; ``None`` where a limit on it is not known."""
    if limits.max_output is None or limits.context_window is None:
        return None
    return max(min(limits.max_output, limits.context_window - (0 if limits.max_input else tokens)), 0)


def find_limits(model: str) -> Limits:
    """The limits of a model at the provider its name tells, or at its maker.

    A name means here what it means to a price (``price_names.find``), so that no model has the limits of
    another that only begins like it. The documented figures go before the table's where they are of that
    very model at that very provider. A name for which only the tokenizer is known has no limits.

    Raises UnknownNameError, with the nearest names, for a model that no table has.
    """
    if not isinstance(model, str):
        raise TokengapError(f"a model's name must be a str, not {type(model).__name__}")
    return _find_limits(model.strip())


@lru_cache(maxsize=1024)  # bounded: a server is asked for any name
def _find_limits(model: str) -> Limits:
    try:
        name = price_names.clean(model)
    except UnknownNameError:  # empty, too long, or not printable
        raise _unknown(model) from None
    if tuned := _FINE_TUNE.fullmatch(name):
        try:
            base = _find_limits(tuned["where"] + (tuned["base"] or tuned["older"]))
        except UnknownNameError:
            raise _unknown(model) from None
        return replace(base, model=model, warnings=(*base.warnings, "fine_tune_limits"))
    if (found := _row(name)) and found.info:
        entry = _documented(name, found)
        limits = _limits(model, entry, found.info.context_window)
        borrowed = found.borrowed and not (entry and _speaks_of(entry, found.provider))
        return replace(limits, warnings=(*limits.warnings, "borrowed_limits")) if borrowed else limits
    known, entry = known_model(name), _entry(name, name.partition("/")[0] if "/" in name else None)
    if known is None and not entry:
        raise _unknown(model)
    last = name.rpartition("/")[2].replace(".", "-")
    unlisted = known is not None and not entry and last.startswith(f"{known.name.replace('.', '-')}-")
    limits = _limits(model, entry, None)
    return replace(limits, warnings=("unlisted_release",)) if unlisted else limits


def _row(name: str) -> Found | None:
    """The price table's row of a name; a provider's region has the models of the provider."""
    try:
        found = price_table.find(price_table.bundled(), name, None)
    except UnknownNameError:
        return None
    region, slash, model = found.model.partition("/")
    return _row(f"{found.provider}/{model}") if found.info is None and slash and region else found


def _documented(name: str, found: Found) -> Mapping[str, Any]:
    """What is documented of the very model that a row was found for; of a borrowed row, by its maker."""
    provider = None if found.borrowed else found.provider
    if entry := _entry(name, provider):
        return entry
    known = known_model(name)
    if known is None or not (entry := _entry(known.name, provider)):
        return {}
    # A release with a row of its own may have limits of its own, too.
    base = _row(f"{found.provider}/{known.name}")
    return entry if base and base.info is found.info else {}


def _entry(name: str, provider: str | None) -> Mapping[str, Any]:
    """The supplement's figures of this name, where their source speaks of this provider."""
    entry: Mapping[str, Any] = _supplement()["models"].get(name.rpartition("/")[2], {})
    return entry if not entry or provider is None or _speaks_of(entry, provider) else {}


def _speaks_of(entry: Mapping[str, Any], provider: str) -> bool:
    return price_names.canonical(provider) in _supplement()["sources"][entry["source"]]["providers"]


def _limits(model: str, entry: Mapping[str, Any], window: int | None) -> Limits:
    documented = entry.get("context_window")
    sources: dict[str, str] = {}
    if documented is None and window is not None:
        sources["context_window"] = f"genai-prices {price_table.bundled().version}"
    for limit in ("context_window", "max_input", "max_output"):
        if limit in entry:
            source = _supplement()["sources"][entry["source"]]
            sources[limit] = f"{source['url']} ({source['date']})"
    return Limits(
        model=model,
        context_window=window if documented is None else documented,
        max_input=entry.get("max_input"),
        max_output=entry.get("max_output"),
        sources=sources,
        warnings=("window_differs",) if None not in (documented, window) and documented != window else (),
    )


def _unknown(model: str) -> UnknownNameError:
    rows = price_table.bundled().rows
    listed = [f"{row.provider}/{row.model}" for row in rows] if "/" in model else [row.model for row in rows]
    advice = "no limits and no tokenizer are known for it; 'tokengap models' lists those that are"
    return unknown_name("model", model, [*models(), *_supplement()["models"], *listed], advice)


def documented_models() -> Iterable[str]:
    """The names in the supplement."""
    return _supplement()["models"]


@cache
def _supplement() -> Mapping[str, Mapping[str, Any]]:
    import json

    table: Mapping[str, Mapping[str, Any]] = json.loads(Path(__file__).with_name("model_limits.json").read_bytes())
    return table
