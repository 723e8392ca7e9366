"""A check as Markdown, for the summary of a CI step and a comment on a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..estimators.budget_report import CheckReport, Violation
from .check_rows import COLUMNS, rows, summary
from .reports import printable

MARKER = "<!-- tokengap-report -->"
"""The first line, by which a comment is found again."""

MOST_CHARACTERS = 60_000
"""GitHub takes 65,536 characters as a comment; what is more is left out, and said to be."""

_VERDICTS = {"pass": "✅ pass", "warn": "⚠️ warn", "fail": "❌ fail"}
_SIGNS = {"error": "❌", "warning": "⚠️"}
_NOTHING = "&#8203;"
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~@$&])")


def render(report: CheckReport) -> str:
    """The same as the table on the terminal, escaped so that no name can be markup."""
    head = [MARKER, f"### tokengap: {_plain(summary(report))}", ""]
    below = [*_violations(report), *(f"- ℹ️ {_plain(notice)}" for notice in report.notices), _prices(report)]
    room = MOST_CHARACTERS - sum(len(line) + 1 for line in (*head, *below))
    body = (*head, *_fitting(list(_table(report)) if report.budgets else [], room), "", *below)
    text = "\n".join(body) + "\n"
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}\n\n*The rest is left out.*\n"


def _table(report: CheckReport) -> Iterator[str]:
    yield f"| {' | '.join(COLUMNS)} |"
    yield "|:--|--:|--:|--:|--:|:--|:--|"
    for row in rows(report):
        name = f"&nbsp;&nbsp;{_plain(row.what)}" if row.is_file else f"**{_plain(row.what)}**"
        cells = (name, *map(_plain, row[1:6]), _VERDICTS[row.verdict])
        yield f"| {' | '.join(cells)} |"


def _fitting(lines: list[str], room: int) -> Iterator[str]:
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 100:
            yield f"\n*{len(lines) - number} more rows are left out.*"
            return
        yield line


def _violations(report: CheckReport) -> Iterator[str]:
    found = [(result.budget.name, violation) for result in report.budgets for violation in result.violations]
    for name, violation in found:
        yield _violation(name, violation)


def _violation(name: str, violation: Violation) -> str:
    place = _plain(f"{violation.path}:{violation.line}")
    what = f"{_SIGNS[violation.severity]} {violation.code} {place} ({_plain(name)}): {_plain(violation.message)}"
    return f"- {what}<br>{_plain(violation.fix)}"


def _prices(report: CheckReport) -> str:
    models = [model for model, price in report.prices.models.items() if price]
    return f"\n<sub>Prices of {report.prices.at.time:%Y-%m-%d}: {_plain(', '.join(models))}.</sub>" if models else ""


def _plain(text: str) -> str:
    """Text that is not markup, on one line.

    GitHub looks for mentions and references where no backslash is left: a space of no width stops it.
    """
    return _SPECIAL.sub(lambda found: f"\\{found[1]}{_NOTHING if found[1] in '@#' else ''}", printable(text))
