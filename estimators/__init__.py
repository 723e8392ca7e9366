"""The Python API of tokengap: ``from tokengap.estimators import count, compare``.

Names are imported when they are first used, so that counting does not wait for prices or comparisons.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..tokenizers.errors import TokengapError, UnknownNameError
    from .budget_check import check_budgets
    from .budget_config import Budget, Configuration, read_configuration
    from .budget_report import CheckReport, check_json
    from .comparison import compare
    from .contract import report_json
    from .cost import CostResult, price_report, price_usage
    from .counting import ChatRequest, Report, Row, Text, Total, count
    from .currency import ExchangeRate, parse_exchange_rate
    from .cutting import Cut, count_until, cut, cut_answer
    from .fitting import Fitting, fit_input
    from .gap import Gap, Part, Volume
    from .limits import Fit, Limits, find_limits, fit
    from .price import Money, Price, parse_price
    from .price_book import PriceBook, load_book, model_price
    from .request_cost import RequestCost, price_request
    from .request_count import RequestCount, count_request
    from .splitting import Chunk, split
    from .usage import Usage
    from .volume import Range, monthly_cost

__all__ = [
    "Budget",
    "ChatRequest",
    "CheckReport",
    "Chunk",
    "Configuration",
    "CostResult",
    "Cut",
    "ExchangeRate",
    "Fit",
    "Fitting",
    "Gap",
    "Limits",
    "Money",
    "Part",
    "Price",
    "PriceBook",
    "Range",
    "Report",
    "RequestCost",
    "RequestCount",
    "Row",
    "Text",
    "TokengapError",
    "Total",
    "UnknownNameError",
    "Usage",
    "Volume",
    "check_budgets",
    "check_json",
    "compare",
    "count",
    "count_request",
    "count_until",
    "cut",
    "cut_answer",
    "find_limits",
    "fit",
    "fit_input",
    "load_book",
    "model_price",
    "monthly_cost",
    "parse_exchange_rate",
    "parse_price",
    "price_report",
    "price_request",
    "price_usage",
    "read_configuration",
    "report_json",
    "split",
]

_MODULES = {
    "..tokenizers.errors": ("TokengapError", "UnknownNameError"),
    ".budget_check": ("check_budgets",),
    ".budget_config": ("Budget", "Configuration", "read_configuration"),
    ".budget_report": ("CheckReport", "check_json"),
    ".comparison": ("compare",),
    ".contract": ("report_json",),
    ".cost": ("CostResult", "price_report", "price_usage"),
    ".counting": ("ChatRequest", "Report", "Row", "Text", "Total", "count"),
    ".currency": ("ExchangeRate", "parse_exchange_rate"),
    ".cutting": ("Cut", "count_until", "cut", "cut_answer"),
    ".fitting": ("Fitting", "fit_input"),
    ".gap": ("Gap", "Part", "Volume"),
    ".limits": ("Fit", "Limits", "find_limits", "fit"),
    ".price": ("Money", "Price", "parse_price"),
    ".price_book": ("PriceBook", "load_book", "model_price"),
    ".request_cost": ("RequestCost", "price_request"),
    ".request_count": ("RequestCount", "count_request"),
    ".splitting": ("Chunk", "split"),
    ".usage": ("Usage",),
    ".volume": ("Range", "monthly_cost"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return __all__
