"""A first configuration, from the prompts that a repository has."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ..estimators.budget_check import check_budgets
from ..estimators.budget_config import read_configuration
from ..estimators.path_patterns import select
from ..estimators.project_file import find_project
from ..tokenizers.errors import TokengapError
from .check_files import WorkTree, open_git
from .git import Blobs

FILE = "tokengap.toml"
MODEL = "openai/gpt-4o"


class Kind(NamedTuple):
    """Files that are likely prompts: their names, and what they hold."""

    name: str
    patterns: tuple[str, ...]
    type: str = "text"


_KINDS = (
    Kind("prompts", ("**/prompts/**/*.md", "**/prompts/**/*.txt", "**/prompts/**/*.prompt", "**/*.prompt")),
    Kind("agent instructions", ("**/AGENTS.md", "**/CLAUDE.md", "**/SKILL.md", ".github/copilot-instructions.md")),
    Kind("tool schemas", ("**/tools.json", "**/tool_schemas*.json", "**/tools/**/*.json"), "tools"),
    Kind("requests", ("**/prompts/**/*.json", "**/prompts/**/*.jsonl"), "chat"),
)
"""What is looked for, by where such files are commonly kept."""


def write_first_configuration(folder: Path) -> int:
    """Write a ``tokengap.toml`` whose budgets are what is there now and a tenth more. Never overwrites."""
    existing = find_project(folder)
    path = folder / FILE
    if path.exists() or (existing and existing.parent == folder.resolve()):
        raise TokengapError(f"{existing or path} is there already; 'tokengap check' reads it")
    with Blobs(folder) as blobs:
        files = WorkTree(folder, open_git(folder), blobs)
        budgets = [_budget(kind, tokens) for kind, tokens in _found(files)]
    if not budgets:
        raise TokengapError(
            "no prompts found: neither files in a folder 'prompts', nor AGENTS.md, nor tool schemas; write "
            f"{FILE} by hand, as 'tokengap check --help' shows"
        )
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(_head() + "".join(budgets))
    sys.stdout.write(f"wrote {FILE} with {len(budgets)} budget{'s' if len(budgets) > 1 else ''}; read it, then run "
                     "'tokengap check'\n")  # fmt: skip
    return 0


def misnamed(folder: Path) -> str | None:
    """What looks like a configuration under a name that is not read, with what to do."""
    from difflib import get_close_matches

    if near := get_close_matches(FILE, os.listdir(folder), n=1, cutoff=0.8):
        return f"is {near[0]!r} meant to be {FILE!r}?"
    return None


def _found(files: Mapping[str, bytes]) -> Iterator[tuple[Kind, int]]:
    """The kinds of files that are there and can be counted, each with the patterns that match, and its tokens."""
    for kind in _KINDS:
        patterns = tuple(pattern for pattern in kind.patterns if select(files, [pattern]))
        if not patterns:
            continue
        kept = kind._replace(patterns=patterns)
        text = f'model = "{MODEL}"\n' + _budget(kept, 10**9)
        try:
            checked = check_budgets(read_configuration(text.encode(), FILE), files)
        except TokengapError:  # such a name, and something else in it
            continue
        yield kept, checked.report.budgets[0].upper or checked.report.budgets[0].tokens


def _head() -> str:
    from datetime import UTC, datetime

    return f'# What prompts may cost: tokengap check\nmodel = "{MODEL}"\nprices_at = {datetime.now(UTC):%Y-%m-%d}\n'


def _budget(kind: Kind, tokens: int) -> str:
    patterns = ", ".join(f'"{pattern}"' for pattern in kind.patterns)
    type = f'type = "{kind.type}"\n' if kind.type != "text" else ""
    return (
        f'\n[[budget]]\nname = "{kind.name}"\npaths = [{patterns}]\n{type}'
        f"max_tokens = {_with_room(tokens)}\n"
        'max_growth = "5%"\n'
    )


def _with_room(tokens: int) -> int:
    """A tenth more, rounded up to a number that is easy to read.

    >>> _with_room(7301)
    8100
    """
    more = tokens * 11 // 10 + 1
    unit: int = 10 ** max(len(str(more)) - 2, 1)
    return -(-more // unit) * unit
