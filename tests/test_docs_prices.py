"""The examples of docs/prices.md do what they show."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tokengap.estimators.price_config import read_prices
from tokengap.service.cost_cli import main

TEXT = (Path(__file__).resolve().parent.parent / "docs" / "prices.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("block", [text for kind, text in BLOCKS if kind == "console"])
def test_console(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    command, _, shown = block.partition("\n")
    program, *args = shlex.split(command.removeprefix("$ "))
    assert program == "tokengap"
    assert main(args) == 0
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize("block", [text for kind, text in BLOCKS if kind == "toml"])
def test_toml(block: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(block)
    assert len(read_prices(file).entries) == 4


@pytest.mark.parametrize("block", [text for kind, text in BLOCKS if kind == "python"])
def test_python(block: str) -> None:
    exec(compile(block, "docs/prices.md", "exec"), {})  # noqa: S102 - the documentation's own example
