r"""The split patterns of o200k and cl100k without looking ahead, for texts in Latin letters.

tiktoken's pattern engine hands a pattern that neither looks around nor is possessive to one that runs over the text
in a single pass, and so counts it in half to nine tenths of the time. Such a pattern does the same as the published
one where `prepared` has seen to the text:

* Being possessive makes no difference: in each alternative what follows a possessive class cannot match what that
  class would give back.
* ``\s+(?!\S)`` takes a run of whitespace, and leaves its last character to what follows unless the text ends there.
  Before it stands an alternative that takes a run up to its last line break, so that what it meets has none. If that
  is one character, or ends the text, ``\s+`` takes the same.
* Otherwise it is spaces alone or tabs alone, since `prepared` gives up on other whitespace in a row. All but the last
  one are a chunk, and one token, as every run of up to 79 spaces or 20 tabs is. The last one is left to the chunk
  after it, as one that stands alone is. So the others can be taken out of the text, if a token is added for each run.
* The classes end with Latin-1, and the single pass is quick only since they are short. `prepared` gives up on texts
  with characters beyond it, but for those of U+2000 to U+203F that are no whitespace: dashes, quotation marks and
  the like, which are none of letter, mark and number, as the patterns take whatever is in no class.
"""

from __future__ import annotations

import re
from functools import cache

from .encodings import CL100K_PATTERN, O200K_PATTERN
from .split_pattern import for_rust
from .text import WHITE_SPACE
from .unicode_classes import classes, union, written

_TOO_MANY = " " * 81, "\t" * 22
_FOLLOWED = f"(?=[^{re.escape(WHITE_SPACE)}])"
_SPACES, _TABS = re.compile("  +" + _FOLLOWED), re.compile("\t\t+" + _FOLLOWED)
_IN_A_ROW = " \t", "\t ", " \xa0", "\xa0 ", "\t\xa0", "\xa0\t", "\xa0\xa0"
_RARE_SPACES = tuple(set(WHITE_SPACE) - set("\n\r \t\v\f\xa0"))
_PUNCTUATION = "\u2000".encode()[:2]  # with which U+2000 to U+203F begin
_LATIN_1 = bytes(range(0xC4))  # of which ASCII and Latin-1 are made


@cache
def simple_pattern(published: str) -> str | None:
    """The pattern for prepared texts, in the syntax of tiktoken; ``None`` if there is none."""
    letters, numbers, spaces = _inside("L"), _inside("N"), _inside("white_space")
    contraction = r"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])"
    before, other = rf"[^\r\n{letters}{numbers}]?", rf" ?[^{spaces}{letters}{numbers}]+"
    if published == O200K_PATTERN:
        upper, lower = _inside("Lu", "Lt", "Lm", "Lo", "M"), _inside("Ll", "Lm", "Lo", "M")
        return (
            rf"{before}[{upper}]*[{lower}]+(?:{contraction})?|{before}[{upper}]+(?:{contraction})?|[{numbers}]{{1,3}}"
            rf"|{other}[\r\n/]*|[{spaces}]*[\r\n]+|[{spaces}]+"
        )
    if published == CL100K_PATTERN:
        return (
            rf"{contraction}|{before}[{letters}]+|[{numbers}]{{1,3}}"
            rf"|{other}[\r\n]*|[{spaces}]+$|[{spaces}]*[\r\n]|[{spaces}]+"
        )
    return None


def prepared(text: str) -> tuple[str, int] | None:
    """A text with one space or tab for each run of them before something, and the number of these runs.

    ``None`` for a text that the simple patterns would split otherwise than the published ones.
    """
    if "\v" in text or "\f" in text:
        return None
    if not text.isascii() and (
        text.encode().replace(_PUNCTUATION, b"").translate(None, _LATIN_1) or any(map(text.__contains__, _RARE_SPACES))
    ):
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


def _inside(*names: str) -> str:
    return for_rust(written(union(*(classes()[name] for name in names)), 0xFF))
