"""The connection to a client: uvicorn's HTTP protocol, with bounds on all that is not a body.

A body is bounded where it is read (``protection.Bodies``). uvicorn itself sets no end to the length of a head or of
trailers, to the time a head takes, to requests sent ahead of their answers, or to the wait for a client that does not
read its answer. At a stop, a connection that is idle stays a moment for the request that is on its way.
"""

from __future__ import annotations

import asyncio
from functools import cache
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .environment import read_settings
from .operations import OWN
from .problems import Problem
from .protection import CROWDED
from .settings import Settings

MAX_HEAD_BYTES = 64 * 2**10
"""Bytes that may come without one of a body among them: a head, trailers, the framing of chunks."""

MAX_AHEAD = 16
"""Requests that may be sent ahead of the answer to an earlier one."""

LINGER_SECONDS = 0.5
"""How long an idle connection is kept at a stop."""


@cache
def _settings() -> Settings:
    return read_settings()


class Joined:
    """A transport that sends the head of an answer together with what follows: a call of the system for each is a
    tenth of what a short request takes."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head = b""

    def write(self, data: bytes) -> None:
        if self._head:
            data, self._head = self._head + data, b""
        elif data.startswith(b"HTTP/1.1 ") and not data.startswith(b"HTTP/1.1 100 "):
            self._head = data
            return
        self._transport.write(data)

    def flush(self) -> None:
        """Send a head that nothing follows."""
        if self._head:
            self.write(b"")

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Connection(HttpToolsProtocol):
    """One connection."""

    _unread = 0
    _stopping = False
    _begun: float
    _stalled: float | None = None
    _watch: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._joined = Joined(transport)
        super().connection_made(self._joined)  # type: ignore[arg-type]
        self._begun = self.loop.time()
        self._patience = _settings().body_seconds
        self._watch = self.loop.call_later(self._patience / 2, self._look)
        most = _settings().connections
        if len(self.connections) > 2 * most:
            transport.abort()
        elif len(self.connections) > most:
            self.app_state = {**self.app_state, CROWDED: True}

    def connection_lost(self, exc: Exception | None) -> None:
        if self._watch:
            self._watch.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._unread += len(data)
        super().data_received(data)
        if self._unread > MAX_HEAD_BYTES:
            self._refuse(Problem("head-too-large", f"the head is longer than {MAX_HEAD_BYTES:,} bytes"))

    def on_message_begin(self) -> None:
        self._begun = self.loop.time()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        if self._stopping:
            self.cycle.keep_alive = False
        if len(self.pipeline) > MAX_AHEAD:
            raise ValueError("too many requests ahead of their answers")  # the parser stops here, with a 400

    def on_body(self, body: bytes) -> None:
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unread = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self._joined.flush()
        super().on_response_complete()

    def pause_writing(self) -> None:
        self._stalled = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._stalled = None
        super().resume_writing()

    def shutdown(self) -> None:
        self._stopping = True
        if self._idle:
            self.loop.call_later(LINGER_SECONDS, self._leave)
        else:
            super().shutdown()

    @property
    def _idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _leave(self) -> None:
        if self._idle:
            self.transport.close()

    def _look(self) -> None:
        """Part with a client that has kept us waiting; the wait for its next request is uvicorn's to bound."""
        now = self.loop.time()
        waiting = self._idle and (self._unread or self.timeout_keep_alive_task is None)
        if self._stalled is not None and now - self._stalled >= self._patience:
            self.transport.abort()
        elif waiting and now - self._begun >= self._patience:
            self._refuse(Problem("head-too-slow", f"the head did not arrive within {self._patience:g} seconds"))
        else:
            self._watch = self.loop.call_later(self._patience / 2, self._look)

    def _refuse(self, problem: Problem) -> None:
        """Answer before there is a request to answer, where the client still is at one; and part."""
        if self.transport.is_closing():
            return
        if self._idle and self._unread:
            status, head, content = OWN.answer(problem, "none")
            lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode(), *(b"%s: %s" % pair for pair in head)]
            self.transport.write(b"\r\n".join([*lines, b"connection: close", b"", content]))
        self.transport.close()
