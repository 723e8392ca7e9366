"""The tokens and the cost of the files of a budget, each content counted once, on every core."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from ..tokenizers.counter import Kind, prepare, weakest
from ..tokenizers.errors import TokengapError
from ..tokenizers.registry import BUILT_IN, get_counter
from ..tokenizers.threads import in_order, usable_cores
from .bounds import sum_known
from .budget_config import TEMPLATES
from .budget_pieces import pieces
from .budget_texts import read_contents
from .field_path import FieldError

if TYPE_CHECKING:
    from .budget_plan import Plan
    from .price import Money

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


def count_files(jobs: Sequence[Job], workers: int | None = None) -> list[FileCount]:
    """Count files, in their order, on so many threads (default: one for each core).

    What is wrong with a file is in its ``error``.
    """
    unique: dict[object, Job] = {}
    keys = [_key(job) for job in jobs]
    for key, job in zip(keys, jobs, strict=True):
        unique.setdefault(key, job)
    counts = dict(zip(unique, _count_all(list(unique.values()), workers or usable_cores()), strict=True))
    return [counts[key] for key in keys]


def _count_all(jobs: Sequence[Job], workers: int) -> list[FileCount]:
    """On several cores: tiktoken lets go of the interpreter while it counts. Counters of others need not bear that."""
    specs = {job.plan.spec for job in jobs if job.plan.spec}
    for spec in specs:
        prepare(get_counter(spec), sum(len(job.data) for job in jobs if job.plan.spec == spec))
    workers = min(workers, len(jobs))
    if workers < 2 or any(spec.partition(":")[0] not in BUILT_IN for spec in specs):
        return [_count(job) for job in jobs]
    for spec in specs:
        get_counter(spec).count("")  # a vocabulary is read once, before the threads need it
    handfuls = (jobs[start : start + _HANDFUL] for start in range(0, len(jobs), _HANDFUL))
    return [count for counts in in_order(_count_some, handfuls, workers) for count in counts]


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
        sent = list(pieces(contents, job.plan, job.path))
    except TokengapError as error:
        key = "field" if isinstance(error.__cause__, FieldError) else "paths"
        return unreadable(str(error), digest)._replace(error_key=key)
    return FileCount(
        sum(piece.tokens for piece in sent),
        sum_known(piece.upper for piece in sent),
        weakest(piece.kind for piece in sent),
        sum_costs(piece.cost for piece in sent),
        tuple(dict.fromkeys(path for piece in sent for path in piece.not_counted)),
        tuple(dict.fromkeys(code for piece in sent for code in piece.warnings)),
        digest,
        unpriced=tuple(dict.fromkeys(piece.unpriced for piece in sent if piece.unpriced)),
        models=tuple(dict.fromkeys(piece.model for piece in sent if piece.model)),
        tokenizers=tuple(dict.fromkeys(piece.tokenizer for piece in sent if piece.tokenizer)),
    )


def unreadable(problem: str, digest: str = "") -> FileCount:
    """A file that cannot be counted, and why."""
    return FileCount(0, None, "heuristic", None, (), (), digest, problem)


def sum_costs(costs: Iterable[Money | None]) -> Money | None:
    """A sum that is not known where one of its parts is not, nor where they are in two currencies, nor of nothing."""
    total: Money | None = None
    for cost in costs:
        if cost is None or (total and cost.currency != total.currency):
            return None
        total = cost if total is None else total + cost
    return total
