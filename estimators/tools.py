"""Tool definitions and the choice among them, as the requests of OpenAI, Anthropic and Gemini give them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .fields import Fields, fail, join
from .schema import check_schema

Mode = Literal["auto", "none", "required", "named", "function_call"]

_MODES: Mapping[str, Mode] = {"auto": "auto", "none": "none", "required": "required", "any": "required"}
_SETTINGS: Mapping[str, frozenset[str] | None] = {
    "type": frozenset(),
    "strict": frozenset(),
    "cache_control": frozenset({"type", "ttl"}),
    "eager_input_streaming": frozenset(),
    "defer_loading": frozenset(),
}


@dataclass(frozen=True, slots=True)
class Tool:
    """One function the model may call. ``schema`` is that of its parameters, without unknown keywords."""

    name: str
    description: str | None
    schema: Mapping[str, object] | None
    path: str

    def to_json(self) -> str:
        """The definition as compact JSON, for models whose own form is not known."""
        shown = {"name": self.name, "description": self.description, "input_schema": self.schema}
        given = {key: value for key, value in shown.items() if value is not None}
        return json.dumps(given, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Choice:
    """Which tool the model must use. ``function_call``: named in the older form of that key."""

    mode: Mode = "auto"
    name: str = ""


def read_tools(fields: Fields) -> tuple[Tool, ...]:
    """Take ``tools`` and ``functions``. A tool of the provider's own is noted as not counted."""
    tools: list[Tool] = []
    for key in ("tools", "functions"):
        for i, item in enumerate(fields.items(key)):
            path = join(fields.at(key), i)
            tools += _read_tool(Fields(item, path, fields.not_counted), is_function=key == "functions")
    return tuple(tools)


def read_choice(fields: Fields) -> Choice:
    """Take ``tool_choice`` or ``function_call``."""
    for key in ("tool_choice", "function_call"):
        value = fields.take(key)
        if value is None:
            continue
        if isinstance(value, str):
            if value not in _MODES:
                fail(fields.at(key), f"unknown choice {value[:40]!r}; known: auto, none, required, any")
            return Choice(_MODES[value])
        return _read_named(Fields(value, fields.at(key), fields.not_counted), legacy=key == "function_call")
    return Choice()


def _read_named(fields: Fields, *, legacy: bool) -> Choice:
    kind = fields.text("type")
    fields.skip({"disable_parallel_tool_use": frozenset()})
    choice = Choice()
    if kind is not None and kind in _MODES:
        choice = Choice(_MODES[kind])
    elif kind is not None and kind not in ("function", "tool", "custom"):
        fields.not_counted.add(fields.path)  # a tool of the provider's own, or a list of allowed ones
        return choice
    else:
        holder = fields.fields(kind or "function") or fields
        choice = Choice("function_call" if legacy else "named", holder.text("name", required=True) or "")
        if holder is not fields:
            holder.close()
    fields.close()
    return choice


def _read_tool(fields: Fields, *, is_function: bool) -> list[Tool]:
    for key in ("functionDeclarations", "function_declarations"):
        if key in fields:
            items = fields.items(key)
            fields.close()
            path = fields.at(key)
            each = (Fields(item, join(path, i), fields.not_counted) for i, item in enumerate(items))
            return [_read_function(function) for function in each]
    kind = fields.text("type")
    if kind == "function" and "function" in fields:
        function = fields.fields("function")
        if function is None:
            fail(fields.at("function"), "an object is needed, not null")
        fields.skip(_SETTINGS)
        fields.close()
        return [_read_function(function)]
    if is_function or kind == "function" or (kind in (None, "custom") and "name" in fields and "format" not in fields):
        return [_read_function(fields)]
    if kind is None:
        fail(fields.path, "not a tool: it has neither a type nor a name")
    fields.not_counted.add(fields.path)
    return []


def _read_function(fields: Fields) -> Tool:
    name = fields.text("name", required=True) or ""
    description = fields.text("description")
    schema = None
    for key in ("parameters", "input_schema", "inputSchema", "parametersJsonSchema"):
        if (value := fields.take(key)) is not None:
            schema = check_schema(value, fields.at(key), fields.not_counted)
            break
    fields.skip(_SETTINGS)
    fields.close()
    return Tool(name, description, schema, fields.at(key))
