"""The texts a command is given: files, directories, globs, standard input, words on the command line."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..estimators import Text, TokengapError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

STDIN = "-"
_GLOB = frozenset("*?[")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BINARY_HEAD = 8000  # bytes looked at for a NUL, as git does to tell text from binary


class NotTextError(TokengapError):
    """A file whose bytes are not UTF-8 text."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read. ``named``: the user wrote its very name, so it must be text."""

    path: str
    named: bool


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that a directory or glob brought up and that is no text, and why not."""

    source: str
    reason: str


def read_texts(found: Sequence[Found], texts: Sequence[str], skipped: list[Skipped]) -> Iterator[Text]:
    """Read the texts of the command line, then the files, one at a time.

    A file the user named must be text; another that is not is put into ``skipped``.
    """
    for number, text in enumerate(texts, start=1):
        yield Text("text" if len(texts) == 1 else f"text:{number}", _argument(text))
    for file in found:
        try:
            yield Text("stdin" if file.path == STDIN else file.path, read_text(file.path))
        except NotTextError as error:
            if file.named:
                raise
            skipped.append(Skipped(file.path, str(error).removeprefix(f"{file.path}: ")))


def find_files(paths: Sequence[str]) -> list[Found]:
    """The files that paths, directories and globs stand for: each once, directories in sorted order.

    In a directory what git would ignore is left out, and so are symbolic links.
    """
    found: dict[str, Found] = {}
    for path in paths:
        for file in _expand(path):
            found.setdefault(os.path.normpath(file.path) if file.path != STDIN else STDIN, file)
    return list(found.values())


def read_text(path: str) -> str:
    """Read one file (``-`` is standard input) as UTF-8, byte for byte: no newline is translated."""
    if path != STDIN:
        return decode(Path(path).read_bytes(), path)
    if sys.stdin is None:
        raise TokengapError("standard input is closed: name a file, or give --text")
    return decode(sys.stdin.buffer.read(), "stdin")


def decode(data: bytes, name: str) -> str:
    """Decode UTF-8 strictly; what is something else is refused by name."""
    if data.startswith(_UTF_16):
        raise NotTextError(f"{name}: UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8")
    if b"\0" in data[:_BINARY_HEAD]:
        raise NotTextError(f"{name}: binary, or UTF-16 (it holds NUL bytes); only UTF-8 text can be counted")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        bad = data[error.start]
        raise NotTextError(
            f"{name}: not UTF-8 text (byte 0x{bad:02x} at offset {error.start}); convert it first, e.g. with iconv"
        ) from None


def _argument(text: str) -> str:
    try:
        return os.fsencode(text).decode()
    except UnicodeError:
        raise NotTextError("--text is not UTF-8") from None


def _expand(path: str) -> Iterator[Found]:
    if path == STDIN:
        yield Found(STDIN, named=True)
    elif os.path.isdir(path):
        files = sorted(_walk(Path(path)))
        if not files:
            raise TokengapError(f"{path}: no files in this directory (what git ignores is left out)")
        yield from (Found(file, named=False) for file in files)
    elif not os.path.lexists(path) and _GLOB & set(path):
        yield from _glob(path)
    else:
        os.stat(path)  # a missing file is reported before anything is counted
        yield Found(path, named=True)


def _glob(pattern: str) -> Iterator[Found]:
    from glob import glob

    matches = sorted(glob(pattern, recursive=True))
    files = [match for match in matches if os.path.isfile(match)]
    if not files:
        raise TokengapError(f"no file matches {pattern!r}")
    yield from (Found(file, named=False) for file in files)


def _walk(root: Path) -> Iterator[str]:
    """Every regular file below ``root`` that git would not ignore."""
    rules = _inherited_rules(root)
    for folder, folders, files in os.walk(root, onerror=_raise):
        here = Path(folder).resolve()
        if (own := _rules_of(here / ".gitignore")) is not None:
            rules = {**rules, here: own}
        folders[:] = sorted(
            name for name in folders if name != ".git" and not _ignored(here / name, rules, folder=True)
        )
        for name in files:
            file = here / name
            if stat.S_ISREG(file.lstat().st_mode) and not _ignored(file, rules, folder=False):
                yield os.path.join(folder, name)


def _raise(error: OSError) -> None:
    raise error


def _inherited_rules(root: Path) -> dict[Path, GitIgnoreSpec]:
    """The ignore files above ``root``, up to the top of its git repository, and the repository's own."""
    above = root.resolve().parents
    top = next((folder for folder in (root.resolve(), *above) if (folder / ".git").exists()), None)
    if top is None:
        return {}
    folders = [folder for folder in above if folder == top or top in folder.parents]
    rules = {top: own} if (own := _rules_of(top / ".git" / "info" / "exclude")) is not None else {}
    for folder in reversed(folders):
        if (own := _rules_of(folder / ".gitignore")) is not None:
            rules[folder] = own if folder not in rules else rules[folder] + own
    return rules


def _rules_of(file: Path) -> GitIgnoreSpec | None:
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(file.read_text(encoding="utf-8", errors="surrogateescape").splitlines())
    except (FileNotFoundError, NotADirectoryError):
        return None


def _ignored(path: Path, rules: dict[Path, GitIgnoreSpec], *, folder: bool) -> bool:
    """Whether the deepest ignore file with a rule for ``path`` ignores it."""
    for base in sorted(rules, key=lambda base: len(base.parts), reverse=True):
        if path.is_relative_to(base):
            verdict = rules[base].check_file(path.relative_to(base).as_posix() + ("/" if folder else "")).include
            if verdict is not None:
                return verdict
    return False
