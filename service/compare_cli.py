"""``tokengap compare``: counts side by side, and the gap to a naive estimate."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..estimators.comparison import DEFAULT_BASELINE, PERIODS, compare
from ..estimators.counting import ChatRequest, Given
from ..tokenizers.errors import TokengapError
from .count_cli import COUNTERS, add_inputs, book_of, texts_of
from .inputs import Skipped
from .numbers import whole
from .reports import write_report_json, write_warnings

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from .cli import Parser

_EXAMPLES = """
examples:
  tokengap compare --model gpt-4o --calls 200000 --per month messages/
  tokengap compare --counter o200k_base --counter cl100k_base --baseline words:4/3 prompt.md
  tokengap compare --price 'in=3,out=15 USD' --text 'How much is this?'
"""


def add_parsers(commands: _SubParsersAction[Parser]) -> None:
    """Add the command."""
    comparing = commands.add_parser(
        "compare",
        description="Count texts under several counters, price them, and report the gap between a naive\n"
        "estimate (the baseline) and the count (the reference: the first counter that is\nno rule of thumb).",
        epilog=COUNTERS + _EXAMPLES,
    )
    add_inputs(comparing)
    comparing.add_argument(
        "--baseline", metavar="SPEC", default=DEFAULT_BASELINE, help="the naive estimate (default: %(default)s)"
    )
    comparing.add_argument(
        "--calls", type=whole, metavar="N", help="also give the money for N calls, each an average one of the texts"
    )
    comparing.add_argument("--per", choices=PERIODS, help="the period those calls are for (default: month)")
    comparing.set_defaults(run=_compare)


def _compare(args: argparse.Namespace) -> int:
    if args.per and args.calls is None:
        raise TokengapError("--per says what period the calls are for: give --calls too")
    skipped: list[Skipped] = []
    texts, counters = texts_of(args, skipped)
    if not counters:
        texts, counters = _by_one_model(texts)
    report = compare(
        texts,
        counters,
        baseline=args.baseline,
        price=args.price,
        unit=args.unit,
        calls=args.calls,
        per=args.per or "month",
        **book_of(args, counters),
    )
    if args.json:
        write_report_json(report, skipped)
    elif report.gap:
        from .tables import write_comparison

        write_comparison(report, report.gap)
        write_warnings(report, skipped)
    return 0


def _by_one_model(texts: Iterable[Given]) -> tuple[Iterator[Given], list[str]]:
    """The counter of the one model that requests name; a gap is to one count."""
    from .requests import common_model

    texts = list(texts)
    model = common_model([text for text in texts if isinstance(text, ChatRequest)])
    return iter(texts), [f"model:{model}"]
