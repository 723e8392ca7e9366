"""A check as SARIF 2.1.0, which code scanning services read."""

from __future__ import annotations

import json
from importlib.metadata import version
from urllib.parse import quote

from ..estimators.budget_report import CODES, CheckReport, Violation
from .check_gitlab import fingerprint
from .reports import printable

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_NAMES = {
    "TOK001": "MaxTokens",
    "TOK002": "MaxCost",
    "TOK003": "MaxGrowth",
    "TOK004": "MaxTokensPerFile",
    "TOK010": "Unpriced",
    "TOK011": "Inexact",
}


def render(report: CheckReport) -> str:
    """One run with a result for each violation, its paths relative to the repository's top."""
    run = {
        "tool": {
            "driver": {
                "name": "tokengap",
                "version": version("tokengap"),
                "rules": [_rule(code) for code in CODES],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "The top of the repository."}}},
        "invocations": [
            {
                "executionSuccessful": True,
                "exitCode": report.exit_code,
                "toolExecutionNotifications": [
                    {"level": "note", "message": {"text": f"{printable(notice)}."}} for notice in report.notices
                ],
            }
        ],
        "results": [
            _result(report, result.budget.name, violation)
            for result in report.budgets
            for violation in result.violations
        ],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str) -> dict[str, object]:
    return {
        "id": code,
        "name": _NAMES[code],
        "shortDescription": {"text": _sentence(CODES[code])},
        "fullDescription": {"text": _sentence(f"A budget of tokengap is not kept: {CODES[code]}")},
        "defaultConfiguration": {"level": "error"},
    }


def _result(report: CheckReport, budget: str, violation: Violation) -> dict[str, object]:
    path = report.located(violation.path)
    return {
        "ruleId": violation.code,
        "ruleIndex": list(CODES).index(violation.code),
        "level": violation.severity,
        "message": {"text": _sentence(f"'{budget}': {violation.message}. How to fix: {violation.fix}")},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(path, errors="surrogateescape"), "uriBaseId": "SRCROOT"},
                    "region": {"startLine": violation.line},
                }
            }
        ],
        "partialFingerprints": {"tokengap/v1": fingerprint(budget, violation, path)},
        "properties": {"introduced": violation.introduced},
    }


def _sentence(text: str) -> str:
    text = printable(text)
    return f"{text[:1].upper()}{text[1:]}."
