"""The pytest plugin: the fixture and marker ``token_budget``, and what they counted at the end of the run.

pytest imports this module in every run of every project that has tokengap installed. So it has what such a run
needs to see whether a test uses it, and the rest is imported, and hooked in, once one does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .pytest_budget import TokenBudget

NAME = "token_budget"
_MARKER = (
    "token_budget(max_tokens=, max_cost=, calls=, model=, counter=, price=, as_of=, count=): "
    "what all that this test counts with the fixture token_budget may come to, and how it is counted"
)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if any(NAME in item.keywords for item in items):
        from .pytest_hooks import hook_in

        hook_in(config)


@pytest.fixture
def token_budget(request: pytest.FixtureRequest) -> TokenBudget:
    """Count a text, a request, its messages or a file, and fail where that is over the budget.

    token_budget("You are …", max_tokens=500, model="gpt-4o", max_cost="0.02 USD")
    """
    from .pytest_hooks import hook_in, new_budget

    hook_in(request.config)
    return new_budget(request.node)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what the last reports of tests carry, from wherever they ran."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    counted = {report.nodeid: getattr(report, NAME) for report in reports if hasattr(report, NAME)}
    if counted:
        from .pytest_summary import summary

        terminalreporter.section("token budgets")
        for line, broken in summary(counted, terminalreporter.verbosity):
            terminalreporter.write_line(line, red=broken)
