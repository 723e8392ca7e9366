"""What git knows, asked of its plumbing: nothing is checked out, fetched or written."""

from __future__ import annotations

import os
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


class GitError(TokengapError):
    """git is not there, or has refused."""


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
        """What a command prints; ``GitError`` with its first line of complaint where it fails."""
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
            raise GitError(f"git cannot be run: {error.strerror or error}") from None
        if done.returncode not in ok:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise GitError(f"git {arguments[0]}: {said[0] if said else f'exit code {done.returncode}'}")
        return os.fsdecode(done.stdout)

    def top(self) -> str:
        """The folder from the repository's top, "" there. ``GitError`` outside a repository."""
        if self._prefix is None:
            self._prefix = self.ask("rev-parse", "--show-prefix").rstrip("\n").removesuffix("/")
        return self._prefix

    def is_shallow(self) -> bool:
        return self.ask("rev-parse", "--is-shallow-repository").strip() == "true"

    def commit(self, ref: str) -> str | None:
        """The commit a name stands for, ``None`` where there is none such here."""
        named = self.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}", ok=(0, 1, 128))
        return named.strip() or None

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

    def untracked(self, near: Sequence[str] = ()) -> list[str]:
        """The files that git neither tracks nor ignores; a name ending in / is another repository."""
        return _lines(self.ask("--literal-pathspecs", "ls-files", "-o", "--exclude-standard", "-z", "--", *near))

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


def _lines(text: str) -> list[str]:
    return text.split("\0")[:-1]
