"""A check as a table for the terminal, and under it what is wrong and how to mend it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from ..estimators.budget_report import CheckReport
from .check_rows import COLUMNS, Row, rows, summary
from .reports import printable

MOST_FILES = 50
"""Files of a budget that the table shows; the other formats have all."""

_STYLES = {"pass": "green", "warn": "yellow", "fail": "bold red"}
_WORDS = {"error": "FAIL", "warning": "warn"}


def render(report: CheckReport, screen: TextIO | None = None) -> str:
    """The table, the violations with their remedy, the notices, and how it went."""
    table = _table(list(rows(report, MOST_FILES)), screen) if report.budgets else ""
    return table + "".join(f"{printable(line)}\n" for line in _lines(report))


def _table(shown: list[Row], screen: TextIO | None) -> str:
    from rich.box import ASCII, SIMPLE_HEAD
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text as Plain

    from .tables import rendered, terminal_width

    terminal = screen is not None and screen.isatty()
    utf = screen is None or (screen.encoding or "").lower().startswith("utf")
    table = Table(box=SIMPLE_HEAD if utf else ASCII, header_style="bold", pad_edge=False, show_edge=False)
    for position, name in enumerate(COLUMNS):
        table.add_column(Plain(name), justify="right" if 0 < position < 5 else "left", no_wrap=True)
    widths = [len(name) for name in COLUMNS]
    for row in shown:
        cells = [printable(cell) for cell in (_name(row), *row[1:6])]
        widths = [max(width, cell_len(cell)) for width, cell in zip(widths, (*cells, row.verdict), strict=True)]
        table.add_row(*map(Plain, cells), Plain(row.verdict, style=_STYLES[row.verdict]))
    # Wider than the terminal if need be: a number cut short would be a wrong one.
    return rendered(table, max(sum(widths) + 3 * len(widths), terminal_width()), terminal=terminal) + "\n"


def _name(row: Row) -> str:
    """A name that begins with :: would be a command to a runner of GitHub Actions that reads this."""
    name = f"./{row.what}" if row.what.startswith("::") else row.what
    return f"  {name}" if row.is_file else name


def _lines(report: CheckReport) -> Iterator[str]:
    for result in report.budgets:
        for violation in result.violations:
            place = f"{violation.path}:{violation.line}"
            yield f"{_WORDS[violation.severity]} {violation.code} {place}: {result.budget.name}: {violation.message}"
            yield f"     {violation.fix}"
    for notice in report.notices:
        yield f"note: {notice}"
    yield summary(report)
