"""What the OpenAPI document says beyond the routes: keys, headers, and errors of every operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import models_json_schema

from .answers import ProblemAnswer
from .door import OPEN
from .facade_errors import face_of
from .operations import OWN
from .problems import MEDIA_TYPE, TITLES

_KEYS = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
    "google": {"type": "apiKey", "in": "header", "name": "X-Goog-Api-Key"},
}
_HEADERS = {
    "X-Request-Id": "the id of this request, in the log too; that of the client where it sent one",
    "request-id": "the same, where Anthropic's SDK looks for it",
    "Retry-After": "seconds after which to try again",
    "X-Tokengap-Kind": "how good the count is: exact, reconstructed, calibrated or heuristic",
    "X-Tokengap-Method": "what counted, and the rule of what stands around the texts",
    "X-Tokengap-Fingerprint": "the sha256 of the vocabulary, split pattern and special tokens",
    "X-Tokengap-Interval": "the least and the most it may be, as 13-15, where something bounds it",
    "X-Tokengap-Warnings": "codes of what there is to say of the count, where there is anything",
}


def problems(*statuses: int, face: str = MEDIA_TYPE) -> dict[int | str, dict[str, Any]]:
    """The errors that the document shows for an operation, each with all that its status may mean."""
    reference = {"$ref": "#/components/schemas/ProblemAnswer"} if face == MEDIA_TYPE else {"type": "object"}
    return {status: {"description": _meaning(status), "content": {face: {"schema": reference}}} for status in statuses}


def complete(document: dict[str, Any]) -> dict[str, Any]:
    """Add what FastAPI cannot know to the document that it made."""
    components = document["components"]
    _, shown = models_json_schema([(ProblemAnswer, "serialization")], ref_template="#/components/schemas/{model}")
    components["schemas"].update(shown["$defs"])
    components["securitySchemes"] = _KEYS
    components["headers"] = {
        name: {"description": text, "schema": {"type": "string"}} for name, text in _HEADERS.items()
    }
    # Keys are asked for where the operator has set some: an empty requirement says that none may do.
    document["security"] = [{}, *({name: []} for name in _KEYS)]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if path in OPEN:
                operation["security"] = []
            _add_headers(operation["responses"], path, counts=method == "post")
    return document


def _add_headers(responses: Mapping[str, dict[str, Any]], path: str, *, counts: bool) -> None:
    for status, response in responses.items():
        names = ["X-Request-Id"]
        if status in ("429", "503"):
            names.append("Retry-After")
        if status == "200" and counts and face_of(path) is not OWN:
            names += [name for name in _HEADERS if name.startswith("X-Tokengap-")]
        if path.startswith("/v1/messages/"):
            names.append("request-id")
        response["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _meaning(status: int) -> str:
    """The titles of all kinds of problem with a status."""
    return "; or ".join(title for known, title in TITLES.values() if known == status)
