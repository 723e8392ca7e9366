"""A check as JUnit's XML, as CI servers read test results."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ..estimators.budget_report import MISSING, BudgetResult, CheckReport, Violation
from .reports import printable

_WHOLE = "all files"


def render(report: CheckReport) -> str:
    """A suite for each budget: a case for all its files together, and one for each that is there.

    What is broken is a failure, what is missing an error, and a warning is what the case printed.
    """
    root = Element("testsuites", name="tokengap")
    for result in report.budgets:
        _suite(root, result)
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suite(root: Element, result: BudgetResult) -> None:
    suite = SubElement(root, "testsuite", name=printable(result.budget.name))
    of_file: dict[str | None, list[Violation]] = {}
    for violation in result.violations:
        of_file.setdefault(violation.file, []).append(violation)
    _case(suite, _WHOLE, of_file.get(None, ()))
    for file in result.files:
        if file.head:
            _case(suite, file.path, of_file.get(file.path, ()))
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", str(len(suite.findall("testcase/error"))))


def _case(suite: Element, name: str, violations: Iterable[Violation]) -> None:
    case = SubElement(suite, "testcase", classname=suite.get("name", ""), name=printable(name), time="0")
    for violation in violations:
        text = printable(f"{violation.path}:{violation.line}: {violation.message}. How to fix: {violation.fix}")
        if violation.severity == "warning":
            SubElement(case, "system-out").text = f"{violation.code}: {text}"
        else:
            SubElement(case, _tag(violation), type=violation.code, message=printable(violation.message)).text = text


def _tag(violation: Violation) -> str:
    return "error" if violation.code in MISSING else "failure"
