"""Errors as the SDKs of OpenAI, Anthropic and Google, and vLLM's clients, expect them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ..estimators.fields import join
from .operations import OWN, Face
from .problems import Problem, split_place, steps_of

_AS_BAD_REQUEST = {408: 400, 415: 400, 422: 400}


def face_of(path: str) -> Face:
    """How errors look at a path: to the client whose SDK would ask there, also for what is not offered."""
    if (face := _FACES.get(path)) is not None:
        return face
    return next((face for pattern, face in _PATHS if pattern.fullmatch(path)), OWN)


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


def _face(render: Callable[[Problem, str], Mapping[str, Any]]) -> Face:
    return Face(render, "application/json", _AS_BAD_REQUEST, b"request-id" if render is _anthropic_error else None)


OPENAI, ANTHROPIC, GOOGLE, VLLM = map(_face, (_openai_error, _anthropic_error, _google_error, _vllm_error))
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
