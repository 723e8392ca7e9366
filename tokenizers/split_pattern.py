r"""A user's own split pattern, made independent of the interpreter's Unicode tables.

Shorthands are replaced by the characters they stand for in Unicode 16, and what cannot be is refused
with advice. The result is a pattern of the standard library's ``re``; ``for_rust`` writes it for the
engines of tiktoken and HuggingFace.
"""

from __future__ import annotations

import re
import warnings

from .errors import TokengapError
from .text import well_formed
from .unicode_classes import Ranges, classes, complement, written

_LONGEST = 200_000
_SCOPED_IGNORECASE = "(?i:"
_GROUPS = ("(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>")
_START, _RUST_END, _PYTHON_END = r"\A", r"\Z", r"(?=\n?\Z)"
_ALSO_FOLDED = {"s": "\\u017f", "k": "\\u212a"}  # what else differs from an ASCII letter only by case


def explicit(pattern: str, *, rust: bool = False) -> str:
    r"""Write out the classes of a pattern.

    >>> explicit("[\\s]", rust=True)
    '[\\x09-\\x0d\\x20\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028-\\u2029\\u202f\\u205f\\u3000]'

    Raises TokengapError.
    """
    if len(pattern) > _LONGEST:
        raise TokengapError(f"the split pattern has {len(pattern):,} characters; at most {_LONGEST:,} are taken")
    if well_formed(pattern)[0] != pattern:
        raise TokengapError("the split pattern is not valid Unicode")
    written_out = _Scanner(pattern, rust).run()
    _check(written_out)
    return written_out


def for_rust(pattern: str) -> str:
    r"""An explicit pattern for the engines of tiktoken and HuggingFace: ``\x{..}``, and ``\z`` for the end."""

    def translated(match: re.Match[str]) -> str:
        if point := match[1] or match[2] or match[3]:
            return f"\\x{{{int(point, 16):x}}}"
        return "\\z" if match[0] == _RUST_END else match[0]

    escapes = r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|.)"
    return re.sub(escapes, translated, pattern, flags=re.DOTALL)


class _Scanner:
    """One pass over a pattern, knowing whether it is inside brackets or in an ignore-case group."""

    def __init__(self, pattern: str, rust: bool) -> None:
        self.pattern = pattern
        self.rust = rust
        self.position = 0
        self.in_brackets = False
        self.ignore_case: list[bool] = [False]
        self.shorthands = {"w": "word", "d": "digit", "s": "white_space" if rust else "space"}

    def run(self) -> str:
        out: list[str] = []
        while self.position < len(self.pattern):
            out.append(self._bracketed() if self.in_brackets else self._plain())
        return "".join(out)

    def _plain(self) -> str:
        if self.pattern.startswith("\\", self.position):
            return self._escape()
        if self.pattern.startswith("(", self.position):
            return self._open()
        character = self._take(1)
        if character in "^$":  # which other engines take for the edges of lines
            return _START if character == "^" else _RUST_END if self.rust else _PYTHON_END
        if character == ")" and len(self.ignore_case) > 1:
            self.ignore_case.pop()
        if character == "[":
            self.in_brackets = True
            for opening in ("^]", "^", "]"):  # a bracket that comes first is an ordinary character
                if self.pattern.startswith(opening, self.position):
                    return character + self._take(len(opening)).replace("]", "\\]")
        return self._folded(character)

    def _bracketed(self) -> str:
        if self.pattern.startswith("\\", self.position):
            return self._escape()
        character = self._take(1)
        if character == "[":
            raise TokengapError("the split pattern has a '[' inside brackets; write \\[ for the character itself")
        if character == "]":
            self.in_brackets = False
            return character
        return self._folded(character)

    def _folded(self, character: str) -> str:
        if not self.ignore_case[-1] or not character.isalpha():
            return character
        if not character.isascii() or self.pattern.startswith("-", self.position):
            raise TokengapError("in a (?i:...) of the split pattern only single ASCII letters are understood")
        cases = character.lower() + character.upper() + _ALSO_FOLDED.get(character.lower(), "")
        return cases if self.in_brackets else f"[{cases}]"

    def _open(self) -> str:
        if self.pattern.startswith(_SCOPED_IGNORECASE, self.position):
            self._take(len(_SCOPED_IGNORECASE))
            self.ignore_case.append(True)
            return "(?:"
        group = next((group for group in _GROUPS if self.pattern.startswith(group, self.position)), None)
        if group is None and self.pattern.startswith("(?", self.position):
            raise TokengapError(
                "the split pattern has a flag, name or comment, '(?...'; only groups (?:...), (?i:...) and (?>...) "
                "and look-around are understood"
            )
        self.ignore_case.append(self.ignore_case[-1])
        if group is None:
            self._take(1)
            return "(?:"  # what a group captures would be of no use
        return self._take(len(group))

    def _escape(self) -> str:
        if rust := re.compile(r"\\[xu]\{([0-9a-fA-F]{1,6})\}").match(self.pattern, self.position):
            self._take(len(rust[0]))
            point = int(rust[1], 16)
            if point > 0x10FFFF:
                raise TokengapError(f"the split pattern names a character that does not exist: {rust[0]}")
            return written(((point, point),))
        name = self.pattern[self.position + 1 : self.position + 2]
        if name.lower() == "p":
            return self._property()
        if name.lower() in self.shorthands:
            self._take(2)
            return self._class(classes()[self.shorthands[name.lower()]], negated=name.isupper())
        if name.lower() == "b" and not self.in_brackets:
            raise TokengapError("the split pattern has \\b, which depends on Python's own Unicode version; use a class")
        if name == "z" and not self.in_brackets:
            self._take(2)
            return _RUST_END
        if name.isdigit():
            raise TokengapError("the split pattern refers back to a group, which split patterns cannot")
        return self._take(2)

    def _property(self) -> str:
        found = re.compile(r"\\([pP])(?:\{(\^?)(\w+)\}|(\w))").match(self.pattern, self.position)
        name = (found[3] or found[4]) if found else ""
        known = [name for name in classes() if name[0].isupper()]
        if found is None or name not in known:
            raise TokengapError(f"the split pattern has an unknown class \\p{{{name}}}; there are {', '.join(known)}")
        self._take(len(found[0]))
        return self._class(classes()[name], negated=(found[1] == "P") != bool(found[2]))

    def _class(self, ranges: Ranges, *, negated: bool) -> str:
        inside = written(complement(ranges) if negated else ranges)
        return inside if self.in_brackets else f"[{inside}]"

    def _take(self, length: int) -> str:
        taken = self.pattern[self.position : self.position + length]
        self.position += length
        return taken


def _check(pattern: str) -> None:
    from re import _parser  # type: ignore[attr-defined]  # the one place that knows a pattern's least width

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(pattern)
            shortest, _ = _parser.parse(pattern).getwidth()
    except (re.error, Warning, OverflowError, RecursionError) as error:
        raise TokengapError(f"the split pattern does not compile: {error}") from error
    if shortest == 0:
        raise TokengapError("the split pattern can match nothing at all; every alternative must take a character")
