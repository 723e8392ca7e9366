"""Who may ask, and how often."""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256

from limits import RateLimitItem, parse
from limits.aio.storage import MemoryStorage, RedisStorage, Storage
from limits.aio.strategies import SlidingWindowCounterRateLimiter

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

    def check(self, headers: Headers) -> str:
        """The name of the key that was sent: the beginning of its digest. Raises Problem for any other."""
        sent = sha256(_sent(headers)).digest()
        found = [digest for digest in self._digests if hmac.compare_digest(digest, sent)]
        if not found:
            detail = "send a valid key as 'Authorization: Bearer KEY', 'X-Api-Key: KEY' or 'X-Goog-Api-Key: KEY'"
            raise Problem("missing-key", detail, headers=(("WWW-Authenticate", "Bearer"),))
        return found[0].hex()[:16]


def _sent(headers: Headers) -> bytes:
    """The key in any of the headers that the SDKs use; two that differ are taken by the first."""
    scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
    if scheme.lower() == b"bearer" and token:
        return token.strip()
    return headers.get(b"x-api-key") or headers.get(b"x-goog-api-key") or b""


class RateLimit:
    """A sliding window for each caller, in Redis where one is named, else in this process.

    Without its Redis the same limit is kept in this process, and Redis is tried again after a pause.
    """

    def __init__(self, limit: str, redis_url: str | None, failed: Callable[[], None]) -> None:
        self._item: RateLimitItem = parse(limit)
        self._memory = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._redis = SlidingWindowCounterRateLimiter(_redis(redis_url)) if redis_url else None
        self._failed = failed
        self._resume = 0.0

    async def check(self, caller: str) -> None:
        """Count one request of a caller. Raises Problem where it is one too many."""
        if not await self._hit(caller):
            raise retry_after("rate-limited", f"more than {self._item} for one caller", await self._wait(caller))

    async def _hit(self, caller: str) -> bool:
        if self._redis and time.monotonic() >= self._resume:
            try:
                async with asyncio.timeout(REDIS_SECONDS):
                    return await self._redis.hit(self._item, caller)
            except Exception as error:  # whatever fails in the store, the service goes on
                self._resume = time.monotonic() + PAUSE_SECONDS
                self._failed()
                log.warning("rate limit store failed", extra={"fields": {"error": type(error).__name__}})
        return await self._memory.hit(self._item, caller)

    async def _wait(self, caller: str) -> float:
        limiter = self._redis if self._redis and time.monotonic() >= self._resume else self._memory
        try:
            async with asyncio.timeout(REDIS_SECONDS):
                stats = await limiter.get_window_stats(self._item, caller)
        except Exception:  # only the hint when to come back depends on it
            return self._item.get_expiry()
        return stats.reset_time - time.time()


def _redis(url: str) -> Storage:
    return RedisStorage(f"async+{url}", implementation="redispy")
