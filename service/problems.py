"""Errors over HTTP: RFC 9457 problem documents with a stable type and JSON pointers to the fault."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from ..tokenizers.errors import TokengapError, UnknownNameError

MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:tokengap:problem:"

TITLES: Mapping[str, tuple[int, str]] = {
    "malformed-json": (400, "The body is not JSON"),
    "malformed-request": (400, "This is not an HTTP request"),
    "missing-key": (401, "An API key is needed"),
    "counter-not-allowed": (403, "This counter is not offered here"),
    "cors-refused": (403, "Browsers may not ask this from there"),
    "unknown-name": (404, "No counter, model or provider has this name"),
    "not-found": (404, "There is nothing at this path"),
    "method-not-allowed": (405, "This path takes another method"),
    "head-too-slow": (408, "The head of the request took too long to arrive"),
    "body-too-slow": (408, "The body took too long to arrive"),
    "body-too-large": (413, "The body is too long"),
    "too-much-text": (413, "There is more to count than one request may hold"),
    "unsupported-media-type": (415, "The body must be application/json"),
    "invalid-request": (422, "The request cannot be understood"),
    "head-too-large": (431, "The head of the request is too long"),
    "rate-limited": (429, "Too many requests"),
    "internal": (500, "The service failed"),
    "overloaded": (503, "The service has too much to do"),
    "too-slow": (503, "The work took too long"),
    "not-ready": (503, "The service is still loading"),
}
"""Every type of problem, with its status and title."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, and where: a JSON pointer into the body."""

    pointer: str
    detail: str


@dataclass(eq=False)  # not frozen: Python itself writes to exceptions
class Problem(Exception):  # noqa: N818 - the term of RFC 9457
    """An answer that is an error; ``kind`` is a key of TITLES. ``more`` are members that the kind adds."""

    kind: str
    detail: str
    faults: tuple[Fault, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def status(self) -> int:
        return TITLES[self.kind][0]

    def to_dict(self) -> dict[str, Any]:
        body = {
            "type": TYPE_PREFIX + self.kind,
            "title": TITLES[self.kind][1],
            "status": self.status,
            "detail": self.detail,
        }
        if self.faults:
            body["errors"] = [{"pointer": fault.pointer, "detail": fault.detail} for fault in self.faults]
        return body | dict(self.more)


def retry_after(kind: str, detail: str, seconds: float) -> Problem:
    """A problem that passes: the caller is told when to try again."""
    return Problem(kind, detail, headers=(("Retry-After", str(max(1, ceil(seconds)))),))


def internal() -> Problem:
    """A fault of the service itself, of which the caller is told no more."""
    return Problem("internal", "the service failed; its log has the reason under this request's id")


def invalid(pointer: str, detail: str) -> Problem:
    """A well-formed body that cannot be answered, with the one place that is wrong."""
    return Problem("invalid-request", detail, (Fault(pointer, detail),))


def problem_of(error: TokengapError, pointer: str, unknown: str | None = None) -> Problem:
    """The problem an error is; ``pointer`` says which member of the body it is about, ``unknown`` which names.

    Errors in a chat request begin with the place inside it, which continues the pointer.
    """
    detail = in_http(str(error))
    while pointer == "/request" and detail.startswith("request: "):
        detail = detail.removeprefix("request: ")  # the place again, as the command line names a file
    if isinstance(error, UnknownNameError):
        where = pointer if unknown is None else unknown
        faults = (Fault("/provider" if detail.startswith("unknown provider") else where, detail),)
        return Problem("unknown-name", detail, faults, more={"suggestions": list(error.suggestions)})
    return invalid(pointer + path_pointer(detail), detail)


def in_http(message: str) -> str:
    """An estimator's message, which may name options and commands, in the terms of this door.

    >>> in_http("'tokengap prices' lists them; or say --as-of")
    "GET /v1/prices lists them; or say 'as_of'"
    """
    message = _COMMAND.sub(r"GET /v1/\1", message)
    return _OPTION.sub(lambda match: f"'{match[1].replace('-', '_')}'", message)


_COMMAND = re.compile(r"'tokengap (counters|models|prices)'")
_OPTION = re.compile(r"(?<!\S)--([a-z]+(?:-[a-z]+)*)")


def pointer_to(parts: Iterable[object]) -> str:
    """The JSON pointer (RFC 6901) of a path.

    >>> pointer_to(["input", 0, "a/b"])
    '/input/0/a~1b'
    """
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def steps_of(pointer: str) -> list[str]:
    """The members that a JSON pointer leads through: the other way of ``pointer_to``."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def faults_of(errors: Sequence[Mapping[str, Any]], body: object) -> tuple[Fault, ...]:
    """What pydantic found, as pointers into ``body``; each place once.

    Of a member that may be several things pydantic tells what is wrong with it as each. Where a fault lies deeper,
    as in one item of a list, the member is what it should be but for that.
    """
    found: dict[str, list[str]] = {}
    for error in errors:
        message = "no such member here" if error["type"] == "extra_forbidden" else str(error["msg"])
        found.setdefault(pointer_to(_parts(error, body)), []).append(
            _PYTHON.sub(lambda word: _AS_JSON[word[0]], message)
        )
    return tuple(
        Fault(pointer, _either(messages))
        for pointer, messages in found.items()
        if not any(other.startswith(f"{pointer}/") for other in found)
    )


_AS_JSON = {"dictionary": "object", "list": "array"}
_PYTHON = re.compile("|".join(_AS_JSON))
_SHOULD_BE = "Input should be "


def _either(messages: Sequence[str]) -> str:
    """What is wrong with one place, as everything that it may be."""
    if not all(message.startswith(_SHOULD_BE) for message in messages):
        return messages[0]
    return _SHOULD_BE + " or ".join(dict.fromkeys(message.removeprefix(_SHOULD_BE) for message in messages))


def _parts(error: Mapping[str, Any], body: object) -> Iterator[object]:
    """The members on the way to an error; pydantic's locations also name types, which are left out."""
    here = body
    for number, part in enumerate(error["loc"], start=1):
        if (isinstance(here, Mapping) and part in here) or (isinstance(here, list) and isinstance(part, int)):
            here = here[part]
            yield part
        elif error["type"] == "missing" and number == len(error["loc"]):
            yield part


_NAME = r"[A-Za-z_$][\w$-]*"
_INDEX = r'\[\d+\]|\["(?:[^"\\]|\\.)*"\]'
_STEP = f"{_NAME}|{_INDEX}"
# A name follows a dot, so that there is one way to read a place: else a long name takes time exponential in it.
_PLACE = re.compile(rf"(?:request: )?((?:{_STEP})(?:\.{_NAME}|{_INDEX})*): ", re.ASCII)


def path_pointer(message: str) -> str:
    """``/messages/2/content`` of an error that begins ``messages[2].content: ``."""
    place, _ = split_place(message)
    return "" if place == "request" else pointer_of(place)


def split_place(message: str) -> tuple[str, str]:
    """The place that an error begins with, as the estimators write it, and the rest; "" where it names none."""
    match = _PLACE.match(message)
    return ("", message) if match is None else (match[1], message[match.end() :])


def pointer_of(path: str) -> str:
    """The JSON pointer of a path as the estimators write it.

    >>> pointer_of('messages[2]["a b"].content')
    '/messages/2/a b/content'
    """
    steps = (step.strip("[]") if step[:2] != '["' else json.loads(step[1:-1]) for step in re.findall(_STEP, path))
    return pointer_to(steps)
