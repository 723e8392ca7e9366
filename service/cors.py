"""Calls from browsers: Starlette's CORS in two halves, with the door between them.

Outside, ``Cors`` marks all answers, those of the door too; inside, ``Preflights`` answers what a browser asks before it
calls, so that these answers have an id, headers and a line in the log as all have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response

from .problems import Problem
from .protection import Receive, Scope, Send

EXPOSED = (
    "X-Request-Id",
    "request-id",
    "Retry-After",
    "X-Tokengap-Kind",
    "X-Tokengap-Method",
    "X-Tokengap-Fingerprint",
    "X-Tokengap-Interval",
    "X-Tokengap-Warnings",
)
"""Headers of an answer that a page may read."""


def is_preflight(scope: Scope) -> bool:
    """Whether a browser asks what it may ask."""
    if scope["type"] != "http" or scope["method"] != "OPTIONS":
        return False
    names = {name for name, _ in scope["headers"]}
    return {b"origin", b"access-control-request-method"} <= names


class Cors(CORSMiddleware):
    """Outside the door."""

    def __init__(self, app: Any, origins: Sequence[str]) -> None:
        # Any header may be sent: the SDKs have dozens of their own, and no cookie is taken.
        super().__init__(app, origins, allow_methods=["GET", "POST"], allow_headers=["*"], expose_headers=EXPOSED)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if is_preflight(scope):
            await self.app(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


class Preflights(Cors):
    """Inside the door."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if is_preflight(scope):
            await self.preflight_response(Headers(scope=scope))(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def preflight_response(self, request_headers: Headers) -> Response:
        """Raises Problem where it is refused; Starlette's text says for what."""
        response = super().preflight_response(request_headers)
        if response.status_code >= 400:
            what = bytes(response.body).decode().removeprefix("Disallowed CORS ")
            raise Problem("cors-refused", f"calls from browsers are not allowed with this {what}")
        return response
