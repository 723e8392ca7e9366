"""``GET /v1/models`` as the SDKs of OpenAI, Anthropic and Google expect it: the models their counting calls know.

Names alone: limits and encodings are in our own list. What their shapes need and nobody knows here, such as the day a
model was made, is their own word for that: the epoch, as Anthropic's reference has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from ..tokenizers.models import models
from .facade_errors import ANTHROPIC, GOOGLE, check_google_query
from .operations import Face
from .problems import invalid, pointer_to

MOST = 1000
"""Models of a page, at Anthropic as at Google; where no size is given, as many are listed."""


def list_for(face: Face, query: bytes) -> dict[str, Any]:
    """The list in the shape of a vendor. Raises Problem for a page that there is not."""
    known = sorted(models())
    given = dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True))
    if face is GOOGLE:
        check_google_query(query, frozenset({"pageSize", "pageToken"}))
        return _google(known, given)
    if face is ANTHROPIC:
        return _anthropic(known, given)
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "unknown"} for name in known]
    return {"object": "list", "data": data}


def _anthropic(known: Sequence[str], given: Mapping[str, str]) -> dict[str, Any]:
    size = _size(given, "limit")
    if "before_id" in given:
        if "after_id" in given:
            raise invalid("/before_id", "give one of 'after_id' and 'before_id'")
        end = _index(known, given, "before_id")
        start = max(end - size, 0)
        more = start > 0
    else:
        start = _index(known, given, "after_id") + 1 if "after_id" in given else 0
        end = min(start + size, len(known))
        more = end < len(known)
    page = known[start:end]
    data = [{"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"} for name in page]
    return {
        "data": data,
        "has_more": more,
        "first_id": page[0] if page else None,
        "last_id": page[-1] if page else None,
    }


def _google(known: Sequence[str], given: Mapping[str, str]) -> dict[str, Any]:
    """A page; the token of the next one is the last name of this one."""
    start = _index(known, given, "pageToken") + 1 if given.get("pageToken") else 0
    page = known[start : start + _size(given, "pageSize")]
    listed: dict[str, Any] = {
        "models": [
            {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": ["countTokens"]}
            for name in page
        ]
    }
    return listed | ({"nextPageToken": page[-1]} if start + len(page) < len(known) else {})


def _size(given: Mapping[str, str], name: str) -> int:
    value = given.get(name, str(MOST))
    if not (value.isascii() and value.isdecimal() and len(value) <= 4 and 1 <= int(value) <= MOST):
        raise invalid(pointer_to([name]), f"{name}: a whole number from 1 to {MOST:,} is needed")
    return int(value)


def _index(known: Sequence[str], given: Mapping[str, str], name: str) -> int:
    if given[name] not in known:
        raise invalid(pointer_to([name]), f"{name}: there is no model {given[name][:80]!r}")
    return known.index(given[name])
