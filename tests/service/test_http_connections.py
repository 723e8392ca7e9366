"""What a client may do to its connection: be slow, silent, endless, greedy or deaf, and still hold up nobody."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest

JSON = "Host: x\r\nContent-Type: application/json\r\n"
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
CONNECTIONS = 30


@pytest.fixture(scope="module")
def strict(serve: Callable[..., Any]) -> Iterator[Any]:
    with serve(body_seconds="0.6", connections=str(CONNECTIONS), api_keys="right") as server:
        yield server


def connect(server: Any) -> socket.socket:
    host, port = server.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=10)


def post(body: str, *headers: str, path: str = "/v1/count") -> bytes:
    lines = "".join(f"{line}\r\n" for line in ("Authorization: Bearer right", *headers))
    return f"POST {path} HTTP/1.1\r\n{JSON}{lines}Content-Length: {len(body)}\r\n\r\n{body}".encode()


def health(connection: socket.socket) -> None:
    """The answer to HEALTH, whole."""
    received = b""
    while not received.endswith(b'{"status":"alive"}'):
        received += connection.recv(1000)
    assert received.startswith(b"HTTP/1.1 200 ")


def rest(connection: socket.socket) -> bytes:
    """All that comes until the server parts."""
    received = b""
    with suppress(ConnectionError):
        while chunk := connection.recv(65536):
            received += chunk
    return received


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        (b"", None),
        (b"POST /v1/count HT", "head-too-slow"),
        (HEALTH[:-2], "head-too-slow"),
        (post("x" * 100)[:-100], "body-too-slow"),
        (post("x" * 100)[:-50], "body-too-slow"),
    ],
    ids=["nothing", "a line", "headers", "no body", "half a body"],
)
def test_a_client_that_does_not_go_on_is_parted_with(strict: Any, sent: bytes, kind: str | None) -> None:
    with connect(strict) as connection:
        connection.sendall(sent)
        answer = rest(connection)
    if kind is None:
        assert answer == b""
        return
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["type"] == f"urn:tokengap:problem:{kind}"


def test_a_head_that_drips_is_not_waited_for(strict: Any) -> None:
    start = time.monotonic()
    with connect(strict) as connection, suppress(ConnectionError):
        while time.monotonic() < start + 10:
            connection.sendall(b"G")
            time.sleep(0.1)
    assert time.monotonic() < start + 5


def test_an_idle_connection_is_kept_for_the_next_request(strict: Any) -> None:
    with connect(strict) as connection:
        for _ in range(2):
            connection.sendall(HEALTH)
            health(connection)
            time.sleep(1.5)
        connection.sendall(HEALTH[:20])
        time.sleep(0.1)
        connection.sendall(HEALTH[20:])
        health(connection)


@pytest.mark.parametrize(
    ("first", "more", "status"),
    [
        (b"GET /", b"a" * 65536, b"431"),
        (HEALTH[:-2], b"X-Header: " + b"a" * 990 + b"\r\n", b"431"),
        (HEALTH[:-2] + b"X-Header: ", b"a" * 65536, b"431"),
        (post("")[:-4].replace(b"Content-Length: 0", b"Transfer-Encoding: chunked") + b"\r\n\r\n0\r\n",
         b"X-Trailer: " + b"a" * 990 + b"\r\n", b""),
        (post("")[:-4].replace(b"Content-Length: 0", b"Transfer-Encoding: chunked") + b"\r\n\r\n1;",
         b"a" * 990, b""),
    ],
    ids=["url", "headers", "a header", "trailers", "chunk extensions"],
)  # fmt: skip
def test_what_has_no_end_is_cut_off(strict: Any, first: bytes, more: bytes, status: bytes) -> None:
    sent = 0
    with connect(strict) as connection:
        connection.sendall(first)
        with suppress(ConnectionError):
            while sent < 50 * 2**20:
                connection.sendall(more)
                sent += len(more)
        assert sent < 20 * 2**20, "it was taken"
        answer = rest(connection)
    assert answer[9:12] in (b"", status)  # a client that goes on sending may lose the answer
    assert strict.get("/healthz").status_code == 200


def test_requests_far_ahead_of_their_answers_are_refused(strict: Any) -> None:
    with connect(strict) as connection:
        with suppress(ConnectionError):
            connection.sendall(HEALTH * 20_000)
        assert rest(connection).count(b"HTTP/1.1 200 ") < 10_000
    with connect(strict) as connection:
        connection.sendall(HEALTH * 10)
        time.sleep(0.5)
        assert connection.recv(65536).count(b"HTTP/1.1 200 ") == 10


def test_an_answer_nobody_reads_is_given_up(strict: Any) -> None:
    """Some 10 MB of tokens are more than the buffers of a connection hold."""
    body = json.dumps({"input": "a b c d e f g h " * 6000})
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        host, port = strict.url.removeprefix("http://").split(":")
        connection.connect((host, int(port)))
        connection.settimeout(10)
        connection.sendall(post(body, path="/v1/tokenize"))
        time.sleep(4)
        answer = rest(connection)
    head, _, content = answer.partition(b"\r\n\r\n")
    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    assert len(content) < int(length.split(b":")[1])


def test_connections_are_bounded(strict: Any) -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(connect(strict)) for _ in range(CONNECTIONS)]
        for connection in held:
            connection.sendall(HEALTH)
            health(connection)
        refused = strict.post("/v1/count", {"input": "a"}, headers={"Authorization": "Bearer right"})
        assert refused.status_code == 503
        assert refused.headers["retry-after"] == "1"
        assert refused.json()["type"] == "urn:tokengap:problem:overloaded"
        assert strict.get("/healthz").status_code == 200
    time.sleep(0.2)
    assert strict.post("/v1/count", {"input": "a"}, headers={"Authorization": "Bearer right"}).status_code == 200


def test_an_answer_comes_in_one_piece_and_a_head_without_a_body_comes_too(strict: Any) -> None:
    with connect(strict) as connection:
        connection.sendall(HEALTH)
        assert connection.recv(65536).endswith(b'{"status":"alive"}')
        connection.sendall(HEALTH.replace(b"GET", b"HEAD"))
        assert connection.recv(65536).endswith(b"\r\n\r\n")
        connection.sendall(post("{}", "Expect: 100-continue").partition(b"{")[0])
        assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"{}")
        assert connection.recv(65536).startswith(b"HTTP/1.1 422 ")


@pytest.mark.parametrize("ending", ["Connection: close", "X-Other: 1"])
def test_who_sends_a_long_body_that_is_refused_sees_why(strict: Any, ending: str) -> None:
    request = post("x" * 3_000_000, ending).replace(b"Bearer right", b"Bearer wrong")
    with connect(strict) as connection:
        connection.sendall(request)
        assert connection.recv(1000).startswith(b"HTTP/1.1 401 ")
