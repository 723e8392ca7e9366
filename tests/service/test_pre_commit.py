"""The hook for pre-commit, run by pre-commit itself in a repository of its own, set up as docs/ci.md says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# pre-commit installs the hook from its sources, with all that it needs: a minute.
pytestmark = [pytest.mark.system, pytest.mark.slow]


def test_the_hook(tmp_path: Path, sources: Path, git: Callable[..., str], documented: Callable[[str], str]) -> None:
    """A commit that keeps the budget is made, one that breaks it is not, and one without texts is not held up."""
    team = tmp_path / "team"
    revision = git(sources, "rev-parse", "HEAD").strip()
    config = documented(".pre-commit-config.yaml").replace("https://github.com/OWNER/tokengap", str(sources))
    (team / "prompts").mkdir(parents=True)
    (team / ".pre-commit-config.yaml").write_text(config.replace("v0.1.0", revision))
    (team / "tokengap.toml").write_text(documented("tokengap.toml"))
    prompt = team / "prompts" / "system.md"
    prompt.write_text("You are helpful.\n")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {"PRE_COMMIT_HOME": str(tmp_path / "home"), "PATH": path}
    git(team, "init", "--quiet")
    subprocess.run(["pre-commit", "install"], cwd=team, env={**os.environ, **env}, check=True, capture_output=True)

    git(team, "add", "--all")
    made = git(team, "commit", "--message", "Begin", env=env)
    assert "tokengap check...." in made
    assert "Passed" in made

    prompt.write_text("You are helpful.\n" * 600)
    git(team, "add", "--all")
    refused = git(team, "commit", "--message", "Say it again", env=env, fails=True)
    assert "exit code: 1" in refused
    assert "more than max_tokens_per_file 2,000" in refused
    assert "max_growth is 5%" in refused

    (team / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    git(team, "reset", "--quiet")
    git(team, "add", "logo.png")
    assert "Skipped" in git(team, "commit", "--message", "Add a logo", env=env)
