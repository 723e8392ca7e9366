"""Requests a second of ``tokengap serve`` beside a plain FastAPI app that counts with tiktoken.

    python benchmarks/http.py [--seconds 5] [--rounds 3] [--new-lines] [--memory 200000]

Needs ``wrk``. Both servers run with one worker each and take turns, so that each meets the same disturbances;
every request is a different prompt. Prompts have lines in common, as those of one application do; with
``--new-lines`` they have none. The plain app writes no access log, ours logs every request as it does by default.
``--memory N`` sends N requests with ever-new texts and model names, and prints the memory before and after.
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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from measure import machine

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent


@dataclass(frozen=True, slots=True)
class Load:
    """What one run of wrk measured; ``cpu_us`` is what the server took for a request."""

    per_second: float
    p99_ms: float
    cpu_us: float
    errors: int


@dataclass(frozen=True, slots=True)
class Server:
    """A server process, and the port it listens on."""

    port: int
    process: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        return self.process.pid


@contextmanager
def server(command: Sequence[str | Path], path: str) -> Iterator[Server]:
    """A server on a free port; ``path`` answers once it is ready."""
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
            yield Server(port, process)
        finally:
            process.terminate()


OURS = (BIN / "tokengap", "serve")
PLAIN = (BIN / "uvicorn", "http_plain:app", "--workers", "1", "--no-access-log")


def prompts(file: IO[str]) -> None:
    """Write the texts that prompts are made of, line by line as JSON has them inside quotes."""
    root = HERE.parent
    for path in sorted([*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("estimators/*.py")]):
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            file.write(json.dumps(line)[1:-1] + "\n")
    file.flush()


def load(server: Server, size: int, connections: int, seconds: int, *, new: bool = False) -> Load:
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        prompts(file)
        wrk = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(HERE / "http_load.lua")]
        env = {**os.environ, "PROMPT_FILE": file.name, "PROMPT_SIZE": str(size), "NEW_LINES": "yes" if new else "no"}
        before = cpu_seconds(server.pid)
        url = f"http://127.0.0.1:{server.port}"
        done = subprocess.run([*wrk, url], env=env, capture_output=True, text=True, check=True)
        used = cpu_seconds(server.pid) - before
    figures = next(line for line in done.stdout.splitlines() if line.startswith("RESULT")).split()
    return Load(float(figures[1]), float(figures[2]), used / int(figures[4]) * 1e6, int(figures[3]))


def compare(sizes: Sequence[int], seconds: int, rounds: int, *, new: bool) -> None:
    with server(OURS, "/readyz") as ours, server(PLAIN, "/openapi.json") as plain:
        for each in (ours, plain):
            load(each, 2048, 1, 1)
        print("prompt  connections     ours/s  plain/s   ratio    p99 ms   plain   CPU us   plain   ratio  failed")
        for size in sizes:
            for connections in (1, 8):
                _compare(ours, plain, size, connections, seconds, rounds, new=new)


def _compare(ours: Server, plain: Server, size: int, connections: int, seconds: int, rounds: int, *, new: bool) -> None:
    taken: dict[Server, list[Load]] = {ours: [], plain: []}
    for number in range(rounds):
        for each in (ours, plain) if number % 2 else (plain, ours):
            taken[each].append(load(each, size, connections, seconds, new=new))

    def both(figure: Callable[[Load], float]) -> tuple[float, float]:
        mine, other = (statistics.median(map(figure, taken[each])) for each in (ours, plain))
        return mine, other

    rate, tail, cpu = both(lambda one: one.per_second), both(lambda one: one.p99_ms), both(lambda one: one.cpu_us)
    failed = sum(one.errors for loads in taken.values() for one in loads)
    print(
        f"{size / 1024:3.0f} KB{connections:13}{rate[0]:11,.0f}{rate[1]:9,.0f}{rate[0] / rate[1]:8.2f}"
        f"{tail[0]:10.2f}{tail[1]:8.2f}{cpu[0]:9.0f}{cpu[1]:8.0f}{cpu[1] / cpu[0]:8.2f}{failed:8}",
        flush=True,
    )


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def grow(requests: int) -> None:
    """Send ever-new texts and ever-new names of models, known and unknown."""
    with server(OURS, "/readyz") as started:
        asyncio.run(_send(started.port, requests // 20, 0))
        before = memory_mb(started.pid)
        for part in range(1, 5):
            asyncio.run(_send(started.port, requests // 4, part))
            now = memory_mb(started.pid)
            print(f"memory after {requests // 4 * part:,} requests: {now:.0f} MB ({before:.0f} MB before)")


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
    parser.add_argument("--sizes", type=int, nargs="+", default=[2048, 20480], metavar="BYTES")
    parser.add_argument("--new-lines", action="store_true", help="send no line twice")
    parser.add_argument("--memory", type=int, default=0, metavar="N")
    args = parser.parse_args()
    print(machine("tokengap", "tiktoken", "fastokens", "fastapi", "uvicorn"))
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if args.memory:
        grow(args.memory)
        return
    if shutil.which("wrk") is None:
        sys.exit("wrk is needed: apt-get install wrk")
    compare(args.sizes, args.seconds, args.rounds, new=args.new_lines)
    print(f"load after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
