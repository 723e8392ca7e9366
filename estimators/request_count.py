"""How many tokens a whole request is: its texts, and all that the provider adds to them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TypeAlias

from ..tokenizers.counter import Counter, Kind, weakest
from ..tokenizers.errors import TokengapError, UnknownNameError
from ..tokenizers.models import Model, find_model, is_own
from ..tokenizers.registry import get_counter
from ..tokenizers.text import measure
from .declarations import declare
from .fields import NotCounted
from .framing import MessageRule, Rule, ToolRule, find_rule, rules
from .images import Image, image_tokens
from .messages import Message
from .request import Request, ResponseSchema, read_request

Tokens: TypeAlias = "int | Fraction"
"""Fractions are of rules of thumb alone: with thousands of messages their sums take as long as the tokenizer."""

_SYSTEM = frozenset({"system", "developer"})
_UNKNOWN = Model("", "", published=False, family="")
_STAND_INS = {"cl100k_base": "gpt-4", "o200k_base": "gpt-4o", "o200k_harmony": "gpt-oss-120b"}
"""Where only an encoding is named, the chat model whose frame is taken."""

_UNMEASURED_CHOICE = 9  # what a named function of two tokens costs: more than a bare "required" can


@dataclass(frozen=True, slots=True)
class PartCount:
    """The tokens of one part of a request, how good they are, and the rule they follow."""

    tokens: int
    kind: Kind
    interval: tuple[int, int] | None
    rule: Rule | None

    def to_dict(self) -> dict[str, object]:
        return {
            "tokens": self.tokens,
            "kind": self.kind,
            "interval": list(self.interval) if self.interval else None,
            "rule": self.rule.to_dict() if self.rule else None,
        }


@dataclass(frozen=True, slots=True)
class RequestCount:
    """How many input tokens a request is.

    ``text_tokens`` are the request's own texts, ``framing_tokens`` all the rest: what stands around messages,
    tools as the model is shown them, images. ``parts`` is the same total by what it is for. ``kind`` is that of
    the weakest part; ``interval`` the sum of the parts', None where the count is exact or a part has none.
    ``rule`` is that of the messages. ``not_counted`` are the paths of what may be in the prompt and is not in
    the count. ``texts`` are what the text tokens were counted of, and ``words``, ``chars`` and ``bytes`` measure
    them. A rule of thumb counts the texts alone, and ``estimate`` is its exact value.
    """

    tokens: int
    text_tokens: int
    framing_tokens: int
    kind: Kind
    interval: tuple[int, int] | None
    model: str | None
    tokenizer: str
    fingerprint: str
    rule: Rule | None
    not_counted: tuple[str, ...]
    parts: Mapping[str, PartCount]
    texts: tuple[str, ...]
    words: int
    chars: int
    bytes: int
    estimate: Fraction | None
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        return {
            "tokens": self.tokens,
            "text_tokens": self.text_tokens,
            "framing_tokens": self.framing_tokens,
            "kind": self.kind,
            "interval": list(self.interval) if self.interval else None,
            "model": self.model,
            "tokenizer": self.tokenizer,
            "fingerprint": self.fingerprint,
            "rule": self.rule.to_dict() if self.rule else None,
            "not_counted": list(self.not_counted),
            "parts": {name: part.to_dict() for name, part in self.parts.items()},
            "words": self.words,
            "chars": self.chars,
            "bytes": self.bytes,
            "warnings": list(self.warnings),
        }


def count_request(request: object, model: str | None = None, counter: str | None = None) -> RequestCount:
    """Count a request for a model, by default the one the request names; ``counter`` replaces its tokenizer.

    >>> count_request([{"role": "user", "content": "Hello, how are you?"}], model="gpt-4o").tokens
    13

    Raises TokengapError that names the path of what is wrong, UnknownNameError for an unknown model or counter.
    """
    for what, name in (("model", model), ("counter", counter)):
        if name is not None and not isinstance(name, str):
            raise TokengapError(f"the {what} must be a str, not {type(name).__name__}")
    if counter and counter.startswith("model:") and model is None:
        model, counter = counter.removeprefix("model:"), None
    read = read_request(request, model)
    known = _find_model(model or read.model, counter)
    if known is None and counter is None:
        raise TokengapError("model: missing; name one, such as gpt-4o, or a counter, such as o200k_base")
    used = get_counter(counter or f"model:{known.name if known else ''}")
    tally = _Tally(used)
    if tally.naive:
        return _result(read, known, tally, _count_naively(read, tally))
    framed = known or find_model(_STAND_INS[counter or ""]) if known or counter in _STAND_INS else _UNKNOWN
    parts = _count_parts(read, known or _UNKNOWN, framed, tally)
    if counter and (model or read.model) and not (known and is_own(used, known)):
        tally.note("heuristic", ("assumed_tokenizer", "uncalibrated"))
        parts = {name: _assumed(part) for name, part in parts.items()}
    return _result(read, known, tally, parts)


def _find_model(name: str | None, counter: str | None) -> Model | None:
    if name is None:
        return None
    try:
        return find_model(name)
    except UnknownNameError:
        if counter is None:
            raise
        return None  # the counter says how to count it


class _Tally:
    """Counts texts with one counter and remembers what there is to say about all of them."""

    def __init__(self, counter: Counter) -> None:
        nothing = counter.count("")
        self._counter = counter
        self.tokenizer = nothing.tokenizer
        self.fingerprint = nothing.fingerprint
        self.kind: Kind = nothing.kind
        self.warnings: dict[str, None] = dict.fromkeys(nothing.warnings)
        self.naive = nothing.estimate is not None  # a rule of thumb, which has no frame
        self._counted: dict[str, Tokens] = {}
        self.own: Tokens = 0  # tokens of the request's own texts
        self.texts: list[str] = []
        self.words = self.chars = self.bytes = 0

    def note(self, kind: Kind, warnings: Iterable[str]) -> None:
        self.kind = weakest((self.kind, kind))
        self.warnings.update(dict.fromkeys(warnings))

    def count(self, text: str) -> Tokens:
        """Count a text; of a rule of thumb the exact value, so that nothing is rounded up twice."""
        count = self._counter.count(text)
        if count.kind != self.kind or count.warnings:
            self.note(count.kind, count.warnings)
        return count.tokens if count.estimate is None else count.estimate

    def count_again(self, text: str) -> Tokens:
        """Count a text that comes again and again, such as a role."""
        if text not in self._counted:
            self._counted[text] = self.count(text)
        return self._counted[text]

    def count_own(self, text: str) -> Tokens:
        """Count a text that the request itself holds."""
        tokens, size = self.count_again(text), measure(text)
        self.own += tokens
        self.texts.append(text)
        self.words += size.words
        self.chars += size.chars
        self.bytes += size.bytes
        return tokens

    def part(self, tokens: Tokens, rule: Rule | None, below: Tokens = 0, above: Tokens = 0) -> PartCount:
        """A part that may be so much less or more; one that nobody measured has no interval."""
        kind = weakest((self.kind, rule.kind if rule else "exact"))
        total = ceil(tokens)
        bounded = kind in ("reconstructed", "calibrated")
        return PartCount(total, kind, (max(total - ceil(below), 0), total + ceil(above)) if bounded else None, rule)


def _count_parts(read: Request, model: Model, framed: Model, tally: _Tally) -> dict[str, PartCount]:
    parts: dict[str, PartCount] = {}
    if not read.is_chat:
        parts["texts"] = tally.part(sum(tally.count_own(text) for text in read.texts), None)
    else:
        rule = find_rule(rules().messages, framed)
        if rule is None:  # the last rule is for every model
            raise TokengapError("framing.json has no rule for messages")
        parts["messages"] = _count_messages(read.messages, rule, tally)
    if read.tools:
        parts["tools"] = _count_tools(read, framed, tally)
    if read.response_schema:
        parts["structured_output"] = _count_schema(read.response_schema, framed, tally)
    images = [image for message in read.messages for image in message.images]
    if images and (counted := _count_images(images, model, read.not_counted, tally)):
        parts["images"] = counted
    return parts


def _count_naively(read: Request, tally: _Tally) -> dict[str, PartCount]:
    """What a rule of thumb makes of a request: its texts. What else is in the prompt is noted as not counted."""
    for text in (*read.texts, *(text for message in read.messages for text in message.own_texts())):
        tally.count_own(text)
    unseen = [tool.path for tool in read.tools] + [image.path for message in read.messages for image in message.images]
    for path in unseen + ([read.response_schema.path] if read.response_schema else []):
        read.not_counted.add(path)
    return {"texts": tally.part(tally.own, None)}


def _count_messages(messages: Sequence[Message], rule: MessageRule, tally: _Tally) -> PartCount:
    tokens: Tokens = rule.per_request
    below: Tokens = rule.below
    above: Tokens = 0
    for message in messages:
        if rule.system_frame or message.role not in _SYSTEM:
            tokens += rule.per_message + (tally.count_again(message.role) if rule.role else 0)
        if message.role == "function":
            tokens += rule.function_result
        if message.name:
            tokens += tally.count_own(message.name) + rule.per_name
        texts = sum(tally.count_own(text) for text in message.texts)
        tokens += texts
        if len(message.texts) > 1:  # whether parts are joined, or a line apart, no published count tells
            below += max(texts - tally.count("".join(message.texts)), 0)
            above += len(message.texts) - 1
        for call in message.calls:
            name = tally.count_own(call.name)
            tokens += name + tally.count_own(call.arguments) + rule.per_call
            if not call.legacy:
                below += rule.calls_below
                above += rule.calls_above + name
        above += rule.above_per_message + (rule.parallel_calls_above if len(message.calls) > 1 else 0)
    return tally.part(tokens, rule, below, above)


def _count_tools(read: Request, framed: Model, tally: _Tally) -> PartCount:
    rule = find_rule(rules().tools, framed)
    if rule is None:
        raise TokengapError("framing.json has no rule for tools")
    tokens, below, above = _tool_definitions(read, rule, tally)
    mode = read.choice.mode
    if mode == "none":
        tokens += rule.choice_none
    elif mode == "required":
        tokens += rule.choice_required
        above += _UNMEASURED_CHOICE
    elif mode in ("named", "function_call"):
        tokens += tally.count(read.choice.name)
        tokens += rule.choice_named if mode == "named" else rule.function_call_named
    return tally.part(tokens, rule, below + rule.below, above + rule.above + rule.above_per_tool * len(read.tools))


def _tool_definitions(read: Request, rule: ToolRule, tally: _Tally) -> tuple[Tokens, Tokens, Tokens]:
    """The definitions, and how much less or more they may be."""
    if rule.style == "json":
        return rule.overhead + sum(tally.count(tool.to_json()) for tool in read.tools), 0, 0
    declared = declare(read.tools, rule, read.not_counted)
    tokens = tally.count(declared.text)
    least = (tally.count(declared.least) if declared.least != declared.text else tokens) - declared.below
    if least < tokens:  # no form is shorter than functions without parameters
        least = min(tokens, max(least, tally.count(declared.bare) - declared.bare_below))
    most = (tally.count(declared.most) if declared.most != declared.text else tokens) + declared.above
    below, above = max(tokens - least, 0), max(most - tokens, 0)
    above += sum(n * (2 + tally.count(f" // {text}")) for text, n in declared.left_out.items())
    tokens += rule.overhead
    first = next((message for message in read.messages if message.role in _SYSTEM), None)
    if first is not None:  # the declarations join it instead of making a message of their own
        text = first.texts[-1] if first.texts else ""
        tokens += rule.with_system + max(tally.count(text + rule.system_suffix) - tally.count_again(text), 0)
    return tokens, below, above


def _count_schema(schema: ResponseSchema, framed: Model, tally: _Tally) -> PartCount:
    lines = ["# Response Formats", "", f"## {schema.name}", ""]
    lines += [f"// {schema.description}"] if schema.description else []
    lines.append(json.dumps(schema.schema, ensure_ascii=False, separators=(",", ":")))
    return tally.part(tally.count("\n".join(lines)), find_rule(rules().structured_output, framed))


def _count_images(images: list[Image], model: Model, not_counted: NotCounted, tally: _Tally) -> PartCount | None:
    rule = find_rule(rules().images, model)
    counted = [image_tokens(rule, image) if rule else None for image in images]
    for image, count in zip(images, counted, strict=True):
        if count is None:
            not_counted.add(image.path)
        if rule and image.size is None and (count is None or count.depends_on_size):
            tally.warnings["image_size_unknown"] = None
    known = [count for count in counted if count is not None]
    if rule is None or not known:
        return None
    tokens = sum(count.tokens for count in known)
    bounds = [count.interval for count in known if count.interval is not None]
    if rule.kind == "heuristic" or len(bounds) < len(known):
        return PartCount(tokens, "heuristic", None, rule)
    return PartCount(tokens, rule.kind, (sum(low for low, _ in bounds), sum(high for _, high in bounds)), rule)


def _result(read: Request, known: Model | None, tally: _Tally, parts: Mapping[str, PartCount]) -> RequestCount:
    tokens = sum(part.tokens for part in parts.values())
    kind = tally.kind
    for part in parts.values():
        kind = weakest((kind, part.kind))
    warnings = dict(tally.warnings)
    if kind == "heuristic":
        warnings["uncalibrated"] = None
    if read.not_counted.paths():
        warnings["not_counted"] = None
    main = parts.get("messages")
    return RequestCount(
        tokens=tokens,
        text_tokens=ceil(tally.own),
        framing_tokens=tokens - ceil(tally.own),
        kind=kind,
        interval=_interval(kind, parts.values()),
        model=known.name if known else None,
        tokenizer=tally.tokenizer,
        fingerprint=tally.fingerprint,
        rule=main.rule if main else None,
        not_counted=read.not_counted.paths(),
        parts=parts,
        texts=tuple(tally.texts),
        words=tally.words,
        chars=tally.chars,
        bytes=tally.bytes,
        estimate=Fraction(tally.own) if tally.naive else None,
        warnings=tuple(warnings),
    )


def _interval(kind: Kind, parts: Iterable[PartCount]) -> tuple[int, int] | None:
    if kind in ("exact", "heuristic"):
        return None
    low = high = 0
    for part in parts:
        bounds = (part.tokens, part.tokens) if part.kind == "exact" else part.interval
        if bounds is None:
            return None
        low, high = low + bounds[0], high + bounds[1]
    return low, high


def _assumed(part: PartCount) -> PartCount:
    """A part counted with another tokenizer than the model's own."""
    return PartCount(part.tokens, "heuristic", None, part.rule)
