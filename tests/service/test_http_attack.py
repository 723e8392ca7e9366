"""Hostile clients against a real server: others are answered, nothing fails, nothing is lost.

The attack is ``benchmarks/http_attack.py``, which also says how quick the answers are.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "http_attack.py"


@pytest.mark.slow
def test_an_attack_fails_nobody() -> None:
    command: list[str | Path] = [sys.executable, PROGRAM, "--json", "--seconds", "60"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    outcome = json.loads(done.stdout)
    attack = outcome["attack"]
    assert attack["failures"] == []
    assert attack["megabytes_wrong"] == 0
    assert attack["megabytes_right"] > 0
    assert outcome["small_answered"] >= 0.99
    assert outcome["health_failed"] == 0
    assert outcome["lost_at_stop"] == 0
    assert outcome["exit_code"] == 0
    assert sum(attack["answers"].values()) > 50
