"""The commands ``tokengap cost`` and ``tokengap prices``: parse, call an estimator, render."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..tokenizers.errors import TokengapError, UnknownNameError
from .json_files import read_json
from .price_options import add_book, load
from .reports import explained, write_json

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from ..estimators.cost import CostResult
    from ..estimators.price_list import ListedPrice
    from ..estimators.request_count import RequestCount
    from ..estimators.usage import Usage
    from ..estimators.volume import VolumeEstimate

COUNTS = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cache_read": "cache_read",
    "cache_write": "cache_write",
    "cache_write_1h": "cache_write_1h",
    "reasoning_tokens": "reasoning",
}
"""Options that give a count, and the field of Usage each is for."""

_PRICED_TIERS = ("flex", "priority")
_STANDARD_TIERS = ("auto", "default", "standard", "standard_only")
"""What a request may name as its service_tier: at a price of its own, or at the standard one."""

PER = {1_000_000: "1M", 1_000: "1K"}
"""How a rate's unit is written, as in price files."""


def add_parsers(subparsers: _SubParsersAction[Any]) -> None:
    """Add both commands; each sets ``run``, a function of the parsed arguments that returns the exit code."""
    _add_cost(subparsers)
    _add_prices(subparsers)


def _add_cost(subparsers: _SubParsersAction[Any]) -> None:
    parser = subparsers.add_parser(
        "cost",
        description="What a call costs, by its token counts or by a provider's usage object. "
        "Exit 2 for an unknown model; a known one without a price is exit 0 with status 'unpriced'.",
    )
    parser.add_argument("--model", help="model, such as gpt-4o or anthropic/claude-sonnet-4-5")
    parser.add_argument("--provider", help="who serves it, such as azure or bedrock (default: told by the name)")
    used = parser.add_argument_group("usage")
    used.add_argument("--request", metavar="FILE", help="a request as JSON, whose input tokens are counted")
    used.add_argument("--input-tokens", metavar="N", help="all tokens sent, cached ones included")
    used.add_argument("--output-tokens", metavar="N", help="all tokens received, reasoning included")
    used.add_argument("--cache-read", metavar="N", help="of the input, read from the cache")
    used.add_argument("--cache-write", metavar="N", help="of the input, written to the cache, 1 h part included")
    used.add_argument("--cache-write-1h", metavar="N", help="of what was written, kept for 1 h")
    used.add_argument("--reasoning-tokens", metavar="N", help="of the output, reasoning")
    used.add_argument("--usage", metavar="FILE", help="a usage object or whole response as JSON; - for stdin")
    used.add_argument("--usage-format", metavar="FORMAT", help="whose it is, where its keys do not tell")
    month = parser.add_argument_group("per month")
    month.add_argument("--calls", metavar="N", help="calls a month, or min/typical/max as in 1000/2000/9000; "
                       "then --output-tokens may be such a range too")  # fmt: skip
    month.add_argument("--cached-share", metavar="SHARE", help="of the input, read from the cache: 0.6 or 60%%")
    month.add_argument("--words", metavar="N", help="words of the input, to show the estimate by words beside it")
    month.add_argument("--words-factor", metavar="F", default="1", help="tokens a word in that estimate (default: 1)")
    price = parser.add_argument_group("price")
    price.add_argument("--variant", action="append", metavar="NAME", help="batch, flex, priority or fast")
    price.add_argument("--price", metavar="TEXT", help="price per million tokens: 'in=3,cache_read=0.3,out=15 USD'")
    price.add_argument(
        "--exchange-rate", metavar="TEXT", help="show the total in it too: '1 USD = 0.92 EUR @ 2026-11-28'"
    )
    add_book(price)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run_cost)


def _add_prices(subparsers: _SubParsersAction[Any]) -> None:
    parser = subparsers.add_parser(
        "prices",
        description="The prices in the table, per million tokens. Without a pattern: the providers it has.",
    )
    parser.add_argument("pattern", nargs="?", help="a part of a model's name, or a glob such as 'gpt-5*'")
    parser.add_argument("--provider", help="one provider's only")
    add_book(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run_prices)


def run_cost(args: argparse.Namespace) -> int:
    """Price a call and print the result; 2 where the model is not known."""
    from ..estimators.cost import price_report, price_usage
    from ..estimators.currency import parse_exchange_rate
    from ..estimators.price import parse_price

    _refuse_conflicts(args)
    uncounted: UnknownNameError | None = None
    counted = None
    try:
        counted = _count_request(args) if args.request else None
    except UnknownNameError as error:  # the price table may know the model, or have better suggestions
        args.input_tokens, uncounted = "0", error
    options: dict[str, Any] = {
        "provider": args.provider,
        "variant": _variant(args.variant),
        "as_of": args.as_of,
        "price": None if args.price is None else parse_price(args.price),
        "book": None if args.price is not None else load(args),
    }
    rate = parse_exchange_rate(args.exchange_rate) if args.exchange_rate else None
    if args.usage:
        report = read_json(args.usage)
        result = price_report(report, args.model, format=args.usage_format, exchange_rate=rate, **options)
    else:
        result = price_usage(_usage(args), args.model, exchange_rate=rate, **options)
    if counted:
        result = replace(result, warnings=(*result.warnings, *_count_warnings(counted)))
    known = result.status != "unknown_model"
    if known and uncounted:
        raise TokengapError(f"{uncounted}; or give --input-tokens") from uncounted
    volume = _volume(args, options) if args.calls and known else None
    if args.json:
        extra = {"volume": volume and volume.to_dict(), "request": counted and counted.to_dict()}
        write_json(result.to_dict() | {name: value for name, value in extra.items() if value})
    else:
        print("\n".join([*_cost_lines(result), *(_volume_lines(volume) if volume else [])]))
        if counted:
            print(_count_line(counted))
    return 0 if known else 2


def _count_request(args: argparse.Namespace) -> RequestCount:
    """Count the request, and put its tokens and its model where the options have not said others."""
    from ..estimators.request_count import count_request
    from .requests import named_model, read_requests, setting

    requests = read_requests([args.request])
    if len(requests) > 1:
        raise TokengapError(f"{args.request}: one request is priced at a time; 'tokengap count --request' takes many")
    tier = setting(requests[0], "service_tier")
    if args.variant is None and tier not in (*_STANDARD_TIERS, None):
        if tier not in _PRICED_TIERS:
            raise TokengapError(f"{args.request}: service_tier {tier!r} has no known price; say --variant")
        args.variant = [tier]
    args.model = args.model or named_model(requests)
    counted = count_request(requests[0].body, args.model)
    args.input_tokens = str(counted.tokens)
    return counted


def _count_warnings(counted: RequestCount) -> Iterator[str]:
    """What the count of a request warns of is true of its price as well."""
    for code in counted.warnings:
        if code == "not_counted":
            yield f"{code}: the input is at least this, without {', '.join(counted.not_counted)}"
        else:
            yield f"{code}: {explained(code)}"


def run_prices(args: argparse.Namespace) -> int:
    """Print the prices that match."""
    from ..estimators.as_of import parse_as_of
    from ..estimators.price_list import count_models, list_prices

    book = load(args)
    time = parse_as_of(args.as_of).time
    listed = args.pattern or args.provider
    rows = list_prices(book, time, args.pattern, args.provider) if listed else []
    if args.json:
        table = book.table
        files = [{"name": layer.name, "path": layer.path, "sha256": layer.sha256} for layer in book.layers]
        source = {"table": table.name, "version": table.version, "sha256": table.sha256, "files": files}
        found = {"prices": [row.to_dict() for row in rows]} if listed else {"providers": count_models(book)}
        write_json({**found, "as_of": time.isoformat(timespec="seconds").replace("+00:00", "Z"), "source": source})
    elif listed:
        print("\n".join(map(_price_line, rows)), end="\n" if rows else "")
    else:
        print("\n".join(f"{provider:28}{count:5} models" for provider, count in count_models(book).items()))
    if listed and not rows:
        raise TokengapError(f"no price matches {args.pattern or args.provider!r}; see 'tokengap prices'")
    return 0


def _refuse_conflicts(args: argparse.Namespace) -> None:
    counts = [name for name in COUNTS if getattr(args, name) is not None]
    if args.request and (args.usage or args.input_tokens is not None):
        raise TokengapError("--request has the input already: leave out --input-tokens and --usage")
    if args.usage and (counts or args.calls):
        raise TokengapError("--usage has the counts already: leave out the options that give them")
    if args.usage_format and not args.usage:
        raise TokengapError("--usage-format says whose the object of --usage is; give that too")
    if not args.usage and not counts and not args.request:
        raise TokengapError("nothing to price: give --input-tokens and --output-tokens, --request FILE or --usage FILE")
    if not args.calls and (args.cached_share or args.words):
        raise TokengapError("--cached-share and --words are for a month of calls: give --calls too")
    if args.calls and any(name not in ("input_tokens", "output_tokens") for name in counts):
        raise TokengapError("with --calls the cached part is given as --cached-share")
    if args.calls and args.input_tokens is None and not args.request:
        raise TokengapError("--calls needs --input-tokens or --request")


def _variant(names: list[str] | None) -> str | None:
    """One variant at most: two would be two prices."""
    if names and len(names) > 1:
        raise TokengapError(f"{' and '.join(names)} do not combine: a call is served one way, so give one --variant")
    return names[0] if names else None


def _usage(args: argparse.Namespace) -> Usage:
    from ..estimators.usage import Usage

    counts = {
        field: _whole(getattr(args, name) or "0", name) for name, field in COUNTS.items() if name != "output_tokens"
    }
    if args.calls:
        from ..estimators.volume import parse_range, parse_share

        output = parse_range(args.output_tokens or "0", "--output-tokens").typical
        share = parse_share(args.cached_share) if args.cached_share else 0
        counts["cache_read"] = int(counts["input"] * share)
    else:
        output = _whole(args.output_tokens or "0", "output_tokens")
    return Usage(**counts, output=output)


def _whole(text: str, name: str) -> int:
    if not re.fullmatch(r"[0-9]{1,15}", text.strip(), re.ASCII):
        raise TokengapError(
            f"bad --{name.replace('_', '-')} {text[:40]!r}: a whole number of tokens is needed, 0 or more"
        )
    return int(text)


def _volume(args: argparse.Namespace, options: dict[str, Any]) -> VolumeEstimate:
    from fractions import Fraction

    from ..estimators.volume import monthly_cost, parse_range, parse_share

    factor = args.words_factor.strip()
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,9}|/[1-9][0-9]{0,5})?", factor, re.ASCII):
        raise TokengapError(
            f"bad --words-factor {factor[:40]!r}: a decimal or a fraction is needed, such as 1.333 or 4/3"
        )
    return monthly_cost(
        args.model,
        input=_whole(args.input_tokens, "input_tokens"),
        output=parse_range(args.output_tokens or "0", "--output-tokens"),
        calls=parse_range(args.calls, "--calls"),
        cached_share=parse_share(args.cached_share) if args.cached_share else Fraction(0),
        word_input=_whole(args.words, "words") * Fraction(factor) if args.words else None,
        **options,
    )


def _cost_lines(result: CostResult) -> list[str]:
    from ..estimators.price import Money, display, plain

    lines = []
    currency = result.currency or ""
    for line in result.lines:
        rate = "no known price" if line.rate is None else f"{plain(line.rate)} {currency}/{PER[line.per]}"
        amount = "unknown" if line.amount is None else display(Money(line.amount, currency))
        lines.append(f"{line.unit:18}{line.quantity!s:>14}  {rate:26}{amount:>18}")
    lines.append(f"{'total':18}{'':14}  {result.status:26}{display(result.total):>18}")
    if result.converted and result.exchange_rate:
        rate = f"at {plain(result.exchange_rate.rate)} of {result.exchange_rate.date}"
        lines.append(f"{'converted':18}{'':14}  {rate:26}{display(result.converted):>18}")
    source = result.source
    table = " ".join(filter(None, (source.table, source.version)))
    row = "/".join(filter(None, (source.provider, source.model)))
    lines.append(f"price: {table}, {f'{row} ' if row else ''}as of {result.as_of:%Y-%m-%dT%H:%M:%SZ}")
    lines += [f"rule: {result.rule}"] if result.tier or (result.rule or "").startswith("input") else []
    lines += [f"note: {warning}" for warning in result.warnings]
    return lines


def _count_line(counted: RequestCount) -> str:
    interval = "" if counted.interval is None else f", between {counted.interval[0]:,} and {counted.interval[1]:,}"
    left_out = f"; not counted: {', '.join(counted.not_counted)}" if counted.not_counted else ""
    return f"request: {counted.tokens:,} input tokens ({counted.tokenizer}, {counted.kind}{interval}){left_out}"


def _volume_lines(volume: VolumeEstimate) -> list[str]:
    from ..estimators.price import display

    lines = [f"{'per month':18}{'min':>20}{'typical':>20}{'max':>20}"]
    for name, money in (("tokens", volume.cost), ("words", volume.words), ("gap", volume.gap)):
        if money:
            lines.append(f"{name:18}{display(money.min):>20}{display(money.typical):>20}{display(money.max):>20}")
    return lines + [f"note: {warning}" for warning in volume.warnings]


def _price_line(row: ListedPrice) -> str:
    from ..estimators.price import plain

    rates = [f"{unit}={plain(rate)}" for unit, rate in row.price.per_million.items()]
    rates += [f"{unit}={plain(rate)}/1K" for unit, rate in row.price.per_thousand.items()]
    tiers = [f"above {tier.above}" for tier in row.price.tiers]
    more = [*tiers, *row.variants]
    return f"{row.provider}/{row.model}: {','.join(rates) or 'no price'} {row.price.currency}" + (
        f" ({', '.join(more)})" if more else ""
    )
