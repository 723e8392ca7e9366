"""Which files the patterns of a budget name: globs from the configuration's folder, ``!`` taking away.

A pattern is matched in time linear in the path, whatever it is: it may come from anybody who can send one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import translate
from functools import cache
from typing import NamedTuple

_FORM = "such as prompts/**/*.md"
_WILD = frozenset("*?[")
_FAULTS = (
    (r"\s*", f"an empty pattern; write one {_FORM}"),
    (r"\s.*|.*\s", "a space at its beginning or end"),
    (r"[/~].*|[A-Za-z]:.*", f"not below the configuration's folder; write it from there, {_FORM}"),
    (r".*\\.*", f"folders are divided by /, not by a backslash, {_FORM}"),
    (r"(?:.*/)?(?:\.\.?)?/.*|(?:.*/)?\.\.?", f"an empty, '.' or '..' part matches nothing; write it plainly, {_FORM}"),
    (r".*[^/]\*\*.*|.*\*\*[^/].*", f"** stands for whole folders, alone between two /, {_FORM}"),
    (r".*\{[^}]*,[^}]*\}.*", "braces have no meaning here; write a pattern for each"),
    (r".*\[[^\]]*", "the [ is not closed"),
    (r".*\[\^.*", "what is not in a set is written [!…]"),
)
"""Patterns that can match nothing, or not what they seem to, and what is wrong with them; the first that fits."""

MOST_CHARACTERS = 500
"""Characters of one pattern."""

_ANY_FOLDERS = "**"


def check_pattern(pattern: str, *, first: bool) -> str | None:
    """What is wrong with a pattern, or ``None``."""
    if len(pattern) > MOST_CHARACTERS:
        return f"{pattern[:40]!r}...: a pattern of more than {MOST_CHARACTERS} characters"
    glob = pattern.removeprefix("!")
    for form, fault in _FAULTS:
        if re.fullmatch(form, glob, re.DOTALL):
            return f"{pattern!r:.80}: {fault}"
    if first and glob != pattern:
        return f"{pattern!r:.80} takes away from what stands before it, which is nothing; begin with one {_FORM}"
    if any("(?!)" in translate(part) for part in glob.split("/")):
        return f"{pattern!r:.80}: the set in brackets is empty"
    return None


def select(paths: Iterable[str], patterns: Sequence[str]) -> list[str]:
    """The paths that the patterns name, in order; the last pattern that matches a path decides.

    ``*`` stays within a folder, ``**`` goes through any number of them, and a pattern that ends in a
    plain name stands for a folder of that name as well, with all in it.

    >>> select(["prompts/a.md", "prompts/draft/b.md"], ["prompts/**/*.md", "!prompts/draft"])
    ['prompts/a.md']
    """
    chain = [(_compile(pattern.removeprefix("!")), not pattern.startswith("!")) for pattern in reversed(patterns)]
    return sorted(path for path in paths if _chosen(path.split("/"), chain))


class _Pattern(NamedTuple):
    """The parts of a pattern, ``None`` for ``**``. ``folder``: whether it names folders, ``file``: files."""

    parts: tuple[re.Pattern[str] | None, ...]
    folder: bool
    file: bool


@cache
def _compile(glob: str) -> _Pattern:
    names = glob.removesuffix("/").split("/")
    if names[-1] == _ANY_FOLDERS:
        names.append("*")
    # fnmatch makes each * give nothing back, so that no path takes long.
    parts = tuple(None if name == _ANY_FOLDERS else re.compile(translate(name)) for name in names)
    return _Pattern(parts, folder=not _WILD & set(names[-1]), file=not glob.endswith("/"))


def _chosen(path: Sequence[str], chain: Sequence[tuple[_Pattern, bool]]) -> bool:
    return next((kept for pattern, kept in chain if _matches(pattern, path)), False)


def _matches(pattern: _Pattern, path: Sequence[str]) -> bool:
    """Follow all ways through the pattern at once, a part of the path at a time."""
    last = pattern.parts[-1]
    if not pattern.folder and last is not None and not last.match(path[-1]):
        return False
    end = len(pattern.parts)
    reached = _skip({0}, pattern)
    for depth, name in enumerate(path, start=1):
        reached = _step(reached, name, pattern)
        if end in reached and (pattern.file if depth == len(path) else pattern.folder):
            return True
        if not reached:
            return False
    return False


def enters(glob: str, folder: str) -> bool:
    """Whether a pattern, without its ``!``, can match a file somewhere below a folder.

    >>> enters("prompts/*.md", "prompts/secret"), enters("prompts/**/*.md", "prompts/secret")
    (False, True)
    """
    pattern = _compile(glob)
    end, reached = len(pattern.parts), _skip({0}, pattern)
    for name in folder.split("/"):
        reached = _step(reached, name, pattern)
        if end in reached and pattern.folder:
            return True
    return any(at < end for at in reached)


def _step(reached: set[int], name: str, pattern: _Pattern) -> set[int]:
    """Where the ways through a pattern are after one more part of a path."""
    ways = [(at, pattern.parts[at]) for at in reached if at < len(pattern.parts)]
    return _skip({at + (part is not None) for at, part in ways if part is None or part.match(name)}, pattern)


def _skip(reached: set[int], pattern: _Pattern) -> set[int]:
    """``**`` may stand for no folder at all."""
    for at in range(len(pattern.parts)):
        if at in reached and pattern.parts[at] is None:
            reached.add(at + 1)
    return reached
