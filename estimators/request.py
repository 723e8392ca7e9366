"""Read a request in any of its shapes: what of it is text, image, tool or setting, and where.

Shapes: OpenAI Chat Completions and Responses, Anthropic Messages, Gemini contents, legacy completions and
embeddings, a list of messages, a text, a list of texts. Every key is counted, known to be no part of the prompt
(settings.py), or noted in ``not_counted``. What every provider would refuse is refused here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .content import read_content, read_item, read_message
from .fields import Fields, NotCounted, check_json, describe, fail, join, names
from .gemini import read_answer_schema, read_contents, read_instruction, read_resolution
from .messages import Message, check_results
from .schema import check_schema
from .settings import BATCH_BODIES, BATCH_SETTINGS, ELSEWHERE, HISTORY, SCALAR, SETTINGS
from .tools import Choice, Tool, Tools, check_choice, read_choice, read_tools

_INPUTS = ("messages", "input", "contents", "prompt")
_SYSTEM_KEYS: Mapping[str, str] = {
    "system": "messages",
    "instructions": "input",
    "systemInstruction": "contents",
    "system_instruction": "contents",
}
"""Instructions, and the input they stand beside; beside another one no provider takes them."""

_EMBEDDING = re.compile(r"embed|-(similarity|search)-")
_BRINGS_TOOLS = names("additional_tools tool_search_output tool_addition mcp_tool_listing mcp_list_tools")
_BRINGS_CALLS = names("item_reference compaction program")


@dataclass(frozen=True, slots=True)
class ResponseSchema:
    """A schema the answer must follow, with its unknown keywords taken out."""

    name: str
    description: str | None
    schema: Mapping[str, object]
    path: str


@dataclass(frozen=True, slots=True)
class Request:
    """What was read. ``texts`` stand alone, ``messages`` are in a chat frame; one of the two is empty."""

    model: str | None
    texts: tuple[str, ...]
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    choice: Choice
    response_schema: ResponseSchema | None
    not_counted: NotCounted
    is_chat: bool


def read_request(request: object, model: str | None = None) -> Request:
    """Read a request, for a model other than its own where one is named.

    Raises TokengapError that names the path of what is wrong.
    """
    check_json(request)
    not_counted = NotCounted()
    if isinstance(request, str):
        return _texts((request,), not_counted)
    if isinstance(request, list | tuple):
        return _read_list(request, not_counted)
    if not isinstance(request, Mapping):
        fail("request", f"an object, a list of messages or a text is needed, not {describe(request)}")
    return _read_object(Fields(request, "", not_counted), model)


def _texts(texts: tuple[str, ...], not_counted: NotCounted) -> Request:
    return Request(None, texts, (), (), Choice(), None, not_counted, is_chat=False)


def _read_list(items: Sequence[object], not_counted: NotCounted) -> Request:
    """A list of texts or messages. It may be a piece of a conversation, so it need not make sense as a whole."""
    if not items:
        fail("request", "an empty array: give at least one message or text")
    for i, item in enumerate(items):
        if isinstance(item, Mapping) and not item.keys() & {"role", "type"} and item.keys() & {*_INPUTS, *BATCH_BODIES}:
            fail(join("", i), "a request in an array: a file of several requests is JSONL, with one a line")
    if all(isinstance(item, str) for item in items):
        return _texts(tuple(item for item in items if isinstance(item, str)), not_counted)
    if any(isinstance(item, Mapping) and "parts" in item and "content" not in item for item in items):
        messages = read_contents(items, "", not_counted)
    else:
        messages = _messages(items, "", not_counted)
    return Request(None, (), messages, (), Choice(), None, not_counted, is_chat=True)


def _messages(items: Sequence[Any], path: str, not_counted: NotCounted) -> tuple[Message, ...]:
    last = max(
        (i for i, item in enumerate(items) if isinstance(item, Mapping) and item.get("role") == "user"), default=-1
    )
    read = []
    for i, item in enumerate(items):
        message = read_message(Fields(item, join(path, i), not_counted))
        # Anthropic: such a message is sent along, and not shown any more once the user has spoken again.
        if i > last or message.role != "system" or item.get("clear_at") != "next_user_message":
            read.append(message)
    return tuple(read)


def _read_object(fields: Fields, model: str | None, *, model_around: str | None = None) -> Request:
    """Read a request object. ``model_around``: what the line of a batch file around it names."""
    given = _find_input(fields)
    own_model = fields.text("model") or model_around
    if given is None and (body := _batch_body(fields)) is not None:
        return _read_object(body, model, model_around=own_model)
    embeds = bool(_EMBEDDING.search((model or own_model or "").lower()))
    config = fields.fields("config") if given == "contents" else None  # as the google-genai client takes it
    holders = (fields, config) if config else (fields,)
    schema, resolution = _answer_schema(fields, config)
    system = [message for holder in holders for message in _system(holder, given)]
    goes_on = any(key in fields for key in HISTORY) or fields.is_object("prompt")  # from what the provider keeps
    value = fields.peek(given or "")
    texts, messages = _read_input(fields, given, resolution, embeds=embeds, may_be_empty=goes_on)
    if texts and system:
        fail(fields.at(given or ""), "a list of texts cannot have instructions")
    if not (goes_on or _holds(value, _BRINGS_CALLS)):
        check_results(messages)
    tools = Tools(is_open=goes_on or "mcp_servers" in fields or _holds(value, _BRINGS_TOOLS))
    choice = Choice()
    for holder in holders:
        read_tools(holder, tools, is_google=given == "contents")
        choice = read_choice(holder) or choice
        holder.skip_uncounted(ELSEWHERE)
        holder.skip(SETTINGS)
        holder.close()
    check_choice(choice, tools)
    functions, is_chat = tuple(tools.functions), not texts
    return Request(own_model, texts, (*system, *messages), functions, choice, schema, fields.not_counted, is_chat)


def _find_input(fields: Fields) -> str | None:
    given = [key for key in _INPUTS if key in fields]
    if fields.is_object("prompt") and len(given) > 1:
        given.remove("prompt")  # a prompt template that the provider keeps, beside its input
    if len(given) > 1:
        fail(fields.path, f"both {' and '.join(given)} given; exactly one is needed")
    return given[0] if given else None


def _batch_body(fields: Fields) -> Fields | None:
    """The request inside a line of a batch file; None where earlier messages take the place of any input."""
    for key in BATCH_BODIES:
        if (body := fields.fields(key)) is not None:
            if fields.path:
                fail(body.path, f"{key!r} within {fields.path!r}: a line of a batch file holds one request")
            fields.skip(BATCH_SETTINGS)
            fields.close()
            return body
    if "requests" in fields:
        requests = fields.items("requests")
        fail(fields.at("requests"), "several requests; count each on its own" if requests else "empty")
    if not any(key in fields for key in HISTORY):
        fail(fields.path, f"none of {', '.join(_INPUTS)} given; exactly one is needed")
    return None


def _holds(value: object, kinds: frozenset[str]) -> bool:
    """Whether an item of the input, or a part of one, is of a type that says no more of what it stands for."""
    items = value if isinstance(value, list | tuple) else ()
    contents = [item.get("content") for item in items if isinstance(item, Mapping)]
    parts = [part for content in contents if isinstance(content, list | tuple) for part in content]
    types = [item.get("type") for item in (*items, *parts) if isinstance(item, Mapping)]
    return any(isinstance(kind, str) and kind in kinds for kind in types) or any(
        isinstance(item, Mapping) and item.keys() == {"id"} for item in items
    )


def _system(fields: Fields, given: str | None) -> list[Message]:
    """``system`` (Anthropic), ``instructions`` (Responses) and ``systemInstruction`` (Gemini) as messages."""
    shape = "input" if given is None or fields.is_object("prompt") else given
    found: list[Message] = []
    for key, owner in _SYSTEM_KEYS.items():
        value, path = fields.take(key), fields.at(key)
        if value is None:
            continue
        if owner != shape:
            fail(path, f"it goes with {owner!r}, not with {shape!r}")
        if found:
            fail(path, "the instructions are there already")
        if owner == "contents":
            found.append(read_instruction(value, path, fields.not_counted))
        else:
            found.append(read_content(value, path, fields.not_counted).message("system"))
    return found


def _read_input(
    fields: Fields, key: str | None, resolution: str, *, embeds: bool, may_be_empty: bool
) -> tuple[tuple[str, ...], tuple[Message, ...]]:
    """The texts, or the messages, that a request is about."""
    if fields.is_object("prompt"):
        fields.skip_uncounted(frozenset({"prompt"}))  # a prompt template that the provider keeps
    if key is None or (key == "prompt" and key not in fields):
        return (), ()
    value, path = fields.take(key), fields.at(key)
    if isinstance(value, list | tuple) and not value and not may_be_empty:
        fail(path, "empty: at least one message or text is needed")
    if key == "contents":
        return (), read_contents(value, path, fields.not_counted, resolution)
    if isinstance(value, str) and key != "messages":
        alone = key == "prompt" or embeds
        return ((value,), ()) if alone else ((), (read_content(value, path, fields.not_counted).message("user"),))
    if not isinstance(value, list | tuple):
        needed = "an array" if key == "messages" else "a text or an array"
        fail(path, f"{needed} is needed, not {describe(value)}")
    if key == "messages":
        return (), _messages(value, path, fields.not_counted)
    if value and all(isinstance(item, str) for item in value):
        return tuple(item for item in value if isinstance(item, str)), ()
    return (), _items(value, path, fields.not_counted, are_texts=key == "prompt")


def _items(items: Sequence[object], path: str, not_counted: NotCounted, *, are_texts: bool) -> tuple[Message, ...]:
    """The items of a Responses ``input``; without those whose text the provider keeps."""
    if any(isinstance(item, int | float | list) for item in items):
        fail(path, "token ids are counted already: their number is the count")
    if are_texts:
        fail(path, "a text or a non-empty array of texts is needed")
    read = (read_item(Fields(item, join(path, i), not_counted)) for i, item in enumerate(items))
    return tuple(message for message in read if message is not None)


def _answer_schema(fields: Fields, config: Fields | None) -> tuple[ResponseSchema | None, str]:
    """The schema the answer must follow, wherever a provider has it, and Gemini's media resolution."""
    found = None
    for key in ("response_format", "output_format"):
        if (chosen := fields.fields(key)) is not None:
            found = _format(chosen) or found
    for key, settings in (("text", ("verbosity",)), ("output_config", ("effort",))):
        if (holder := fields.fields(key)) is not None:
            if (chosen := holder.fields("format")) is not None:
                found = _format(chosen, needs_name=key == "text") or found
            holder.skip(dict.fromkeys(settings, SCALAR))
            holder.close()
    generation = fields.fields(fields.spelled("generationConfig"))
    resolution = ""
    for holder in (generation, config):
        if holder is not None:
            resolution = read_resolution(holder) or resolution
            if (schema := read_answer_schema(holder)) is not None:
                found = ResponseSchema(
                    "response", None, check_schema(*schema, fields.not_counted, in_snake_case=True), schema[1]
                )
    if generation is not None:
        generation.close()
    return found, resolution


def _format(fields: Fields, *, needs_name: bool = False) -> ResponseSchema | None:
    """A format of OpenAI, whose schemas have names, or of Anthropic, whose have none."""
    kind = fields.text("type", required=True)
    if kind in ("text", "json_object"):
        fields.close()
        return None
    if kind != "json_schema":
        fail(fields.at("type"), f"unknown format {(kind or '')[:40]!r}; known: text, json_object, json_schema")
    holder = fields.fields("json_schema") or fields  # Chat Completions nest it, Responses do not
    name, description = holder.text("name"), holder.text("description")
    path = holder.at("schema")
    value = holder.take("schema")
    if holder is fields and value is None and name is None:
        fail(fields.path, "'json_schema' is missing, or 'schema'")
    if name is None and (needs_name or holder is not fields):
        fail(holder.path, "'name' is missing")
    schema = check_schema({} if value is None else value, path, fields.not_counted)
    holder.skip({"strict": SCALAR})
    holder.close()
    if holder is not fields:
        fields.close()
    return ResponseSchema(name or "response", description, schema, path)
