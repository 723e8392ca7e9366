"""A field of a JSON, YAML or TOML file, as ``agents[*].system``, in the notation of ``fields.join``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..tokenizers.errors import TokengapError
from .fields import describe, join
from .toml_origin import Steps

EVERY = "*"
"""The step to every member of a table or list."""

_STEP = re.compile(
    r"""(?:^|\.)(?P<name>[^.\[\]"*\s]+|\*)|\[(?P<index>[0-9]{1,6}|\*)\]|\[(?P<quoted>"(?:[^"\\]|\\.)+")\]"""
)
_FORM = """a path is written such as system, agents[*].prompt or prompts.*.text, an odd name as ["a.b"]"""


class Every:
    """The step ``*``, which no key can be mistaken for."""


class FieldError(TokengapError):
    """A field that is not in a file, or is not what it should be."""


def parse_path(text: str) -> tuple[str | int | Every, ...]:
    """Read a path.

    >>> parse_path('agents[0]["a.b"]')
    ('agents', 0, 'a.b')
    """
    steps: list[str | int | Every] = []
    end = 0
    while end < len(text):
        match = _STEP.match(text, end)
        if match is None or text.startswith("."):
            raise TokengapError(f"{text[:80]!r} is no path to a field: {_FORM}")
        end = match.end()
        name = match["name"] or match["index"]
        if match["quoted"]:
            steps.append(_unquoted(match["quoted"]))
        elif name == EVERY:
            steps.append(Every())
        else:
            steps.append(int(name) if match["index"] else name)
    if not steps:
        raise TokengapError(f"an empty path: {_FORM}")
    return tuple(steps)


def _unquoted(text: str) -> str:
    import json

    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        raise TokengapError(f"{text[:80]} is no name in quotes: {_FORM}") from None


def select_fields(value: object, path: str) -> list[tuple[Steps, object]]:
    """Every value at a path, with the steps to it. Raises TokengapError where one is not there.

    >>> select_fields({"agents": [{"system": "Be brief."}]}, "agents[*].system")
    [(('agents', 0, 'system'), 'Be brief.')]
    """
    found: list[tuple[Steps, object]] = [((), value)]
    for step in parse_path(path):
        found = [inner for steps, outer in found for inner in _step(steps, outer, step)]
    if not found:
        raise FieldError(f"nothing at {path!r}")
    return found


def _step(steps: Steps, value: object, step: str | int | Every) -> Iterator[tuple[Steps, object]]:
    if isinstance(step, Every):
        if isinstance(value, Mapping):
            yield from (((*steps, key), member) for key, member in value.items())
        elif isinstance(value, list):
            yield from (((*steps, index), member) for index, member in enumerate(value))
        else:
            raise FieldError(f"{_shown(steps)} is {describe(value)}, not a table or list")
    elif isinstance(step, int):
        if not isinstance(value, list) or step >= len(value):
            raise FieldError(f"there is no {_shown((*steps, step))}")
        yield (*steps, step), value[step]
    else:
        if not isinstance(value, Mapping) or step not in value:
            known = [key for key in value if isinstance(key, str)] if isinstance(value, Mapping) else []
            raise FieldError(f"there is no {_shown((*steps, step))}{_near(step, known)}")
        yield (*steps, step), value[step]


def _near(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def _shown(steps: Steps) -> str:
    path = ""
    for step in steps:
        path = join(path, step if isinstance(step, int) else str(step))
    return path or "the file"
