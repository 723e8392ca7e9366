"""What a check of budgets found, and the JSON of it."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..tokenizers.counter import Kind
    from .as_of import AsOf
    from .budget_config import Budget, Severity
    from .budget_counting import FileCount
    from .contract import Json
    from .price import Money, Price

Change = Literal["new", "grown", "shrunk", "unchanged", "renamed", "removed"]
Verdict = Literal["pass", "warn", "fail"]

CODES = {
    "TOK001": "more tokens than max_tokens",
    "TOK002": "dearer than max_cost",
    "TOK003": "grown by more than max_growth",
    "TOK004": "a file of more tokens than max_tokens_per_file",
    "TOK010": "no price is known, so that max_cost cannot be checked",
    "TOK011": "the count is not as good as the budget needs it",
}
"""What each violation means."""

MISSING = frozenset({"TOK010", "TOK011"})
"""Violations that say nothing of the files: what a verdict needs is not known."""


class Violation(NamedTuple):
    """One way in which a budget is broken.

    ``path`` and ``line`` are where to look: a file, or the limit in the configuration. ``introduced``
    tells what this change did from what was so on the base; ``None`` without a base. ``file`` is the
    file it is about, where it is about one.
    """

    code: str
    message: str
    fix: str
    path: str
    line: int
    severity: Severity
    introduced: bool | None = None
    file: str | None = None


class FileResult(NamedTuple):
    """A file, ``head`` being ``None`` where it was removed, and what it was; ``change`` is ``None`` if unknown."""

    path: str
    head: FileCount | None
    base_path: str | None
    base: FileCount | None
    change: Change | None
    verdict: Verdict
    introduced: bool | None

    @property
    def tokens(self) -> int:
        return self.head.tokens if self.head else 0

    @property
    def base_tokens(self) -> int | None:
        return self.base.tokens if self.base and self.base.error is None else None


class BudgetResult(NamedTuple):
    """A budget and what its files come to: ``upper`` is what was compared, ``cost`` is of all calls.

    ``models`` are all that its files were counted as, ``model`` the only one of them, ``None`` of several.
    """

    budget: Budget
    model: str | None
    tokenizer: str
    kind: Kind
    tokens: int
    upper: int | None
    base_tokens: int | None
    cost: Money | None
    files: tuple[FileResult, ...]
    violations: tuple[Violation, ...]
    line: int
    models: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing fails; warnings do not."""
        return self.verdict != "fail"

    @property
    def verdict(self) -> Verdict:
        return worst(self.violations)

    @property
    def changed(self) -> bool:
        return any(file.change not in (None, "unchanged") for file in self.files)


class Prices(NamedTuple):
    """The prices a check used: of which time, how old they are today, and one for each model or ``None``."""

    at: AsOf
    pinned: bool
    age_days: int
    stale: bool
    models: Mapping[str, Price | None]


class CheckReport(NamedTuple):
    """What a check found. ``folder`` is where the configuration is in the repository, "" at its top.

    ``unchecked`` are the notices that say what was not checked, though the configuration asks for it.
    """

    budgets: tuple[BudgetResult, ...]
    notices: tuple[str, ...]
    prices: Prices
    baseline: str | None
    config: str
    folder: str = ""
    unchecked: frozenset[str] = frozenset()

    @property
    def passed(self) -> bool:
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """0 within every budget, 1 where one is broken, 3 where only something needed is not known."""
        codes = {violation.code for violation in self.violations if violation.severity == "error"}
        return 1 if codes - MISSING else 3 if codes else 0

    @property
    def violations(self) -> tuple[Violation, ...]:
        return tuple(violation for result in self.budgets for violation in result.violations)

    @property
    def tokens(self) -> int:
        """Of all budgets together; a file that is in two of them counts in both."""
        return sum(result.tokens for result in self.budgets)

    @property
    def cost(self) -> Money | None:
        """Of all budgets together; ``None`` where one has none, or another currency."""
        costs = [result.cost for result in self.budgets if result.cost]
        if len(costs) < len(self.budgets) or len({cost.currency for cost in costs}) > 1:
            return None
        return reduce(add, costs) if costs else None

    def located(self, path: str) -> str:
        """A path from the repository's top."""
        return f"{self.folder}/{path}" if self.folder else path


def worst(violations: Iterable[Violation]) -> Verdict:
    """What violations come to together."""
    severities = {violation.severity for violation in violations}
    return "fail" if "error" in severities else "warn" if severities else "pass"


def check_json(report: CheckReport) -> Json:
    """The JSON of a check: fields may be added to it, never renamed or given new meaning."""
    return {
        "passed": report.passed,
        "exit_code": report.exit_code,
        "tokens": report.tokens,
        "cost": _money(report.cost),
        "budgets": [_budget(result) for result in report.budgets],
        "prices": _prices(report.prices),
        "baseline": report.baseline,
        "notices": list(report.notices),
        "config": report.config,
        "folder": report.folder,
    }


def _budget(result: BudgetResult) -> Json:
    budget = result.budget
    return {
        "name": budget.name,
        "passed": result.passed,
        "verdict": result.verdict,
        "tokens": result.tokens,
        "upper": result.upper,
        "base_tokens": result.base_tokens,
        "limit": budget.max_tokens,
        "limits": {
            "max_tokens": budget.max_tokens,
            "max_tokens_per_file": budget.max_tokens_per_file,
            "max_cost": _money(budget.max_cost),
            "max_growth": budget.max_growth.text if budget.max_growth else None,
        },
        "cost": _money(result.cost),
        "calls": budget.calls,
        "kind": result.kind,
        "model": result.model,
        "models": list(result.models),
        "tokenizer": result.tokenizer,
        "files": [_file(file) for file in result.files],
        "violations": [_violation(violation) for violation in result.violations],
    }


def _file(file: FileResult) -> Json:
    return {
        "path": file.path,
        "base_path": file.base_path,
        "tokens": file.tokens,
        "upper": file.head.upper if file.head else 0,
        "base_tokens": file.base_tokens,
        "change": file.change,
        "kind": file.head.kind if file.head else "exact",
        "cost": _money(file.head.cost) if file.head else None,
        "verdict": file.verdict,
        "introduced": file.introduced,
        "not_counted": list(file.head.not_counted) if file.head else [],
        "warnings": list(file.head.warnings) if file.head else [],
    }


def _violation(violation: Violation) -> Json:
    return {
        "code": violation.code,
        "message": violation.message,
        "path": violation.path,
        "line": violation.line,
        "severity": violation.severity,
        "introduced": violation.introduced,
        "fix": violation.fix,
    }


def _prices(prices: Prices) -> Json:
    from .as_of import in_utc
    from .contract import price_json

    return {
        "at": in_utc(prices.at.time),
        "pinned": prices.pinned,
        "age_days": prices.age_days,
        "stale": prices.stale,
        "models": {model: price_json(price) if price else None for model, price in prices.models.items()},
    }


def _money(money: Money | None) -> dict[str, str] | None:
    return money.to_dict() if money else None
