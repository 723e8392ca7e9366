"""Shared test data, and which tests run where."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
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
