"""Shared test data, and which tests run where."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("TOKENGAP_SHARED") or ROOT.parent / "shared")

settings.register_profile("tokengap", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tokengap")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("TOKENGAP_SLOW"):
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="slow: set TOKENGAP_SLOW=1 to run it"))


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of published cases and texts; without it such tests are skipped, in CI they fail."""
    if SHARED.is_dir():
        return SHARED
    if os.environ.get("TOKENGAP_CASES") == "required":
        pytest.fail(f"the published cases are required, and {SHARED} is not there")
    pytest.skip("the folder of published cases is not here (TOKENGAP_SHARED names it)")


@pytest.fixture(scope="session")
def program() -> Callable[[str], str]:
    """Find a program of the operating system; without it such tests are skipped, in CI they fail."""

    def find(name: str) -> str:
        path = shutil.which(name)
        if path is None and os.environ.get("TOKENGAP_SYSTEM") == "required":
            pytest.fail(f"{name} is required, and is not installed")
        if path is None:
            pytest.skip(f"{name} is not installed")
        return path

    return find


@pytest.fixture(scope="session")
def schemas() -> Path:
    """The folder of schemas that ``make schemas`` fetches; without it such tests are skipped, in CI they fail."""
    folder = ROOT / ".venv" / "schemas"
    if folder.is_dir():
        return folder
    if os.environ.get("TOKENGAP_SYSTEM") == "required":
        pytest.fail("the schemas are required: run 'make schemas'")
    pytest.skip("the schemas are not here: run 'make schemas'")


@pytest.fixture(scope="session")
def shared_json(shared_dir: Path) -> Callable[[str], Any]:
    """Read a JSON file of that folder."""

    def read(name: str) -> Any:
        return json.loads((shared_dir / name).read_bytes())

    return read


Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture(scope="session")
def run() -> Run:
    """Run the installed ``tokengap`` command as a user would."""
    program = shutil.which("tokengap", path=os.path.dirname(sys.executable))
    assert program, "the console script is not installed beside this Python"

    def call(*args: str, stdin: bytes = b"", cwd: Path | None = None, env: dict[str, str] | None = None) -> Any:
        environment = {**os.environ, "COLUMNS": "100", **(env or {})}
        return subprocess.run(
            [program, *args], input=stdin, capture_output=True, cwd=cwd, env=environment, check=False, timeout=120
        )

    return call


@pytest.fixture(scope="session")
def answer(run: Run) -> Callable[..., Any]:
    """Run ``tokengap`` with ``--json`` and return what it answers."""

    def call(*args: str, **options: Any) -> Any:
        done = run(*args, "--json", **options)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    return call


@dataclass(frozen=True, slots=True)
class Server:
    """A running ``tokengap serve``: where it is, its process, and the file its log goes to."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def post(self, path: str, body: Any = None, **options: Any) -> Any:
        import httpx2

        options = options if body is None else {"json": body, **options}
        return httpx2.post(self.url + path, timeout=60, **options)

    def get(self, path: str, **options: Any) -> Any:
        import httpx2

        return httpx2.get(self.url + path, timeout=60, **options)


@contextmanager
def serving(folder: Path, *arguments: str, **settings: str) -> Iterator[Server]:
    """Start ``tokengap serve`` on a free port; settings are those of the service, by their names."""
    port = free_port()
    program = Path(sys.executable).with_name("tokengap")
    environment = {**os.environ, **{f"TOKENGAP_{name.upper()}": value for name, value in settings.items()}}
    log = folder / f"{port}.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [program, "serve", "--port", str(port), *arguments], stdout=stream, stderr=stream, env=environment
        )
    server = Server(f"http://127.0.0.1:{port}", process, log)
    try:
        wait_until_ready(server)
        yield server
    finally:
        process.terminate()
        process.wait(30)


def wait_until_ready(server: Server, seconds: float = 60) -> None:
    import httpx2

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert server.process.poll() is None, server.log.read_text()
        try:
            if server.get("/readyz").status_code == 200:
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError(f"not ready after {seconds} s: {server.log.read_text()}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


Serve = Callable[..., AbstractContextManager[Server]]


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Serve:
    """Start a server with settings of its own."""
    return partial(serving, tmp_path_factory.mktemp("servers"))


@pytest.fixture(scope="session")
def server(serve: Serve) -> Iterator[Server]:
    """One server with the default settings, for all tests that need no others."""
    with serve() as started:
        yield started
