"""Request files: JSON, or JSONL with a request a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..estimators.counting import ChatRequest
from ..estimators.request_settings import named_model
from ..tokenizers.errors import TokengapError
from .inputs import STDIN, read_text
from .json_files import NotJSONError, RefusedError, parse_json


def read_requests(paths: Sequence[str]) -> list[ChatRequest]:
    """Read every request of the files; a line of JSONL is reported as ``file:line``."""
    return [request for path in paths for request in _read(path)]


def common_model(requests: Sequence[ChatRequest]) -> str:
    """The one model that all requests name. Raises TokengapError where they name none, or several."""
    named: dict[str, str] = {}
    for request in requests:
        model = named_model(request.body)
        if model is None:
            raise TokengapError(f"{request.source}: the request names no model: give --model, or --counter o200k_base")
        named.setdefault(model, request.source)
    if len(named) > 1:
        raise TokengapError(f"the requests name several models ({', '.join(named)}): choose one with --model")
    return next(iter(named))


def _read(path: str) -> Iterator[ChatRequest]:
    name = "stdin" if path == STDIN else path
    text = read_text(path)
    if not text.strip():
        raise TokengapError(f"{name}: empty, not a request")
    try:
        yield from _requests(name, parse_json(text))
    except NotJSONError as whole:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        if len(lines) == 1 or not _is_json(lines[0][1]):
            raise TokengapError(f"{name}: {whole}") from None
        for number, line in lines:
            yield from _requests(f"{name}:{number}", _parse_line(f"{name}:{number}", line))
    except RefusedError as error:
        raise TokengapError(f"{name}: {error}") from None


def _requests(name: str, body: object) -> Iterator[ChatRequest]:
    """The request, or those of the body that submits a batch to Anthropic."""
    batch = body.get("requests") if isinstance(body, dict) else None
    if not isinstance(batch, list) or not batch:
        yield ChatRequest(name, body)
        return
    for i, request in enumerate(batch):
        yield ChatRequest(f"{name}: requests[{i}]", request)


def _is_json(line: str) -> bool:
    try:
        parse_json(line)
    except NotJSONError:
        return False
    except RefusedError:
        pass
    return True


def _parse_line(name: str, line: str) -> object:
    try:
        return parse_json(line)
    except NotJSONError as error:
        raise TokengapError(f"{name}: not JSON: {error.problem} (column {error.column})") from None
    except RefusedError as error:
        raise TokengapError(f"{name}: {error}") from None
