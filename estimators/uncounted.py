"""What of a request is not counted, but stands in it: how many tokens that can be at most."""

from __future__ import annotations

from collections.abc import Mapping
from json import dumps
from typing import TYPE_CHECKING

from .field_path import select_fields
from .fields import names, spellings
from .toml_origin import Steps

if TYPE_CHECKING:
    from ..tokenizers.counter import Counter

_DECLARED = names("function parameters input_schema")
_DECLARATIONS = spellings("functionDeclarations")
_SCHEMAS = names("schema json_schema") | spellings("responseSchema responseJsonSchema")
_THOUGHTS = names("thinking redacted_thinking reasoning")
_THOUGHT = spellings("thought thoughtSignature")


def most_tokens(request: object, path: str, counter: Counter) -> int | None:
    """The most tokens that the member at one of the paths of ``not_counted`` can have: those of itself, as JSON.

    That holds for what the prompt would have from the request: members of a user's own tools and schemas, thoughts of
    earlier turns, which of the functions may be called. What is null, false or empty has none. ``None`` where the
    prompt would have more than the request shows: a provider's own tool, a file, a cache.
    """
    ((steps, value),) = select_fields(request, path)
    if _is_empty(value) and not (steps[0] == "tools" and isinstance(value, Mapping)):  # {"googleSearch": {}} is a tool
        return 0
    shown = steps == ("tool_choice",) or not _SCHEMAS.isdisjoint(steps[:-1])
    if not (shown or _is_declared(request, steps) or _is_thought(request, steps, value)):
        return None
    return counter.count(dumps({str(steps[-1]): value}, ensure_ascii=False)).tokens


def _is_empty(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_empty, value.values()))
    return value is None or value is False or value == []


def _is_declared(request: object, steps: Steps) -> bool:
    """Whether it is inside of a tool that the request itself declares."""
    if steps[0] != "tools" or len(steps) < 3:
        return False
    if steps[2] in _DECLARATIONS:
        return len(steps) > 4
    tool = _at(request, steps[:2])
    return isinstance(tool, Mapping) and not _DECLARED.isdisjoint(tool)


def _is_thought(request: object, steps: Steps, value: object) -> bool:
    holders = (value, _at(request, steps[:-1]))
    return any(
        isinstance(holder, Mapping) and (holder.get("type") in _THOUGHTS or not _THOUGHT.isdisjoint(holder))
        for holder in holders
    )


def _at(value: object, steps: Steps) -> object:
    for step in steps:
        value = value[step]  # type: ignore[index]  # the steps were found in it
    return value
