"""The HTTP application: ``create_app(settings)`` puts operations, façades, access and metrics together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse

from . import answers, bodies
from .access import Keys, RateLimit
from .budgets import Budgets, BudgetsAnswer, BudgetsBody
from .cors import Cors, Preflights
from .costing import Costing
from .door import Door
from .environment import read_settings
from .facade_errors import GOOGLE, face_of
from .facade_models import list_for
from .facades import facades
from .openapi import complete, problems
from .operations import OWN, DocumentedRoute, Done, Engine, Face, Operation, OperationRoute, check_query, encode
from .problems import Fault, Problem, internal, retry_after
from .process import give_back_memory, keep_what_is_loaded
from .protection import Bodies, Workers
from .routes import Operations
from .settings import Settings
from .telemetry import CONTENT_TYPE, Metrics, RequestLog, log

SHORT_THREADS = 2
SHORT_QUEUE = 200

_DESCRIPTION = """How many tokens a text or a chat request is, what it costs, and how far a word-based estimate is off.

Every count names its tokenizer with a fingerprint and says how good it is: `exact`, `reconstructed`,
`calibrated` (with a measured `interval`) or `heuristic`. Errors are problem documents (RFC 9457).
"""


class Application(FastAPI):
    """FastAPI with our door in front: it documents and routes what the door does not answer itself."""

    entry: Any

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.entry(scope, receive, send)

    async def inner(self, scope: Any, receive: Any, send: Any) -> None:
        """The application behind the door. HEAD is answered as GET is; uvicorn leaves the body out."""
        if scope.get("method") != "HEAD":
            await super().__call__(scope, receive, send)
            return
        asked = {**scope, "method": "GET"}
        try:
            await super().__call__(asked, receive, send)
        finally:
            scope["route"] = asked.get("route")


def create_app(settings: Settings | None = None) -> Application:
    """Build the application; without settings they are read from the environment."""
    settings = settings or read_settings()
    operations, metrics = Operations(settings), Metrics()
    long = Workers(settings.threads, settings.queue, settings.work_seconds)
    short = Workers(SHORT_THREADS, SHORT_QUEUE, settings.work_seconds)
    loaded: asyncio.Future[None] | None = None

    async def load() -> None:
        try:
            await asyncio.to_thread(operations.load)
            operations.warm_up()
        except Exception:
            log.exception("loading failed")
            raise
        table = operations.book.table
        metrics.prices(table.name, table.version, table.sha256)
        keep_what_is_loaded()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        nonlocal loaded
        give_back_memory()
        loaded = asyncio.ensure_future(load())
        loaded.add_done_callback(lambda task: task.cancelled() or task.exception())
        yield
        loaded.cancel()
        if requests:
            requests.flush()
        long.close()
        short.close()

    app = Application(
        title="tokengap",
        version=version("tokengap"),
        description=_DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,  # a redirect would name the host that the client says it asked
    )

    def counted(done: Done) -> None:
        metrics.counted(done.counted)
        if done.unpriced:
            metrics.unpriced(done.unpriced)

    most_values = 2 * max(settings.max_values, settings.max_tokenize_chars)
    engine = Engine(
        bodies=Bodies(settings.max_body_bytes, settings.max_buffered_bytes, settings.body_seconds),
        long=long,
        short=short,
        inline_bytes=settings.inline_bytes,
        most_values=most_values,
        is_warm=operations.is_warm,
        prepare=operations.prepare,
        counted=counted,
    )
    costing = Costing(operations)
    direct = _add_operations(app, [*_own(operations, costing), *facades(operations)], engine)
    _add_lists(app, operations, costing, short)
    _add_states(app, metrics, lambda: loaded is not None and loaded.done() and _succeeded(loaded))

    keys = settings.keys()
    requests = RequestLog() if settings.log_level in ("debug", "info") else None
    redis_url = settings.redis_url.get_secret_value() if settings.redis_url else None
    limit = RateLimit(settings.rate_limit, redis_url, metrics.limiter_errors.inc) if settings.rate_limit else None
    origins = settings.cors_origins
    app.entry = Door(
        Preflights(app.inner, origins) if origins else app.inner,
        direct=direct,
        face_of=face_of,
        metrics=metrics,
        keys=Keys(keys),
        limit=limit,
        requests=requests,
    )
    if origins:
        app.entry = Cors(app.entry, origins)
    for kind in (Problem, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, _answer_problem)
    _complete_document(app)
    return app


def _succeeded(task: asyncio.Future[None]) -> bool:
    return not task.cancelled() and task.exception() is None


def _own(operations: Operations, costing: Costing) -> list[Operation]:
    return [
        Operation(
            "/v1/count",
            operations.count,
            bodies.CountBody,
            answers.ReportAnswer,
            "Count texts or a chat request",
            quick=operations.quick.answer,
        ),
        Operation(
            "/v1/compare",
            operations.compare,
            bodies.CompareBody,
            answers.ComparisonAnswer,
            "Compare counts with a naive estimate",
        ),
        Operation(
            "/v1/tokenize",
            operations.tokenize,
            bodies.TokenizeBody,
            answers.TokenizeAnswer,
            "Show the tokens of texts",
        ),
        Operation("/v1/cost", costing.cost, bodies.CostBody, answers.CostAnswer, "Price a call or a month of calls"),
        Operation("/v1/fit", operations.fit, bodies.FitBody, answers.FitAnswer, "Say whether a text fits a model"),
        Operation(
            "/v1/budgets/check",
            Budgets(operations).check,
            BudgetsBody,
            BudgetsAnswer,
            "Check files against budgets",
        ),
    ]


def _add_operations(app: FastAPI, operations: Sequence[Operation], engine: Engine) -> dict[str, OperationRoute]:
    """Add the routes; those without parameters in their path are returned, to be found without the router."""
    direct = {}
    for operation in operations:
        run = OperationRoute(operation, engine)
        app.router.add_api_route(
            operation.path,
            operation.act,
            methods=["POST"],
            summary=operation.summary,
            description=operation.act.__doc__,
            response_model=operation.answer,
            responses=problems(
                400, 401, 403, 404, 405, 408, 413, 415, 422, 429, 431, 500, 503, face=operation.face.media_type
            ),
            route_class_override=DocumentedRoute,
            operation_id=operation.path.strip("/").replace("/", "_").replace("{", "").replace("}", ""),
        )
        route = app.router.routes[-1]
        assert isinstance(route, DocumentedRoute)  # noqa: S101 - what add_api_route was asked to make
        route.run(run)
        if "{" not in operation.path:
            direct[operation.path] = run
    return direct


def _add_states(app: FastAPI, metrics: Metrics, is_ready: Callable[[], bool]) -> None:
    """Add what the operator asks."""

    @app.get(
        "/healthz",
        response_model=answers.StateAnswer,
        responses=problems(405, 408, 431),
        summary="Whether the process is alive",
    )
    async def healthz() -> Response:
        """Answers as long as the process takes requests, also while it loads."""
        return _json(b'{"status":"alive"}')

    @app.get(
        "/readyz",
        response_model=answers.StateAnswer,
        responses=problems(405, 408, 431, 503),
        summary="Whether vocabularies and prices are loaded",
    )
    async def readyz() -> Response:
        """503 until the first requests can be answered without waiting for a vocabulary."""
        if not is_ready():
            raise retry_after("not-ready", "vocabularies and prices are being loaded", 1)
        return _json(b'{"status":"ready"}')

    @app.get(
        "/metrics",
        response_class=PlainTextResponse,
        responses=problems(405, 408, 431),
        summary="Metrics for Prometheus",
    )
    async def show_metrics() -> Response:
        """Requests, their times and sizes, tokens counted and limits, of all workers; no name that a caller chose."""
        return Response(metrics.render(), media_type=CONTENT_TYPE)


def _add_lists(app: FastAPI, operations: Operations, costing: Costing, workers: Workers) -> None:
    """Add what may be named in bodies: counters, models, prices."""
    listed = encode(operations.counters())
    access = problems(401, 405, 408, 422, 429, 431, 500, 503)

    @app.get("/v1/counters", response_model=answers.CountersAnswer, responses=access, summary="List the counters")
    async def counters(request: Request) -> Response:
        """What may be named in ``counters``, how good each is, and the form of its spec."""
        _only(request)
        return _json(listed)

    @app.get("/v1/models", response_model=answers.ModelsAnswer, responses=access, summary="List models and limits")
    async def models(
        request: Request,
        containing: Annotated[str, Query(max_length=100, description="only names that have this in them")] = "",
        everything: Annotated[bool, Query(alias="all", description="also the price table's models")] = False,
    ) -> Response:
        """Models with their encoding, context window and output limit; none for a name that nothing has in it.

        The SDKs of OpenAI, Anthropic and Google, told by their headers, get the names in their own shape and pages.
        """
        face = face_of(request.scope["path"], request.scope["tokengap.headers"])
        if face is not OWN:
            return _listed(request, face)
        _only(request, "containing", "all")
        return _json(encode(await workers.run(operations.models, containing, everything)))

    @app.get(
        "/v1beta/models",
        response_model=answers.GoogleModelsAnswer,
        responses=problems(400, 401, 405, 408, 429, 431, 500, 503, face=GOOGLE.media_type),
        summary="List models as Google's API does",
    )
    async def google_models(
        request: Request,
        size: Annotated[str | None, Query(alias="pageSize", description="the most to list, up to 1000")] = None,
        token: Annotated[str | None, Query(alias="pageToken", description="what the page before has of it")] = None,
    ) -> Response:
        """For ``client.models.list`` of Google's SDKs: the models that their counting call knows."""
        return _listed(request, GOOGLE)

    named = access | problems(404)

    @app.get("/v1/prices", response_model=answers.PricesAnswer, responses=named, summary="List prices")
    async def prices(
        request: Request,
        pattern: Annotated[str | None, Query(max_length=100, description="a part of a name, or a glob: gpt-5*")] = None,
        provider: Annotated[str | None, Query(max_length=100, description="one provider's only")] = None,
        as_of: Annotated[str | None, Query(max_length=40, description="prices of that time; default: now")] = None,
    ) -> Response:
        """Prices per million tokens and their source; without a pattern or provider the providers."""
        _only(request, "pattern", "provider", "as_of")
        return _json(encode(await workers.run(costing.prices, pattern, provider, as_of)))


def _listed(request: Request, face: Face) -> Response:
    response = _json(encode(list_for(face, request.scope["query_string"])))
    if face.id_header is not None:
        response.headers[face.id_header.decode()] = request.scope["tokengap.id"]
    return response


def _only(request: Request, *names: str) -> None:
    check_query(request.scope["query_string"], frozenset(names))


def _json(content: bytes) -> Response:
    return Response(content, media_type="application/json")


def _problem_of(request: Request, error: Exception) -> Problem:
    """The problem that any exception behind the door is."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, RequestValidationError):  # a wrong query parameter
        faults = tuple(Fault(f"/{found['loc'][-1]}", str(found["msg"])) for found in error.errors())
        return Problem("invalid-request", f"{faults[0].pointer[1:]}: {faults[0].detail}", faults)
    if isinstance(error, HTTPException) and error.status_code == 405:
        allowed = set((error.headers or {})["Allow"].split(", "))
        allow = ", ".join(sorted(allowed | {"HEAD"} if "GET" in allowed else allowed))
        return Problem("method-not-allowed", f"this path takes {allow}", headers=(("Allow", allow),))
    if isinstance(error, HTTPException):
        return Problem("not-found", "no operation has this path; GET /openapi.json lists them")
    return internal()


def _answer_problem(request: Request, error: Exception) -> Response:
    face = face_of(request.scope["path"], request.scope["tokengap.headers"])
    status, head, content = face.answer(_problem_of(request, error), request.scope["tokengap.id"])
    headers = {name.decode(): value.decode() for name, value in head}
    return Response(content, status, headers)


def _complete_document(app: FastAPI) -> None:
    """Show in OpenAPI what no route says by itself."""
    original = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            complete(original())
        return app.openapi_schema or {}

    app.openapi = openapi  # type: ignore[method-assign]
