"""What the pytest plugin costs a run that does not use it: 500 empty tests, with it and without.

    python benchmarks/pytest_plugin.py [--rounds 15]

The third line is a run in which one of the tests counts a text, and so imports what counts.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from measure import machine, medians

TESTS = 500
MODULE = f"import pytest\n\n@pytest.mark.parametrize('number', range({TESTS}))\ndef test_it(number): pass\n"
COUNTING = "def test_one(token_budget): token_budget('a text', max_tokens=9)\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        unused, used = Path(name) / "test_unused.py", Path(name) / "test_used.py"
        unused.write_text(MODULE)
        used.write_text(MODULE + COUNTING)
        run = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")
        timings = medians(
            {
                "without (-p no:tokengap)": (*run, "-p", "no:tokengap", str(unused)),
                "with, unused": (*run, str(unused)),
                "with, one test counts": (*run, str(used)),
            },
            rounds,
            cwd=Path(name),
        )
    print(f"{TESTS} empty tests, medians of {rounds} interleaved runs")
    print(machine("tokengap", "pytest"))
    bare = next(iter(timings.values()))
    print(f"{'':28}{'CPU ms':>8}{'more':>8}{'wall ms':>9}")
    for name, timing in timings.items():
        print(f"{name:28}{timing.cpu:8.0f}{timing.cpu - bare.cpu:8.0f}{timing.wall:9.0f}")


if __name__ == "__main__":
    main()
