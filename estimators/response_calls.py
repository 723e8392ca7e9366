"""What a whole response says was used beside its tokens: calls that its usage object does not count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .fields import members

_BILLED_APART = (
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "computer_call",
    "shell_call",
)


class Calls(NamedTuple):
    """Web searches that are billed by the call, and warnings of what has no count."""

    web_searches: int
    warnings: tuple[str, ...]


def billed_calls(response: Mapping[str, Any]) -> Calls:
    """The calls of a response beside its usage object.

    OpenAI bills a call that searches, not one that opens a page or looks in it (pricing page, 2026-11).
    Google's fee is by the answer or by the query, as the model is, so that its searches are only warned of.
    """
    output = response.get("output")
    items = [item for item in output if isinstance(item, Mapping)] if isinstance(output, list) else []
    kinds = dict.fromkeys(item["type"] for item in items if item.get("type") in _BILLED_APART)
    warnings = [f"not_priced: output has {kind}, whose fee beside its tokens is not in this" for kind in kinds]
    if _holds(response.get("candidates"), "webSearchQueries", "web_search_queries"):
        warnings.append("not_priced: the answer is grounded in web searches, whose fee is not in this")
    if _holds(response.get("choices"), "url_citation"):
        warnings.append("not_priced: the answer cites web pages; the fee of the search is not in this")
    return Calls(sum(map(_searched, items)), tuple(warnings))


def _searched(item: Mapping[str, Any]) -> bool:
    action = item.get("action")
    kind = action.get("type", "search") if isinstance(action, Mapping) else "search"
    return item.get("type") == "web_search_call" and kind == "search"


def _holds(value: object, *names: str) -> bool:
    """Whether an object has one of these keys, or is of one of these types, anywhere inside."""
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, Mapping) and (any(item.get(name) for name in names) or item.get("type") in names):
            return True
        todo.extend(member for member, _ in members(item, ""))
    return False
