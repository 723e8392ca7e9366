"""A check as GitLab's code quality report."""

from __future__ import annotations

import json
from hashlib import sha256

from ..estimators.budget_report import CODES, CheckReport, Violation
from .reports import printable


def render(report: CheckReport) -> str:
    """A list with an entry for each violation, as https://docs.gitlab.com/ci/testing/code_quality describes it."""
    found = [
        _entry(report, result.budget.name, violation) for result in report.budgets for violation in result.violations
    ]
    return json.dumps(found, indent=2) + "\n"


def _entry(report: CheckReport, budget: str, violation: Violation) -> dict[str, object]:
    path = report.located(violation.path)
    return {
        "description": printable(f"{budget}: {violation.message}. How to fix: {violation.fix}"),
        "check_name": f"tokengap/{violation.code}",
        "fingerprint": fingerprint(budget, violation, path),
        "severity": "major" if violation.severity == "error" else "minor",
        "categories": ["Performance"],
        "content": {"body": CODES[violation.code]},
        "location": {"path": printable(path), "lines": {"begin": violation.line}},
    }


def fingerprint(budget: str, violation: Violation, path: str) -> str:
    """Names a violation, whatever its numbers are now: the same budget, the same limit, the same file."""
    named = "\0".join((violation.code, budget, path if violation.file else ""))
    return sha256(named.encode(errors="surrogateescape")).hexdigest()
