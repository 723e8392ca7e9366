"""Budgets over HTTP are those of the command line, without its files."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CONFIGURATION = """\
model = "gpt-4o"
prices_at = 2026-11-30

[[budget]]
name = "prompts"
paths = ["prompts/**", "!prompts/draft"]
max_tokens = 40
max_tokens_per_file = 20
max_cost = "1 USD"
max_growth = "5%"

[[budget]]
name = "chats"
paths = ["chats/*.jsonl"]
type = "chat"
max_tokens = "1k"
"""
LIMIT = {"name": "b", "paths": ["**"], "max_tokens": 10}
FILES = {
    "prompts/a.md": " a" * 15,
    "prompts/new.md": " a" * 10,
    "prompts/draft/d.md": " a" * 99,
    "chats/c.jsonl": '{"messages": [{"role": "user", "content": "Hi"}]}\n',
    "other/x": "",
}
BASE = {"prompts/a.md": " a" * 14, "prompts/old.md": " a" * 10, "chats/c.jsonl": FILES["chats/c.jsonl"]}


def same(body: dict[str, Any]) -> dict[str, Any]:
    """What does not depend on the day or on the name of the base."""
    prices = {key: value for key, value in body["prices"].items() if key not in ("age_days", "stale")}
    return {**body, "prices": prices, "baseline": bool(body["baseline"]), "notices": []}


@pytest.mark.system
def test_verdicts_are_those_of_the_command_line(
    server: Any, run: Callable[..., Any], program: Callable[[str], str], tmp_path: Path
) -> None:
    git = [program("git"), "-c", "user.name=n", "-c", "user.email=e@x"]
    for tree in (BASE, FILES):
        for path in BASE.keys() - tree.keys():
            (tmp_path / path).unlink()
        for path, text in {**tree, "tokengap.toml": CONFIGURATION}.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        if tree is BASE:
            for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "base"]):
                subprocess.run([*git, *command], cwd=tmp_path, check=True)
    body = {"configuration": CONFIGURATION, "files": FILES}
    for base, options in ((None, []), (BASE, ["--baseline", "HEAD"])):
        printed = run("check", "--format", "json", *options, cwd=tmp_path)
        answer = server.post("/v1/budgets/check", {**body, "base": base})
        assert answer.status_code == 200
        assert same(answer.json()) == same(json.loads(printed.stdout))
        assert answer.json()["exit_code"] == printed.returncode


def test_a_configuration_as_an_object(server: Any) -> None:
    configuration = {"model": "gpt-4o", "budget": [LIMIT], "prices": [{"model": "gpt-4o", "in": "1 EUR/1K"}]}
    answer = server.post("/v1/budgets/check", {"configuration": configuration, "files": {"a": " a" * 11}}).json()
    (budget,) = answer["budgets"]
    assert (answer["passed"], answer["exit_code"]) == (False, 1)
    assert (budget["tokens"], budget["cost"]) == (11, {"amount": "0.011", "currency": "EUR"})
    (violation,) = budget["violations"]
    assert (violation["code"], violation["path"], violation["line"]) == ("TOK001", "configuration", 1)


@pytest.mark.parametrize("path", ["", "../../etc/passwd", "/etc/passwd", "a//b", "a/./b", "a\0b", "a/"])
@pytest.mark.parametrize("member", ["files", "base"])
def test_what_is_no_path_is_refused(server: Any, member: str, path: str) -> None:
    body = {"configuration": {"model": "gpt-4o", "budget": [LIMIT]}, "files": {"a": "a"}, member: {path: "a"}}
    answer = server.post("/v1/budgets/check", body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == f"/{member}/{path.replace('/', '~1')}"


def test_inherited_and_missing(server: Any) -> None:
    body = {
        "configuration": {"model": "gpt-4o", "budget": [LIMIT]},
        "files": {"a": " a" * 11},
        "base": {"b": " a" * 11},
    }
    assert server.post("/v1/budgets/check", body).json()["exit_code"] == 0
    assert server.post("/v1/budgets/check", {**body, "fail_inherited": True}).json()["exit_code"] == 1
    moved = {**body, "base": {"old": " a" * 12}, "renames": {"a": "old"}}
    assert server.post("/v1/budgets/check", moved).json()["budgets"][0]["files"][0]["base_path"] == "old"
    body = {"configuration": {"model": "claude-sonnet-4-5", "budget": [LIMIT]}, "files": {"a": "a"}}
    assert server.post("/v1/budgets/check", body).json()["exit_code"] == 3
    assert server.post("/v1/budgets/check", {**body, "allow_missing": True}).json()["exit_code"] == 0


@pytest.mark.parametrize(
    ("change", "status", "pointer", "says"),
    [
        ({"configuration": CONFIGURATION.replace("max_tokens =", "max_tokns =")}, 422, "/configuration",
         "tokengap.toml:7: budget[0].max_tokns: unknown key 'max_tokns'; did you mean 'max_tokens'?"),
        ({"configuration": "x = ["}, 422, "/configuration", "tokengap.toml:1: not TOML"),
        ({"configuration": {"model": "gpt-4o", "budgets": [LIMIT]}}, 422, "/configuration/budgets",
         "did you mean 'budget'?"),
        ({"configuration": {"model": "gpt-4o"}}, 422, "/configuration", "no budget"),
        ({"configuration": "[[prices]]\nmodle = 1\n[[budget]]\nname='b'\npaths=['a']\nmax_tokens=1"}, 422,
         "/configuration", "tokengap.toml:2: prices[0].modle: unknown key 'modle'"),
        ({"configuration": {"model": "gpt-4o", "organisation_prices": "/etc/passwd", "budget": [LIMIT]}}, 422,
         "/configuration/organisation_prices", "reads no files"),
        ({"configuration": {"model": "gtp-4o", "budget": [LIMIT]}}, 404, "/configuration/model", "unknown model"),
        ({"configuration": {"model": "claude-sonet-4-5", "budget": [{**LIMIT, "counter": "o200k_base"}]}}, 422,
         "/configuration/model", "did you mean claude-sonnet-4-5"),
        ({"configuration": {"model": "gpt-4o", "budget": [{**LIMIT, "counter": "bpe:/etc/passwd"}]}}, 403,
         "/configuration/budget/0/counter", "not offered over HTTP"),
        ({"configuration": {"model": "gpt-4o", "budget": [{**LIMIT, "type": "jinja"}]}}, 422,
         "/configuration/budget/0/type", "templates are not filled over HTTP"),
        ({"configuration": {"model": "gpt-4o", "budget": [{**LIMIT, "paths": ["gone"]}]}}, 422,
         "/configuration/budget/0/paths", "no file matches gone"),
        ({"configuration": {"model": "gpt-4o", "budget": [{**LIMIT, "type": "chat"}]}}, 422,
         "/configuration/budget/0/paths", "a: not JSON"),
        ({"files": {"a": 3}}, 422, "/files/a", "string"),
        ({"files": None}, 422, "/files", "object"),
        ({"base": {"a": "x"}, "renames": {"b/c": "a"}}, 422, "/renames/b~1c", "files has no 'b/c'"),
        ({"base": {"b": "x"}, "renames": {"a": "c"}}, 422, "/renames/a", "base has no 'c'"),
        ({"files": {"a": "x", "b": "x"}, "base": {"c": "x"}, "renames": {"a": "c", "b": "c"}}, 422, "/renames/b",
         "'c' is renamed to 'a' already"),
        ({"renames": {"a": "c"}}, 422, "/renames", "it means nothing without base"),
        ({"baseline": "main"}, 422, "/baseline", "no such member here"),
        ({"configuration": 3}, 422, "/configuration", ""),
    ],
)  # fmt: skip
def test_what_is_refused(server: Any, change: dict[str, Any], status: int, pointer: str, says: str) -> None:
    body = {"configuration": {"model": "gpt-4o", "budget": [LIMIT]}, "files": {"a": "{"}, **change}
    answer = server.post("/v1/budgets/check", body)
    assert answer.status_code == status
    problem = answer.json()
    assert problem["errors"][0]["pointer"] == pointer
    assert says in problem["errors"][0]["detail"]


def many(number: int, **keys: Any) -> list[dict[str, Any]]:
    return [{**LIMIT, "name": str(each), **keys} for each in range(number)]


@pytest.mark.parametrize(
    ("budgets", "files", "pointer"),
    [
        (many(150), {"a": "a " * 50_000}, "/input"),
        (many(1), dict.fromkeys(map(str, range(5000)), ""), "/input"),
        (many(50, paths=["*a*b"] * 100), dict.fromkeys(map(str, range(100)), ""), "/files"),
        (many(1, type="chat"), {"a": "[" + "0," * 100_000 + "0]"}, "/files"),
        (many(1, type="text", field="a"), {"a.yaml": "- a\n" * 100_000}, "/files"),
        (many(1, paths=["a"] * 50_000), {"a": ""}, "/configuration"),
    ],
)
def test_no_more_than_one_request_may_hold(
    server: Any, budgets: list[dict[str, Any]], files: dict[str, str], pointer: str
) -> None:
    answer = server.post("/v1/budgets/check", {"configuration": {"model": "gpt-4o", "budget": budgets}, "files": files})
    assert (answer.status_code, answer.json()["type"]) == (413, "urn:tokengap:problem:too-much-text")
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_hostile_patterns_and_files_take_no_time(server: Any) -> None:
    budgets = [{**LIMIT, "paths": ["*a" * 100 + "b", "**/a/" * 50 + "**", "x.yaml"], "max_tokens": 10**9}]
    files = {"a" * 2000: "x", "/".join("a" * 900): "x", "x.yaml": "a" * 100_000}
    answer = server.post("/v1/budgets/check", {"configuration": {"model": "gpt-4o", "budget": budgets}, "files": files})
    assert answer.status_code == 200


def test_characters_that_are_none(server: Any) -> None:
    body = {"configuration": {"model": "gpt-4o", "budget": [LIMIT]}, "files": {"\ud800": "\ud800"}}
    headers = {"Content-Type": "application/json"}
    answer = server.post("/v1/budgets/check", content=json.dumps(body).encode(), headers=headers)
    assert answer.status_code == 200
    assert answer.json()["budgets"][0]["tokens"] > 0
    body["files"] = {"a": "x\ud800", "b": "x"}
    body["base"] = {"a": "x", "b": "x\ud800"}
    told = server.post("/v1/budgets/check", content=json.dumps(body).encode(), headers=headers).json()
    says = "a lone surrogate is not a character; it was counted as U+FFFD"
    assert told["notices"][:2] == [f"a: {says}", f"b on the base: {says}"]
    assert [file["warnings"] for file in told["budgets"][0]["files"]] == [["lone_surrogate"], []]


@pytest.mark.system
@pytest.mark.parametrize(("prompt", "exit"), [(b" a" * 9, 0), (b" a" * 11, 1), (b"caf\xe9", 2)])
def test_a_job_without_python(
    server: Any, program: Callable[[str], str], tmp_path: Path, prompt: bytes, exit: int
) -> None:
    """The block of docs/budgets.md, run as it is, where there are also a submodule and a symbolic link."""
    for name in ("curl", "jq", "git", "bash"):
        program(name)
    text = (Path(__file__).parents[2] / "docs" / "budgets.md").read_text()
    script = text.partition("## Over HTTP")[2].partition("```sh\n")[2].partition("```")[0]
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / 'é "x".md').write_text(" a" * 9)
    (tmp_path / "tokengap.toml").write_text(
        'model = "gpt-4o"\n[[budget]]\nname = "b"\npaths = ["prompts/*.md"]\nmax_tokens = 10\n'
    )
    (tmp_path / "prompts" / "link.md").symlink_to("nowhere")
    (tmp_path / "prompts" / "other").mkdir()
    other = f"160000,{'1' * 40},prompts/other"
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["update-index", "--add", "--cacheinfo", other],
                    ["commit", "-qm", "base"]):  # fmt: skip
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e@x", *command], cwd=tmp_path, check=True)
    (tmp_path / "prompts" / 'é "x".md').write_bytes(prompt)
    env = {**os.environ, "TOKENGAP": server.url, "BASE": "main"}
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=env, capture_output=True, check=False)
    assert done.returncode == exit, done.stderr.decode()
    assert ("11 tokens in all, 1 more than max_tokens 10" in done.stdout.decode()) is (exit == 1)
    assert ('prompts/é "x".md: not UTF-8 text' in done.stderr.decode()) is (exit == 2)
    (tmp_path / "tokengap.toml").write_text("max_token = 1\n")
    (tmp_path / "prompts" / 'é "x".md').write_bytes(b" a")
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=env, capture_output=True, check=False)
    assert done.returncode == 2
    assert "unknown key 'max_token'" in done.stderr.decode()
