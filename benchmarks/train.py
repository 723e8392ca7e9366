"""Training speed, side by side: tokengap, HuggingFace tokenizers, rustbpe, and recounting everything.

    python benchmarks/train.py                        # 1 MB of the standard library, then 20 MB of all packages
    python benchmarks/train.py --corpus FILE --merges 8000 --runs 5

Each run is a fresh process. CPU time is that of the process and its children, from the text in memory to
the merges; peak memory is that of the whole process. Recounting is timed for 200 merges and extrapolated to
the number asked for, each merge costing what those did on average (later ones cost somewhat less); its first
500 merges must be tokengap's. The table gives medians, and ratios to tokengap. "tokens" is the corpus as
encoded with what was learned. All split the text by GPT-2's rule.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

RECOUNTED = 200
CHECKED = 500
SIZES = {"1 MB": 1 << 20, "20 MB": 20 << 20}
MERGES = (1_000, 8_000, 32_000)
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
Result = dict[str, Any]


def tokengap(text: str, merges: int) -> Result:
    from tokengap.tokenizers import bpe

    artefact = bpe.train([text], merges=merges).artefact
    learned = [(merge.left, merge.right) for merge in artefact.merges[:CHECKED]]
    return {"merges": len(artefact.merges), "tokens": artefact.training["tokens"], "learned": learned}


def huggingface(text: str, merges: int) -> Result:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=256 + merges, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([text], trainer)
    return {"merges": tokenizer.get_vocab_size() - 256, "save": tokenizer.to_str()}


def rustbpe(text: str, merges: int) -> Result:
    tokenizer = import_module("rustbpe").Tokenizer()  # which has no types
    tokenizer.train_from_iterator([text], vocab_size=256 + merges, pattern=GPT2)
    return {"merges": len(tokenizer.get_mergeable_ranks()) - 256, "ranks": tokenizer.get_mergeable_ranks()}


def recounting(text: str, merges: int) -> Result:
    """The documents' trainer over distinct chunks: CPU seconds for 200 merges, and what it learns in 500."""
    from tokengap.tokenizers.pretokenize import pretokenizer

    started = time.process_time()
    chunks = {tuple(chunk.encode()): times for chunk, times in Counter(pretokenizer("gpt2").chunks(text)).items()}
    setup = time.process_time() - started
    clock: list[float] = []
    learned = recounted(chunks, CHECKED, clock)
    each = (clock[min(RECOUNTED, len(clock)) - 1] - setup - started) / min(RECOUNTED, len(clock))
    return {"merges": len(learned), "setup": setup, "each": each, "learned": learned}


def recounted(chunks: dict[tuple[int, ...], int], merges: int, clock: list[float]) -> list[tuple[int, int]]:
    learned: list[tuple[int, int]] = []
    while len(learned) < merges:
        pairs: Counter[tuple[int, int]] = Counter()
        for chunk, times in chunks.items():
            for pair in pairwise(chunk):
                pairs[pair] += times
        if not pairs:
            break
        best = max(pairs, key=pairs.__getitem__)
        new = 256 + len(learned)
        chunks = {replaced(chunk, best, new): times for chunk, times in chunks.items()}
        learned.append(best)
        clock.append(time.process_time())
    return learned


def replaced(chunk: tuple[int, ...], pair: tuple[int, int], new: int) -> tuple[int, ...]:
    out: list[int] = []
    position = 0
    while position < len(chunk):
        if chunk[position] == pair[0] and chunk[position + 1 : position + 2] == pair[1:]:
            out.append(new)
            position += 2
        else:
            out.append(chunk[position])
            position += 1
    return tuple(out)


TRAINERS: dict[str, Callable[[str, int], Result]] = {
    "tokengap": tokengap,
    "huggingface": huggingface,
    "rustbpe": rustbpe,
    "recounting": recounting,
}
PACKAGES = {"huggingface": "tokenizers", "rustbpe": "rustbpe"}


def one_run(name: str, corpus: Path, merges: int, *, check: bool) -> Result:
    """Train once, in this process, and say what it took; ``check`` also counts the corpus with the result."""
    text = corpus.read_bytes().decode()
    before = cpu_seconds()
    result = TRAINERS[name](text, merges)
    result["cpu"] = cpu_seconds() - before
    result["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    saved, ranks = result.pop("save", None), result.pop("ranks", None)
    if check and saved:
        from tokenizers import Tokenizer

        result["tokens"] = len(Tokenizer.from_str(saved).encode(text).ids)
    elif check and ranks:
        from tiktoken import Encoding

        tokens = {bytes(token): rank for token, rank in ranks}
        counter = Encoding(name, pat_str=GPT2, mergeable_ranks=tokens, special_tokens={})
        result["tokens"] = len(counter.encode_ordinary(text))
    return result


def cpu_seconds() -> float:
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in usage)


def compare(corpus: Path, merges: int, runs: int, trainers: list[str], plain: Result | None) -> None:
    results: dict[str, list[Result]] = {name: [] for name in trainers}
    for number in range(runs):
        for name in trainers:  # interleaved, so that a busy moment does not fall on one of them
            results[name].append(child(name, corpus, merges, check=not number))
    ours = results["tokengap"][0]
    if plain:
        if ours["learned"] != plain["learned"][: len(ours["learned"])]:
            raise SystemExit("the first merges are not those of recounting")
        cpu = plain["setup"] + plain["each"] * merges
        results["recounting"] = [{"merges": RECOUNTED, "cpu": cpu, "peak_mb": plain["peak_mb"]}]
    base = statistics.median(run["cpu"] for run in results["tokengap"])
    for name, found in results.items():
        cpu = statistics.median(run["cpu"] for run in found)
        peak = statistics.median(run["peak_mb"] for run in found)
        counted = found[0].get("tokens")
        difference = f"{100 * (counted - ours['tokens']) / ours['tokens']:+.3f}%" if counted else "-"
        total = f"{counted:,}" if counted else "-"
        learned = f"{found[0]['merges']:,}"
        print(f"{name:12} {learned:>8} {cpu:>10.2f} {cpu / base:>8.2f} {peak:>8.0f} {total:>12} {difference:>11}")


def child(name: str, corpus: Path, merges: int, *, check: bool) -> Result:
    words = [sys.executable, __file__, "--child", name, "--corpus", str(corpus), "--merges", str(merges)]
    done = subprocess.run([*words, *(["--check"] if check else [])], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr}")
    result: Result = json.loads(done.stdout.splitlines()[-1])
    return result


def python_sources(size: int) -> Iterator[str]:
    """Real text on any machine with Python: its library's sources, then those of the installed packages."""
    total = 0
    for folder in dict.fromkeys(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")):
        for path in sorted(Path(folder).rglob("*.py")):
            text = path.read_bytes().decode(errors="replace")
            yield text[: size - total]
            total += len(text)
            if total >= size:
                return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, help="a text to train on instead of Python sources")
    parser.add_argument("--merges", type=int, action="append", help="how many merges (repeatable)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each trainer (default: %(default)s)")
    parser.add_argument("--no-recounting", action="store_true", help="leave out what takes longest")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(one_run(args.child, args.corpus, args.merges[0], check=args.check)))
        return
    trainers = [name for name in TRAINERS if name not in PACKAGES or find_spec(PACKAGES[name])]
    trainers.remove("recounting")
    peers = ", ".join(f"{package} {version(package)}" for name, package in PACKAGES.items() if name in trainers)
    print(f"Python {sys.version.split()[0]}, tokengap {version('tokengap')}, {peers}")
    with tempfile.TemporaryDirectory() as folder:
        corpora = {args.corpus.name: args.corpus} if args.corpus else {}
        for name, size in {} if args.corpus else SIZES.items():
            corpora[name] = Path(folder) / name.replace(" ", "-")
            with corpora[name].open("wb") as file:  # piece by piece: a child's peak starts at its parent's size
                file.writelines(text.encode() for text in python_sources(size))
        for name, corpus in corpora.items():
            print(f"\n{name}: {corpus.stat().st_size:,} bytes")
            plain = None if args.no_recounting else child("recounting", corpus, CHECKED, check=False)
            for merges in args.merges or MERGES:
                header = f"{merges:,} merges"
                print(f"\n{header:12}  learned CPU s (med)   ratio  peak MB       tokens  difference", flush=True)
                compare(corpus, merges, args.runs, trainers, plain)
        if not args.no_recounting:
            print("\nthe first merges of every run were those of recounting")


if __name__ == "__main__":
    main()
