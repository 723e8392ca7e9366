"""The command fit, run as a user runs it."""

import io
import json
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


def test_fit_as_json(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "--model", "openai/gpt-4o", "--output-tokens", "500", "--json", file]) == 0
    result = json.loads(capsys.readouterr().out)
    tokens = get_counter("o200k_base").count(TEXT).tokens
    assert {name: result[name] for name in ("model", "fits", "tokens", "kind", "context_window", "max_output")} == {
        "model": "openai/gpt-4o",
        "fits": True,
        "tokens": tokens,
        "kind": "exact",
        "context_window": 128_000,
        "max_output": 16_384,
    }
    assert result["left"] == 128_000 - 500 - tokens
    assert result["must_cut"] == 0
    assert result["answer"] is None


def test_fit_tells_what_must_be_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "long.txt"
    path.write_text("word " * 10_000)
    tokens = get_counter("cl100k_base").count("word " * 10_000).tokens
    assert main(["fit", "--model", "gpt-4", str(path)]) == 1
    out = capsys.readouterr().out
    assert "gpt-4: does not fit" in out
    assert f"{tokens - 8192:,} tokens: tokengap cut --counter cl100k_base --max-tokens 8192" in out


def test_an_unknown_window_is_null_with_a_warning(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "--model", "gpt-5.5-cyber", "--json", file]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["fits"], result["context_window"], result["left"], result["must_cut"]) == (None, None, None, None)
    assert "unknown_window" in result["warnings"]
    assert main(["fit", "--model", "gpt-5.5-cyber", file]) == 0
    out, err = capsys.readouterr()
    assert "not known whether it fits" in out
    assert "no context window is known" in err


@pytest.mark.parametrize(("counter", "kind"), [("o200k_base", "exact"), ("cl100k_base", "heuristic")])
def test_a_counter_that_is_not_the_models_own_is_no_exact_count(
    counter: str, kind: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", "--model", "gpt-4o", "--counter", counter, "--json", file]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == kind


def test_limits_without_a_tokenizer_need_a_counter(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = "cloudflare/@cf/meta/llama-3.3-70b-instruct-fp8-fast"
    assert main(["fit", "--model", name, file]) == 2
    assert f"the limits of {name!r} are known, but not its tokenizer" in capsys.readouterr().err
    assert main(["fit", "--model", name, "--counter", "o200k_base", file]) == 0
    assert f"{name}: fits" in capsys.readouterr().out


def test_an_answer_over_the_output_limit_is_not_a_text_to_cut(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["fit", "--model", "gpt-4o", "--output-tokens", "128000", file]
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert "answer is over      111,616 tokens: the model gives none so long, whatever is cut\n" in out
    assert "must be cut" not in out
    assert "cutting the input does not help" in err
    assert main([*arguments, "--json"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert (result["fits"], result["must_cut"]) == (False, 0)
    assert "output_over_limit" in result["warnings"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--model", "gpt-4o", "--answer", "-", "-"],
        ["--model", "gpt-4o", "--answer", "-"],
        ["--request", "-", "--answer", "-"],
        ["--request", "-", "--request", "-"],
    ],
)
def test_standard_input_is_not_read_twice(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "standard input can be read only once" in err


def test_an_answer_is_read_from_standard_input(
    file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Unbelievably good")))
    assert main(["fit", "--model", "gpt-4o", "--answer", "-", "--json", file]) == 0
    assert json.loads(capsys.readouterr().out)["output_tokens"] == 4


def test_an_answer_cut_inside_a_word_is_shown(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = tmp_path / "answer.txt"
    answer.write_text("Unbelievably good")
    arguments = ["fit", "--model", "gpt-4o", "--answer", str(answer), file]
    assert main([*arguments, "--output-tokens", "2"]) == 0
    assert "would be cut off inside the word 'Unbelievably', after 'Unbel'; 12 char" in capsys.readouterr().out
    assert main([*arguments, "--output-tokens", "3"]) == 0
    assert "would be cut off between words" in capsys.readouterr().out
    assert main([*arguments, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["output_tokens"] == 4
    assert result["answer"]["complete"] is True
    assert main([*arguments, "--output-tokens", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == {
        "complete": False,
        "kept_chars": 5,
        "dropped_chars": 12,
        "inside_word": "Unbelievably",
        "inside_character": False,
    }


def test_of_several_requests_each_shows_where_the_answer_is_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer, path = tmp_path / "answer.txt", tmp_path / "r.jsonl"
    answer.write_text("Unbelievably good")
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}
    lengths = (2, 3, 20_000)
    path.write_text("\n".join(json.dumps(body | {"max_tokens": length}) for length in lengths))
    assert main(["fit", "--request", str(path), "--answer", str(answer)]) == 1
    inside, between, over = capsys.readouterr().out.splitlines()
    assert inside.endswith(
        ", the answer would be cut off inside the word 'Unbelievably', after 'Unbel'; 12 characters would be lost"
    )
    assert ", the answer would be cut off between words, after 'Unbelievably'" in between
    assert over.endswith(", the answer is 3,616 over the limit, the answer would be complete")


def test_fit_names_what_of_a_request_is_not_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps({"messages": [{"role": "user", "content": "hi"}], "mystery": 1}))
    assert main(["fit", "--model", "gpt-4o", "--request", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "not known whether it fits" in out
    assert "warning: not counted: mystery\n" in err
    assert "what was counted fits, but not everything was counted" in err
    assert main(["fit", "--model", "gpt-4o", "--request", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["not_counted"] == ["mystery"]


def test_requests_name_their_model_and_the_most_they_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.jsonl"
    messages = [{"role": "user", "content": "Hello, how are you?"}]
    bodies: list[dict[str, object]] = [
        {"model": "gpt-4o", "messages": messages, "max_completion_tokens": 16_384},
        {"model": "gpt-4", "messages": messages, "max_tokens": 9_000},
        {"model": "gpt-4o", "messages": messages, "max_tokens": 20_000},
    ]
    lines = [*bodies, {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": bodies[0]}]
    path.write_text("\n".join(map(json.dumps, lines)))
    assert main(["fit", "--request", str(path), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["fits"] is False
    assert [(each["source"], each["model"], each["fits"], each["output_tokens"]) for each in answer["results"]] == [
        (f"{path}:1", "gpt-4o", True, 16_384),
        (f"{path}:2", "gpt-4", False, 9_000),
        (f"{path}:3", "gpt-4o", False, 20_000),
        (f"{path}:4", "gpt-4o", True, 16_384),
    ]
    assert main(["fit", "--request", str(path), "--output-tokens", "10"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == f"13 tokens  {path}:1: fits gpt-4o, 127,977 left"
    assert err.count("warning") == 1  # gpt-4's output limit is not known


def test_a_limit_inside_the_interval_decides_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.json"
    tools = [{"type": "function", "function": {"name": "go", "parameters": {"type": "object", "properties": {}}}}]
    body = {
        "model": "gpt-4",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": tools,
        "tool_choice": "required",
    }
    path.write_text(json.dumps(body))
    main(["count", "--request", str(path), "--json"])
    low, high = json.loads(capsys.readouterr().out)["results"][0]["interval"]
    assert low < high
    room = 8_192 - (high - 1)
    assert main(["fit", "--request", str(path), "--output-tokens", str(room), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["fits"], result["must_cut"], result["interval"]) == (None, 1, [low, high])
    assert "limit_in_interval" in result["warnings"]
    assert main(["fit", "--request", str(path), "--output-tokens", str(room)]) == 0
    out, err = capsys.readouterr()
    assert "gpt-4: not known whether it fits" in out
    assert f"between {low:,} and {high:,}" in out
    assert "tokengap cut" not in out  # a request is not a text
    assert "inside the count's interval" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["README.md"], "a text names no model: give --model"),
        (["--request", "{request}", "{request}"], "give a text or --request, not both"),
        (["--request", "{request}"], "a model is needed"),
        (["--request", "{request}", "--model", "gpt-4x"], "error: unknown model 'gpt-4x': did you mean"),
        (["--model", "gpt-4x", "README.md"], "error: unknown model 'gpt-4x': did you mean"),
        (["--model", "gpt-4o", "--counter", "o200k", "README.md"], "error: unknown counter 'o200k': did you mean"),
        (["--model", "gpt-4o", "--counter", "", "README.md"], "error: unknown counter ''"),
        (["--model", "gpt-4o", "--counter", "model:x", "README.md"], "error: unknown model 'x'"),
        (["--model", "", "README.md"], "error: unknown model ''"),
    ],
)
def test_fit_needs_a_model_and_one_input(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps({"messages": [{"role": "user", "content": "hi"}]}))
    assert main(["fit", *(argument.format(request=path) for argument in arguments)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err
