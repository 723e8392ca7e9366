"""``docs/bpe.md``: its commands and examples are run in order, and print what it says.

TOKENGAP_UPDATE_DOCS=1 writes what they print into the page instead.
"""

from __future__ import annotations

import ast
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "bpe.md"
BLOCK = re.compile(r"^```(text title=(\S+)|console|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

pytestmark = pytest.mark.system


def test_page(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    names: dict[str, Any] = {}

    def run(block: re.Match[str]) -> str:
        kind, title, body = block.groups()
        if title:
            (tmp_path / title).write_text(body, encoding="utf-8")
            return block[0]
        shown = "".join(commands(body, tmp_path) if kind == "console" else examples(body, tmp_path, names))
        return f"```{kind}\n{shown}```"

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


def examples(body: str, folder: Path, names: dict[str, Any]) -> Iterator[str]:
    for example in re.findall(r"^>>> .*\n(?:^\.\.\. .*\n)*", body, re.MULTILINE):
        source = re.sub(r"^(>>>|\.\.\.) ", "", example, flags=re.MULTILINE)
        printed = io.StringIO()
        single = ast.Interactive(ast.parse(source).body)
        with chdir(folder), redirect_stdout(printed):
            exec(compile(single, "page", "single"), names)  # noqa: S102
        yield example + printed.getvalue()
