"""Pre-tokenizing: the rule that cuts a text into the chunks no merge may cross.

Each rule is one pattern of the standard library's ``re`` with its character classes written out, in a
form that stays linear on any text: a class run that nothing can follow is possessive. Where a published
pattern was rewritten for that, tests compare the chunks with tiktoken's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from .errors import TokengapError, unknown_name
from .safe_cuts import blocks, safe_cut
from .split_pattern import explicit
from .split_rules import RULES, filled
from .unicode_classes import LAST_CODE_POINT, UNICODE_VERSION, classes, union, written

DEFAULT_PRETOKENIZER = "gpt2"

_BLOCK = 1 << 14
"""Characters. Classes that reach beyond the Basic Multilingual Plane are slow in ``re``; with blocks, one emoji costs
that only to the block it is in."""

_BMP = 0xFFFF


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
        for block in blocks(text, _BLOCK):
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

        ``None`` if the text holds none, as always under ``none`` and a custom pattern. See ``safe_cuts``.
        """
        return safe_cut(text, position) if self.can_be_cut else None


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
    return filled(rule, lambda name: written(table[name], limit))


@cache
def _compiled(name: str, limit: int) -> re.Pattern[str]:
    return re.compile(_rule(name, limit))


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)  # re keeps the compiled patterns it was last asked for
