r"""The split patterns of o200k and cl100k without looking ahead, for texts in Latin letters.

tiktoken's pattern engine hands a pattern that neither looks around nor is possessive to one that runs over the text
in a single pass, and so counts it in half to nine tenths of the time. Such a pattern does the same as the published
one for a text that is `latin` once its runs of whitespace are `collapsed`:

* Being possessive makes no difference: in each alternative what follows a possessive class cannot match what that
  class would give back.
* Whitespace that is left is a single character, but for what ends with a line break or the text; of that ``\s+``
  takes what ``\s+(?!\S)`` would.
* The classes end with Latin-1, and the single pass is quick only since they are short. The characters from U+2000 to
  U+203F that are no whitespace, dashes, quotation marks and the like, are none of letter, mark and number, as the
  patterns take whatever is in no class.
"""

from __future__ import annotations

from functools import cache

from .encodings import CL100K_PATTERN, O200K_PATTERN
from .split_pattern import for_rust
from .unicode_classes import classes, union, written

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


def latin(text: str) -> bool:
    """Whether all of a text is in Latin-1, or a dash or quotation mark such as are written with it."""
    if text.isascii():
        return True
    try:
        text.encode("latin-1")
    except UnicodeEncodeError as error:
        if not "\u2000" <= text[error.start] <= "\u203f":
            return False
        return not text.encode().replace(_PUNCTUATION, b"").translate(None, _LATIN_1)
    return True


def _inside(*names: str) -> str:
    return for_rust(written(union(*(classes()[name] for name in names)), 0xFF))
