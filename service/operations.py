"""From a body to an answer: the path every POST takes, lean where there is little to count."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl

from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from ..estimators.fields import describe
from .bodies import Body
from .problems import MEDIA_TYPE, Fault, Problem, faults_of, pointer_to
from .protection import Abandoned, Bodies, Receive, Scope, Send, Workers, check_structure, parse, until_gone

if TYPE_CHECKING:
    from ..estimators.request_count import RequestCount
    from ..tokenizers.counter import Count

MOST_FAULTS = 20
"""Faults that an answer names."""

_CHARSET = re.compile(rb';\s*charset\s*=\s*"?([^\s";]*)')
JSON = (b"content-type", b"application/json")


class Done(NamedTuple):
    """What an operation answers, as JSON or its bytes, and what of it the metrics count."""

    body: Mapping[str, Any] | bytes
    headers: tuple[tuple[str, str], ...] = ()
    counted: tuple[Count | RequestCount, ...] = ()
    unpriced: str | None = None


def check_query(query: bytes, known: frozenset[str] = frozenset()) -> None:
    """Refuse parameters that would be ignored: those an operation does not have, and those given twice."""
    names = [name for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True)]
    for name in names:
        if name not in known or names.count(name) > 1:
            detail = "no such parameter here" if name not in known else "it is given more than once"
            raise Problem("invalid-request", f"{name[:80]}: {detail}", (Fault(pointer_to([name[:80]]), detail),))


Render = Callable[[Problem, str], Mapping[str, Any]]
"""From a problem and the request's id to the error body of a vendor."""


def render_problem(problem: Problem, request_id: str) -> dict[str, Any]:
    """The problem as RFC 9457 has it; the instance is the request's id, as a URN."""
    return problem.to_dict() | {"instance": f"urn:tokengap:request:{request_id}"}


@dataclass(frozen=True, slots=True)
class Face:
    """How errors look to the clients of a path: the body, and the status where a vendor has fewer of them."""

    render: Render = render_problem
    media_type: str = MEDIA_TYPE
    statuses: Mapping[int, int] = field(default_factory=dict)
    id_header: bytes | None = None
    """Where a vendor's SDK looks for the id of the request, if not in ``X-Request-Id``."""
    check_query: Callable[[bytes], None] | None = None
    """Refuses parameters that the vendor would; without it they are passed over, as other vendors do."""
    key_parameters: frozenset[str] = frozenset()
    """Parameters in which a vendor's clients may send the key."""

    def keys_in(self, query: bytes) -> list[bytes]:
        """The keys in a query."""
        if not self.key_parameters:
            return []
        given = parse_qsl(query.decode("latin-1"), encoding="latin-1")
        return [value.encode("latin-1") for name, value in given if name in self.key_parameters]

    def answer(self, problem: Problem, request_id: str) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        """Status, headers and body of a problem."""
        content = encode(self.render(problem, request_id))
        head = [(b"content-type", self.media_type.encode()), (b"content-length", b"%d" % len(content))]
        head += [(name.lower().encode(), value.encode()) for name, value in problem.headers]
        if self.id_header is not None:
            head.append((self.id_header, request_id.encode()))
        return self.statuses.get(problem.status, problem.status), head, content


OWN = Face(check_query=check_query)


@dataclass(frozen=True, slots=True)
class Operation:
    """One POST: the model of its body, and the function from a body to what is done."""

    path: str
    act: Callable[..., Done]
    body: type[Body]
    answer: type[BaseModel]
    summary: str
    face: Face = OWN
    quick: Callable[[object], Done | None] | None = None
    """Answers bodies that take little, before they are checked against the model; ``None`` for others."""


@dataclass(frozen=True, slots=True)
class Engine:
    """What operations run on: one pool for long work, one for short work that may still take a while."""

    bodies: Bodies
    long: Workers
    short: Workers
    inline_bytes: int
    most_values: int
    is_warm: Callable[[tuple[str, ...]], bool]
    prepare: Callable[[tuple[str, ...]], None]
    counted: Callable[[Done], None]


def encode(body: object) -> bytes:
    """JSON in UTF-8; in ASCII where a name that the caller sent holds a lone surrogate."""
    try:
        return to_json(body)
    except (PydanticSerializationError, UnicodeEncodeError):
        import json

        return json.dumps(body, default=list).encode()


class OperationRoute:
    """The ASGI application of one operation."""

    def __init__(self, operation: Operation, engine: Engine) -> None:
        self.operation = operation
        self._engine = engine

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = scope.get("tokengap.headers") or dict(scope["headers"])
        _check_media_type(headers)
        if scope["query_string"] and self.operation.face.check_query is not None:
            self.operation.face.check_query(scope["query_string"])
        raw = await self._engine.bodies.read(headers, receive)
        if raw is None:
            return
        scope["tokengap.size"] = len(raw)
        try:
            done = await self._perform(raw, scope.get("path_params") or {}, receive)
        finally:
            self._engine.bodies.release(len(raw))
        if done is None:
            return
        content = done.body
        head = [JSON, (b"content-length", b"%d" % len(content))]
        if done.headers:
            head += [(name.lower().encode(), value.encode()) for name, value in done.headers]
        if self.operation.face.id_header is not None:
            head.append((self.operation.face.id_header, scope["tokengap.id"].encode()))
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": content})

    async def _perform(self, raw: bytes, params: Mapping[str, str], receive: Receive) -> Done | None:
        """``None`` where the client went away before the work was done."""
        engine = self._engine
        if len(raw) > engine.inline_bytes:
            return await _unless_gone(engine.long.run(self._all, raw, params), receive)
        value = parse(raw)
        if self.operation.quick is not None and (done := self.operation.quick(value)) is not None:
            engine.counted(done)
            return done
        body = self.check(value)
        if body.weight(len(raw)) > engine.inline_bytes:
            return await _unless_gone(engine.long.run(self._act, body, params), receive)
        if not engine.is_warm(_specs(body, params)):
            return await engine.short.run(self._act, body, params)
        return self._act(body, params)

    def _all(self, raw: bytes, params: Mapping[str, str]) -> Done:
        check_structure(raw, self._engine.most_values)
        return self._act(self.check(parse(raw)), params)

    def _act(self, body: Body, params: Mapping[str, str]) -> Done:
        """Do it, and write the answer where it was done: a long one takes long to write, too."""
        specs = _specs(body, params)
        if not self._engine.is_warm(specs):
            self._engine.prepare(specs)
        done = self.operation.act(body, **params)
        self._engine.counted(done)
        return done._replace(body=encode(done.body))

    def check(self, value: object) -> Body:
        """Check a body against its model."""
        if not isinstance(value, dict):
            detail = f"an object is needed, not {describe(value)}"
            raise Problem("invalid-request", f"the body: {detail}", (Fault("", detail),))
        self._refuse_unknown(value)
        try:
            return self.operation.body.model_validate(value)
        except ValidationError as error:
            found = error.errors(include_url=False, include_input=False, include_context=False)
            faults = faults_of(found, value)[:MOST_FAULTS]
            where = faults[0].pointer or "the body"
            raise Problem("invalid-request", f"{where}: {faults[0].detail}", faults) from None

    def _refuse_unknown(self, value: dict[str, object]) -> None:
        """Name the first members that the body does not have; pydantic would name each of a hundred thousand."""
        model = self.operation.body
        if model.model_config.get("extra") == "forbid":
            known = {field.alias or name for name, field in model.model_fields.items()}
            unknown = list(islice((name for name in value if name not in known), MOST_FAULTS))
            if unknown:
                faults = tuple(Fault(pointer_to([name]), "no such member here") for name in unknown)
                raise Problem("invalid-request", f"{faults[0].pointer}: {faults[0].detail}", faults)


class DocumentedRoute(APIRoute):
    """A route that OpenAPI shows as FastAPI's own, and that runs an ASGI application as it is."""

    def run(self, app: Any) -> None:
        self.app = app


def _specs(body: Body, params: Mapping[str, str]) -> tuple[str, ...]:
    """What is counted with: what the body names, or the path."""
    return (*body.specs(), *(f"model:{name}" for name in params.values()))


def _check_media_type(headers: Mapping[bytes, bytes]) -> None:
    value = headers.get(b"content-type", b"")
    if value != b"application/json":
        media_type = value.partition(b";")[0].strip().lower()
        charset = _CHARSET.search(value.lower())
        if charset is not None and charset[1] not in (b"utf-8", b"utf8", b"us-ascii"):
            raise Problem("unsupported-media-type", "JSON is UTF-8: send it as that, and leave out the charset")
        if media_type != b"application/json" and not media_type.endswith(b"+json"):
            raise Problem("unsupported-media-type", "send the body as JSON, with 'Content-Type: application/json'")
    if headers.get(b"content-encoding", b"identity") != b"identity":
        raise Problem("unsupported-media-type", "send the body as it is, without a Content-Encoding")


async def _unless_gone(work: Any, receive: Receive) -> Done | None:
    """The result of work, which is given up when the client goes away."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(until_gone(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            return None
        done: Done = await task
        return done
    except Abandoned:
        return None
    finally:
        task.cancel()
        gone.cancel()
