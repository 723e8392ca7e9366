"""Requests through the command line: JSON and JSONL, in every command that counts."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tokengap.estimators import ChatRequest, compare, count, report_json

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
    several = write(tmp_path / "s.jsonl", TOOLS, {**TOOLS, "model": "gpt-4"})
    done = run("count", "--request", several)
    assert done.returncode == 2
    assert b"name several models (gpt-4o, gpt-4): choose one with --model" in done.stderr


def test_a_rule_of_thumb_sees_the_texts_alone(answer: Answer, tmp_path: Path) -> None:
    file = write(tmp_path / "r.json", TOOLS)
    row = answer("count", "--request", file, "--counter", "words:4/3")["results"][0]
    assert (row["tokens"], row["estimate"], row["words"]) == (10, "28/3", 7)
    assert row["framing_tokens"] == 0
    assert row["not_counted"] == ["tools[0].function.parameters"]


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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty, not a request"),
        ("{", "not JSON"),
        ("[1, NaN]", "NaN is no JSON value"),
        ("[" * 100_000, "nested too deeply"),
        ("5", "request: an object, a list of messages or a text is needed"),
        ('{"messages": 5}', "messages"),
        ('{"messages": [{"role": "usr", "content": "x"}]}', "messages[0].role: unknown role 'usr'"),
        ('{"messages": [{"role": "user", "content": [{"type": "txt"}]}]}', "messages[0].content[0].type"),
        ('{"a": 1}\n{"b": oops}', "nor is line 2"),
    ],
)
def test_a_bad_request_is_one_line(run: Run, tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "bad.json").write_text(content)
    done = run("count", "--request", "bad.json", "--model", "gpt-4o", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.startswith(b"tokengap: error: bad.json: ")
    assert message in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


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
