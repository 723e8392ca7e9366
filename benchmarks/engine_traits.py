"""What else decides about an engine than its speed: where it differs from tiktoken, what it keeps, what it blocks.

    python benchmarks/engine_traits.py [ENGINE ...]

Each engine runs in a process of its own. "differs": code points that, before ``'s``, give another count than under
tiktoken. "grows": resident memory after 60 MB of random words beside after 10 MB, and with four threads at it.
"turns": how often another Python thread had its turn in a second of counting 6 MB.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from engines import ENGINES, PACKAGES, Count, rank_file
from measure import machine

ENCODING = "o200k_base"
NAMES = ("tiktoken", "fastokens", "gigatoken", "toktok", "bpe-openai")


def traits(engine: str) -> dict[str, Any]:
    started = time.process_time()
    count = ENGINES[engine](ENCODING)
    count("a")
    built = time.process_time() - started
    turns = turns_of_others(count)
    counts = [count(f"{chr(point)}'s") for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    grown = [resident()]
    for megabytes in (10, 50):
        count_random(count, megabytes, seed=megabytes)
        grown.append(resident())
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda seed: count_random(count, 10, seed), range(4)))
    return {"built": built, "turns": turns, "counts": counts, "grown": [*grown, resident()]}


def turns_of_others(count: Count) -> float:
    text = words(6_000_000, seed=1)
    turns, done = 0, threading.Event()

    def other() -> None:
        nonlocal turns
        while not done.wait(0.0005):
            turns += 1

    thread = threading.Thread(target=other)
    thread.start()
    started, before = time.perf_counter(), turns
    count(text)
    taken, counted = time.perf_counter() - started, turns - before
    done.set()
    thread.join()
    return counted / taken


def count_random(count: Count, megabytes: int, seed: int) -> None:
    for part in range(megabytes * 25):
        count(words(40_000, seed=seed * 100_000 + part))


def words(size: int, seed: int) -> str:
    return "".join(random.Random(seed).choices(ascii_lowercase + "     ", k=size))


def resident() -> int:
    """Megabytes, as Linux has them."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4 // 1024


def size(package: str) -> float:
    """Megabytes of a package's own files."""
    return sum(file.size or 0 for file in files(package) or ()) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engines", nargs="*", default=NAMES, metavar="ENGINE")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(traits(options.child)))
        return
    rank_file(ENCODING)
    print(machine("tokengap", *(PACKAGES.get(name, name) for name in options.engines)))
    print(f"{'':12}{'MB':>6}{'CPU s to build':>16}{'differs':>9}{'turns/s':>9}  MB built, after 10, 60, 4 x 10 MB")
    reference: list[int] = []
    for engine in options.engines:
        try:
            installed = size(PACKAGES.get(engine, engine))
        except PackageNotFoundError:
            print(f"{engine:12} is not installed")
            continue
        done = subprocess.run([sys.executable, __file__, "--child", engine], capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        reference = reference or found["counts"]
        differs = sum(one != other for one, other in zip(found["counts"], reference, strict=True))
        grown = ", ".join(map(str, found["grown"]))
        line = f"{engine:12}{installed:6.0f}{found['built']:16.1f}{differs:9,}{found['turns']:9,.0f}  {grown}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
