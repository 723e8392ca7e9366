"""What pricing one request takes, beside the peers that are installed, in one run.

    python benchmarks/price.py [--rounds 9] [--calls 500]

The request is 12,345 tokens in, 10,000 of them cached, 678 out, with gpt-5 at a fixed time; the counts change from
call to call, so that no result can be remembered. Each round measures every contender once, in turn;
printed are medians over all calls, with the ratio to ours. The first call of each, which loads its
table, is shown apart. All must agree on the price.
"""

from __future__ import annotations

import argparse
import importlib.util
import platform
import statistics
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from importlib import import_module
from importlib.metadata import version

AS_OF = datetime(2026, 11, 30, 12, tzinfo=UTC)
Call = Callable[[int], Decimal]


def tokengap() -> Call:
    from tokengap.estimators.cost import price_usage
    from tokengap.estimators.usage import Usage

    def call(more: int) -> Decimal:
        total = price_usage(Usage(input=12_345 + more, cache_read=10_000, output=678), "gpt-5", as_of=AS_OF).total
        return total.amount if total else Decimal("NaN")

    return call


def tokengap_json() -> Call:
    from tokengap.estimators.cost import price_usage
    from tokengap.estimators.usage import Usage

    def call(more: int) -> Decimal:
        usage = Usage(input=12_345 + more, cache_read=10_000, output=678)
        return Decimal(price_usage(usage, "gpt-5", as_of=AS_OF).to_dict()["total"]["amount"])

    return call


def genai_prices() -> Call:
    from genai_prices import Usage, calc_price

    def call(more: int) -> Decimal:
        usage = Usage(input_tokens=12_345 + more, cache_read_tokens=10_000, output_tokens=678)
        return calc_price(usage, "gpt-5", provider_id="openai", genai_request_timestamp=AS_OF).total_price

    return call


def litellm() -> Call:
    cost_per_token = import_module("litellm").cost_per_token  # not among the requirements: 43 MB

    def call(more: int) -> Decimal:
        sent, received = cost_per_token(
            model="gpt-5", prompt_tokens=12_345 + more, completion_tokens=678, cache_read_input_tokens=10_000
        )
        return Decimal(repr(sent + received))

    return call


CONTENDERS: dict[str, tuple[str, Callable[[], Call]]] = {
    "tokengap price_usage": ("tokengap", tokengap),
    "tokengap price_usage + to_dict": ("tokengap", tokengap_json),
    "genai_prices.calc_price": ("genai-prices", genai_prices),
    "litellm.cost_per_token": ("litellm", litellm),
}


def expected(more: int) -> Decimal:
    return (Decimal("1.25") * (2_345 + more) + Decimal("0.125") * 10_000 + 10 * Decimal(678)) / 10**6


def timed(call: Call, more: int) -> float:
    start = time.perf_counter()
    cost = call(more)
    took = time.perf_counter() - start
    if abs(cost - expected(more)) > Decimal("1e-12"):
        sys.exit(f"wrong price {cost}, not {expected(more)}")
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=500, help="calls of each contender in a round")
    args = parser.parse_args()
    calls: dict[str, Call] = {}
    first: dict[str, float] = {}
    for name, (_, build) in CONTENDERS.items():
        if importlib.util.find_spec(name.partition(".")[0].partition(" ")[0]) is None:
            print(f"{name}: not installed")
            continue
        start = time.perf_counter()
        calls[name] = build()
        timed(calls[name], 0)
        first[name] = time.perf_counter() - start
    times: dict[str, list[float]] = {name: [] for name in calls}
    for round in range(args.rounds):
        for name, call in calls.items():
            times[name] += [timed(call, round * args.calls + number) for number in range(args.calls)]
    ours = statistics.median(times["tokengap price_usage"])
    print(f"Python {platform.python_version()}, {platform.machine()}, {args.rounds} x {args.calls} calls each")
    for name, taken in times.items():
        median, low = statistics.median(taken), min(taken)
        print(
            f"{name:32}{version(CONTENDERS[name][0]):>10}{median * 1e6:10.1f} us median{low * 1e6:10.1f} us least"
            f"{median / ours:8.1f}x ours{first[name] * 1e3:10.0f} ms to the first"
        )


if __name__ == "__main__":
    main()
