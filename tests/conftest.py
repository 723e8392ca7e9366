"""Shared test data, and which tests run where."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
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
    asked = os.environ.get("TOKENGAP_SLOW")
    for item in items:
        if item.get_closest_marker("slow") and not asked:
            item.add_marker(pytest.mark.skip(reason="slow: set TOKENGAP_SLOW=1 to run it"))
        if item.get_closest_marker("probe") and asked != "all":
            item.add_marker(pytest.mark.skip(reason="takes minutes: set TOKENGAP_SLOW=all to run it"))


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
def root_user(program: Callable[[str], str]) -> None:
    """Root, which making hosts and images takes; others skip such tests, in CI they fail.

    A kernel that lets not even root make them, as in some sandboxes, is nothing that CI could install.
    """
    if os.geteuid() != 0:
        (pytest.fail if os.environ.get("TOKENGAP_SYSTEM") == "required" else pytest.skip)("only root can do this")
    made = subprocess.run([program("unshare"), "--net", "--mount", "true"], capture_output=True, check=False)
    if made.returncode:
        pytest.skip(f"no namespaces can be made here: {made.stderr.decode().strip()}")


@pytest.fixture(scope="session")
def confined(program: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What to begin a command with so that it may read no more than its files' modes let it, even as root."""
    if os.geteuid() != 0:
        return []
    kept = "-dac_override,-dac_read_search"
    command = [program("setpriv"), f"--bounding-set={kept}", f"--inh-caps={kept}"]
    closed = tmp_path_factory.mktemp("closed")
    closed.chmod(0)
    if subprocess.run([*command, "ls", closed], capture_output=True, check=False).returncode == 0:
        pytest.skip("what may be read cannot be limited here")
    return command


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


@pytest.fixture
def sources(tmp_path: Path, git: Callable[..., str]) -> Path:
    """A repository with what stands in this one's work tree, as one commit, to install from."""
    folder = tmp_path / "tokengap"
    for name in git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "All of it")
    return folder


@pytest.fixture(scope="session")
def documented() -> Callable[[str], str]:
    """A file as docs/ci.md shows it, by its name."""
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"^```\w+ title=(\S+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE))
    return blocks.__getitem__


@pytest.fixture(scope="session")
def git(program: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Run git in a folder, without the settings of this machine, and return what it prints."""
    path = program("git")
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text(
        '[user]\nname = n\nemail = e@x\n[init]\ndefaultBranch = main\n[protocol "file"]\nallow = always\n'
    )

    def call(folder: Path, *args: str, fails: bool = False, env: dict[str, str] | None = None) -> str:
        environment = {**os.environ, "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", **(env or {})}
        done = subprocess.run(
            [path, *args], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        assert bool(done.returncode) == fails, done.stdout.decode()
        return done.stdout.decode()

    return call


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


@pytest.fixture(scope="session")
def eventually() -> Callable[..., None]:
    """Wait until something holds."""

    def wait(holds: Callable[[], object], what: str, seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, f"{what}: not within {seconds:g} s"
            time.sleep(0.05)

    return wait


@pytest.fixture
def unused_port() -> int:
    return free_port()


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
    from ruamel.yaml import YAML

    content = YAML(typ="safe").load(re.sub(r"\$\{\w+:?-([^}]*)\}", r"\1", text))
    return Compose(json.loads(json.dumps(content["services"])))
