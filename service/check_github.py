"""A check as workflow commands of GitHub Actions, which become annotations on a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from ..estimators.budget_report import CheckReport
from .check_rows import summary
from .reports import printable

MOST = 10
"""Annotations of one level that GitHub shows of a step; the rest it drops."""


def render(report: CheckReport) -> str:
    """Up to ten errors, warnings and notices each, then how many more there are, then how it went."""
    levels = {"error": list(_violations(report, "error")), "warning": list(_violations(report, "warning"))}
    levels["notice"] = [_command("notice", {"title": "tokengap"}, notice) for notice in report.notices]
    lines = [line for found in levels.values() for line in found[:MOST]]
    more = [f"{len(found) - MOST} more {level}s" for level, found in levels.items() if len(found) > MOST]
    if more:
        lines.append(f"tokengap: and {', '.join(more)}, of which GitHub shows none; --output json=FILE has them all")
    lines.append(f"tokengap: {printable(summary(report))}")
    return "".join(f"{line}\n" for line in lines)


def _violations(report: CheckReport, severity: str) -> Iterator[str]:
    for result in report.budgets:
        for violation in result.violations:
            if violation.severity == severity:
                title = f"tokengap {violation.code}: {result.budget.name}"
                properties = {"file": report.located(violation.path), "line": str(violation.line), "title": title}
                yield _command(severity, properties, f"{violation.message}\nHow to fix: {violation.fix}")


def _command(level: str, properties: dict[str, str], message: str) -> str:
    """``::error file=…,line=…::message``, escaped as GitHub's runner unescapes it, on one line that shows.

    >>> _command("error", {"file": "a,b:c"}, "50%\\nmore")
    '::error file=a%2Cb%3Ac::50%25%0Amore'
    """
    written = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {written}::{_data(message)}"


def _data(text: str) -> str:
    text = "".join(char if char in "\r\n" else printable(char) for char in text)
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
