"""What a person reads of a check, row by row and line by line, whatever the format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..estimators.budget_report import BudgetResult, CheckReport, FileResult, Verdict
from ..estimators.price import Money, display

COLUMNS = ("what", "tokens", "limit", "change", "cost", "kind", "verdict")
NONE = "-"
VERDICTS: tuple[Verdict, ...] = ("fail", "warn", "pass")


class Row(NamedTuple):
    """A budget, or one of its files that changed or breaks it."""

    what: str
    tokens: str
    limit: str
    change: str
    cost: str
    kind: str
    verdict: Verdict
    is_file: bool


def rows(report: CheckReport, most: int | None = None) -> Iterator[Row]:
    """A row for each budget, then one for each of its files that there is something to say of.

    With ``most``, a budget has so many of these at most, those that fail and that changed most, and a
    row says how many more there are.
    """
    for result in report.budgets:
        yield Row(
            result.budget.name,
            _tokens(result.tokens, result.upper),
            _limit(result),
            _change(result.tokens, result.base_tokens),
            _cost(result.cost, result.tokens, result.upper),
            result.kind,
            result.verdict,
            is_file=False,
        )
        files = [file for file in result.files if file.verdict != "pass" or file.change not in (None, "unchanged")]
        ranked = sorted(files, key=_weight)
        shown, rest = ranked[: most or len(files)], ranked[most or len(files) :]
        yield from (_file(result, file) for file in sorted(shown, key=lambda file: file.path))
        if rest:
            yield Row(f"and {len(rest):,} more files", NONE, NONE, NONE, NONE, NONE, rest[0].verdict, is_file=True)


def _weight(file: FileResult) -> tuple[int, int, str]:
    """First what fails, then what changed most."""
    return VERDICTS.index(file.verdict), -abs(file.tokens - (file.base_tokens or 0)), file.path


def summary(report: CheckReport) -> str:
    """One sentence that says how it went."""
    failed = [result.budget.name for result in report.budgets if not result.passed]
    warned = [result.budget.name for result in report.budgets if result.verdict == "warn"]
    total = _number(len(report.budgets), "budget")
    against = f", compared with {report.baseline}" if report.baseline else ""
    if not report.budgets:
        return f"no budget is about these files{against}"
    if failed:
        how = "cannot be told" if report.exit_code == 3 else "broken"
        return f"{len(failed)} of {total} {how}: {', '.join(failed)}{against}"
    warnings = f", with warnings for {', '.join(warned)}" if warned else ""
    return f"{total} kept{warnings}{against}"


def _cost(money: Money | None, tokens: int, upper: int | None) -> str:
    """What the tokens cost, by the bound that is compared where it is another number."""
    return NONE if money is None else f"{'' if upper in (tokens, None) else 'at most '}{display(money)}"


def _file(result: BudgetResult, file: FileResult) -> Row:
    limit = result.budget.max_tokens_per_file
    return Row(
        file.path,
        _tokens(file.tokens, file.head.upper) if file.head else "0",
        f"{limit:,}" if limit else NONE,
        _file_change(file),
        _cost(file.head.cost, file.tokens, file.head.upper) if file.head else NONE,
        file.head.kind if file.head else NONE,
        file.verdict,
        is_file=True,
    )


def _file_change(file: FileResult) -> str:
    if file.change == "renamed":
        gained = file.tokens - (file.base_tokens or 0)
        return f"renamed from {file.base_path}" + (f", {gained:+,}" if gained else "")
    if file.change == "new" and file.base_path:
        return f"new, from {file.base_path}, {file.tokens:+,}"
    if file.change in ("new", "removed"):
        return f"{file.change}, {file.tokens - (file.base_tokens or 0):+,}"
    return _change(file.tokens, file.base_tokens)


def _change(tokens: int, base: int | None) -> str:
    if base is None:
        return NONE
    percent = f" ({(tokens - base) * 100 / base:+.1f}%)" if base and tokens != base else ""
    return f"{tokens - base:+,}{percent}" if tokens != base else "0"


def _tokens(tokens: int, upper: int | None) -> str:
    """The count, and the bound that is compared where it is another number."""
    return f"{tokens:,}" if upper in (tokens, None) else f"{tokens:,} (at most {upper:,})"


def _limit(result: BudgetResult) -> str:
    budget = result.budget
    if budget.max_tokens:
        return f"{budget.max_tokens:,}"
    if budget.max_cost:
        return display(budget.max_cost)
    if budget.max_growth:
        return f"+{budget.max_growth.text}"
    return f"{budget.max_tokens_per_file:,} a file"


def _number(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
