"""Which files the patterns of a budget name: globs from the configuration's folder, ``!`` taking away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import PathSpec
    from pathspec.pattern import Pattern

_FORM = "such as prompts/**/*.md"
_FAULTS = (
    (r"\s*", f"an empty pattern; write one {_FORM}"),
    (r"\s.*|.*\s", "a space at its beginning or end"),
    (r"[/~].*|[A-Za-z]:.*", f"not below the configuration's folder; write it from there, {_FORM}"),
    (r".*\\.*", f"folders are divided by /, not by a backslash, {_FORM}"),
    (r"(?:.*/)?(?:\.\.?)?/.*|(?:.*/)?\.\.?", f"an empty, '.' or '..' part matches nothing; write it plainly, {_FORM}"),
    (r".*[^/]\*\*.*|.*\*\*[^/].*", f"** stands for whole folders, alone between two /, {_FORM}"),
    (r".*\{[^}]*,[^}]*\}.*", "braces have no meaning here; write a pattern for each"),
    (r".*\[[^\]]*", "the [ is not closed"),
)
"""Patterns that can match nothing, or not what they seem to, and what is wrong with them; the first that fits."""


def check_pattern(pattern: str, *, first: bool) -> str | None:
    """What is wrong with a pattern, or ``None``."""
    glob = pattern.removeprefix("!")
    for form, fault in _FAULTS:
        if re.fullmatch(form, glob, re.DOTALL):
            return f"{pattern!r:.80}: {fault}"
    if first and glob != pattern:
        return f"{pattern!r:.80} takes away from what stands before it, which is nothing; begin with one {_FORM}"
    try:
        _spec([glob])
    except (ValueError, re.error) as error:
        return f"{pattern!r:.80} is no pattern: {error}"
    return None


def select(paths: Iterable[str], patterns: Sequence[str]) -> list[str]:
    """The paths that the patterns name, in order; the last pattern that matches a path decides.

    ``*`` stays within a folder, ``**`` goes through any number of them, and a pattern that names a
    folder stands for all in it.

    >>> select(["prompts/a.md", "prompts/draft/b.md"], ["prompts/**/*.md", "!prompts/draft/**"])
    ['prompts/a.md']
    """
    return sorted(_spec(patterns).match_files(paths))


def _spec(patterns: Sequence[str]) -> PathSpec[Pattern]:
    from pathspec import PathSpec

    # A gitignore pattern with a / at its start holds from the top only.
    anchored = (f"!/{pattern[1:]}" if pattern.startswith("!") else f"/{pattern}" for pattern in patterns)
    return PathSpec.from_lines("gitignore", anchored)
