"""Build the wheel, install it in a new environment, and use it from an empty folder with the network cut.

Run by ``make smoke``, not by pytest: it proves that the wheel has all it needs and nothing of the checkout.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]

INSIDE = """
import importlib, json, pkgutil, socket, subprocess, sys

def no_network(*args, **kwargs):
    raise AssertionError("the network was used")
socket.socket.connect = no_network
socket.getaddrinfo = no_network

import tokengap.tokenizers, tokengap.estimators, tokengap.service
SERVER = set(
    "access app budgets connections cors costing door environment facade_errors facade_models facades openapi "
    "operations quick routes serve_cli settings telemetry".split()
)
modules = [
    module.name
    for package in (tokengap.tokenizers, tokengap.estimators, tokengap.service)
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + ".")
    if (sys.argv[1:] == ["server"] or module.name.rpartition(".")[2] not in SERVER)
    and not module.name.startswith("tokengap.service.pytest_")  # pytest is there where it imports them
]
for module in modules:
    importlib.import_module(module)

from tokengap.estimators import compare, count
from tokengap.tokenizers.registry import BUILT_IN
made = {"model": "model:gpt-4o", "words": "words:4/3", "chars": "chars:4"}
specs = [made.get(name, name) for name in BUILT_IN if name != "bpe"]
report = count("Hello, how are you today?", specs)
counts = {row.counter: row.count.tokens for row in report.results}
assert counts["cl100k_base"] == counts["o200k_base"] == counts["model:gpt-4o"] == 7, counts
assert counts["words:4/3"] == 7 and counts["bytes"] == 25, counts
from tokengap.tokenizers.encodings import ENCODINGS, load_ranks
for encoding in ENCODINGS.values():
    load_ranks(encoding.ranks)  # which checks the sha256 of the compiled vocabulary

print(f"{len(modules)} modules imported, {len(counts)} counters counted: {counts}")
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        python = work / "venv" / "bin" / "python"
        elsewhere = work / "empty"
        elsewhere.mkdir()
        _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(work / "dist"), str(ROOT))
        venv.create(work / "venv", with_pip=True)
        install = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        _run(*install, "--require-hashes", "-r", str(ROOT / "requirements" / "runtime.txt"))
        (wheel,) = (work / "dist").glob("*.whl")
        _run(*install, "--no-deps", str(wheel))
        # An empty home, so that no cache of another tool can help.
        env = {"PATH": os.environ["PATH"], "HOME": str(elsewhere)}
        _run(str(python), "-c", INSIDE, cwd=elsewhere, env=env)
        tokengap = str(python.with_name("tokengap"))
        shown = _run(tokengap, "count", "--quiet", "--text", "1234567", "-c", "cl100k_base", cwd=elsewhere, env=env)
        assert shown == "3\n", shown
        assert "Gap:" in _run(tokengap, "compare", "--model", "gpt-4o", "--text", "a b", cwd=elsewhere, env=env)
        listed = _run(tokengap, "counters", "--verbose", "--json", cwd=elsewhere, env=env)
        assert "fastokens is not installed" in listed, listed
        refused = subprocess.run(
            [tokengap, "serve"], cwd=elsewhere, env=env, capture_output=True, text=True, check=False
        )
        assert refused.returncode == 2, refused
        assert "pip install 'tokengap[serve]'" in refused.stderr, refused
        assert refused.stderr.count("\n") == 1, refused
        _run(*install, "--require-hashes", "-r", str(ROOT / "requirements" / "serve.txt"))
        _run(str(python), "-c", INSIDE, "server", cwd=elsewhere, env=env)
        print("smoke test passed")


def _run(*command: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.PIPE, text=True, check=True)
    if "modules imported" in done.stdout:
        print(done.stdout, end="")
    return done.stdout


if __name__ == "__main__":
    main()
