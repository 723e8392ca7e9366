"""What a person reads of a cost: a line for each thing billed, the total, and where the price is from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..estimators.cost import ONE_PRICE
from ..estimators.price import Money, display, plain
from .reports import printable

if TYPE_CHECKING:
    from ..estimators.cost import CostResult
    from ..estimators.currency import ExchangeRate
    from ..estimators.request_cost import CostSum, RequestCost
    from ..estimators.request_count import RequestCount
    from ..estimators.volume import VolumeEstimate

PER = {1_000_000: "1M", 1_000: "1K"}
"""How a rate's unit is written, as in price files."""


def cost_lines(result: CostResult) -> list[str]:
    """A line for each thing billed, the total, where the price is from, and the warnings."""
    lines = []
    currency = result.currency or ""
    for line in result.lines:
        rate = "no known price" if line.rate is None else f"{plain(line.rate)} {currency}/{PER[line.per]}"
        amount = "unknown" if line.amount is None else display(Money(line.amount, currency))
        lines.append(f"{line.unit:18}{line.quantity!s:>14}  {rate:26}{amount:>18}")
    lines.append(f"{'total':18}{'':14}  {result.status:26}{display(result.total):>18}")
    if result.converted and result.exchange_rate:
        rate = f"at {_rate(result.exchange_rate)}"
        lines.append(f"{'converted':18}{'':14}  {rate:26}{display(result.converted):>18}")
    lines.append(source_line(result))
    lines += [f"rule: {result.rule}"] if result.rule not in (None, ONE_PRICE) else []
    lines += [f"note: {warning}" for warning in result.warnings]
    return lines


def count_line(counted: RequestCount) -> str:
    """The count that a request's cost rests on, and how good it is."""
    interval = "" if counted.interval is None else f", between {counted.interval[0]:,} and {counted.interval[1]:,}"
    left_out = f"; not counted: {', '.join(counted.not_counted)}" if counted.not_counted else ""
    return f"request: {counted.tokens:,} input tokens ({counted.tokenizer}, {counted.kind}{interval}){left_out}"


def volume_lines(volume: VolumeEstimate) -> list[str]:
    """A month of calls, as a range."""
    lines = [f"{'per month':18}{'min':>20}{'typical':>20}{'max':>20}"]
    rows = (("tokens", volume.cost), ("converted", volume.converted), ("words", volume.words), ("gap", volume.gap))
    for name, money in rows:
        if money:
            lines.append(f"{name:18}{display(money.min):>20}{display(money.typical):>20}{display(money.max):>20}")
    return lines + [f"note: {warning}" for warning in volume.warnings]


def request_lines(costs: Sequence[RequestCost], total: CostSum) -> list[str]:
    """A line for each request, the sum, where each price is from, and the warnings, each once."""
    rows = [
        (
            str(each.cost.usage.input) if each.count else "-",
            str(each.cost.usage.output),
            display(each.cost.total) if each.cost.total else each.cost.status,
            f"{printable(each.name)}{f' ({each.cost.variant})' if each.cost.variant else ''}",
        )
        for each in costs
    ]
    sent, received = (sum(getattr(each.cost.usage, name) for each in costs) for name in ("input", "output"))
    total_sent = str(sent) if all(each.count for each in costs) else "-"
    rows = [("input", "output", "cost", "request"), *rows]
    rows.append((total_sent, str(received), _sum(total), "total"))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = [
        "  ".join([*(cell.rjust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) for row in rows
    ]
    if total.converted and total.exchange_rate:
        lines.append(f"converted: {display(total.converted)}, at {_rate(total.exchange_rate)}")
    sources = dict.fromkeys(source_line(each.cost) for each in costs)
    notes = dict.fromkeys(f"note: {each.name}: {warning}" for each in costs for warning in each.cost.warnings)
    return [*lines, *sources, *map(printable, notes)]


def _sum(total: CostSum) -> str:
    """The sum of several requests: of each currency its own, where all are priced."""
    if total.status in ("priced", "free") and total.totals:
        return " + ".join(map(display, total.totals))
    return total.status


def _rate(rate: ExchangeRate) -> str:
    return f"{plain(rate.rate)} of {rate.date}"


def source_line(result: CostResult) -> str:
    """Where a price is from, and the time it is of."""
    source = result.source
    table = " ".join(filter(None, (source.table, source.version)))
    row = f"{printable(source.row)} " if source.row else ""
    variant = f"{result.variant}, " if result.variant else ""
    return f"price: {table}, {variant}{row}as of {result.as_of:%Y-%m-%dT%H:%M:%SZ}"
