"""Hostile texts of a megabyte: how long each takes to count, and whether tiktoken alone can.

    python benchmarks/hostile.py [--rounds 3]

The encoding is loaded before the clock starts. "x benign" is the time beside that of as many bytes of prose.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from measure import machine

from tokengap.tokenizers.registry import get_counter

MEGABYTE = 1_000_000
ROOT = Path(__file__).parents[1]


def texts() -> dict[str, str]:
    prose = "".join(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("*.md")))
    letters = "".join(random.Random(7).choices("abcdefghijklmnopqrstuvwxyz", k=MEGABYTE))
    return {
        "prose (benign)": (prose * (MEGABYTE // len(prose) + 1))[:MEGABYTE],
        "a": "a" * MEGABYTE,
        "spaces": " " * MEGABYTE,
        "newlines": "\n" * MEGABYTE,
        "tabs": "\t" * MEGABYTE,
        "tabs and a word": "\t" * MEGABYTE + "end",
        "^": "^" * MEGABYTE,
        "emoji": "😀" * (MEGABYTE // 4),
        "random letters": letters,
        "Han": "中文字符漢" * (MEGABYTE // 15),
        "<|endoftext|>": "<|endoftext|>" * (MEGABYTE // 13),
    }


def seconds(call: Callable[[], object], rounds: int) -> float:
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    print(f"hostile texts of 1 MB, medians of {rounds}")
    print(machine("tokengap", "tiktoken"))
    for name in ("o200k_base", "cl100k_base"):
        counter = get_counter(name)
        counter.count("")
        benign = 0.0
        print(f"{name:18}{'tokens':>10}{'seconds':>9}{'x benign':>10}")
        for kind, text in texts().items():
            taken = seconds(partial(counter.count, text), rounds)
            benign = benign or taken
            print(f"{kind:18}{counter.count(text).tokens:10,}{taken:9.2f}{taken / benign:10.1f}")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
