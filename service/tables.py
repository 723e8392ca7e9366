"""Tables that fit the terminal, and the gap in words. Coloured on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from io import StringIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text as Plain

from ..estimators.counting import UNITS, Report, bytes_per_token, per_word
from ..estimators.gap import Gap, reason
from ..estimators.price import Money, display

_NONE = "-"


def write_comparison(report: Report, gap: Gap) -> None:
    """Tokens by text and by counter, then the gap in tokens and money, and where it comes from."""
    if len({row.source for row in report.results}) > 1:
        write_table(("text", gap.baseline, gap.reference, "per word", "gap %"), _by_text(report, gap), text=1)
    write_table(("counter", "kind", "tokens", "per word", "bytes per token", "cost"), _by_counter(report), text=2)
    for line in _gap_lines(report, gap):
        _print(Plain(line))


def write_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, text: int) -> None:
    """Print a table whose first ``text`` columns are text and whose others are numbers."""
    table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
    for position, name in enumerate(columns):
        if position < text:
            table.add_column(Plain(name), overflow="fold")
        else:
            table.add_column(Plain(name), justify="right", no_wrap=position > 1)
    for row in rows:
        table.add_row(*map(Plain, row))
    _print(table)
    _print("")


def _print(what: Table | Plain | str) -> None:
    """Render for standard output, then write: rich itself leaves with code 1 where nobody reads."""
    page = StringIO()
    console = Console(file=page, force_terminal=sys.stdout.isatty(), highlight=False, markup=False, emoji=False)
    console.print(what, soft_wrap=not isinstance(what, Table))
    sys.stdout.write(page.getvalue())


def _by_text(report: Report, gap: Gap) -> Iterator[tuple[str, ...]]:
    rows = {(row.source, row.counter): row for row in report.results}
    for source in dict.fromkeys(row.source for row in report.results):
        baseline, reference = rows[source, gap.baseline].count.tokens, rows[source, gap.reference].count.tokens
        size = rows[source, gap.reference].size
        percent = _ratio(Fraction((reference - baseline) * 100, reference)) if reference else _NONE
        words = _ratio(per_word(reference, size))
        yield source, f"{baseline:,}", f"{reference:,}", words, percent


def _by_counter(report: Report) -> Iterator[tuple[str, ...]]:
    kinds = {row.counter: row.count.kind for row in report.results}
    for total in report.total:
        yield (
            total.counter,
            kinds[total.counter],
            f"{total.tokens:,}",
            _ratio(per_word(total.tokens, total.size)),
            _ratio(bytes_per_token(total.tokens, total.size)),
            _cost(total.cost),
        )


def _gap_lines(report: Report, gap: Gap) -> Iterator[str]:
    if price := report.prices.get(gap.reference):
        rates = ", ".join(f"{unit} {price.per_million[unit]:f}" for unit in UNITS if unit in price.per_million)
        source = price.source
        where = f"{source.table} {source.version}: {source.provider} {source.model}, {source.as_of}"
        yield f"Price per million tokens: {rates} {price.currency} ({where if source.version else source.table})."
    totals = {total.counter: total.tokens for total in report.total}
    yield (
        f"Gap: {gap.baseline} says {totals[gap.baseline]:,} tokens, {gap.reference} counts {totals[gap.reference]:,}: "
        + (
            "no gap."
            if not gap.tokens
            else f"{abs(gap.tokens):,} too {'few' if gap.tokens > 0 else 'many'}"
            + ("." if gap.percent is None else f" ({gap.percent}% of the count).")
        )
    )
    if (volume := gap.volume) and volume.cost:
        yield (
            f"{volume.calls:,} calls a {volume.per}: {_cost(volume.baseline_cost)} by {gap.baseline}, "
            f"{_cost(volume.reference_cost)} by {gap.reference}. The gap is {display(volume.cost)} a {volume.per}."
        )
    elif gap.cost:
        yield f"In money: {display(gap.cost)}."
    yield reason(gap.parts)


def _cost(money: Money | None) -> str:
    return _NONE if money is None else display(money)


def _ratio(value: Fraction | None) -> str:
    return _NONE if value is None else f"{float(value):,.2f}"
