"""What a model would be sent of a file: its text, a request, tools, a field of it, a filled template."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from ..tokenizers.errors import TokengapError
from .field_path import FieldError, select_fields
from .fields import describe
from .reading import decode
from .strict_json import NotJSONError, parse_json

if TYPE_CHECKING:
    from .budget_config import Budget
    from .toml_origin import Steps

Include = Callable[[str], bytes | None]
"""Reads another file, by its path, for a template that includes it; ``None`` where there is none."""

JSON_LINES = (".jsonl", ".ndjson")
YAML = (".yaml", ".yml")
STRUCTURED = (".json", *JSON_LINES, *YAML, ".toml")
MOST_VALUES = 1_000_000
"""Values that a YAML file may come to."""

_MCP_HINTS = frozenset(("annotations", "title", "icons", "outputSchema", "execution", "_meta"))
_LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\n"


class Sent(NamedTuple):
    """A text that is sent: its parts between variables that have an allowance, and the tokens of these."""

    parts: tuple[str, ...]
    allowance: int = 0


class Contents(NamedTuple):
    """What is counted of a file: texts, whole requests, lists of tools."""

    texts: tuple[Sent, ...] = ()
    requests: tuple[object, ...] = ()
    tools: tuple[object, ...] = ()


def read_contents(budget: Budget, path: str, data: bytes, include: Include = lambda _: None) -> Contents:
    """What a budget counts of a file. Raises TokengapError, with the path, where the file is not as it says."""
    if data.startswith(_LFS_POINTER):
        raise TokengapError(f"{path}: a pointer of Git LFS, not the file itself; fetch it first: git lfs pull")
    text = decode(data, path)
    try:
        if budget.type in ("text", "jinja", "format"):
            return Contents(tuple(_sent(budget, each, include) for each in read_texts(budget, path, text)))
        values = _selected(budget, path, text)
    except ValueError as error:  # tomllib's, or our own
        raise TokengapError(f"{path}: {error}") from error
    if budget.type == "tools":
        return Contents(tools=tuple(values))
    return Contents(requests=tuple(request for value in values for request in _requests(value)))


def first_line(budget: Budget, path: str, data: bytes) -> int:
    """The line that what is counted of a file begins on."""
    suffix = PurePosixPath(path).suffix.lower()
    if not budget.field:
        return 1
    try:
        text = decode(data, path)
        steps = select_fields(_parse(text, path), budget.field)[0][0]
        return _line(suffix, text, data, steps)
    except ValueError:
        return 1


def read_texts(budget: Budget, path: str, text: str) -> Iterator[str]:
    """The texts or templates of a file: all of it, or a field."""
    if not budget.field:
        yield text
        return
    for value in _selected(budget, path, text):
        for item in value if isinstance(value, list) else [value]:
            if not isinstance(item, str):
                raise FieldError(f"{budget.field}: a text is needed, or a list of them, not {describe(item)}")
            yield item


def _requests(value: object) -> list[object]:
    """The request, or those of the body that submits a batch to Anthropic."""
    batch = value.get("requests") if isinstance(value, Mapping) else None
    return batch if isinstance(batch, list) and batch else [value]


def _selected(budget: Budget, path: str, text: str) -> list[Any]:
    value = _parse(text, path)
    if budget.field:
        try:
            return [member for _, member in select_fields(value, budget.field)]
        except TokengapError as error:
            if not isinstance(value, list) or budget.field.startswith("["):
                raise
            raise type(error)(
                f"{error}; the file is a list: [*].{budget.field} is that of each of its members"
            ) from None
    if PurePosixPath(path).suffix.lower() not in JSON_LINES:
        return [value]
    if not value:
        raise TokengapError("empty: there is no line with anything in it")
    return list(value) if isinstance(value, list) else [value]


def _parse(text: str, path: str) -> object:
    """The value of a structured file, whose name says how it is written; JSON where it does not."""
    suffix = PurePosixPath(path).suffix.lower()
    if suffix in JSON_LINES:
        return list(_json_lines(text))
    if suffix in YAML:
        return _parse_yaml(text)
    if suffix == ".toml":
        import tomllib

        return tomllib.loads(text)
    try:
        return parse_json(text)
    except NotJSONError as error:
        hint = "" if suffix == ".json" else f"; other files are told by their names: {', '.join(STRUCTURED)}"
        raise TokengapError(f"{error}{hint}") from None


def _json_lines(text: str) -> Iterator[object]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield parse_json(line)
            except TokengapError as error:
                # Of its own places, the line is this one.
                raise TokengapError(f"line {number}: {str(error).replace('line 1, column', 'column')}") from None


def _parse_yaml(text: str) -> object:
    import yaml

    try:
        value = yaml.load(text, Loader=_yaml_loader())  # noqa: S506 - it is a SafeLoader
    except (yaml.YAMLError, RecursionError) as error:
        problem = re.sub(r"\s+", " ", str(error).replace('in "<unicode string>", ', "")).strip()
        raise TokengapError(f"not YAML: {problem}") from None
    if _written_out(value, {}) > MOST_VALUES:
        raise TokengapError(f"its aliases stand for more than {MOST_VALUES:,} values")
    return value


def _written_out(value: object, sizes: dict[int, int]) -> int:
    """How many values a value is with its aliases written out: a few lines of YAML can stand for billions."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in sizes:
        sizes[id(value)] = MOST_VALUES + 1  # until it is known: a value inside itself is without end
        members = value.values() if isinstance(value, dict) else value
        sizes[id(value)] = 1 + sum(_written_out(member, sizes) for member in members)
    return sizes[id(value)]


@cache
def _yaml_loader() -> Any:
    """A safe loader that refuses a key that is there twice."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
            seen = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and (key.tag, key.value) in seen:
                    line = key.start_mark.line + 1
                    raise yaml.YAMLError(f"the key {key.value!r} is there twice, on line {line} again")
                seen.add((key.tag, str(key.value)))
            return super().construct_mapping(node, deep)

    return Loader


def _line(suffix: str, text: str, data: bytes, steps: Steps) -> int:
    if suffix in JSON_LINES:
        lines = [number for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        return lines[steps[0]] if isinstance(steps[0], int) else 1
    if suffix == ".toml":
        from .toml_origin import key_lines, line_of

        return line_of(key_lines(data), steps)
    return _yaml_line(text, steps)  # JSON is YAML, all but


def _yaml_line(text: str, steps: Steps) -> int:
    import yaml

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return 1
    line = 1
    for step in steps:
        if isinstance(node, yaml.MappingNode):
            pairs = [(key, value) for key, value in node.value if key.value == str(step)]
            if not pairs:
                return line
            key, node = pairs[0]
            line = key.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            node = node.value[step]
            line = node.start_mark.line + 1
    return line


def _sent(budget: Budget, text: str, include: Include) -> Sent:
    if budget.type == "text":
        return Sent((text,))
    from .templates import fill

    return Sent(*fill(text, budget.type, budget.variables, budget.allowances, include))


def tools_of(value: object) -> list[object]:
    """The tools of a list of them, of an object that holds such a list, or the one tool that it is."""
    if isinstance(value, Mapping):
        lists = [inner for key in ("tools", "functions") if isinstance(inner := value.get(key), list)]
        value = lists[0] if lists else [value]
    if not isinstance(value, list):
        raise TokengapError(f"a list of tools is needed, not {describe(value)}")
    return [_without_hints(tool) for tool in value]


def _without_hints(tool: object) -> object:
    """A tool as an MCP server lists it has keys for the program that shows it, which no model is sent."""
    if not isinstance(tool, Mapping) or "inputSchema" not in tool:
        return tool
    return {key: value for key, value in tool.items() if key not in _MCP_HINTS}


def unused_variable(budget: Budget, files: Mapping[str, bytes]) -> Steps | None:
    """The key of a sample or allowance that no template of the budget uses: it is mistyped, or left over."""
    given = [("variables", name) for name in budget.variables] + [("allowances", name) for name in budget.allowances]
    used: set[str] = set()
    for path, data in files.items() if given else ():
        for template in read_texts(budget, path, decode(data, path)):
            from .templates import used_variables

            named = used_variables(template, budget.type)
            if named is None:
                return None
            used |= named
    return next(((table, name) for table, name in given if name not in used), None)
