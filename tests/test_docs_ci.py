"""The blocks of docs/ci.md that are not about a program of their own: configuration, shell, pytest; and that all of
them are what they are said to be. The rest is run where its program is: test_github_action.py, test_gitlab_ci.py,
test_pre_commit.py.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

BIN = Path(sys.executable).parent
PAGE = (Path(__file__).parents[1] / "docs" / "ci.md").read_text(encoding="utf-8")
SHELL = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def team(tmp_path: Path, git: Callable[..., str], documented: Callable[[str], str]) -> Path:
    """A team's repository with the configuration of the page, and a branch that has changed nothing yet."""
    (tmp_path / "prompts" / "draft").mkdir(parents=True)
    (tmp_path / "prompts" / "system.md").write_text("You are helpful.\n" * 100)
    (tmp_path / "prompts" / "draft" / "long.md").write_text("You are helpful.\n" * 1000)
    (tmp_path / "tokengap.toml").write_text(documented("tokengap.toml"))
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "Base")
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "HEAD")
    return tmp_path


@pytest.mark.system
@pytest.mark.parametrize(("lines", "exit_code", "code"), [(100, 0, None), (104, 0, None), (106, 1, "TOK003")])
def test_shell(team: Path, lines: int, exit_code: int, code: str | None) -> None:
    (team / "prompts" / "system.md").write_text("You are helpful.\n" * lines)
    (block,) = SHELL
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", block], cwd=team, env=env, capture_output=True, check=False)
    assert done.returncode == exit_code, done.stderr.decode()
    (budget,) = json.loads((team / "budgets.json").read_bytes())["budgets"]
    assert [file["path"] for file in budget["files"]] == ["prompts/system.md"]
    assert {violation["code"] for violation in budget["violations"]} == ({code} if code else set())


def test_pytest(pytester: pytest.Pytester, documented: Callable[[str], str]) -> None:
    pytester.path.joinpath("prompts").mkdir()
    prompt = pytester.path / "prompts" / "system.md"
    prompt.write_text("You are helpful.\n")
    pytester.path.joinpath("tokengap.toml").write_text(documented("tokengap.toml"))
    pytester.path.joinpath("test_prompts.py").write_text(documented("test_prompts.py"))
    assert pytester.runpytest_subprocess("--strict-markers").parseoutcomes() == {"passed": 2}
    prompt.write_text("You are helpful.\n" * 600)
    assert pytester.runpytest_subprocess().parseoutcomes() == {"passed": 1, "failed": 1}


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        (".github/workflows/budgets.yml", "vendor.github-workflows"),
        (".github/workflows/scanning.yml", "vendor.github-workflows"),
        (".gitlab-ci.yml", "vendor.gitlab-ci"),
    ],
)
def test_files_of_other_programs_are_valid(
    name: str, schema: str, tmp_path: Path, documented: Callable[[str], str]
) -> None:
    file = tmp_path / Path(name).name
    file.write_text(documented(name))
    command = (sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema)
    done = subprocess.run([*command, str(file)], capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()


def test_no_block_is_left_out() -> None:
    """Each has a title, by which some test takes it, or is of a kind that is run here."""
    kinds = re.findall(r"^```(\w+)(?: title=\S+)?$", PAGE, re.MULTILINE)
    titled = re.findall(r"^```\w+ title=(\S+)$", PAGE, re.MULTILINE)
    assert len(kinds) == len(titled) + len(SHELL)
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.rglob("test_*.py"))
    for title in titled:
        assert f'"{title}"' in tests or f'"{Path(title).name}"' in tests
