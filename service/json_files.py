"""JSON files, read strictly: what JSON leaves open would be a wrong number later."""

from __future__ import annotations

import json
from typing import NoReturn

from ..tokenizers.errors import TokengapError
from .inputs import STDIN, read_text


def read_json(path: str) -> object:
    """Read a file, or standard input for ``-``. Raises TokengapError where it is not JSON."""
    text = read_text(path)
    try:
        return parse_json(text)
    except ValueError as error:
        raise TokengapError(f"{'stdin' if path == STDIN else path}: not JSON ({error})") from None


def parse_json(text: str) -> object:
    """Parse JSON, refusing duplicate keys, NaN and infinities, and nesting without end, as ValueError."""
    try:
        value: object = _DECODER.decode(text)
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


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number)
