"""Request files: JSON, or JSONL with a request a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..estimators.counting import ChatRequest
from ..estimators.request_settings import named_model
from ..tokenizers.errors import TokengapError
from .inputs import STDIN, read_text
from .json_files import parse_json


def read_requests(paths: Sequence[str]) -> list[ChatRequest]:
    """Read every request of the files; a line of JSONL is reported as ``file:line``."""
    return [request for path in paths for request in _read(path)]


def common_model(requests: Sequence[ChatRequest]) -> str | None:
    """The model the requests name, if any does.

    Raises TokengapError where they name several: which of them is meant must be said.
    """
    named = dict.fromkeys(model for request in requests if (model := named_model(request.body)))
    if len(named) > 1:
        raise TokengapError(f"the requests name several models ({', '.join(named)}): choose one with --model")
    return next(iter(named), None)


def _read(path: str) -> Iterator[ChatRequest]:
    name = "stdin" if path == STDIN else path
    text = read_text(path)
    try:
        yield ChatRequest(name, parse_json(text))
    except ValueError as whole:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        for number, line in lines:
            try:
                yield ChatRequest(f"{name}:{number}", parse_json(line))
            except ValueError as error:
                also = f", nor is line {number} ({error})" if len(lines) > 1 else ""
                raise TokengapError(f"{name}: not JSON ({whole}){also}") from None
        if not lines:
            raise TokengapError(f"{name}: empty, not a request") from None
