"""The texts a command is given: files, directories, globs, standard input, words on the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..estimators.counting import Text
from ..estimators.reading import NotTextError, decode
from ..tokenizers.errors import TokengapError

STDIN = "-"
_GLOB = frozenset("*?[")


class Found(NamedTuple):
    """A file to read. ``named``: the user wrote its very name, so it must be text."""

    path: str
    named: bool


class Skipped(NamedTuple):
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
        return decode(_read(path), path)
    if sys.stdin is None:
        raise TokengapError("standard input is closed: name a file, or give --text")
    return decode(sys.stdin.buffer.read(), "stdin")


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        if error.filename is None:  # reading fails without saying what was read
            raise OSError(error.errno, error.strerror, path) from error
        raise


def _argument(text: str) -> str:
    """The text of an argument: its bytes are UTF-8, whatever the locale made of them."""
    try:
        data = os.fsencode(text)
    except UnicodeEncodeError:
        return text  # from Python, not from a command line: it holds surrogates of its own
    return decode(data, "--text")


def _expand(path: str) -> Iterator[Found]:
    if path == STDIN:
        yield Found(STDIN, named=True)
    elif os.path.isdir(path):
        from .gitignore import walk

        files = sorted(walk(path))
        if not files:
            raise TokengapError(f"{path}: no files in this directory (what git ignores is left out)")
        yield from (Found(file, named=False) for file in files)
    elif not os.path.lexists(path) and _GLOB & set(path):
        yield from (Found(file, named=False) for file in _glob(path))
    else:
        os.stat(path)  # a missing file is reported before anything is counted
        yield Found(path, named=True)


def _glob(pattern: str) -> list[str]:
    from pathlib import Path

    from .gitignore import GitIgnore

    root = Path(pattern).anchor
    try:
        matches = sorted(str(match) for match in Path(root).glob(pattern.removeprefix(root)) if match.is_file())
    except ValueError as error:
        raise TokengapError(f"bad pattern {pattern!r}: {error}") from None
    ignore = GitIgnore(".")
    files = [match for match in matches if not ignore.ignores(match)]
    if not files:
        ignored = f": git ignores all {len(matches)} that do; name a file itself to count it" if matches else ""
        raise TokengapError(f"no file matches {pattern!r}{ignored}")
    return files
