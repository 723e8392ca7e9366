"""The hooks around tests, once one of them uses ``token_budget``."""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

from ..tokenizers.errors import TokengapError
from .pytest_budget import TokenBudget
from .pytest_plugin import NAME
from .pytest_terms import Terms, read_marks

if TYPE_CHECKING:
    from pluggy import Result

_BUDGET = pytest.StashKey[TokenBudget]()


def hook_in(config: pytest.Config) -> None:
    """Make the hooks of this module those of the run; once is enough."""
    if not config.pluginmanager.has_plugin(__name__):
        config.pluginmanager.register(sys.modules[__name__], __name__)


def new_budget(item: pytest.Item) -> TokenBudget:
    """The budget of a test, by its markers."""
    budget = item.stash[_BUDGET] = TokenBudget(_terms(item), item.config.rootpath)
    return budget


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse a marker that says nothing or has a wrong argument before the test runs."""
    _terms(item)


@pytest.hookimpl(trylast=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Fail a test whose own marker sets a limit, and that passed without counting anything."""
    if any(mark.name == NAME and mark.kwargs.keys() & {"max_tokens", "max_cost"} for mark in item.own_markers):
        budget = item.stash.get(_BUDGET, None)
        if not (budget and budget.counted):
            pytest.fail(
                "this test is marked with token_budget and counted nothing: "
                "take the fixture token_budget, and call it with what is to be counted",
                pytrace=False,
            )


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Result[pytest.TestReport], None]:
    """Put what a test counted into its last report, which xdist carries from the worker to the controller."""
    outcome = yield
    budget = item.stash.get(_BUDGET, None)
    if budget and budget.counted and call.when == "teardown":
        setattr(outcome.get_result(), NAME, budget.lines())


def _terms(item: pytest.Item) -> Terms:
    """What the markers of a test, its class and its module say together; the nearer goes first."""
    try:
        return read_marks((mark.args, mark.kwargs) for mark in item.iter_markers(NAME))
    except TokengapError as error:
        wrong = str(error)
    pytest.fail(f"the marker token_budget of {item.nodeid}: {wrong}", pytrace=False)
