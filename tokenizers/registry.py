"""From a spec such as ``words:4/3`` or ``o200k_base`` to the counter it names.

A spec is a registered name, alone or followed by ``:`` and what its provider makes of the rest. A
provider is a callable ``spec -> Counter``, written ``module:attribute`` and imported on first use.
Other packages register theirs under the entry-point group ``tokengap.counters``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

from .counter import Counter
from .errors import TokengapError, unknown_name

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "tokengap.counters"
DEFAULT_COUNTER = "o200k_base"

Provider = Callable[[str], Counter]

_TIKTOKEN = "tokengap.tokenizers.tiktoken_encodings:from_spec"
_NAIVE = "tokengap.tokenizers.words:from_spec"
BUILT_IN: Mapping[str, str] = {
    "o200k_base": _TIKTOKEN,
    "o200k_harmony": _TIKTOKEN,
    "cl100k_base": _TIKTOKEN,
    "p50k_base": _TIKTOKEN,
    "p50k_edit": _TIKTOKEN,
    "r50k_base": _TIKTOKEN,
    "gpt2": _TIKTOKEN,
    "words": _NAIVE,
    "chars": _NAIVE,
    "bytes": _NAIVE,
    "model": "tokengap.tokenizers.models:from_spec",
}


@lru_cache(maxsize=256)  # bounded, since a server is asked for any spec; encodings are kept elsewhere
def get_counter(spec: str) -> Counter:
    """Return the counter a spec names.

    >>> get_counter("words:4/3").count("one two three").tokens
    4

    Raises UnknownNameError for a name nobody registered, TokengapError for one whose rest is wrong.
    """
    name = spec.partition(":")[0]
    value = BUILT_IN.get(name)
    if value is None:
        value = plugins().get(name)
    if value is None:
        known = [*BUILT_IN, *plugins()]
        raise unknown_name("counter", name, known, "'tokengap counters' lists them all")
    return _provider(value)(spec)


@cache
def plugins() -> Mapping[str, str]:
    """The counters other installed packages provide: name → ``module:attribute``.

    Raises TokengapError where two packages, or a package and tokengap, claim one name.
    """
    from importlib.metadata import entry_points

    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=ENTRY_POINTS):
        if entry.name in BUILT_IN:
            raise TokengapError(f"{_package(entry)} provides a counter {entry.name!r}, a name tokengap itself uses")
        if entry.name in found:
            both = f"{_package(found[entry.name])} and {_package(entry)}"
            raise TokengapError(f"{both} both provide a counter {entry.name!r}; uninstall one of them")
        found[entry.name] = entry
    return {name: entry.value for name, entry in found.items()}


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else entry.value


def _provider(value: str) -> Provider:
    module, _, attribute = value.partition(":")
    try:
        return cast(Provider, getattr(import_module(module), attribute))
    except (ImportError, AttributeError) as error:
        raise TokengapError(f"the counter provider {value} cannot be loaded: {error}") from error
