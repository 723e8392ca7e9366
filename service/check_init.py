"""A first configuration, from the prompts that a repository has."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from json import dumps
from pathlib import Path
from typing import NamedTuple

from ..estimators.budget_check import check_budgets
from ..estimators.budget_config import read_configuration
from ..estimators.path_patterns import select
from ..estimators.project_file import find_project
from ..tokenizers.errors import TokengapError
from .check_files import WorkTree, open_git
from .git import Blobs
from .reports import printable

FILE = "tokengap.toml"
MODEL = "openai/gpt-4o"


class Kind(NamedTuple):
    """Files that are likely prompts: their names, and what they hold."""

    name: str
    patterns: tuple[str, ...]
    type: str = "text"


_REQUESTS = ("**/prompts/**/*.json", "**/prompts/**/*.jsonl", "**/evals/**/*.json", "**/evals/**/*.jsonl")
_KINDS = (
    Kind("prompts", ("**/prompts/**/*.md", "**/prompts/**/*.txt", "**/prompts/**/*.prompt", "**/*.prompt")),
    Kind("agent instructions", ("**/AGENTS.md", "**/CLAUDE.md", "**/SKILL.md", ".github/copilot-instructions.md")),
    Kind("tool schemas", ("**/tools.json", "**/tool_schemas*.json", "**/tools/**/*.json"), "tools"),
    Kind("requests", _REQUESTS, "chat"),
)
"""What is looked for, by where such files are commonly kept."""

_NEED_MORE = (
    (
        ("**/*.j2", "**/*.jinja", "**/*.jinja2"),
        'a template: give it a budget of type = "jinja", with a sample or an allowance for each variable',
    ),
    (
        ("**/prompts/**/*.yaml", "**/prompts/**/*.yml", "**/prompts/**/*.toml"),
        "give it a budget that says which 'field' is the prompt",
    ),
)
"""What --init finds and cannot write a budget for, and why."""

_MOST_TAKEN_AWAY = 80
_MOST_NOTES = 20
_AT = f"{FILE}:5: budget[0].paths: "


def write_first_configuration(folder: Path) -> int:
    """Write a ``tokengap.toml`` whose budgets are what is there now and a tenth more. Never overwrites."""
    existing = find_project(folder)
    path = folder / FILE
    if path.exists() or (existing and existing.parent == folder.resolve()):
        raise TokengapError(f"{existing or path} is there already; 'tokengap check' reads it")
    with Blobs(folder) as blobs:
        files = WorkTree(folder, open_git(folder), blobs)
        left_out: dict[str, str] = {}
        budgets = [_budget(found) for found in _found(files, left_out)]
        left_out |= _unsupported(files)
    if not budgets:
        near = "".join(f"; {path}: {why}" for path, why in sorted(left_out.items())[:1])
        raise TokengapError(
            "no prompts found: neither files in a folder 'prompts', nor AGENTS.md, nor tool schemas; write "
            f"{FILE} by hand, as 'tokengap check --help' shows{near}"
        )
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(_head() + "".join(budgets))
    sys.stdout.write(f"wrote {FILE} with {len(budgets)} budget{'s' if len(budgets) > 1 else ''}; read it, then run "
                     "'tokengap check'\n")  # fmt: skip
    sys.stdout.writelines(_notes(left_out))
    return 0


def misnamed(folder: Path) -> str | None:
    """What looks like a configuration under a name that is not read, with what to do."""
    from difflib import get_close_matches

    if near := get_close_matches(FILE, os.listdir(folder), n=1, cutoff=0.8):
        return f"is {near[0]!r} meant to be {FILE!r}?"
    return None


class _Found(NamedTuple):
    """Files of one kind: their patterns, those that take files away included, and their tokens."""

    kind: Kind
    tokens: int


def _found(files: Mapping[str, bytes], left_out: dict[str, str]) -> Iterator[_Found]:
    """The kinds of files that are there and can be counted; why others cannot goes to ``left_out``, by path."""
    for kind in _KINDS:
        paths = select(files, kind.patterns)
        tokens, faults = _count(kind, paths, files)
        left_out.update(faults)
        kept = [path for path in paths if path not in faults]
        patterns = [pattern for pattern in kind.patterns if select(kept, [pattern])]
        taken_away = [f"!{_literal(path)}" for path in select(faults, patterns)] if patterns else []
        if len(taken_away) > _MOST_TAKEN_AWAY:
            left_out |= dict.fromkeys(kept, f"of {len(paths):,} such files {len(faults):,} cannot be counted")
        elif kept:
            yield _Found(kind._replace(patterns=(*patterns, *taken_away)), tokens)


def _count(kind: Kind, paths: Sequence[str], files: Mapping[str, bytes]) -> tuple[int, dict[str, str]]:
    """The tokens of the files that can be counted, and what is wrong with the others."""
    try:
        return _check(kind, {path: files[path] for path in paths}), {}
    except (TokengapError, OSError):  # one of them, at least
        pass
    tokens, faults = 0, {}
    for path in paths:
        try:
            tokens += _check(kind, {path: files[path]})
        except (TokengapError, OSError) as error:
            faults[path] = str(error).removeprefix(_AT).removeprefix(f"{path}: ")
    return tokens, faults


def _check(kind: Kind, files: Mapping[str, bytes]) -> int:
    """The most tokens of some files. Raises TokengapError where a check would not count one, or not well enough."""
    if not files:
        return 0
    text = f'model = "{MODEL}"\n' + _budget(_Found(kind, 10**9))
    report = check_budgets(read_configuration(text.encode(), FILE), files).report
    if report.violations:
        raise TokengapError(report.violations[0].message)
    return report.budgets[0].upper or report.budgets[0].tokens


def _unsupported(files: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """Files that are likely prompts, and what only their author can say of them."""
    for patterns, advice in _NEED_MORE:
        yield from ((path, advice) for path in select(files, patterns))


def _notes(left_out: Mapping[str, str]) -> Iterator[str]:
    for path in sorted(left_out)[:_MOST_NOTES]:
        yield f"note: left out: {printable(f'{path}: {left_out[path]}')}\n"
    if len(left_out) > _MOST_NOTES:
        yield f"note: left out: {len(left_out) - _MOST_NOTES:,} more\n"


def _literal(path: str) -> str:
    """A pattern that is one path; what no pattern may hold is any character there.

    >>> _literal("prompts/[old] what?.md")
    'prompts/[[]old] what?.md'
    """
    return re.sub(r"([*?\[])", r"[\1]", re.sub(r"[\\{}\x00-\x1f\x7f]", "?", path)).replace("[?]", "?")


def _head() -> str:
    from datetime import UTC, datetime

    return f'# What prompts may cost: tokengap check\nmodel = "{MODEL}"\nprices_at = {datetime.now(UTC):%Y-%m-%d}\n'


def _budget(found: _Found) -> str:
    kind = found.kind
    patterns = ", ".join(dumps(pattern, ensure_ascii=False) for pattern in kind.patterns)
    type = f'type = "{kind.type}"\n' if kind.type != "text" else ""
    return (
        f'\n[[budget]]\nname = "{kind.name}"\npaths = [{patterns}]\n{type}'
        f"max_tokens = {_with_room(found.tokens)}\n"
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
