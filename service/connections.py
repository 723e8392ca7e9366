"""The connection to a client: uvicorn's HTTP protocol, with bounds on all that is not a body.

A body is bounded where it is read (``protection.Bodies``). uvicorn itself sets no end to the length of a head or of
trailers, to the time a head takes, to requests sent ahead of their answers, or to the wait for a client that does not
read its answer. At a stop, a connection that is idle stays a moment for the request that is on its way.

What is no request is answered as one that the door refuses: in its turn, with an id and a line in the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cache
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .environment import read_settings
from .problems import Problem, retry_after
from .protection import CROWDED, DRAIN_SECONDS, REFUSED
from .settings import Settings

MAX_HEAD_BYTES = 64 * 2**10
"""Bytes that may come without one of a body among them: a head, trailers, the framing of chunks."""

MAX_AHEAD = 16
"""Requests that may be sent ahead of the answer to an earlier one."""

MAX_DISCARDED_BYTES = 2**20
"""Bytes that a client which was refused may still send and be left the time to read why."""

LINGER_SECONDS = 0.5
"""How long an idle connection is kept at a stop."""


@cache
def _settings() -> Settings:
    return read_settings()


class Joined:
    """A transport that sends the head of an answer together with what follows: a call of the system for each is a
    tenth of what a short request takes."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        self._head = b""
        self.part: Callable[[], None] | None = None
        """What to do in place of closing."""
        self._parted = False

    def write(self, data: bytes) -> None:
        if self._head:
            data, self._head = self._head + data, b""
        elif data.startswith(b"HTTP/1.1 ") and not data.startswith(b"HTTP/1.1 100 "):
            self._head = data
            return
        self.transport.write(data)

    def flush(self) -> None:
        """Send a head that nothing follows."""
        if self._head:
            self.write(b"")

    def close(self) -> None:
        self.flush()
        if self.part is None:
            self.transport.close()
        elif not self._parted:
            self._parted = True
            self.part()

    def is_closing(self) -> bool:
        return self._parted or self.transport.is_closing()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transport, name)


class Connection(HttpToolsProtocol):
    """One connection."""

    _size = 0
    _unread = 0
    _since_begun = 0
    _asks_for_another = False
    _in_body = False
    _refused = False
    _fault: Problem | None = None
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
        self._joined.part = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """As uvicorn's, but for what is refused, and for requests that ask for another protocol."""
        self._unset_keepalive_if_required()
        self._size = len(data)
        self._unread += self._size
        self._since_begun += self._size
        if self._refused:
            if self._unread > MAX_DISCARDED_BYTES:
                self.transport.abort()
            return
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._stay(data[upgrade.args[0] :])
            return
        except httptools.HttpParserError as error:
            self._refuse(self._fault or Problem("malformed-request", f"this is no HTTP request: {error}"))
            return
        if self._unread > MAX_HEAD_BYTES:
            self._refuse(_too_large("what stands around the body" if self._in_body else "the head"))

    def _stay(self, rest: bytes) -> None:
        """Read a request again without the wish for another protocol, for which the parser passed its body over."""
        kept = b"".join(b"%s: %s\r\n" % pair for pair in self.headers if pair[0] != b"upgrade")
        line = b"%s %s HTTP/%s\r\n" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self._asks_for_another, self._unread = False, 0
        self.data_received(b"%s%s\r\n%s" % (line, kept, rest))

    def on_message_begin(self) -> None:
        self._begun = self.loop.time()
        self._since_begun = self._size
        self._unread = self._unread or 1
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._asks_for_another = self.parser.should_upgrade()
        self._fault = self._fault_of_head()
        if self._fault:
            raise self._fault  # the parser stops here
        if self._asks_for_another:
            return
        super().on_headers_complete()
        self._in_body = True
        if self._stopping:
            self.cycle.keep_alive = False

    def _fault_of_head(self) -> Problem | None:
        if self._since_begun > MAX_HEAD_BYTES and self._head_bytes() > MAX_HEAD_BYTES:
            return _too_large("the head")
        if len(self.pipeline) >= MAX_AHEAD:
            return retry_after("overloaded", f"more than {MAX_AHEAD} requests are ahead of their answers", 1)
        hosts = 0
        for name, _ in self.headers:
            hosts += name == b"host"
        if hosts != 1 and (hosts or self.parser.get_http_version() != "1.0"):
            return Problem("malformed-request", "a request has one Host header (RFC 9112, section 3.2)")
        if self._asks_for_another and self.parser.get_method() == b"CONNECT":
            return Problem("malformed-request", "CONNECT is for proxies")
        return None

    def _head_bytes(self) -> int:
        """The length of a head: its lines with what stands between their parts."""
        lines = sum(len(name) + len(value) + 4 for name, value in self.headers)
        return len(self.parser.get_method()) + len(self.url) + len("  HTTP/1.1\r\n\r\n") + lines

    def on_body(self, body: bytes) -> None:
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self._asks_for_another:
            return
        self._unread = 0
        self._in_body = False
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
        waiting = self._idle and not self._refused and (self._unread or self.timeout_keep_alive_task is None)
        if self._stalled is not None and now - self._stalled >= self._patience:
            self.transport.abort()
            return
        if waiting and now - self._begun >= self._patience and not self._unread:
            self.transport.close()
        elif waiting and now - self._begun >= self._patience:
            self._refuse(Problem("head-too-slow", f"the head did not arrive within {self._patience:g} seconds"))
        self._watch = self.loop.call_later(self._patience / 2, self._look)

    def _refuse(self, problem: Problem) -> None:
        """Have the door answer what is no request, after those before it; and part."""
        if self.transport.is_closing():
            return
        self._refused, self._joined.part = True, self._part
        unfinished = self.cycle if self._in_body else None
        if unfinished and unfinished.response_started:
            self.transport.close()
            return
        if unfinished and self.pipeline and self.pipeline[0][0] is unfinished:
            self.pipeline.popleft()
        elif unfinished:
            unfinished.disconnected = True
            unfinished.message_event.set()
            self.cycle = None  # type: ignore[assignment]  # so that this answer need not wait for another
        self._add_refused(Problem(problem.kind, problem.detail, headers=(*problem.headers, ("Connection", "close"))))

    def _add_refused(self, problem: Problem) -> None:
        """Put in the place of what was sent a request that the door refuses."""
        known = self._fault is not None and self.parser.get_method() == b"HEAD"
        self.url, self.expect_100_continue = b"/", False
        super().on_headers_complete()
        self.scope["method"] = "HEAD" if known else "other"
        self.scope["http_version"] = "1.1"
        self.scope["state"] = {REFUSED: problem}
        self.cycle.keep_alive = self.cycle.more_body = False
        self.cycle.message_event.set()

    def _part(self) -> None:
        """Close once the client has had time to read: a close before all that it sent is read takes answers back."""
        self._unread = 0
        transport = self._joined.transport
        if transport.can_write_eof():
            transport.write_eof()
        self.flow.resume_reading()
        self.loop.call_later(DRAIN_SECONDS, transport.close)


def _too_large(part: str) -> Problem:
    return Problem("head-too-large", f"{part} is longer than {MAX_HEAD_BYTES:,} bytes")
