"""What a minute of hostile clients does to the small requests of others.

    python benchmarks/http_attack.py [--seconds 60] [--clients 50] [--json]

Hostile clients send megabyte texts of every bad shape, escapes of half characters, deep JSON, bodies that drip or
lie, wrong types, garbage, endless heads, and go away without waiting. Meanwhile health checks and small requests go
on, in another process, and are timed. Then the server is told to stop with requests under way.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import statistics
import sys
import time
from collections import Counter as Tally
from collections.abc import Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cache
from multiprocessing import get_context

from http_load import OURS, memory_mb, server
from measure import machine

from tokengap.tokenizers.registry import get_counter

MEGABYTE = 1_000_000
SHED = (429, 503)
SMALL_PER_SECOND = 40
HEALTH_PER_SECOND = 5


@dataclass
class Attack:
    """What the hostile clients got: answers by kind and status, and the megabyte texts that were counted."""

    answers: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    megabytes_right: int = 0
    megabytes_wrong: int = 0


@dataclass
class Outcome:
    """What is asked of the service, measured."""

    seconds: float
    small: int
    small_answered: float
    small_p50_ms: float
    small_p99_ms: float
    health_p99_ms: float
    health_failed: int
    megabytes_per_second: float
    load: float
    memory_mb: dict[str, float]
    lost_at_stop: int
    stop_seconds: float
    exit_code: int
    attack: Attack


def texts() -> dict[str, str]:
    """Megabyte texts of the shapes that break tokenizers."""
    dice = random.Random(7)
    return {
        "one letter": "a" * MEGABYTE,
        "spaces": " " * MEGABYTE,
        "newlines": "\r\n" * (MEGABYTE // 2),
        "letters": "".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=MEGABYTE)),
        "digits": "".join(dice.choices("0123456789", k=MEGABYTE)),
        "punctuation": "".join(dice.choices("!?#$%&*+-/", k=MEGABYTE)),
        "han": "".join(chr(dice.randrange(0x4E00, 0x9FFF)) for _ in range(MEGABYTE // 3)),
        "marks": "e" + "\u0301" * (MEGABYTE // 2),
        "special tokens": "<|endoftext|><|im_start|>" * (MEGABYTE // 25),
        "words": " ".join(dice.choices(("the", "order", "number", "778301", "never", "came"), k=MEGABYTE // 6)),
    }


def request(path: str, body: bytes, *headers: str) -> bytes:
    lines = "".join(f"{line}\r\n" for line in headers or ("Content-Type: application/json",))
    return f"POST {path} HTTP/1.1\r\nHost: x\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body


def requests() -> dict[str, bytes]:
    """Whole requests whose answers may be anything but a failure."""
    nested: object = "x"
    for _ in range(90):
        nested = {"type": "object", "properties": {"a": nested}}
    tool = {"type": "function", "function": {"name": "f", "parameters": nested}}
    deep = {"model": "gpt-4o", "messages": [{"role": "user", "content": "x"}], "tools": [tool]}
    words = " ".join(f"w{number}" for number in range(60_000))
    bodies: dict[str, tuple[str, bytes]] = {
        "half characters": ("/v1/count", b'{"input": "' + b"\\ud83d" * 100_000 + b'"}'),
        "pairs": ("/v1/count", b'{"input": "' + b"\\ud83d\\ude00" * 80_000 + b'"}'),
        "brackets": ("/v1/count", b"[" * 2_000_000),
        "nested input": ("/v1/count", b'{"input": ' + b"[" * 500 + b"]" * 500 + b"}"),
        "braces": ("/v1/count", b'{"a":' * 500_000),
        "deep schema": ("/v1/count", json.dumps({"request": deep}).encode()),
        "many keys": ("/v1/count", json.dumps({str(number): 1 for number in range(300_000)}).encode()),
        "many texts": ("/v1/count", json.dumps({"input": ["a"] * 1000, "counters": ["o200k_base", "bytes"]}).encode()),
        "empty lists": ("/v1/count", b'{"request": [' + b"[]," * 1_000_000 + b"[]]}"),
        "huge number": ("/v1/count", b'{"input": ' + b"9" * 100_000 + b"}"),
        "compare": ("/v1/compare", json.dumps({"input": words, "model": "gpt-4o"}).encode()),
        "tokenize": ("/v1/tokenize", json.dumps({"input": words[:90_000]}).encode()),
        "unknown model": ("/v1/count", json.dumps({"input": "a", "model": "x" * 299}).encode()),
        "openai": ("/v1/responses/input_tokens", json.dumps({"model": "gpt-4o", "input": words[:200_000]}).encode()),
        "anthropic": ("/v1/messages/count_tokens", b'{"model": "claude-opus-4-6", "messages": 3}'),
        "not UTF-8": ("/v1/count", b'{"input": "\xff\xfe"}'),
        "too long": ("/v1/count", b'{"input": "' + b"a" * 5_000_000 + b'"}'),
    }
    whole = {kind: request(path, body) for kind, (path, body) in bodies.items()}
    whole["wrong type"] = request("/v1/count", b"input=a", "Content-Type: application/x-www-form-urlencoded")
    whole["gzip"] = request("/v1/count", b"\x1f\x8b" * 5000, "Content-Type: application/json", "Content-Encoding: gzip")
    whole["garbage"] = random.Random(1).randbytes(100_000)
    whole["method"] = b"BREW /v1/count HTTP/1.1\r\nHost: x\r\n\r\n"
    whole["path"] = b"GET /" + b"../" * 2000 + b"etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n"
    whole["ahead"] = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 2000
    return whole


@cache
def arsenal() -> tuple[list[tuple[str, bytes]], list[tuple[str, bytes, int]]]:
    """All that is sent: whole requests, and those with a megabyte whose count is known."""
    counter = get_counter("o200k_base")
    counted = [
        (kind, request("/v1/count", json.dumps({"input": text}).encode()), counter.count(text).tokens)
        for kind, text in texts().items()
    ]
    return list(requests().items()), counted


class Hostile:
    """One process of hostile clients."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._whole, self._texts = arsenal()
        self._seen: Tally[str] = Tally()
        self.attack = Attack()

    async def run(self, seconds: float, clients: int) -> Attack:
        deadline = time.monotonic() + seconds
        acts: list[Callable[[random.Random], Awaitable[None]]] = [
            self._big,
            self._odd,
            self._drip,
            self._leave,
            self._flood,
        ]
        weights = [4, 8, 3, 3, 1]

        async def client(number: int) -> None:
            dice = random.Random(number)
            while time.monotonic() < deadline:
                act = dice.choices(acts, weights)[0]
                try:
                    async with asyncio.timeout(30):
                        await act(dice)
                except (OSError, asyncio.IncompleteReadError, TimeoutError):
                    self._seen[f"{act.__name__.strip('_')}: parted"] += 1

        await asyncio.gather(*map(client, range(clients)))
        self.attack.answers = dict(sorted(self._seen.items()))
        return self.attack

    async def _big(self, dice: random.Random) -> None:
        kind, raw, tokens = dice.choice(self._texts)
        status, headers, body = await self._ask(raw)
        self._note(f"1 MB of {kind}", status, headers)
        if status == 200:
            right = json.loads(body)["results"][0]["tokens"] == tokens
            self.attack.megabytes_right += right
            self.attack.megabytes_wrong += not right

    async def _odd(self, dice: random.Random) -> None:
        kind, raw = dice.choice(self._whole)
        status, headers, _ = await self._ask(raw)
        self._note(kind, status, headers)

    async def _drip(self, dice: random.Random) -> None:
        """A body that comes a byte at a time, and ends early or never."""
        _, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            writer.write(request("/v1/count", b"x" * 5000)[: -dice.randrange(1000, 5000)])
            for _ in range(dice.randrange(5, 30)):
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.1)
            self._seen["drip: left"] += 1
        finally:
            writer.close()

    async def _leave(self, dice: random.Random) -> None:
        """A whole request, and nobody who waits for the answer."""
        _, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            writer.write(dice.choice(self._texts)[1])
            await writer.drain()
            await asyncio.sleep(dice.random() * 0.2)
            self._seen["leave: left"] += 1
        finally:
            writer.transport.abort()

    async def _flood(self, dice: random.Random) -> None:
        """A head without end."""
        _, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            writer.write(b"GET /healthz HTTP/1.1\r\n")
            for _ in range(1000):
                writer.write(b"X-Header: " + b"a" * 10_000 + b"\r\n")
                await writer.drain()
            self.attack.failures.append("a head of 10 MB was taken")
        finally:
            writer.transport.abort()

    async def _ask(self, raw: bytes) -> tuple[int, bytes, bytes]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=2**20)
        try:
            writer.write(raw)
            await writer.drain()
            return await read_answer(reader)
        finally:
            writer.transport.abort()

    def _note(self, kind: str, status: int, headers: bytes) -> None:
        self._seen[f"{kind}: {status}"] += 1
        if status >= 500 and not (status in SHED and b"retry-after:" in headers):
            self.attack.failures.append(f"{kind}: {status}")


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, bytes, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
    return int(head[9:12]), head, await reader.readexactly(int(length.split(b":")[1]))


def be_hostile(port: int, seconds: float, clients: int) -> Attack:
    return asyncio.run(Hostile(port).run(seconds, clients))


class Neighbour:
    """A well-behaved client: small requests at a steady pace on one connection, and health checks."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.small: list[tuple[float, int]] = []
        self.health: list[tuple[float, int]] = []
        self.lost = 0
        self.stopping = False

    async def run(self, until: asyncio.Event) -> None:
        await asyncio.gather(*(self._small(number, until) for number in range(4)), self._health(until))

    async def _small(self, number: int, until: asyncio.Event) -> None:
        """Open-loop: a request is due at its time, however late the one before it was answered."""
        counter, due, connection = 0, time.monotonic(), None
        while not until.is_set():
            due += 4 / SMALL_PER_SECOND
            await asyncio.sleep(max(0, due - time.monotonic()))
            counter += 1
            raw = request("/v1/count", json.dumps({"input": f"{number} {counter} a short question?"}).encode())
            try:
                connection = connection or await asyncio.open_connection("127.0.0.1", self._port)
            except OSError:
                if self.stopping:
                    return
                raise
            status, head = await self._exchange(connection, raw, due)
            self.small.append((time.monotonic() - due, status))
            if status == 0 or b"connection: close" in head:
                connection[1].close()
                connection = None

    async def _exchange(
        self, connection: tuple[asyncio.StreamReader, asyncio.StreamWriter], raw: bytes, due: float
    ) -> tuple[int, bytes]:
        try:
            connection[1].write(raw)
            status, head, _ = await read_answer(connection[0])
        except (OSError, asyncio.IncompleteReadError):
            self.lost += 1
            return 0, b""
        return status, head

    async def _health(self, until: asyncio.Event) -> None:
        while not until.is_set():
            await asyncio.sleep(1 / HEALTH_PER_SECOND)
            start = time.monotonic()
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
            except OSError:
                if self.stopping:
                    return
                raise
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            try:
                status, _, _ = await read_answer(reader)
            except (OSError, asyncio.IncompleteReadError):
                status = 0
            writer.close()
            self.health.append((time.monotonic() - start, status))


async def measure(seconds: float, clients: int) -> Outcome:
    context = get_context("spawn")
    loop = asyncio.get_running_loop()
    with server(OURS, "/readyz") as ours, ProcessPoolExecutor(1, context) as pool:
        await loop.run_in_executor(pool, be_hostile, ours.port, min(5, seconds / 4), clients)
        neighbour, until = Neighbour(ours.port), asyncio.Event()
        well = asyncio.ensure_future(neighbour.run(until))
        memory: list[float] = []
        watch = asyncio.ensure_future(watch_memory(ours.pid, memory))
        start = time.monotonic()
        attack = await loop.run_in_executor(pool, be_hostile, ours.port, seconds, clients)
        elapsed = time.monotonic() - start
        watch.cancel()
        small, health = list(neighbour.small), list(neighbour.health)
        neighbour.stopping = True
        stopped = time.monotonic()
        ours.process.send_signal(signal.SIGTERM)
        exit_code = await asyncio.to_thread(ours.process.wait, 60)
        stop_seconds = time.monotonic() - stopped
        until.set()
        await well
    p50, p99 = percentiles([took for took, _ in small])
    return Outcome(
        seconds=elapsed,
        small=len(small),
        small_answered=sum(status == 200 for _, status in small) / len(small),
        small_p50_ms=p50,
        small_p99_ms=p99,
        health_p99_ms=percentiles([took for took, _ in health])[1],
        health_failed=sum(status != 200 for _, status in health),
        megabytes_per_second=attack.megabytes_right / elapsed,
        load=os.getloadavg()[0],
        memory_mb={"first half": max(memory[: len(memory) // 2]), "second half": max(memory[len(memory) // 2 :])},
        lost_at_stop=neighbour.lost,
        stop_seconds=stop_seconds,
        exit_code=exit_code,
        attack=attack,
    )


async def watch_memory(pid: int, samples: list[float]) -> None:
    while True:
        samples.append(memory_mb(pid))
        await asyncio.sleep(0.5)


def percentiles(seconds: list[float]) -> tuple[float, float]:
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return cuts[49] * 1000, cuts[98] * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    outcome = asyncio.run(measure(args.seconds, args.clients))
    if args.json:
        json.dump(asdict(outcome), sys.stdout)
        return
    print(machine("tokengap", "tiktoken", "fastapi", "uvicorn"))
    print(
        f"{args.clients} hostile clients for {outcome.seconds:.0f} s; load {outcome.load:.1f} on {os.cpu_count()} cores"
    )
    for what, figure, met in requirements(outcome):
        print(f"{what:55}{figure:>16}  {'' if met else 'MISSED'}")
    for answer, times in outcome.attack.answers.items():
        print(f"  {answer:40}{times:8,}")
    sys.exit(0 if all(met for _, _, met in requirements(outcome)) else 1)


def requirements(outcome: Outcome) -> list[tuple[str, str, bool]]:
    """What is asked, what was measured, and whether that will do."""
    memory, attack = outcome.memory_mb, outcome.attack
    return [
        ("small requests answered 200, of 99%", f"{outcome.small_answered:.2%}", outcome.small_answered >= 0.99),
        ("their 99th percentile, under 250 ms", f"{outcome.small_p99_ms:.0f} ms", outcome.small_p99_ms < 250),
        ("their median", f"{outcome.small_p50_ms:.1f} ms", True),
        ("health checks failed", str(outcome.health_failed), not outcome.health_failed),
        ("megabyte texts counted and right, 1 a second", f"{outcome.megabytes_per_second:.2f}",
         outcome.megabytes_per_second >= 1),
        ("megabyte texts counted wrong", str(attack.megabytes_wrong), not attack.megabytes_wrong),
        ("5xx that are not shed load", str(len(attack.failures)), not attack.failures),
        ("memory, first and second half, within a tenth",
         f"{memory['first half']:.0f}, {memory['second half']:.0f} MB",
         memory["second half"] < 1.1 * memory["first half"]),
        ("requests lost at SIGTERM", str(outcome.lost_at_stop), not outcome.lost_at_stop),
        ("exit code after SIGTERM", str(outcome.exit_code), outcome.exit_code == 0),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
