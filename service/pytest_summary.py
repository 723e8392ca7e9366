"""What the tests of a run have counted, at the end of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from .reports import printable

MOST_SHOWN = 20
"""How many counts the summary shows unless pytest is run with -v."""


class Line(NamedTuple):
    """A line of the summary, in types that xdist can carry from a worker; ``broken`` are the codes."""

    name: str
    tokens: int
    most: int
    max_tokens: int | None
    cost: str
    max_cost: str
    kind: str
    broken: list[str]


def summary(tests: Mapping[str, Sequence[Mapping[str, Any]]], verbosity: int) -> Iterator[tuple[str, bool]]:
    """The lines of the summary, each with whether it tells of a broken budget; what is nearest its limit first."""
    found = [(test, Line(**line)) for test, lines in tests.items() for line in lines]
    found.sort(key=lambda each: (not each[1].broken, -_used(each[1])))
    broken = sum(bool(line.broken) for _, line in found)
    most = len(found) if verbosity > 0 else max(broken, MOST_SHOWN if verbosity == 0 else 0)
    shown = found[:most]
    if shown:
        rows = [("tokens", "limit", "cost", "limit", "kind", "what"), *(_cells(test, line) for test, line in shown)]
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        for row, is_broken in zip(rows, [False, *(bool(line.broken) for _, line in shown)], strict=True):
            numbers = "  ".join(f"{cell:>{width}}" for cell, width in zip(row[:4], widths, strict=False))
            yield f"{numbers}  {row[4]:<{widths[4]}}  {row[5]}", is_broken
    if left := len(found) - len(shown):
        yield f"{left} more, all within their limits{'' if verbosity < 0 else ' (-v shows them)'}", False
    codes = Counter(code for _, line in found for code in line.broken)
    verdict = "".join(f", {codes[code]} {code.lower()}" for code in sorted(codes)) or ", all within their limits"
    yield f"{len(found)} count{'s' if len(found) > 1 else ''}{verdict}", bool(codes)


def _cells(test: str, line: Line) -> tuple[str, ...]:
    limit = "" if line.max_tokens is None else f"{line.max_tokens:,}"
    tokens = f"{line.tokens:,}" if line.most == line.tokens else f"{line.tokens:,} to {line.most:,}"
    broken = "".join(f"{code}: " for code in line.broken)
    return tokens, limit, line.cost, line.max_cost, line.kind, printable(f"{broken}{test} ({line.name})")


def _used(line: Line) -> Fraction:
    """How much of its limit a count uses."""
    return Fraction(line.most, line.max_tokens or 1) if line.max_tokens is not None else Fraction()
