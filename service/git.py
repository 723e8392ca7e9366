"""What git knows, asked of its plumbing: nothing is checked out, fetched or written."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple, cast

from ..tokenizers.errors import TokengapError

_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",  # looking must not write the index
    "GIT_NO_LAZY_FETCH": "1",  # what a partial clone lacks is not fetched
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_FOLDERS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR")
_FILE = ("100644", "100755")
_SUBMODULE = "160000"


_MISSING = re.compile(rb"not a (?:valid object|tree object)|bad object|unable to read tree|promisor|bad revision")
_UNREADABLE = re.compile(rb"Permission denied|^error: ", re.MULTILINE)
_UNOPENED = re.compile(r"^warning: could not open directory '(.*?)/?': (.*)$", re.MULTILINE)


class GitError(TokengapError):
    """git has refused."""


class NoRepositoryError(GitError):
    """There is no repository, or no git to read it."""


class NotHereError(GitError):
    """What is asked for is not in this clone."""


class Untracked(NamedTuple):
    """Files that git does not know; folders that it could not look into, each with the reason."""

    paths: list[str]
    unopened: dict[str, str]


class Entry(NamedTuple):
    """A file of a tree or of the index. ``skipped``: the index has it, and the work tree need not."""

    path: str
    mode: str
    object: str
    skipped: bool = False

    @property
    def is_file(self) -> bool:
        return self.mode in _FILE

    @property
    def is_submodule(self) -> bool:
        return self.mode == _SUBMODULE


class Git:
    """git in one folder, to which all paths are relative."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = _environment()
        self._prefix: str | None = None

    def ask(self, *arguments: str, input: bytes = b"", ok: Sequence[int] = (0,)) -> str:
        """What a command prints; ``GitError`` with what it says where it fails."""
        return os.fsdecode(self._run(*arguments, input=input, ok=ok).stdout)

    def _run(self, *arguments: str, input: bytes = b"", ok: Sequence[int] = (0,)) -> subprocess.CompletedProcess[bytes]:
        """A command that has ended. Objects that cannot be read are no answer, whatever it ends with."""
        try:
            done = subprocess.run(  # noqa: S603 - arguments, not a shell line
                ["git", *arguments],  # noqa: S607 - the git that the user has
                cwd=self._folder,
                input=input,
                capture_output=True,
                env=self._environment,
                check=False,
            )
        except OSError as error:
            raise NoRepositoryError(f"git cannot be run: {error.strerror or error}") from None
        unreadable = _UNREADABLE.search(done.stderr)
        if done.returncode not in ok or (done.returncode > 1 and unreadable):
            kind = NotHereError if _MISSING.search(done.stderr) and not unreadable else GitError
            raise kind(_complaint(arguments, done))
        return done

    def top(self) -> str:
        """The folder from the repository's top, "" there. ``NoRepositoryError`` outside a repository."""
        if self._prefix is None:
            try:
                said = self.ask("rev-parse", "--is-inside-work-tree", "--show-prefix")
            except GitError as error:
                if "not a git repository (or any" not in str(error):
                    raise
                if found := _repository(self._folder):
                    raise GitError(f"{found} is there, but git cannot read it: {error}") from None
                raise NoRepositoryError(str(error)) from None
            inside, _, prefix = said.partition("\n")
            if inside != "true":
                raise GitError(
                    f"{self._folder}: a bare repository has no files to check; run this in a work tree of it"
                )
            self._prefix = prefix.rstrip("\n").removesuffix("/")
        return self._prefix

    def is_shallow(self) -> bool:
        return self.ask("rev-parse", "--is-shallow-repository").strip() == "true"

    def commit(self, ref: str) -> str | None:
        """The commit a name stands for, ``None`` where there is none such here."""
        if commit := self._object(f"{ref}^{{commit}}"):
            return commit
        named = self._object(ref)
        if named and named != ref and self._run("cat-file", "-e", named, ok=(0, 1, 128)).returncode:
            raise GitError(f"git has {ref!r} as {named[:7]}, an object that it cannot read; 'git fsck' may tell why")
        return None

    def _object(self, name: str) -> str | None:
        return self.ask("rev-parse", "--verify", "--quiet", "--end-of-options", name, ok=(0, 1, 128)).strip() or None

    def is_partial(self) -> bool:
        """Whether this clone was made without some objects, which git fetches when it needs them."""
        return bool(self.setting("extensions.partialClone"))

    def merge_base(self, commit: str) -> str | None:
        """Where HEAD and a commit parted, ``None`` where that is not in this clone."""
        return self.ask("merge-base", "HEAD", commit, ok=(0, 1, 128)).strip() or None

    def refs(self) -> list[str]:
        """The names of branches and tags."""
        return self.ask("for-each-ref", "--format=%(refname:short)").split("\n")[:-1]

    def tree(self, commit: str) -> list[Entry]:
        """The files of a commit below the folder."""
        entries = []
        for line in _lines(self.ask("ls-tree", "-r", "-z", commit)):
            fields, _, path = line.partition("\t")
            mode, _, object = fields.split(" ")
            entries.append(Entry(path, mode, object))
        return entries

    def index(self, near: Sequence[str] = ()) -> list[Entry]:
        """The files that git tracks, in some folders only where any are named."""
        entries = []
        for line in _lines(self.ask("--literal-pathspecs", "ls-files", "--stage", "-t", "-z", "--", *near)):
            fields, _, path = line.partition("\t")
            tag, mode, object, _ = fields.split(" ")
            entries.append(Entry(path, mode, object, skipped=tag == "S"))
        return entries

    def untracked(self, near: Sequence[str] = ()) -> Untracked:
        """The files that git neither tracks nor ignores; a name ending in / is another repository."""
        done = self._run("--literal-pathspecs", "ls-files", "-o", "--exclude-standard", "-z", "--", *near)
        folders = {
            path.removeprefix(f"{self.top()}/"): why for path, why in _UNOPENED.findall(os.fsdecode(done.stderr))
        }
        return Untracked(_lines(os.fsdecode(done.stdout)), folders)

    def renames(self, commit: str) -> dict[str, str]:
        """The earlier path of each file of the work tree that has another one in a commit."""
        said = self.ask(
            "diff", "--find-renames", "--name-status", "--diff-filter=R", "-z", "--relative", "--no-ext-diff",
            "--no-textconv", "--ignore-submodules=all", commit, "--",
        )  # fmt: skip
        fields = _lines(said)
        return {fields[n + 2]: fields[n + 1] for n in range(0, len(fields), 3)}

    def line_endings(self, paths: Sequence[str]) -> Iterator[tuple[str, str, str, str]]:
        """For each file: how its lines end in the index and in the work tree, its attribute, its path."""
        said = self.ask("--literal-pathspecs", "ls-files", "--eol", "-z", "-c", "-o", "--", *paths)
        for line in _lines(said):
            fields, _, path = line.partition("\t")
            index, tree, attribute = fields.split(maxsplit=2)
            yield index.removeprefix("i/"), tree.removeprefix("w/"), attribute.removeprefix("attr/").strip(), path

    def setting(self, name: str) -> str:
        """A setting, "" where it is not set."""
        return self.ask("config", "--get", name, ok=(0, 1)).strip()


class Blobs:
    """Reads objects through one process that stays open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Blobs:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process:
            with suppress(OSError):
                cast(IO[bytes], self._process.stdin).close()
            cast(IO[bytes], self._process.stdout).close()
            self._process.wait()

    def read(self, object: str) -> bytes:
        """The bytes of an object; ``GitError`` where this clone does not have it."""
        process = self._process = self._process or self._start()
        asked, answered = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
        try:
            asked.write(f"{object}\n".encode())
            asked.flush()
            header = answered.readline().split()
            if len(header) != 3:
                raise GitError(f"the object {object} is not in this clone; fetch it whole, without a filter")
            data = answered.read(int(header[2]))
            answered.read(1)
        except OSError as error:
            raise GitError(f"git cat-file: {error.strerror or error}") from None
        return data

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            ["git", "cat-file", "--batch"],  # noqa: S607 - the git that the user has
            cwd=self._folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        )


def _environment() -> dict[str, str]:
    """Inside a hook git names its folders from where the hook runs, and takes that for the top."""
    named = {name: os.path.abspath(os.environ[name]) for name in _FOLDERS if name in os.environ}
    top = {"GIT_WORK_TREE": os.getcwd()} if "GIT_DIR" in named else {}
    return {**os.environ, **top, **named, **_ENVIRONMENT}


def _complaint(arguments: Sequence[str], done: subprocess.CompletedProcess[bytes]) -> str:
    """Why a command failed, in one line, with what git itself advises to run."""
    command = next(argument for argument in arguments if not argument.startswith("-"))
    said = [line.strip() for line in done.stderr.decode(errors="replace").splitlines()]
    first = next((line for line in said if line.startswith("fatal:")), next(iter(said), f"exit code {done.returncode}"))
    advice = next((f"; where that is trusted: {line}" for line in said if line.startswith("git config ")), "")
    return f"git {command}: {first}{advice}"


def _repository(folder: Path) -> Path | None:
    """What looks like a repository, here or above, to others than git."""
    for here in (folder.resolve(), *folder.resolve().parents):
        found = here / ".git"
        try:
            if found.is_file() or (found / "HEAD").exists():
                return found
        except PermissionError:
            return found
    return None


def _lines(text: str) -> list[str]:
    return text.split("\0")[:-1]
