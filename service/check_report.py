"""A check's report in each format, printed and written to files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..estimators.budget_report import check_json
from ..tokenizers.errors import TokengapError
from ..tokenizers.files import write_atomically
from .check_cli import FORMATS

if TYPE_CHECKING:
    from ..estimators.budget_report import CheckReport


class Outputs:
    """Where reports go. Raises TokengapError for an ``--output`` that is not FORMAT=FILE, or is written over.

    ``written`` is a file that the command writes besides.
    """

    def __init__(self, printed: str, files: Sequence[str], *, quiet: bool, written: str | None = None) -> None:
        self._printed, self._quiet = printed, quiet
        self._files = [_output(text) for text in files]
        seen = {os.path.realpath(written)} if written else set()
        for format, path in self._files:
            if (real := os.path.realpath(path)) in seen:
                raise TokengapError(f"--output {format}={path}: the file is written twice; give each a name of its own")
            seen.add(real)

    def write(self, report: CheckReport) -> None:
        """Write every file, the summary of a step of GitHub Actions, and print."""
        for format, path in self._files:
            write_atomically(path, _bytes(render(report, format)))
        if self._quiet and is_quiet(report):
            return
        if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
            try:
                with open(summary, "ab") as file:
                    file.write(_bytes(render(report, "markdown")))
            except OSError as error:
                problem = error.strerror or error
                raise TokengapError(f"cannot write {summary}, which GITHUB_STEP_SUMMARY names: {problem}") from error
        sys.stdout.write(render(report, self._printed, screen=sys.stdout))


def is_quiet(report: CheckReport) -> bool:
    """Whether there is nothing new to say: all is within budget, and nothing has changed.

    What was so on the base already is nothing new; without a base, nothing may be in doubt. What was not checked
    is never passed over.
    """
    if not report.passed or report.unchecked or any(result.changed for result in report.budgets):
        return False
    return report.baseline is not None or not (report.violations or report.notices)


def render(report: CheckReport, format: str, *, screen: TextIO | None = None) -> str:
    """A report as text; a table is coloured and drawn as the screen it is for can show it."""
    if format == "json":
        return json.dumps(check_json(report), indent=2) + "\n"
    if format == "table":
        from .check_table import render as table

        return table(report, screen)
    module = import_module(f".check_{format}", __package__)
    rendered: Callable[[CheckReport], str] = module.render
    return rendered(report)


def _bytes(text: str) -> bytes:
    """UTF-8; a file name that is none is escaped."""
    return text.encode(errors="backslashreplace")


def _output(text: str) -> tuple[str, Path]:
    format, equals, path = text.partition("=")
    if not equals or not path or format not in FORMATS:
        raise TokengapError(
            f"bad --output {text[:80]!r}: FORMAT=FILE is needed, the format one of {', '.join(FORMATS)}"
        )
    return format, Path(path)
