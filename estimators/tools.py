"""Tool definitions and the choice among them, as the requests of OpenAI, Anthropic and Gemini give them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from .fields import Fields, Known, fail, join, names, spellings
from .schema import check_schema
from .settings import SCALAR

Mode = Literal["auto", "none", "required", "named", "function_call"]

_MODES: Mapping[str, Mode] = {"auto": "auto", "none": "none", "required": "required", "any": "required"}
_GOOGLE_MODES: Mapping[str, Mode] = {**_MODES, "validated": "auto", "mode_unspecified": "auto"}
_SETTINGS: Mapping[str, Known] = {
    **dict.fromkeys(names("type strict eager_input_streaming async allowed_callers behavior"), SCALAR),
    "cache_control": names("type ttl"),
}
_PROVIDER_RUN = spellings(
    "googleSearch googleSearchRetrieval codeExecution urlContext googleMaps enterpriseWebSearch retrieval fileSearch "
    "computerUse parallelAiSearch exaAiSearch mcpServers"
)
"""Tools of Gemini that Google runs; ``mcpServers`` may bring functions of any name."""

_OPEN = re.compile(r"mcp|toolset|namespace|tool_search|programmatic")
_NAME = re.compile(r"[A-Za-z0-9_.:/-]{1,128}")


@dataclass(frozen=True, slots=True)
class Tool:
    """One function the model may call. ``schema`` is that of its parameters, without unknown keywords.

    ``path`` is where the definition stands, ``schema_path`` where its schema does.
    """

    name: str
    description: str | None
    schema: Mapping[str, object] | None
    path: str
    schema_path: str

    def to_json(self) -> str:
        """The definition as compact JSON, for models whose own form is not known."""
        shown = {"name": self.name, "description": self.description, "input_schema": self.schema}
        given = {key: value for key, value in shown.items() if value is not None}
        return json.dumps(given, ensure_ascii=False, separators=(",", ":"))


@dataclass(slots=True)
class Tools:
    """What a request offers. ``names`` has those of tools that are not counted too.

    ``is_open``: there may be more, with names that the request does not say.
    """

    functions: list[Tool] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    are_given: bool = False
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """Which tool the model must use. ``function_call``: named in the older form of that key.

    ``named`` are the names it gives, each with its path.
    """

    mode: Mode = "auto"
    name: str = ""
    path: str = ""
    named: tuple[tuple[str, str], ...] = ()


def read_tools(fields: Fields, tools: Tools, *, is_google: bool = False) -> None:
    """Take ``tools`` and ``functions``. A tool of the provider's own is noted as not counted."""
    for key in ("tools", "functions"):
        if fields.is_object(key) and not is_google:
            fail(fields.at(key), "an array is needed, not an object")
        for item, path in fields.each(key):
            tools.are_given = True
            _read_tool(Fields(item, path, fields.not_counted), tools, is_function=key == "functions")


def read_choice(fields: Fields) -> Choice | None:
    """Take ``tool_choice``, ``function_call`` or Gemini's ``toolConfig``."""
    for key in ("tool_choice", "function_call"):
        value = fields.take(key)
        if value is None:
            continue
        if isinstance(value, str):
            if value not in _MODES:
                fail(fields.at(key), f"unknown choice {value[:40]!r}; known: auto, none, required, any")
            return Choice(_MODES[value], path=fields.at(key))
        return _read_named(Fields(value, fields.at(key), fields.not_counted), legacy=key == "function_call")
    if (config := fields.fields(fields.spelled("toolConfig"))) is not None:
        return _read_config(config)
    return None


def check_choice(choice: Choice, tools: Tools) -> None:
    """Refuse a choice of a tool that is not there, as every provider does."""
    if tools.is_open:
        return
    for name, path in choice.named:
        if name not in tools.names:
            known = f"; known: {', '.join(sorted(tools.names))[:200]}" if tools.names else ""
            fail(path, f"there is no tool {name[:80]!r}{known}")
    if choice.mode == "required" and not tools.are_given:
        fail(choice.path, "a tool is required, and there are no tools")


def _read_named(fields: Fields, *, legacy: bool) -> Choice:
    kind = fields.text("type")
    fields.skip({"disable_parallel_tool_use": SCALAR})
    if kind is not None and kind in _MODES:
        fields.close()
        return Choice(_MODES[kind], path=fields.path)
    if kind is not None and kind not in ("function", "tool", "custom"):
        fields.not_counted.add(fields.path)  # a tool of the provider's own, or a list of allowed ones
        return Choice(path=fields.path)
    holder = fields.fields(kind or "function") or fields
    name = holder.text("name", required=True) or ""
    if holder is not fields:
        holder.close()
    fields.close()
    return Choice("function_call" if legacy else "named", name, fields.path, ((name, holder.at("name")),))


def _read_config(fields: Fields) -> Choice:
    """Gemini's choice: a mode, and the functions it is among."""
    choice = Choice(path=fields.path)
    if (calling := fields.fields(fields.spelled("functionCallingConfig"))) is not None:
        mode = calling.text("mode") or "auto"
        if mode.lower() not in _GOOGLE_MODES:
            fail(calling.at("mode"), f"unknown mode {mode[:40]!r}; known: AUTO, ANY, NONE, VALIDATED")
        key = calling.spelled("allowedFunctionNames")
        allowed = calling.items(key)
        named = tuple((name, join(calling.at(key), i)) for i, name in enumerate(allowed) if isinstance(name, str))
        if len(named) < len(allowed):
            fail(calling.at(key), "an array of the names of functions is needed")
        choice = Choice(_GOOGLE_MODES[mode.lower()], path=calling.path, named=named)
        calling.skip(dict.fromkeys(spellings("streamFunctionCallArguments"), SCALAR))
        calling.close()
    fields.skip(dict.fromkeys(spellings("includeServerSideToolInvocations"), SCALAR))
    fields.close()
    return choice


def _read_tool(fields: Fields, tools: Tools, *, is_function: bool) -> None:
    if _read_google_tool(fields, tools):
        return
    kind = fields.text("type")
    if kind == "function" and "function" in fields:
        function = fields.fields("function")
        if function is None:
            fail(fields.at("function"), "an object is needed, not null")
        fields.skip(_SETTINGS)
        fields.close()
        _add_function(function, tools, path=fields.path)
    elif is_function or kind == "function" or "input_schema" in fields:
        _add_function(fields, tools, path=fields.path)
    elif kind is None and "name" in fields:  # Anthropic's own form, where there is no function without a schema
        _add_function(fields, tools, path=fields.path, needs_schema=True)
    elif kind is None:
        fail(fields.path, "not a tool: it has neither a type nor a name")
    else:
        _note_hosted(kind, fields, tools)


def _read_google_tool(fields: Fields, tools: Tools) -> bool:
    """Read a tool object of Gemini, which holds functions, tools that Google runs, or both."""
    hosted = [key for key in sorted(_PROVIDER_RUN) if key in fields]
    key = fields.spelled("functionDeclarations")
    if key not in fields and not hosted:
        return False
    for item, path in fields.each(key):
        _add_function(Fields(item, path, fields.not_counted), tools, path=path, is_google=True)
    tools.is_open = tools.is_open or not spellings("mcpServers").isdisjoint(hosted)
    fields.skip_uncounted(_PROVIDER_RUN)
    fields.close()
    return True


def _note_hosted(kind: str, fields: Fields, tools: Tools) -> None:
    """Note a tool of the provider's own, or an OpenAI custom tool, whose form is not known."""
    custom = fields.fields("custom") if fields.is_object("custom") else None
    name = (custom or fields).text("name")
    tools.names.add(name or kind)
    tools.is_open = tools.is_open or bool(_OPEN.search(kind))
    fields.not_counted.add(fields.path)


def _add_function(
    fields: Fields, tools: Tools, *, path: str, is_google: bool = False, needs_schema: bool = False
) -> None:
    name = fields.text("name", required=True) or ""
    if not _NAME.fullmatch(name):
        fail(fields.at("name"), f"{name[:40]!r} is no name of a tool: up to 128 letters, digits, '_', '-' and '.'")
    description = fields.text("description")
    schema, schema_path = None, path
    for key in ("parameters", "input_schema", "inputSchema", fields.spelled("parametersJsonSchema")):
        if (value := fields.take(key)) is not None:
            schema_path = fields.at(key)
            schema = check_schema(value, schema_path, fields.not_counted, in_snake_case=is_google)
            break
    if schema is None and needs_schema:
        fail(fields.path, "'input_schema' is missing")
    is_deferred = fields.take("defer_loading") is True
    fields.skip(_SETTINGS)
    fields.close()
    tools.names.add(name)
    if is_deferred:  # in the prompt only once the model has searched for it
        fields.not_counted.add(path)
    else:
        tools.functions.append(Tool(name, description, schema, path, schema_path))
