"""JSON files, read strictly."""

from __future__ import annotations

from ..estimators.strict_json import NotJSONError, RefusedError, parse_json
from ..tokenizers.errors import TokengapError
from .inputs import STDIN, read_text

__all__ = ["NotJSONError", "RefusedError", "parse_json", "read_json"]


def read_json(path: str) -> object:
    """Read a file, or standard input for ``-``. Raises TokengapError where it is not JSON, or is refused."""
    try:
        return parse_json(read_text(path))
    except (NotJSONError, RefusedError) as error:
        raise TokengapError(f"{'stdin' if path == STDIN else path}: {error}") from None
