"""The outermost layer: request ids, keys, rate limits, security headers, metrics, logs, and errors as problems."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from .access import Keys, RateLimit
from .cors import is_preflight
from .operations import Face
from .problems import Problem, internal, retry_after
from .protection import CROWDED, REFUSED, Receive, Scope, Send, drain
from .telemetry import Metrics, RequestLog, log

OPEN = frozenset({"/healthz", "/readyz", "/metrics", "/openapi.json"})
"""Paths that need no key and count towards no limit: the operator's, which a proxy keeps from the outside."""

GONE = 499
"""The status that logs and metrics show where the client went away before its answer; nginx's number."""

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_SECURITY = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)


class Door:
    """The ASGI application around FastAPI. POSTs to a known path skip it: its layers take as long as counting 1 KB."""

    def __init__(
        self,
        app: Any,
        *,
        direct: Mapping[str, Any],
        face_of: Callable[[str, Mapping[bytes, bytes]], Face],
        metrics: Metrics,
        keys: Keys,
        limit: RateLimit | None,
        requests: RequestLog | None,
    ) -> None:
        self._app = app
        self._direct = direct
        self._face_of = face_of
        self._metrics = metrics
        self._keys = keys
        self._limit = limit
        self._requests = requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        request_id = given.decode() if _REQUEST_ID.fullmatch(given) else os.urandom(8).hex()
        extra = [*_SECURITY, (b"x-request-id", request_id.encode())]
        status = GONE

        async def send_with_headers(message: dict[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *extra]
            await send(message)

        path = scope["path"]
        scope["tokengap.headers"], scope["tokengap.id"] = headers, request_id
        direct = self._direct.get(path) if scope["method"] == "POST" else None
        try:
            if path not in OPEN:
                await self._admit(scope, headers)
            await (direct or self._app)(scope, receive, send_with_headers)
        except Problem as problem:
            if status == GONE:
                if _cuts_off(scope, headers, problem):
                    await drain(receive)
                await self._fail(problem, scope, send_with_headers)
        except Exception:
            log.exception("failed", extra={"fields": {"request_id": request_id}})
            if status == GONE:
                await self._fail(internal(), scope, send_with_headers)
        finally:
            self._note(scope, path if direct else _route_of(scope), status, start, request_id)

    async def _admit(self, scope: Scope, headers: Mapping[bytes, bytes]) -> None:
        if state := scope.get("state"):
            if REFUSED in state:
                raise state[REFUSED]
            if CROWDED in state:
                raise retry_after("overloaded", "too many connections; try again later", 1)
        if scope["method"] == "OPTIONS" and is_preflight(scope):
            return
        caller = ""
        if self._keys:
            query = scope["query_string"]
            others = self._face_of(scope["path"], headers).keys_in(query) if query else ()
            caller = self._keys.check(headers, others)
        if self._limit:
            client = scope.get("client")
            await self._limit.check(caller or (client[0] if client else "unknown"))

    async def _fail(self, problem: Problem, scope: Scope, send: Send) -> None:
        face = self._face_of(scope["path"], scope["tokengap.headers"])
        status, head, content = face.answer(problem, scope["tokengap.id"])
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": content})

    def _note(self, scope: Scope, route: str, status: int, start: float, request_id: str) -> None:
        seconds, size = time.perf_counter() - start, scope.get("tokengap.size", 0)
        self._metrics.answered(route, status, seconds, size)
        if self._requests is not None:
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._requests.note(request_id, method, route, status, seconds, size)


def _cuts_off(scope: Scope, headers: Mapping[bytes, bytes], problem: Problem) -> bool:
    """Whether the connection ends with this answer while its client may still be sending a body nobody has read."""
    if "tokengap.size" in scope or problem.kind in ("body-too-slow", "body-too-large"):
        return False
    has_body = headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
    ends = scope["http_version"] == "1.0" or b"close" in headers.get(b"connection", b"").lower()
    return has_body and ends and b"expect" not in headers


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def _route_of(scope: Scope) -> str:
    """The template of the route that was found, never the path that was asked for."""
    route = scope.get("route")
    return getattr(route, "path", "none")
