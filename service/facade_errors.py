"""Errors as the SDKs of OpenAI, Anthropic and Google, and vLLM's clients, expect them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from ..estimators.fields import join, names
from .operations import OWN, Face, check_query
from .problems import Problem, invalid, pointer_to, split_place, steps_of

_AS_BAD_REQUEST = {408: 400, 415: 400, 422: 400}


def face_of(path: str, headers: Mapping[bytes, bytes] | None = None) -> Face:
    """How errors look at a path: to the client whose SDK would ask there, also for what is not offered.

    On the path of our own list of models, which the SDKs have too, the headers tell who asks.
    """
    if (face := _FACES.get(path)) is not None:
        return face
    found = next((face for pattern, face in _PATHS if pattern.fullmatch(path)), OWN)
    if found is OWN and headers and (path == _MODELS or path.startswith(f"{_MODELS}/")):
        return next((face for name, face in _SENT_BY if name in headers), OWN)
    return found


def check_google_query(query: bytes, more: frozenset[str] = frozenset()) -> None:
    """Refuse parameters that a call of Google's does not have, and those that would change the form of the answer."""
    check_query(query, _SYSTEM | _ALT | more)
    for name, value in parse_qsl(query.decode("latin-1")):
        if name in _ALT and value.partition(";")[0] != "json":
            raise invalid(pointer_to([name]), f"{name}: answers are JSON here, not {value[:40]!r}")


def _place(problem: Problem) -> str | None:
    """The place of the fault as vendors write it: ``input[0].content``."""
    if not problem.faults or not problem.faults[0].pointer:
        return None
    place = ""
    for part in steps_of(problem.faults[0].pointer):
        place = join(place, int(part) if part.isdecimal() else part)
    return place


def _said(problem: Problem) -> tuple[str | None, str]:
    """The place of the fault, and what is wrong with it, without the place where that comes first."""
    place, detail = _place(problem), problem.detail
    if place is None:
        return None, detail
    said, rest = split_place(detail)
    if place == said or place.endswith(f".{said}"):  # of a request within the body, the place in it
        return place, rest
    return place, detail.removeprefix(f"{problem.faults[0].pointer}: ")


def _message(problem: Problem) -> str:
    """What is wrong, after its place where it says that: for vendors whose errors have a member for it."""
    place, said = _said(problem)
    return problem.detail if said == problem.detail else f"{place}: {said}"


def _placed(problem: Problem) -> str:
    """What is wrong, after its place: for vendors whose errors have no member for that."""
    place, said = _said(problem)
    named = place is None or f"'{place}'" in said or said.startswith(f"{place} ")
    return said if named else f"{place}: {said}"


def _openai_error(problem: Problem, request_id: str) -> dict[str, Any]:
    codes = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
    codes |= {404: "model_not_found"} if problem.kind == "unknown-name" else {}
    kind = "server_error" if problem.status >= 500 else _OPENAI_TYPES.get(problem.status, "invalid_request_error")
    body = {"message": _message(problem), "type": kind, "param": _place(problem), "code": codes.get(problem.status)}
    return {"error": body}


def _anthropic_error(problem: Problem, request_id: str) -> dict[str, Any]:
    kind = _ANTHROPIC_TYPES.get(problem.status, "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": _placed(problem)}, "request_id": request_id}


def _google_error(problem: Problem, request_id: str) -> dict[str, Any]:
    code = _AS_BAD_REQUEST.get(problem.status, problem.status)
    status = _GOOGLE_STATUSES.get(code, "INVALID_ARGUMENT")
    return {"error": {"code": code, "message": _placed(problem), "status": status}}


def _vllm_error(problem: Problem, request_id: str) -> dict[str, Any]:
    code = _AS_BAD_REQUEST.get(problem.status, problem.status)
    body = {
        "message": _message(problem),
        "type": _VLLM_TYPES.get(code, "BadRequestError"),
        "param": _place(problem),
        "code": code,
    }
    return {"error": body}


_OPENAI_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_ANTHROPIC_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    503: "overloaded_error",
}
_VLLM_TYPES = {
    401: "AuthenticationError",
    403: "PermissionDeniedError",
    404: "NotFoundError",
    429: "RateLimitError",
    500: "InternalServerError",
    503: "ServiceUnavailableError",
}
_GOOGLE_STATUSES = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


_KEY = names("key $key")
_ALT = names("alt $alt")
_SYSTEM = _KEY | names(
    "access_token oauth_token prettyPrint $prettyPrint quotaUser $quotaUser $userProject $apiFormat $.xgafv"
)
"""Parameters of every call of Google's (cloud.google.com/apis/docs/system-parameters) that change no answer of ours."""

_JSON = "application/json"
OPENAI = Face(_openai_error, _JSON, _AS_BAD_REQUEST)
ANTHROPIC = Face(_anthropic_error, _JSON, _AS_BAD_REQUEST, id_header=b"request-id")
GOOGLE = Face(_google_error, _JSON, _AS_BAD_REQUEST, check_query=check_google_query, key_parameters=_KEY)
VLLM = Face(_vllm_error, _JSON, _AS_BAD_REQUEST)
_MODELS = "/v1/models"
_SENT_BY = ((b"anthropic-version", ANTHROPIC), (b"x-goog-api-client", GOOGLE), (b"x-stainless-lang", OPENAI))
"""Headers by which SDKs are told; Anthropic's sends the last one as well."""
_FACES = {
    "/v1/responses/input_tokens": OPENAI,
    "/v1/messages/count_tokens": ANTHROPIC,
    "/tokenize": VLLM,
    "/detokenize": VLLM,
}
_PATHS = [
    (re.compile(pattern, re.DOTALL), face)
    for pattern, face in (
        (r"/v1(?:/.+:[A-Za-z]+|/(?:projects|publishers|tunedModels|cachedContents)(?:/.*)?|beta1?/.*)", GOOGLE),
        (r"/v1/(?:messages|complete)(?:/.*)?", ANTHROPIC),
        (r"/v1/(?:responses|chat|completions|embeddings|conversations)(?:/.*)?", OPENAI),
    )
]
"""Where the SDKs would look for more than is offered."""
