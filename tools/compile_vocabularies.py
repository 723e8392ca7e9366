"""Compile OpenAI's rank files into the files that tokengap maps into memory.

    python tools/compile_vocabularies.py FOLDER

The folder holds the rank files as published (``o200k_base.tiktoken``, …), plain or gzipped; each must have the
sha256 that ``tokenizers/encodings.py`` says. ``tokenizers/vocabulary.py`` describes the format. What is written
depends on the rank files alone, and its sha256, which is printed, belongs in ``tokenizers/encodings.py``. The rank
files can be had back from what is written: a test does so and compares their sha256.
"""

from __future__ import annotations

import gzip
import sys
from array import array
from binascii import a2b_base64, crc32
from hashlib import sha256
from itertools import accumulate
from pathlib import Path

from tokengap.tokenizers.encodings import ENCODINGS
from tokengap.tokenizers.vocabulary import HEADER, MAGIC, RANK_BITS, VERSION, File

TARGET = Path(__file__).resolve().parents[1] / "tokenizers" / "data"


def tokens_of(plain: bytes) -> list[bytes]:
    """The tokens of a rank file by rank; no bytes where a rank is missing."""
    fields = plain.split()
    tokens = [b""] * (int(fields[-1]) + 1)
    for token, rank in zip(fields[::2], fields[1::2], strict=True):
        tokens[int(rank)] = a2b_base64(token)
    return tokens


def compiled(tokens: list[bytes], plain_sha256: bytes) -> bytes:
    """The content of a compiled file."""
    slots = hash_table(tokens)
    starts = array("I", accumulate(map(len, tokens), initial=0))
    header = array("I", [VERSION, len(tokens), len(slots)])
    if sys.byteorder == "big":
        for numbers in (header, slots, starts):
            numbers.byteswap()
    content = MAGIC + header.tobytes() + plain_sha256
    if len(content) != HEADER:
        raise SystemExit("the header is not as long as vocabulary.py says")
    return content + slots.tobytes() + starts.tobytes() + b"".join(tokens)


def hash_table(tokens: list[bytes]) -> array[int]:
    """Open addressing, at most half full."""
    if len(tokens) >= 1 << RANK_BITS:
        raise SystemExit(f"{len(tokens):,} ranks do not fit {RANK_BITS} bits")
    size = 1 << (2 * len(tokens) - 1).bit_length()
    slots = array("I", bytes(4 * size))
    for rank, token in enumerate(tokens):
        if not token:
            continue
        crc = crc32(token)
        slot = crc % size
        while slots[slot]:
            slot = (slot + 1) % size
        slots[slot] = crc >> RANK_BITS << RANK_BITS | rank + 1
    return slots


def read(folder: Path, file: File) -> bytes:
    """A rank file in its plain form."""
    path = folder / f"{file.name}.tiktoken"
    plain = path.read_bytes() if path.exists() else gzip.decompress(Path(f"{path}.gz").read_bytes())
    if sha256(plain).hexdigest() != file.made_from:
        raise SystemExit(f"{path} is not the published file: its sha256 is wrong")
    return plain


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    for file in sorted({encoding.ranks.file for encoding in ENCODINGS.values()}):
        content = compiled(tokens_of(read(Path(sys.argv[1]), file)), bytes.fromhex(file.made_from))
        (TARGET / f"{file.name}.vocabulary").write_bytes(content)
        print(f"{file.name}: {len(content):,} bytes, sha256 {sha256(content).hexdigest()}")


if __name__ == "__main__":
    main()
