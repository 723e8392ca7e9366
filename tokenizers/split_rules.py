"""The named split rules, each one pattern of the standard library's ``re``.

They are kept apart from ``pretokenize`` for a process that only counts, which waits for no more than it uses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_CONTRACTION = r"'(?:[sS\u017fdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])"
_O200K_START = r"[^\r\n<L><N>]?"

RULES: Mapping[str, str] = {
    "none": r"[<any>]++",
    "words": r"[^ \n\r]++",
    "workbook": r" ?[<word>]++| ?[^<word><space>]++|[<space>]++",
    "gpt2": (
        r"'(?:[sdmt]|ll|ve|re)| ?[<L>]++| ?[<N>]++| ?[^<white_space><L><N>]++"
        r"|[<white_space>]+(?![^<white_space>])|[<white_space>]"
    ),
    "cl100k": (
        _CONTRACTION + r"|[^\r\n<L><N>]?+[<L>]++|[<N>]{1,3}| ?[^<white_space><L><N>]++[\r\n]*+"
        r"|[<white_space>]++(?![<any>])|[<white_space>]*[\r\n]|[<white_space>]+(?![^<white_space>])|[<white_space>]"
    ),
    "o200k": (
        _O200K_START + rf"[<upper>]*[<lower>]+(?:{_CONTRACTION})?|"
        rf"{_O200K_START}[<upper>]+[<lower>]*(?:{_CONTRACTION})?"
        r"|[<N>]{1,3}| ?[^<white_space><L><N>]++[\r\n/]*+"
        r"|[<white_space>]*[\r\n]++|[<white_space>]+(?![^<white_space>])|[<white_space>]++"
    ),
}
"""The named rules; ``<L>`` stands for a class of ``unicode_classes``.

``none`` makes the whole text one chunk. ``words`` splits on single spaces and line ends, which it drops.
``workbook`` is `` ?\\w+| ?[^\\w\\s]+|\\s+`` as Python means it. The other three are the published patterns.
"""


def filled(rule: str, inside: Callable[[str], str]) -> str:
    """A rule as a pattern: ``inside`` gives what stands between brackets for the name of a class."""
    return re.sub("<([a-zA-Z_]+)>", lambda match: inside(match[1]), rule)
