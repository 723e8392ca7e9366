r"""Character classes of one Unicode version, written out, so that no pattern depends on the interpreter's.

tiktoken 0.14 classifies by Unicode 16; Python 3.11 to 3.13 by versions 14 to 15.1. A pattern that says
``\w`` or ``\p{L}`` would split the same text differently under each, and a tokenizer with it would give
other ids. ``tools/unicode_classes.py`` wrote the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from .text import WHITE_SPACE

Ranges = tuple[tuple[int, int], ...]

UNICODE_VERSION = "16.0.0"
LAST_CODE_POINT = 0x10FFFF

_GROUPS = {
    "L": ("Lu", "Ll", "Lt", "Lm", "Lo"),
    "M": ("Mn", "Mc", "Me"),
    "N": ("Nd", "Nl", "No"),
    "LC": ("Lu", "Ll", "Lt"),
}
_PYTHON_SPACE = WHITE_SPACE + "\x1c\x1d\x1e\x1f"


@cache
def classes() -> Mapping[str, Ranges]:
    r"""Every class by name: the general categories of letters, marks and numbers, and five more.

    ``any`` is everything, ``white_space`` what Rust calls ``\s``; ``word``, ``digit`` and ``space`` are
    what Python calls ``\w``, ``\d`` and ``\s``.
    """
    import json

    table = json.loads(Path(__file__).with_name("data").joinpath("unicode16.json").read_bytes())
    found: dict[str, Ranges] = {name: tuple(map(tuple, ranges)) for name, ranges in table["categories"].items()}
    found |= {name: union(*(found[part] for part in parts)) for name, parts in _GROUPS.items()}
    found["any"] = ((0, LAST_CODE_POINT),)
    found["white_space"] = of(WHITE_SPACE)
    found["space"] = of(_PYTHON_SPACE)
    found["digit"] = found["Nd"]
    found["word"] = union(found["L"], found["N"], of("_"))
    return found


def of(characters: str) -> Ranges:
    return union((ord(character), ord(character)) for character in characters)


def union(*several: Iterable[tuple[int, int]]) -> Ranges:
    """Join ranges that touch or overlap."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(pair for ranges in several for pair in ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return tuple(joined)


def complement(ranges: Ranges) -> Ranges:
    edges = [-1, *(edge for pair in ranges for edge in pair), LAST_CODE_POINT + 1]
    gaps = zip(edges[::2], edges[1::2], strict=True)
    return tuple((last + 1, first - 1) for last, first in gaps if last + 1 < first)


def written(ranges: Ranges, limit: int = LAST_CODE_POINT) -> str:
    r"""The inside of a bracket expression, up to a last code point.

    >>> written(union(of("ab-"), ((0x370, 0x373),)))
    '\\x2da-b\\u0370-\\u0373'
    """
    below = ((first, min(last, limit)) for first, last in ranges if first <= limit)
    return "".join(_written(first) if first == last else f"{_written(first)}-{_written(last)}" for first, last in below)


def _written(point: int) -> str:
    if point > 0xFFFF:
        return f"\\U{point:08x}"
    if point > 0x7E:
        return f"\\u{point:04x}"
    character = chr(point)  # other engines read some escaped punctuation as an assertion
    return character if character.isalnum() or character == "_" else f"\\x{point:02x}"
