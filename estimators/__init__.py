"""The Python API of tokengap: ``from tokengap.estimators import count, compare``.

Names are imported when they are first used, so that counting does not wait for prices or comparisons.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..tokenizers.errors import TokengapError, UnknownNameError
    from .comparison import compare
    from .contract import report_json
    from .counting import ChatRequest, Report, Row, Text, Total, count
    from .gap import Gap, Part, Volume
    from .price import Money, Price, parse_price
    from .request_count import RequestCount, count_request

__all__ = [
    "ChatRequest",
    "Gap",
    "Money",
    "Part",
    "Price",
    "Report",
    "RequestCount",
    "Row",
    "Text",
    "TokengapError",
    "Total",
    "UnknownNameError",
    "Volume",
    "compare",
    "count",
    "count_request",
    "parse_price",
    "report_json",
]

_MODULES = {
    "..tokenizers.errors": ("TokengapError", "UnknownNameError"),
    ".comparison": ("compare",),
    ".contract": ("report_json",),
    ".counting": ("ChatRequest", "Report", "Row", "Text", "Total", "count"),
    ".gap": ("Gap", "Part", "Volume"),
    ".price": ("Money", "Price", "parse_price"),
    ".request_count": ("RequestCount", "count_request"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return __all__
