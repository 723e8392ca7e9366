"""Which engines count the public encodings in this installation, for ``tokengap counters --verbose``."""

from __future__ import annotations

from importlib.metadata import version
from typing import NamedTuple

from . import fast_engine
from .encodings import ENCODINGS


class Engine(NamedTuple):
    """An engine for one encoding. ``version`` is ``None`` where its package is not installed.

    Every engine that is used gives the same counts; ``note`` says when it is used, or why it is not.
    """

    encoding: str
    engine: str
    version: str | None
    used: bool
    note: str


def engines() -> tuple[Engine, ...]:
    """The engines of every encoding, each built and checked, which takes seconds."""
    found = []
    for name, encoding in ENCODINGS.items():
        found.append(Engine(name, "tiktoken", version("tiktoken"), True, "the reference"))
        state = fast_engine.prepare(encoding)
        note = f"after {fast_engine.WORTH // 1_000_000} million characters in one process"
        found.append(
            Engine(name, fast_engine.PACKAGE, fast_engine.installed_version(), state.used, state.reason or note)
        )
    return tuple(found)
