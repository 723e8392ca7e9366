"""Numbers as the command line takes them: plain digits, nothing that could be read two ways."""

from __future__ import annotations

from argparse import ArgumentTypeError


def whole(text: str) -> int:
    """A whole number, 0 or more, of at most 15 digits."""
    if text.isascii() and text.isdigit() and len(text) <= 15:
        return int(text)
    raise ArgumentTypeError(f"{text[:40]!r} is not a whole number, 0 or more, in plain digits")


def figure(number: int | None) -> str:
    """A number as people read it; a dash where it is not known."""
    return "-" if number is None else f"{number:,}"
