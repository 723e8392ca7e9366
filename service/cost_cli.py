"""``tokengap cost``: what a call, a request or a month of calls costs."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..tokenizers.errors import TokengapError, UnknownNameError
from .json_files import read_json
from .price_options import OneValue, add_book, load
from .reports import write_json

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from ..estimators.cost import CostResult
    from ..estimators.counting import ChatRequest
    from ..estimators.request_cost import RequestCost
    from ..estimators.usage import Usage
    from ..estimators.volume import VolumeEstimate

UNKNOWN = 2
"""The exit code where a model is not known."""

COUNTS = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cache_read": "cache_read",
    "cache_write": "cache_write",
    "cache_write_1h": "cache_write_1h",
    "reasoning_tokens": "reasoning",
}
"""Options that give a count, and the field of Usage each is for."""

_EXAMPLES = """
examples:
  tokengap cost --model gpt-4o --input-tokens 1200 --output-tokens 300
  tokengap cost --request request.json --output-tokens 500
  tokengap cost --request batch.jsonl --output-tokens 200 --json
  curl ... | tokengap cost --usage -
"""


def add_parsers(subparsers: _SubParsersAction[Any]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "cost",
        description="What a call costs, by its token counts or by a provider's usage object. "
        "Exit 2 for an unknown model; a known one without a price is exit 0 with status 'unpriced'.",
        epilog=_EXAMPLES,
    )
    parser.register("action", None, OneValue)  # the default one
    parser.add_argument("--model", help="model, such as gpt-4o or anthropic/claude-sonnet-4-5")
    parser.add_argument("--provider", help="who serves it, such as azure or bedrock (default: told by the name)")
    used = parser.add_argument_group("usage")
    used.add_argument(
        "--request",
        dest="requests",
        action="append",
        default=[],
        metavar="FILE",
        help="a request as JSON, or several as JSONL, whose input tokens are counted (repeatable)",
    )
    used.add_argument("--counter", metavar="SPEC", help="count requests with this instead of the model's own encoding")
    used.add_argument("--input-tokens", metavar="N", help="all tokens sent, cached ones included")
    used.add_argument("--output-tokens", metavar="N", help="all tokens received, reasoning included; of several "
                      "requests, by each")  # fmt: skip
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
    month.add_argument("--words-factor", metavar="F", help="tokens a word in that estimate (default: 1)")
    price = parser.add_argument_group("price")
    price.add_argument("--variant", action="append", metavar="NAME", help="batch, flex, priority or fast; standard, "
                       "whatever a request says of itself")  # fmt: skip
    price.add_argument("--price", metavar="TEXT", help="price per million tokens: 'in=3,cache_read=0.3,out=15 USD'")
    price.add_argument(
        "--exchange-rate", metavar="TEXT", help="show the total in it too: '1 USD = 0.92 EUR @ 2026-11-28'"
    )
    add_book(price)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run_cost)


def run_cost(args: argparse.Namespace) -> int:
    """Price a call, or several requests, and print the result; 2 where a model is not known."""
    from ..estimators.cost import price_report, price_usage
    from ..estimators.currency import parse_exchange_rate
    from ..estimators.price import parse_price

    _refuse_conflicts(args)
    options: dict[str, Any] = {
        "provider": args.provider,
        "variant": _variant(args.variant),
        "as_of": args.as_of or datetime.now(UTC),  # one time for all requests
        "price": None if args.price is None else parse_price(args.price),
        "book": None if args.price is not None else load(args),
        "exchange_rate": parse_exchange_rate(args.exchange_rate) if args.exchange_rate else None,
    }
    if args.requests:
        return _cost_requests(args, options)
    if args.usage:
        result = price_report(read_json(args.usage), args.model, format=args.usage_format, **options)
    else:
        result = price_usage(_usage(args, _whole(args.input_tokens or "0", "input_tokens")), args.model, **options)
    return _write(args, result, _volume(args, result, options))


def _cost_requests(args: argparse.Namespace, options: dict[str, Any]) -> int:
    from .requests import read_requests

    requests = read_requests(args.requests)
    if len(requests) > 1 and args.calls:
        raise TokengapError(f"--calls is for one call, and {len(requests)} requests are given")
    costs = [_cost_request(args, request, options) for request in requests]
    if len(costs) > 1:
        return _write_several(args, costs)
    return _write(args, costs[0].cost, _volume(args, costs[0].cost, options), costs[0])


def _cost_request(args: argparse.Namespace, request: ChatRequest, options: dict[str, Any]) -> RequestCost:
    from ..estimators.request_cost import price_request

    try:
        return price_request(
            request, args.model, counter=args.counter, usage=lambda tokens: _usage(args, tokens), **options
        )
    except UnknownNameError as error:
        raise TokengapError(f"{request.source}: {error}; or give --counter, or --input-tokens") from error
    except TokengapError as error:
        raise TokengapError(f"{request.source}: {error}") from error


def _write(
    args: argparse.Namespace,
    result: CostResult,
    volume: VolumeEstimate | None,
    request: RequestCost | None = None,
) -> int:
    """Print one cost, and return the exit code it stands for."""
    if args.json:
        body = request.to_dict() if request else result.to_dict()
        write_json(body | ({"volume": volume.to_dict()} if volume else {}))
    else:
        from .cost_lines import cost_lines, count_line, volume_lines

        lines = [*cost_lines(result), *(volume_lines(volume) if volume else [])]
        lines += [count_line(request.count)] if request and request.count else []
        print("\n".join(lines))
    return UNKNOWN if result.status == "unknown_model" else 0


def _write_several(args: argparse.Namespace, costs: Sequence[RequestCost]) -> int:
    """Print several costs and their sum, and return the exit code they stand for."""
    from ..estimators.request_cost import add_costs

    total = add_costs([each.cost for each in costs])
    if args.json:
        write_json({"results": [{"name": each.name} | each.to_dict() for each in costs]} | total.to_dict())
    else:
        from .cost_lines import request_lines

        print("\n".join(request_lines(costs, total)))
    return UNKNOWN if total.status == "unknown_model" else 0


def _refuse_conflicts(args: argparse.Namespace) -> None:
    counts = [name for name in COUNTS if getattr(args, name) is not None]
    if args.requests and (args.usage or args.input_tokens is not None):
        raise TokengapError("--request has the input already: leave out --input-tokens and --usage")
    if args.usage and (counts or args.calls):
        raise TokengapError("--usage has the counts already: leave out the options that give them")
    if args.counter and not args.requests:
        raise TokengapError("--counter counts requests: give --request FILE too, or 'tokengap count' for a text")
    if args.usage_format and not args.usage:
        raise TokengapError("--usage-format says whose the object of --usage is; give that too")
    if not args.usage and not counts and not args.requests:
        raise TokengapError("nothing to price: give --input-tokens and --output-tokens, --request FILE or --usage FILE")
    if not args.calls and (args.cached_share or args.words):
        raise TokengapError("--cached-share and --words are for a month of calls: give --calls too")
    if args.words_factor and not args.words:
        raise TokengapError("--words-factor is how many tokens each of --words is: give that too")
    if args.calls and any(name not in ("input_tokens", "output_tokens") for name in counts):
        raise TokengapError("with --calls the cached part is given as --cached-share")
    if args.calls and args.input_tokens is None and not args.requests:
        raise TokengapError("--calls needs --input-tokens or --request")


def _variant(names: list[str] | None) -> str | None:
    """One variant at most: two would be two prices."""
    if names and len(names) > 1:
        raise TokengapError(f"{' and '.join(names)} do not combine: a call is served one way, so give one --variant")
    return names[0] if names else None


def _usage(args: argparse.Namespace, input: int) -> Usage:
    """The usage the options give, of a call with so many input tokens."""
    from ..estimators.usage import Usage

    counts = {
        field: _whole(getattr(args, name) or "0", name)
        for name, field in COUNTS.items()
        if name not in ("input_tokens", "output_tokens")
    }
    if args.calls:
        from ..estimators.volume import parse_range, parse_share

        output = parse_range(args.output_tokens or "0", "--output-tokens").typical
        share = parse_share(args.cached_share) if args.cached_share else 0
        counts["cache_read"] = int(input * share)
    else:
        output = _whole(args.output_tokens or "0", "output_tokens")
    return Usage(input=input, output=output, **counts)


def _whole(text: str, name: str) -> int:
    if not re.fullmatch(r"[0-9]{1,15}", text.strip(), re.ASCII):
        raise TokengapError(
            f"bad --{name.replace('_', '-')} {text[:40]!r}: a whole number is needed, 0 or more, of at most 15 digits"
        )
    return int(text)


def _volume(args: argparse.Namespace, result: CostResult, options: dict[str, Any]) -> VolumeEstimate | None:
    """A month of calls like the one that was priced; ``None`` where none was asked for or no price can be."""
    if not args.calls or result.status == "unknown_model":
        return None
    from fractions import Fraction

    from ..estimators.volume import monthly_cost, parse_range, parse_share

    factor = (args.words_factor or "1").strip()
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,9}|/[1-9][0-9]{0,5})?", factor, re.ASCII):
        raise TokengapError(
            f"bad --words-factor {factor[:40]!r}: a decimal or a fraction is needed, such as 1.333 or 4/3"
        )
    return monthly_cost(
        result.model,
        input=result.usage.input,
        output=parse_range(args.output_tokens or "0", "--output-tokens"),
        calls=parse_range(args.calls, "--calls"),
        cached_share=parse_share(args.cached_share) if args.cached_share else Fraction(0),
        word_input=_whole(args.words, "words") * Fraction(factor) if args.words else None,
        variant=result.variant,
        **{name: options[name] for name in ("provider", "as_of", "price", "book", "exchange_rate")},
    )
