"""A fork waits for what another thread is loading, and its child can count at once."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import concurrent.futures.thread, logging  # what registers hooks of its own while a fork waits, is told on stderr
import os, sys, threading, time
from tokengap.tokenizers import locks
from tokengap.tokenizers.counter import prepare
from tokengap.tokenizers.registry import get_counter

counter, lock = get_counter("cl100k_base"), getattr(locks, sys.argv[1])
held = threading.Event()

def hold():
    with lock:
        held.set()
        time.sleep(0.3)
        prepare(counter, 3_000_000)  # which imports and builds

threading.Thread(target=hold).start()
held.wait()
child = os.fork()
if child == 0:
    texts = ["one two three. " * 20] * 4
    os._exit(0 if [counter.count(text).tokens for text in texts] == [81] * 4 else 1)
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("lock", ["loading", "remembering"])
def test_a_fork_waits(lock: str) -> None:
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, lock]
    done = subprocess.run(command, check=False, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
