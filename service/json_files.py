"""JSON files, read strictly."""

from __future__ import annotations

from ..estimators.reading import parse_json
from ..tokenizers.errors import TokengapError
from .inputs import STDIN, read_text

__all__ = ["parse_json", "read_json"]


def read_json(path: str) -> object:
    """Read a file, or standard input for ``-``. Raises TokengapError where it is not JSON."""
    text = read_text(path)
    try:
        return parse_json(text)
    except ValueError as error:
        raise TokengapError(f"{'stdin' if path == STDIN else path}: not JSON ({error})") from None
