"""What a directory brings up, against git itself."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tokengap.service.gitignore import GitIgnore, walk
from tokengap.service.inputs import find_files
from tokengap.tokenizers.errors import TokengapError

_NAMES = """
.gitignore a.txt b.log keep.log .hidden build/x.txt build/keep/y.txt sub/build/z.txt sub/.gitignore sub/top.txt
sub/only/here.txt top.txt deep/a/b/c.md deep/a/b/c.tmp deep/.gitignore weird/#hash weird/!bang notes.txt~
node_modules/pkg/index.js docs/node_modules/p.js docs/näme.md logs/2026/x.log logs/2026/keep.log x/foo y/foo/bar
"""
FILES = _NAMES.split()
RULES = {
    ".gitignore": "*.log\n!keep.log\nbuild/\n/top.txt\nnode_modules\n*~\n**/foo\n# comment\n\n\\#hash\n",
    "sub/.gitignore": "!build/\nonly/*\n!top.txt\n",
    "deep/.gitignore": "*.tmp\n/a/b/nothing\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    for name in FILES:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(RULES.get(name, name))
    (root / "link.txt").symlink_to("a.txt")
    (root / "loop").symlink_to(".")
    return root


@pytest.mark.system
def test_as_git_lists_it(repository: Path, program: Callable[[str], str]) -> None:
    git = program("git")
    subprocess.run([git, "init", "--quiet", str(repository)], check=True)
    (repository / ".git" / "info" / "exclude").write_text(".hidden\n")
    listed = subprocess.run(
        [git, "-C", str(repository), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
    )
    expected = {os.fsdecode(name) for name in listed.stdout.split(b"\0") if name} - {"link.txt", "loop"}
    assert {os.path.relpath(file, repository) for file in walk(str(repository))} == expected
    assert {os.path.relpath(file, repository) for file in walk(str(repository / "sub"))} == {
        name for name in expected if name.startswith("sub/")
    }
    ignore = GitIgnore(str(repository))
    for name in FILES:
        assert ignore.ignores(str(repository / name)) == (name not in expected), name


def test_outside_a_repository_its_own_rules_hold(repository: Path) -> None:
    found = {os.path.relpath(file, repository) for file in walk(str(repository))}
    assert {"a.txt", "keep.log", "docs/näme.md", ".hidden"} <= found
    assert not {"b.log", "build/x.txt", "sub/only/here.txt", "link.txt", "node_modules/pkg/index.js"} & found


def test_a_named_file_is_taken_even_if_ignored(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)
    assert [file.path for file in find_files(["b.log"])] == ["b.log"]
    with pytest.raises(TokengapError, match="git ignores all 1"):
        find_files(["b.lo?"])
    assert [file.path for file in find_files(["**/*.md"])] == ["deep/a/b/c.md", "docs/näme.md"]


def test_order_is_sorted_and_stable(repository: Path) -> None:
    files = [file.path for file in find_files([str(repository)])]
    assert files == sorted(files)
