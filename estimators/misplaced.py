"""Tables of a pyproject.toml that are meant for tokengap and stand where nobody reads them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .project_file import PROJECT_KEYS, read_bytes
from .toml_origin import Origin, Steps, parse_toml

_NAME = "tokengap"
_TOP = ("project", "build-system", "dependency-groups", "tool")
"""What the specification of pyproject.toml lets stand at its top."""

_NEAR = 0.85
"""How alike a name is to ours that cannot be another's: one letter too many, too few, or other."""

_LIMITS = frozenset(("max_tokens", "max_tokens_per_file", "max_cost", "max_growth"))


class Misplaced(NamedTuple):
    """A table or key, and where it belongs."""

    steps: Steps
    advice: str


def refuse_misplaced(tables: Mapping[str, Any], data: bytes, path: str) -> None:
    """Raise TokengapError, with the line, for the first of such tables."""
    found = list(find_misplaced(tables))
    if found:
        origin = Origin(path, data)
        first = min(found, key=lambda each: origin.line(*each.steps))
        raise origin.error(first.steps, first.advice)


def refuse_passed_over(start: Path, found: Path | None) -> None:
    """The same for each pyproject.toml without [tool.tokengap] on the way up to the configuration that holds."""
    for folder in (start.resolve(), *start.resolve().parents):
        path = folder / "pyproject.toml"
        if found and found.parent == folder:
            return
        if path.is_file():
            data, shown = read_bytes(path), os.path.relpath(path, start)
            refuse_misplaced(parse_toml(data, shown), data, shown)
        if (folder / ".git").exists():
            return


def find_misplaced(tables: Mapping[str, Any]) -> Iterator[Misplaced]:
    """All of them. Tables of other tools are theirs, unless they hold what only tokengap reads."""
    for name, value in tables.items():
        if name == "tool":
            yield from _below_tool(value)
        elif name in _TOP:
            yield from _inside((name,), value)
        elif _is_ours(name):
            yield Misplaced((name,), "misplaced: in pyproject.toml it is [tool.tokengap]")
        elif name == "budget" or _is_setting(name, value) or _holds_budget(value):
            yield Misplaced((name,), f"misplaced: in pyproject.toml it is {_place(name, value)}")
        else:  # such as [tools.tokengap]
            yield from _inside((name,), value)


def _below_tool(tools: object) -> Iterator[Misplaced]:
    for name, value in tools.items() if isinstance(tools, dict) else ():
        if name == _NAME:
            continue
        if _is_ours(name):
            yield Misplaced(("tool", name), f"nobody reads {name!r}; did you mean 'tokengap'?")
        elif _is_setting(name, value):
            yield Misplaced(("tool", name), f"misplaced: it is {_place(name, value)}")
        else:
            yield from _inside(("tool", name), value)


def _inside(steps: Steps, value: object) -> Iterator[Misplaced]:
    """What stands in a table that is not ours, however deep."""
    if isinstance(value, list):
        for place, member in enumerate(value):
            yield from _inside((*steps, place), member)
    for name, member in value.items() if isinstance(value, dict) else ():
        if _is_ours(name) and _holds_settings(member):
            yield Misplaced((*steps, name), "misplaced: it is [tool.tokengap], not in a table of another name")
        elif name == "budget" and _holds_budget(member):
            yield Misplaced((*steps, name), f"misplaced: it is {_place(name, member)}")
        else:
            yield from _inside((*steps, name), member)


def _is_ours(name: str) -> bool:
    """Whether a name is tokengap's, perhaps mistyped or with more of the way in it: ``tool.tokengap``."""
    plain = "".join(filter(str.isalnum, name)).lower()
    return plain in (f"tool{_NAME}", f"{_NAME}budget", f"tool{_NAME}budget") or _alike(plain, _NAME) >= _NEAR


def _alike(name: str, other: str) -> float:
    from difflib import SequenceMatcher  # only a pyproject.toml needs it

    return SequenceMatcher(None, name.lower(), other, autojunk=False).ratio()


def _is_key(name: str) -> bool:
    """Whether a name is a key of ours, perhaps mistyped."""
    return name in _LIMITS or any(_alike(name, key) >= _NEAR for key in PROJECT_KEYS)


def _is_setting(name: str, value: object) -> bool:
    """Whether a key is ours, by its name and what it holds: a table of that name may be anybody's."""
    return _is_key(name) and (not isinstance(value, dict | list) or _holds_settings(value))


def _holds_settings(value: object) -> bool:
    """Whether a table, or one of a list of them, has a key of ours, perhaps mistyped."""
    return any(_is_key(key) for table in _tables(value) for key in table)


def _holds_budget(value: object) -> bool:
    """Whether a table, or one of a list of them, limits what its files may cost."""
    return any(not _LIMITS.isdisjoint(table) for table in _tables(value))


def _tables(value: object) -> list[Mapping[str, Any]]:
    return [table for table in (value if isinstance(value, list) else [value]) if isinstance(table, dict)]


def _place(name: str, value: object) -> str:
    """Where a key or table belongs."""
    if _holds_budget(value) or _alike(name, "budget") >= _NEAR or name in _LIMITS:
        return "under [[tool.tokengap.budget]]" if name in _LIMITS else "[[tool.tokengap.budget]]"
    return "[[tool.tokengap.prices]]" if isinstance(value, list) else "under [tool.tokengap]"
