"""What keeps the service up: bounded bodies, bounded work, and answers that say to come back later."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from threading import Event
from typing import Any, TypeVar

from .json_files import NotJSONError, RefusedError, parse_json
from .problems import Fault, Problem, path_pointer, retry_after

Scope = MutableMapping[str, Any]
Receive = Callable[[], Any]
Send = Callable[[Any], Any]
T = TypeVar("T")

DRAIN_SECONDS = 2
"""How long a body that was refused is still read, so that its sender gets to see the answer."""

CROWDED = "tokengap.crowded"
"""Stands in the state of requests that come on a connection which is one too many."""

REFUSED = "tokengap.refused"
"""Stands in the state of what is no request, with the problem that it is answered with."""

_cancelled: ContextVar[Event | None] = ContextVar("cancelled", default=None)


class Abandoned(Exception):  # noqa: N818 - no error: the client went away, or the time is up
    """Raised between two texts in a thread whose result nobody waits for any more."""


def checkpoint() -> None:
    """Stop here where nobody waits for the result any more."""
    event = _cancelled.get()
    if event is not None and event.is_set():
        raise Abandoned


class Workers:
    """A thread pool with a bounded queue and a time limit. What does not fit in is refused at once."""

    def __init__(self, threads: int, queue: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="tokengap")
        self._capacity = threads + queue
        self._seconds = seconds
        self.pending = 0

    async def run(self, work: Callable[..., T], *args: Any, **options: Any) -> T:
        """Do the work in a thread. A thread cannot be stopped, so its place is free only when it is done."""
        if self.pending >= self._capacity:
            raise retry_after("overloaded", "too many long requests are waiting; try again later", 1)
        loop, event = asyncio.get_running_loop(), Event()
        self.pending += 1
        future = self._pool.submit(_watched, event, work, args, options)

        def done(_: Future[T]) -> None:
            with suppress(RuntimeError):  # the loop is closed: nothing counts any more
                loop.call_soon_threadsafe(self._done)

        future.add_done_callback(done)
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            detail = f"not done within {self._seconds:g} seconds; send less text at a time, or try again later"
            raise retry_after("too-slow", detail, self._seconds) from None
        finally:
            event.set()

    def _done(self) -> None:
        self.pending -= 1

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def _watched(event: Event, work: Callable[..., T], args: Sequence[Any], options: Mapping[str, Any]) -> T:
    token = _cancelled.set(event)
    try:
        checkpoint()  # it may have waited longer than anybody waits for it
        return work(*args, **options)
    finally:
        _cancelled.reset(token)


async def until_gone(receive: Receive) -> None:
    """Return when the client has gone away."""
    while (await receive())["type"] != "http.disconnect":
        pass


class Bodies:
    """Reads bodies: each up to a length and within a time, all of them together up to a budget of memory."""

    def __init__(self, longest: int, together: int, seconds: float) -> None:
        self._longest = longest
        self._together = together
        self._seconds = seconds
        self.held = 0

    async def read(self, headers: Mapping[bytes, bytes], receive: Receive) -> bytes | None:
        """A body, to be released by its length; ``None`` where the client went away before its end."""
        declared = headers.get(b"content-length", b"")
        if declared.isdigit() and (len(declared) > 18 or int(declared) > self._longest):
            if b"expect" not in headers:  # with it, the body has not been sent
                await drain(receive)
            raise self._too_large()
        # As asyncio.timeout, which takes as long as all else that is done for a short body.
        task, expired = asyncio.current_task(), False
        assert task is not None  # noqa: S101 - this is a coroutine

        def expire() -> None:
            nonlocal expired
            expired = True
            task.cancel()

        timer = asyncio.get_running_loop().call_later(self._seconds, expire)
        try:
            return await self._read(receive)
        except asyncio.CancelledError:
            if not expired or task.uncancel():
                raise
            detail = f"the body did not arrive within {self._seconds:g} seconds"
            raise Problem("body-too-slow", detail, headers=(("Connection", "close"),)) from None
        finally:
            timer.cancel()

    async def _read(self, receive: Receive) -> bytes | None:
        chunks: list[bytes] = []
        size, kept, more = 0, False, True
        try:
            while more:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                chunk = message.get("body", b"")
                self._hold(len(chunk))
                size += len(chunk)
                chunks.append(chunk)
                more = message.get("more_body", False)
                if size > self._longest:
                    if more:
                        await drain(receive)
                    raise self._too_large()
            kept = True
            return chunks[0] if len(chunks) == 1 else b"".join(chunks)
        finally:
            if not kept:
                self.release(size)

    def _hold(self, size: int) -> None:
        if self.held + size > self._together:
            raise retry_after("overloaded", "too much text is held at the moment; try again later", 1)
        self.held += size

    def release(self, size: int) -> None:
        self.held -= size

    def _too_large(self) -> Problem:
        detail = f"the body is longer than {self._longest:,} bytes; send less text at a time"
        return Problem("body-too-large", detail, headers=(("Connection", "close"),))


async def drain(receive: Receive) -> None:
    """Read what is left of a body that is refused, for a while, so that its sender gets to see the answer."""
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while True:
                message = await receive()
                if message["type"] != "http.request" or not message.get("more_body"):
                    return


def parse(raw: bytes) -> object:
    """The body as strict JSON; a lone surrogate in an escape stays what it is, and is counted as U+FFFD."""
    try:
        return parse_json(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Problem("malformed-json", f"the body is not UTF-8: byte {error.start} is wrong") from None
    except NotJSONError as error:
        raise Problem("malformed-json", str(error)) from None
    except RefusedError as error:
        raise Problem("malformed-json", str(error), (Fault(path_pointer(str(error)), str(error)),)) from None


_STRUCTURE = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{,\]}]', re.DOTALL)
_DEEPEST = 500


def check_structure(raw: bytes, most: int) -> None:
    """Refuse a body of more than ``most`` values before it is parsed.

    Parsing stops all other threads, for a second where four megabytes are nothing but brackets. This does not, and
    ends at the first value that is too many; a long text is one step.
    """
    values = depth = 0
    for match in _STRUCTURE.finditer(raw):
        sign = raw[match.start()]
        if sign in b"]}":
            depth -= 1
            continue
        values += 1
        depth += sign in b"[{"
        if depth > _DEEPEST:
            raise Problem("malformed-json", "nested too deeply")
        if values > most:
            detail = f"the body has more than {most:,} values; send less at a time"
            raise Problem("too-much-text", detail, (Fault("", detail),))


def measure_json(value: object, most: int) -> tuple[int, int]:
    """How many values and how many characters of text a JSON value holds; counting stops beyond ``most`` values."""
    todo, values, chars = [value], 0, 0
    while todo and values <= most:
        item = todo.pop()
        values += 1
        if isinstance(item, str):
            chars += len(item)
        elif isinstance(item, dict):
            chars += sum(map(len, item))
            todo.extend(item.values())
        elif isinstance(item, list):
            todo.extend(item)
    return values, chars
