"""Hosts of their own for what docker-compose.yml runs in containers: network namespaces, joined by bridges.

Each host has its addresses, its DNS at 127.0.0.11 as in Docker, and its own view of the file system's mounts. All of
it is gone with the processes that hold it.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
CLONE_NEWNET = 0x40000000
UNSHARE = ("unshare", "--net", "--mount", "sleep", "infinity")
T = TypeVar("T")


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


@pytest.fixture(scope="session")
def eventually() -> Callable[..., None]:
    """Wait until something holds."""
    return wait_until


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory, program: Callable[[str], str]) -> Iterator[Hosts]:
    """Two networks as in docker-compose.yml, with no hosts yet. Making them takes root; in CI it must be there."""
    if os.geteuid() != 0:
        (pytest.fail if os.environ.get("TOKENGAP_SYSTEM") == "required" else pytest.skip)("only root can make hosts")
    for name in ("dnsmasq", "ip", "nsenter", "unshare"):
        program(name)
    with ExitStack() as stack:
        yield Hosts(tmp_path_factory.mktemp("hosts"), stack, ("frontend", "backend"))


@dataclass(frozen=True, slots=True)
class Compose:
    """The compose file, with the defaults of its variables filled in."""

    services: Mapping[str, Any]

    def command(self, service: str) -> list[str]:
        """The command of a service, with the files it is given where they are outside a container."""
        volumes = (volume.split(":") for volume in self.services[service].get("volumes", ()))
        given = {target: source for source, target, *_ in volumes if source.startswith("./")}
        return [_outside(word, given) for word in self.services[service]["command"]]

    def environment(self, service: str) -> dict[str, str]:
        return {name: str(value) for name, value in self.services[service].get("environment", {}).items()}


def _outside(word: str, given: Mapping[str, str]) -> str:
    """A word of a command with a path in a container replaced by what is mounted there."""
    for target, source in given.items():
        if word.endswith(target):
            return word.removesuffix(target) + str(ROOT / source)
    return word


@pytest.fixture(scope="session")
def compose() -> Compose:
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    content = YAML(typ="safe").load(re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text))
    return Compose(json.loads(json.dumps(content["services"])))
