"""What git would ignore, so that a directory or a glob brings up only what a project keeps."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from pathspec import GitIgnoreSpec


class GitIgnore:
    """The ignore rules that hold in a folder: its own, and those above it up to the repository's top.

    Outside a repository only the folder's own and those below it hold.
    """

    def __init__(self, folder: str) -> None:
        resolved = Path(folder).resolve()
        above = (resolved, *resolved.parents)
        self._top = next((parent for parent in above if _exists(parent / ".git")), resolved)
        self._rules: dict[Path, tuple[tuple[Path, GitIgnoreSpec], ...]] = {}
        self._ignored: dict[Path, bool] = {}

    def ignores(self, file: str) -> bool:
        """Whether a file is ignored, itself or with a folder above it."""
        path = Path(file).resolve()
        return self._top in path.parents and (self._in_ignored_folder(path.parent) or self.matches(path))

    def matches(self, path: Path, *, folder: bool = False) -> bool:
        """Whether the deepest ignore file with a rule for this very path ignores it."""
        for base, rules in self._rules_in(path.parent):
            verdict = rules.check_file(path.relative_to(base).as_posix() + ("/" if folder else "")).include
            if verdict is not None:
                return verdict
        return False

    def _in_ignored_folder(self, folder: Path) -> bool:
        if folder == self._top:
            return False
        if folder not in self._ignored:
            above = self._in_ignored_folder(folder.parent)
            self._ignored[folder] = above or folder.name == ".git" or self.matches(folder, folder=True)
        return self._ignored[folder]

    def _rules_in(self, folder: Path) -> tuple[tuple[Path, GitIgnoreSpec], ...]:
        """The ignore files that hold in ``folder``, the deepest first."""
        if folder not in self._rules:
            files = [folder / ".gitignore"]
            if folder == self._top:
                files.append(folder / ".git" / "info" / "exclude")
            own = tuple((folder, rules) for file in files if (rules := _read(file)) is not None)
            above = self._rules_in(folder.parent) if self._top in folder.parents else ()
            self._rules[folder] = own + above
        return self._rules[folder]


def _raise(error: OSError) -> None:
    raise error


def walk(root: str, unopened: Callable[[OSError], None] = _raise) -> Iterator[str]:
    """Every regular file below ``root`` that git would not ignore; symbolic links are not followed.

    ``unopened`` is told of each folder that cannot be opened; by default that is an error.
    """
    ignore = GitIgnore(root)
    for folder, folders, files in os.walk(root, onerror=unopened):
        here = Path(folder).resolve()
        folders[:] = sorted(name for name in folders if name != ".git" and not ignore.matches(here / name, folder=True))
        for name in files:
            file = here / name
            if stat.S_ISREG(file.lstat().st_mode) and not ignore.matches(file):
                yield os.path.join(folder, name)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except PermissionError:
        return False


def _read(file: Path) -> GitIgnoreSpec | None:
    try:
        return GitIgnoreSpec.from_lines(file.read_text(encoding="utf-8", errors="surrogateescape").splitlines())
    except (FileNotFoundError, NotADirectoryError):
        return None
