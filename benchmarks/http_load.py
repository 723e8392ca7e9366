"""Requests a second of ``tokengap serve`` beside a plain FastAPI app that counts with tiktoken.

    python benchmarks/http.py [--seconds 5] [--rounds 3] [--memory 200000]

Needs ``wrk``. Both servers run with one worker each and take turns, so that each meets the same disturbances;
every request is a different prompt. The plain app writes no access log, ours logs every request as it does by
default. ``--memory N`` sends N requests with ever-new texts and model names, and prints the memory before and after.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from measure import machine

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent


@dataclass(frozen=True, slots=True)
class Load:
    """What one run of wrk measured."""

    per_second: float
    p99_ms: float
    errors: int


@contextmanager
def server(command: Sequence[str | Path], path: str) -> Iterator[tuple[int, int]]:
    """A server on a free port, with its process id; ``path`` answers once it is ready."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    with subprocess.Popen(
        [*command, "--port", str(port)], cwd=HERE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            for _ in range(300):
                time.sleep(0.1)
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}"):
                        break
                except OSError:
                    continue
            yield port, process.pid
        finally:
            process.terminate()


OURS = (BIN / "tokengap", "serve")
PLAIN = (BIN / "uvicorn", "http_plain:app", "--workers", "1", "--no-access-log")


def prompt(size: int) -> str:
    """English, Markdown and code, as JSON writes it inside quotes; every kind of it in each size."""
    root = HERE.parent
    text = "".join((root / name).read_text(encoding="utf-8")[:1500] for name in ("README.md", "estimators/gap.py"))
    return json.dumps((text * (size // len(text) + 1))[: size - 12])[1:-1]


def load(port: int, size: int, connections: int, seconds: int) -> Load:
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.write(prompt(size))
        file.flush()
        wrk = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(HERE / "http_load.lua")]
        env = {**os.environ, "PROMPT_FILE": file.name}
        done = subprocess.run([*wrk, f"http://127.0.0.1:{port}"], env=env, capture_output=True, text=True, check=True)
    figures = next(line for line in done.stdout.splitlines() if line.startswith("RESULT")).split()
    return Load(float(figures[1]), float(figures[2]), int(figures[3]))


def compare(seconds: int, rounds: int) -> None:
    with server(OURS, "/readyz") as (ours, _), server(PLAIN, "/openapi.json") as (plain, _):
        for port in (ours, plain):
            load(port, 2048, 1, 1)
        print("prompt   connections      ours/s   plain/s   ratio   p99 ms    plain  failed")
        for size in (2048, 20480):
            for connections in (1, 8):
                taken: dict[int, list[Load]] = {ours: [], plain: []}
                for number in range(rounds):
                    for port in (ours, plain) if number % 2 else (plain, ours):
                        taken[port].append(load(port, size, connections, seconds))
                mine, other = (statistics.median(one.per_second for one in taken[port]) for port in (ours, plain))
                tail, base = (statistics.median(one.p99_ms for one in taken[port]) for port in (ours, plain))
                failed = sum(one.errors for loads in taken.values() for one in loads)
                print(
                    f"{size // 1024} KB{connections:15}{mine:12,.0f}{other:10,.0f}{mine / other:8.2f}"
                    f"{tail:9.2f}{base:9.2f}{failed:8}"
                )


def memory_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def grow(requests: int) -> None:
    """Send ever-new texts and ever-new names of models, known and unknown."""
    with server(OURS, "/readyz") as (port, pid):
        asyncio.run(_send(port, requests // 20, 0))
        before = memory_mb(pid)
        for part in range(1, 5):
            asyncio.run(_send(port, requests // 4, part))
            print(f"memory after {requests // 4 * part:,} requests: {memory_mb(pid):.0f} MB ({before:.0f} MB before)")


async def _send(port: int, requests: int, part: int) -> None:
    async def one(worker: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for number in range(requests // 8):
            name = f"{part}-{worker}-{number}"
            # An unknown name takes a look at every known one, so it is one in fifty.
            model = f"unknown-{name}" if number % 50 == 0 else f"ft:gpt-4o:{name}" if number % 2 else "gpt-4o"
            body = json.dumps({"input": f"text {name} " * 20, "model": model}).encode()
            head = (
                f"POST /v1/count HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
            )
            writer.write(f"{head}\r\n\r\n".encode() + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.split(b":")[1]))
        writer.close()

    await asyncio.gather(*(one(worker) for worker in range(8)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", type=int, default=0, metavar="N")
    args = parser.parse_args()
    print(machine("tokengap", "tiktoken", "fastapi", "uvicorn"))
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if args.memory:
        grow(args.memory)
        return
    if shutil.which("wrk") is None:
        sys.exit("wrk is needed: apt-get install wrk")
    compare(args.seconds, args.rounds)
    print(f"load after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
