"""Whether files keep within their budgets, and what a change has done to that."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from .as_of import AsOf
from .budget_report import CheckReport, Prices
from .budget_selection import select_files

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import date

    from .budget_baseline import Base
    from .budget_config import Loaded
    from .budget_plan import Plan
    from .price_book import PriceBook


class Checked(NamedTuple):
    """A report, and how each of its budgets was counted, which a recording needs to know."""

    report: CheckReport
    plans: tuple[Plan, ...]


def check_budgets(
    loaded: Loaded,
    files: Mapping[str, bytes],
    base: Base | None = None,
    *,
    only: Collection[str] | None = None,
    book: PriceBook | None = None,
    today: date | None = None,
    fail_inherited: bool = False,
    allow_missing: bool = False,
    workers: int | None = None,
) -> Checked:
    """Check ``files``, by their paths, against the budgets of a configuration.

    ``base`` is what they are compared with. With ``only``, budgets that have none of these paths are
    left out. ``today`` is the day the age of prices is told on. What was over on the base already is a
    warning unless ``fail_inherited``; a price or bound that is missing fails unless ``allow_missing``.
    ``workers`` threads count, by default one for each core.
    Raises TokengapError, with the line of the configuration, for what cannot be checked.
    """
    selections, empty = select_files(loaded, files, base, only)
    if not selections:  # and nothing of what counts and prices need be imported
        prices = Prices(loaded.configuration.prices_at or AsOf(datetime.now(UTC)), False, 0, False, {})
        report = CheckReport((), tuple(empty), prices, base.name if base else None, loaded.origin.name)
        return Checked(report._replace(unchecked=frozenset(empty)), ())
    from .budget_run import Options, run_check

    options = Options(book, today, fail_inherited, allow_missing, workers)
    report, plans = run_check(loaded, selections, files, base, options)
    return Checked(report._replace(notices=(*empty, *report.notices), unchecked=report.unchecked | {*empty}), plans)
