"""``tokengap count`` and ``tokengap counters``, and the arguments that name texts and counters."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..estimators.counting import UNITS, ChatRequest, Given, Report, Row, Total, count
from ..tokenizers.errors import TokengapError, UnknownNameError
from ..tokenizers.registry import DEFAULT_COUNTER, listing
from .inputs import STDIN, Found, Skipped, find_files, read_long_texts
from .price_options import add_book, load
from .progress import watched
from .reports import write_counts, write_json, write_report_json, write_warnings

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from ..tokenizers.engine_report import Engine
    from .cli import Parser

COUNTERS = """\
counters:
  Exact: o200k_base (the default), cl100k_base, p50k_base, r50k_base (or gpt2), o200k_harmony,
  p50k_edit. Rules of thumb: words:FACTOR, chars:SIZE, bytes. model:NAME is the encoding a model
  uses. 'tokengap counters' lists them all. Text is data: <|endoftext|> in it is ordinary text.
"""
_EXAMPLES = """
examples:
  tokengap count prompt.md
  tokengap count --model gpt-4o 'prompts/**/*.md'
  git diff | tokengap count --counter cl100k_base --quiet
"""


def add_parsers(commands: _SubParsersAction[Parser]) -> None:
    """Add the two commands."""
    counting = commands.add_parser(
        "count",
        description="Count the tokens of texts, and price them where a model or a price is given.",
        epilog=COUNTERS + _EXAMPLES,
    )
    add_inputs(counting)
    counting.add_argument("-q", "--quiet", action="store_true", help="print the total alone, as a plain number")
    counting.set_defaults(run=_count)

    listed = commands.add_parser("counters", description="List the counters: name, how good, what it is.")
    listed.add_argument(
        "-v", "--verbose", action="store_true", help="also build and check the engines that count, and list them"
    )
    listed.add_argument("--json", action="store_true", help="print JSON")
    listed.set_defaults(run=_counters)


def add_inputs(parser: Parser) -> None:
    """Add the arguments that say which texts, which counters and which price."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files, directories (without what git ignores), quoted globs, or - for standard input (the default)",
    )
    parser.add_argument(
        "--request",
        dest="requests",
        action="append",
        default=[],
        metavar="FILE",
        help="a whole request to a chat model, as JSON, or several as JSONL (repeatable)",
    )
    parser.add_argument("--text", action="append", default=[], metavar="TEXT", help="a text to count (repeatable)")
    parser.add_argument(
        "-c",
        "--counter",
        dest="counters",
        action="append",
        default=[],
        metavar="SPEC",
        help=f"what to count with (repeatable; default: {DEFAULT_COUNTER})",
    )
    parser.add_argument(
        "-m",
        "--model",
        dest="counters",
        action="append",
        type="model:{}".format,
        metavar="NAME",
        help="count with the encoding this model uses, and price it (repeatable)",
    )
    parser.add_argument(
        "--price",
        metavar="PRICE",
        help="a price per million tokens instead of the model's: '3 EUR' or 'in=3,out=15 USD'",
    )
    parser.add_argument(
        "--as", dest="unit", choices=UNITS, default="input", help="price the tokens as this (default: %(default)s)"
    )
    add_book(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def _count(args: argparse.Namespace) -> int:
    skipped: list[Skipped] = []
    texts, counters = texts_of(args, skipped)
    if counters:
        report = count(texts, counters, price=args.price, unit=args.unit, **book_of(args, counters))
    else:
        report = _count_by_model(args, texts)
    if args.json:
        write_report_json(report, skipped)
    elif args.quiet:
        sys.stdout.writelines(f"{total.tokens}\n" for total in report.total)
    else:
        write_counts(report)
        write_warnings(report, skipped)
    return 0


def _count_by_model(args: argparse.Namespace, texts: Iterable[Given]) -> Report:
    """Count each request for the model that it names, and all else with the default counter."""
    given = list(texts)
    by_counter: dict[str, list[int]] = {}
    for position, text in enumerate(given):
        by_counter.setdefault(_counter_of(text), []).append(position)
    rows: dict[int, Row] = {}
    total: list[Total] = []
    for counter, positions in by_counter.items():
        options = book_of(args, [counter])
        try:
            report = count((given[at] for at in positions), [counter], price=args.price, unit=args.unit, **options)
        except UnknownNameError as error:
            raise TokengapError(f"{given[positions[0]].source}: {error}") from error
        rows |= zip(positions, report.results, strict=True)
        total += report.total
    return Report(tuple(rows[position] for position in sorted(rows)), tuple(total))


def _counter_of(text: Given) -> str:
    if not isinstance(text, ChatRequest):
        return DEFAULT_COUNTER
    from ..estimators.request_settings import named_model

    model = named_model(text.body)
    if model is None:
        raise TokengapError(f"{text.source}: the request names no model: give --model, or --counter {DEFAULT_COUNTER}")
    return f"model:{model}"


def _counters(args: argparse.Namespace) -> int:
    found = _engines() if args.verbose else None
    if args.json:
        shown = {"counters": [entry._asdict() for entry in listing()]}
        write_json(shown if found is None else shown | {"engines": [engine._asdict() for engine in found]})
        return 0
    from .tables import write_table

    rows = [(entry.form, entry.kind, entry.summary) for entry in listing()]
    write_table(("counter", "kind", "what it is"), rows, text=3)
    if found is not None:
        columns = ("encoding", "engine", "version", "used", "note")
        lines = [(e.encoding, e.engine, e.version or "-", "yes" if e.used else "no", e.note) for e in found]
        write_table(columns, lines, text=5)
    return 0


def _engines() -> tuple[Engine, ...]:
    from ..tokenizers.engine_report import engines

    return engines()


def book_of(args: argparse.Namespace, counters: list[str]) -> dict[str, Any]:
    """The book and the time that price the counters; no book is read where none is needed."""
    needed = not args.price and any(counter.startswith("model:") for counter in counters)
    return {"book": load(args) if needed else None, "as_of": args.as_of}


def texts_of(args: argparse.Namespace, skipped: list[Skipped]) -> tuple[Iterator[Given], list[str]]:
    """The texts and requests the arguments name, standard input where they name none, and the counters.

    No counter is the default one, where there are no requests.
    """
    paths, requests, counters = args.paths, [], args.counters
    if args.requests:
        from .requests import read_requests

        requests = read_requests(args.requests)
    elif not paths and not args.text:
        if sys.stdin is not None and sys.stdin.isatty():
            raise TokengapError("nothing to count: name a file or directory, give --text, or pipe a text in")
        paths = [STDIN]
    if not requests:
        counters = counters or [DEFAULT_COUNTER]
    return _read(args.text, find_files(paths), requests, skipped), counters


def _read(texts: list[str], found: list[Found], requests: list[ChatRequest], skipped: list[Skipped]) -> Iterator[Given]:
    total = len(texts) + len(found) + len(requests)
    everything: Iterator[Given] = chain(read_long_texts(found, texts, skipped), requests)
    yield from watched(everything, total)
    if len(skipped) == total:
        first = skipped[0]
        raise TokengapError(f"nothing to count: no UTF-8 text in {total} files ({first.source}: {first.reason})")
