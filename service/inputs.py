"""The texts a command is given: files, directories, globs, standard input, words on the command line."""

from __future__ import annotations

import os
import sys
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from itertools import chain
from typing import NamedTuple, TypeVar

from ..estimators.counting import LongText, Text
from ..estimators.reading import BINARY_HEAD, NotTextError, check_head, decode, not_utf8
from ..tokenizers.errors import TokengapError
from ..tokenizers.safe_cuts import regrouped

T = TypeVar("T")

STDIN = "-"
_GLOB = frozenset("*?[")
LONG = 1 << 22
"""Bytes of a text; one that is longer can be read in parts."""
_PART = 1 << 20


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
    yield from _arguments(texts)
    yield from _readable(found, skipped, lambda file: Text(_source(file), read_text(file.path)))


def read_long_texts(found: Sequence[Found], texts: Sequence[str], skipped: list[Skipped]) -> Iterator[Text | LongText]:
    """The same with what is longer than ``LONG`` in parts."""
    yield from _arguments(texts)
    yield from _readable(found, skipped, _read_long)


def _arguments(texts: Sequence[str]) -> Iterator[Text]:
    for number, text in enumerate(texts, start=1):
        yield Text("text" if len(texts) == 1 else f"text:{number}", _argument(text))


def _readable(found: Sequence[Found], skipped: list[Skipped], read: Callable[[Found], T]) -> Iterator[T]:
    for file in found:
        try:
            yield read(file)
        except NotTextError as error:
            if file.named:
                raise
            skipped.append(Skipped(file.path, str(error).removeprefix(f"{file.path}: ")))


def _source(file: Found) -> str:
    return "stdin" if file.path == STDIN else file.path


def _read_long(file: Found) -> Text | LongText:
    """A text, or if it is long, its parts; what the user did not name must be known to be text before it is counted."""
    name, chunks = _source(file), _chunks(file.path)
    head = next(chunks)
    if len(head) < LONG:
        return Text(name, decode(head, name))
    check_head(head[:BINARY_HEAD], name)
    if not file.named:
        for _ in _decoded(_chunks(file.path), name):
            pass
    size = os.path.getsize(file.path) if file.path != STDIN and os.path.isfile(file.path) else None
    return LongText(name, regrouped(_decoded(chain((head,), chunks), name)), size)


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
    return decode(b"".join(_chunks(path)), "stdin" if path == STDIN else path)


def _chunks(path: str) -> Iterator[bytes]:
    """The bytes of a file or of standard input in chunks, of which only the last is shorter than ``LONG``."""
    if path == STDIN and sys.stdin is None:
        raise TokengapError("standard input is closed: name a file, or give --text")
    try:
        with open(path, "rb") if path != STDIN else nullcontext(sys.stdin.buffer) as file:
            chunk = file.read(LONG)
            yield chunk
            while len(chunk) == LONG:
                chunk = file.read(LONG)
                yield chunk
    except OSError as error:
        if error.filename is None:  # reading fails without saying what was read
            raise OSError(error.errno, error.strerror, path) from error
        raise


def _decoded(chunks: Iterator[bytes], name: str) -> Iterator[str]:
    """Decode UTF-8 strictly, in parts that are smaller than the chunks."""
    decoder = getincrementaldecoder("utf-8")()
    parts = (chunk[start : start + _PART] for chunk in chunks for start in range(0, len(chunk), _PART))
    done = 0
    for part in chain(parts, (b"",)):
        begun = len(decoder.getstate()[0])  # bytes of a character that the last part did not end
        try:
            yield decoder.decode(part, final=not part)
        except UnicodeDecodeError as error:
            raise not_utf8(name, error.object[error.start], done - begun + error.start) from None
        done += len(part)


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
