"""tokengap check on a repository of prompts, beside counting its files with tiktoken in a loop.

    python benchmarks/check.py [--files 2000] [--bytes 10000000] [--changed 10] [--rounds 5]

The repository is made of this one's own texts and sources, cut and shuffled by a fixed seed: one commit as
the base, and of the files some percent changed after it. "nothing to do" is a check of a file that no
budget is about, as before a commit that touches no prompt. The loop counts the files as they are and
nothing else: no base, no prices, no budgets. The load tells whether the machine had other work: then the
wall times are those of a busy machine, and CPU is what to compare.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import Timing, machine, medians

ROOT = Path(__file__).parents[1]
CONFIGURATION = """\
model = "openai/gpt-4o"
prices_at = 2026-11-30
[[budget]]
name = "prompts"
paths = ["prompts/**/*.md"]
max_tokens = "100M"
max_tokens_per_file = "1M"
max_cost = "1000 USD"
max_growth = "50%"
"""
LOOP = """\
import gzip, sys
from pathlib import Path
import tiktoken
from tokengap.tokenizers.encodings import ENCODINGS, load_ranks
encoding = ENCODINGS["o200k_base"]
counter = tiktoken.Encoding("o200k_base", pat_str=encoding.pattern, mergeable_ranks=load_ranks(encoding.ranks),
                            special_tokens=dict(encoding.special_tokens))
print(sum(len(counter.encode_ordinary(path.read_text(encoding="utf-8"))) for path in Path("prompts").rglob("*.md")))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--bytes", type=int, default=10_000_000)
    parser.add_argument("--changed", type=int, default=10, help="percent of the files")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_repository(folder, args.files, args.bytes // args.files, args.changed)
        report(args, measure(folder, args.rounds))


def make_repository(folder: Path, files: int, size: int, changed: int) -> None:
    """Commit the base, then change some files in the work tree."""
    random.seed(6)
    lines = [
        line
        for path in sorted([*ROOT.glob("**/*.md"), *ROOT.glob("*/*.py"), *ROOT.glob("examples/messages/*")])
        if ".venv" not in path.parts and path.is_file()
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    (folder / "tokengap.toml").write_text(CONFIGURATION)
    (folder / "README.md").touch()
    for number in range(files):
        path = folder / "prompts" / f"team{number % 20}" / f"prompt{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        text, length = [], 0
        while length < size:
            text.append(random.choice(lines))
            length += len(text[-1].encode()) + 1
        path.write_text("\n".join(text) + "\n", encoding="utf-8")
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "base"]):
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e@x", *command], cwd=folder, check=True)
    for path in random.sample(sorted(folder.glob("prompts/**/*.md")), files * changed // 100):
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{random.choice(lines)}\n")


def measure(folder: Path, rounds: int) -> dict[str, Timing]:
    here = Path(sys.executable).parent
    tokengap = [str(here / "tokengap"), "check"]
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "nothing to do": [*tokengap, "README.md"],
        "without a base": tokengap,
        "with a base": [*tokengap, "--baseline", "main"],
        "tiktoken in a loop": [sys.executable, "-c", LOOP],
    }
    ours = json.loads(run([*commands["with a base"], "--format", "json"], folder))["budgets"][0]["tokens"]
    theirs = int(run(commands["tiktoken in a loop"], folder))
    if ours != theirs:
        raise SystemExit(f"the counts differ: tokengap {ours}, tiktoken {theirs}")
    return medians(commands, rounds, cwd=folder)


def run(command: list[str], folder: Path) -> str:
    return subprocess.run(command, cwd=folder, capture_output=True, check=True, text=True).stdout


def report(args: argparse.Namespace, timings: dict[str, Timing]) -> None:
    print(
        f"{args.files:,} files, {args.bytes:,} bytes, {args.changed}% changed; medians of {args.rounds} rounds, in turn"
    )
    print(f"{machine('tokengap', 'tiktoken')}; load {os.getloadavg()[0]:.1f}")
    loop = timings["tiktoken in a loop"]
    print(f"{'':24}{'CPU ms':>8}{'wall ms':>9}{'CPU / loop':>12}")
    for name, timing in timings.items():
        print(f"{name:24}{timing.cpu:8.0f}{timing.wall:9.0f}{timing.cpu / loop.cpu:12.2f}")


if __name__ == "__main__":
    main()
