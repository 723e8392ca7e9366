"""The benchmarks run, and find the counts equal; what they measure is for people to read."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


def python_sources() -> Iterator[str]:
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        yield path.read_bytes().decode(errors="replace")


@pytest.fixture
def texts(tmp_path: Path, shared_json: Callable[[str], Any]) -> Path:
    """Real texts of two kinds, small, where the benchmark keeps what it downloads."""
    languages = shared_json("texts/udhr.json")["languages"].values()
    prose = "".join(part for parts in languages for part in parts.values() if isinstance(part, str))
    (tmp_path / "prose.txt").write_bytes(prose.encode())
    (tmp_path / "python.txt").write_bytes("".join(islice(python_sources(), 30)).encode())
    return tmp_path


def run(name: str, *options: str, texts: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "benchmarks" / name), *options]
    env = {**os.environ, "TOKENGAP_TEXTS": str(texts)}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


@pytest.mark.probe
def test_counting(texts: Path) -> None:
    engines = ("--engines", "tiktoken", "tokengap", "[fast]")
    done = run(
        "count.py", "--kinds", "prose", "python", "chinese", *engines, "--plans", "cold", "small", "1 MB", texts=texts
    )
    assert done.returncode == 0, done.stderr
    shown = done.stdout
    assert "left out: no text of the kind chinese" in shown
    assert "every count compared with tiktoken's: all equal" in shown
    for title in (
        "cold start",
        "50 characters, first sight",
        "2 KB, warm",
        "20 KB, same",
        "1 MB, warm",
        "load, CPU ms",
    ):
        assert title in shown
    assert "1 MB, warm: [fast] is at least" in shown


@pytest.mark.probe
def test_counting_of_small_texts_alone(texts: Path) -> None:
    done = run("count.py", "--kinds", "prose", "--engines", "tiktoken", "tokengap", "--plans", "small", texts=texts)
    assert done.returncode == 0, done.stderr
    assert "conversation, first sight" in done.stdout
    assert "1 MB" not in done.stdout


@pytest.mark.slow
def test_the_texts_are_listed(texts: Path) -> None:
    done = run("texts.py", texts=texts)
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()][:1] == ["prose"]
    assert "--fetch downloads it" in done.stdout
