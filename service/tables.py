"""Tables that fit the terminal, and the gap in words. Coloured on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from io import StringIO
from shutil import get_terminal_size

from rich.box import ASCII, SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text as Plain

from ..estimators.counting import UNITS, Report, Row, bytes_per_token, per_word
from ..estimators.gap import Gap, reason
from ..estimators.price import Money, display, plain
from ..tokenizers.counter import weakest
from .reports import MOST_SKIPPED, printable

_NONE = "-"
_NAME = 20  # the least characters of a long name that stay on one line


def write_comparison(report: Report, gap: Gap) -> None:
    """Tokens by text and by counter, then the gap in tokens and money, and where it comes from."""
    if len({row.source for row in report.results}) > 1:
        texts = ("text", gap.baseline, gap.reference, "gap %", "per word")
        write_table(texts, _by_text(report, gap), text=1, optional=1)
    counters = ("counter", "kind", "tokens", "cost", "per word", "bytes per token")
    write_table(counters, _by_counter(report), text=2, optional=2)
    for line in (*_price_lines(report), *_gap_lines(report, gap)):
        _print(Plain(line))


def write_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, text: int, optional: int = 0) -> None:
    """Print a table whose first ``text`` columns are text and whose others are numbers.

    The last ``optional`` columns are left out where the terminal is too narrow for them. What is left is
    printed whole, if need be wider than the terminal: a number cut short would be a wrong one.
    """
    cells = [[printable(cell) for cell in row] for row in (columns, *rows)]
    widths = [max(cell_len(row[position]) for row in cells) for position in range(len(columns))]
    folded = [min(width, _NAME) if position in (0, text - 1) else width for position, width in enumerate(widths)]
    shown = len(columns)
    while shown > len(columns) - optional and _across(folded[:shown]) > terminal_width():
        shown -= 1
    utf = (sys.stdout.encoding or "").lower().startswith("utf")
    table = Table(box=SIMPLE_HEAD if utf else ASCII, header_style="bold", pad_edge=False, show_edge=False)
    for position, name in enumerate(cells[0][:shown]):
        table.add_column(
            Plain(name),
            justify="right" if position >= text else "left",
            overflow="fold",
            no_wrap=folded[position] == widths[position],
            min_width=folded[position],
        )
    for row in cells[1:]:
        table.add_row(*map(Plain, row[:shown]))
    _print(table, max(_across(folded[:shown]), terminal_width()))
    _print("")


def _across(widths: Sequence[int]) -> int:
    """How wide a table is; between two columns stand three characters."""
    return sum(widths) + 3 * (len(widths) - 1)


def terminal_width() -> int:
    return get_terminal_size().columns


def _print(what: Table | Plain | str, width: int | None = None) -> None:
    sys.stdout.write(rendered(what, width or terminal_width(), terminal=sys.stdout.isatty()))


def rendered(what: Table | Plain | str, width: int, *, terminal: bool) -> str:
    """Render apart from writing: rich itself leaves with code 1 where nobody reads."""
    page = StringIO()
    console = Console(file=page, width=width, force_terminal=terminal, highlight=False, markup=False, emoji=False)
    console.print(what)
    return "".join(f"{line.rstrip(' ')}\n" for line in page.getvalue().splitlines())


def _by_text(report: Report, gap: Gap) -> Iterator[tuple[str, ...]]:
    rows = {(row.source, row.counter): row for row in report.results}
    for source in dict.fromkeys(row.source for row in report.results):
        baseline, reference = rows[source, gap.baseline].count.tokens, rows[source, gap.reference].count.tokens
        size = rows[source, gap.reference].size
        percent = _ratio(Fraction((reference - baseline) * 100, reference)) if reference else _NONE
        words = _ratio(per_word(reference, size))
        yield source, f"{baseline:,}", f"{reference:,}", percent, words


def _by_counter(report: Report) -> Iterator[tuple[str, ...]]:
    for total in report.total:
        yield (
            total.counter,
            weakest(row.count.kind for row in report.results if row.counter == total.counter),
            f"{total.tokens:,}",
            _cost(total.cost),
            _ratio(per_word(total.tokens, total.size)),
            _ratio(bytes_per_token(total.tokens, total.size)),
        )


def _price_lines(report: Report) -> Iterator[str]:
    """What each counter's tokens are priced at."""
    counters: dict[str, list[str]] = {}
    for counter, price in report.prices():
        rates = ", ".join(f"{unit} {plain(price.per_million[unit])}" for unit in UNITS if unit in price.per_million)
        source = price.source
        where = f"{printable(source.row)}, as of {(source.as_of or '')[:10]}" if source.model else "as given"
        table = f"{source.table} {source.version}".removesuffix(" None") + ": " if source.model else ""
        tier = f"{price.variant}: " if price.variant else ""
        counters.setdefault(f"{tier}{rates} {price.currency} ({table}{where})", []).append(printable(counter))
    for line, names in counters.items():
        who = "" if len(counters) == 1 else f" for {', '.join(names)}"
        yield f"Price per million tokens{who}: {line}."


def _gap_lines(report: Report, gap: Gap) -> Iterator[str]:
    totals = {total.counter: total.tokens for total in report.total}
    low, high = printable(gap.baseline), printable(gap.reference)
    says, counted = f"{low} says {_tokens(totals[gap.baseline])}", f"{totals[gap.reference]:,}"
    if uncounted := [row.source for row in report.results if row.counter == gap.reference and _lacks_a_part(row)]:
        yield f"Gap: not known. {says}, {high} counts at least {counted}."
        yield f"Not everything was counted in {printable(', '.join(uncounted[:MOST_SKIPPED]))}."
        return
    size = "no gap." if not gap.tokens else f"{abs(gap.tokens):,} too {'few' if gap.tokens > 0 else 'many'}"
    if gap.tokens:
        size += "." if gap.percent is None else f" ({gap.percent:,}% of the count)."
    yield f"Gap: {says}, {high} counts {counted}: {size}"
    volume = gap.volume
    if volume and volume.cost:
        yield (
            f"{volume.calls:,} calls a {volume.per}: {_cost(volume.baseline_cost)} by {low}, "
            f"{_cost(volume.reference_cost)} by {high}. The gap is {display(volume.cost)} a {volume.per}."
        )
    elif volume:
        yield f"{volume.calls:,} calls a {volume.per}: no price is known; --model or --price gives one."
    elif gap.cost:
        yield f"In money: {display(gap.cost)}."
    yield reason(gap.parts)


def _lacks_a_part(row: Row) -> bool:
    return row.request is not None and bool(row.request.not_counted)


def _tokens(number: int) -> str:
    return f"{number:,} token{'' if number == 1 else 's'}"


def _cost(money: Money | None) -> str:
    return _NONE if money is None else display(money)


def _ratio(value: Fraction | None) -> str:
    return _NONE if value is None else f"{float(value):,.2f}"
