"""What the documents show is what the commands print, and their Python runs.

``make docs`` writes the outputs anew.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)
EXAMPLE = re.compile(r"^\$ (?P<command>.*)\n(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\+00:00|Z)")

EXAMPLES = [
    (document.name, example["command"], example["output"])
    for document in DOCUMENTS
    for block in BLOCK.findall(document.read_text(encoding="utf-8"))
    for example in EXAMPLE.finditer(block)
]


@pytest.mark.parametrize(("document", "command", "shown"), EXAMPLES)
def test_console_output_is_real(document: str, command: str, shown: str) -> None:
    printed = output_of(command)
    if "--as-of" not in command:  # then it is now
        printed, shown = TIME.sub("(time)", printed), TIME.sub("(time)", shown)
    assert printed.rstrip() == shown.rstrip()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_python_examples(document: Path) -> None:
    assert doctest.testfile(str(document), module_relative=False).failed == 0


def test_links_lead_somewhere() -> None:
    for document in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


def output_of(command: str) -> str:
    """What a shell command prints, with no spaces at the ends of its lines."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "COLUMNS": "80"}
    done = subprocess.run(
        command, shell=True, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.decode().rstrip().splitlines())


def update() -> None:
    """Write the output of every example anew."""
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        new = BLOCK.sub(lambda block: EXAMPLE.sub(_example, block[0]), text)
        if TIME.sub("", new) != TIME.sub("", text):
            document.write_text(new, encoding="utf-8")
            print(f"wrote {document.name}")


def _example(example: re.Match[str]) -> str:
    gap = "\n" if example["output"].endswith("\n\n") else ""
    return f"$ {example['command']}\n{output_of(example['command'])}{gap}"


if __name__ == "__main__":
    update()
