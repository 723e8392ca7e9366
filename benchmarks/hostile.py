"""Hostile texts of a megabyte: how long each takes to count, and whether tiktoken alone can.

    python benchmarks/hostile.py [--rounds 3]

Both are loaded before the clock starts, and take turns. "x benign" is our time beside tiktoken's for as many bytes of
benign text, the topics of Python's own help.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import time
from collections.abc import Callable
from functools import partial
from pydoc_data.topics import topics

import tiktoken
from measure import machine

from tokengap.tokenizers.counter import prepare
from tokengap.tokenizers.encodings import ENCODINGS, load_ranks
from tokengap.tokenizers.registry import get_counter

MEGABYTE = 1_000_000


def texts() -> dict[str, str]:
    letters = "".join(random.Random(7).choices("abcdefghijklmnopqrstuvwxyz", k=MEGABYTE))
    return {
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


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    try:
        call()
    except BaseException as error:  # a panic of its engine is no Exception
        if type(error).__name__ != "PanicException":
            raise
        return math.inf
    return time.perf_counter() - start


def medians(ours: Callable[[], object], theirs: Callable[[], object], rounds: int) -> tuple[float, float]:
    taken = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    return statistics.median(one for one, _ in taken), statistics.median(other for _, other in taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # where tiktoken reports its panics
    print(f"hostile texts of 1 MB, medians of {rounds}; seconds")
    print(machine("tokengap", "tiktoken", "fastokens"))
    help_text = "\n".join(topics.values())
    for name in ("o200k_base", "cl100k_base"):
        counter, encoding = get_counter(name), ENCODINGS[name]
        theirs = tiktoken.Encoding(
            name, pat_str=encoding.pattern, mergeable_ranks=load_ranks(encoding.ranks), special_tokens={}
        )
        prepare(counter, 10 * MEGABYTE)
        taken, benign = medians(
            partial(counter.count, help_text), partial(theirs.encode_ordinary, help_text), max(rounds, 3)
        )
        scale = MEGABYTE / len(help_text.encode())
        taken, benign = taken * scale, benign * scale
        print(f"{name:18}{'tokens':>10}{'tokengap':>10}{'tiktoken':>10}{'x benign':>10}")
        print(f"{'benign':18}{'':10}{taken:10.2f}{benign:10.2f}{taken / benign:10.1f}")
        for kind, text in texts().items():
            taken, other = medians(partial(counter.count, text), partial(theirs.encode_ordinary, text), rounds)
            shown = "fails" if other == math.inf else f"{other:.2f}"
            print(
                f"{kind:18}{counter.count(text).tokens:10,}{taken:10.2f}{shown:>10}{taken / benign:10.1f}", flush=True
            )


if __name__ == "__main__":
    main()
