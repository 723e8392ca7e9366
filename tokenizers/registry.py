"""From a spec such as ``words:4/3`` or ``o200k_base`` to the counter it names.

A spec is a registered name, alone or followed by ``:`` and what its provider makes of the rest. A
provider is a callable ``spec -> Counter``, written ``module:attribute`` and imported on first use.
Other packages register theirs under the entry-point group ``tokengap.counters``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib import import_module
from typing import NamedTuple, cast

from .counter import Count, Counter
from .errors import TokengapError, UnknownNameError, unknown_name

ENTRY_POINTS = "tokengap.counters"
DEFAULT_COUNTER = "o200k_base"

REJECTED = "rejected"

Provider = Callable[[str], Counter]

_ENCODINGS = "tokengap.tokenizers.encoding_counter:from_spec"
_NAIVE = "tokengap.tokenizers.words:from_spec"
_BPE = "tokengap.tokenizers.bpe:from_spec"
_MODELS = "tokengap.tokenizers.models:from_spec"


class Listed(NamedTuple):
    """A registered counter as it is listed: its name, how a spec is written, how good it is, what it is."""

    name: str
    form: str
    kind: str
    summary: str
    provider: str


BUILT_IN: Mapping[str, Listed] = {
    entry.name: entry
    for entry in (
        Listed("o200k_base", "o200k_base", "exact", "GPT-4o, GPT-4.1, GPT-5 and the o series", _ENCODINGS),
        Listed("o200k_harmony", "o200k_harmony", "exact", "gpt-oss: o200k_base with more special tokens", _ENCODINGS),
        Listed("cl100k_base", "cl100k_base", "exact", "GPT-4, GPT-3.5 Turbo, text-embedding-3", _ENCODINGS),
        Listed("p50k_base", "p50k_base", "exact", "text-davinci-003 and Codex", _ENCODINGS),
        Listed("p50k_edit", "p50k_edit", "exact", "the edit models: p50k_base with more special tokens", _ENCODINGS),
        Listed("r50k_base", "r50k_base", "exact", "GPT-2 and GPT-3", _ENCODINGS),
        Listed("gpt2", "gpt2", "exact", "another name of r50k_base", _ENCODINGS),
        Listed("model", "model:NAME", "as its encoding", "the encoding a model uses", _MODELS),
        Listed("bpe", "bpe:PATH", "exact", "a tokenizer of your own, from 'tokengap bpe train'", _BPE),
        Listed("words", "words:FACTOR", "heuristic", "str.split() words x a decimal or fraction (default 1)", _NAIVE),
        Listed("chars", "chars:SIZE", "heuristic", "code points / a decimal or fraction (default 4)", _NAIVE),
        Listed("bytes", "bytes", "heuristic", "UTF-8 bytes, which no byte-level encoding exceeds", _NAIVE),
    )
}


def get_counter(spec: str) -> Counter:
    """Return the counter a spec names.

    >>> get_counter("words:4/3").count("one two three").tokens
    4

    Raises UnknownNameError for a name nobody registered, TokengapError for one whose rest is wrong.
    """
    name, _, argument = spec.partition(":")
    return _build(spec, _version(argument) if name == "bpe" else None)


def _version(path: str) -> tuple[int, int] | None:
    """Tells an artefact that was written anew from the one that is kept."""
    try:
        state = os.stat(path)
    except (OSError, ValueError):
        return None
    return state.st_mtime_ns, state.st_size


@lru_cache(maxsize=256)  # bounded, since a server is asked for any spec; encodings are kept elsewhere
def _build(spec: str, version: tuple[int, int] | None) -> Counter:
    name = spec.partition(":")[0]
    if name in BUILT_IN:
        return _provider(BUILT_IN[name].provider)(spec)
    found = plugins()
    if name not in found:
        from .models import known_model

        if known_model(spec) is not None:  # the tokenizer of a model has a name of its own
            message = (
                f"unknown counter {spec[:80]!r}: did you mean model:{spec[:80]}? 'tokengap counters' lists them all"
            )
            raise UnknownNameError(message, spec, [f"model:{spec}"])
        raise unknown_name("counter", name, [*BUILT_IN, *found], "'tokengap counters' lists them all")
    if found[name].kind == REJECTED:
        raise TokengapError(f"the counter {name!r} is not used: {found[name].summary}")
    return PluginCounter(spec, found[name])


class PluginCounter:
    """Another package's counter, held to the contract: what it gets wrong is one clear error."""

    def __init__(self, spec: str, entry: Listed) -> None:
        self.name = spec
        self._whose = f"the counter {spec[:80]!r} ({entry.summary})"
        counter = self._attempt(lambda: _provider(entry.provider)(spec))
        if not isinstance(counter, Counter):
            raise TokengapError(f"{self._whose} is no counter but {type(counter).__name__}")
        self._counter = counter

    def count(self, text: str) -> Count:
        count = self._attempt(lambda: self._counter.count(text))
        if not isinstance(count, Count):
            raise TokengapError(f"{self._whose} gave no Count but {type(count).__name__}")
        return count

    def _attempt(self, call: Callable[[], object]) -> object:
        try:
            return call()
        except TokengapError:
            raise
        except Exception as error:
            raise TokengapError(f"{self._whose} failed: {type(error).__name__}: {error}") from error


def listing() -> tuple[Listed, ...]:
    """Every counter, the built-in ones first; a plug-in whose name is taken is listed as rejected."""
    return (*BUILT_IN.values(), *plugins().values())


@cache
def plugins() -> Mapping[str, Listed]:
    """The counters that other installed packages provide, by name.

    A name that tokengap itself uses, or that two packages claim, is rejected: nobody could tell whose
    count it is.
    """
    from importlib.metadata import entry_points

    found: dict[str, Listed] = {}
    for entry in entry_points(group=ENTRY_POINTS):
        package = entry.dist.name if entry.dist else entry.value
        kind, summary = "as it says", f"provided by {package}"
        if entry.name in BUILT_IN:
            kind, summary = REJECTED, f"{package} claims a name that tokengap itself uses"
        elif entry.name in found:
            both = f"{found[entry.name].summary} and by {package}"
            kind, summary = REJECTED, f"{both.removeprefix('provided by ')} both provide it; uninstall one"
        found[entry.name] = Listed(entry.name, entry.name, kind, summary, entry.value)
    return found


def _provider(value: str) -> Provider:
    module, _, attribute = value.partition(":")
    try:
        return cast(Provider, getattr(import_module(module), attribute))
    except (ImportError, AttributeError) as error:
        raise TokengapError(f"the counter provider {value} cannot be loaded: {error}") from error
