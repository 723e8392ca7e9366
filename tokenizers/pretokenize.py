"""Pre-tokenizing: the rule that cuts a text into the chunks no merge may cross.

Each rule is one pattern of the standard library's ``re`` with its character classes written out, in a
form that stays linear on any text: a class run that nothing can follow is possessive. Where a published
pattern was rewritten for that, tests compare the chunks with tiktoken's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from .errors import TokengapError, unknown_name
from .split_pattern import explicit
from .unicode_classes import LAST_CODE_POINT, UNICODE_VERSION, classes, union, written

DEFAULT_PRETOKENIZER = "gpt2"

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

_BLOCK = 1 << 14
_BMP = 0xFFFF
_SAFE_CUT = r"(?<=[^<space>])(?: (?=[^<space>])|\n(?=[^<space>/]))"


@dataclass(frozen=True, slots=True)
class Pretokenizer:
    """A split rule. ``name`` is ``custom`` for a pattern of the user's own.

    What a custom pattern leaves unmatched is kept as chunks of its own; the rule ``words`` drops it, so
    that a text cannot be had back from its tokens: it is ``lossy``.
    """

    name: str
    pattern: str = field(repr=False)
    unicode_version: str = UNICODE_VERSION

    @property
    def lossy(self) -> bool:
        return self.name == "words"

    def chunks(self, text: str) -> list[str]:
        """Cut a well-formed text.

        >>> pretokenizer("workbook").chunks("the books, at 9am")
        ['the', ' books', ',', ' at', ' 9am']
        """
        if self.name == "none":
            return [text] if text else []
        if self.name == "custom":
            return [text[start:end] for start, end in _gapless_spans(_compile(self.pattern), text)]
        if text.isascii():
            return _compiled(self.name, 0x7F).findall(text)
        found: list[str] = []
        for block in blocks(text):
            found += _compiled(self.name, _limit(block)).findall(block)
        return found

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The chunks as start and end positions in the text."""
        if self.lossy:
            for match in _compiled(self.name, LAST_CODE_POINT).finditer(text):
                yield match.span()
            return
        start = 0
        for chunk in self.chunks(text):
            yield start, start + len(chunk)
            start += len(chunk)

    @property
    def can_be_cut(self) -> bool:
        """Whether a text can be chunked in blocks: not where it is one chunk, nor under an unknown pattern."""
        return self.name not in ("none", "custom")

    def safe_cut(self, text: str, position: int) -> int | None:
        """The first place after ``position`` where the text can be cut without changing any chunk.

        ``None`` if the text holds none, as always under ``none`` and a custom pattern. Before a single
        space between two characters that are no space, every named rule begins a chunk whatever is
        around, and after a single line feed between two such characters as well, unless a ``/`` follows.
        """
        if not self.can_be_cut:
            return None
        found = _cut_pattern().search(text, position)
        if found is None:
            return None
        return found.start() if text[found.start()] == " " else found.end()


def pretokenizer(name: str) -> Pretokenizer:
    """The named rule. Raises UnknownNameError."""
    if name not in RULES:
        raise unknown_name("pre-tokenizer", name, RULES, f"there are {', '.join(RULES)}, and your own with a pattern")
    return Pretokenizer(name, _rule(name, LAST_CODE_POINT))


def custom(pattern: str, *, rust: bool = False) -> Pretokenizer:
    r"""A split rule of the user's own, in the syntax of ``re``.

    ``\w \d \s`` and ``\p{L}``-style classes are written out as those of Unicode 16; ``rust`` gives ``\s``
    the meaning it has in published patterns. Raises TokengapError for a pattern that does not compile, may
    match nothing, or depends on the interpreter's own Unicode tables.
    """
    return Pretokenizer("custom", explicit(pattern, rust=rust))


def restored(name: str, pattern: str, unicode_version: str) -> Pretokenizer:
    """A rule read back from a file. A named one must have the very pattern this version has for it."""
    if name == "custom":
        found = custom(pattern)
        if found.pattern != pattern:
            raise TokengapError("the split pattern has character classes that are not written out")
        return Pretokenizer(name, pattern, unicode_version)
    found = pretokenizer(name)
    if (found.pattern, found.unicode_version) != (pattern, unicode_version):
        raise TokengapError(f"the pattern of the pre-tokenizer {name!r} is not the one this version of tokengap has")
    return found


def blocks(text: str) -> Iterator[str]:
    """Cut a text at safe places into blocks of some 16,000 characters, for the named rules.

    Classes that reach beyond the Basic Multilingual Plane are slow in ``re``; with blocks, one emoji
    costs that only to the block it is in.
    """
    start, cut = 0, _cut_pattern()
    while len(text) - start > _BLOCK:
        found = cut.search(text, start + _BLOCK)
        if found is None:
            break
        end = found.start() if text[found.start()] == " " else found.end()
        yield text[start:end]
        start = end
    yield text[start:] if start else text


def _limit(block: str) -> int:
    if block.isascii():
        return 0x7F
    return _BMP if len(block.encode("utf-16-le")) == 2 * len(block) else LAST_CODE_POINT


def _gapless_spans(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    position = 0
    for match in pattern.finditer(text):
        start, end = match.span()
        if position < start:
            yield position, start
        if start < end:
            yield start, end
        position = end
    if position < len(text):
        yield position, len(text)


@cache
def _rule(name: str, limit: int) -> str:
    return _filled(RULES[name], limit)


def _filled(rule: str, limit: int) -> str:
    """Write out the classes of a rule, up to a last code point: enough for a text that has none beyond it."""
    table = dict(classes())
    both = [table["Lm"], table["Lo"], table["M"]]
    table["upper"] = union(table["Lu"], table["Lt"], *both)
    table["lower"] = union(table["Ll"], *both)
    return re.sub("<([a-zA-Z_]+)>", lambda match: written(table[match[1]], limit), rule)


@cache
def _compiled(name: str, limit: int) -> re.Pattern[str]:
    return re.compile(_rule(name, limit))


@cache
def _cut_pattern() -> re.Pattern[str]:
    return re.compile(_filled(_SAFE_CUT, LAST_CODE_POINT))


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)  # re keeps the compiled patterns it was last asked for
