"""The GitLab CI template: its script runs as it stands, with the variables that GitLab documents."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TEMPLATE: dict[str, Any] = yaml.safe_load((ROOT / "ci" / "tokengap.gitlab-ci.yml").read_bytes())
JOB: dict[str, Any] = TEMPLATE["tokengap"]

pytestmark = pytest.mark.system


def run_job(checkout: Path, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run the job as GitLab's runner does, in one shell that stops at the first failure."""
    given = TEMPLATE["variables"] | JOB["variables"] | {"CI_PROJECT_DIR": str(checkout), "CI": "true"} | variables
    assert all(isinstance(value, str) for value in given.values())
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", "\n".join(JOB["script"])],
        cwd=checkout,
        env={"PATH": os.environ["PATH"], "HOME": str(checkout.parent)} | given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=600,
    )


@pytest.mark.parametrize("name", ["base", "base.json"])
def test_a_baseline_that_is_a_file_is_not_fetched(
    tmp_path: Path, git: Callable[..., str], program: Callable[[str], str], name: str
) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / name).write_text("{}")
    (step,) = (step for step in JOB["script"] if "git fetch" in step)
    script = f'base={name}\n{step}\necho "base: $base"'
    done = subprocess.run(
        [program("bash"), "-eo", "pipefail", "-c", script], cwd=tmp_path, capture_output=True, check=True
    )
    assert (done.stdout.decode(), done.stderr) == (f"base: {name}\n", b"")


@pytest.mark.slow
def test_a_merge_request(
    tmp_path: Path,
    sources: Path,
    git: Callable[..., str],
    program: Callable[[str], str],
    documented: Callable[[str], str],
) -> None:
    """The base is fetched by its name, the reports are written, and the job fails with the budget."""
    program("bash")
    project = tmp_path / "project"
    (project / "prompts").mkdir(parents=True)
    (project / "tokengap.toml").write_text(documented("tokengap.toml"))
    prompt = project / "prompts" / "system.md"
    prompt.write_text("You are helpful.\n" * 100)
    git(project, "init", "--quiet")
    git(project, "config", "uploadpack.allowAnySHA1InWant", "true")  # as on GitLab
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", "Base")
    base = git(project, "rev-parse", "HEAD").strip()
    prompt.write_text("You are helpful.\n" * 110)
    git(project, "commit", "--quiet", "--all", "--message", "Change")
    checkout = tmp_path / "checkout"
    git(tmp_path, "clone", "--quiet", "--depth=1", project.as_uri(), str(checkout))

    done = run_job(checkout, TOKENGAP_PACKAGE=str(sources), CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    assert done.returncode == 1, done.stdout.decode()
    assert "max_growth is 5%" in done.stdout.decode()
    reports = JOB["artifacts"]["reports"]
    (finding,) = json.loads((checkout / reports["codequality"]).read_bytes())
    assert (finding["check_name"], finding["location"]["path"]) == ("tokengap/TOK003", "prompts/system.md")
    assert b"<failure" in (checkout / reports["junit"]).read_bytes()

    kept = run_job(checkout, TOKENGAP_PACKAGE=str(sources))
    assert kept.returncode == 0, kept.stdout.decode()
    assert json.loads((checkout / reports["codequality"]).read_bytes()) == []


def test_the_documented_inclusion_names_what_is_there(documented: Callable[[str], str]) -> None:
    shown = yaml.safe_load(documented(".gitlab-ci.yml"))
    (include,) = shown["include"]
    assert (ROOT / include["file"]).is_file()
    assert shown["variables"].keys() <= TEMPLATE["variables"].keys()
