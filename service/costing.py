"""The operations that price: what a call or a month of calls costs, and the prices that are known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from ..estimators.as_of import in_utc, parse_as_of
from ..estimators.cost import CostResult, price_report, price_usage
from ..estimators.counting import ChatRequest
from ..estimators.currency import parse_exchange_rate
from ..estimators.price_list import count_models, list_prices
from ..estimators.request_cost import RequestCost, price_request
from ..estimators.request_settings import named_model, variant_path
from ..estimators.usage import MAX_TOKENS, Usage
from ..estimators.volume import VolumeEstimate, monthly_cost, parse_range, parse_share
from ..tokenizers.errors import TokengapError, UnknownNameError
from .bodies import CostBody
from .operations import Done
from .problems import Fault, Problem, in_http, invalid, pointer_of, pointer_to
from .routes import Operations, faults_at, model_pointer, price_of

_COUNTS = {
    "input_tokens": "input",
    "cache_read": "cache_read",
    "cache_write": "cache_write",
    "cache_write_1h": "cache_write_1h",
    "reasoning_tokens": "reasoning",
}
"""Members that give a count, and the field of Usage each is for."""

_PARTS_OF = {
    "cache_read": ("cache_read", "cached_share", "cache_write"),
    "cache_write": ("cache_write",),
    "cache_write_1h": ("cache_write_1h",),
    "reasoning": ("reasoning_tokens",),
    "input": ("input_tokens",),
    "output": ("output_tokens",),
}
"""Members that may be what an error is about, by the field of Usage it names."""

_ABOUT_VARIANT = re.compile(r"no (?:batch|flex|priority|fast) price is known|.*leave out the variant")
_ABOUT_USAGE = re.compile(
    r"(?:(?:bad|contradictory) usage: )?(?P<path>[A-Za-z_][\w.\[\]]*)(?:: | is | has | and | does | adds? | '|, | \()",
    re.ASCII,
)
_IN_USAGE = re.compile(r"\busage(?:Metadata|_metadata)?\.\w+(?:\.\w+|\[\d+\])*", re.ASCII)
_FACTOR = re.compile(r"[0-9]{1,6}(\.[0-9]{1,9}|/[1-9][0-9]{0,5})?", re.ASCII)


class Costing:
    """Pricing under the settings and price files of the operations."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    def cost(self, body: CostBody) -> Done:
        """Price a call, line by line; with ``calls`` a month of them too. Give counts, a request, or a usage object."""
        _refuse_conflicts(body)
        options = self._options(body)
        if body.request is None:
            priced, counted, answer = _price(body, options), None, {}
        else:
            found = self._price_request(body, options)
            priced, counted, answer = found.cost, found.count, found.to_dict()
        if priced.status == "unknown_model":
            raise _unknown(priced, "/model" if body.model or body.request is None else model_pointer(body.request))
        answer = answer or priced.to_dict()
        if body.calls is not None:
            answer |= {"volume": _volume(body, priced, options).to_dict()}
        unpriced = "no price for the model" if priced.status in ("unpriced", "partial") else None
        return Done(answer, counted=(counted,) if counted else (), unpriced=unpriced)

    def prices(self, pattern: str | None, provider: str | None, as_of: str | None) -> dict[str, Any]:
        """The prices that match, or without a pattern and provider how many models each provider has."""
        book = self._operations.book
        with faults_at("/as_of"):
            asked = parse_as_of(as_of)
        time = asked.time
        table = book.table
        # Where the files are is the operator's business.
        files = [{"name": layer.name, "sha256": layer.sha256} for layer in book.layers]
        source = {"table": table.name, "version": table.version, "sha256": table.sha256, "files": files}
        found: dict[str, Any]
        if pattern or provider:
            with faults_at("/provider"):
                found = {"prices": [row.to_dict() for row in list_prices(book, asked, pattern, provider)]}
        else:
            found = {"providers": count_models(book, time)}
        return {**found, "as_of": in_utc(time), "source": source}

    def _options(self, body: CostBody) -> dict[str, Any]:
        """What says which price holds, whatever is priced."""
        if body.as_of is not None:
            with faults_at("/as_of"):
                parse_as_of(body.as_of)
        with faults_at("/exchange_rate"):
            rate = parse_exchange_rate(body.exchange_rate) if body.exchange_rate else None
        return {
            "provider": body.provider,
            "variant": body.variant,
            "as_of": body.as_of or datetime.now(UTC),  # one time for the call and the month
            "price": price_of(body),
            "book": self._operations.book,
            "exchange_rate": rate,
        }

    def _price_request(self, body: CostBody, options: Mapping[str, Any]) -> RequestCost:
        self._operations.check_request(body.request)
        named = "/model" if body.model else model_pointer(body.request)
        if body.counter is not None:
            self._operations.counter(body.counter, "/counter")
        elif body.model or named_model(body.request):
            self._operations.check_allowed("model:", named)
        request = ChatRequest("request", body.request)
        _usage(body, MAX_TOKENS)  # what is wrong with the counts is no fault of the request
        with faults_at("/request", unknown=named), _precise(body):
            return price_request(
                request, body.model, counter=body.counter, usage=lambda tokens: _usage_of(body, tokens), **options
            )


def _refuse_conflicts(body: CostBody) -> None:
    counts = [name for name in (*_COUNTS, "output_tokens") if getattr(body, name) is not None]
    if body.request is not None and (body.usage is not None or body.input_tokens is not None):
        raise invalid("/request", "'request' has the input already: leave out 'input_tokens' and 'usage'")
    if body.usage is not None and (counts or body.calls is not None):
        raise invalid("/usage", "'usage' has the counts already: leave out the members that give them")
    if body.counter is not None and body.request is None:
        raise invalid("/counter", "'counter' counts a request: give 'request' too")
    if body.usage_format is not None and body.usage is None:
        raise invalid("/usage_format", "'usage_format' says whose the object in 'usage' is; give that too")
    if body.usage is None and body.request is None and not counts:
        raise invalid("", "nothing to price: give 'input_tokens' and 'output_tokens', 'request' or 'usage'")
    if body.calls is None and (body.cached_share is not None or body.words is not None):
        raise invalid("/calls", "'cached_share' and 'words' are for a month of calls: give 'calls' too")
    if body.calls is not None and any(name not in ("input_tokens", "output_tokens") for name in counts):
        raise invalid("/calls", "with 'calls' the cached part is given as 'cached_share'")
    if body.calls is not None and body.input_tokens is None and body.request is None:
        raise invalid("/calls", "'calls' needs 'input_tokens' or 'request'")
    if isinstance(body.output_tokens, str) and body.calls is None:
        raise invalid("/output_tokens", "a range is for a month of calls: give a whole number, or 'calls' too")


def _price(body: CostBody, options: Mapping[str, Any]) -> CostResult:
    if body.usage is not None:
        with faults_at("/usage", unknown="/model" if body.model else "/usage/model"), _precise(body):
            return price_report(body.usage, body.model, format=body.usage_format, **options)
    usage = _usage(body, body.input_tokens or 0)
    with faults_at("", unknown="/model"), _precise(body):
        return price_usage(usage, body.model, **options)


def _usage(body: CostBody, tokens: int) -> Usage:
    """The usage the body gives, of a call with so many input tokens. Raises Problem, pointing to what is wrong."""
    with faults_at("/output_tokens"):
        parse_range(str(body.output_tokens or 0), "output_tokens")
    if body.cached_share is not None:
        with faults_at("/cached_share"):
            parse_share(body.cached_share)
    with faults_at(""), _precise(body):
        return _usage_of(body, tokens)


def _usage_of(body: CostBody, tokens: int) -> Usage:
    counts = {field: getattr(body, name) or 0 for name, field in _COUNTS.items()} | {"input": tokens}
    if body.cached_share is not None:
        counts["cache_read"] = int(tokens * parse_share(body.cached_share))
    return Usage(**counts, output=parse_range(str(body.output_tokens or 0), "output_tokens").typical)


def _volume(body: CostBody, priced: CostResult, options: Mapping[str, Any]) -> VolumeEstimate:
    """A month of calls like the one that was priced."""
    factor = body.words_factor.strip()
    if not _FACTOR.fullmatch(factor):
        raise invalid("/words_factor", "a decimal or a fraction is needed, such as 1.333 or 4/3")
    with faults_at("/calls"):
        calls = parse_range(str(body.calls), "calls")
    with faults_at("", unknown="/model"), _precise(body):
        return monthly_cost(
            priced.model,
            input=priced.usage.input,
            output=parse_range(str(body.output_tokens or 0), "output_tokens"),
            calls=calls,
            cached_share=parse_share(body.cached_share) if body.cached_share else Fraction(0),
            word_input=None if body.words is None else body.words * Fraction(factor),
            variant=priced.variant,
            **{name: options[name] for name in ("provider", "as_of", "price", "book", "exchange_rate")},
        )


@contextmanager
def _precise(body: CostBody) -> Iterator[None]:
    """Point to the members that an error is about, where it says which; others stay."""
    try:
        yield
    except UnknownNameError:
        raise
    except TokengapError as error:
        pointers, detail = _places_of(str(error), body), in_http(str(error))
        if not pointers:
            raise
        raise Problem("invalid-request", detail, tuple(Fault(pointer, detail) for pointer in pointers)) from None


def _places_of(message: str, body: CostBody) -> Sequence[str]:
    """Pointers to what the message is about, the first to what is wrong with the others."""
    if _ABOUT_VARIANT.match(message):
        if body.variant is not None or body.request is None:
            return ("/usage" if body.variant is None and body.usage is not None else "/variant",)
        return ("/request" + pointer_of(variant_path(body.request)),)
    if message.startswith("a model is needed"):
        return ("/model",)
    if (found := _ABOUT_USAGE.match(message)) is None:
        return ()
    if body.usage is not None:
        named = dict.fromkeys((found["path"], *_IN_USAGE.findall(message)))
        return tuple(dict.fromkeys("/usage" + pointer_to(_steps_in(body.usage, path)) for path in named))
    given = (name for name in _PARTS_OF.get(found["path"], ()) if getattr(body, name) is not None)
    return tuple(f"/{name}" for name in given)[:1]


def _steps_in(report: Mapping[str, Any], path: str) -> Iterator[str]:
    """The steps of a path in a usage object as far as they are there; the object itself may be called ``usage``."""
    steps = pointer_of(path)[1:].split("/")
    here: Any = report
    for step in steps[1:] if steps[0] == "usage" and "usage" not in report else steps:
        if isinstance(here, list) and step.isdecimal() and int(step) < len(here):
            here = here[int(step)]
        elif isinstance(here, Mapping) and step in here:
            here = here[step]
        else:
            return
        yield step


def _unknown(result: CostResult, pointer: str) -> Problem:
    """The model, or the provider, is a name like any other: unknown is 404."""
    detail = in_http(result.warnings[-1].removeprefix("unknown_model: "))
    if detail.startswith("unknown provider"):
        pointer = "/provider"
    return Problem("unknown-name", detail, (Fault(pointer, detail),), more={"suggestions": list(result.suggestions)})
