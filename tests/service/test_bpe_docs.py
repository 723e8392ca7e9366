"""``docs/bpe.md``: its commands, each working with the files of those before it, print what it says.

They run in a folder of their own, in order, so they are one test. TOKENGAP_UPDATE_DOCS=1 writes what they
print into the page.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "bpe.md"
BLOCK = re.compile(r"^```(text title=(\S+)|shell-session)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

pytestmark = pytest.mark.system


def test_page(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")

    def run(block: re.Match[str]) -> str:
        kind, title, body = block.groups()
        if title:
            (tmp_path / title).write_text(body, encoding="utf-8")
            return block[0]
        return f"```{kind}\n{''.join(commands(body, tmp_path))}```"

    ran = BLOCK.sub(run, page)
    if os.environ.get("TOKENGAP_UPDATE_DOCS"):
        PAGE.write_text(ran, encoding="utf-8")
    assert ran == page


def commands(body: str, folder: Path) -> Iterator[str]:
    path = os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))
    for line in body.splitlines():
        if line.startswith("$ "):
            done = subprocess.run(
                ["sh", "-c", line[2:]],
                cwd=folder,
                env={**os.environ, "PATH": path, "COLUMNS": "100", "PYTHONUTF8": "1"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
            )
            shown = "".join(f"{line.rstrip()}\n" for line in done.stdout.decode().splitlines())
            yield f"{line}\n{shown}"
