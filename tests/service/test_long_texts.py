"""Long texts, which the command line reads in parts: the same counts, the same errors, in little memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tokengap.estimators import compare, count, report_json
from tokengap.service import inputs
from tokengap.service.cli import main


@pytest.fixture
def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a few bytes for a long text, which is read in parts of three."""
    monkeypatch.setattr(inputs, "LONG", 8)
    monkeypatch.setattr(inputs, "_PART", 3)


@pytest.mark.usefixtures("short_parts")
@pytest.mark.parametrize(
    "text", ["", "short", "Größe 😀 of it's\n  12345 书 and more\n\nof the same\n", "x" * 50, "a b " * 20]
)
def test_a_long_text_counts_as_it_does_whole(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "long.txt").write_bytes(text.encode())
    specs = ["o200k_base", "r50k_base", "words:4/3", "bytes"]
    assert main(["count", "--json", str(tmp_path / "long.txt"), *(f"--counter={spec}" for spec in specs)]) == 0
    shown = json.loads(capsys.readouterr().out)
    python = json.loads(json.dumps(report_json(count({str(tmp_path / "long.txt"): text}, specs))))
    assert shown == {**python, "skipped": []}


@pytest.mark.usefixtures("short_parts")
def test_a_long_text_that_is_no_utf_8(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.txt"
    cut_off = ("ü" * 20).encode() + b"\xe2\x82"
    for content, offset in ((b"0123456789\xff", 10), (cut_off, 40), (b"a " * 30 + b"\x80", 60)):
        bad.write_bytes(content)
        assert main(["count", str(bad)]) == 2
        assert f"at offset {offset})" in capsys.readouterr().err
    (tmp_path / "good.txt").write_text("good")
    assert main(["count", "--json", str(tmp_path)]) == 0
    body = json.loads(capsys.readouterr().out)
    assert [row["tokens"] for row in body["results"]] == [1]
    assert [file["source"] for file in body["skipped"]] == [str(bad)]


@pytest.mark.usefixtures("short_parts")
def test_a_long_text_is_compared_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "long.txt").write_text("one two three four five 12345")
    assert main(["compare", "--json", str(tmp_path / "long.txt")]) == 0
    shown = json.loads(capsys.readouterr().out)
    python = json.loads(json.dumps(report_json(compare({str(tmp_path / "long.txt"): "one two three four five 12345"}))))
    assert shown == {**python, "skipped": []}


@pytest.mark.slow
@pytest.mark.parametrize("engines", ["sys.modules['fastokens'] = None;", ""], ids=["without extras", "with the extra"])
def test_much_text_takes_little_memory(engines: str, tmp_path: Path) -> None:
    """200 MB of text in what one engine and a few parts take.

    The peak is the kernel's for the program itself: `ru_maxrss` would begin with what started it.
    """
    if not Path("/proc/self/status").exists():
        pytest.skip("a process's own peak of memory is read from Linux's /proc")
    (tmp_path / "big.txt").write_bytes(b"Some words of a text that goes on and on, line by line.\n" * 3_600_000)
    program = (
        f"import sys; {engines}"
        "from tokengap.service.cli import main; main(['count', '-q', 'big.txt']);"
        "print(open('/proc/self/status').read().partition('VmHWM:')[2].split()[0])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=True)
    tokens, kilobytes = map(int, done.stdout.split())
    assert tokens == 3_600_000 * 15
    assert kilobytes < 300_000
