"""Hostile texts of a megabyte: how long each takes to count, and whether tiktoken alone can.

    python benchmarks/hostile.py [--rounds 3]

All are loaded before the clock starts, and take turns; "[fast]" is tokengap with its native engine, and "tokengap"
without. "x benign" is the time of "tokengap" beside tiktoken's for as many bytes of benign text, the topics of Python's
own help. A text is counted each time with another end, so that none was counted before.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pydoc_data.topics import topics

import tiktoken
from measure import machine

from tokengap.tokenizers import fast_engine
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


def seconds(call: Callable[[str], object], text: str) -> float:
    start = time.perf_counter()
    try:
        call(text)
    except BaseException as error:  # a panic of its engine is no Exception
        if type(error).__name__ != "PanicException":
            raise
        return math.inf
    return time.perf_counter() - start


def medians(calls: Sequence[Callable[[str], object]], texts: Iterable[str]) -> list[float]:
    taken = [[seconds(call, text) for call in calls] for text in texts]
    return [statistics.median(column) for column in zip(*taken, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # where tiktoken reports its panics
    print(f"hostile texts of 1 MB, medians of {rounds}; seconds")
    print(machine("tokengap", "tiktoken", "fastokens"))
    help_text = "\n".join(topics.values())
    fast_engine.WORTH = sys.maxsize  # not before it is told to
    for name in ("o200k_base", "cl100k_base"):
        encoding = ENCODINGS[name]
        theirs = tiktoken.Encoding(
            name, pat_str=encoding.pattern, mergeable_ranks=load_ranks(encoding.ranks), special_tokens={}
        )
        prepare(get_counter(name))
        calls = [without_the_engine(name), get_counter(name).count, theirs.encode_ordinary]
        scale = MEGABYTE / len(help_text.encode())
        benign = [
            scale * each for each in medians(calls, (help_text + str(number) for number in range(max(rounds, 3))))
        ]
        print(f"{name:18}{'tokens':>10}{'tokengap':>10}{'[fast]':>8}{'tiktoken':>10}{'x benign':>10}")
        print(row("benign", "", benign, benign[2]))
        for kind, text in texts().items():
            taken = medians(calls, (text + "." * number for number in range(1, rounds + 1)))
            print(row(kind, f"{get_counter(name).count(text).tokens:,}", taken, benign[2]), flush=True)


def without_the_engine(name: str) -> Callable[[str], object]:
    """The counter of an encoding, its native engine put aside for the call."""
    counter, engine = get_counter(name), fast_engine.engines[name]

    def count(text: str) -> object:
        encode, engine.encode = engine.encode, None
        try:
            return counter.count(text)
        finally:
            engine.encode = encode

    return count


def row(kind: str, tokens: str, taken: Sequence[float], benign: float) -> str:
    ours, fast, theirs = taken
    shown = "fails" if theirs == math.inf else f"{theirs:.2f}"
    return f"{kind:18}{tokens:>10}{ours:10.2f}{fast:8.2f}{shown:>10}{ours / benign:10.1f}"


if __name__ == "__main__":
    main()
