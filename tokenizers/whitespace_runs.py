r"""Taking runs of spaces and tabs out of a text, whose tokens are known without counting.

Under o200k and cl100k ``\s+(?!\S)`` takes a run of whitespace, and leaves its last character to what follows unless
the text ends there. Before it stands an alternative that takes a run up to its last line break, so that what it meets
has none. If that is one character, or ends the text, ``\s+`` takes the same. Otherwise it is spaces alone or tabs
alone, since `collapsed` gives up on other whitespace in a row. All but the last one are a chunk, and one token, as
every run of up to 79 spaces or 20 tabs is. The last one is left to the chunk after it, as one that stands alone is.
So the others can be taken out of the text, if a token is added for each run.
"""

from __future__ import annotations

import re

from .text import WHITE_SPACE

_TOO_MANY = " " * 81, "\t" * 22
_FOLLOWED = f"(?=[^{re.escape(WHITE_SPACE)}])"
_SPACES, _TABS = re.compile("  +" + _FOLLOWED), re.compile("\t\t+" + _FOLLOWED)
_IN_A_ROW = " \t", "\t ", " \xa0", "\xa0 ", "\t\xa0", "\xa0\t", "\xa0\xa0"
_RARE_SPACES = tuple(set(WHITE_SPACE) - set("\n\r \t\v\f\xa0"))


def collapsed(text: str) -> tuple[str, int] | None:
    """A text with one space or tab for each run of them before something, and the number of these runs.

    ``None`` for a text with whitespace of which that would not be true.
    """
    if "\v" in text or "\f" in text:
        return None
    if not text.isascii() and any(map(text.__contains__, _RARE_SPACES)):
        return None
    tabs = "\t" in text
    if (tabs or "\xa0" in text) and any(map(text.__contains__, _IN_A_ROW)):
        return None
    runs = tab_runs = 0
    if "  " in text or (tabs and "\t\t" in text):
        if any(map(text.__contains__, _TOO_MANY)):
            return None
        text, runs = _SPACES.subn(" ", text)
        text, tab_runs = _TABS.subn("\t", text) if tabs else (text, 0)
    return text, runs + tab_runs
