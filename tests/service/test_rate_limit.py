"""One rate limit for several workers, with a real Redis that is killed, started again, and frozen."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

from tokengap.service.access import PAUSE_SECONDS, REDIS_SECONDS, Window
from tokengap.service.problems import retry_after

LIMIT = 20
ATTEMPTS = 3
PASSWORD = "never-in-a-log"  # noqa: S105


class Redis:
    """A server of our own, always at the same address."""

    def __init__(self, program: str, folder: Path, port: int) -> None:
        self.url = f"redis://:{PASSWORD}@127.0.0.1:{port}/0"
        self._command = [program, "--port", str(port), "--bind", "127.0.0.1", "--requirepass", PASSWORD, "--save", ""]
        self._command += ["--dir", str(folder), "--logfile", str(folder / "redis.log")]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(self._command)
        with closing(redis.Redis.from_url(self.url)) as client:
            for _ in range(200):
                try:
                    client.ping()
                    return
                except redis.ConnectionError:
                    time.sleep(0.05)
        raise AssertionError("Redis does not start")

    def kill(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()

    def send(self, number: signal.Signals) -> None:
        assert self._process
        self._process.send_signal(number)


@pytest.fixture
def store(program: Callable[[str], str], tmp_path: Path, unused_port: int) -> Iterator[Redis]:
    server = Redis(program("redis-server"), tmp_path, unused_port)
    yield server
    server.kill()


def ask(url: str, key: str) -> tuple[int, float]:
    """One request over a connection of its own: its status, and the seconds it took."""
    where = urlsplit(url)
    with closing(http.client.HTTPConnection(str(where.hostname), where.port, timeout=30)) as connection:
        start = time.monotonic()
        connection.request(
            "POST", "/v1/count", json.dumps({"input": "a"}), {"Content-Type": "application/json", "X-Api-Key": key}
        )
        response = connection.getresponse()
        response.read()
        assert response.status == 200 or int(response.headers["retry-after"]) >= 1
        return response.status, time.monotonic() - start


def passed(doors: list[Any], key: str, times: int = 3 * LIMIT) -> int:
    """How many of a caller's requests pass, sent to the doors in turn; the others are refused, and none fails."""
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda number: ask(doors[number % len(doors)].url, key), range(times)))
    statuses = [status for status, _ in answers]
    assert set(statuses) <= {200, 429}
    assert max(seconds for _, seconds in answers) < REDIS_SECONDS + 2
    return statuses.count(200)


def shared(doors: list[Any], phase: str) -> int:
    """How many pass while Redis answers in time, which it may not on a machine that has too much to do."""
    for attempt in range(ATTEMPTS):
        late = timeouts(doors)
        count = passed(doors, f"{phase}{attempt}")
        if timeouts(doors) == late:
            return count
        time.sleep(PAUSE_SECONDS + 0.5)
    pytest.fail(f"Redis was too slow {ATTEMPTS} times")


def timeouts(doors: list[Any]) -> int:
    return sum(door.log.read_text().count('"error": "TimeoutError"') for door in doors)


def store_errors(door: Any) -> float:
    found = re.search(r"^tokengap_rate_limit_store_errors_total (\S+)", door.get("/metrics").text, re.MULTILINE)
    return float(found[1]) if found else 0


@given(
    st.integers(1, 5),
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from((0.0, 0.25, 1.0, 7.5, 10.0, 40.0))), max_size=60),
)
def test_no_window_holds_more_than_the_limit_and_none_less(amount: int, steps: list[tuple[str, float]]) -> None:
    """Beside the definition: a request passes if fewer than the limit passed in the window that ends with it."""
    now = 0.0
    window = Window(amount, 10, lambda: now)
    passed: dict[str, list[float]] = {"a": [], "b": [], "c": []}
    for caller, pause in steps:
        now += pause
        inside = [at for at in passed[caller] if at > now - 10]
        wait = window.hit(caller)
        if len(inside) < amount:
            assert wait == 0
            passed[caller].append(now)
        else:
            assert wait == inside[0] + 10 - now > 0
        assert len(window) == sum(any(at > now - 10 for at in times) for times in passed.values())


def test_callers_who_do_not_come_back_are_forgotten() -> None:
    now = 0.0
    window = Window(5, 60, lambda: now)
    for number in range(10_000):
        now += 0.1
        assert window.hit(f"caller {number}") == 0
    assert len(window) == 600


@pytest.mark.parametrize(("seconds", "shown"), [(0.2, "1"), (1, "1"), (1.01, "2"), (54.06, "55"), (60, "60")])
def test_the_time_to_come_back_is_never_too_early(seconds: float, shown: str) -> None:
    assert retry_after("rate-limited", "", seconds).headers == (("Retry-After", shown),)


@pytest.mark.slow
@pytest.mark.system
@pytest.mark.parametrize("kept", ["in memory", "in Redis"])
def test_the_window_slides_and_who_waits_as_told_passes(serve: Callable[..., Any], store: Redis, kept: str) -> None:
    """Wherever the limit is kept, and whenever in a minute one begins."""
    settings = {"rate_limit": "5 per 6 second"}
    if kept == "in Redis":
        store.start()
        settings["redis_url"] = store.url
    with serve(**settings) as door:
        begun = time.monotonic()
        for number in range(5):
            time.sleep(max(0, begun + number - time.monotonic()))
            assert ask(door.url, "any")[0] == 200
        refused = door.post("/v1/count", {"input": "a"})
        assert refused.status_code == 429
        assert time.monotonic() - begun < 6, "the machine has too much to do for this test"
        assert int(refused.headers["retry-after"]) == 2
        time.sleep(2)
        assert ask(door.url, "any")[0] == 200
        assert ask(door.url, "any")[0] == 429


@pytest.mark.slow
@pytest.mark.system
@pytest.mark.parametrize("processes", ["two servers", "two workers"])
def test_the_limit_holds_across_workers_and_redis_may_go_and_come(
    serve: Callable[..., Any], store: Redis, processes: str
) -> None:
    store.start()
    phases = ("before", "down", "after", "frozen", "thawed")
    settings = {
        "api_keys": ",".join(f"{phase}{attempt}" for phase in phases for attempt in range(ATTEMPTS)),
        "rate_limit": f"{LIMIT}/minute",
        "redis_url": store.url,
    }
    # Two workers share a socket: one of them may have taken every connection.
    least = LIMIT + 1 if processes == "two servers" else LIMIT
    with ExitStack() as stack:
        if processes == "two servers":
            doors = [stack.enter_context(serve(**settings)) for _ in range(2)]
        else:
            doors = [stack.enter_context(serve("--workers", "2", **settings))]
        assert shared(doors, "before") == LIMIT

        store.kill()  # each worker keeps the limit by itself
        assert least <= passed(doors, "down0") <= 2 * LIMIT
        assert all(map(store_errors, doors))

        store.start()  # it forgot everything: counts, and the scripts that count
        time.sleep(PAUSE_SECONDS + 0.5)
        assert shared(doors, "after") == LIMIT

        store.send(signal.SIGSTOP)  # it takes connections, and answers nothing
        assert least <= passed(doors, "frozen0") <= 2 * LIMIT
        store.send(signal.SIGCONT)
        time.sleep(PAUSE_SECONDS + 0.5)
        assert shared(doors, "thawed") == LIMIT
    for door in doors:
        assert '"rate limit store failed"' in door.log.read_text()
        assert PASSWORD not in door.log.read_text()


@pytest.mark.slow
@pytest.mark.system
def test_the_service_starts_without_its_redis(serve: Callable[..., Any], store: Redis) -> None:
    with serve(api_keys="down,up0,up1,up2", rate_limit=f"{LIMIT}/minute", redis_url=store.url) as door:
        assert passed([door], "down") == LIMIT
        assert store_errors(door) >= 1
        store.start()
        time.sleep(PAUSE_SECONDS + 0.5)
        assert shared([door], "up") == LIMIT
        with closing(redis.Redis.from_url(store.url)) as client:
            assert client.dbsize() > 0
