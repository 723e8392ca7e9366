"""Requests through the command line: JSON and JSONL, in every command that counts."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tokengap.estimators import ChatRequest, compare, count, count_request, report_json
from tokengap.service.cli import main

Answer = Callable[..., Any]
Run = Callable[..., "subprocess.CompletedProcess[bytes]"]

HELLO = {"messages": [{"role": "user", "content": "Hello, how are you?"}]}
TOOLS = {
    "model": "gpt-4o",
    "messages": [{"role": "system", "content": "You are a bot."}, {"role": "user", "content": "Track parcel 778301"}],
    "tools": [{"type": "function", "function": {"name": "track", "parameters": {"type": "object", "properties": {}}}}],
}


def write(path: Path, *requests: object) -> str:
    path.write_text("\n".join(json.dumps(request) for request in requests), encoding="utf-8")
    return str(path)


def test_a_request_counts_with_its_frame(answer: Answer, tmp_path: Path) -> None:
    file = write(tmp_path / "r.json", {**HELLO, "temperature": 1, "mystery": {"a": 1}})
    row = answer("count", "--request", file, "--model", "gpt-4o")["results"][0]
    assert (row["tokens"], row["text_tokens"], row["framing_tokens"]) == (13, 6, 7)
    assert (row["kind"], row["interval"]) == ("reconstructed", [13, 13])
    assert row["not_counted"] == ["mystery"]
    assert (row["words"], row["chars"], row["bytes"]) == (4, 19, 19)
    assert row["cost"] == {"amount": "0.0000325", "currency": "USD"}
    assert row["source"] == file


def test_jsonl_is_a_request_a_line(answer: Answer, tmp_path: Path) -> None:
    file = write(tmp_path / "r.jsonl", HELLO, TOOLS, [{"role": "user", "content": "Hello, how are you?"}])
    body = answer("count", "--request", file, "--model", "gpt-4o", "--text", "one two")
    assert [row["source"] for row in body["results"]] == ["text", f"{file}:1", f"{file}:2", f"{file}:3"]
    assert body["total"][0]["tokens"] == sum(row["tokens"] for row in body["results"])


def test_the_requests_own_model_is_the_default(answer: Answer, run: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "r.json", TOOLS)
    assert answer("count", "--request", file)["results"][0]["counter"] == "model:gpt-4o"
    several = write(tmp_path / "s.jsonl", TOOLS, {**TOOLS, "model": "gpt-4"}, TOOLS)
    done = run("compare", "--request", several)
    assert done.returncode == 2
    assert b"name several models (gpt-4o, gpt-4): choose one with --model" in done.stderr


def test_each_request_is_counted_for_the_model_it_names(answer: Answer, run: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "s.jsonl", TOOLS, {**TOOLS, "model": "gpt-4"}, TOOLS)
    body = answer("count", "--request", file, "--text", "one two")
    assert [(row["source"], row["counter"]) for row in body["results"]] == [
        ("text", "o200k_base"),
        (f"{file}:1", "model:gpt-4o"),
        (f"{file}:2", "model:gpt-4"),
        (f"{file}:3", "model:gpt-4o"),
    ]
    for row in body["results"][1:]:
        model = row["counter"].removeprefix("model:")
        assert row["tokens"] == count_request(TOOLS, model).tokens
    assert [total["counter"] for total in body["total"]] == ["o200k_base", "model:gpt-4o", "model:gpt-4"]
    assert body["total"][1]["tokens"] == sum(row["tokens"] for row in body["results"][1::2])
    assert all(row["cost"] for row in body["results"][1:])
    unknown = write(tmp_path / "u.jsonl", TOOLS, {**TOOLS, "model": "gpt-99"})
    done = run("count", "--request", unknown)
    assert (done.returncode, done.stdout) == (2, b"")
    assert f"{unknown}:2: unknown model 'gpt-99': did you mean".encode() in done.stderr


@pytest.mark.parametrize("command", ["count", "compare"])
def test_a_request_without_a_model_needs_one_to_be_named(command: str, run: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "r.json", HELLO)
    done = run(command, "--request", file)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert f"{file}: the request names no model: give --model".encode() in done.stderr
    assert run(command, "--request", file, "--counter", "o200k_base").returncode == 0


def test_what_is_not_counted_leaves_the_gap_open(run: Run, tmp_path: Path) -> None:
    parts = [{"text": "look"}, {"fileData": {"mimeType": "image/png", "fileUri": "gs://x/y"}}]
    file = write(tmp_path / "g.json", {"contents": [{"role": "user", "parts": parts}]})
    done = run("compare", "--request", file, "--model", "gemini-2.5-flash")
    assert done.returncode == 0
    assert b"Gap: not known. words:1 says 1 token, model:gemini-2.5-flash counts at least 1.\n" in done.stdout
    assert b"no gap" not in done.stdout
    assert b"(by model:gemini-2.5-flash)" in done.stderr  # the other counter has nothing to say of it


def test_a_rule_of_thumb_sees_the_texts_alone(answer: Answer, tmp_path: Path) -> None:
    file = write(tmp_path / "r.json", TOOLS)
    row = answer("count", "--request", file, "--counter", "words:4/3")["results"][0]
    assert (row["tokens"], row["estimate"], row["words"]) == (10, "28/3", 7)
    assert row["framing_tokens"] == 0
    assert row["not_counted"] == ["tools[0]"]


def test_compare_shows_what_words_miss_of_a_request(answer: Answer, tmp_path: Path) -> None:
    file = write(tmp_path / "r.json", TOOLS)
    body = answer("compare", "--request", file)
    gap = body["gap"]
    assert (gap["baseline"], gap["reference"]) == ("words:1", "model:gpt-4o")
    assert gap["tokens"] == body["total"][0]["tokens"] - 7
    parts = {part["kind"]: part["tokens"] for part in gap["parts"]}
    assert parts["message frames, tools and images"] == body["results"][0]["framing_tokens"]
    assert sum(parts.values()) == body["total"][0]["tokens"]


def test_python_gives_the_same(answer: Answer, tmp_path: Path) -> None:
    file = write(tmp_path / "r.json", TOOLS)
    for command, call in (("count", count), ("compare", compare)):
        python = json.loads(json.dumps(report_json(call([ChatRequest(file, TOOLS)], ["model:gpt-4o"], price="3 EUR"))))
        shown = answer(command, "--request", file, "--model", "gpt-4o", "--price", "3 EUR")
        assert shown == {**python, "skipped": []}


@pytest.fixture
def refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], str]:
    """What a request of the folder is refused with, in one line and nothing else."""
    monkeypatch.chdir(tmp_path)

    def call(file: str) -> str:
        assert main(["count", "--request", file, "--model", "gpt-4o"]) == 2
        out, error = capsys.readouterr()
        assert (out, error.count("\n")) == ("", 1)
        return error

    return call


CHAT = '{"messages": [{"role": "user", "content": "x"%s}]}'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty, not a request"),
        (" \n\n", "empty, not a request"),
        ("{", "not JSON: a key in double quotes is expected (line 1, column 2)"),
        ("{\n  'messages': []\n}", "not JSON: a key in double quotes is expected (line 2, column 3)"),
        ('{\n  "messages" []\n}', "not JSON: ':' is expected (line 2, column 14)"),
        ('["a" "b"]', "not JSON: ',' is expected (line 1, column 6)"),
        ("[1,\n oops]", "not JSON: a JSON value is expected (line 2, column 2)"),
        ('{"prompt": "\t"}', "not JSON: a line break, tab or other control character in a string must be escaped"),
        ('{"prompt": "a', "not JSON: a string without an end (line 1, column 12)"),
        (r'{"prompt": "\x"}', "not JSON: an unknown escape in a string"),
        (r'{"prompt": "\u12"}', "not JSON: \\u needs four hexadecimal digits"),
        ("\ufeff{}", "begins with a byte order mark (U+FEFF), which JSON has not; save it as UTF-8 without one"),
        ("[1, NaN]", "[1]: NaN is not a JSON number"),
        (CHAT % ', "weight": -Infinity', "messages[0].weight: -Infinity is not a JSON number"),
        (CHAT % ', "weight": 1e999', "messages[0].weight: 1e999 is too large a number"),
        (CHAT % f', "weight": {"9" * 5000}', "messages[0].weight: a number of 5,000 digits is too large"),
        (CHAT % f', "weight": {"9" * 309}', "messages[0].weight: the number is too large"),
        (CHAT % ', "content": "y"', "messages[0].content: the key is there twice"),
        (CHAT % ', "a b": {"c": 1, "c": NaN}', 'messages[0]["a b"].c: the key is there twice'),
        ('{"x": NaN, "x": 1}', "x: the key is there twice"),
        ("[" * 100_000, "nested deeper than 100 levels (line 1, column 101)"),
        ('{"messages":\n' + "[" * 2000 + "]" * 2000 + "}", "nested deeper than 100 levels (line 2, column 100)"),
        ("5", "request: an object, a list of messages or a text is needed"),
        ("[]", "request: an empty array: give at least one message or text"),
        ('{"messages": 5}', "messages: an array is needed, not a number"),
        ('{"messages": [{"role": "usr", "content": "x"}]}', "messages[0].role: unknown role 'usr'"),
        ('{"messages": [{"role": "user", "content": [{"type": "txt"}]}]}', "messages[0].content[0].type"),
    ],
)
def test_a_bad_request_is_one_line(refusal: Callable[[str], str], tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "bad.json").write_text(content, encoding="utf-8")
    assert refusal("bad.json").startswith(f"tokengap: error: bad.json: {message}")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("oops", "not JSON: a JSON value is expected (column 1)"),
        ('"\ufeff', "not JSON: a string without an end (column 1)"),
        (CHAT % ', "weight": NaN', "messages[0].weight: NaN is not a JSON number"),
        (CHAT % ', "role": "user"', "messages[0].role: the key is there twice"),
        ("[" * 2000 + "]" * 2000, "nested deeper than 100 levels (line 1, column 101)"),
        (
            '{"custom_id": "1", "body": {"messages": []}}',
            "body.messages: empty: at least one message or text is needed",
        ),
    ],
)
@pytest.mark.parametrize("first", [CHAT % "", ""])
def test_a_bad_line_is_named(
    refusal: Callable[[str], str], tmp_path: Path, line: str, message: str, first: str
) -> None:
    (tmp_path / "bad.jsonl").write_text("\n".join([CHAT % "", first, line, CHAT % ""]), encoding="utf-8")
    assert refusal("bad.jsonl") == f"tokengap: error: bad.jsonl:3: {message}\n"


def test_json_as_a_file_has_it(answer: Answer, tmp_path: Path) -> None:
    pretty = tmp_path / "pretty.json"
    pretty.write_text(json.dumps({**HELLO, "metadata": {"n": 1.5, "big": 2**1000, "e": "\U0001f600"}}, indent=2))
    assert answer("count", "--request", str(pretty), "--model", "gpt-4o")["results"][0]["tokens"] == 13
    windows = tmp_path / "w.jsonl"
    windows.write_bytes(b"\r\n".join([json.dumps(HELLO).encode()] * 2 + [b""]))
    assert [row["source"] for row in answer("count", "--request", str(windows), "--model", "gpt-4o")["results"]] == [
        f"{windows}:1",
        f"{windows}:2",
    ]


def test_a_batch_is_its_requests(answer: Answer, run: Run, tmp_path: Path) -> None:
    each = {"model": "claude-opus-4-6", "max_tokens": 10, **HELLO}
    file = write(tmp_path / "batch.json", {"requests": [{"custom_id": str(n), "params": each} for n in range(2)]})
    rows = answer("count", "--request", file)["results"]
    assert [(row["source"], row["tokens"]) for row in rows] == [(f"{file}: requests[{n}]", 13) for n in range(2)]
    done = run("count", "--request", write(tmp_path / "b.json", {"requests": [{"params": {}}]}), "--model", "gpt-4o")
    assert b"b.json: requests[0]: params: none of messages, input, contents, prompt given" in done.stderr
    google = {"key": "1", "request": {"contents": "Hello, how are you?"}}
    file = write(tmp_path / "google.jsonl", google, google)
    assert answer("count", "--request", file, "--model", "gemini-2.5-pro")["results"][1]["not_counted"] == []


def test_what_is_not_counted_is_named(run: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "r.json", {**HELLO, **{f"key{n}": n for n in range(7)}})
    error = run("count", "--request", file, "--model", "gpt-4o").stderr.decode()
    assert "not counted: key0, key1, key2, key3, key4 and 2 more" in error


@pytest.mark.parametrize("order", [0, 1])
def test_rows_of_several_kinds_are_as_good_as_the_weakest(run: Run, tmp_path: Path, order: int) -> None:
    rows: list[object] = [HELLO, "a plain text"]
    file = write(tmp_path / "r.jsonl", *(reversed(rows) if order else rows))
    counted = run("count", "--request", file, "--model", "gpt-4o").stdout.decode().splitlines()[0]
    assert counted.startswith("model:gpt-4o (o200k_base): reconstructed, sha256:")
    shown = run("compare", "--request", file, "--model", "gpt-4o").stdout.decode()
    assert any(line.split()[:2] == ["model:gpt-4o", "reconstructed"] for line in shown.splitlines())
