"""``tokengap prices``: the prices that are known."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..tokenizers.errors import TokengapError
from .price_options import OneValue, add_book, load
from .reports import printable, write_json

if TYPE_CHECKING:
    from argparse import _SubParsersAction
    from datetime import datetime

    from ..estimators.price_book import PriceBook
    from ..estimators.price_list import ListedPrice


def add_parsers(subparsers: _SubParsersAction[Any]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "prices",
        description="The prices in the table, per million tokens. Without a pattern: the providers it has.",
    )
    parser.add_argument("pattern", nargs="?", help="a part of a model's name, or a glob such as 'gpt-5*'")
    parser.add_argument("--provider", action=OneValue, help="one provider's only")
    add_book(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run_prices)


def run_prices(args: argparse.Namespace) -> int:
    """Print the prices that match."""
    from ..estimators.as_of import in_utc, parse_as_of
    from ..estimators.price_list import count_models, list_prices

    book = load(args)
    as_of = parse_as_of(args.as_of)
    time = as_of.time
    listed = args.pattern or args.provider
    rows = list_prices(book, as_of, args.pattern, args.provider) if listed else []
    if args.json:
        table = book.table
        files = [{"name": layer.name, "path": layer.path, "sha256": layer.sha256} for layer in book.layers]
        source = {"table": table.name, "version": table.version, "sha256": table.sha256, "files": files}
        found = {"prices": [row.to_dict() for row in rows]} if listed else {"providers": count_models(book, time)}
        write_json({**found, "as_of": in_utc(time), "source": source})
    elif listed:
        notes = dict.fromkeys(f"note: {row.name}: {warning}" for row in rows for warning in row.price.warnings)
        if rows:
            print("\n".join(map(printable, [*map(_price_line, rows), _table_line(book, time), *notes])))
    else:
        lines = [f"{provider:28}{count:5} models" for provider, count in count_models(book, time).items()]
        print("\n".join(map(printable, [*lines, _table_line(book, time)])))
    if listed and not rows:
        raise TokengapError(f"no price matches {args.pattern or args.provider!r}; see 'tokengap prices'")
    return 0


def _table_line(book: PriceBook, time: datetime) -> str:
    table = " ".join(filter(None, (book.table.name, book.table.version)))
    files = "".join(f", {layer.name}: {layer.path}" for layer in book.layers)
    return f"prices: {table}{files}, as of {time:%Y-%m-%dT%H:%M:%SZ}"


def _price_line(row: ListedPrice) -> str:
    from ..estimators.price import plain

    rates = [f"{unit}={plain(rate)}" for unit, rate in row.price.per_million.items()]
    rates += [f"{unit}={plain(rate)}/1K" for unit, rate in row.price.per_thousand.items()]
    tiers = [f"above {tier.above}" for tier in row.price.tiers]
    own = [] if row.price.source.version else [row.price.source.table]
    more = [*tiers, *row.variants, *own]
    return f"{row.name}: {','.join(rates) or 'no price'} {row.price.currency}" + (
        f" ({', '.join(more)})" if more else ""
    )
