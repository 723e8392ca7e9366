"""Usage objects as providers report them, with each provider's meaning of cached and reasoning tokens.

- OpenAI (chat, responses), and who copies it: cached tokens are inside the input, reasoning inside the output.
- Anthropic: cache reads and writes are beside the input, thinking inside the output.
- Gemini: cached tokens are inside the prompt, tool-use prompts beside it, thoughts beside the candidates.
- xAI's chat completions: reasoning is beside the completion, as its total shows.

Sources: the providers' API references and genai-prices 0.2.3's extractors, read 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..tokenizers.errors import TokengapError
from .fields import describe, join, members, snake_case
from .response_calls import Calls, billed_calls
from .usage import UNITS, Usage, check_count, shown, usage_from_counts
from .usage_places import in_words_of

FORMATS = ("openai-chat", "openai-responses", "anthropic", "gemini", "tokengap")
"""The shapes understood; "tokengap" is our own, the fields of Usage."""

_STANDARD_TIERS = frozenset(("", "auto", "default", "standard", "standard_only", "on_demand"))
_TIERS = ("service_tier", "serviceTier", "trafficType", "traffic_type")
_NOT_BILLED = re.compile(r"time|cost|latency|speed|per_second|is_byok|ttft|duration", re.IGNORECASE)


class Served(NamedTuple):
    """How a call was served: the variant, the words that say so and where, and the variants they rule out.

    A variant that is not known is kept, and refused when it is priced.
    """

    variant: str | None = None
    tier: str | None = None
    path: str = ""
    excluded: frozenset[str] = frozenset()


_STANDARD = Served()


@dataclass(frozen=True, slots=True)
class ReportedUsage:
    """A provider's report: the usage, and what it says of the call."""

    usage: Usage
    format: str
    model: str | None = None
    provider: str | None = None
    served: Served = _STANDARD
    warnings: tuple[str, ...] = ()

    @property
    def variant(self) -> str | None:
        """How the call was served; ``None`` for the standard way."""
        return self.served.variant


def read_usage(report: object, format: str | None = None, provider: str | None = None) -> ReportedUsage:
    """Read a usage object, or the whole response that has one.

    >>> read_usage({"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23}).format
    'openai-chat'

    ``format`` is one of FORMATS, by default told by its keys. Raises TokengapError, naming the path,
    for a count that is not one, contradicts another, or is not known and so may be billed.
    """
    if not isinstance(report, Mapping):
        raise TokengapError(f"bad usage: an object is needed, not {describe(report)}")
    if not isinstance(provider, str | None):
        raise TokengapError(f"the name of a provider is a str, not {provider!r:.40}")
    body, path = _body(report)
    format = _tell(body, path) if format is None else format
    if not isinstance(format, str) or format not in FORMATS:
        raise TokengapError(f"unknown usage format {str(format)[:40]!r}: it is one of {', '.join(FORMATS)}")
    model = next((report[key] for key in ("model", "modelVersion", "model_version") if report.get(key)), None)
    if model is not None and not isinstance(model, str):
        raise TokengapError(f"bad usage: model is {shown(model)}, not a name")
    reader = _Reader(body, path)
    says_xai = (provider or "").lower() in ("x-ai", "xai", "x_ai") or "grok" in (model or "").lower()
    counts = _READERS[format](reader, says_xai)
    served = _served(reader, report)
    geo = reader.word("inference_geo")
    calls = billed_calls(report) if body is not report else Calls(0, ())
    counts["web_searches"] = (counts.get("web_searches") or 0) + calls.web_searches
    warnings = [*reader.warnings, *calls.warnings, *reader.leftover()]
    if geo not in (None, "", "global", "not_available"):
        warnings.append(f"regional_price: the call ran in {geo!r}, whose uplift the table does not have")
    return ReportedUsage(_usage(counts, reader, format), format, model, provider, served, tuple(warnings))


def _usage(counts: Mapping[str, object], reader: _Reader, format: str) -> Usage:
    try:
        return usage_from_counts(counts)
    except TokengapError as error:
        raise TokengapError(in_words_of(str(error), reader.body, reader.path, format)) from None


def _body(report: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    for key in ("usage", "usageMetadata", "usage_metadata"):
        if key in report:
            if not isinstance(report[key], Mapping):
                raise TokengapError(f"bad usage: {key} is {shown(report[key])}, not an object")
            return report[key], key
    return report, "usage"


def _tell(body: Mapping[str, Any], path: str) -> str:
    """The format of a usage object by its keys."""
    keys = body.keys()
    found = []
    if keys & {"prompt_tokens", "completion_tokens"}:
        found.append("openai-chat")
    if keys & {"promptTokenCount", "prompt_token_count", "candidatesTokenCount", "candidates_token_count"}:
        found.append("gemini")
    if keys & {"input_tokens", "output_tokens"}:
        anthropic = keys & {
            "cache_creation_input_tokens",
            "cache_read_input_tokens",
            "cache_creation",
            "server_tool_use",
        }
        details = body.get("output_tokens_details")
        anthropic |= {"thinking_tokens"} & details.keys() if isinstance(details, Mapping) else set()
        openai = keys & {"input_tokens_details", "input_token_details", "output_token_details", "total_tokens"}
        found += ["anthropic"] if anthropic else []
        # Without either's own keys there is no cache, and the two mean the same.
        found += ["openai-responses"] if openai or not anthropic else []
    if keys & {"input", "output"}:
        found.append("tokengap")
    if len(found) != 1:
        has = f"has {', '.join(sorted(map(str, keys))[:5])}" if keys else "is empty"
        seen = f"looks like {' and '.join(found)}" if found else f"{has}: that is nobody's usage object"
        raise TokengapError(f"bad usage: {path} {seen}; say which of {', '.join(FORMATS)} it is")
    return found[0]


class _Reader:
    """Reads counts from an object, and knows which of its keys were read."""

    def __init__(self, body: Mapping[str, Any], path: str, warnings: list[str] | None = None) -> None:
        self.body, self.path = body, path
        self.read: set[str] = set()
        self.inner: list[_Reader] = []
        self.warnings: list[str] = [] if warnings is None else warnings

    def count(self, *names: str) -> int:
        """The count under the first of these names that is there, else 0."""
        return self.maybe(*names) or 0

    def maybe(self, *names: str) -> int | None:
        self.read.update(names)
        for name in names:
            value = self.body.get(name)
            if value is not None:
                if isinstance(value, float) and value.is_integer():
                    value = int(value)
                return check_count(value, f"{self.path}.{name}")
        return None

    def needed(self, *names: str) -> int:
        value = self.maybe(*names)
        if value is None:
            raise TokengapError(f"bad usage: {self.path}.{names[0]} is missing")
        return value

    def output(self, *names: str) -> int:
        """The count of what was received; where it is missing and no total tells, 0 with a warning."""
        value = self.maybe(*names)
        if value is None and not self.body.keys() & {"total_tokens", "totalTokenCount", "total_token_count"}:
            self.warnings.append(f"no_output: {self.path}.{names[0]} is missing, and was taken to be 0")
        return value or 0

    def at(self, *names: str) -> str:
        """The path of the first of these names that is there."""
        return f"{self.path}.{next((name for name in names if self.body.get(name) is not None), names[0])}"

    def word(self, *names: str) -> str | None:
        self.read.update(names)
        return next((value for name in names if isinstance(value := self.body.get(name), str)), None)

    def tier(self) -> tuple[str, str | None]:
        """The service tier, and where it is."""
        self.read.update(_TIERS)
        for name in _TIERS:
            value = self.body.get(name)
            if value is None:
                continue
            where = f"{self.path}.{name}".lstrip(".")
            if not isinstance(value, str):
                raise TokengapError(f"bad usage: {where} is {shown(value)}, not the name of a service tier")
            return where, value
        return "", None

    def part(self, *names: str) -> _Reader:
        """The object under one of these names, or an empty one."""
        self.read.update(names)
        for name in names:
            value = self.body.get(name)
            if value is not None:
                if not isinstance(value, Mapping):
                    raise TokengapError(f"bad usage: {self.path}.{name} is {shown(value)}, not an object")
                self.inner.append(_Reader(value, f"{self.path}.{name}", self.warnings))
                return self.inner[-1]
        return _Reader({}, f"{self.path}.{names[0]}")

    def modalities(self, *names: str) -> dict[str, int] | None:
        """Gemini's list of tokens by modality; ``None`` where it is absent."""
        self.read.update(names)
        for name in names:
            rows = self.body.get(name)
            if rows is None:
                continue
            if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
                raise TokengapError(f"bad usage: {self.path}.{name} is not a list of objects")
            sums: dict[str, int] = {}
            for index, row in enumerate(rows):
                count = _Reader(row, f"{self.path}.{name}[{index}]").count("tokenCount", "token_count")
                kind = str(row.get("modality", "")).lower()
                kind = {"document": "image"}.get(kind, kind)
                if kind not in ("text", "audio", "image", "video", "modality_unspecified"):
                    raise TokengapError(f"bad usage: {self.path}.{name}[{index}].modality {kind!r:.40} is not known")
                sums[kind] = sums.get(kind, 0) + count
            return sums
        return None

    def leftover(self) -> Iterable[str]:
        """Warn of keys that were not read; a count among them is an error, since it may be billed."""
        for key, value in self.body.items():
            if key in self.read or not value:
                continue
            if count := _unknown_count(value, join(self.path, str(key))):
                raise TokengapError(
                    f"bad usage: {count} is a count that is not known here, and may be billed; "
                    "leave it out to price the rest"
                )
            yield f"not_read: {join(self.path, str(key))}"
        for inner in self.inner:
            yield from inner.leftover()


def _unknown_count(value: object, path: str) -> str | None:
    """The path of a count above 0, in an object that is not read as well; ``None`` where there is none."""
    todo = [(value, path)]
    while todo:
        item, where = todo.pop()
        if _NOT_BILLED.search(where.rpartition(".")[2]):
            continue
        if isinstance(item, int | float) and not isinstance(item, bool) and item:
            return where
        todo.extend(reversed(members(item, where)))
    return None


def _openai(reader: _Reader, says_xai: bool, names: tuple[str, str], details: tuple[str, ...]) -> dict[str, int | None]:
    input, output = reader.needed(names[0]), reader.output(names[1])
    sent = reader.part(*(f"{names[0]}{end}" for end in details), *(f"{names[0][:-1]}{end}" for end in details))
    got = reader.part(*(f"{names[1]}{end}" for end in details), *(f"{names[1][:-1]}{end}" for end in details))
    cached = sent.maybe("cached_tokens")
    kinds = sent.part("cached_tokens_details")
    hit, miss = reader.maybe("prompt_cache_hit_tokens"), reader.maybe("prompt_cache_miss_tokens")  # DeepSeek's
    if hit is not None and (cached not in (None, hit) or (miss is not None and hit + miss != input)):
        raise TokengapError(f"contradictory usage: {reader.path}.prompt_cache_hit_tokens does not fit the other counts")
    cached = cached if cached is not None else hit or 0
    outer = reader.maybe("cached_tokens")  # Moonshot's
    if outer is not None and cached not in (0, outer):
        raise TokengapError(f"contradictory usage: {reader.path}.cached_tokens is {outer}, its details say {cached}")
    cached = cached or outer or 0
    reasoning, answer = got.count("reasoning_tokens"), output
    output = _with_reasoning(reader, input, output, reasoning, says_xai)
    _check_kinds(sent, {input})
    _check_kinds(got, {answer, output, answer - reasoning})
    _check_kinds(kinds, {cached})
    # Predicted tokens are inside the output, billed as it.
    predicted = got.count("accepted_prediction_tokens") + got.count("rejected_prediction_tokens")
    if predicted > output:
        raise TokengapError(f"contradictory usage: {got.path}: {predicted} tokens were predicted, of {output}")
    known = bool(kinds.body)
    return {
        "input": input,
        "output": output,
        "cache_read": cached,
        "cache_write": sent.count("cache_write_tokens"),
        "reasoning": reasoning,
        "input_audio": sent.count("audio_tokens"),
        "input_image": sent.count("image_tokens"),
        "output_audio": got.count("audio_tokens"),
        "output_image": got.count("image_tokens"),
        "cache_read_audio": kinds.count("audio_tokens") if known else None,
        "cache_read_image": kinds.count("image_tokens") if known else None,
    }


def _check_kinds(part: _Reader, wholes: set[int]) -> None:
    """Refuse tokens by kind that do not add up to what they are the kinds of, where text is one of them."""
    text = part.count("text_tokens")
    total = text + sum(part.count(f"{kind}_tokens") for kind in ("audio", "image"))
    if text and total not in wholes:
        whole = " or ".join(map(str, sorted(wholes)))
        raise TokengapError(f"contradictory usage: {part.path}: text, audio and image are {total} tokens, of {whole}")


def _with_reasoning(reader: _Reader, input: int, output: int, reasoning: int, says_xai: bool) -> int:
    """The whole output: the total tells whether reasoning is inside it."""
    total = reader.maybe("total_tokens")
    if total is None:
        beside = says_xai and reasoning > 0
    elif total == input + output:
        beside = False
    elif reasoning and total == input + output + reasoning:
        beside = True
    else:
        raise TokengapError(
            f"contradictory usage: {reader.path}.total_tokens is {total}, but input and output are {input} and {output}"
        )
    if beside:
        reader.warnings.append(
            "reasoning_beside_output: reasoning tokens were added to the output, as the total has them"
        )
    return output + reasoning if beside else output


def _openai_chat(reader: _Reader, says_xai: bool) -> dict[str, int | None]:
    return _openai(reader, says_xai, ("prompt_tokens", "completion_tokens"), ("_details",))


def _openai_responses(reader: _Reader, says_xai: bool) -> dict[str, int | None]:
    # xAI's responses, unlike its chat completions, have reasoning inside the output.
    return _openai(reader, False, ("input_tokens", "output_tokens"), ("_details",))


def _anthropic(reader: _Reader, says_xai: bool) -> dict[str, int | None]:
    read = reader.count("cache_read_input_tokens")
    created = reader.maybe("cache_creation_input_tokens")
    parts = reader.part("cache_creation")
    short, long = parts.count("ephemeral_5m_input_tokens"), parts.count("ephemeral_1h_input_tokens")
    written = short + long if created is None else created
    if parts.body and short + long != written:
        raise TokengapError(
            f"contradictory usage: {parts.path} adds up to {short + long}, "
            f"but {reader.path}.cache_creation_input_tokens is {written}"
        )
    tools = reader.part("server_tool_use")
    tools.count("web_fetch_requests")  # costs nothing beyond its tokens
    return {
        "input": reader.needed("input_tokens") + read + written,
        "output": reader.output("output_tokens"),
        "cache_read": read,
        "cache_write": written,
        "cache_write_1h": long,
        "reasoning": reader.part("output_tokens_details").count("thinking_tokens"),
        "web_searches": tools.count("web_search_requests"),
    }


def _gemini(reader: _Reader, says_xai: bool) -> dict[str, int | None]:
    prompt = reader.needed("promptTokenCount", "prompt_token_count")
    tool = reader.count("toolUsePromptTokenCount", "tool_use_prompt_token_count")
    candidates = reader.output("candidatesTokenCount", "candidates_token_count", "responseTokenCount")
    thoughts = reader.count("thoughtsTokenCount", "thoughts_token_count")
    total = reader.maybe("totalTokenCount", "total_token_count")
    if total is not None and total != prompt + tool + candidates + thoughts:
        raise TokengapError(
            f"contradictory usage: {reader.at('totalTokenCount', 'total_token_count')} is {total}, "
            f"but its parts add up to {prompt + tool + candidates + thoughts}"
        )
    cached = reader.count("cachedContentTokenCount", "cached_content_token_count")
    sent = reader.modalities("promptTokensDetails", "prompt_tokens_details") or {}
    tools = reader.modalities("toolUsePromptTokensDetails", "tool_use_prompt_tokens_details") or {}
    got = reader.modalities("candidatesTokensDetails", "candidates_tokens_details") or {}
    kinds = reader.modalities("cacheTokensDetails", "cache_tokens_details")
    counts: dict[str, int | None] = {
        "input": prompt + tool,
        "output": candidates + thoughts,
        "cache_read": cached,
        "reasoning": thoughts,
    }
    for where, rows, whole in (
        ("promptTokensDetails", sent, prompt),
        ("toolUsePromptTokensDetails", tools, tool),
        ("candidatesTokensDetails", got, candidates + thoughts),
        ("cacheTokensDetails", kinds or {}, cached),
    ):
        if (total := sum(rows.values())) > whole:
            place = reader.at(where, snake_case(where))
            raise TokengapError(f"contradictory usage: {place} add up to {total} tokens, more than {whole}")
    for kind in ("audio", "image", "video"):
        counts[f"input_{kind}"] = sent.get(kind, 0) + tools.get(kind, 0)
        counts[f"output_{kind}"] = got.get(kind, 0)
        counts[f"cache_read_{kind}"] = None if kinds is None else kinds.get(kind, 0)
    return counts


def _own(reader: _Reader, says_xai: bool) -> dict[str, int | None]:
    return {name: reader.maybe(name) for name in UNITS}


_READERS: Mapping[str, Callable[[_Reader, bool], dict[str, int | None]]] = {
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "tokengap": _own,
}


def _served(reader: _Reader, report: Mapping[str, Any]) -> Served:
    """How the call was served, by the usage object or else by the response around it."""
    path, tier = reader.tier()
    if tier is None and reader.body is not report:
        path, tier = _Reader(report, "").tier()
    speed, name = reader.word("speed"), (tier or "").lower()
    variant = None if name in _STANDARD_TIERS else name.removeprefix("on_demand_")
    if speed == "fast":
        if variant is not None:
            raise TokengapError(f"bad usage: {path} {tier!r:.42} and {reader.path}.speed 'fast' do not combine")
        return Served("fast", "fast", f"{reader.path}.speed")
    # OpenAI calls the tier of a batch's answers "default"; Anthropic, which says "standard", has "batch".
    excluded = {"fast"} if speed == "standard" else set()
    excluded |= {"flex", "priority"} if variant is None and name not in ("", "auto") else set()
    excluded |= {"batch"} if name.startswith("standard") else set()
    return Served(variant, tier, path, frozenset(excluded))
