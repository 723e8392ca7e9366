"""Files are counted as git stores them, on every machine; what git itself would store is the measure."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tokengap.service.check_files import CommitTree, WorkTree, folders, reaches
from tokengap.service.git import Blobs, Git, GitError

pytestmark = pytest.mark.system

Call = Callable[..., bytes]

CONTENTS = {
    "lf": b"one\ntwo\n",
    "crlf": b"one\r\ntwo\r\n",
    "mixed": b"one\r\ntwo\n",
    "lone cr": b"one\r\ntwo\rthree\r\n",
    "binary": b"one\r\n\0two\r\n",
}
ATTRIBUTES = ["", "text", "-text", "text=auto", "eol=crlf", "eol=lf", "text=auto eol=crlf", "text eol=lf", "binary"]


@pytest.fixture
def git(program: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    path = program("git")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")

    def call(*args: str) -> bytes:
        who = ("-c", "user.name=n", "-c", "user.email=e@x")
        done = subprocess.run([path, *who, *args], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    call("init", "-q", "-b", "main")
    return call


@pytest.mark.parametrize("automatic", ["false", "true", "input"])
@pytest.mark.parametrize("before", [None, "lf", "crlf", "mixed"])
def test_line_endings_as_git_stores_them(git: Call, tmp_path: Path, automatic: str, before: str | None) -> None:
    """Every attribute and content, new or stored otherwise before: the bytes are those that git add stores."""
    git("config", "core.autocrlf", "false")
    names = {
        f"{a}/{name}.txt": (attribute, data)
        for a, attribute in enumerate(ATTRIBUTES)
        for name, data in CONTENTS.items()
    }
    for path, (_, data) in names.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(data if before is None else CONTENTS[before])
    if before:
        git("add", "-A")
    (tmp_path / ".gitattributes").write_text("".join(f"{a}/* {words}\n" for a, words in enumerate(ATTRIBUTES) if words))
    git("config", "core.autocrlf", automatic)
    git("config", "core.safecrlf", "false")
    for path, (_, data) in names.items():
        (tmp_path / path).write_bytes(data)
    with Blobs(tmp_path) as blobs:
        work = WorkTree(tmp_path, Git(tmp_path), blobs)
        seen = {path: work[path] for path in names}
    for path in names:  # as on a checkout, so that git looks at the content again
        os.utime(tmp_path / path, (1, 1))
    git("add", "-A")
    wrong = {
        (path, names[path][0]): (seen[path], stored)
        for path in names
        if (stored := git("show", f":{path}")) != seen[path]
    }
    assert not wrong


def test_names_that_are_no_ascii_no_utf_8_or_look_like_options(git: Call, tmp_path: Path) -> None:
    names = [b"\xc3\xa9.md", b"-x.md", b"a b\nc.md", b"\xff.md", b":(glob)x.md", b"*.md", b'"q".md']
    for name in names:
        Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name))).write_bytes(b"one\r\n")
    git("add", "-A")
    git("commit", "-qm", "x")
    paths = [os.fsdecode(name) for name in names]
    with Blobs(tmp_path) as blobs:
        work = WorkTree(tmp_path, Git(tmp_path), blobs)
        tree = CommitTree(Git(tmp_path).tree("HEAD"), blobs, work)
        assert sorted(work) == sorted(tree) == sorted(paths)
        assert {work[path] for path in paths} == {tree[path] for path in paths} == {b"one\r\n"}


def test_what_is_left_out(git: Call, tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("ignored\n")
    for name in ("kept", "ignored", "deleted"):
        (tmp_path / name).write_text(name)
    (tmp_path / "link").symlink_to("kept")
    (tmp_path / "inner").mkdir()
    subprocess.run(["git", "init", "-q", "inner"], cwd=tmp_path, check=True)
    (tmp_path / "inner" / "file").write_text("x")
    git("add", "kept", "link", "deleted", ".gitignore")
    git("add", "-f", "ignored")
    (tmp_path / "deleted").unlink()
    with Blobs(tmp_path) as blobs:
        work = WorkTree(tmp_path, Git(tmp_path), blobs)
        assert sorted(work) == [".gitignore", "ignored", "kept"]  # what git tracks it does not ignore
        assert work.others == ["inner"]
        near = WorkTree(tmp_path, Git(tmp_path), blobs, ["kept", "gone"])
        assert list(near) == ["kept"]


def test_what_is_the_same_is_not_read_again(git: Call, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"same")
    (tmp_path / "b").write_bytes(b"before")
    git("add", "-A")
    git("commit", "-qm", "x")
    (tmp_path / "b").write_bytes(b"after")
    with Blobs(tmp_path) as blobs:
        work = WorkTree(tmp_path, Git(tmp_path), blobs)
        tree = CommitTree(Git(tmp_path).tree("HEAD"), blobs, work)
        assert tree["a"] is work["a"]
        assert (tree["b"], work["b"]) == (b"before", b"after")
        assert "c" not in tree
        assert len(tree) == 2


def test_an_object_that_is_not_here(git: Call, tmp_path: Path) -> None:
    with Blobs(tmp_path) as blobs, pytest.raises(GitError, match="is not in this clone"):
        blobs.read("0" * 40)


def test_a_repository_of_sha256(program: Callable[[str], str], tmp_path: Path) -> None:
    done = subprocess.run([program("git"), "init", "-q", "--object-format=sha256"], cwd=tmp_path, check=False)
    if done.returncode:
        pytest.skip("this git has no sha256 repositories")
    (tmp_path / "a").write_bytes(b"same")
    for args in (["add", "-A"], ["-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "x"]):
        subprocess.run(["git", *args], cwd=tmp_path, check=True)
    with Blobs(tmp_path) as blobs:
        work = WorkTree(tmp_path, Git(tmp_path), blobs)
        tree = CommitTree(Git(tmp_path).tree("HEAD"), blobs, work)
        assert tree["a"] is work["a"]


def test_failures_of_git_are_told(git: Call, tmp_path: Path) -> None:
    with pytest.raises(GitError, match=r"^git ls-tree: fatal: "):
        Git(tmp_path).tree("gone")
    with pytest.raises(GitError, match=r"^git cannot be run: "):
        Git(tmp_path / "gone").top()


@pytest.mark.parametrize(
    ("patterns", "near"),
    [
        (["prompts/**/*.md", "!prompts/draft/**"], ["prompts"]),
        (["a/b/*.md", "c.md", "d/"], ["a/b", "c.md", "d"]),
        (["*.md", "a/x"], []),
        (["a/[b]/c"], ["a"]),
    ],
)
def test_the_folders_that_patterns_look_into(patterns: list[str], near: list[str]) -> None:
    assert folders(patterns) == near


@pytest.mark.parametrize(
    ("patterns", "folder", "may"),
    [("prompts/**", "prompts/shared", True), ("prompts/shared/x.md", "prompts/shared", True), ("**/*.md", "x", True),
     ("prompts/** !prompts/shared", "prompts/shared", False), ("prompts/** !prompts/*.md", "prompts/shared", True),
     ("a/** !a/b/** a/b/c/*", "a/b/c", True), ("a/** !**/*", "a/b", False), ("a/** !a/b/*", "a/b", True),
     ("prompts/**", "other", False), ("prompts/**", "prompts2", False), ("prompts2/x", "prompts", False),
     ("p/*.md", "p/secret", False), ("p/*", "p/secret", False), ("p/?/x.md", "p/secret", False),
     ("p/*/x.md", "p/secret", True), ("p/*/x.md", "p/secret/more", False), ("p/**/x.md", "p/secret/more", True),
     ("*.md", "p", False), ("p/secret", "p/secret", True), ("p/secret", "p/secret/more", True),
     ("p/a.md", "p/secret", False)],
)  # fmt: skip
def test_whether_patterns_reach_into_a_folder(patterns: str, folder: str, may: bool) -> None:
    assert reaches(patterns.split(), folder) is may
