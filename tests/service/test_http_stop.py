"""At SIGTERM what was accepted is answered, then the process ends; and several workers are one service."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

TEXT = {"input": "word " * 200_000}
HEADERS = {"Content-Type": "application/json"}


def connection_to(server: Any) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=30)


class Client(threading.Thread):
    """Sends one request after another on one connection, until it is told that this was the last."""

    def __init__(self, server: Any, body: Any) -> None:
        super().__init__()
        self.connection = connection_to(server)
        self.connection.connect()
        self.body = json.dumps(body)
        self.statuses: list[int] = []
        self.lost: Exception | None = None

    def run(self) -> None:
        try:
            while True:
                self.connection.request("POST", "/v1/count", self.body, HEADERS)
                response = self.connection.getresponse()
                response.read()
                self.statuses.append(response.status)
                if response.will_close:
                    return
        except Exception as error:
            self.lost = error
        finally:
            self.connection.close()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_what_was_accepted_is_answered_at_a_stop(serve: Callable[..., Any], workers: str) -> None:
    with serve("--workers", workers, queue="50") as server:
        clients = [Client(server, TEXT if number % 4 == 0 else {"input": "short"}) for number in range(12)]
        idle = connection_to(server)
        idle.connect()
        for client in clients:
            client.start()
        time.sleep(1.5)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        idle.request("POST", "/v1/count", json.dumps({"input": "on its way"}), HEADERS)
        with closing(idle):
            assert idle.getresponse().status == 200
        for client in clients:
            client.join(30)
        assert server.process.wait(30) == 0
    assert [client.lost for client in clients] == [None] * len(clients)
    assert {status for client in clients for status in client.statuses} == {200}
    assert "raceback" not in server.log.read_text()


def test_two_workers_answer_and_are_measured_together(serve: Callable[..., Any]) -> None:
    with serve("--workers", "2") as server:
        for _ in range(40):
            with closing(connection_to(server)) as client:
                client.request("POST", "/v1/count", json.dumps({"input": "a"}), HEADERS)
                assert client.getresponse().read()
        assert len(children(server.process.pid)) >= 2
        for _ in range(5):  # whichever worker answers
            text = server.get("/metrics").text
            assert 'tokengap_requests_total{route="/v1/count",status="200"} 40.0' in text
            assert 'tokengap_tokens_counted_total{encoding="o200k_base",kind="exact"} 40.0' in text
            assert re.search(r'tokengap_price_data_info\{.*version="[\d.]+"\} 1\.0', text)


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_a_worker_that_dies_is_replaced(serve: Callable[..., Any]) -> None:
    with serve("--workers", "2") as server:
        before = set(children(server.process.pid))
        victim = max(before, key=int)
        os.kill(int(victim), signal.SIGKILL)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not set(children(server.process.pid)) - before:
            time.sleep(0.1)
        assert set(children(server.process.pid)) - before
        assert server.post("/v1/count", {"input": "a"}).status_code == 200


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"TOKENGAP_THREADS": "none"}, "TOKENGAP_THREADS"),
        ({"TOKENGAP_RATE_LIMIT": "lots"}, "TOKENGAP_RATE_LIMIT"),
        ({"TOKENGAP_API_KEYS_FILE": "/no/such/file"}, "/no/such/file"),
        ({"TOKENGAP_PRICES": "/no/such/file"}, "/no/such/file"),
        ({"TOKENGAP_COUNTERS": "o200k_base,bpe"}, "bpe"),
        ({"TOKENGAP_COUNTERS": "o200k"}, "o200k"),
        ({"TOKENGAP_PRELOAD": "cl100k_base", "TOKENGAP_COUNTERS": "o200k_base"}, "cl100k_base"),
    ],
)
def test_wrong_settings_are_said_at_once(settings: dict[str, str], said: str) -> None:
    program = Path(sys.executable).with_name("tokengap")
    done = subprocess.run(
        [program, "serve", "--port", "0"],
        capture_output=True,
        text=True,
        env={**os.environ, **settings},
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
