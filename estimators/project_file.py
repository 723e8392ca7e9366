"""A project's configuration: where it is, what may stand at its top, and how a file of settings is read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..tokenizers.errors import TokengapError
from .toml_origin import Steps, parse_toml

PROJECT_FILES = ("tokengap.toml", "pyproject.toml")
"""Where a project's configuration is looked for; in pyproject.toml it is under ``tool.tokengap``."""

PREFIX: Steps = ("tool", "tokengap")
"""Where the configuration is in a pyproject.toml; in a tokengap.toml it is at the top."""

PROJECT_KEYS = ("model", "prices_at", "budget", "prices", "organisation_prices")
"""What may stand at the top of a configuration; ``tokengap check`` reads the first three."""

MAX_BYTES = 64 * 2**20
"""Largest file read; the published one has under 1 MB."""


def find_project(start: Path) -> Path | None:
    """The configuration that holds in a folder: its own tokengap.toml or pyproject.toml, or a parent's.

    A pyproject.toml without ``tool.tokengap`` is passed over; the search ends at a repository's root.
    """
    for folder in (start.resolve(), *start.resolve().parents):
        for name in PROJECT_FILES:
            path = folder / name
            if path.is_file() and (name != "pyproject.toml" or has_settings(path)):
                return path
        if (folder / ".git").exists():
            return None
    return None


def has_settings(pyproject: Path) -> bool:
    """Whether a pyproject.toml has anything under ``tool.tokengap``."""
    return "tokengap" in _tools(pyproject)


def _tools(path: Path) -> dict[str, Any]:
    tools = parse_toml(read_bytes(path), os.path.relpath(path)).get("tool", {})
    return tools if isinstance(tools, dict) else {}


def read_bytes(path: Path) -> bytes:
    """A file's bytes, or one clear error."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise TokengapError(f"cannot read {path}: {error.strerror or error}") from None
    if len(data) > MAX_BYTES:
        raise TokengapError(f"cannot read {path}: it has more than {MAX_BYTES} bytes")
    return data


_MEANT = {
    **dict.fromkeys(
        ("cached", "cached_in", "cached_input", "input_cached", "cache_hit", "cached_tokens"), "cache_read"
    ),
    "cache_creation": "cache_write",
    "prompt": "in",
    "completion": "out",
}
"""What others call a unit, where its spelling would point to another."""


def nearest(key: str, known: Iterable[str], cutoff: float = 0.5) -> str:
    """The advice for an unknown key: the one that is as like it as ``cutoff``, from 0 to 1, or all there are."""
    from difflib import get_close_matches

    known = sorted(known)
    if (meant := _MEANT.get(key.lower().replace("-", "_"))) in known:
        return f"unknown key {key[:60]!r}; did you mean {meant!r}?"
    near = get_close_matches(key, known, n=1, cutoff=cutoff)
    return f"unknown key {key[:60]!r}; " + (f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}")
