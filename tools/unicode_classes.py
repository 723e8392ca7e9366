"""Write the character classes of Unicode 16.0.0 that the split rules are made of, twice.

    pip install unicodedata2==16.0.0
    python tools/unicode_classes.py

The interpreter's own tables move with its version, so they would give one tokenizer different ids on
Python 3.11 and 3.13. The files this writes are committed; a test compares every class in them, code point
by code point, with what tiktoken takes the class for. ``unicode16.json`` has the classes by name.
``unicode16.stand_ins`` has what ``stand_ins.py`` needs, for a process that is to count at once: 32-bit numbers,
little-endian, one for each run of characters with one stand-in, its first code point times 256 plus the stand-in.
"""

from __future__ import annotations

import json
import sys
from array import array
from itertools import groupby
from pathlib import Path

import unicodedata2

from tokengap.tokenizers import stand_ins
from tokengap.tokenizers.text import WHITE_SPACE

VERSION = "16.0.0"
CATEGORIES = ("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No")
STAND_INS = {
    stand_ins.UPPER: ("Lu", "Lt"),
    stand_ins.LOWER: ("Ll",),
    stand_ins.LETTER: ("Lm", "Lo"),
    stand_ins.MARK: ("Mn", "Mc", "Me"),
    stand_ins.NUMBER: ("Nd", "Nl", "No"),
}
TARGET = Path(__file__).resolve().parents[1] / "tokenizers" / "data"


def ranges(category: str) -> list[list[int]]:
    """The code points of a general category, as first and last of each run."""
    found: list[list[int]] = []
    runs = groupby(range(0x110000), key=lambda point: unicodedata2.category(chr(point)) == category)
    for inside, run in runs:
        points = list(run)
        if inside:
            found.append([points[0], points[-1]])
    return found


def stand_in(point: int) -> str:
    if chr(point) in WHITE_SPACE:
        return stand_ins.SPACE
    category = unicodedata2.category(chr(point))
    return next((character for character, of in STAND_INS.items() if category in of), stand_ins.OTHER)


def runs_of_stand_ins() -> array[int]:
    runs = groupby(range(0x110000), key=stand_in)
    numbers = array("I", [next(run) << 8 | ord(character) for character, run in runs])
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def main() -> None:
    if unicodedata2.unidata_version != VERSION:
        raise SystemExit(f"unicodedata2 {VERSION} is needed, not {unicodedata2.unidata_version}")
    lines = [f'"{name}":{json.dumps(ranges(name), separators=(",", ":"))}' for name in CATEGORIES]
    (TARGET / "unicode16.stand_ins").write_bytes(runs_of_stand_ins().tobytes())
    (TARGET / "unicode16.json").write_text(
        f'{{"version":"{VERSION}","categories":{{\n' + ",\n".join(lines) + "\n}}\n", encoding="ascii"
    )


if __name__ == "__main__":
    main()
