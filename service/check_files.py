"""The files a check is about: those of the work tree, and those of a commit, read from git's objects."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha1, sha256
from pathlib import Path

from ..estimators.path_patterns import enters, select
from .git import Blobs, Entry, Git, NoRepositoryError

_CRLF = b"\r\n"
_WILD = frozenset("*?[!")


class WorkTree(Mapping[str, bytes]):
    """The files below a folder that git does not ignore, as git stores them.

    Where git turns line endings into CRLF on checkout (``core.autocrlf``, ``eol=crlf``), that is undone:
    a count must not depend on the machine it is made on. Otherwise the bytes are what they are.
    """

    def __init__(self, folder: Path, git: Git | None, blobs: Blobs, near: Iterable[str] = ()) -> None:
        self._folder, self._git, self._blobs = folder, git, blobs
        self.others: list[str] = []
        self.unopened: dict[str, str] = {}
        self._entries: dict[str, Entry | None] = dict(self._list(tuple(near)))
        self._read: dict[str, bytes] = {}
        self._endings: set[str] | None = None

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, path: object) -> bool:
        return path in self._entries

    def __getitem__(self, path: str) -> bytes:
        entry = self._entries[path]
        if path not in self._read:
            self._read[path] = self._load(path, entry)
        return self._read[path]

    def _load(self, path: str, entry: Entry | None) -> bytes:
        try:
            data = (self._folder / path).read_bytes()
        except FileNotFoundError:
            if entry and entry.skipped:  # a sparse checkout has it in the index only
                return self._blobs.read(entry.object)
            raise
        if self._git and _CRLF in data and path in self._turned_to_crlf(self._git):
            return data.replace(_CRLF, b"\n")
        return data

    def _list(self, near: tuple[str, ...]) -> Iterator[tuple[str, Entry | None]]:
        if self._git is None:
            yield from ((path, None) for path in self._walk())
            return
        for entry in self._git.index(near):
            if entry.is_submodule:
                self.others.append(entry.path)
            elif entry.is_file and ((there := self._is_file(entry.path)) or (entry.skipped and there is None)):
                yield entry.path, entry
        untracked = self._git.untracked(near)
        self.unopened = untracked.unopened
        for path in untracked.paths:
            if path.endswith("/"):
                self.others.append(path.rstrip("/"))
            elif self._is_file(path):
                yield path, None

    def _walk(self) -> list[str]:
        from .gitignore import walk

        def note(error: OSError) -> None:
            self.unopened[self._relative(error.filename)] = error.strerror or str(error)

        return sorted(map(self._relative, walk(str(self._folder), note)))

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self._folder).replace(os.sep, "/")

    def _is_file(self, path: str) -> bool | None:
        """Whether there is a regular file, ``None`` where there is nothing.

        What may not be looked at is taken for one: where a budget needs it, it is an error when it is read.
        """
        try:
            return stat.S_ISREG(os.lstat(os.path.join(self._folder, path)).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError:
            return True

    def _turned_to_crlf(self, git: Git) -> set[str]:
        if self._endings is None:
            automatic = git.setting("core.autocrlf") in ("true", "input")
            self._endings = {
                path
                for index, tree, attribute, path in git.line_endings(list(self._entries))
                if _stored_with_lf(index, tree, attribute, automatic)
            }
        return self._endings


class CommitTree(Mapping[str, bytes]):
    """The files of a commit. What is the same in the work tree is not read again."""

    def __init__(self, entries: Iterable[Entry], blobs: Blobs, work: WorkTree) -> None:
        self._objects = {entry.path: entry.object for entry in entries if entry.is_file}
        self._blobs, self._work = blobs, work
        self._read: dict[str, bytes] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._objects)

    def __len__(self) -> int:
        return len(self._objects)

    def __contains__(self, path: object) -> bool:
        return path in self._objects

    def __getitem__(self, path: str) -> bytes:
        object = self._objects[path]
        if object not in self._read:
            same = self._here(path)
            unchanged = same is not None and _object_name(same, object) == object
            self._read[object] = same if same is not None and unchanged else self._blobs.read(object)
        return self._read[object]

    def _here(self, path: str) -> bytes | None:
        try:
            return self._work.get(path)
        except OSError:
            return None


def folders(patterns: Iterable[str]) -> list[str]:
    """The folders that patterns look into, so that the rest of a large repository is not listed; none for all."""
    found = {_folder(pattern) for pattern in patterns if not pattern.startswith("!")}
    return [] if "" in found else sorted(found)


def reaches(patterns: Iterable[str], folder: str) -> bool:
    """Whether patterns may name files in a folder; the last that may, or that takes all in it away, decides."""
    reached = False
    for pattern in patterns:
        if pattern.startswith("!"):
            inside = [f"{folder}/\0", f"{folder}/\0/\0"]
            reached = reached and select(inside, [pattern[1:]]) != inside
        else:
            reached = reached or enters(pattern, folder)
    return reached


def _folder(pattern: str) -> str:
    """The part of a pattern that names folders plainly; a name at its end may be that of a file."""
    plain: list[str] = []
    for part in pattern.split("/"):
        if _WILD & set(part):
            break
        plain.append(part)
    return "/".join(plain).rstrip("/")


def _stored_with_lf(index: str, tree: str, attribute: str, automatic: bool) -> bool:
    """Whether git stores a file that has CRLF here with LF, by the rules of gitattributes."""
    words = attribute.split()
    if "-text" in words or "binary" in words:
        return False
    if "text" in words:
        return True
    if "text=auto" in words or (automatic and not words):
        # Binary files are left alone, and so is what was stored with CRLF before.
        return tree != "-text" and index not in ("crlf", "mixed", "-text")
    return False


def _object_name(data: bytes, like: str) -> str:
    """The name that git gives to these bytes, by the hash that ``like`` was made with."""
    header = f"blob {len(data)}\0".encode()
    made = sha256 if len(like) == 64 else sha1
    return made(header + data, usedforsecurity=False).hexdigest()


def open_git(folder: Path) -> Git | None:
    """git in a folder, ``None`` where there is no repository or no git."""
    git = Git(folder)
    try:
        git.top()
    except NoRepositoryError:
        return None
    return git
