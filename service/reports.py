"""What a person reads of counts: plain lines, like ``wc``. Tables are in ``tables.py``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..estimators.counting import WARNINGS, Report, Row, Total
from ..tokenizers.counter import weakest
from .inputs import Skipped

MOST_SKIPPED = 5
_IN_TITLE = "uncalibrated"


def write_json(body: object) -> None:
    """JSON on standard output, in ASCII so that any terminal and any file name can take it."""
    import json

    sys.stdout.write(json.dumps(body, indent=2) + "\n")


def write_report_json(report: Report, skipped: Sequence[Skipped]) -> None:
    """The JSON every door answers with, and which files were no text."""
    from ..estimators.contract import report_json

    write_json(report_json(report) | {"skipped": [file._asdict() for file in skipped]})


def write_counts(report: Report) -> None:
    """A block for each counter: what it is and how good, then tokens, cost and name of each text."""
    for position, total in enumerate(report.total):
        rows = [row for row in report.results if row.counter == total.counter]
        lines = [(row.count.tokens, _cost(row), printable(row.source) + _bounds(row)) for row in rows]
        if len(rows) > 1:
            lines.append((total.tokens, _cost(total), "total"))
        width = max(len(f"{tokens:,}") for tokens, _, _ in lines)
        cost_width = max(len(cost) for _, cost, _ in lines)
        sys.stdout.write(("\n" if position else "") + counter_title(rows) + "\n")
        for tokens, cost, source in lines:
            unit = "token " if tokens == 1 else "tokens"
            sys.stdout.write(f"  {tokens:>{width},} {unit}  {cost:>{cost_width}}{source}\n")


def _cost(counted: Row | Total) -> str:
    if counted.cost is None:
        return ""
    from ..estimators.price import display

    variant = counted.price.variant if isinstance(counted, Row) and counted.price else None
    return f"{display(counted.cost)}{f' ({variant})' if variant else ''}  "


def printable(name: str) -> str:
    """A name that cannot move the cursor or forge a line: what does not print is escaped."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in name)


def counter_title(rows: Sequence[Row]) -> str:
    """Name a counter and say how good its counts are together."""
    row, count = rows[0], rows[0].count
    kind = weakest(each.count.kind for each in rows)
    name = row.counter if row.counter == count.tokenizer else f"{printable(row.counter)} ({count.tokenizer})"
    measured = all(each.count.kind == "exact" or each.count.interval for each in rows)
    return f"{name}: {kind}{'' if measured else ', no measured error'}, {count.fingerprint[:19]}"


def _bounds(row: Row) -> str:
    low, high = row.count.interval or (0, 0)
    return f" (between {low:,} and {high:,})" if low < high else ""


def write_warnings(report: Report, skipped: Sequence[Skipped] = ()) -> None:
    """Warn on standard error, once for each text or price and reason; how good a counter is stands in its title."""
    counters: dict[str, set[str]] = {}
    said: dict[tuple[str, str], set[str]] = {}
    for row in report.results:
        counters.setdefault(row.source, set()).add(row.counter)
        for code in row.warnings:
            if code != _IN_TITLE:
                why = explained(code, row.request.not_counted if row.request else ())
                said.setdefault((row.source, why), set()).add(row.counter)
    lines = {
        f"{source}: {why}" + ("" if of == counters[source] else f" (by {', '.join(sorted(of))})")
        for (source, why), of in said.items()
    }
    lines |= {f"{counter}: {warning}" for counter, price in report.prices() for warning in price.warnings}
    for line in sorted(lines):
        warn(line)
    for file in skipped[:MOST_SKIPPED]:
        warn(f"skipped {file.source}: {file.reason}")
    if len(skipped) > MOST_SKIPPED:
        warn(f"skipped {len(skipped) - MOST_SKIPPED} more files that are not text; --json lists them all")


def explained(code: str, not_counted: Sequence[str] = ()) -> str:
    """A warning in words; ``not_counted`` are the paths that the warning of that name is about."""
    if code != "not_counted" or not not_counted:
        return WARNINGS.get(code, code)
    more = f" and {len(not_counted) - MOST_SKIPPED} more" if len(not_counted) > MOST_SKIPPED else ""
    return f"not counted: {', '.join(not_counted[:MOST_SKIPPED])}{more}"


def warn(text: str) -> None:
    """One line on standard error, which is none where the process was started without it."""
    if sys.stderr is not None:
        sys.stderr.write(f"tokengap: warning: {printable(text)}\n")
