"""The command line as a user runs it: a process, its output, its exit code."""

from __future__ import annotations

import json
import os
import pty
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tokengap.estimators import compare, count, report_json
from tokengap.service.cli import main

Answer = Callable[..., Any]
Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
PROGRAM = str(shutil.which("tokengap", path=os.path.dirname(sys.executable)))


def test_count_is_the_python_count(answer: Answer, tmp_path: Path) -> None:
    text = "Ünïcode\r\n\tund <|endoftext|> 1234567\n"
    (tmp_path / "a.txt").write_bytes(text.encode())
    specs = ["o200k_base", "words:4/3", "chars:4", "bytes"]
    shown = answer("count", "a.txt", *(f"--counter={spec}" for spec in specs), "--price", "3 EUR", cwd=tmp_path)
    python = json.loads(json.dumps(report_json(count({"a.txt": text}, specs, price="3 EUR"))))
    assert shown == {**python, "skipped": []}


def test_compare_is_the_python_comparison(answer: Answer) -> None:
    shown = answer("compare", "--text", "Order 1042", "--price", "in=3,out=15 USD", "--calls", "1000", "--per", "week")
    python = json.loads(json.dumps(report_json(compare("Order 1042", price="in=3,out=15 USD", calls=1000, per="week"))))
    assert shown == {**python, "skipped": []}


@pytest.mark.parametrize(
    ("text", "counts"),
    [("1234567", 3), ("Hello, how are you today?", 7), ("नमस्ते, आज तपाईंलाई कस्तो छ?", 28), ("", 0)],
)
def test_every_way_in_gives_one_count(answer: Answer, tmp_path: Path, text: str, counts: int) -> None:
    (tmp_path / "x.txt").write_bytes(text.encode())
    ways = (
        (("x.txt",), b""),
        (("-",), text.encode()),
        ((), text.encode()),
        ((f"--text={text}",), b""),
        (("*.txt",), b""),
        ((".",), b""),
    )
    for args, stdin in ways:
        body = answer("count", "--counter", "cl100k_base", *args, stdin=stdin, cwd=tmp_path)
        assert [row["tokens"] for row in body["results"]] == [counts], args


def test_several_texts_have_a_total(answer: Answer) -> None:
    body = answer("count", "--text", "a b", "--text", "c", "-c", "words:1.5", "-c", "bytes")
    assert [(row["source"], row["counter"], row["tokens"]) for row in body["results"]] == [
        ("text:1", "words:1.5", 3),
        ("text:1", "bytes", 3),
        ("text:2", "words:1.5", 2),
        ("text:2", "bytes", 1),
    ]
    assert [(total["counter"], total["tokens"], total["words"]) for total in body["total"]] == [
        ("words:1.5", 5, 3),
        ("bytes", 4, 3),
    ]


def test_default_counter_is_named(run: Run, answer: Answer) -> None:
    assert answer("count", "--text", "a")["results"][0]["counter"] == "o200k_base"
    assert run("count", "--text", "a").stdout.startswith(b"o200k_base: exact, sha256:")


def test_output_for_people(run: Run, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("word " * 2000)
    (tmp_path / "b.txt").write_text("word")
    done = run("count", "b.txt", "long.txt", "-m", "gpt-4o", "-c", "words:1", cwd=tmp_path)
    assert done.stdout.decode().splitlines() == [
        "model:gpt-4o (o200k_base): exact, sha256:63ed9ee54640",
        "      1 token   0.0000025 USD  b.txt",
        "  2,001 tokens   0.005003 USD  long.txt",
        "  2,002 tokens   0.005005 USD  total",
        "",
        "words:1: heuristic, no measured error, sha256:a3ea6b9dfcf9",
        "      1 token   0.0000025 USD  b.txt",
        "  2,000 tokens      0.005 USD  long.txt",
        "  2,001 tokens   0.005003 USD  total",
    ]
    assert run("count", "b.txt", "long.txt", "--quiet", cwd=tmp_path).stdout == b"2002\n"


def test_compare_for_people(run: Run) -> None:
    args = ("--text", "Order 778301 [bold]", "--price", "3 EUR", "--calls", "200000")
    done = run("compare", *args, env={"COLUMNS": "200"})
    lines = [line.rstrip() for line in done.stdout.decode().splitlines()]
    assert lines[-4:] == [
        "Price per million tokens: input 3, output 3 EUR (as given).",
        "Gap: words:1 says 3 tokens, o200k_base counts 7: 4 too few (57.14% of the count).",
        "200,000 calls a month: 1.80 EUR by words:1, 4.20 EUR by o200k_base. The gap is 2.40 EUR a month.",
        "Words are not what is billed: words with digits take 3.0 tokens each, "
        "code and punctuation take 3.0 tokens each.",
    ]
    assert b"\x1b[" not in done.stdout


@pytest.mark.parametrize("columns", [60, 80, 100, 120])
def test_what_is_printed_fits_the_terminal(run: Run, columns: int) -> None:
    args = ("compare", "--text", "a", "--text", "b", "-m", "text-embedding-3-small", "--calls", "5")
    done = run(*args, env={"COLUMNS": str(columns)})
    assert max(map(len, done.stdout.decode().splitlines())) <= columns
    assert "0.00000004 USD" in done.stdout.decode()


@pytest.mark.parametrize("columns", ["0", "10", "30"])
def test_numbers_stay_whole_where_nothing_fits(run: Run, columns: str) -> None:
    shown = run("compare", "--text", "word " * 12345, "--price", "3 EUR", env={"COLUMNS": columns}).stdout.decode()
    assert "12,346" in shown
    assert "0.03704 EUR" in shown
    assert "\u2026" not in shown


def test_names_cannot_move_the_cursor(run: Run, tmp_path: Path) -> None:
    for name in ("esc\x1b[31mred", "new\nline", "rtl\u202e", "tab\t"):
        (tmp_path / name).write_text("x")
    for command in ("count", "compare"):
        shown = run(command, ".", cwd=tmp_path).stdout.decode()
        assert not {"\x1b", "\u202e", "\t"} & set(shown)
        assert "new\\nline" in shown


def test_a_gap_without_a_price_says_so(run: Run) -> None:
    shown = run("compare", "--text", "a b", "--calls", "5").stdout.decode()
    assert "5 calls a month: no price is known; --model or --price gives one." in shown


def test_arguments_are_utf8_whatever_the_locale(run: Run, answer: Answer) -> None:
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert answer("count", "--text", "नमस्ते ü", env=env)["results"][0]["bytes"] == 21
    done = run("count", "--text", os.fsdecode(b"caf\xe9"))
    assert (done.returncode, b"--text: not UTF-8 text (byte 0xe9" in done.stderr) == (2, True)


def test_as_a_module(run: Run) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tokengap.service", "count", "-q", "--text", "a b"], capture_output=True, check=True
    )
    assert done.stdout == b"2\n"


def test_counters_lists_everything(run: Run, answer: Answer) -> None:
    listed = {entry["name"]: entry for entry in answer("counters")["counters"]}
    assert listed.keys() >= {"o200k_base", "cl100k_base", "p50k_base", "r50k_base", "gpt2", "words", "chars", "bytes"}
    assert listed["o200k_base"]["kind"] == "exact"
    assert b"words:FACTOR" in run("counters").stdout


@pytest.mark.parametrize("command", [(), ("count",), ("compare",), ("counters",)])
def test_help_is_worth_reading(run: Run, command: tuple[str, ...]) -> None:
    done = run(*command, "--help")
    assert done.returncode == 0
    assert len(done.stdout) > 100
    assert done.stderr == b""


@pytest.mark.parametrize("columns", ["abc", "-1", "0", "5"])
def test_any_width_of_terminal(run: Run, columns: str) -> None:
    for args in (("count", "--help"), ("count", "--text", "a"), ("compare", "--text", "a b", "-m", "gpt-4o")):
        assert run(*args, env={"COLUMNS": columns}).returncode == 0


def test_options_may_stand_between_paths(answer: Answer, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(name)
    body = answer("count", "a", "--counter", "bytes", "b", "--as", "output", "c", cwd=tmp_path)
    assert [row["source"] for row in body["results"]] == ["a", "b", "c"]


FAILURES = {
    "missing file": (("count", "nowhere.md"), b"nowhere.md: No such file or directory"),
    "one of two missing": (("count", "good.txt", "nowhere.md"), b"nowhere.md: No such file or directory"),
    "binary": (("count", "binary.bin"), b"binary.bin: binary, or UTF-16"),
    "UTF-16": (("count", "utf16.txt"), b"utf16.txt: UTF-16 text; convert it first"),
    "UTF-16 without mark": (("count", "utf16le.txt"), b"utf16le.txt: binary, or UTF-16"),
    "Latin-1": (("count", "latin1.txt"), b"latin1.txt: not UTF-8 text (byte 0xe9 at offset 3)"),
    "only binary in folder": (("count", "images"), b"nothing to count: no UTF-8 text in 1 files"),
    "empty folder": (("count", "empty"), b"empty: no files"),
    "no match": (("count", "*.rst"), b"no file matches '*.rst'"),
    "unknown counter": (("count", "good.txt", "-c", "o200k"), b"did you mean o200k_base?"),
    "unknown model": (("count", "good.txt", "-m", "gpt4"), b"did you mean gpt-4"),
    "bad factor": (("count", "good.txt", "-c", "words:zero"), b"bad factor"),
    "bad baseline": (("compare", "good.txt", "--baseline", "words:0"), b"bad factor"),
    "only the baseline": (("compare", "good.txt", "--baseline", "o200k_base"), b"name another one"),
    "negative price": (("count", "good.txt", "--price", "-3 EUR"), b"bad price '-3 EUR'"),
    "price not finite": (("count", "good.txt", "--price", "inf EUR"), b"bad price 'inf EUR'"),
    "price not a number": (("count", "good.txt", "--price", "NaN USD"), b"bad price 'NaN USD'"),
    "no calls": (("compare", "good.txt", "--calls", "0"), b"calls must be a whole number of at least 1"),
    "calls not whole": (("compare", "good.txt", "--calls", "1.5"), b"'1.5' is not a whole number"),
    "calls in other digits": (("compare", "good.txt", "--calls", "\u0663"), b"is not a whole number"),
    "calls signed": (("compare", "good.txt", "--calls=+5"), b"is not a whole number"),
    "calls without end": (("compare", "good.txt", "--calls", "9" * 5000), b"is not a whole number"),
    "period without calls": (("compare", "good.txt", "--per", "day"), b"give --calls too"),
    "argument to an encoding": (("count", "good.txt", "-c", "o200k_base:1"), b"takes no argument"),
    "no name": (("count", ""), b"'': No such file or directory"),
    "unreadable in the middle": (("count", "/proc/self/mem"), b"/proc/self/mem: Input/output error"),
    "a dash before a name": (("count", "-dash.txt"), b"a file whose name begins with - goes after --"),
    "a name without end": (("count", "x" * 5000), b"File name too long"),
    "unknown period": (("compare", "good.txt", "--per", "moon"), b"invalid choice: 'moon'"),
    "unknown option": (("count", "good.txt", "--token"), b"unrecognized arguments: --token"),
    "unknown command": (("cuont",), b"invalid choice: 'cuont'"),
    "no command": ((), b"the following arguments are required: COMMAND"),
    "stray argument": (("counters", "x"), b"unrecognized arguments: x"),
    "newline in a name": (("count", "no\nfile"), b"no\\nfile: No such file"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("inputs")
    (root / "good.txt").write_text("good")
    (root / "-dash.txt").write_text("dash")
    (root / "binary.bin").write_bytes(bytes(range(256)))
    (root / "utf16.txt").write_bytes("hi".encode("utf-16"))
    (root / "utf16le.txt").write_bytes("hi".encode("utf-16-le"))
    (root / "latin1.txt").write_bytes("café".encode("latin-1"))
    (root / "empty").mkdir()
    (root / "images").mkdir()
    (root / "images" / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    return root


@pytest.mark.parametrize("case", FAILURES)
@pytest.mark.parametrize("as_json", [False, True])
def test_failure_is_one_line_and_exit_code_2(run: Run, folder: Path, case: str, as_json: bool) -> None:
    args, message = FAILURES[case]
    done = run(*args, *(["--json"] if as_json and args else []), cwd=folder)
    lines = done.stderr.splitlines()
    assert done.returncode == 2
    assert lines[-1].startswith(b"tokengap: error: ")
    assert len(lines) == 1
    assert message in lines[0]
    assert done.stdout == b""


def test_unreadable_file(run: Run, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        (tmp_path / "x").symlink_to("x")  # root may read anything, but not a link to itself
    else:
        (tmp_path / "x").write_text("x")
        (tmp_path / "x").chmod(0)
    done = run("count", "x", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(b"tokengap: error: x: ")


def test_lone_surrogate_counts_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["count", "--text", "facture\udbc0 7", "-c", "o200k_base", "-c", "words:1", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    assert rows[0]["tokens"] == 5
    assert all("lone_surrogate" in row["warnings"] for row in rows)
    assert main(["count", "--text", "facture\udbc0 7"]) == 0
    assert "counted as U+FFFD" in capsys.readouterr().err


def test_files_that_are_no_text_are_skipped_and_said(run: Run, answer: Answer, tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / f"{number}.bin").write_bytes(b"\0\1\2")
    (tmp_path / "a.txt").write_text("a")
    body = answer("count", ".", "-c", "bytes", cwd=tmp_path)
    assert [row["source"] for row in body["results"]] == [os.path.join(".", "a.txt")]
    assert len(body["skipped"]) == 8
    lines = run("count", ".", "-c", "bytes", cwd=tmp_path).stderr.decode().splitlines()
    assert len(lines) == 6
    assert lines[-1] == "tokengap: warning: skipped 3 more files that are not text; --json lists them all"


def test_file_names_of_every_kind(answer: Answer, run: Run, tmp_path: Path) -> None:
    names = [b"[x].txt", b"-dash.txt", "naïve\u2028.txt".encode(), b"\xff.txt", b"new\nline.txt", b"*.txt"]
    for name in names:
        (tmp_path / os.fsdecode(name)).write_text("one two")
    everything = ["--", *map(os.fsdecode, names)]
    for args in ((".",), everything):
        body = json.loads(run("count", "--json", "-c", "words:1", *args, cwd=tmp_path).stdout)
        assert [row["tokens"] for row in body["results"]] == [2] * len(names)
        assert run("count", "-c", "words:1", *args, cwd=tmp_path, env={"PYTHONIOENCODING": "ascii"}).returncode == 0


def test_a_file_counts_once(answer: Answer, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a")
    body = answer("count", "a.md", "./a.md", "*.md", ".", "-c", "bytes", cwd=tmp_path)
    assert [row["source"] for row in body["results"]] == ["a.md"]


@pytest.mark.parametrize("args", [("count", "--json"), ("compare",), ("count", "--help"), ("counters",)])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_closed_pipe(args: tuple[str, ...], unbuffered: str) -> None:
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen(
        [PROGRAM, *args],
        stdin=subprocess.DEVNULL,
        stdout=write,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )
    os.close(write)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 2
    assert error == b"tokengap: error: the output was closed before all of it was written\n"


def test_full_disk() -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [PROGRAM, "count", "--text", "a"],
            stdout=full,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    assert (done.returncode, done.stderr) == (2, b"tokengap: error: the output: No space left on device\n")


@pytest.mark.parametrize("redirect", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed(redirect: str) -> None:
    done = subprocess.run(["sh", "-c", f"{PROGRAM} count --quiet {redirect}"], capture_output=True, check=False)
    assert b"Traceback" not in done.stderr
    assert done.returncode in (0, 2)


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a job in the background is started deaf to it


def test_interrupt() -> None:
    process = subprocess.Popen(
        [PROGRAM, "count"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_heed_interrupts,  # noqa: PLW1509 - the tests start no threads
    )
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out, error) == (130, b"", b"tokengap: error: interrupted\n")


def test_progress_and_colour_on_a_terminal_only(tmp_path: Path) -> None:
    """A pseudo-terminal gets colour; a pipe does not."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, "compare", "--text", "a"],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    assert process.wait(timeout=60) == 0
    assert b"\x1b[1m" in shown


@pytest.mark.parametrize("counter", ["words:1", "o200k_base", "r50k_base"])
def test_nothing_heavy_is_imported_for_a_plain_count(tmp_path: Path, counter: str) -> None:
    (tmp_path / "a.txt").write_text("a b, é書😀")
    code = (
        f"import sys; from tokengap.service.cli import main; assert main(['count', 'a.txt', '-c', '{counter}']) == 0; "
        "print([m for m in ('dataclasses', 'inspect', 'tiktoken', "
        "'genai_prices', 'pydantic', 'fastapi', 'uvicorn', 'limits', 'rich', 'pathspec', 'json', "
        "'tokengap.estimators.gap') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout.splitlines()[-1] == b"[]"


def test_nothing_is_read_from_the_network_or_left_in_the_home(tmp_path: Path) -> None:
    code = (
        "import socket, sys\n"
        "def cut(*a, **k): raise AssertionError('network')\n"
        "socket.socket.connect = socket.getaddrinfo = cut\n"
        "from tokengap.service.cli import main\n"
        "sys.exit(main(['compare', '-m', 'gpt-4o', '-c', 'cl100k_base', '-c', 'gpt2', '--text', 'a']))"
    )
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_published_cases_through_the_command(answer: Answer, shared_json: Callable[[str], Any]) -> None:
    cases = [c for c in shared_json("cases/12_cl100k.json")["cases"] if "cl100k_base" in c["expected"]]
    texts = [f"--text={case['text']}" for case in cases]
    rows = answer("count", *texts, "-c", "cl100k_base")["results"]
    assert [row["tokens"] for row in rows] == [case["expected"]["cl100k_base"] for case in cases]


def test_real_files_through_the_command(answer: Answer, shared_dir: Path, shared_json: Callable[[str], Any]) -> None:
    expected = {row["file"]: row for row in shared_json("files/index.json")["rows"]}
    names = ("o200k_base", "cl100k_base", "r50k_base")
    body = answer("count", *expected, *(f"-c={name}" for name in names), cwd=shared_dir / "files")
    assert len(body["results"]) == 3 * len(expected)
    for row in body["results"]:
        file = expected[row["source"]]
        assert row["tokens"] == file[row["counter"]], row
        assert (row["words"], row["chars"], row["bytes"]) == (file["words"], file["chars"], file["bytes"])


def test_many_languages_through_the_command(answer: Answer, tmp_path: Path, shared_json: Callable[[str], Any]) -> None:
    counts = shared_json("texts/udhr_counts.json")["counts"]
    texts = shared_json("texts/udhr.json")["languages"]
    fields = {"article1": "text", "articles_1_30": "articles_1_30", "preamble": "preamble"}
    for language in counts:
        for part, field in fields.items():
            if part in counts[language] and texts[language].get(field):
                (tmp_path / f"{language}.{part}").write_bytes(texts[language][field].encode())
    rows = answer("count", ".", "-c=o200k_base", "-c=cl100k_base", "-c=r50k_base", cwd=tmp_path)["results"]
    assert len(rows) > 150
    for row in rows:
        language, part = Path(row["source"]).name.split(".")
        expected = counts[language][part]
        assert (row["tokens"], row["words"]) == (expected[row["counter"]], expected["words"]), row


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "command",
    [
        (PROGRAM, "count", "texts", "-c", "words:1", "--json"),
        (PROGRAM, "count", "texts", "-c", "words:1"),
        (PROGRAM, "cut", "-n", "1000000", "long.txt"),
    ],
)
def test_output_is_whole_or_an_error(tmp_path: Path, command: tuple[str, ...], unbuffered: str) -> None:
    """A file that may not grow past 20 KB, as a full disk: never a part of the output and exit code 0."""
    (tmp_path / "texts").mkdir()
    for number in range(800):
        (tmp_path / "texts" / f"{number:030}.txt").write_text("a b")
    (tmp_path / "long.txt").write_text("word " * 20_000)

    def run_into(limit: int) -> tuple[int, bytes, int]:
        def restrict() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        with open(tmp_path / "out", "wb") as out:
            done = subprocess.run(
                command,
                cwd=tmp_path,
                stdout=out,
                stderr=subprocess.PIPE,
                env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
                preexec_fn=restrict,
                check=False,
            )
        return done.returncode, done.stderr, (tmp_path / "out").stat().st_size

    status, _, size = run_into(50_000_000)
    assert (status, size > 40_000) == (0, True)
    status, error, _ = run_into(20_000)
    assert (status, error) == (2, b"tokengap: error: the output: File too large\n")
