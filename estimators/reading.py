"""Bytes to text, and text to JSON, strictly: what is left open would be a wrong number later."""

from __future__ import annotations

from typing import NoReturn

from ..tokenizers.errors import TokengapError

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BINARY_HEAD = 8000  # bytes looked at for a NUL, as git does to tell text from binary


class NotTextError(TokengapError):
    """A file whose bytes are not UTF-8 text."""


def decode(data: bytes, name: str) -> str:
    """Decode UTF-8 strictly; what is something else is refused by name."""
    if data.startswith(_UTF_16):
        raise NotTextError(f"{name}: UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8")
    if b"\0" in data[:_BINARY_HEAD]:
        raise NotTextError(f"{name}: binary, or UTF-16 (it holds NUL bytes); only UTF-8 text can be counted")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        bad = data[error.start]
        raise NotTextError(
            f"{name}: not UTF-8 text (byte 0x{bad:02x} at offset {error.start}); convert it first, e.g. with iconv"
        ) from None


def parse_json(text: str) -> object:
    """Parse JSON, refusing duplicate keys, NaN and infinities, and nesting without end, as ValueError."""
    import json

    try:
        value: object = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} is there twice")
        found[key] = value
    return found


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value")
