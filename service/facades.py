"""Drop-in façades: the counting calls of OpenAI's, Anthropic's and Google's SDKs, and vLLM's tokenize.

Bodies are as each SDK expects them, and so are errors (``facade_errors.py``). How good a count is stands in
``X-Tokengap-`` headers. What may be in the prompt and cannot be counted widens the interval where the request shows
it, and is refused with the vendor's 400 where it does not; it is never ignored.

Shapes as seen in openai 3.57.0, anthropic 2.14.0 and google-genai 3.6.1; vLLM's by its documentation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..estimators.limits import find_limits
from ..estimators.request_count import RequestCount, count_request
from ..estimators.settings import STYLES
from ..estimators.uncounted import most_tokens
from ..tokenizers.counter import Counter, Encoder
from ..tokenizers.errors import unknown_name
from ..tokenizers.models import known_model, models
from ..tokenizers.registry import BUILT_IN, DEFAULT_COUNTER
from ..tokenizers.text import well_formed
from . import answers, bodies
from .facade_errors import ANTHROPIC, GOOGLE, OPENAI, VLLM
from .facade_shapes import At, Shape, check_anthropic, check_google, check_openai, same_model
from .operations import Done, Operation
from .problems import invalid, pointer_of, pointer_to
from .routes import Operations, faults_at


class Facades:
    """The counting calls of other services, on our operations."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    def openai(self, body: bodies.OpenAIBody) -> Done:
        """For ``client.responses.input_tokens.count`` of the openai package."""
        request = _request(body)
        for name in ("previous_response_id", "conversation"):
            if request.get(name) is not None:
                raise invalid(f"/{name}", f"{name!r} names what only OpenAI has: send the whole input instead")
        counted, most = _count(self._operations, request, body.model, check_openai)
        return _done(counted, most, {"object": "response.input_tokens", "input_tokens": counted.tokens})

    def anthropic(self, body: bodies.AnthropicBody) -> Done:
        """For ``client.messages.count_tokens`` of the anthropic package."""
        counted, most = _count(self._operations, _request(body), body.model, check_anthropic)
        return _done(counted, most, {"input_tokens": counted.tokens})

    def gemini(self, body: bodies.GoogleBody, model: str) -> Done:
        """For ``client.models.count_tokens`` of the google-genai package."""
        request: dict[str, Any] = _request(body)
        at: At = ()
        for key in ("generateContentRequest", "generate_content_request"):
            if request.get(key) is not None:
                whole, at = request.pop(key), (key,)
                if request or not isinstance(whole, dict):
                    raise invalid(pointer_to(at), "an object is needed, without 'contents' beside it")
                request = _given(whole)
        for name, where in ((body.model, "/model"), (request.pop("model", None), pointer_to((*at, "model")))):
            if name is not None and not same_model(name, model):
                raise invalid(where, f"it is another model than that of the path, {model[:80]!r}")
        counted, most = _count(self._operations, request, model, check_google, at)
        return _done(counted, most, {"totalTokens": counted.tokens})

    def vertex(self, body: bodies.GoogleBody, model: str, project: str, location: str) -> Done:
        """The same under Vertex AI's paths."""
        return self.gemini(body, model)

    def tokenize(self, body: bodies.VllmTokenizeBody) -> Done:
        """vLLM's ``/tokenize`` for prompts. Chat messages need the model's own template, and are refused."""
        _refuse_unknown(body)
        counter, encoder, limit = _vllm_counter(self._operations, body.model)
        self._operations.check_texts(body.prompt, self._operations.settings.max_tokenize_chars, pointer="/prompt")
        text, repaired = well_formed(body.prompt)
        ids = encoder.encode(text)
        strings = (
            [encoder.decode((token,)).decode(errors="replace") for token in ids] if body.return_token_strs else None
        )
        # As good as the model's tokenizer is known, which may be less than the encoding is.
        count = counter.count("")._replace(tokens=len(ids))
        warnings = (*count.warnings, "lone_surrogate") if repaired else count.warnings
        answer: dict[str, Any] = {"count": len(ids), "max_model_len": limit, "tokens": ids, "token_strs": strings}
        return Done(answer, _quality(count.kind, count.tokenizer, count.fingerprint, None, warnings), (count,))

    def detokenize(self, body: bodies.VllmDetokenizeBody) -> Done:
        """vLLM's ``/detokenize``; bytes that are no character become U+FFFD."""
        _refuse_unknown(body)
        _, encoder, _ = _vllm_counter(self._operations, body.model)
        if len(body.tokens) > self._operations.settings.max_tokenize_chars:
            raise invalid("/tokens", f"more than {self._operations.settings.max_tokenize_chars:,} tokens")
        with faults_at("/tokens"):
            return Done({"prompt": encoder.decode(body.tokens).decode(errors="replace")})


def facades(operations: Operations) -> list[Operation]:
    """The façades as operations."""
    on = Facades(operations)
    google = (bodies.GoogleBody, answers.GoogleAnswer, "Count tokens as Google's API does", GOOGLE)
    express = "/publishers/google/models/{model}:countTokens"
    vertex = "/projects/{project}/locations/{location}" + express
    return [
        Operation(
            "/v1/responses/input_tokens",
            on.openai,
            bodies.OpenAIBody,
            answers.OpenAIAnswer,
            "Count tokens as OpenAI's API does",
            OPENAI,
        ),
        Operation(
            "/v1/messages/count_tokens",
            on.anthropic,
            bodies.AnthropicBody,
            answers.AnthropicAnswer,
            "Count tokens as Anthropic's API does",
            ANTHROPIC,
        ),
        Operation("/v1beta/models/{model}:countTokens", on.gemini, *google),
        Operation("/v1/models/{model}:countTokens", on.gemini, *google),
        *(Operation(f"/{v}{vertex}", on.vertex, *google) for v in ("v1", "v1beta1")),
        *(Operation(f"/{v}{express}", on.gemini, *google) for v in ("v1", "v1beta1")),
        Operation(
            "/tokenize",
            on.tokenize,
            bodies.VllmTokenizeBody,
            answers.VllmTokenizeAnswer,
            "Tokenize as vLLM does",
            VLLM,
        ),
        Operation(
            "/detokenize",
            on.detokenize,
            bodies.VllmDetokenizeBody,
            answers.VllmDetokenizeAnswer,
            "Turn ids into text as vLLM does",
            VLLM,
        ),
    ]


def _request(body: bodies.VendorBody) -> dict[str, Any]:
    return _given(body.model_extra or {})


def _given(members: Mapping[str, Any]) -> dict[str, Any]:
    """Without those that are null, which SDKs send for what is not set."""
    return {name: value for name, value in members.items() if value is not None}


def _refuse_unknown(body: bodies.VendorBody) -> None:
    for name in body.model_extra or {}:
        raise invalid(f"/{name}", f"{name!r} cannot be honoured here: a prompt is tokenized as it is")


def _count(
    operations: Operations, request: dict[str, Any], model: str, check: Shape, at: At = ()
) -> tuple[RequestCount, int | None]:
    """Count a request, which stands ``at`` a place of the body, or refuse it as its vendor would.

    With it comes the most tokens of what is not counted, but may be in the prompt as it is in the request; ``None``
    where nothing bounds them.
    """
    operations.check_allowed(f"model:{model}", "/model")
    if known_model(model) is None:
        with faults_at("/model"):
            raise unknown_name("model", model, models(), "GET /v1/models lists those that are known")
    operations.check_request(request, pointer=pointer_to(at))
    check(request, at)
    with faults_at(pointer_to(at)):
        counted = count_request(request, model)
    uncounted, counter = 0, operations.counter(f"model:{model}", "/model")
    for path in counted.not_counted:
        if path in STYLES:
            continue
        most = most_tokens(request, path, counter)
        if most is None:
            whole = ".".join((*map(str, at), path))
            detail = f"{whole} may be part of the prompt, and cannot be counted offline: leave it out"
            raise invalid(pointer_to(at) + pointer_of(path), detail)
        uncounted += most
    operations.warmed(f"model:{model}")
    return counted, None if STYLES.intersection(counted.not_counted) else uncounted


def _vllm_counter(operations: Operations, model: str | None) -> tuple[Counter, Encoder, int | None]:
    """The model's counter, the encoding a server of it would have, and its context window."""
    name = model or DEFAULT_COUNTER
    is_counter = name.partition(":")[0] in BUILT_IN
    counter = operations.counter(name if is_counter else f"model:{name}", "/model", None if model else "model")
    from ..estimators.cutting import tokenizer_of

    with faults_at("/model"):
        tokenizer = tokenizer_of(counter)
    if not isinstance(tokenizer, Encoder):
        raise invalid("/model", f"{name!r} has no token ids")
    return counter, tokenizer, None if is_counter else find_limits(name).context_window


def _done(counted: RequestCount, uncounted: int | None, answer: Mapping[str, Any]) -> Done:
    """``uncounted`` more tokens there may be; ``None``: nobody knows how many."""
    bounds, warnings, kind = _bounds(counted), counted.warnings, counted.kind
    if uncounted is None:
        bounds, kind = None, "heuristic"
        warnings = tuple(dict.fromkeys((*warnings, "uncalibrated", "part_not_counted")))
    elif uncounted:
        bounds, warnings = bounds and (bounds[0], bounds[1] + uncounted), (*warnings, "part_not_counted")
    rule = f"{counted.tokenizer}; {counted.rule.name}" if counted.rule else counted.tokenizer
    return Done(answer, _quality(kind, rule, counted.fingerprint, bounds, warnings), (counted,))


def _bounds(counted: RequestCount) -> tuple[int, int] | None:
    """The interval of the count; where its texts have none, that of its images, around what the texts are taken for."""
    images = counted.parts.get("images")
    if counted.interval is not None or images is None or images.interval is None:
        return counted.interval
    low, high = (counted.tokens - images.tokens + bound for bound in images.interval)
    return (low, high) if low < high else None


def _quality(
    kind: str, method: str, fingerprint: str, interval: tuple[int, int] | None, warnings: Sequence[str] = ()
) -> tuple[tuple[str, str], ...]:
    headers = [("X-Tokengap-Kind", kind), ("X-Tokengap-Method", method), ("X-Tokengap-Fingerprint", fingerprint)]
    if interval:
        headers.append(("X-Tokengap-Interval", f"{interval[0]}-{interval[1]}"))
    if warnings:
        headers.append(("X-Tokengap-Warnings", ", ".join(warnings)))
    return tuple(headers)
