"""Drop-in façades: the counting calls of OpenAI's, Anthropic's and Google's SDKs, and vLLM's tokenize.

Bodies are as each SDK expects them, and so are errors (``facade_errors.py``). How good a count is stands in
``X-Tokengap-`` headers. What may be in the prompt and cannot be counted is refused with the vendor's 400, never
ignored.

Shapes as seen in openai 3.57.0, anthropic 2.14.0 and google-genai 3.6.1; vLLM's by its documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..estimators.limits import find_limits
from ..estimators.request_count import RequestCount, count_request
from ..tokenizers.counter import Encoder
from ..tokenizers.registry import BUILT_IN, DEFAULT_COUNTER
from . import schemas
from .facade_errors import ANTHROPIC, GOOGLE, OPENAI, VLLM
from .operations import Done, Operation
from .problems import invalid, pointer_of
from .routes import Operations, faults_at


class Facades:
    """The counting calls of other services, on our operations."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    def openai(self, body: schemas.OpenAIBody) -> Done:
        """For ``client.responses.input_tokens.count`` of the openai package."""
        request = {"input": [], **_request(body)}
        for name in ("previous_response_id", "conversation"):
            if request.get(name) is not None:
                raise invalid(f"/{name}", f"{name!r} names what only OpenAI has: send the whole input instead")
        counted = _count(self._operations, request, body.model)
        return _done(counted, {"object": "response.input_tokens", "input_tokens": counted.tokens})

    def anthropic(self, body: schemas.AnthropicBody) -> Done:
        """For ``client.messages.count_tokens`` of the anthropic package."""
        counted = _count(self._operations, _request(body), body.model)
        return _done(counted, {"input_tokens": counted.tokens})

    def gemini(self, body: schemas.GoogleBody, model: str) -> Done:
        """For ``client.models.count_tokens`` of the google-genai package."""
        request = _request(body)
        whole = request.pop("generateContentRequest", None)
        if whole is not None:
            if request or not isinstance(whole, dict):
                raise invalid("/generateContentRequest", "an object is needed, without 'contents' beside it")
            request = {name: value for name, value in whole.items() if name != "model"}
        if isinstance(contents := request.get("contents"), list):  # Google takes a content without a role as the user's
            request["contents"] = [{"role": "user", **each} if isinstance(each, dict) else each for each in contents]
        counted = _count(self._operations, request, model)
        return _done(counted, {"totalTokens": counted.tokens})

    def vertex(self, body: schemas.GoogleBody, model: str, project: str, location: str) -> Done:
        """The same under Vertex AI's paths."""
        return self.gemini(body, model)

    def tokenize(self, body: schemas.VllmTokenizeBody) -> Done:
        """vLLM's ``/tokenize`` for prompts. Chat messages need the model's own template, and are refused."""
        _refuse_unknown(body)
        if body.prompt is None:
            raise invalid("/prompt", "'prompt' is missing")
        counter, limit = _vllm_counter(self._operations, body.model)
        self._operations.check_texts(body.prompt, self._operations.settings.max_tokenize_chars)
        ids = counter.encode(body.prompt)
        strings = (
            [counter.decode((token,)).decode(errors="replace") for token in ids] if body.return_token_strs else None
        )
        count = counter.count("")._replace(tokens=len(ids))
        answer: dict[str, Any] = {"count": len(ids), "max_model_len": limit, "tokens": ids, "token_strs": strings}
        return Done(answer, _quality(count.kind, count.tokenizer, count.fingerprint, None), (count,))

    def detokenize(self, body: schemas.VllmDetokenizeBody) -> Done:
        """vLLM's ``/detokenize``; bytes that are no character become U+FFFD."""
        _refuse_unknown(body)
        counter, _ = _vllm_counter(self._operations, body.model)
        if len(body.tokens) > self._operations.settings.max_tokenize_chars:
            raise invalid("/tokens", f"more than {self._operations.settings.max_tokenize_chars:,} tokens")
        with faults_at("/tokens"):
            return Done({"prompt": counter.decode(body.tokens).decode(errors="replace")})


def facades(operations: Operations) -> list[Operation]:
    """The façades as operations."""
    on = Facades(operations)
    google = (schemas.GoogleBody, schemas.GoogleAnswer, "Count tokens as Google's API does", GOOGLE)
    express = "/publishers/google/models/{model}:countTokens"
    vertex = "/projects/{project}/locations/{location}" + express
    return [
        Operation(
            "/v1/responses/input_tokens",
            on.openai,
            schemas.OpenAIBody,
            schemas.OpenAIAnswer,
            "Count tokens as OpenAI's API does",
            OPENAI,
        ),
        Operation(
            "/v1/messages/count_tokens",
            on.anthropic,
            schemas.AnthropicBody,
            schemas.AnthropicAnswer,
            "Count tokens as Anthropic's API does",
            ANTHROPIC,
        ),
        Operation("/v1beta/models/{model}:countTokens", on.gemini, *google),
        Operation("/v1/models/{model}:countTokens", on.gemini, *google, in_schema=False),
        *(Operation(f"/{v}{vertex}", on.vertex, *google, in_schema=False) for v in ("v1", "v1beta1")),
        *(Operation(f"/{v}{express}", on.gemini, *google, in_schema=False) for v in ("v1", "v1beta1")),
        Operation(
            "/tokenize",
            on.tokenize,
            schemas.VllmTokenizeBody,
            schemas.VllmTokenizeAnswer,
            "Tokenize as vLLM does",
            VLLM,
        ),
        Operation(
            "/detokenize",
            on.detokenize,
            schemas.VllmDetokenizeBody,
            schemas.VllmDetokenizeAnswer,
            "Turn ids into text as vLLM does",
            VLLM,
        ),
    ]


def _request(body: schemas.VendorBody) -> dict[str, Any]:
    return dict(body.model_extra or {})


def _refuse_unknown(body: schemas.VendorBody) -> None:
    for name in body.model_extra or {}:
        raise invalid(f"/{name}", f"{name!r} cannot be honoured here: a prompt is tokenized as it is")


def _count(operations: Operations, request: dict[str, Any], model: str | None) -> RequestCount:
    if not model:
        raise invalid("/model", "'model' is missing")
    operations.counter(f"model:{model}", "/model")
    operations.check_request(request)
    with faults_at(""):
        counted = count_request(request, model)
    for path in counted.not_counted:
        raise invalid(
            pointer_of(path), f"{path} may be part of the prompt, and cannot be counted offline: leave it out"
        )
    operations.warmed(f"model:{model}")
    return counted


def _vllm_counter(operations: Operations, model: str | None) -> tuple[Encoder, int | None]:
    """The encoding a server of ``model`` would have, and the model's context window."""
    name = model or DEFAULT_COUNTER
    is_counter = name.partition(":")[0] in BUILT_IN
    counter = operations.counter(name if is_counter else f"model:{name}", "/model")
    from ..estimators.cutting import tokenizer_of

    with faults_at("/model"):
        tokenizer = tokenizer_of(counter)
    if not isinstance(tokenizer, Encoder):
        raise invalid("/model", f"{name!r} has no token ids")
    return tokenizer, None if is_counter else find_limits(name).context_window


def _done(counted: RequestCount, answer: Mapping[str, Any]) -> Done:
    rule = f"{counted.tokenizer}; {counted.rule.name}" if counted.rule else counted.tokenizer
    return Done(answer, _quality(counted.kind, rule, counted.fingerprint, counted.interval), (counted,))


def _quality(kind: str, method: str, fingerprint: str, interval: tuple[int, int] | None) -> tuple[tuple[str, str], ...]:
    headers = (("X-Tokengap-Kind", kind), ("X-Tokengap-Method", method), ("X-Tokengap-Fingerprint", fingerprint))
    return (*headers, ("X-Tokengap-Interval", f"{interval[0]}-{interval[1]}")) if interval else headers
