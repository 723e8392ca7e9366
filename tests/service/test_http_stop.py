"""At SIGTERM what was accepted is answered, then the process ends; and several workers are one service."""

from __future__ import annotations

import http.client
import json
import re
import signal
import threading
import time
from collections.abc import Callable
from contextlib import closing
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


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_what_was_accepted_is_answered_at_a_stop(serve: Callable[..., Any], workers: str) -> None:
    with serve("--workers", workers, queue="50") as server:
        for _ in range(10):
            assert server.post("/v1/count", {"input": "a"}).status_code == 200
        assert all(shows_all(server, 10) for _ in range(5))
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


def shows_all(server: Any, requests: int) -> bool:
    """Whether the metrics of whichever worker answers are those of all."""
    text = server.get("/metrics").text
    answered = re.search(r'^tokengap_requests_total\{route="/v1/count",status="200"\} (\S+)$', text, re.MULTILINE)
    return answered is not None and float(answered[1]) == requests
