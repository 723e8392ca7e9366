"""``tokengap bpe``: its actions through the installed command, and every refusal in one line."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tiktoken.load

TEXT = "the river bends, the river bends; thé rivér\n"
Answer = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "river.txt").write_text(TEXT)
    return tmp_path


@pytest.fixture
def trained(folder: Path, run: Any) -> Path:
    """A folder with river.bpe in it."""
    words = ("bpe", "train", "--merges", "12", "--pretokenizer", "workbook", "--special", "<|end|>")
    done = run(*words, "-o", "river.bpe", "river.txt", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert b"12 merges: a vocabulary of 269 tokens" in done.stdout
    return folder


def test_train_says_what_it_did(folder: Path, answer: Answer) -> None:
    body = answer("bpe", "train", "--vocab-size", "9999", "-o", "river.bpe", "river.txt", cwd=folder)
    assert body["training"]["corpus"]["bytes"] == len(TEXT.encode())
    assert body["vocabulary"] == 256 + body["merges"] < 9999
    inspected = answer("bpe", "inspect", "river.bpe", cwd=folder)
    assert inspected["fingerprint"] == body["fingerprint"]
    assert inspected["training"] == body["training"]
    assert len(inspected["merges"]) == body["merges"]


def test_train_says_that_no_pair_was_left(folder: Path, run: Any) -> None:
    done = run("bpe", "train", "--merges", "9999", "--min-frequency", "2", "-o", "r.bpe", "river.txt", cwd=folder)
    assert b"(9,999 merges were asked for, but no pair that occurs 2 times is left)" in done.stdout


def test_train_from_stdin_directory_and_json_lines(folder: Path, answer: Answer) -> None:
    (folder / "in").mkdir()
    (folder / "in" / "a.txt").write_text(TEXT)
    (folder / "rows.jsonl").write_text(json.dumps({"body": TEXT}) + "\n")
    train = ("bpe", "train", "--merges", "5", "-o")
    prints = {
        answer(*train, "1.bpe", stdin=TEXT.encode(), cwd=folder)["fingerprint"],
        answer(*train, "2.bpe", "-", stdin=TEXT.encode(), cwd=folder)["fingerprint"],
        answer(*train, "3.bpe", "in", cwd=folder)["fingerprint"],
        answer(*train, "4.bpe", "--jsonl", "body", "rows.jsonl", "--workers", "2", cwd=folder)["fingerprint"],
    }
    assert len(prints) == 1
    assert (folder / "1.bpe").read_bytes() == (folder / "3.bpe").read_bytes() == (folder / "4.bpe").read_bytes()


def test_encode_and_decode(trained: Path, run: Any, answer: Answer) -> None:
    ids = run("bpe", "encode", "--tokenizer", "river.bpe", "river.txt", cwd=trained)
    text = run("bpe", "decode", "--tokenizer", "river.bpe", stdin=ids.stdout, cwd=trained)
    assert text.stdout == TEXT.encode()
    body = answer("bpe", "encode", "--tokenizer", "river.bpe", "--offsets", "-", stdin=b"the \xc3\xbc", cwd=trained)
    (result,) = body["results"]
    assert result["pieces"] == ["the", " ", "\\xc3", "\\xbc"]
    assert result["byte_spans"] == [[0, 3], [3, 4], [4, 5], [5, 6]]
    assert result["char_spans"] == [[0, 3], [3, 4], [4, 5], [4, 5]]
    listed = json.dumps(result["ids"]).encode()
    assert run("bpe", "decode", "--tokenizer", "river.bpe", stdin=listed, cwd=trained).stdout == "the ü".encode()
    pieces = run("bpe", "encode", "--tokenizer", "river.bpe", "--pieces", "--text", "the ü", cwd=trained)
    assert pieces.stdout == b"[the][ ][\\xc3][\\xbc]\n"


def test_special_tokens(trained: Path, answer: Answer) -> None:
    encode = ("bpe", "encode", "--tokenizer", "river.bpe", "--text", "a<|end|>")
    assert 268 not in answer(*encode, cwd=trained)["results"][0]["ids"]
    assert answer(*encode, "--allow-special", "<|end|>", cwd=trained)["results"][0]["ids"] == [97, 268]
    assert answer(*encode, "--end", "<|end|>", cwd=trained)["results"][0]["pieces"][-1] == "<|end|>"


def test_inspect(trained: Path, answer: Answer, run: Any) -> None:
    options = (
        "--chunks",
        "--trace",
        "--expensive",
        "2",
        "--answer-limit",
        "1",
        "--dictionary",
        "river.txt",
        "--width",
        "10",
    )
    body = answer("bpe", "inspect", "river.bpe", *options, "--text", "the sea", cwd=trained)
    assert set(body["merges"][0]) >= {"left", "right", "piece", "count", "tied"}
    assert body["embedding"] == {"vocabulary": 269, "width": 10, "numbers": 2690}
    (text,) = body["texts"]
    assert text["chunks"] == ["the", " sea"]
    assert text["trace"][-1]["chunks"][0] == ["the"]
    assert [word["word"] for word in text["expensive_words"]] == ["sea", "the"]
    assert text["answer"] == {
        "tokens": text["tokens"],
        "limit": 1,
        "text": "the",
        "truncated": True,
        "inside_word": False,
        "inside_character": False,
    }
    assert text["dictionary"] == {"words": 6, "ids": [0, None], "shown": ["the", "<unk>"], "unknown": 1}
    shown = run("bpe", "inspect", "river.bpe", *options, "--text", "the sea", cwd=trained).stdout.decode()
    assert "1. [t]+[h] (3, 4 tied)" in shown
    assert "2 chunks: [the][ sea]\n" in shown
    assert "limit 1, cut between words: the\n" in shown


def test_sweep(folder: Path, answer: Answer, run: Any) -> None:
    (folder / "new.txt").write_text("the river")
    words = ("bpe", "sweep", "--merges", "0,4,999", "--held-out", "new.txt", "river.txt")
    rows = answer(*words, cwd=folder)["rows"]
    assert [row["asked"] for row in rows] == [0, 4, 999]
    assert rows[0]["corpus_tokens"] == len(TEXT.encode())
    assert rows[0]["held_out_tokens"] == 9 > rows[-1]["held_out_tokens"]
    assert b"held-out tokens" in run(*words, cwd=folder).stdout


def test_export_and_import(trained: Path, answer: Answer) -> None:
    exported = answer("bpe", "export", "river.bpe", "--format", "tiktoken", "-o", "river.tiktoken", cwd=trained)
    ranks = tiktoken.load.load_tiktoken_bpe(str(trained / "river.tiktoken"))
    theirs = tiktoken.Encoding(
        "river", pat_str=exported["pattern"], mergeable_ranks=ranks, special_tokens=exported["special_tokens"]
    )
    rule = ("--pretokenizer", "workbook", "--special", "<|end|>=268")
    answer("bpe", "import", "river.tiktoken", *rule, "-o", "ranks.bpe", cwd=trained)
    answer("bpe", "export", "river.bpe", "--format", "huggingface", "-o", "river.json", cwd=trained)
    answer("bpe", "import", "river.json", "-o", "hf.bpe", cwd=trained)
    for name in ("river.bpe", "ranks.bpe", "hf.bpe"):
        (result,) = answer("bpe", "encode", "--tokenizer", name, "river.txt", cwd=trained)["results"]
        assert result["ids"] == theirs.encode_ordinary(TEXT)


def test_is_a_counter_like_any_other(trained: Path, answer: Answer, run: Any) -> None:
    (result,) = answer("bpe", "encode", "--tokenizer", "river.bpe", "river.txt", cwd=trained)["results"]
    done = run("count", "--counter", "bpe:river.bpe", "--quiet", "river.txt", cwd=trained)
    assert done.stdout == f"{len(result['ids'])}\n".encode()


def test_unknown_characters_and_surrogates_are_reported(folder: Path, run: Any, answer: Answer) -> None:
    letters = ("--alphabet", "characters", "--pretokenizer", "words")
    answer("bpe", "train", "--merges", "9", *letters, "-o", "l.bpe", "river.txt", cwd=folder)
    done = run("bpe", "encode", "--tokenizer", "l.bpe", "--text", "the qq", cwd=folder)
    assert b"not in the alphabet, encoded as <unk>: 'q' (2)" in done.stderr
    (result,) = answer("bpe", "encode", "--tokenizer", "l.bpe", "--text", "the qq", cwd=folder)["results"]
    assert (result["unknown"], result["warnings"]) == ({"q": 2}, ["unknown_characters"])
    spaces = run("bpe", "decode", "--tokenizer", "l.bpe", stdin=b"0", cwd=folder)
    assert b"drops spaces and line ends" in spaces.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("train -o x.bpe river.txt", "one of the arguments --merges --vocab-size is required"),
        ("train --merges 1 --vocab-size 300 -o x.bpe river.txt", "not allowed with"),
        ("train --merges 1 river.txt", "required: -o/--output"),
        ("train --merges -1 -o x.bpe river.txt", "from 0 to"),
        ("train --vocab-size 100 -o x.bpe river.txt", "too small"),
        ("train --merges 1 --min-frequency 0 -o x.bpe river.txt", "at least 1"),
        ("train --merges 1 --workers 0 -o x.bpe river.txt", "at least one worker"),
        ("train --merges 1 --pretokenizer nope -o x.bpe river.txt", "unknown pre-tokenizer"),
        ("train --merges 1 --pattern ( -o x.bpe river.txt", "does not compile"),
        ("train --merges 1 --pattern a* -o x.bpe river.txt", "nothing at all"),
        ("train --merges 1 --special a --special a -o x.bpe river.txt", "different names"),
        ("train --merges 1 --jsonl text -o x.bpe river.txt", "line 1: not JSON"),
        ("train --merges 1 -o x.bpe none.txt", "none.txt: No such file"),
        ("train --merges 1 -o x.bpe river.txt bad.txt", "bad.txt is not UTF-8"),
        ("train --merges 1 -o no/x.bpe river.txt", "cannot write no/x.bpe"),
        ("train --merges 1 -o . river.txt", "it is a directory"),
        ("encode --tokenizer none.bpe river.txt", "cannot read the tokenizer none.bpe"),
        ("encode --tokenizer river.txt river.txt", "river.txt is not a usable tokenizer"),
        ("encode --tokenizer cut.bpe river.txt", "cut.bpe is not a usable tokenizer"),
        ("encode --tokenizer river.bpe --end <x> river.txt", "no special token '<x>'"),
        ("encode --tokenizer river.bpe --allow-special <x> river.txt", "no special token '<x>'"),
        ("encode --tokenizer river.bpe bad.txt", "not UTF-8"),
        ("decode --tokenizer river.bpe river.txt", "word 1 is not an id"),
        ("decode --tokenizer river.bpe ids.txt", "no token with the id 9999"),
        ("decode --tokenizer river.bpe half.txt", "valid UTF-8"),
        ("inspect river.bpe --width 0", "at least 1"),
        ("inspect river.bpe --text x --answer-limit -1", "negative"),
        ("sweep --merges 1,x river.txt", "'x' is none"),
        ("sweep --merges 1 --held-out none.txt river.txt", "none.txt: No such file"),
        ("export river.bpe --format tiktoken -o no/x", "cannot write no/x"),
        ("export river.bpe --format gguf -o x", "invalid choice"),
        ("import river.txt --pretokenizer gpt2 -o x.bpe", "line 1 is not a token"),
        ("import river.txt -o x.bpe", "does not say how text is split"),
        ("import brace.json -o x.bpe", "not a tokenizer.json"),
        ("import brace.json --pretokenizer gpt2 -o x.bpe", "give none"),
        ("import none.json -o x.bpe", "cannot read none.json"),
        ("import river.txt --pretokenizer gpt2 --special x -o x.bpe", "NAME=ID"),
    ],
)
def test_refused_in_one_line_with_nothing_written(trained: Path, run: Any, words: str, message: str) -> None:
    (trained / "bad.txt").write_bytes(b"ab\xff")
    (trained / "cut.bpe").write_bytes((trained / "river.bpe").read_bytes()[:-40])
    (trained / "ids.txt").write_text("1 9999")
    (trained / "half.txt").write_text("195")
    (trained / "brace.json").write_text("{}")
    before = {path: path.read_bytes() for path in trained.iterdir()}
    done = run("bpe", *words.split(), cwd=trained)
    assert done.returncode == 2
    assert done.stdout == b""
    error = done.stderr.decode()
    assert error.startswith("tokengap: error: ")
    assert error.count("\n") == 1
    assert message in error
    assert {path: path.read_bytes() for path in trained.iterdir()} == before


def test_workbook_forms_of_the_documents(shared_dir: Path, tmp_path: Path, answer: Answer) -> None:
    """The commands as a reader of the workbook would type them."""
    case = json.loads((shared_dir / "cases/03_workbook_train.json").read_bytes())
    (tmp_path / "town.txt").write_text(case["corpus_text"])
    (tmp_path / "new.txt").write_text(case["held_out"])
    train = ("bpe", "train", "--merges", "60", "--pretokenizer", "workbook", "-o", "town.bpe", "town.txt")
    answer(*train, cwd=tmp_path)
    expected = {entry["id"]: entry["expected"] for entry in case["cases"]}
    merges = answer("bpe", "inspect", "town.bpe", cwd=tmp_path)["merges"]
    assert [[row["left_id"], row["right_id"]] for row in merges] == expected["train60-all"]["merges"]
    assert [row["piece"] for row in merges] == expected["train60-all"]["pieces"]
    assert [row["count"] for row in merges] == expected["train60-all"]["counts"]
    assert [row["tied"] for row in merges] == [tied > 1 for tied in expected["train60-all"]["candidates_tied"]]
    (result,) = answer("bpe", "encode", "--tokenizer", "town.bpe", "new.txt", cwd=tmp_path)["results"]
    assert result["ids"] == expected["heldout"]["ids"]
    assert "".join(f"[{piece}]" for piece in result["pieces"]) == expected["heldout"]["pieces"]


def test_shop_forms_of_the_documents(shared_dir: Path, tmp_path: Path, answer: Answer, run: Any) -> None:
    document = json.loads((shared_dir / "cases/13_shop.json").read_bytes())
    cases = {case["id"]: case for case in document["cases"]}
    (tmp_path / "shop.txt").write_text("\n".join(document["training_lines"]))
    letters = ("--pretokenizer", "words", "--alphabet", "characters")
    answer("bpe", "train", "--merges", "60", *letters, "-o", "shop.bpe", "shop.txt", cwd=tmp_path)
    rules = [
        {
            "n": n,
            "left": row["left"],
            "right": row["right"],
            "count": row["count"],
            "candidates_tied": row["candidates"],
        }
        for n, row in enumerate(answer("bpe", "inspect", "shop.bpe", cwd=tmp_path)["merges"], 1)
    ]
    assert rules == cases["shop-rules60"]["expected"]["rules"]
    cut = cases["shop-cut"]
    options = ("--answer-limit", str(cut["limit"]), "--text", cut["reply"])
    reply = answer("bpe", "inspect", "shop.bpe", *options, cwd=tmp_path)["texts"][0]["answer"]
    assert (reply["tokens"], reply["text"], reply["inside_word"]) == (
        cut["expected"]["reply_tokens"],
        cut["expected"]["cut"],
        True,
    )
    steps = cases["shop-steps"]
    text = ("--text", steps["text"], "--trace", "--dictionary", "shop.txt")
    (body,) = answer("bpe", "inspect", "shop.bpe", *text, cwd=tmp_path)["texts"]
    assert [step["number"] for step in body["trace"]] == steps["expected"]["rules_that_fire"]
    assert body["dictionary"]["ids"] == cases["shop-dictionary"]["expected"]["ids"][steps["text"]]
    words = ("--expensive", "2", "shop.txt")
    (body,) = answer("bpe", "inspect", "shop.bpe", *words, cwd=tmp_path)["texts"]
    assert [word["word"] for word in body["expensive_words"]] == cases["shop-most-expensive"]["expected"]["words"]
    total = run("count", "--counter", "bpe:shop.bpe", "--quiet", stdin=steps["text"].encode(), cwd=tmp_path)
    assert total.stdout == b"10\n"


def test_workbook_sizes_and_special_token(shared_dir: Path, tmp_path: Path, answer: Answer, run: Any) -> None:
    workbook = json.loads((shared_dir / "cases/03_workbook_train.json").read_bytes())
    (tmp_path / "town.txt").write_text(workbook["corpus_text"])
    (tmp_path / "new.txt").write_text(workbook["held_out"])
    sizes = json.loads((shared_dir / "cases/07_sizes.json").read_bytes())["cases"]
    numbers = ",".join(str(case["n_merges"]) for case in sizes)
    options = ("--pretokenizer", "workbook", "--held-out", "new.txt", "town.txt")
    rows = answer("bpe", "sweep", "--merges", numbers, *options, cwd=tmp_path)["rows"]
    assert [
        {"vocab": row["vocabulary"], "corpus_tokens": row["corpus_tokens"], "heldout_tokens": row["held_out_tokens"]}
        for row in rows
    ] == [case["expected"] for case in sizes]
    case = json.loads((shared_dir / "cases/06_special.json").read_bytes())["cases"][0]
    train = ("bpe", "train", "--merges", "60", "--pretokenizer", "workbook", "--special", "<|end|>")
    answer(*train, "-o", "town.bpe", "town.txt", cwd=tmp_path)
    texts = [word for text in case["docs"] for word in ("--text", text)]
    body = answer("bpe", "encode", "--tokenizer", "town.bpe", "--end", "<|end|>", *texts, cwd=tmp_path)
    ids = [number for result in body["results"] for number in result["ids"]]
    assert ids == case["expected"]["ids"]
    decoded = run("bpe", "decode", "--tokenizer", "town.bpe", stdin=json.dumps(ids).encode(), cwd=tmp_path)
    assert decoded.stdout.decode() == case["expected"]["decoded"]


@pytest.mark.parametrize("action", ["", "train", "encode", "decode", "inspect", "sweep", "export", "import"])
def test_help(run: Any, action: str) -> None:
    done = run("bpe", *([action] if action else []), "--help")
    assert done.returncode == 0
    assert b"usage: tokengap bpe" in done.stdout


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="children are seen through /proc")
@pytest.mark.parametrize("delay", [0, 0.05, 0.15, 0.3])
def test_an_interrupt_during_work_in_processes_is_one_line(tmp_path: Path, delay: float) -> None:
    """Ctrl-C reaches every process of the terminal at once, workers that are still starting among them."""
    (tmp_path / "big.txt").write_text("the harbour opens at six, the ferry leaves at seven and returns\n" * 400_000)
    program = shutil.which("tokengap", path=os.path.dirname(sys.executable))
    assert program
    process = subprocess.Popen(
        [program, "bpe", "train", "--merges", "2000", "--workers", "2", "-o", "t.bpe", "big.txt"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no threads here
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None and len(children.read_text().split()) < 3:  # two workers, and what tracks them
        time.sleep(0.01)
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (130, b"tokengap: error: interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["big.txt"]


def test_training_skips_what_is_no_text_in_a_directory_and_refuses_it_by_name(folder: Path, run: Any) -> None:
    (folder / "in").mkdir()
    (folder / "in" / "a.txt").write_text(TEXT)
    (folder / "in" / "b.bin").write_bytes(b"PK\0\1" * 100)
    done = run("bpe", "train", "--merges", "5", "-o", "r.bpe", "in", cwd=folder)
    assert (done.returncode, done.stderr.count(b"\n")) == (0, 1)
    assert b"tokengap: warning: skipped in/b.bin: binary, or UTF-16 (it holds NUL bytes)" in done.stderr
    done = run("bpe", "train", "--merges", "5", "-o", "named.bpe", "in/b.bin", cwd=folder)
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert not (folder / "named.bpe").exists()
    (folder / "in" / "a.txt").unlink()
    done = run("bpe", "train", "--merges", "5", "-o", "named.bpe", "in", cwd=folder)
    assert (done.returncode, b"no UTF-8 text" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    "words",
    [
        "bpe train --merges 5 -o river.txt river.txt",
        "bpe train --merges 5 -o ./river.txt .",
        "bpe export --format tiktoken -o river.bpe river.bpe",
        "bpe import -o river.tiktoken --pretokenizer workbook river.tiktoken",
    ],
)
def test_nothing_is_written_over_what_is_read(trained: Path, run: Any, words: str) -> None:
    run("bpe", "export", "--format", "tiktoken", "-o", "river.tiktoken", "river.bpe", cwd=trained)
    before = {path: path.read_bytes() for path in trained.iterdir()}
    done = run(*words.split(), cwd=trained)
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1), done.stderr
    assert b"is read from: write to another file" in done.stderr
    assert {path: path.read_bytes() for path in trained.iterdir()} == before


def test_a_special_token_has_an_id_of_32_bits(trained: Path, run: Any) -> None:
    run("bpe", "export", "--format", "tiktoken", "-o", "river.tiktoken", "river.bpe", cwd=trained)
    words = ("bpe", "import", "--pretokenizer", "workbook", "-o", "new.bpe", "river.tiktoken", "--special")
    done = run(*words, f"<|x|>={2**32}", cwd=trained)
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"ids are from 0 to 4294967295" in done.stderr
    assert run(*words, f"<|x|>={2**32 - 1}", cwd=trained).returncode == 0


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads the processes from /proc")
@pytest.mark.parametrize("deadly", [signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_a_training_that_was_killed(tmp_path: Path, deadly: signal.Signals) -> None:
    (tmp_path / "big.txt").write_text("the river bends slowly and then it does not\n" * 400_000)
    program = shutil.which("tokengap", path=os.path.dirname(sys.executable))
    assert program
    words = [program, "bpe", "train", "--merges", "5", "--workers", "2", "-o", "big.bpe", "big.txt"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.DEVNULL, start_new_session=True) as training:
        deadline = time.monotonic() + 60
        while len(session(training.pid)) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(session(training.pid)) >= 3
        training.send_signal(deadly)
    while session(training.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert session(training.pid) == []


def session(leader: int) -> list[int]:
    """The processes of a session that run still."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, of, *_ = (process / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        if int(of) == leader and state != "Z":
            found.append(int(process.name))
    return found
