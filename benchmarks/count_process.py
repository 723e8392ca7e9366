"""What one process of ``count.py`` does: load an engine, count texts of one kind with it, and say what they took.

    python benchmarks/count_process.py ENGINE KIND ENCODING SIZES

``SIZES`` is "small" or a single size. Each line of standard input is its turn to do one step, of which it prints the
result as JSON; ``null`` is the last. With a file instead of a kind it counts the file and prints the number, which is a
cold start.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from engines import ENGINES, Count
from texts import KINDS, text_of


class Size(NamedTuple):
    """How long a text of this size is, in bytes, and how many are counted at first sight, and warm."""

    bytes: int
    first: int
    warm: int


SIZES = {
    "50 characters": Size(50, 40, 400),
    "2 KB": Size(2_000, 20, 100),
    "20 KB": Size(20_000, 5, 20),
    "conversation": Size(1_000, 20, 0),
    "1 MB": Size(1_000_000, 1, 2),
    "20 MB": Size(20_000_000, 1, 0),
}
PLANS = {"small": ("50 characters", "2 KB", "20 KB", "conversation"), "1 MB": ("1 MB",), "20 MB": ("20 MB",)}
STAGES = ("first sight", "warm", "same")
WARMING = 5_000_000
RETURNING = 100_000
"""Characters of text that was counted before, which are counted again when another process had the processor."""


def measure(engine: str, kind: str, encoding: str, plan: str) -> Iterator[dict[str, Any]]:
    """Count texts of a kind at first sight, after other texts of the kind, and once more."""
    before = time.process_time()
    count = ENGINES[engine](encoding)
    count("a")
    load = time.process_time() - before
    text = text_of(kind)
    other = text_of("prose" if kind != "prose" else "python")
    count(other[:1_000_000])  # memory is touched, and whatever waits for a large text is loaded
    if plan == "20 MB":
        tested, warming = text, ""
    else:
        tested, warming = text[: len(text) // 2], text[len(text) // 2 :]
    unseen = {size: pieces(tested, SIZES[size]) for size in PLANS[plan]}
    for size, (first, _) in unseen.items():
        texts = turn_by_turn(first) if size == "conversation" else first
        count(other[:RETURNING])
        yield timed(f"{size}/first sight", count, texts)
    for start in range(0, min(len(warming), WARMING), 100_000):
        count(warming[start : start + 100_000])
    for size, (first, later) in unseen.items():
        if size == "conversation":
            continue
        for stage in ("warm", "same") if later else ("same",):
            count(warming[:RETURNING])
            yield timed(f"{size}/{stage}", count, later or first)
    yield {"load": load * 1000, "memory": memory()}


def pieces(text: str, size: Size) -> tuple[list[str], list[str]]:
    """Texts of a size from all over a text, none overlapping: those for first sight, and those for later."""
    length = round(size.bytes * len(text) / len(text.encode()))
    number = min(size.first + size.warm, max(len(text) // length, 2 if size.warm else 1))
    stride = len(text) // number
    found = [text[at * stride : at * stride + min(length, stride)] for at in range(number)]
    every = max(number // size.first, 1)
    first = range(0, number, every)[: size.first]
    return [found[at] for at in first], [piece for at, piece in enumerate(found) if at not in first]


def turn_by_turn(messages: Sequence[str]) -> list[str]:
    """What is counted of a conversation: at each turn the message that is new, and all those before it again."""
    return [message for turn in range(len(messages)) for message in messages[: turn + 1]]


def timed(cell: str, count: Count, texts: Sequence[str]) -> dict[str, Any]:
    """CPU microseconds a text, the mean bytes of a text, and all counts."""
    counts = []
    start = time.process_time()
    for text in texts:
        counts.append(count(text))  # noqa: PERF401
    taken = time.process_time() - start
    size = sum(len(text.encode()) for text in texts) / len(texts)
    return {"cell": cell, "cpu": taken * 1e6 / len(texts), "bytes": size, "counts": counts}


def memory() -> float:
    """The most memory this process has had, in MB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    engine, what, encoding, *plan = sys.argv[1:]
    if what in KINDS:
        steps = measure(engine, what, encoding, plan[0])
        for _ in sys.stdin:
            print(json.dumps(next(steps, None)), flush=True)
    else:
        print(ENGINES[engine](encoding)(Path(what).read_bytes().decode()))


if __name__ == "__main__":
    main()
