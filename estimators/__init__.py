"""The Python API of tokengap: ``from tokengap.estimators import count, compare``."""

from __future__ import annotations

from ..tokenizers.errors import TokengapError, UnknownNameError
from .comparison import Report, Row, Text, Total, compare, count
from .contract import report_json
from .gap import Gap, Part, Volume
from .price import Money, Price, parse_price

__all__ = [
    "Gap",
    "Money",
    "Part",
    "Price",
    "Report",
    "Row",
    "Text",
    "TokengapError",
    "Total",
    "UnknownNameError",
    "Volume",
    "compare",
    "count",
    "parse_price",
    "report_json",
]
