"""From a spec such as ``words:4/3`` or ``o200k_base`` to the counter it names.

A spec is a registered name, alone or followed by ``:`` and what its provider makes of the rest. A
provider is a callable ``spec -> Counter``, written ``module:attribute`` and imported on first use.
Other packages register theirs under the entry-point group ``tokengap.counters``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from typing import cast

from .counter import Counter
from .errors import TokengapError, unknown_name

ENTRY_POINTS = "tokengap.counters"
DEFAULT_COUNTER = "o200k_base"

Provider = Callable[[str], Counter]

_TIKTOKEN = "tokengap.tokenizers.tiktoken_encodings:from_spec"
_NAIVE = "tokengap.tokenizers.words:from_spec"
_BPE = "tokengap.tokenizers.bpe:from_spec"
_MODELS = "tokengap.tokenizers.models:from_spec"


@dataclass(frozen=True, slots=True)
class Listed:
    """A registered counter as it is listed: its name, how a spec is written, how good it is, what it is."""

    name: str
    form: str
    kind: str
    summary: str
    provider: str


BUILT_IN: Mapping[str, Listed] = {
    entry.name: entry
    for entry in (
        Listed("o200k_base", "o200k_base", "exact", "GPT-4o, GPT-4.1, GPT-5 and the o series", _TIKTOKEN),
        Listed("o200k_harmony", "o200k_harmony", "exact", "gpt-oss: o200k_base with more special tokens", _TIKTOKEN),
        Listed("cl100k_base", "cl100k_base", "exact", "GPT-4, GPT-3.5 Turbo, text-embedding-3", _TIKTOKEN),
        Listed("p50k_base", "p50k_base", "exact", "text-davinci-003 and Codex", _TIKTOKEN),
        Listed("p50k_edit", "p50k_edit", "exact", "the edit models: p50k_base with more special tokens", _TIKTOKEN),
        Listed("r50k_base", "r50k_base", "exact", "GPT-2 and GPT-3", _TIKTOKEN),
        Listed("gpt2", "gpt2", "exact", "another name of r50k_base", _TIKTOKEN),
        Listed("model", "model:NAME", "as its encoding", "the encoding a model uses", _MODELS),
        Listed("bpe", "bpe:PATH", "exact", "a tokenizer of your own, from 'tokengap bpe train'", _BPE),
        Listed("words", "words:FACTOR", "heuristic", "str.split() words x a decimal or fraction (default 1)", _NAIVE),
        Listed("chars", "chars:SIZE", "heuristic", "code points / a decimal or fraction (default 4)", _NAIVE),
        Listed("bytes", "bytes", "heuristic", "UTF-8 bytes, which no byte-level encoding exceeds", _NAIVE),
    )
}


@lru_cache(maxsize=256)  # bounded, since a server is asked for any spec; encodings are kept elsewhere
def get_counter(spec: str) -> Counter:
    """Return the counter a spec names.

    >>> get_counter("words:4/3").count("one two three").tokens
    4

    Raises UnknownNameError for a name nobody registered, TokengapError for one whose rest is wrong.
    """
    name = spec.partition(":")[0]
    entry = BUILT_IN.get(name) or plugins().get(name)
    if entry is None:
        known = [*BUILT_IN, *plugins()]
        raise unknown_name("counter", name, known, "'tokengap counters' lists them all")
    return _provider(entry.provider)(spec)


def listing() -> tuple[Listed, ...]:
    """Every counter, the built-in ones first."""
    return (*BUILT_IN.values(), *plugins().values())


@cache
def plugins() -> Mapping[str, Listed]:
    """The counters that other installed packages provide, by name.

    Raises TokengapError where two packages, or a package and tokengap, claim one name.
    """
    from importlib.metadata import entry_points

    found: dict[str, Listed] = {}
    for entry in entry_points(group=ENTRY_POINTS):
        package = entry.dist.name if entry.dist else entry.value
        if entry.name in BUILT_IN:
            raise TokengapError(f"{package} provides a counter {entry.name!r}, a name tokengap itself uses")
        if entry.name in found:
            raise TokengapError(
                f"the counter {entry.name!r} is provided by {package} and by another package: "
                f"{found[entry.name].provider}; uninstall one"
            )
        found[entry.name] = Listed(entry.name, entry.name, "as it says", f"provided by {package}", entry.value)
    return found


def _provider(value: str) -> Provider:
    module, _, attribute = value.partition(":")
    try:
        return cast(Provider, getattr(import_module(module), attribute))
    except (ImportError, AttributeError) as error:
        raise TokengapError(f"the counter provider {value} cannot be loaded: {error}") from error
