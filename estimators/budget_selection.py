"""Which files each budget is about, here and on the base."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from .budget_baseline import Base, TreeBase
from .budget_config import Budget, Loaded
from .path_patterns import select


class Selection(NamedTuple):
    """The files of one budget, the ``place``-th of the configuration, and what they were before."""

    place: int
    head: Sequence[str]
    base: Sequence[str]


def select_files(
    loaded: Loaded, files: Collection[str], base: Base | None, only: Collection[str] | None
) -> tuple[list[Selection], list[str]]:
    """The files of each budget, and what to say of patterns that name none.

    With ``only``, budgets that have none of these files or folders are left out. Raises TokengapError for a budget
    that has no files at all: it would pass whatever happens.
    """
    selections: list[Selection] = []
    notices: list[str] = []
    for place, budget in enumerate(loaded.configuration.budget):
        head = select(files, budget.paths)
        before = _base_paths(budget, base)
        both = {*head, *before}
        if not both:
            raise loaded.origin.error(("budget", place, "paths"), f"no file matches {', '.join(budget.paths)}")
        notices += _empty(loaded, place, both)
        if only is None or _touch(both, frozenset(only)):
            selections.append(Selection(place, head, before))
    return selections, notices


def _touch(paths: Collection[str], only: frozenset[str]) -> bool:
    """Whether one of the paths is asked for, or in a folder that is; ``.`` is the folder of all."""
    return any(path in only or not only.isdisjoint(map(str, PurePosixPath(path).parents)) for path in paths)


def _empty(loaded: Loaded, place: int, paths: Collection[str]) -> Iterator[str]:
    """Patterns that name nothing, beside others that do."""
    patterns = loaded.configuration.budget[place].paths
    for number, pattern in enumerate(patterns):
        if len(patterns) > 1 and not pattern.startswith("!") and not select(paths, [pattern]):
            line = loaded.origin.line("budget", place, "paths", number)
            yield f"{loaded.origin.path}:{line}: no file matches {pattern!r}"


def _base_paths(budget: Budget, base: Base | None) -> list[str]:
    """The files a budget had on the base. One that was renamed into its paths since is new to it."""
    if isinstance(base, TreeBase):
        return select(base.files, budget.paths)
    recorded = next((each for each in base.budgets if each.name == budget.name), None) if base else None
    return [file.path for file in recorded.files] if recorded else []
