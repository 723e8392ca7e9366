"""tokengap check on a real repository: each verdict, exit code and format, as golden files.

``TOKENGAP_UPDATE_GOLDEN=1`` writes the golden files anew.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tokengap.service.check_cli import FORMATS
from tokengap.service.cli import main

pytestmark = pytest.mark.system

TOKENGAP = str(Path(sys.executable).with_name("tokengap"))
GOLDEN = Path(__file__).parents[1] / "golden" / "check"
CONFIGURATION = """\
model = "openai/gpt-4o"
prices_at = 2026-11-30

[[budget]]
name = "system prompts"
paths = ["prompts/**/*.md", "!prompts/draft/**"]
max_tokens = "3k"
max_tokens_per_file = 1000
max_cost = "0.02 USD"
calls = 1
max_growth = "5%"
severity = "error"

[[budget]]
name = "tools | all"
paths = ["tools.json"]
type = "tools"
max_tokens = 40

[[budget]]
name = "month"
paths = ["templates/*.j2"]
type = "jinja"
variables = { user = "Ann" }
allowances = { question = 100 }
max_cost = "1 USD"
calls = "1k"
severity = "warning"
"""
TOOL = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Look an order up by its number.",
        "parameters": {"type": "object", "properties": {"order": {"type": "string"}}},
    },
}
Git = Callable[..., str]


def words(number: int, word: str = " a") -> str:
    return word * number


def write(folder: Path, files: dict[str, str | bytes | None]) -> None:
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            target.unlink()
        else:
            target.write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.fixture(scope="module")
def git(program: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Git:
    """git without the settings of this machine."""
    path = program("git")
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text(
        '[user]\nname = n\nemail = e@x\n[init]\ndefaultBranch = main\n[protocol "file"]\nallow = always\n'
    )

    def call(folder: Path, *args: str) -> str:
        env = {**os.environ, "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}
        env |= {f"GIT_{who}_DATE": "2026-11-30T12:00:00Z" for who in ("AUTHOR", "COMMITTER")}
        done = subprocess.run([path, *args], cwd=folder, env=env, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    return call


@pytest.fixture(scope="module")
def repository(git: Git, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base and a change: kept, grown, new, removed, renamed, over before, over now, CRLF, a submodule."""
    folder = tmp_path_factory.mktemp("repository")
    other = tmp_path_factory.mktemp("other")
    git(other, "init", "-q")
    write(other, {"prompts/x.md": "x"})
    git(other, "add", "-A")
    git(other, "commit", "-qm", "other")
    git(folder, "init", "-q")
    git(folder, "submodule", "add", "-q", str(other), "prompts/shared")
    git(folder, "config", "--file", ".gitmodules", "submodule.prompts/shared.url", "../other")
    write(
        folder,
        {
            "tokengap.toml": CONFIGURATION,
            "prompts/same.md": words(100),
            "prompts/grown.md": words(200),
            "prompts/gone.md": words(50),
            "prompts/old name.md": "".join(f"line {n} of a prompt\n" for n in range(30)),
            "prompts/over before.md": words(1200),
            "prompts/crlf.md": "one\r\ntwo\r\n",
            "prompts/über/日本.md": words(10),
            "prompts/draft/d.md": words(9999),
            "prompts/note.txt": words(9999),
            "tools.json": json.dumps([TOOL]),
            "templates/answer.j2": "Dear {{ user }},\n{% include 'sign.txt' %}\n{{ question }}\n",
            "templates/sign.txt": words(5),
            ".gitignore": "prompts/ignored.md\n",
        },
    )
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "base")
    git(folder, "checkout", "-qb", "change")
    write(
        folder,
        {
            "prompts/grown.md": words(210),
            "prompts/gone.md": None,
            "prompts/new, 100%: x.md": words(1001),
            "prompts/ignored.md": words(5000),
            "tools.json": json.dumps([TOOL, {**TOOL, "function": {**TOOL["function"], "name": "cancel"}}]),  # type: ignore[dict-item]
            "templates/sign.txt": words(700),
        },
    )
    git(folder, "mv", "prompts/old name.md", "prompts/new name.md")
    write(folder, {"prompts/new name.md": "".join(f"line {n} of a prompt\n" for n in range(31))})
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "change")
    return folder


@pytest.fixture
def there(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(repository)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return repository


@pytest.fixture
def go(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Change the folder for the rest of a test."""
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return monkeypatch.chdir


Capture = pytest.CaptureFixture[str]
Go = Callable[[Path], None]
DAY = ("--today", "2026-12-01")


def check(*args: str) -> int:
    return main(["check", *DAY, *args])


def answer(capture: Capture, *args: str) -> Any:
    code = check("--format", "json", *args)
    shown = capture.readouterr()
    assert shown.err == ""
    body = json.loads(shown.out)
    assert body["exit_code"] == code
    return body


def refusal(capture: Capture, *args: str) -> str:
    assert check(*args) == 2
    shown = capture.readouterr()
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1
    return shown.err.removeprefix("tokengap: error: ")


def golden(name: str, text: str) -> None:
    path = GOLDEN / name
    text = re.sub(r"\b[0-9a-f]{7}\b(?=\))", "(commit)", text).replace("((commit))", "(commit)")
    if os.environ.get("TOKENGAP_UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("format", FORMATS)
def test_every_format(there: Path, capsys: Capture, format: str) -> None:
    assert check("--baseline", "main", "--format", format) == 1
    golden(f"change.{format}", capsys.readouterr().out)


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_without_a_base(there: Path, capsys: Capture, format: str) -> None:
    assert check("--format", format) == 1
    golden(f"alone.{format}", capsys.readouterr().out)


def test_what_is_told_of_each_file(there: Path, capsys: Capture) -> None:
    body = answer(capsys, "--baseline", "main")
    prompts, tools, month = body["budgets"]
    told = {file["path"]: (file["change"], file["base_tokens"], file["tokens"], file["verdict"], file["introduced"])
            for file in prompts["files"]}  # fmt: skip
    assert told == {
        "prompts/crlf.md": ("unchanged", 4, 4, "pass", None),
        "prompts/gone.md": ("removed", 50, 0, "pass", None),
        "prompts/grown.md": ("grown", 200, 210, "pass", None),
        "prompts/new name.md": ("renamed", 210, 217, "pass", None),
        "prompts/new, 100%: x.md": ("new", None, 1001, "fail", True),
        "prompts/over before.md": ("unchanged", 1200, 1200, "warn", False),
        "prompts/same.md": ("unchanged", 100, 100, "pass", None),
        "prompts/über/日本.md": ("unchanged", 10, 10, "pass", None),
    }
    assert [violation["code"] for violation in prompts["violations"]] == ["TOK004", "TOK004", "TOK003"]
    assert (tools["passed"], [violation["code"] for violation in tools["violations"]]) == (False, ["TOK001"])
    assert (month["passed"], [violation["code"] for violation in month["violations"]]) == (True, ["TOK002"])
    assert month["files"][0]["base_tokens"] < month["files"][0]["tokens"]  # by what it includes
    assert any("prompts/shared is another repository" in notice for notice in body["notices"])


def test_the_base_is_where_the_branches_parted(there: Path, git: Git, capsys: Capture, tmp_path: Path, go: Go) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(there), "clone")
    git(clone, "checkout", "-q", "-b", "main", "origin/main")
    write(clone, {"prompts/over before.md": words(1)})
    git(clone, "commit", "-qam", "later on main")
    git(clone, "checkout", "-q", "change")
    go(clone)
    body = answer(capsys, "--baseline", "main")
    assert {file["path"]: file["base_tokens"] for file in body["budgets"][0]["files"]}["prompts/over before.md"] == 1200


def test_a_draft_renamed_into_a_budget(there: Path, git: Git, capsys: Capture, tmp_path: Path, go: Go) -> None:
    git(tmp_path, "clone", "-q", str(there), "clone")
    clone = tmp_path / "clone"
    go(clone)
    git(clone, "mv", "prompts/draft/d.md", "prompts/d.md")
    (prompts, *_) = answer(capsys, "--baseline", "HEAD")["budgets"]
    (file,) = (file for file in prompts["files"] if file["path"] == "prompts/d.md")
    assert (file["change"], file["base_path"], file["base_tokens"]) == ("new", "prompts/draft/d.md", None)
    told = {each["code"]: each["introduced"] for each in prompts["violations"] if each["path"] == "prompts/d.md"}
    assert told == {"TOK001": True, "TOK002": True, "TOK003": True, "TOK004": True}
    check("--baseline", "HEAD")
    assert "new, from prompts/draft/d.md, +9,999" in capsys.readouterr().out


def test_the_work_tree_against_head(there: Path, git: Git, capsys: Capture, tmp_path: Path, go: Go) -> None:
    """As a hook does before a commit; files that git does not know yet are checked too."""
    git(tmp_path, "clone", "-q", str(there), "clone")
    clone = tmp_path / "clone"
    go(clone)
    write(clone, {"prompts/untracked.md": words(7), "prompts/same.md": None, "prompts/moved.md": words(100)})
    files = {file["path"]: file["change"] for file in answer(capsys, "--baseline", "HEAD")["budgets"][0]["files"]}
    assert (files["prompts/untracked.md"], files["prompts/moved.md"]) == ("new", "renamed")
    assert "prompts/same.md" not in files


def test_a_shallow_clone_has_no_base_and_a_hint(there: Path, git: Git, capsys: Capture, tmp_path: Path, go: Go) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", "--branch=change", f"file://{there}", "clone")
    clone = tmp_path / "clone"
    go(clone)
    body = answer(capsys, "--baseline", "origin/main")
    assert body["exit_code"] == 1
    assert body["baseline"] is None
    said = " ".join(body["notices"])
    assert "'origin/main' is no commit of this clone; this clone is shallow: fetch the base first, with" in said
    hint = re.search(r"'(git fetch [^']*)' and (--baseline FETCH_HEAD)", said)
    assert hint
    git(clone, *hint[1].split()[1:])
    body = answer(capsys, *hint[2].split())
    assert body["baseline"].startswith("FETCH_HEAD (")
    assert "compared with FETCH_HEAD itself" in body["notices"][0]
    assert {file["path"]: file["change"] for file in body["budgets"][0]["files"]}["prompts/grown.md"] == "grown"


@pytest.mark.parametrize(
    "named", ["HEAD~2", "HEAD^", "change~1", "HEAD~1^", "main", "refs/heads/main", "HASH", "SHORT"]
)
def test_what_a_shallow_clone_advises_works(
    there: Path, git: Git, capsys: Capture, tmp_path: Path, go: Go, named: str
) -> None:
    origin = tmp_path / "origin"
    git(tmp_path, "clone", "-q", "--branch=main", str(there), "origin")
    git(origin, "checkout", "-qb", "change")
    for number in range(3):
        write(origin, {"prompts/same.md": words(number)})
        git(origin, "commit", "-qam", "more")
    asked = git(origin, "rev-parse", "main").strip()
    named = {"HASH": asked, "SHORT": asked[:10]}.get(named, named)
    git(tmp_path, "clone", "-q", "--depth=1", "--branch=change", f"file://{origin}", "clone")
    clone = tmp_path / "clone"
    go(clone)
    body = answer(capsys, "--baseline", named)
    assert body["baseline"] is None
    hint = re.search(
        r"this clone is shallow: .*?'(git fetch [^']*)'(?: and --baseline (FETCH_HEAD))?", body["notices"][0]
    )
    assert hint
    git(clone, *hint[1].split()[1:])
    assert answer(capsys, "--baseline", hint[2] or named)["baseline"] is not None


@pytest.mark.parametrize("name", ["base", "./base", "counts.txt", "main", "base.json"])
def test_a_recording_by_any_name(small: Path, capsys: Capture, name: str) -> None:
    """A name that is a commit's too is the commit, unless it can only be meant as a path."""
    assert check("--write-baseline", name, "--quiet") == 0
    write(small, {"p/a.md": words(8)})
    body = answer(capsys, "--baseline", name)
    assert body["budgets"][0]["files"][0]["change"] == "shrunk"
    assert body["baseline"].startswith("main (" if name == "main" else name)
    assert answer(capsys, "--baseline", f"./{name}")["baseline"] == f"./{name}"


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("./gone", "no base: there is no file './gone'"),
        ("p", "no base: 'p' is no commit of this clone"),
        ("mian", "no base: 'mian' is no commit of this clone; did you mean 'main'?; only absolute limits are checked"),
        ("", "no base: the base is empty, as in the first push of a branch"),
        ("0" * 40, "no base: the base is empty, as in the first push of a branch"),
        ("--upload-pack=x", "no base: '--upload-pack=x' is no commit of this clone"),
        ("main:prompts", "no base: 'main:prompts' is no commit of this clone"),
        ("gone.json", "no base: there is no file 'gone.json'"),
    ],
)
def test_no_base_is_said(there: Path, capsys: Capture, named: str, says: str) -> None:
    body = answer(capsys, f"--baseline={named}")
    assert body["baseline"] is None
    assert body["notices"][0].startswith(says)
    assert any("max_growth is not checked (system prompts)" in notice for notice in body["notices"])


def test_a_repository_without_commits_and_none_at_all(git: Git, capsys: Capture, tmp_path: Path, go: Go) -> None:
    write(
        tmp_path, {"tokengap.toml": CONFIGURATION.partition('[[budget]]\nname = "tools')[0], "prompts/a.md": words(9)}
    )
    go(tmp_path)
    assert "there is no git repository here" in answer(capsys, "--baseline", "HEAD")["notices"][0]
    git(tmp_path, "init", "-q")
    body = answer(capsys, "--baseline", "HEAD")
    assert "'HEAD' is no commit of this clone" in body["notices"][0]
    assert (body["budgets"][0]["tokens"], body["passed"]) == (9, True)


def test_git_that_refuses_is_no_missing_base(
    small: Path, git: Git, capsys: Capture, monkeypatch: pytest.MonkeyPatch, confined: list[str]
) -> None:
    """Its reason and its remedy are told, and nothing is checked as if there were no base."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    for arguments in ([], ["--baseline", "HEAD"]):
        said = refusal(capsys, *arguments)
        assert said.startswith(f"git rev-parse: fatal: detected dubious ownership in repository at '{small}'")
        assert said.endswith(f"; where that is trusted: git config --global --add safe.directory {small}\n")
    monkeypatch.delenv("GIT_TEST_ASSUME_DIFFERENT_OWNER")
    objects = small / ".git" / "objects"
    needed = git(small, "rev-parse", "HEAD", "HEAD^{tree}").split()
    for closed in (objects, *(objects / name[:2] for name in needed)):
        closed.chmod(0)
        done = subprocess.run([*confined, TOKENGAP, "check", "--baseline", "HEAD"], capture_output=True, check=False)
        closed.chmod(0o755)
        assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
        assert b"git" in done.stderr


def test_a_repository_that_is_broken_or_bare(small: Path, git: Git, capsys: Capture, go: Go) -> None:
    head = (small / ".git" / "HEAD").read_text()
    (small / ".git" / "HEAD").write_text("")
    assert refusal(capsys).startswith(f"{small}/.git is there, but git cannot read it: git rev-parse: fatal: not a git")
    (small / ".git" / "HEAD").write_text(head)
    git(small, "clone", "-q", "--bare", ".", "bare.git")
    shutil.copy(small / "tokengap.toml", small / "bare.git")
    go(small / "bare.git")
    assert "bare.git: a bare repository has no files to check; run this in a work tree of it" in refusal(capsys)


def test_a_folder_or_file_that_cannot_be_opened(small: Path, git: Git, capsys: Capture, confined: list[str]) -> None:
    """Of what it has nothing is known: a budget that may be about it cannot be checked."""
    configure(small, "'p/*.md'", "'p/**/*.md', '!p/private/**'")
    write(small, {"p/sub/b.md": words(1), "p/private/c.md": words(1), "q/d.md": words(1)})

    def said() -> tuple[int, str]:
        done = subprocess.run([*confined, TOKENGAP, "check", "-q"], capture_output=True, text=True, check=False)
        return done.returncode, done.stderr.removeprefix("tokengap: error: ")

    for _ in range(2):
        for folder in ("p/private", "q", "p/sub"):
            (small / folder).chmod(0)
            code, problem = said()
            (small / folder).chmod(0o755)
            assert code == (2 if folder == "p/sub" else 0)
            assert problem == ("" if code == 0 else "tokengap.toml:5: budget[0].paths: p/sub: Permission denied\n")
        git(small, "add", "-A")  # and once more with files that git knows
    shutil.rmtree(small / ".git")
    for folder, code in (("p/private", 0), ("q", 0), ("p/sub", 2)):
        (small / folder).chmod(0)
        assert said()[0] == code
        (small / folder).chmod(0o755)
    (small / "p" / "a.md").chmod(0)
    assert said() == (2, "tokengap.toml:5: budget[0].paths: p/a.md: Permission denied\n")


def test_a_configuration_above_and_below(there: Path, git: Git, capsys: Capture, tmp_path: Path, go: Go) -> None:
    go(there / "prompts")
    assert answer(capsys, "--baseline", "main")["budgets"][0]["name"] == "system prompts"
    git(tmp_path, "init", "-q")
    budget = "[[tool.tokengap.budget]]\nname = 'x'\npaths = ['p/*']\nmax_tokens_per_file = 5\n"
    text = f"[tool.tokengap]\nmodel = 'gpt-4o'\n{budget}"
    write(tmp_path, {"a/b/pyproject.toml": text, "a/b/p/x.md": words(3), "p/y.md": words(9)})
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "base")
    write(tmp_path, {"a/b/p/x.md": None, "a/b/p/z.md": words(6)})
    go(tmp_path)
    body = answer(capsys, "--config", "a/b/pyproject.toml", "--baseline", "HEAD")
    assert body["folder"] == "a/b"
    assert [file["path"] for file in body["budgets"][0]["files"]] == ["p/x.md", "p/z.md"]
    assert check("--config", "a/b/pyproject.toml", "--format", "github") == 1
    assert "::error file=a/b/p/z.md,line=1,title=" in capsys.readouterr().out
    body = answer(capsys, "--config", "a/b/pyproject.toml", "a/b/p/z.md")
    assert len(body["budgets"]) == 1
    assert answer(capsys, "--config", "a/b/pyproject.toml", "p/y.md")["budgets"] == []
    assert len(answer(capsys, "--config", "a/b/pyproject.toml", "a/b/pyproject.toml")["budgets"]) == 1


def test_paths_that_are_not_there(small: Path, capsys: Capture) -> None:
    assert "p/gone.md: no such file or folder" in refusal(capsys, "p/a.md", "p/gone.md")
    write(small, {"p/a.md": None, "p/b.md": words(1)})
    assert "p/a.md: no such file or folder" in refusal(capsys, "p/a.md")
    assert len(answer(capsys, "p/a.md", "--baseline", "HEAD")["budgets"]) == 1
    assert len(answer(capsys, "p")["budgets"]) == len(answer(capsys, str(small))["budgets"]) == 1
    assert answer(capsys, str(small / ".git"))["budgets"] == []
    assert len(answer(capsys, "..")["budgets"]) == len(answer(capsys, "/")["budgets"]) == 1
    (small.parent / "beside").mkdir(exist_ok=True)
    assert answer(capsys, str(small.parent / "beside"))["budgets"] == []
    (small.parent / "beside" / "link").symlink_to(small)
    assert len(answer(capsys, str(small.parent / "beside" / "link" / "p" / "b.md"))["budgets"]) == 1


def test_a_sparse_checkout_is_checked_whole(there: Path, git: Git, capsys: Capture, tmp_path: Path, go: Go) -> None:
    git(tmp_path, "clone", "-q", str(there), "clone")
    clone = tmp_path / "clone"
    go(clone)
    whole = answer(capsys)
    git(clone, "sparse-checkout", "set", "templates")
    assert not (clone / "prompts" / "same.md").exists()
    sparse = answer(capsys)
    assert [budget["tokens"] for budget in sparse["budgets"]] == [budget["tokens"] for budget in whole["budgets"]]


def test_a_pointer_of_lfs_is_no_prompt(git: Git, capsys: Capture, tmp_path: Path, go: Go) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 5\n"
    write(
        tmp_path,
        {"tokengap.toml": "model = 'gpt-4o'\n[[budget]]\nname = 'x'\npaths = ['p']\nmax_growth = 5\n", "p": pointer},
    )
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "base")
    go(tmp_path)
    assert "tokengap.toml:4: budget[0].paths: p: a pointer of Git LFS" in refusal(capsys)
    write(tmp_path, {"p": words(500)})
    body = answer(capsys, "--baseline", "HEAD")
    assert "p cannot be counted on the base (p: a pointer of Git LFS" in body["notices"][0]


def test_a_recording_instead_of_a_commit(there: Path, capsys: Capture, tmp_path: Path) -> None:
    recording = tmp_path / "base.json"
    assert check("--write-baseline", str(recording), "--quiet", "--fail-inherited") == 1
    capsys.readouterr()
    body = answer(capsys, "--baseline", str(recording))
    assert body["exit_code"] == 0  # all that is over was so
    assert {file["change"] for budget in body["budgets"] for file in budget["files"]} == {"unchanged"}
    assert {violation["introduced"] for budget in body["budgets"] for violation in budget["violations"]} == {False}
    recording.write_text("{}")
    assert "not a baseline" in refusal(capsys, "--baseline", str(recording))


@pytest.fixture
def small(git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of one prompt within its budget."""
    text = "model = 'gpt-4o'\nprices_at = 2026-11-30\n[[budget]]\nname = 'x'\npaths = ['p/*.md']\n"
    write(tmp_path, {"tokengap.toml": f"{text}max_tokens = 10\n", "p/a.md": words(9)})
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "base")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return tmp_path


def configure(folder: Path, old: str, new: str) -> None:
    path = folder / "tokengap.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


@pytest.mark.parametrize(
    ("option", "target", "over"),
    [
        ("--output", "tokengap.toml", "the configuration"),
        ("--output", "./p/../tokengap.toml", "the configuration"),
        ("--output", "link.toml", "the configuration"),
        ("--output", "pyproject.toml", "a configuration"),
        ("--output", "p/a.md", "a file of the budget 'x'"),
        ("--output", "base.json", "base.json, which is read"),
        ("--output", ".git/config", "git's own"),
        ("--output", ".git/new", "git's own"),
        ("--write-baseline", "tokengap.toml", "the configuration"),
        ("--write-baseline", "p/a.md", "a file of the budget 'x'"),
        ("--write-baseline", ".git/HEAD", "git's own"),
        ("--write-baseline", "base.json", None),
        ("--output", "p/new.json", None),
        ("--output", "q.md", None),
    ],
)
def test_no_report_is_written_over_what_is_read(
    small: Path, capsys: Capture, option: str, target: str, over: str | None
) -> None:
    assert check("--write-baseline", "base.json") == 0
    write(small, {"pyproject.toml": "[project]\n", "q.md": "not of the budget"})
    (small / "link.toml").symlink_to("tokengap.toml")
    before = {path: path.read_bytes() for path in small.rglob("*") if path.is_file()}
    arguments = ("--baseline", "base.json", option, f"json={target}" if option == "--output" else target)
    if over is None:
        assert check(*arguments) == 0
        return
    capsys.readouterr()
    assert f"{target}: it would be written over {over}; name another file" in refusal(capsys, *arguments)
    assert {path: path.read_bytes() for path in small.rglob("*") if path.is_file()} == before


def test_exit_0_within_budget(small: Path, capsys: Capture) -> None:
    assert check() == 0
    assert capsys.readouterr().out.endswith("\n1 budget kept\n")


def test_exit_1_a_budget_is_broken(small: Path) -> None:
    write(small, {"p/a.md": words(11)})
    assert check() == 1


def test_exit_2_configuration_or_usage(small: Path, capsys: Capture) -> None:
    assert "choose from" in refusal(capsys, "--format", "xml")
    assert "FORMAT=FILE is needed" in refusal(capsys, "--output", "xml=a")
    assert "FORMAT=FILE is needed" in refusal(capsys, "--output", "junit")
    assert "--output sarif=x: the file is written twice" in refusal(
        capsys, "--output", "json=x", "--output", "sarif=./x"
    )
    assert "the file is written twice" in refusal(capsys, "--write-baseline", "x", "--output", "json=x")
    assert not (small / "x").exists()
    assert "unrecognized arguments: --fromat" in refusal(capsys, "--fromat", "json")
    assert "bad date 'soon'" in refusal(capsys, "--today", "soon")
    assert "bad time 'soon'" in refusal(capsys, "--as-of", "soon")
    assert "cannot read gone.toml" in refusal(capsys, "--config", "gone.toml")
    configure(small, "max_tokens", "max_tokns")
    said = refusal(capsys)
    assert said.startswith("tokengap.toml:6: budget[0].max_tokns: unknown key 'max_tokns'; did you mean 'max_tokens'?")


def test_the_configuration_that_the_help_shows(small: Path, capsys: Capture) -> None:
    """It is what errors send to: it must be one that is read."""
    assert check("--help") == 0
    shown = re.search(r"^  model = .*?(?=\n\n)", capsys.readouterr().out, re.MULTILINE | re.DOTALL)
    assert shown
    write(small, {"tokengap.toml": shown[0].replace("prompts/", "p/"), "p/a.md": words(9)})
    assert answer(capsys)["budgets"][0]["limit"] == 8000


def test_exit_2_no_configuration(small: Path, capsys: Capture) -> None:
    (small / "tokengap.toml").write_text("model = 'gpt-4o'")
    assert refusal(capsys).startswith("tokengap.toml:1: no [[budget]], so that nothing would be checked")
    (small / "tokengap.toml").unlink()
    write(small, {"pyproject.toml": "[project]\nname = 'x'\n[tool.tokengap]\nmodel = 'gpt-4o'\n"})
    assert refusal(capsys).startswith("pyproject.toml:3: tool.tokengap: no [[tool.tokengap.budget]], so that nothing")
    (small / "pyproject.toml").unlink()
    assert "no configuration: no tokengap.toml and no [tool.tokengap]" in refusal(capsys)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("tokengap.tml", "", "is 'tokengap.tml' meant to be 'tokengap.toml'?"),
        (
            "pyproject.toml",
            "[project]\n\n[tool.tokngap]\n",
            "pyproject.toml:3: tool.tokngap: nobody reads 'tokngap'; did you mean 'tokengap'?",
        ),
        (
            "pyproject.toml",
            "[tokengap]\n",
            "pyproject.toml:1: tokengap: misplaced: in pyproject.toml it is [tool.tokengap]",
        ),
        ("pyproject.toml", "[tool.ruff]\n", "'tokengap check --init' writes one"),
    ],
)
def test_exit_2_a_configuration_under_another_name(
    small: Path, capsys: Capture, name: str, text: str, says: str
) -> None:
    (small / "tokengap.toml").unlink()
    write(small, {name: text})
    assert says in refusal(capsys)


def test_a_misplaced_table_on_the_way_up_to_the_configuration(small: Path, capsys: Capture, go: Go) -> None:
    """The one above would hold, without a word of the one that was meant."""
    write(small, {"sub/pyproject.toml": "[project]\nname = 'x'\n\n[[tool.tokengp.budget]]\nname = 'y'\n"})
    go(small / "sub")
    assert refusal(capsys).startswith("pyproject.toml:4: tool.tokengp: nobody reads 'tokengp'")
    write(small, {"sub/pyproject.toml": "[project]\nname = 'x'\n"})
    assert answer(capsys)["budgets"][0]["name"] == "x"


def test_a_second_configuration_is_said(small: Path, capsys: Capture) -> None:
    write(small, {"pyproject.toml": "[tool.tokengap]\nmodel = 'gpt-4'\n"})
    assert answer(capsys)["notices"] == [
        "pyproject.toml has [tool.tokengap] too, which is not read: tokengap.toml holds"
    ]


def test_exit_2_a_price_file_that_is_wrong(small: Path, capsys: Capture) -> None:
    configure(small, "max_tokens = 10\n", "max_tokens = 10\n[[prices]]\nmodle = 'x'\n")
    assert refusal(capsys).startswith("tokengap.toml:8: prices[0].modle: unknown key 'modle'; did you mean 'model'?")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "[[prices]]\nmodel = 'x'\nprovider = 'opnai'\nin = '1 USD/1M'",
            "9: prices[0].provider: unknown provider 'opnai'",
        ),
        ("[[prices]]\nmodel = 'gpt-4o'\nbase = 'nope'\nmultiplier = '2'", "9: prices[0].base: "),
        ("type = 'chat'\nfield = 'nope'", "8: budget[0].field: p/a.md: there is no nope"),
        ("type = 'text'\nfield = 'x.y'", "8: budget[0].field: p/a.md: there is no x.y"),
        ("type = 'text'\nfield = 'x'", "8: budget[0].field: p/a.md: x: a text is needed"),
    ],
)
def test_every_error_has_the_line_of_its_key(small: Path, capsys: Capture, text: str, says: str) -> None:
    configure(small, "max_tokens = 10\n", f"max_tokens = 10\n{text}\n")
    write(small, {"p/a.md": '{"x": 1}'})
    assert refusal(capsys).startswith(f"tokengap.toml:{says}")


def test_a_field_of_a_list_has_its_own_line(small: Path, capsys: Capture) -> None:
    configure(small, "'p/*.md'", "'p/*.jsonl'")
    configure(small, "max_tokens = 10\n", "max_tokens = 10\nfield = 'x'\n")
    write(small, {"p/a.jsonl": '{"x": "a"}\n'})
    said = "tokengap.toml:7: budget[0].field: p/a.jsonl: there is no x; the file is a list: [*].x is that of"
    assert refusal(capsys).startswith(said)


def test_an_organisations_file_that_is_not_there(small: Path, capsys: Capture) -> None:
    configure(small, "prices_at", "organisation_prices = 'nosuch.toml'\nprices_at")
    assert refusal(capsys).startswith("tokengap.toml:2: organisation_prices: cannot read nosuch.toml: No such file")
    write(small, {"mine.toml": "[[prices]]\nmodel = 'x'\nin = '1 USD/1M'\n"})
    assert check("--organisation-prices", "mine.toml") == 0
    capsys.readouterr()
    write(small, {"tokengap.toml": None, "pyproject.toml": "x = [\n"})
    assert refusal(capsys).startswith("pyproject.toml:1: not TOML")


def test_exit_3_a_price_or_a_bound_is_missing(small: Path, capsys: Capture) -> None:
    (small / "none.json").write_text("[]")
    configure(small, "max_tokens = 10", "max_cost = '1 USD'")
    assert check("--price-data", "none.json") == 3
    assert "FAIL TOK010 tokengap.toml:6: x: no price is known" in capsys.readouterr().out
    assert check("--price-data", "none.json", "--allow-missing") == 0
    configure(small, "'1 USD'", "'1 USD'\nmodel = 'claude-sonnet-4-5'")
    assert check() == 3
    configure(small, "'claude-sonnet-4-5'", "'claude-sonnet-4-5'\ncount = 'any'")
    assert check() == 0


def test_a_cost_of_an_upper_bound_says_so(small: Path, capsys: Capture) -> None:
    configure(small, "max_tokens = 10", "max_tokens = 100\ntype = 'chat'\nmodel = 'gpt-5'")
    write(small, {"p/a.md": json.dumps([{"role": "user", "content": words(9)}])})
    body = answer(capsys)
    (budget,) = body["budgets"]
    assert budget["tokens"] < budget["upper"]
    check()
    assert re.search(rf"at most {budget['upper']}\).* at most {budget['cost']['amount']} USD ", capsys.readouterr().out)


def test_exit_4_a_fault_of_its_own(small: Path, run: Callable[..., Any], tmp_path: Path) -> None:
    """A counter of another package that breaks its contract in a way that nobody foresaw."""
    package = tmp_path / "site" / "broken-1.dist-info"
    write(tmp_path / "site", {
        "broken.py": "from tokengap.tokenizers.counter import Count\n\n\nclass Counter:\n    name = 'broken'\n\n"
                     "    def count(self, text):\n        return Count('many', 'broken', 'x', 'exact')\n\n\n"
                     "def from_spec(spec):\n    return Counter()\n",
        "broken-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: broken\nVersion: 1\n",
        "broken-1.dist-info/entry_points.txt": "[tokengap.counters]\nbroken = broken:from_spec\n",
    })  # fmt: skip
    assert package.is_dir()
    configure(small, "max_tokens = 10", "max_tokens = 10\ncounter = 'broken'")
    done = run("check", cwd=small, env={"PYTHONPATH": str(tmp_path / "site")})
    assert done.returncode == 4
    assert done.stdout == b""
    assert len(done.stderr.splitlines()) == 1
    assert re.match(
        rb"tokengap: internal error: TypeError: .* \(estimators/budget_\w+\.py:\d+\); this is a fault of tokengap",
        done.stderr,
    )


def test_quiet_says_nothing_where_nothing_changed(
    small: Path, git: Git, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = small / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert check("--quiet", "--baseline", "main", "--output", "json=all.json") == 0
    assert capsys.readouterr().out == ""
    assert not summary.exists()
    assert json.loads((small / "all.json").read_bytes())["passed"]
    write(small, {"p/a.md": words(8)})
    assert check("--quiet", "--baseline", "main") == 0
    assert "-1 (-11.1%)" in capsys.readouterr().out
    assert "-1 (-11.1%)" in summary.read_text()
    write(small, {"p/a.md": words(11)})
    assert check("--quiet") == 1
    assert "TOK001" in capsys.readouterr().out
    assert check("--quiet", "--baseline", "HEAD") == 1
    assert "TOK001" in capsys.readouterr().out
    git(small, "commit", "-qam", "over")
    assert check("--quiet", "--baseline", "HEAD") == 0  # inherited, and nothing new
    assert capsys.readouterr().out == ""
    assert check("--quiet", "--baseline", "gone") == 1
    assert "no base" in capsys.readouterr().out


def test_quiet_says_what_was_not_checked(small: Path, git: Git, capsys: Capture) -> None:
    configure(small, "max_tokens = 10", "max_tokens = 10\nmax_growth = '5%'")
    write(small, {"p/b.md": b"\xff"})
    git(small, "add", "-A")
    git(small, "commit", "-qm", "no UTF-8")
    write(small, {"p/b.md": "a"})
    assert check("--quiet", "--baseline", "HEAD") == 0
    assert "note: p/b.md cannot be counted on the base" in capsys.readouterr().out
    git(small, "commit", "-qam", "UTF-8")
    assert check("--quiet", "--baseline", "HEAD") == 0
    assert capsys.readouterr().out == ""
    configure(small, "'p/*.md'", "'p/*.md', 'agnets/**'")
    for arguments in (["--baseline", "HEAD"], [], [".git/HEAD"]):
        assert check("--quiet", *arguments) == 0
        assert "note: tokengap.toml:5: no file matches 'agnets/**'" in capsys.readouterr().out


def test_a_file_that_is_hidden_is_not_only_removed(small: Path, git: Git, capsys: Capture) -> None:
    write(small, {"p/b.md": words(1), "p/c.md": words(1), "p/d.md": words(1), "real": words(99)})
    git(small, "add", "-A")
    git(small, "commit", "-qm", "more")
    write(small, {"p/b.md": None, "p/d.md": None, ".gitignore": "p/c.md\n"})
    (small / "p" / "b.md").symlink_to("../real")
    git(small, "rm", "-q", "--cached", "p/c.md")
    for _ in range(2):
        body = answer(capsys, "--baseline", "main")
        assert {file["path"] for file in body["budgets"][0]["files"] if file["change"] == "removed"} == {
            "p/b.md", "p/c.md", "p/d.md"
        }  # fmt: skip
        assert body["notices"] == [
            "p/b.md is a symbolic link now: it is not checked",
            "p/c.md is ignored by git now: it is not checked",
        ]
        git(small, "add", "-A")  # and once more where git knows the link


def test_a_summary_that_cannot_be_written(small: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(small / "gone" / "x"))
    assert "gone/x, which GITHUB_STEP_SUMMARY names: No such file or directory" in refusal(capsys)


def test_the_summary_of_a_step_is_added_to(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (small / "summary.md").write_text("# before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(small / "summary.md"))
    assert check() == 0
    assert check() == 0
    text = (small / "summary.md").read_text()
    assert text.startswith("# before\n<!-- tokengap-report -->\n### tokengap: 1 budget kept\n")
    assert text.count("<!-- tokengap-report -->") == 2


def test_several_reports_at_once(small: Path, capsys: Capture) -> None:
    outputs = [word for format in FORMATS for word in ("--output", f"{format}={format}.out")]
    assert check(*outputs) == 0
    printed = capsys.readouterr().out
    assert (small / "table.out").read_text() == printed
    for format in FORMATS:
        assert check("--format", format) == 0
        assert (small / f"{format}.out").read_text() == capsys.readouterr().out
    assert "cannot write gone/x.json: No such file or directory" in refusal(capsys, "--output", "json=gone/x.json")


def test_init_writes_what_check_reads(
    git: Git, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "-q")
    assert "no prompts found" in refusal(capsys, "--init")
    assert not (tmp_path / "tokengap.toml").exists()
    write(tmp_path, {
        "app/prompts/a.md": words(700), "app/prompts/b.txt": words(1), "AGENTS.md": words(20),
        "tools/f.json": json.dumps(TOOL), "prompts/bad.json": "{", ".gitignore": "node_modules/\n",
        "node_modules/prompts/x.prompt": "x",
    })  # fmt: skip
    assert check("--init") == 0
    wrote, *notes = capsys.readouterr().out.splitlines()
    assert wrote == "wrote tokengap.toml with 3 budgets; read it, then run 'tokengap check'"
    assert [note.partition(": not JSON")[0] for note in notes] == ["note: left out: prompts/bad.json"]
    written = (tmp_path / "tokengap.toml").read_text()
    assert 'paths = ["**/prompts/**/*.md", "**/prompts/**/*.txt"]' in written
    assert "max_tokens = 780" in written
    assert "node_modules" not in written
    assert check() == 0
    capsys.readouterr()
    assert "is there already" in refusal(capsys, "--init")
    assert (tmp_path / "tokengap.toml").read_text() == written
    (tmp_path / "tokengap.toml").unlink()
    write(tmp_path, {"pyproject.toml": "[tool.tokengap]\nmodel = 'gpt-4o'\n"})
    assert "pyproject.toml is there already" in refusal(capsys, "--init")


UNREADABLE = "not UTF-8 text (byte 0xe9 at offset 3); convert it first, e.g. with iconv"


def test_init_says_what_it_leaves_out(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what it writes is within budget, whatever else is there."""
    monkeypatch.chdir(tmp_path)
    message = json.dumps({"messages": [{"role": "user", "content": "hi"}]})
    write(tmp_path, {
        "prompts/a.md": words(100), "prompts/c.prompt": words(10), "prompts/d.yaml": "p: x", "prompts/f.jinja": "x",
        "templates/e.j2": "{{ x }}", "tools.json": "[]", "web/tools.json": '[{"type": "web_search"}]',
        "evals/chat.jsonl": message, "evals/rows.jsonl": '{"question": "x"}',
    })  # fmt: skip
    for name in ("bad.md", "[old] b{a,b}d.md"):
        (tmp_path / "prompts" / name).write_bytes(b"caf\xe9")
    assert check("--init") == 0
    wrote, *notes = capsys.readouterr().out.splitlines()
    assert wrote == "wrote tokengap.toml with 3 budgets; read it, then run 'tokengap check'"
    assert [note.removeprefix("note: left out: ").split(": ")[:2] for note in notes] == [
        ["evals/rows.jsonl", "request"],
        ["prompts/[old] b{a,b}d.md", UNREADABLE],
        ["prompts/bad.md", UNREADABLE],
        ["prompts/d.yaml", "give it a budget that says which 'field' is the prompt"],
        ["prompts/f.jinja", "a template"],
        ["templates/e.j2", "a template"],
        ["web/tools.json", "the count of 0 is heuristic, and tools[0] cannot be counted, so that nothing bounds it"],
    ]
    body = answer(capsys)
    assert body["exit_code"] == 0
    assert body["notices"] == ["no base to compare with: max_growth is not checked (prompts, tool schemas, requests)"]
    assert [[file["path"] for file in budget["files"]] for budget in body["budgets"]] == [
        ["prompts/a.md", "prompts/c.prompt"],
        ["tools.json"],
        ["evals/chat.jsonl"],
    ]


def test_init_where_nothing_can_be_counted(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"prompts/a.j2": "{{ x }}"})
    said = refusal(capsys, "--init")
    assert "no prompts found" in said
    assert "prompts/a.j2: a template: give it a budget of type" in said


def test_in_a_hook_of_git(small: Path, git: Git, run: Callable[..., Any]) -> None:
    """git tells its hooks where it is in variables that mean another thing in a folder below."""
    write(small, {"sub/tokengap.toml": (small / "tokengap.toml").read_text(), "sub/p/b.md": words(5)})
    git(small, "add", "-A")
    script = f"#!/bin/sh\n{sys.executable} -m tokengap.service check --config sub/tokengap.toml --baseline HEAD "
    hook = small / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"{script}--format json > said.json\n")
    hook.chmod(0o755)
    git(small, "commit", "-qm", "with a hook")
    said = json.loads((small / "said.json").read_bytes())
    assert (said["folder"], [file["path"] for file in said["budgets"][0]["files"]]) == ("sub", ["p/b.md"])
    assert said["budgets"][0]["files"][0]["change"] == "new"


def test_nothing_is_written_or_left_running(small: Path, git: Git) -> None:
    write(small, {"p/a.md": words(8)})
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in small.rglob("*") if path.is_file()}
    assert check("--baseline", "main") == 0
    after = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in small.rglob("*") if path.is_file()}
    assert after == before


def test_without_git(small: Path, run: Callable[..., Any], capsys: Capture) -> None:
    empty = small / "empty"
    empty.mkdir()
    done = run("check", "--baseline", "main", "--format", "json", cwd=small, env={"PATH": str(empty)})
    body = json.loads(done.stdout)
    assert (done.returncode, body["budgets"][0]["tokens"]) == (0, 9)
    assert "there is no git repository here" in body["notices"][0]
    assert shutil.which("git", path=str(empty)) is None


def test_a_check_of_nothing_imports_nothing_heavy(small: Path) -> None:
    code = (
        "import sys; from tokengap.service.cli import main; code = main(['check', '.git/HEAD', '--baseline', 'HEAD']); "
        "heavy = {'tiktoken', 'genai_prices', 'rich', 'jinja2', 'yaml', 'tree_sitter', 'pydantic', 'concurrent', "
        "'asyncio'}; "
        "sys.exit(code or ' '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=small, capture_output=True, check=False)
    assert done.stderr.decode() == ""
    assert done.stdout.startswith(b"no budget is about these files, compared with HEAD (")
