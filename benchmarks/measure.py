"""Measuring whole processes: CPU and wall time, interleaved, as medians."""

from __future__ import annotations

import os
import platform
import resource
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds: CPU of the process and its children, and by the clock."""

    cpu: float
    wall: float


def run(command: Sequence[str], env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Timing:
    """Run a command to its end, its output thrown away."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, env={**os.environ, **(env or {})}, stdout=subprocess.DEVNULL, cwd=cwd, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Timing(cpu * 1000, wall * 1000)


def medians(
    commands: Mapping[str, Sequence[str]],
    rounds: int,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> dict[str, Timing]:
    """Run the commands in turn ``rounds`` times, so that each meets the same disturbances."""
    taken: dict[str, list[Timing]] = {name: [] for name in commands}
    for command in commands.values():
        run(command, env, cwd)  # once for the disk cache
    for _ in range(rounds):
        for name, command in commands.items():
            taken[name].append(run(command, env, cwd))
    return {
        name: Timing(statistics.median(t.cpu for t in each), statistics.median(t.wall for t in each))
        for name, each in taken.items()
    }


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"without {package}"


def machine(*packages: str) -> str:
    """One line that says where the figures are from, and which of the packages are not there."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = f"{names[0]}, {len(names)} cores" if names else model
    versions = ", ".join(map(_version, packages))
    return f"{model}; Python {platform.python_version()}; {versions}"
