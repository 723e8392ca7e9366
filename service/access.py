"""Who may ask, and how often."""

from __future__ import annotations

import asyncio
import hmac
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from limits import RateLimitItem, parse
from limits.aio.storage import RedisStorage, Storage
from limits.aio.strategies import MovingWindowRateLimiter
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from .problems import Problem, retry_after
from .telemetry import log

REDIS_SECONDS = 0.25
"""How long Redis may take to answer; beyond, the limit is kept in memory."""

PAUSE_SECONDS = 5
"""How long Redis is left alone after a failure."""

Headers = Mapping[bytes, bytes]


class Keys:
    """API keys, kept as digests. All are compared, each in constant time, so that time tells nothing."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._digests = [sha256(key.encode()).digest() for key in keys]

    def __bool__(self) -> bool:
        return bool(self._digests)

    def check(self, headers: Headers, others: Iterable[bytes] = ()) -> str:
        """The name of the first right key that was sent: the beginning of its digest. Raises Problem without one.

        ``others`` are keys that were sent elsewhere than in headers.
        """
        for key in (*_sent(headers), *others):
            sent = sha256(key).digest()
            found = [digest for digest in self._digests if hmac.compare_digest(digest, sent)]
            if found:
                return found[0].hex()[:16]
        detail = "send a valid key as 'Authorization: Bearer KEY', 'X-Api-Key: KEY' or 'X-Goog-Api-Key: KEY'"
        raise Problem("missing-key", detail, headers=(("WWW-Authenticate", "Bearer"),))


def _sent(headers: Headers) -> Iterator[bytes]:
    """What any of the headers that the SDKs use has; one of them may be for somebody else, such as a proxy."""
    scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
    if scheme.lower() == b"bearer":
        yield token.strip()
    yield headers.get(b"x-api-key", b"")
    yield headers.get(b"x-goog-api-key", b"")


class RateLimit:
    """A sliding window for each caller, in Redis where one is named, else in this process.

    Without its Redis the same limit is kept in this process, and Redis is tried again after a pause.
    """

    def __init__(self, limit: str, redis_url: str | None, failed: Callable[[], None]) -> None:
        self._item: RateLimitItem = parse(limit)
        self._memory = Window(self._item.amount, self._item.get_expiry())
        self._redis = MovingWindowRateLimiter(_redis(redis_url)) if redis_url else None
        self._failed = failed
        self._resume = 0.0

    async def check(self, caller: str) -> None:
        """Count one request of a caller. Raises Problem where it is one too many."""
        wait = await self._hit(caller)
        if wait:
            raise retry_after("rate-limited", f"more than {self._item} for one caller", wait)

    async def _hit(self, caller: str) -> float:
        """Zero where it passes, else the seconds until one would."""
        if self._redis and time.monotonic() >= self._resume:
            try:
                async with asyncio.timeout(REDIS_SECONDS):
                    if await self._redis.hit(self._item, caller):
                        return 0
                    stats = await self._redis.get_window_stats(self._item, caller)
                    return max(stats.reset_time - time.time(), 1)
            except Exception as error:  # whatever fails in the store, the service goes on
                self._resume = time.monotonic() + PAUSE_SECONDS
                self._failed()
                log.warning("rate limit store failed", extra={"fields": {"error": type(error).__name__}})
        return self._memory.hit(caller)


class Window:
    """A sliding window in memory: when each caller's last requests passed, up to ``amount`` in ``seconds``.

    That of the library looks through all callers for every request, with a thread for each.
    """

    def __init__(self, amount: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._amount = amount
        self._seconds = seconds
        self._clock = clock
        self._passed: dict[str, array[float]] = {}
        """The callers in the order of their last request that passed."""

    def __len__(self) -> int:
        return len(self._passed)

    def hit(self, caller: str) -> float:
        """Count one request, and return zero; or, where it is one too many, the seconds until one would pass."""
        now = self._clock()
        begin = now - self._seconds
        self._forget(begin)
        times = self._passed.get(caller)
        if times is None:
            times = array("d")
        elif len(times) == self._amount:
            if times[0] > begin:
                return times[0] - begin
            times.pop(0)
        self._passed.pop(caller, None)
        times.append(now)
        self._passed[caller] = times
        return 0

    def _forget(self, begin: float) -> None:
        """Drop callers with nothing in the window: each was added once, so that this takes no time in the mean."""
        while self._passed:
            oldest, times = next(iter(self._passed.items()))
            if times[-1] > begin:
                return
            del self._passed[oldest]


def _redis(url: str) -> Storage:
    # Of a Redis that was started again, the pool holds only dead connections: each is made anew at once.
    retry: Any = Retry(NoBackoff(), 1)
    return RedisStorage(f"async+{url}", implementation="redispy", retry=retry)
