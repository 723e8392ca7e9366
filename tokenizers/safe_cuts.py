r"""Where a text can be cut without changing any chunk, whatever stands around.

* Before a single space between two characters that are no space: every named rule begins a chunk there, since no
  chunk has a space but at its beginning, or in a run of whitespace that this one is not.
* After a single line feed between two such characters, unless a ``/`` follows: the line feed is a chunk, or ends
  the one of the punctuation before it, which under o200k goes on over ``/``.

What is left of such a cut ends as it would before more text: the rules look ahead from whitespace only, and all
whitespace before the cut has the same neighbours as before. What is right of it begins where a chunk begins.

"No space" is meant in both senses, Unicode's and Python's, so that it holds for every rule. ``none``, under which
a text is one chunk, and a user's own pattern have no such places.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from .text import WHITE_SPACE

LONG = 1 << 15
"""Characters without a safe cut that may hold a chunk that takes long to merge."""

SPACE = re.escape(WHITE_SPACE + "\x1c\x1d\x1e\x1f")
"""What stands between brackets for space in either sense."""


def safe_cut(text: str, position: int) -> int | None:
    """The first place after ``position`` where a text can be cut; ``None`` if there is none."""
    found = _cut().search(text, position)
    if found is None:
        return None
    return found.start() if text[found.start()] == " " else found.end()


def blocks(text: str, size: int, cut: Callable[[str, int], int | None] = safe_cut) -> Iterator[str]:
    """Cut a text into blocks of ``size`` characters and as many more as it takes to the next place to cut."""
    start = 0
    while len(text) - start > size:
        end = cut(text, start + size)
        if end is None:
            break
        yield text[start:end]
        start = end
    yield text[start:] if start else text


def regrouped(parts: Iterable[str]) -> Iterator[str]:
    """The text that is in parts, cut safely: at most one cut in each part, so what has none at all is held whole."""
    held: list[str] = []
    before = ""  # the last characters of what is held, since a cut depends on its neighbours
    for part in parts:
        searched = before + part
        held.append(part)
        before = searched[-2:]
        if (cut := safe_cut(searched, 0)) is not None:
            whole = "".join(held)
            at = len(whole) - len(searched) + cut
            yield whole[:at]
            held, before = [whole[at:]], whole[at:][-2:]
    if held:
        yield "".join(held)


@cache  # a process that counts one prompt does not need it
def _cut() -> re.Pattern[str]:
    # What it begins with is looked for first: four times as quick as to look behind every character.
    return re.compile(rf" (?=[^{SPACE}])(?<=[^{SPACE}] )|\n(?=[^{SPACE}/])(?<=[^{SPACE}]\n)")
