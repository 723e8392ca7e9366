"""Count, price and judge the files of budgets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from ..tokenizers.counter import weakest
from ..tokenizers.errors import TokengapError
from ..tokenizers.registry import get_counter
from .budget_baseline import Base, Pair, RecordedBase, TreeBase, pair_files
from .budget_config import Loaded
from .budget_counting import FileCount, Job, count_files, unreadable
from .budget_judge import Case, judge, totals
from .budget_plan import Plan, make_plan
from .budget_prices import Pricing
from .budget_report import BudgetResult, Change, CheckReport, FileResult, Violation, worst
from .budget_selection import Selection
from .budget_texts import first_line, unused_variable
from .price_book import PriceBook, default_book
from .toml_origin import Origin


class Options(NamedTuple):
    """How strictly to judge, and at which prices."""

    book: PriceBook | None
    today: date | None
    fail_inherited: bool
    allow_missing: bool
    workers: int | None


class _Task(NamedTuple):
    """A selection, and how it is counted and priced."""

    place: int
    plan: Plan
    head: Sequence[str]
    base: Sequence[str]


def run_check(
    loaded: Loaded, selections: Sequence[Selection], files: Mapping[str, bytes], base: Base | None, options: Options
) -> tuple[CheckReport, tuple[Plan, ...]]:
    """The report of some budgets, and how each was counted."""
    pricing = Pricing(loaded.configuration.prices_at, options.book or default_book(), options.today)
    notices: dict[str, None] = {}
    unchecked: dict[str, None] = {}
    on_tree = isinstance(base, TreeBase)
    tasks = [
        _Task(each.place, make_plan(loaded, each.place, pricing), each.head, each.base if on_tree else ())
        for each in selections
    ]
    results, compared = [], False
    for task, (head, counted) in zip(tasks, _count(tasks, files, base, loaded.origin, options.workers), strict=True):
        before = counted if isinstance(base, TreeBase) else _recorded(base, task.plan, unchecked)
        compared = compared or before is not None
        case = _case(loaded.origin, task, head, before, base, files, unchecked)
        violations = judge(case, fail_inherited=options.fail_inherited, allow_missing=options.allow_missing)
        results.append(_result(case, violations))
        notices |= dict.fromkeys(_warnings(task.plan, head))
    if base is None and (growing := [result.budget.name for result in results if result.budget.max_growth]):
        unchecked[f"no base to compare with: max_growth is not checked ({', '.join(growing)})"] = None
    name = base.name if base and compared else None
    models = frozenset(model for result in results for model in (*result.models, result.model) if model)
    said = (*unchecked, *notices, *pricing.notices(models))
    report = CheckReport(tuple(results), said, pricing.used(models), name, loaded.origin.name)
    report = report._replace(unchecked=frozenset(unchecked))
    return report, tuple(task.plan for task in tasks)


Counts = dict[str, FileCount]


def _count(
    tasks: Sequence[_Task], files: Mapping[str, bytes], base: Base | None, origin: Origin, workers: int | None
) -> list[tuple[Counts, Counts | None]]:
    """The counts of each budget here and on the base, all counted in one go."""
    tree = base.files if isinstance(base, TreeBase) else {}
    asked = [(task, path, files) for task in tasks for path in task.head]
    asked += [(task, path, tree) for task in tasks for path in task.base]
    read = [_read(task.plan, path, tree) for task, path, tree in asked]
    counts = iter(count_files([job for job in read if isinstance(job, Job)], workers))
    counted = iter([next(counts) if isinstance(job, Job) else job for job in read])
    heads = [{path: next(counted) for path in task.head} for task in tasks]
    for task, head in zip(tasks, heads, strict=True):
        if fault := next((count for count in head.values() if count.error), None):
            raise origin.error(("budget", task.place, fault.error_key), fault.error or "")
        if unused := unused_variable(task.plan.budget, {path: files[path] for path in head}):
            raise origin.error(("budget", task.place, *unused), "no template of this budget uses this variable")
    bases = [{path: next(counted) for path in task.base} for task in tasks]
    return list(zip(heads, bases, strict=True))


def _read(plan: Plan, path: str, tree: Mapping[str, bytes]) -> Job | FileCount:
    try:
        return Job(plan, path, tree[path], tree)
    except OSError as error:
        return unreadable(f"{path}: {error.strerror or error}")
    except TokengapError as error:
        return unreadable(f"{path}: {error}")


def _recorded(base: RecordedBase | None, plan: Plan, unchecked: dict[str, None]) -> Counts | None:
    if base is None:
        return None
    from .budget_recording import recorded_counts

    counts = recorded_counts(base, plan)
    if isinstance(counts, str):
        unchecked[f"{counts}; it is checked without a base"] = None
        return None
    return counts


def _case(
    origin: Origin,
    task: _Task,
    head: Counts,
    before: Counts | None,
    base: Base | None,
    files: Mapping[str, bytes],
    unchecked: dict[str, None],
) -> Case:
    budget = task.plan.budget
    pairs = pair_files(head, before or {}, base.renames if isinstance(base, TreeBase) else {})
    unread = {path: count.error for path, count in (before or {}).items() if count.error}
    lost = f"max_growth of {budget.name!r} is not checked" if budget.max_growth else f"{budget.name!r} has no base"
    unchecked |= {f"{path} cannot be counted on the base ({error}); {lost}": None for path, error in unread.items()}
    if budget.max_growth and before == {}:
        unchecked[f"{budget.name!r} has no files on the base; its max_growth is not checked"] = None
    return Case(
        task.plan,
        task.place,
        origin,
        pairs,
        totals(list(head.values()), task.plan),
        None if before is None or unread else totals(list(before.values()), task.plan),
        lambda path: first_line(budget, path, files[path]),
    )


def _warnings(plan: Plan, head: Counts) -> Iterator[str]:
    """What its counters and rules say of the files of a budget."""
    from .counting import WARNINGS

    says = WARNINGS | {"other_model": "the request names another model, and the budget's own holds"}
    if counter := plan.budget.counter:
        models = " or ".join(dict.fromkeys(model for count in head.values() for model in count.models))
        says["assumed_tokenizer"] = f"{counter} is not known to be the tokenizer of {models}, so that no count is exact"
    for code in dict.fromkeys(code for count in head.values() for code in count.warnings):
        paths = [path for path, count in head.items() if code in count.warnings]
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        yield f"{plan.budget.name!r}: {says.get(code, code)} ({paths[0]}{more})"


def _result(case: Case, violations: tuple[Violation, ...]) -> BudgetResult:
    budget = case.plan.budget
    counts = [pair.head for pair in case.pairs if pair.head]
    models = tuple(dict.fromkeys(model for count in counts for model in count.models))
    tokenizers = tuple(dict.fromkeys(tokenizer for count in counts for tokenizer in count.tokenizers))
    bounded = all(count.upper is not None for count in counts)
    compares = case.compares
    of_file: dict[str | None, list[Violation]] = {}
    for violation in violations:
        of_file.setdefault(violation.file, []).append(violation)
    return BudgetResult(
        budget,
        (models or (case.plan.model,))[0] if len(models) < 2 else None,
        ", ".join(tokenizers) or _tokenizer(case.plan),
        weakest(count.kind for count in counts),
        case.head.tokens,
        case.head.most if bounded else None,
        case.base.tokens if case.base else None,
        case.head.cost,
        tuple(_file(pair, of_file.get(pair.path, ()), compares) for pair in case.pairs),
        violations,
        case.at("name")[1],
        models,
    )


def _tokenizer(plan: Plan) -> str:
    """That of a budget which has no files now."""
    return get_counter(plan.spec).count("").tokenizer if plan.spec else ""


def _file(pair: Pair, own: Sequence[Violation], compares: bool) -> FileResult:
    introduced = {violation.introduced for violation in own}
    return FileResult(
        pair.path,
        pair.head,
        pair.base_path,
        pair.base,
        _change(pair) if compares else None,
        worst(own),
        True if True in introduced else False if False in introduced else None,
    )


def _change(pair: Pair) -> Change | None:
    if pair.head is None:
        return "removed"
    if pair.base is None:
        return "new"
    if pair.base.error is not None:
        return None
    if pair.base_path != pair.path:
        return "renamed"
    gained = pair.head.tokens - pair.base.tokens
    return "grown" if gained > 0 else "shrunk" if gained < 0 else "unchanged"
