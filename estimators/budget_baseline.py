"""What a check compares with: another tree of files, or counts written down earlier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .budget_counting import FileCount
    from .budget_recording import RecordedBudget


class TreeBase(NamedTuple):
    """The files before a change, by their paths; ``renames`` has the earlier path of a renamed file."""

    name: str
    files: Mapping[str, bytes]
    renames: Mapping[str, str]


class RecordedBase(NamedTuple):
    """Counts written down earlier."""

    name: str
    budgets: tuple[RecordedBudget, ...]


Base = TreeBase | RecordedBase


class Pair(NamedTuple):
    """A file and what it was on the base; one of the two may be absent.

    ``base_path`` without a ``base`` is where a file was that has come into the budget from elsewhere.
    """

    path: str
    head: FileCount | None
    base_path: str | None = None
    base: FileCount | None = None


def pair_files(head: Mapping[str, FileCount], base: Mapping[str, FileCount], renames: Mapping[str, str]) -> list[Pair]:
    """Every file with what it was: under its own path, that it was renamed from, or that had its very content."""
    before = {path: was for path in head if (was := path if path in base else renames.get(path)) in base and was}
    kept = set(before.values())
    left = {path: count for path, count in base.items() if path not in kept}
    by_content = {count.digest: path for path, count in left.items()}
    for path, count in head.items():
        if path not in before and (same := by_content.pop(count.digest, None)) is not None:
            before[path] = same
            del left[same]
    pairs = [
        Pair(path, count, was or renames.get(path), base[was] if was else None)
        for path, count in head.items()
        for was in [before.get(path)]
    ]
    pairs += [Pair(path, None, path, count) for path, count in left.items()]
    return sorted(pairs, key=lambda pair: pair.path)
