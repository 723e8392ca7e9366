"""A sign of life on standard error for work that takes longer than a second."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")
PATIENCE = 1.0  # seconds


def watched(items: Iterable[T], total: int, what: str = "counting") -> Iterator[T]:
    """Pass ``items`` on; on a terminal, show how far it is once a second has gone by."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    bar = _Bar(total, what)
    try:
        for item in items:
            yield item
            bar.advance()
    finally:
        bar.close()


class _Bar:
    def __init__(self, total: int, what: str) -> None:
        self._done, self._total, self._what = 0, total, what
        self._progress: Progress | None = None
        from threading import Timer

        self._timer = Timer(PATIENCE, self._show)
        self._timer.daemon = True
        self._timer.start()

    def advance(self) -> None:
        self._done += 1
        if self._progress:
            self._progress.update(self._progress.task_ids[0], completed=self._done)

    def close(self) -> None:
        self._timer.cancel()
        if self._progress:
            self._progress.stop()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        progress = Progress(*columns, console=Console(stderr=True), transient=True)
        progress.add_task(self._what, total=self._total, completed=self._done)
        progress.start()
        self._progress = progress
