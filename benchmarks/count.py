"""Counting real text, from 50 characters to 20 MB, beside the other engines there are. Every count is checked.

    python benchmarks/count.py --quick --fetch     # a minute or two: three kinds, no slow engines, up to 1 MB
    python benchmarks/count.py --fetch             # everything, which takes hours
    python benchmarks/count.py --kinds prose japanese --engines tiktoken '[fast]' --rounds 5

``--fetch`` downloads the texts that are not there yet. Each engine counts each kind of text in fresh processes,
beside one of tiktoken's: the two take turns, a size and stage at a time, so that what disturbs the machine disturbs
both. The tables give medians of the rounds: for tiktoken the CPU time of one text, for the others how many times
faster they were than tiktoken beside them. Before the clock starts an engine has counted a megabyte of another kind,
so loading is not in the figures; the last table has it.

"first sight": the process has seen no text of the kind. "warm": it has counted up to 5 MB of other text of the
kind. "same": it has counted this very text once before. "conversation": twenty messages of 1 KB, which are counted at
every turn with all those before them, as they are when a request is sent. Where a kind holds too little, a size is as
much as there is. "≠": counts that are not tiktoken's. "-": not run; an engine that takes over a second for 1 MB is not
given 20 MB.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from hashlib import sha1
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Any, cast

from count_process import PLANS, SIZES, STAGES
from engines import ENGINES, PACKAGES, rank_file, tokenizer_json
from measure import machine, medians
from texts import KINDS, NoTextsError, text_of

HERE = Path(__file__).parent
OURS = ("tokengap", "[fast]")
SLOW = 1_000_000  # CPU microseconds for 1 MB
QUICK_KINDS = ("prose", "python", "japanese")
QUICK_ENGINES = ("tiktoken", "tokengap", "[fast]", "gigatoken", "toktok")
Found = dict[str, dict[str, dict[str, list[dict[str, Any]]]]]
"""cell ("2 KB/warm") → kind → engine → what each round measured."""


def main() -> int:
    options = parse(sys.argv[1:])
    engines = [name for name in options.engines if installed(name)]
    kinds = [kind for kind in options.kinds if available(kind, fetch=options.fetch)]
    if not kinds or "tiktoken" not in engines:
        raise SystemExit("nothing to compare: no texts, or not with tiktoken")
    rank_file(options.encoding)
    if "HF" in engines:
        tokenizer_json(options.encoding)
    print(f"counting with {options.encoding}: medians of {options.rounds} rounds, CPU time")
    print(
        machine(
            "tokengap", *(PACKAGES.get(name, name) for name in engines if "tokengap" not in (name, PACKAGES.get(name)))
        )
    )
    if "cold" in options.plans:
        cold(engines, options.encoding, options.rounds * 3)
    beside = [name for name in engines if name != "tiktoken"]
    found, loads = measured(beside, kinds, options)
    for size in SIZES:
        for stage in STAGES:
            if f"{size}/{stage}" in found:
                write_table(f"{size}, {stage}", found[f"{size}/{stage}"], beside)
    write_loads(loads)
    return int(not verdict(found))


def parse(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fetch", action="store_true", help="download the texts that are missing")
    parser.add_argument("--quick", action="store_true", help="three kinds, no slow engines, up to 1 MB, one round")
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), metavar="ENGINE", help=", ".join(ENGINES))
    parser.add_argument("--plans", nargs="+", choices=["cold", *PLANS], help="default: all")
    parser.add_argument("--rounds", type=int, help="default: 3")
    parser.add_argument("--encoding", default="o200k_base", choices=["o200k_base", "cl100k_base"])
    options = parser.parse_args(words)
    options.kinds = options.kinds or (QUICK_KINDS if options.quick else list(KINDS))
    options.engines = options.engines or (QUICK_ENGINES if options.quick else list(ENGINES))
    options.plans = options.plans or (["cold", "small", "1 MB"] if options.quick else ["cold", *PLANS])
    options.rounds = options.rounds or (1 if options.quick else 3)
    return options


def installed(engine: str) -> bool:
    try:
        version(PACKAGES.get(engine, engine))
    except PackageNotFoundError:
        print(f"{engine} is not installed")
        return False
    return True


def available(kind: str, *, fetch: bool) -> bool:
    try:
        text_of(kind, fetch=fetch)
    except NoTextsError as error:
        print(f"left out: {error}")
        return False
    return True


def cold(engines: Sequence[str], encoding: str, rounds: int) -> None:
    """Whole processes, from their start to the count of 2 KB."""
    here = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "prompt.md"
        size = text.write_bytes((HERE.parent / "CONTRIBUTING.md").read_bytes()[:2048])
        url = f"https://openaipublic.blob.core.windows.net/encodings/{encoding}.tiktoken"
        cached = (
            Path(folder) / sha1(url.encode(), usedforsecurity=False).hexdigest()
        )  # the name ttok's tiktoken looks for
        cached.write_bytes(rank_file(encoding).read_bytes())
        commands = {"python -c pass": [sys.executable, "-c", "pass"]}
        commands["tokengap count"] = [str(here / "tokengap"), "count", "-q", "-c", encoding, str(text)]
        if (here / "ttok").exists():
            model = {"o200k_base": "gpt-4o", "cl100k_base": "gpt-4"}[encoding]
            commands["ttok"] = [str(here / "ttok"), "-m", model, "-i", str(text)]
        for engine in engines:
            if engine not in OURS:
                commands[engine] = [sys.executable, str(HERE / "count_process.py"), engine, str(text), encoding]
        timings = medians(commands, rounds, {"TIKTOKEN_CACHE_DIR": folder})
    ours, bare = timings["tokengap count"], timings["python -c pass"]
    print(f"\ncold start: whole processes that count {size:,} bytes, medians of {rounds}")
    print(f"{'':16}{'CPU ms':>8}{'over Python':>13}{'wall ms':>9}{'x tokengap':>12}")
    for name, timing in timings.items():
        over = timing.cpu - bare.cpu
        print(f"{name:16}{timing.cpu:8.0f}{over:13.0f}{timing.wall:9.0f}{timing.wall / ours.wall:12.2f}", flush=True)


def measured(
    engines: Sequence[str], kinds: Sequence[str], options: argparse.Namespace
) -> tuple[Found, dict[str, list[dict[str, float]]]]:
    found: Found = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    loads: dict[str, list[dict[str, float]]] = defaultdict(list)
    for number in range(options.rounds):
        for kind in kinds:
            for engine, plan in processes(engines, kind, options.plans, found):
                for result, beside in in_turn(engine, (kind, options.encoding, plan), first=number % 2 == 0):
                    if "cell" not in result:
                        loads[engine].append(result)
                        loads["tiktoken"].append(beside)
                        continue
                    result["tiktoken"] = beside["cpu"]
                    result["right"] = result.pop("counts") == beside["counts"]
                    found[result["cell"]][kind][engine].append(result)
        print(f"round {number + 1} of {options.rounds} done", file=sys.stderr)
    return {cell: rows for cell, kinds in found.items() if (rows := _with_results(kinds))}, loads


def _with_results(kinds: dict[str, dict[str, list[dict[str, Any]]]]) -> dict[str, dict[str, list[dict[str, Any]]]]:
    return {kind: cells for kind, cells in kinds.items() if any(cells.values())}


def in_turn(engine: str, what: Sequence[str], *, first: bool) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The results of an engine, each with that of tiktoken beside it; only one of the two runs at any time."""
    names = (engine, "tiktoken") if first else ("tiktoken", engine)
    with ExitStack() as stack:
        started = {name: stack.enter_context(process(name, what)) for name in names}
        while True:
            results = {name: step(started[name]) for name in names}
            if not all(results.values()):
                return
            yield results[engine], results["tiktoken"]


def process(engine: str, what: Sequence[str]) -> subprocess.Popen[str]:
    words = [sys.executable, str(HERE / "count_process.py"), engine, *what]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def step(started: subprocess.Popen[str]) -> Any:
    """Have a process do its next step; nothing if it has done all, or failed and said why."""
    turn, results = cast("IO[str]", started.stdin), cast("IO[str]", started.stdout)
    try:
        print(file=turn, flush=True)
    except BrokenPipeError:
        return None
    return json.loads(results.readline() or "null")


def processes(engines: Sequence[str], kind: str, plans: Sequence[str], found: Found) -> Iterator[tuple[str, str]]:
    """The engines in turn for each plan; those too slow for the largest one run once only."""
    megabyte = found["1 MB/first sight"][kind]
    for plan in PLANS:
        for engine in engines if plan in plans else ():
            slow = any(cell["cpu"] > SLOW for cell in megabyte[engine])
            if not slow or (plan != "20 MB" and not found[f"{PLANS[plan][0]}/same"][kind][engine]):
                yield engine, plan


def write_table(title: str, rows: dict[str, dict[str, list[dict[str, Any]]]], engines: Sequence[str]) -> None:
    print(f"\n{title}\n{'':15}{'bytes':>11}{'tiktoken':>13}" + "".join(f"{name:>12}" for name in engines))
    ratios: dict[str, list[float]] = defaultdict(list)
    for kind, cells in rows.items():
        every = [cell for found in cells.values() for cell in found]
        line = f"{kind:15}{every[0]['bytes']:11,.0f}{median(cell['tiktoken'] for cell in every):10,.0f} us"
        for engine in engines:
            if not cells[engine]:
                line += f"{'-':>12}"
            elif not right(cells[engine]):
                line += f"{'≠':>12}"
            else:
                ratios[engine].append(faster(cells[engine]))
                line += f"{ratios[engine][-1]:11.2f}x"
        print(line)
    means = {name: f"{math.exp(statistics.fmean(map(math.log, found))):.2f}x" for name, found in ratios.items()}
    print(f"{'geometric mean':39}" + "".join(f"{means.get(name, ''):>12}" for name in engines), flush=True)


def faster(cells: Sequence[dict[str, Any]]) -> float:
    """How many times faster than tiktoken beside it."""
    return median(cell["tiktoken"] / cell["cpu"] for cell in cells)


def median(values: Iterable[float]) -> float:
    return float(statistics.median(values))


def right(cells: Sequence[dict[str, Any]]) -> bool:
    return all(cell["right"] for cell in cells)


def write_loads(loads: dict[str, list[dict[str, float]]]) -> None:
    print(f"\n{'':15}{'load, CPU ms':>14}{'peak MB':>9}")
    for engine, found in loads.items():
        load, peak = (statistics.median(each[name] for each in found) for name in ("load", "memory"))
        print(f"{engine:15}{load:14,.0f}{peak:9,.0f}")


def verdict(found: Found) -> bool:
    """Say whose counts were wrong, and how near tokengap came to the fastest engine that was right."""
    wrong = {
        (engine, kind)
        for kinds in found.values()
        for kind, cells in kinds.items()
        for engine in cells
        if not right(cells[engine])
    }
    total = sum(len(each) for cells in found.values() for kinds in cells.values() for each in kinds.values())
    print(f"\n{total:,} cells, every count compared with tiktoken's: ", end="")
    print("all equal" if not wrong else "; ".join(f"{engine} differs on {kind}" for engine, kind in sorted(wrong)))
    for cell, kinds in found.items():
        size, _, stage = cell.partition("/")
        if SIZES[size].bytes < 1_000_000 or stage == "same":
            continue
        near = {}
        for kind, cells in kinds.items():
            if cells["[fast]"]:
                best = max(faster(found) for found in cells.values() if found and right(found))
                near[kind] = faster(cells["[fast]"]) / best
        if near:
            least = min(near, key=near.__getitem__)
            print(f"{size}, {stage}: [fast] is at least {near[least]:.2f} of the fastest exact engine ({least})")
    return not any(engine in OURS for engine, _ in wrong)


if __name__ == "__main__":
    sys.exit(main())
