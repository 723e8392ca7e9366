"""The commands cut and models, run as a user runs them."""

import io
import json
import re
import sys
from pathlib import Path

import pytest

from tokengap.service.cli import main
from tokengap.tokenizers.registry import get_counter

TEXT = "First line\r\nπρώτη γραμμή\r\n日本語 with no end"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "text.md"
    path.write_bytes(TEXT.encode())
    return str(path)


@pytest.mark.parametrize("counter", ["o200k_base", "r50k_base", "model:gpt-4"])
@pytest.mark.parametrize("limit", [0, 1, 5, 9, 1000])
@pytest.mark.parametrize("options", [[], ["--from-end"]])
def test_cut_writes_the_bytes_it_keeps_and_says_what_it_cut(
    file: str, counter: str, limit: int, options: list[str], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["cut", "--counter", counter, "--max-tokens", str(limit), *options, file]) == 0
    out, err = capfdbinary.readouterr()
    kept = out.decode()
    assert TEXT.endswith(kept) if options else TEXT.startswith(kept)
    assert get_counter(counter).count(kept).tokens <= limit
    dropped = len(TEXT) - len(kept)
    expected = f"cut {dropped} characters ({len(TEXT.encode()) - len(out)} bytes) from the" if dropped else "nothing"
    assert expected in err.decode()


def test_cut_reads_standard_input(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one two\r\nthree")))
    assert main(["cut", "--model", "gpt-4o", "--max-tokens", "3", "-"]) == 0
    assert capfdbinary.readouterr().out == b"one two\r\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cut", "--counter", "words", "--max-tokens", "3"], "the counter 'words' cannot cut a text"),
        (["cut", "--counter", "o200k_bas", "--max-tokens", "3"], "did you mean o200k_base"),
        (["fit", "--model", "gpt-4x"], "unknown model 'gpt-4x': did you mean gpt-4"),
        (["fit", "--model", "gemini-2.5-pro", "--counter", "o200k_bas"], "did you mean o200k_base"),
    ],
)
def test_a_refusal_is_one_line_and_no_output(
    arguments: list[str], message: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, file]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("number", ["-1", "1.5", "many", "", "٣", "9" * 20])
def test_a_bad_number_is_refused(number: str, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cut", f"--max-tokens={number}", file]) == 2
    assert "is not a whole number, 0 or more" in capsys.readouterr().err


def test_what_is_not_utf8_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "latin1.txt"
    path.write_bytes("café".encode("latin-1"))
    assert main(["cut", "--max-tokens", "1", str(path)]) == 2
    assert "not UTF-8 text (byte 0xe9 at offset 3)" in capsys.readouterr().err
    assert main(["fit", "--model", "gpt-4o", str(tmp_path / "absent.txt")]) == 2
    assert "absent.txt: No such file or directory" in capsys.readouterr().err


def test_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "gpt-4o-mini"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["MODEL", "ENCODING", "WINDOW", "INPUT", "OUTPUT"]
    assert lines[1].split() == ["gpt-4o-mini", "o200k_base", "128,000", "-", "16,384"]
    assert main(["models", "--json"]) == 0
    rows = {row["model"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["gpt-4"]["context_window"] == 8192
    assert rows["gpt-5.5-cyber"]["context_window"] is None
    assert main(["models", "no-such-model"]) == 2
    assert main(["models", "gpt-6-sol"]) == 0
    out, err = capsys.readouterr()
    assert "o200k_base?" in out
    assert "has not named the encoding" in err


def test_models_says_what_its_columns_mean(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "--help"]) == 0
    out = capsys.readouterr().out
    assert "INPUT is a limit of the input alone" in out
    assert "A ? after an encoding" in out


def test_the_keys_of_models_are_documented(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "gpt-4o", "--json"]) == 0
    keys = {key for row in json.loads(capsys.readouterr().out) for key in row}
    page = Path(__file__).parents[2].joinpath("docs/limits.md").read_text(encoding="utf-8")
    table = page.partition("`tokengap models --json`")[2].partition("\n## ")[0]
    columns = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert keys == {name for column in columns for name in re.findall(r"`(\w+)`", column)}
