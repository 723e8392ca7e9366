"""Write the character classes of Unicode 16.0.0 that the split rules are made of.

    pip install unicodedata2==16.0.0
    python tools/unicode_classes.py

The interpreter's own tables move with its version, so they would give one tokenizer different ids on
Python 3.11 and 3.13. The file this writes is committed; a test compares every class in it, code point
by code point, with what tiktoken takes the class for.
"""

import json
from itertools import groupby
from pathlib import Path

import unicodedata2

VERSION = "16.0.0"
CATEGORIES = ("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No")
TARGET = Path(__file__).resolve().parents[1] / "tokenizers" / "data" / "unicode16.json"


def ranges(category: str) -> list[list[int]]:
    """The code points of a general category, as first and last of each run."""
    found: list[list[int]] = []
    runs = groupby(range(0x110000), key=lambda point: unicodedata2.category(chr(point)) == category)
    for inside, run in runs:
        points = list(run)
        if inside:
            found.append([points[0], points[-1]])
    return found


def main() -> None:
    if unicodedata2.unidata_version != VERSION:
        raise SystemExit(f"unicodedata2 {VERSION} is needed, not {unicodedata2.unidata_version}")
    lines = [f'"{name}":{json.dumps(ranges(name), separators=(",", ":"))}' for name in CATEGORIES]
    TARGET.write_text(f'{{"version":"{VERSION}","categories":{{\n' + ",\n".join(lines) + "\n}}\n", encoding="ascii")


if __name__ == "__main__":
    main()
