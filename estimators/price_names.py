"""From a model's name, as people and gateways write it, to the row of a price table.

The table's own clauses match by the beginning or a part of a name, so that a model nobody has priced
takes its relative's price. Here a match counts only where what it leaves over of the name is a
declared affix: a date, a version, a region, a provider.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..tokenizers.errors import UnknownNameError, unknown_name

if TYPE_CHECKING:
    from genai_prices.types import MatchLogic, ModelInfo, Provider

MAX_NAME = 256
"""Longest name looked up, in characters: the longest in the table has 85."""

ALIASES = {
    "amazon": "aws",
    "amazon-bedrock": "aws",
    "aws.bedrock": "aws",
    "aws_bedrock": "aws",
    "azure.ai.inference": "azure",
    "azure.ai.openai": "azure",
    "azure_ai": "azure",
    "azure_openai": "azure",
    "bedrock": "aws",
    "bedrock_converse": "aws",
    "cohere_chat": "cohere",
    "copilot": "github-copilot",
    "fireworks_ai": "fireworks",
    "gcp.gemini": "google",
    "gcp.gen_ai": "google",
    "gcp.vertex_ai": "google",
    "gemini": "google",
    "github_copilot": "github-copilot",
    "google-gla": "google",
    "google-vertex": "google",
    "google-vertex-ai": "google",
    "google_ai": "google",
    "mistral_ai": "mistral",
    "mistralai": "mistral",
    "moonshot": "moonshotai",
    "moonshot_ai": "moonshotai",
    "together-ai": "together",
    "together_ai": "together",
    "vertex": "google",
    "vertex_ai": "google",
    "voyage": "voyageai",
    "x_ai": "x-ai",
    "xai": "x-ai",
}
"""Other names of providers: the gateways' prefixes, and OpenTelemetry's gen_ai.provider.name.

Declared, because the table finds "openai" inside "azure.ai.openai" and gives the wrong provider."""

_MAKERS = ("openai", "anthropic", "google", "mistral", "cohere", "deepseek", "x-ai", "voyageai", "moonshotai")
"""Providers of their own models: a name without a provider is looked up there by its exact id."""

_PATH = re.compile(r"arn:aws[a-z-]*:bedrock:[^/]*/|(?:projects/[^/]+/locations/[^/]+/)?(?:publishers/[^/]+/)?models/")
_BEDROCK = re.compile(
    r"(?:(?:us|eu|apac|au|jp|ca|global|us-gov|regional)\.)?(?:ai21|amazon|anthropic|cohere|deepseek|meta|mistral|openai|qwen|writer)\.[a-z]"
)
_REGION = re.compile(r"(?:us|eu|global|[a-z]{2}(?:-gov)?-[a-z]+-[0-9])/")
_DAY, _MONTH, _YEAR = r"(?:0[1-9]|[12]\d|3[01])", r"(?:0[1-9]|1[0-2])", r"20\d{2}"
_DATE = (
    rf"{_YEAR}-{_MONTH}-{_DAY}|{_YEAR}{_MONTH}{_DAY}"
    rf"|{_MONTH}-(?:{_DAY}|{_YEAR})"  # Gemini's previews
    rf"|{_MONTH}{_DAY}|2\d{_MONTH}|00\d"  # OpenAI's and Mistral's dates, Gemini's versions
)
_VERSION = r"v[12](?::[0-2])?|0|latest|preview|exp|experimental|beta|stable"  # the first are Bedrock's
_DATE_OR_VERSION = re.compile(rf"(?:[-@:._](?:{_DATE}|{_VERSION}))*", re.ASCII)
_DATED_END = re.compile(rf"[-@](?:{_DATE})(?::.*)?\Z", re.ASCII)
_BEFORE = re.compile(r"(?:(?:us|eu|apac|au|jp|ca|global|us-gov)\.)?(?:[a-z0-9-]+[./])?", re.ASCII)
_OPEN_DATE = re.compile(r"(?:[-@](?:20\d\d-?)?)?", re.ASCII)
_COMPACT_DATE = re.compile(r"-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=[-:]|\Z)", re.ASCII)


@dataclass(frozen=True, eq=False)
class Found:
    """A row of a price table; ``info`` is ``None`` for a model known to have a price that the table lacks.

    ``borrowed``: the row is another provider's, since this one publishes none.
    """

    provider: str
    model: str
    info: ModelInfo | None
    borrowed: bool = False
    warnings: tuple[str, ...] = ()


def canonical(provider: str) -> str:
    """The table's name of a provider, or the given one in lower case."""
    name = provider.strip().lower()
    return ALIASES.get(name, name)


def clean(model: str) -> str:
    """A model's name without what does not change the model: case, space around it, a resource path."""
    name = model.strip().lower()
    if not name or len(name) > MAX_NAME or not name.isprintable():
        problem = (
            f"bad model name {model[:40]!r}: 1 to {MAX_NAME} printable characters are needed, such as openai/gpt-4o"
        )
        raise UnknownNameError(f"{problem}; no price is known for it", model[:MAX_NAME])
    path = _PATH.match(name)
    return name[path.end() if path else 0 :].removesuffix("@default")


def find(providers: Sequence[Provider], model: str, provider: str | None) -> Found:
    """Find the row of ``model``, at ``provider`` or at the one its name tells.

    Raises UnknownNameError, with the nearest names, for a provider or model the table does not have.
    """
    by_id = {entry.id: entry for entry in providers}
    name = clean(model)
    where = canonical(provider) if provider else None
    if where == "litellm":
        where = None
    if where and where not in by_id:
        advice = "give one of these, or leave it out; 'tokengap prices' lists them"
        raise unknown_name("provider", provider or "", [*by_id, *ALIASES], advice)
    for place, rest in _candidates(providers, by_id, name, where):
        if found := _at(providers, place, rest):
            return found
    for place, rest in _candidates(providers, by_id, name, where):
        if found := _kin(providers, place, rest):
            return found
    raise unknown_model(providers, model, name, where)


def unknown_model(providers: Iterable[Provider], model: str, name: str, where: str | None) -> UnknownNameError:
    """The error for a model the table does not have."""
    rows = [(entry.id, info.id) for entry in providers if where in (None, entry.id) for info in entry.models]
    if elsewhere := [f"{place}/{id}" for place, id in rows if id.lower() == name]:
        several = " or ".join(elsewhere[:5])
        message = f"unknown model {model[:MAX_NAME]!r}: who serves it is not told by its name; did you mean {several}?"
        return UnknownNameError(message, model, elsewhere[:5])
    if where and (misplaced := _elsewhere(providers, model, name, where)):
        return misplaced
    bare = [id for place, id in rows if place in _MAKERS or where]
    known = bare if bare and (where or "/" not in name) else [f"{place}/{id}" for place, id in rows]
    error = unknown_name("model", name, known, "no price is known for it; give one with --price '3 USD'")
    return UnknownNameError(str(error).replace(repr(name), repr(model[:MAX_NAME]), 1), model, error.suggestions)


def _elsewhere(providers: Iterable[Provider], model: str, name: str, where: str) -> UnknownNameError | None:
    """The error for a model that ``where`` does not have, but others do, or whose name tells another provider."""
    prefix, slash, rest = name.partition("/")
    ids = {entry.id for entry in providers}
    told = canonical(prefix) if slash and canonical(prefix) in ids else None
    name = rest if told else name
    has = [f"{entry.id}/{name}" for entry in providers if any(info.id.lower() == name for info in entry.models)]
    problem = f"unknown model {model[:MAX_NAME]!r} at provider {where!r}"
    if told and told != where:
        message = f"{problem}: its name says {told!r}; leave out the one or the other"
    elif has:
        message = f"{problem}: did you mean {' or '.join(has[:3])}? Give its provider, or none"
    else:
        return None
    return UnknownNameError(message, model, has[:5])


def _candidates(
    providers: Sequence[Provider], by_id: dict[str, Provider], name: str, where: str | None
) -> list[tuple[Provider, str]]:
    """The places where a name may be priced, and its name there, likeliest first."""
    prefix, slash, rest = name.partition("/")
    prefixed = by_id.get(canonical(prefix)) if slash else None
    if where:
        own = [(by_id[where], name)]
        return [*own, (prefixed, rest)] if prefixed and prefixed.id == where else own
    if prefixed:
        return [(prefixed, rest), (prefixed, name)]
    if _BEDROCK.match(name):
        return [(by_id["aws"], name)] if "aws" in by_id else []
    if name.startswith("ft:"):
        return [(by_id["openai"], name)] if "openai" in by_id else []
    told = [(entry, name) for entry in providers if entry.model_match and entry.model_match.is_match(name)]
    dated = _dashed(name)
    exact = [
        (by_id[maker], form)
        for maker in _MAKERS
        if maker in by_id
        for form in {name, dated}
        if any(info.id == form for info in by_id[maker].models)
    ]
    # Named by two makers, it is neither's for sure.
    return [*told[:1], *(exact if len(exact) == 1 else [])]


def _at(providers: Sequence[Provider], place: Provider, name: str) -> Found | None:
    for form in forms(name):
        # An exact id goes before a clause of an earlier row that matches a part of it.
        info: ModelInfo | None = next((row for row in place.models if row.id.lower() == form), None)
        if info is None:
            info = place.find_model(form, all_providers=list(providers))
            if info is None or not (_affixed(form, info.id.lower()) or _declared(form, info.match)):
                continue
        borrowed = not any(row is info for row in place.models)
        return Found(place.id, info.id, info, borrowed)
    return None


def _kin(providers: Sequence[Provider], place: Provider, name: str) -> Found | None:
    """A model whose kin is priced, but not it: a fine-tune of a base, a region of a provider."""
    if name.startswith("ft:") and (base := _at(providers, place, name.split(":")[1])):
        return Found(
            place.id,
            name,
            None,
            warnings=(
                f"fine_tune_unpriced: a fine-tune is priced apart from its base {base.model}, and not in the table",
            ),
        )
    if (region := _REGION.match(name)) and (base := _at(providers, place, name[region.end() :])):
        return Found(
            place.id,
            name,
            None,
            warnings=(
                f"region_unpriced: the table has {place.id}/{base.model}, but not its price in {region[0][:-1]!r}; "
                'give it in a price file, such as multiplier = "1.1"',
            ),
        )
    return None


def _dashed(name: str) -> str:
    """Write a compact date as the table does: gpt-5.2-20251211 is gpt-5.2-2025-12-11."""
    return _COMPACT_DATE.sub(r"-\1-\2-\3", name)


def forms(name: str) -> tuple[str, ...]:
    """The ways to write the date in a name, the given one first."""
    return tuple(dict.fromkeys((name, _dashed(name))))


def _ends_dated(name: str, at: int) -> bool:
    """Whether the rest of a name from ``at`` on is a date, of which its dash and year may stand before."""
    date = _DATED_END.search(name)
    return date is not None and date.start() <= at and bool(_OPEN_DATE.fullmatch(name, date.start(), at))


def _affixed(name: str, id: str) -> bool:
    return name.startswith(id) and bool(_DATE_OR_VERSION.fullmatch(name[len(id) :]))


def _declared(name: str, match: MatchLogic) -> bool:
    """Whether a clause names this model, and not just a part of its name."""
    from genai_prices import types

    if isinstance(match, types.ClauseOr):
        return any(_declared(name, clause) for clause in match.or_)
    if not match.is_match(name):
        return False
    if isinstance(match, types.ClauseAnd):
        # Beside the part that it names, such a clause has patterns of what the name must not have.
        named = [clause for clause in match.and_ if not isinstance(clause, types.ClauseRegex)]
        return any(_declared(name, clause) for clause in named or match.and_)
    before, after = "", ""  # equals is the whole name
    if isinstance(match, types.ClauseStartsWith):
        after = name[len(match.starts_with) :]
        if name.startswith("ft:"):
            after = after.partition(":")[0]  # whose fine-tune it is
        if _ends_dated(match.starts_with + after, len(match.starts_with)):
            return True
    elif isinstance(match, types.ClauseRegex):
        span = re.search(match.regex, name)
        rest = name[span.end() :] if span else name
        return not rest or _ends_dated(name, len(name) - len(rest))
    elif isinstance(match, types.ClauseEndsWith):
        before = name[: -len(match.ends_with)]
    elif isinstance(match, types.ClauseContains):
        before, _, after = name.partition(match.contains.lower())
    return bool(_BEFORE.fullmatch(before) and _DATE_OR_VERSION.fullmatch(after))
