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

_SPACE = re.escape(WHITE_SPACE + "\x1c\x1d\x1e\x1f")
# What it begins with is looked for first: four times as quick as to look behind every character.
_SINGLE_SPACE = f" (?=[^{_SPACE}])(?<=[^{_SPACE}] )"

LETTER = r"[A-Za-z\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]"
NO_LETTER = r"[\x00-&(-@\[-`{-\x7f\u3000-\u3002\u300c-\u300f\uff01\uff0c\uff1a\uff1b\uff1f]"
"""Between these two every published pattern has a chunk boundary, and the same chunks on both sides if a text is cut.

A letter ends the chunk it is in unless a letter, a mark or an apostrophe follows, and here none does. So no chunk
reaches over the cut. No pattern looks behind, so what follows it is chunked as if it stood alone. What precedes it
could only be changed by a look ahead; there is one in the alternatives for whitespace, and no whitespace precedes.
"""


def safe_cut(text: str, position: int) -> int | None:
    """The first place after ``position`` where a text can be cut; ``None`` if there is none."""
    found = _cut().search(text, position)
    if found is None:
        return None
    return found.start() if text[found.start()] == " " else found.end()


def published_cut(text: str, position: int) -> int | None:
    """The same for the published patterns, under which there are more such places."""
    found = _published_cut().search(text, position)
    return found.start() if found else None


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
    return re.compile(rf"{_SINGLE_SPACE}|\n(?=[^{_SPACE}/])(?<=[^{_SPACE}]\n)")


@cache
def _published_cut() -> re.Pattern[str]:
    return re.compile(f"{NO_LETTER}(?<={LETTER}{NO_LETTER})|{_SINGLE_SPACE}")
