"""The Dockerfile, built step by step by a real builder on a clean Debian, and its image run as Docker would run it.

The base image is made from Debian's packages, so that no registry of images is needed; what it has in common with
the official one is Debian, the version of Python, pip and venv.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.system, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
DEBIAN = "trixie"
PACKAGES = "ca-certificates,python3-pip,python3-venv,python-is-python3"

START = """
mount --bind "$0" "$0"; cd "$0"
mount -o remount,bind,ro .
mount -t proc proc proc
mount --rbind /dev dev
mount -t tmpfs -o mode=1777 tmpfs tmp
ip link set lo up
user=$1 folder=$2; shift 2
exec chroot --userspec="$user" . sh -c 'cd "$0"; exec "$@"' "$folder" "$@"
"""
"""A container: the image read-only, /tmp in memory, its own network with nothing in it, the image's user."""


@dataclass(frozen=True, slots=True)
class Image:
    """A built image: its files, and its configuration as Docker reads it."""

    root: Path
    config: dict[str, Any]

    def command(self, arguments: Sequence[str] | None = None) -> list[str]:
        """How a container begins, with arguments or those of the image."""
        words = [*self.config["Entrypoint"], *(self.config["Cmd"] if arguments is None else arguments)]
        start = ["unshare", "--mount", "--net", "sh", "-euc", START, str(self.root)]
        return [*start, self.config["User"], self.config["WorkingDir"], *words]

    @property
    def environment(self) -> dict[str, str]:
        return dict(each.split("=", 1) for each in self.config["Env"])

    def run(self, *arguments: str) -> str:
        """What a container prints until its end."""
        done = subprocess.run(self.command(arguments), env=self._env(), capture_output=True, text=True, check=True)
        return done.stdout

    @contextmanager
    def running(self, log: Path) -> Iterator[subprocess.Popen[bytes]]:
        """A container with the image's own command."""
        with log.open("wb") as stream:
            process = subprocess.Popen(self.command(), env=self._env(), stdout=stream, stderr=stream)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def run_inside(self, process: subprocess.Popen[bytes], *command: str) -> subprocess.CompletedProcess[str]:
        """Run another program in a container, as its user."""
        uid, gid = self.config["User"].split(":")
        inside = ["nsenter", "--target", str(process.pid), "--mount", "--net", "--root", "--wd", "-S", uid, "-G", gid]
        return subprocess.run([*inside, *command], env=self._env(), capture_output=True, text=True, check=False)

    def _env(self) -> dict[str, str]:
        """The image's environment; PATH has the host's programs after it, for the ones that start the container."""
        return self.environment | {"PATH": f"{self.environment['PATH']}:{os.environ['PATH']}"}


@pytest.fixture
def image(tmp_path: Path, program: Callable[[str], str], root_user: None) -> Iterator[Image]:
    for name in ("buildah", "mmdebstrap", "unshare", "nsenter", "chroot", "ip"):
        program(name)
    store = ("--root", str(tmp_path / "store"), "--runroot", str(tmp_path / "run"))

    def buildah(*arguments: str) -> str:
        done = subprocess.run(["buildah", *store, *arguments], capture_output=True, text=True, check=False, timeout=900)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout.strip()

    make_base(tmp_path, buildah)
    build = "bud --isolation chroot --network host --format docker --pull-never --tag tokengap"
    certificates = "/etc/ssl/certs:/etc/ssl/certs:ro"  # a package index may have one of its own
    try:
        buildah(*build.split(), "--volume", certificates, str(ROOT))
        config = json.loads(buildah("inspect", "--type", "image", "tokengap"))["Docker"]["config"]
        container = buildah("from", "--pull-never", "tokengap")
        yield Image(Path(buildah("mount", container)), config)
    finally:
        buildah("umount", "--all")
        buildah("rm", "--all")
        buildah("rmi", "--all", "--force")


def make_base(folder: Path, buildah: Callable[..., str]) -> None:
    """What the Dockerfile builds on, under the name that it gives."""
    (name,) = set(re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE))
    tar = folder / "base.tar"
    subprocess.run(
        ["mmdebstrap", "--quiet", "--variant=apt", f"--include={PACKAGES}", DEBIAN, str(tar)], check=True, timeout=900
    )
    container = buildah("from", "scratch")
    buildah("add", container, str(tar), "/")
    version = buildah("run", "--isolation", "chroot", container, "--", "python", "-c", "import sys; print(sys.version)")
    assert version.startswith(name.partition(":")[2].partition("-")[0] + "."), version
    buildah("commit", "--rm", container, f"docker.io/library/{name}")
    tar.unlink()


def it_counts_without_network_or_root(image: Image, log: Path) -> None:
    assert image.config["User"] == "65534:65534"
    assert image.run("count", "--quiet", "--text", "Hello, how are you today?") == "7\n"


def it_serves_and_says_when_it_is_ready(image: Image, log: Path) -> None:
    kind, *check = image.config["Healthcheck"]["Test"]
    assert kind == "CMD"
    assert "0.0.0.0" in image.config["Cmd"]  # noqa: S104 - or the container could not be reached
    with image.running(log) as process:
        for _ in range(300):
            if image.run_inside(process, *check).returncode == 0:
                break
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
        shown = image.run_inside(process, "python", "-c", ASK)
        assert json.loads(shown.stdout)["results"][0]["tokens"] == 7, shown.stderr
        process.send_signal(signal.SIGSTOP)  # alive, and answers nobody
        assert image.run_inside(process, *check).returncode != 0
        process.send_signal(signal.SIGCONT)
        assert image.run_inside(process, "touch", "/work/file").returncode != 0
        assert image.run_inside(process, "id", "-u").stdout == "65534\n"
        process.terminate()
        assert process.wait(40) == 0


ASK = """
import http.client
connection = http.client.HTTPConnection("127.0.0.1", 8000)
connection.request("POST", "/v1/count", '{"input": "Hello, how are you today?"}', {"Content-Type": "application/json"})
print(connection.getresponse().read().decode())
"""


def it_holds_what_runs_and_no_more(image: Image, log: Path) -> None:
    """No pip, no build tool, no test, no source but the package; the bytecode that a read-only root cannot keep."""
    app = image.root / "app"
    names = {path.name.lower() for path in app.glob("lib/python3*/site-packages/*")}
    assert not names & {"pip", "setuptools", "build", "wheel", "pytest"}
    assert "tokengap" in names
    assert list(app.glob("lib/python3*/site-packages/tokengap/service/__pycache__/app.*.pyc"))
    assert not list((image.root / "work").iterdir())
    assert not (image.root / "src").exists()
    owned = [path for path in app.rglob("*") if path.lstat().st_uid != 0]
    assert not owned, "what the service runs is not the service's to change"


def test_the_dockerfile_makes_an_image_that_works(image: Image, tmp_path: Path, subtests: pytest.Subtests) -> None:
    for step in (
        it_counts_without_network_or_root,
        it_serves_and_says_when_it_is_ready,
        it_holds_what_runs_and_no_more,
    ):
        with subtests.test(step.__name__):
            step(image, tmp_path / "log")
