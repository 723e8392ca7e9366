"""Cold start: whole processes that count one 2 KB file, beside ttok, which is over tiktoken as well.

    python benchmarks/cold_start.py [--rounds 15]

Without a model tokengap counts as ttok does for gpt-4o; for a model it prices the text too, for which it reads the
table of prices. ttok needs OpenAI's rank file in tiktoken's cache directory; it is given the one tokengap ships.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from hashlib import sha1
from pathlib import Path

from measure import Timing, machine, medians

from tokengap.tokenizers.encodings import ENCODINGS, read_ranks

ROOT = Path(__file__).parents[1]
URL = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "prompt.md"
        text.write_bytes((ROOT / "CONTRIBUTING.md").read_bytes()[:2048])
        cached = Path(folder) / sha1(URL.encode(), usedforsecurity=False).hexdigest()  # tiktoken's cache names
        cached.write_bytes(read_ranks(ENCODINGS["o200k_base"].ranks))
        report(text, medians_of(text, folder, rounds), rounds)


def medians_of(text: Path, cache: str, rounds: int) -> dict[str, Timing]:
    here = Path(sys.executable).parent
    tokengap, ttok = str(here / "tokengap"), str(here / "ttok")
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "tokengap count -c words:1": [tokengap, "count", "--counter", "words:1", str(text)],
        "tokengap count": [tokengap, "count", str(text)],
        "tokengap count -m gpt-4o": [tokengap, "count", "-m", "gpt-4o", str(text)],
        "ttok -m gpt-4o": [ttok, "-m", "gpt-4o", "-i", str(text)],
    }
    env = {"TIKTOKEN_CACHE_DIR": cache}
    ours = subprocess.run([tokengap, "count", "-q", str(text)], capture_output=True, check=True, text=True).stdout
    theirs = subprocess.run(commands["ttok -m gpt-4o"], env=env, capture_output=True, check=True, text=True).stdout
    if ours.strip() != theirs.strip():
        raise SystemExit(f"the counts differ: tokengap {ours.strip()}, ttok {theirs.strip()}")
    return medians(commands, rounds, env)


def report(text: Path, timings: dict[str, Timing], rounds: int) -> None:
    print(f"cold start, {text.stat().st_size:,} bytes, medians of {rounds} interleaved runs")
    print(machine("tokengap", "tiktoken", "ttok"))
    bare, ttok = timings["python -c pass"], timings["ttok -m gpt-4o"]
    print(f"{'':28}{'CPU ms':>8}{'over Python':>13}{'wall ms':>9}{'ttok / it':>11}")
    for name, timing in timings.items():
        print(
            f"{name:28}{timing.cpu:8.0f}{timing.cpu - bare.cpu:13.0f}{timing.wall:9.0f}{ttok.wall / timing.wall:11.2f}"
        )


if __name__ == "__main__":
    main()
