"""Errors as the SDKs of OpenAI, Anthropic and Google, and vLLM's clients, expect them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from .operations import OWN, Face
from .problems import Problem

_AS_BAD_REQUEST = {408: 400, 415: 400, 422: 400}
_GOOGLE_PATH = re.compile(r"/v1(?:beta1?)?/(?:.+/)?models/[^/]+:countTokens")


def face_of(path: str) -> Face:
    """How errors look at a path."""
    return _FACES.get(path) or (GOOGLE if _GOOGLE_PATH.fullmatch(path) else OWN)


def _place(problem: Problem) -> str | None:
    """The place of the fault as vendors write it: ``input[0].content``."""
    if not problem.faults or not problem.faults[0].pointer:
        return None
    parts = problem.faults[0].pointer[1:].split("/")
    return re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", ".".join(parts))


def _placed(problem: Problem) -> str:
    """What is wrong, after its place: for vendors whose errors have no member for that."""
    place = _place(problem)
    return problem.detail if place is None or place in problem.detail else f"{place}: {problem.detail}"


def _openai_error(problem: Problem, request_id: str) -> dict[str, Any]:
    codes = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}
    kind = "server_error" if problem.status >= 500 else _OPENAI_TYPES.get(problem.status, "invalid_request_error")
    body = {"message": problem.detail, "type": kind, "param": _place(problem), "code": codes.get(problem.status)}
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
    kind = {404: "NotFoundError", 429: "RateLimitError", 500: "InternalServerError", 503: "ServiceUnavailableError"}
    body = {
        "message": problem.detail,
        "type": kind.get(code, "BadRequestError"),
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
_GOOGLE_STATUSES = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


def _face(render: Callable[[Problem, str], Mapping[str, Any]]) -> Face:
    return Face(render, "application/json", _AS_BAD_REQUEST)


OPENAI, ANTHROPIC, GOOGLE, VLLM = map(_face, (_openai_error, _anthropic_error, _google_error, _vllm_error))
_FACES = {
    "/v1/responses/input_tokens": OPENAI,
    "/v1/messages/count_tokens": ANTHROPIC,
    "/tokenize": VLLM,
    "/detokenize": VLLM,
}
