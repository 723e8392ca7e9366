"""What the service says of itself: Prometheus metrics and one JSON log line a request. Never any text of it."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TextIO

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

if TYPE_CHECKING:
    from ..estimators.request_count import RequestCount
    from ..tokenizers.counter import Count

MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"
"""prometheus-client's own variable: the folder in which several workers share their numbers."""

CONTENT_TYPE = "text/plain; version=1.0.0; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_BYTES = tuple(4**power for power in range(4, 12))

log = logging.getLogger("tokengap.http")


class Metrics:
    """The metrics of one application. Labels take few values: names that callers choose are none."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "tokengap_requests", "Requests by route and status", ("route", "status"), registry=self.registry
        )
        self._seconds = Histogram(
            "tokengap_request_duration_seconds",
            "From the request's head to the answer's end",
            ("route",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._bytes = Histogram(
            "tokengap_input_bytes", "Length of request bodies", buckets=_BYTES, registry=self.registry
        )
        self._tokens = Counter(
            "tokengap_tokens_counted", "Tokens counted, by tokenizer and kind", ("encoding", "kind"),
            registry=self.registry,
        )  # fmt: skip
        self._unpriced = Counter(
            "tokengap_unpriced", "Answers without a price, by reason", ("reason",), registry=self.registry
        )
        self.limiter_errors = Counter(
            "tokengap_rate_limit_store_errors", "Rate limits decided without Redis", registry=self.registry
        )
        self._prices = Gauge(
            "tokengap_price_data_info",
            "The price table that is used",
            ("source", "version", "sha256"),
            registry=self.registry,
            multiprocess_mode="max",
        )
        # Looking a label up takes longer than counting it.
        self._request = lru_cache(maxsize=512)(lambda route, status: self._requests.labels(route, str(status)))
        self._duration = lru_cache(maxsize=64)(self._seconds.labels)
        self._token = lru_cache(maxsize=256)(self._tokens.labels)

    def answered(self, route: str, status: int, seconds: float, size: int) -> None:
        self._request(route, status).inc()
        self._duration(route).observe(seconds)
        if size:
            self._bytes.observe(size)

    def counted(self, counts: Iterable[Count | RequestCount]) -> None:
        """Rules of thumb are put together by what they count: their factors are the caller's."""
        sums: dict[tuple[str, str], int] = {}
        for count in counts:
            key: tuple[str, str] = count.tokenizer.partition(":")[0], count.kind
            sums[key] = sums.get(key, 0) + count.tokens
        for key, tokens in sums.items():
            self._token(*key).inc(tokens)

    def unpriced(self, reason: str) -> None:
        self._unpriced.labels(reason).inc()

    def prices(self, source: str, version: str | None, sha256: str | None) -> None:
        self._prices.labels(source, version or "", sha256 or "").set(1)

    def render(self) -> bytes:
        """All metrics as text; of every worker where there are several."""
        if MULTIPROCESS not in os.environ:
            return generate_latest(self.registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


class JsonLines(logging.Formatter):
    """A log record as a line of JSON; ``extra={"fields": {...}}`` adds members."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S") + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line["exception"] = type(record.exc_info[1]).__name__
            line["traceback"] = _places(record.exc_info[1])
        return json.dumps(line)


class RequestLog:
    """One line of JSON a request, written in bunches: a write for each would take as long as a short count."""

    DELAY_SECONDS = 0.05

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._lines: list[str] = []
        self._second, self._stamp = 0, ""

    def note(self, request_id: str, method: str, route: str, status: int, seconds: float, size: int) -> None:
        """Note one request. Nothing in it is the caller's own but the id, which was checked."""
        now = time.time()
        if int(now) != self._second:
            self._second = int(now)
            self._stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
        if not self._lines:
            asyncio.get_running_loop().call_later(self.DELAY_SECONDS, self.flush)
        self._lines.append(
            f'{{"time": "{self._stamp}.{int(now % 1 * 1000):03d}Z", "level": "info", "event": "request", '
            f'"request_id": "{request_id}", "method": "{method}", "route": "{route}", "status": {status}, '
            f'"ms": {seconds * 1000:.3f}, "bytes": {size}}}\n'
        )

    def flush(self) -> None:
        """Write what has been noted. A log that nobody takes is no reason to fail."""
        lines, self._lines = self._lines, []
        stream = self._stream or sys.stderr
        if lines and stream is not None:
            with suppress(OSError, ValueError):
                stream.write("".join(lines))
                stream.flush()


def _places(error: BaseException) -> list[str]:
    """Where an error was raised, without its message or any value: those may hold text of a request."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    return [f"{os.path.basename(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]


def log_config(level: str) -> dict[str, Any]:
    """The logging set-up of a server process: JSON lines on standard error, uvicorn's own among them."""
    handler = {"class": "logging.StreamHandler", "formatter": "json", "stream": "ext://sys.stderr"}
    own = {"handlers": ["stderr"], "level": level.upper(), "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": f"{__name__}.utc_lines"}},
        "handlers": {"stderr": handler},
        "loggers": {"tokengap": own, "uvicorn": own | {"level": "INFO"}},
    }


def utc_lines() -> JsonLines:
    """The formatter, in UTC."""
    formatter = JsonLines()
    formatter.converter = time.gmtime
    return formatter
