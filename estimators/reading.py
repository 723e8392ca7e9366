"""Bytes to text, strictly: what is left open would be a wrong number later."""

from __future__ import annotations

from ..tokenizers.errors import TokengapError

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
BINARY_HEAD = 8000  # bytes looked at for a NUL, as git does to tell text from binary


class NotTextError(TokengapError):
    """A file whose bytes are not UTF-8 text."""


def decode(data: bytes, name: str) -> str:
    """Decode UTF-8 strictly; what is something else is refused by name."""
    check_head(data[:BINARY_HEAD], name)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(name, data[error.start], error.start) from None


def not_utf8(name: str, byte: int, offset: int) -> NotTextError:
    """The error for a byte that no UTF-8 has there."""
    return NotTextError(
        f"{name}: not UTF-8 text (byte 0x{byte:02x} at offset {offset}); convert it first, e.g. with iconv"
    )


def check_head(head: bytes, name: str) -> None:
    """Refuse what by its first bytes is no UTF-8 text: UTF-16, or binary."""
    if head.startswith(_UTF_16):
        raise NotTextError(f"{name}: UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8")
    if b"\0" in head:
        raise NotTextError(f"{name}: binary, or UTF-16 (it holds NUL bytes); only UTF-8 text can be counted")
