"""The tokens and the cost of the files of a budget, each content counted once, on every core."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from ..tokenizers.counter import Kind, prepare, weakest
from ..tokenizers.errors import TokengapError, UnknownNameError
from ..tokenizers.models import counter_for
from ..tokenizers.registry import BUILT_IN, get_counter
from .budget_config import TEMPLATES, Budget
from .budget_texts import Contents, Sent, read_contents, tools_of
from .field_path import FieldError
from .price import Money, Price

if TYPE_CHECKING:
    from ..tokenizers.counter import Counter
    from .request_count import RequestCount

_HANDFUL = 16  # files that a thread takes at a time: to hand over each one costs as much as to count a short one


class FileCount(NamedTuple):
    """One file under one budget, or what went wrong with it.

    ``upper`` is the most its tokens can be, ``None`` where nothing bounds them. ``cost`` is of one call
    with each of its texts or requests, by ``upper`` where there is one; ``None`` where it is not known.
    ``digest`` is the sha256 of the file; ``models`` and ``tokenizers`` are what it was counted as, each once.
    ``error_key`` is the budget's key that an error is told at. ``unpriced`` says of requests in it why there is no
    price for them.
    """

    tokens: int
    upper: int | None
    kind: Kind
    cost: Money | None
    not_counted: tuple[str, ...]
    warnings: tuple[str, ...]
    digest: str
    error: str | None = None
    error_key: str = "paths"
    unpriced: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    tokenizers: tuple[str, ...] = ()

    @property
    def most(self) -> int:
        """What is compared: the upper bound where there is one."""
        return self.tokens if self.upper is None else self.upper


class Plan(NamedTuple):
    """How a budget's files are counted and priced.

    ``model`` is that of the budget or of the configuration, ``price`` its price, ``None`` where none is known;
    ``price_of`` is that of a model and a variant which a request names.
    """

    budget: Budget
    model: str | None
    spec: str
    price: Price | None
    price_of: Callable[[str, str | None], Price | None]

    @property
    def counter(self) -> Counter:
        """What counts texts: as tokens of the model, which another tokenizer than its own can only estimate."""
        return counter_for(self.model, self.spec if self.budget.counter else None)

    def model_of(self, request: object) -> str | None:
        """The model that a request is counted and priced as: the budget's own, the one it names, or the project's."""
        from .request_settings import named_model

        return self.budget.model or named_model(request) or self.model


class Job(NamedTuple):
    """A file to count; a template reads what it includes in ``tree``, which has files by their paths."""

    plan: Plan
    path: str
    data: bytes
    tree: Mapping[str, bytes]

    def include(self, name: str) -> bytes | None:
        """A file that a template includes: from its own folder, or the nearest one above that has it."""
        folders = PurePosixPath(self.path).parents
        return next((found for folder in folders if (found := self.tree.get(str(folder / name))) is not None), None)


class _Piece(NamedTuple):
    """What one call sends."""

    tokens: int
    upper: int | None
    kind: Kind
    price: Price | None
    not_counted: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unpriced: str = ""
    model: str | None = None
    tokenizer: str | None = None

    @property
    def cost(self) -> Money | None:
        """What the call costs, by the bound where there is one."""
        from .cost import make_bill

        tokens = self.tokens if self.upper is None else self.upper
        return make_bill(self.price, {"input": tokens}).total if self.price else None


def count_files(jobs: Sequence[Job], workers: int | None = None) -> list[FileCount]:
    """Count files, in their order, on so many threads (default: one for each core).

    What is wrong with a file is in its ``error``.
    """
    unique: dict[object, Job] = {}
    keys = [_key(job) for job in jobs]
    for key, job in zip(keys, jobs, strict=True):
        unique.setdefault(key, job)
    counts = dict(zip(unique, _count_all(list(unique.values()), workers or _usual_workers()), strict=True))
    return [counts[key] for key in keys]


def _count_all(jobs: Sequence[Job], workers: int) -> list[FileCount]:
    """On several cores: tiktoken lets go of the interpreter while it counts. Counters of others need not bear that."""
    specs = {job.plan.spec for job in jobs}
    for spec in specs:
        prepare(get_counter(spec), sum(len(job.data) for job in jobs if job.plan.spec == spec))
    workers = min(workers, len(jobs))
    if workers < 2 or any(spec.partition(":")[0] not in BUILT_IN for spec in specs):
        return [_count(job) for job in jobs]
    for spec in specs:
        get_counter(spec).count("")  # a vocabulary is read once, before the threads need it
    with ThreadPoolExecutor(workers) as pool:
        try:
            parts = pool.map(_count_some, [jobs[start : start + _HANDFUL] for start in range(0, len(jobs), _HANDFUL)])
            return [count for part in parts for count in part]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _usual_workers() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _count_some(jobs: Sequence[Job]) -> list[FileCount]:
    return [_count(job) for job in jobs]


def _key(job: Job) -> object:
    """What decides a count: how it is made, the content, and for a template also what it may include."""
    plan, budget = job.plan, job.plan.budget
    currency = budget.max_cost and budget.max_cost.currency
    way = (
        *(plan.model, plan.spec, id(plan.price), currency),
        *(budget.model, budget.counter, budget.type, budget.field, PurePosixPath(job.path).suffix),
    )
    if budget.type in TEMPLATES:
        return *way, id(plan), job.path, id(job.tree), job.data
    return *way, job.data


def _count(job: Job) -> FileCount:
    digest = sha256(job.data).hexdigest()
    try:
        contents = read_contents(job.plan.budget, job.path, job.data, job.include)
        pieces = list(_pieces(contents, job.plan, job.path))
    except TokengapError as error:
        key = "field" if isinstance(error.__cause__, FieldError) else "paths"
        return unreadable(str(error), digest)._replace(error_key=key)
    uppers = [piece.upper for piece in pieces if piece.upper is not None]
    return FileCount(
        sum(piece.tokens for piece in pieces),
        sum(uppers) if len(uppers) == len(pieces) else None,
        weakest(piece.kind for piece in pieces),
        sum_costs(piece.cost for piece in pieces),
        tuple(dict.fromkeys(path for piece in pieces for path in piece.not_counted)),
        tuple(dict.fromkeys(code for piece in pieces for code in piece.warnings)),
        digest,
        unpriced=tuple(dict.fromkeys(piece.unpriced for piece in pieces if piece.unpriced)),
        models=tuple(dict.fromkeys(piece.model for piece in pieces if piece.model)),
        tokenizers=tuple(dict.fromkeys(piece.tokenizer for piece in pieces if piece.tokenizer)),
    )


def unreadable(problem: str, digest: str = "") -> FileCount:
    """A file that cannot be counted, and why."""
    return FileCount(0, None, "heuristic", None, (), (), digest, problem)


def _pieces(contents: Contents, plan: Plan, path: str) -> Iterator[_Piece]:
    counter = plan.counter
    for text in contents.texts:
        yield _text_piece(text, counter, plan)
    for number, request in enumerate((*contents.requests, *contents.tools), start=1):
        try:
            yield _tools_piece(request, plan) if contents.tools else _request_piece(request, plan)
        except TokengapError as error:
            where = f"{path}: request {number}" if len(contents.requests) > 1 else path
            raise TokengapError(f"{where}: {error}") from None


def _text_piece(text: Sent, counter: Counter, plan: Plan) -> _Piece:
    counts = [counter.count(part) for part in text.parts] or [counter.count("")]
    kind = weakest(count.kind for count in counts)
    tokens = sum(count.tokens for count in counts) + text.allowance
    bounds = [count.tokens if count.kind == "exact" else count.interval and count.interval[1] for count in counts]
    known = [bound for bound in bounds if bound is not None]
    upper = sum(known) + text.allowance if len(known) == len(bounds) else None
    warnings = tuple(code for count in counts for code in count.warnings)
    # An allowance is a bound that somebody stated, not a count.
    kind = "heuristic" if text.allowance else kind
    return _Piece(tokens, upper, kind, plan.price, (), warnings, "", plan.model, counts[0].tokenizer)


def _request_piece(request: object, plan: Plan) -> _Piece:
    counted = _counted(request, request, plan)
    upper = counted.tokens if counted.kind == "exact" else counted.interval and counted.interval[1]
    bounded = upper if not counted.not_counted else None
    price, unpriced = _request_price(request, plan)
    warnings = (*counted.warnings, *_other_model(request, plan))
    model, tokenizer = plan.model_of(request), counted.tokenizer
    return _Piece(
        counted.tokens, bounded, counted.kind, price, counted.not_counted, warnings, unpriced, model, tokenizer
    )


def _counted(request: object, file: object, plan: Plan) -> RequestCount:
    """The count of a request for the model of what it is in."""
    from .request_count import count_request

    try:
        return count_request(request, plan.model_of(file), plan.spec if plan.budget.counter else None)
    except UnknownNameError as error:
        if plan.budget.model or plan.budget.counter:
            raise
        raise TokengapError(f"{error}; or set the budget's 'model', which holds whatever a request names") from None


def _request_price(request: object, plan: Plan) -> tuple[Price | None, str]:
    """The price of the request's model at the tier that it names, or that of a batch; or why there is none."""
    from .request_settings import requested_variant

    try:
        variant = requested_variant(request)
    except TokengapError as error:  # a tier whose price nobody knows
        return None, str(error).partition(";")[0]
    model = plan.model_of(request)
    price = plan.price_of(model, variant) if model and (variant or model != plan.model) else plan.price
    limit = plan.budget.max_cost
    if price and limit and price.currency != limit.currency:
        raise TokengapError(f"the price of {model} is in {price.currency}, and max_cost is in {limit.currency}")
    return price, f"variant {variant!r}" if variant and price is None else ""


def _other_model(request: object, plan: Plan) -> Iterator[str]:
    """The code ``other_model`` where the budget's own model holds against the one that a request names."""
    from ..tokenizers.models import known_model
    from .request_settings import named_model

    own, named = plan.budget.model, named_model(request)
    if own and named and own != named and (known_model(own) or own) != (known_model(named) or named):
        yield "other_model"


def _tools_piece(value: object, plan: Plan) -> _Piece:
    """Tools as they stand in a prompt, without the messages beside them."""
    if not (tools := tools_of(value)):
        return _Piece(0, 0, "exact", plan.price, model=plan.model, tokenizer=plan.counter.count("").tokenizer)
    request = {"messages": [{"role": "user", "content": ""}], "tools": tools}
    counted, (price, unpriced) = _counted(request, value, plan), _request_price(value, plan)
    warnings = (*counted.warnings, *_other_model(value, plan))
    part = counted.parts.get("tools")
    model, tokenizer = plan.model_of(value), counted.tokenizer
    if part is None:
        return _Piece(0, None, "heuristic", price, counted.not_counted, warnings, unpriced, model, tokenizer)
    upper = part.tokens if part.kind == "exact" else part.interval and part.interval[1]
    if upper is not None and counted.not_counted:
        beside = _bound_beside(request, counted.not_counted, get_counter(plan.spec))
        upper = None if beside is None else upper + beside
    return _Piece(part.tokens, upper, part.kind, price, counted.not_counted, warnings, unpriced, model, tokenizer)


def _bound_beside(request: object, paths: Iterable[str], counter: Counter) -> int | None:
    """The most that the keys of tools can add which the rule does not show: themselves, as JSON.

    ``None`` where a whole tool is not counted: it is the provider's own, of unknown length.
    """
    from json import dumps

    from .field_path import select_fields

    tokens = 0
    for path in paths:
        ((steps, value),) = select_fields(request, path)
        if len(steps) < 3:  # tools[0]
            return None
        tokens += counter.count(dumps({str(steps[-1]): value}, ensure_ascii=False)).tokens
    return tokens


def sum_costs(costs: Iterable[Money | None]) -> Money | None:
    """A sum that is not known where one of its parts is not, nor where they are in two currencies, nor of nothing."""
    total: Money | None = None
    for cost in costs:
        if cost is None or (total and cost.currency != total.currency):
            return None
        total = cost if total is None else total + cost
    return total
