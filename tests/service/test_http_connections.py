"""What a client may do to its connection: be slow, silent, endless, greedy or deaf, and still hold up nobody."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any, NamedTuple

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
         b"X-Trailer: " + b"a" * 990 + b"\r\n", b"431"),
        (post("")[:-4].replace(b"Content-Length: 0", b"Transfer-Encoding: chunked") + b"\r\n\r\n1;",
         b"a" * 990, b"431"),
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


class Answer(NamedTuple):
    """One answer as it came."""

    status: int
    headers: dict[str, str]
    body: bytes


def answers(received: bytes) -> list[Answer]:
    """All that came, as answers; each has a length."""
    found = []
    while received:
        head, _, received = received.partition(b"\r\n\r\n")
        line, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, value in (each.split(": ", 1) for each in lines)}
        length = int(headers["content-length"])
        found.append(Answer(int(line.split()[1]), headers, received[:length]))
        received = received[length:]
    return found


def exchange(server: Any, *sent: bytes, pause: float = 0) -> list[Answer]:
    with connect(server) as connection:
        for part in sent:
            connection.sendall(part)
            time.sleep(pause)
        return answers(rest(connection))


def refusal(answer: Answer, server: Any, status: int, kind: str, request_id: str | None = None) -> None:
    """What is answered below the application is as all that is refused, and in the log."""
    problem = json.loads(answer.body)
    assert (answer.status, problem["type"]) == (status, f"urn:tokengap:problem:{kind}")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["connection"] == "close"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert problem["instance"] == f"urn:tokengap:request:{answer.headers['x-request-id']}"
    if request_id:
        assert answer.headers["x-request-id"] == request_id
    end = time.monotonic() + 5
    while f'"{answer.headers["x-request-id"]}"' not in server.log.read_text():
        assert time.monotonic() < end, "it is not in the log"
        time.sleep(0.02)


CHUNKED = post("")[:-4].replace(b"Content-Length: 0", b"Transfer-Encoding: chunked") + b"\r\n\r\n"
NAMED = HEALTH[:-2] + b"X-Request-Id: mine\r\n\r\n"
MALFORMED = {
    "method": HEALTH.replace(b"GET", b"FOO"),
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "version": HEALTH.replace(b"1.1", b"1.2"),
    "no version": b"GET /healthz\r\n\r\n",
    "path": HEALTH.replace(b"/healthz", "/h\u00e9".encode()),
    "length": post("").replace(b"Length: 0", b"Length: -1"),
    "lengths": post("{}", "Content-Length: 3"),
    "long length": post("").replace(b"Length: 0", b"Length: " + b"9" * 30),
    "length and chunks": post("{}", "Transfer-Encoding: chunked"),
    "chunk": CHUNKED + b"zz\r\n",
    "no Host": HEALTH.replace(b"Host: x\r\n", b""),
    "no Host for a count": post("{}").replace(b"Host: x\r\n", b""),
    "two Hosts": HEALTH.replace(b"Host: x\r\n", b"Host: x\r\nHost: x\r\n"),
    "two Hosts of old": HEALTH.replace(b"1.1\r\n", b"1.0\r\nhost: y\r\n"),
    "a tunnel": b"CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n",
    "header": HEALTH[:-2] + b"no colon\r\n\r\n",
}


@pytest.mark.parametrize("sent", MALFORMED.values(), ids=MALFORMED)
def test_what_is_no_request_is_refused_as_a_problem(strict: Any, sent: bytes) -> None:
    (alone,) = exchange(strict, sent)
    refusal(alone, strict, 400, "malformed-request")
    *before, last = exchange(strict, NAMED + HEALTH + sent)
    assert [each.status for each in before] == [200, 200]
    refusal(last, strict, 400, "malformed-request")
    assert last.headers["x-request-id"] != "mine"
    *before, last = exchange(strict, NAMED, sent, pause=0.1)
    assert [each.status for each in before] == [200]
    refusal(last, strict, 400, "malformed-request")
    assert last.headers["x-request-id"] != "mine"


def test_a_refusal_has_the_id_that_was_sent(strict: Any) -> None:
    (answer,) = exchange(strict, NAMED.replace(b"Host: x\r\n", b""))
    refusal(answer, strict, 400, "malformed-request", "mine")


def test_a_refused_head_request_has_no_body(strict: Any) -> None:
    with connect(strict) as connection:
        connection.sendall(HEALTH.replace(b"GET", b"HEAD").replace(b"Host: x\r\n", b""))
        answer = rest(connection)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.endswith(b"\r\n\r\n")


def test_without_a_host_http_1_0_is_answered(strict: Any) -> None:
    (answer,) = exchange(strict, HEALTH.replace(b"1.1", b"1.0").replace(b"Host: x\r\n", b""))
    assert answer.status == 200


def test_a_head_that_is_too_slow_has_an_id(strict: Any) -> None:
    (answer,) = exchange(strict, HEALTH[:-2])
    refusal(answer, strict, 408, "head-too-slow")


def test_a_bad_chunk_ends_a_request_that_waits_for_its_body(strict: Any) -> None:
    (answer,) = exchange(strict, CHUNKED + b"2\r\n{}\r\n", b"zz\r\n", pause=0.2)
    refusal(answer, strict, 400, "malformed-request")
    refused = CHUNKED.replace(b"Bearer right", b"Bearer wrong")
    (answer,) = exchange(strict, refused + b"2\r\n{}\r\n", b"zz\r\n", pause=0.2)
    assert answer.status == 401


@pytest.mark.parametrize("where", ["header", "url"])
@pytest.mark.parametrize(("over", "status"), [(0, 200), (1, 431), (1000, 431), (60_000, 431)])
def test_a_head_has_64_kib_and_no_byte_more(strict: Any, where: str, over: int, status: int) -> None:
    head = HEALTH[:-2] + b"Connection: close\r\n"
    head += b"X-Header: \r\n" if where == "header" else b""
    filling = b"a" * (65536 + over - len(head) - 2 - (1 if where == "url" else 0))
    if where == "header":
        head = head.replace(b"X-Header: ", b"X-Header: " + filling)
    else:
        head = head.replace(b"/healthz", b"/healthz?" + filling)
    assert len(head) + 2 == 65536 + over
    (answer,) = exchange(strict, head + b"\r\n")
    if status == 200:
        assert answer.status == 200
    else:
        refusal(answer, strict, 431, "head-too-large")


def test_what_was_sent_ahead_is_answered_before_what_is_too_much(strict: Any) -> None:
    """Of 18 or more: the first and the 16 ahead of its answer, then why no more."""
    assert [each.status for each in exchange(strict, HEALTH * 16 + HEALTH[:-2] + b"Connection: close\r\n\r\n")] == [
        200
    ] * 17
    for more in (18, 100, 5000):
        *before, last = exchange(strict, HEALTH * more)
        assert [each.status for each in before] == [200] * 17
        refusal(last, strict, 503, "overloaded")
        assert last.headers["retry-after"] == "1"


@pytest.mark.parametrize("upgrade", ["websocket", "h2c"])
def test_an_upgrade_is_passed_over_and_not_logged(strict: Any, upgrade: str) -> None:
    asked = HEALTH[:-2] + f"Connection: Upgrade\r\nUpgrade: {upgrade}\r\nSec-WebSocket-Key: YQ==\r\n\r\n".encode()
    found = exchange(strict, asked + HEALTH + asked, HEALTH[:-2] + b"Connection: close\r\n\r\n", pause=0.2)
    assert [each.status for each in found] == [200] * 4
    (answer,) = exchange(strict, post('{"input": "a"}', "Connection: close, Upgrade", f"Upgrade: {upgrade}"))
    assert (answer.status, json.loads(answer.body)["total"][0]["tokens"]) == (200, 1)
    log = strict.log.read_text()
    assert "WebSocket" not in log
    assert "pgrade" not in log
    assert "Invalid HTTP request" not in log


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
