"""``docs/http.md``: its commands print what it shows, but for the port.

TOKENGAP_UPDATE_DOCS=1 writes what they print into the page.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tokengap.service.problems import TITLES

PAGE = Path(__file__).parents[2] / "docs" / "http.md"
BLOCK = re.compile(r"(?<=^```shell-session\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
SHOWN = "http://127.0.0.1:8000"


@pytest.mark.system
def test_commands_print_what_is_shown(server: Any, program: Callable[[str], str]) -> None:
    assert program("curl")
    page = PAGE.read_text(encoding="utf-8")
    ran = BLOCK.sub(lambda block: "".join(outputs(block[0], server.url)), page)
    if os.environ.get("TOKENGAP_UPDATE_DOCS"):
        PAGE.write_text(ran, encoding="utf-8")
    assert ran == page


def outputs(block: str, url: str) -> Iterator[str]:
    for line in block.splitlines():
        if line.startswith("$ "):
            done = subprocess.run(
                ["sh", "-c", line[2:].replace(SHOWN, url)], capture_output=True, text=True, encoding="utf-8", check=True
            )
            yield f"{line}\n" + "".join(f"{printed}\n" for printed in done.stdout.splitlines())


def test_every_problem_is_listed() -> None:
    rows = re.findall(r"^\| (\d{3}) \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    listed = {name: int(status) for status, text in rows for name in re.findall(r"`([a-z-]+)`", text) if name in TITLES}
    assert listed == {name: status for name, (status, _) in TITLES.items()}
