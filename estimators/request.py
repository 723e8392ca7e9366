"""Read a request in any of its shapes: what of it is text, image, tool or setting, and where.

Shapes: OpenAI Chat Completions and Responses, Anthropic Messages, Gemini contents, legacy completions and
embeddings, a list of messages, a text, a list of texts. Every key is counted, listed below as known to be
no part of the prompt, or noted in ``not_counted``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .content import Message, read_content, read_item, read_message
from .fields import Fields, NotCounted, check_json, describe, fail, join, names
from .schema import check_schema
from .tools import Choice, Tool, read_choice, read_tools

_NONE: frozenset[str] = frozenset()

SETTINGS: Mapping[str, frozenset[str] | None] = {
    # How to sample and how much to answer: read by the server, not by the model.
    **dict.fromkeys(
        names(
            "temperature top_p top_k min_p n candidate_count best_of seed stop stop_sequences max_tokens "
            "max_completion_tokens max_output_tokens presence_penalty frequency_penalty repetition_penalty logprobs "
            "top_logprobs echo"
        ),
        _NONE,
    ),
    "logit_bias": None,
    # Transport, storage, billing.
    **dict.fromkeys(
        names(
            "model stream store user service_tier speed background include truncation dimensions encoding_format "
            "safety_identifier prompt_cache_key prompt_cache_retention inference_geo parallel_tool_calls "
            "max_tool_calls betas modalities timeout"
        ),
        _NONE,
    ),
    **dict.fromkeys(("custom_id", "method", "url"), _NONE),  # of a line of a batch file
    "metadata": None,  # any key of the caller's own
    "labels": None,
    "stream_options": frozenset({"include_usage", "include_obfuscation"}),
    "cache_control": frozenset({"type", "ttl"}),
    "prompt_cache_options": frozenset({"mode", "ttl"}),
    # How much to think, in which modality or how wordily to answer.
    "reasoning_effort": _NONE,
    "verbosity": _NONE,
    "reasoning": frozenset({"effort", "summary", "generate_summary"}),
    "thinking": frozenset({"type", "budget_tokens", "display"}),
    "audio": frozenset({"voice", "format"}),
    "safetySettings": frozenset({"category", "threshold", "method"}),
    "safety_settings": frozenset({"category", "threshold", "method"}),
}
"""Keys of a request that add nothing to its prompt, each with the keys it may hold; None: any."""

ELSEWHERE = names(
    "previous_response_id conversation prompt_id cachedContent cached_content container context_management "
    "mcp_servers web_search_options prediction toolConfig tool_config"
)
"""Keys whose content the provider has or makes: part of the prompt, or maybe, and not at hand to be counted."""

_INPUTS = ("messages", "input", "contents", "prompt")
_BATCH_BODIES = ("body", "params")  # where a line of a batch file of OpenAI or Anthropic has its request
_EMBEDDING = re.compile(r"embed|-(similarity|search)-")
_GENERATION_CONFIG = names(
    "temperature topP topK candidateCount maxOutputTokens stopSequences responseMimeType seed presencePenalty "
    "frequencyPenalty responseLogprobs logprobs responseModalities thinkingConfig mediaResolution"
)


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
    if all(isinstance(item, str) for item in items):
        return _texts(tuple(item for item in items if isinstance(item, str)), not_counted)
    messages = _messages(items, "", not_counted)
    return Request(None, (), messages, (), Choice(), None, not_counted, is_chat=True)


def _messages(items: Sequence[object], path: str, not_counted: NotCounted) -> tuple[Message, ...]:
    return tuple(read_message(Fields(item, join(path, i), not_counted)) for i, item in enumerate(items))


def _read_object(fields: Fields, model: str | None) -> Request:
    given = [key for key in _INPUTS if key in fields]
    if fields.is_object("prompt") and len(given) > 1:
        given.remove("prompt")  # a prompt template that the provider keeps, beside its input
        fields.skip_uncounted(frozenset({"prompt"}))
    for key in () if given else _BATCH_BODIES:
        if (body := fields.fields(key)) is not None:
            fields.skip(SETTINGS)
            fields.close()
            return _read_object(body, model)
    if len(given) != 1:
        found = f"both {' and '.join(given)}" if given else f"none of {', '.join(_INPUTS)}"
        fail("request", f"{found} given; exactly one is needed")
    own_model = fields.text("model")
    system = _system(fields)
    texts, messages = _read_input(fields, given[0], embeds=bool(_EMBEDDING.search((model or own_model or "").lower())))
    if texts and system:
        fail(fields.at(given[0]), "a list of texts cannot have instructions")
    tools = read_tools(fields)
    choice = read_choice(fields)
    schema = _response_schema(fields)
    fields.skip_uncounted(ELSEWHERE)
    fields.skip(SETTINGS)
    fields.close()
    return Request(own_model, texts, (*system, *messages), tools, choice, schema, fields.not_counted, is_chat=not texts)


def _system(fields: Fields) -> list[Message]:
    """``system`` (Anthropic), ``instructions`` (Responses) and ``systemInstruction`` (Gemini) as messages."""
    texts = [(fields.take(key), fields.at(key)) for key in ("system", "instructions")]
    contents = [fields.fields(key) for key in ("systemInstruction", "system_instruction")]
    return [
        *(read_content(text, at, fields.not_counted).message("system") for text, at in texts if text is not None),
        *(read_message(content, role="system") for content in contents if content is not None),
    ]


def _read_input(fields: Fields, key: str, *, embeds: bool) -> tuple[tuple[str, ...], tuple[Message, ...]]:
    """The texts, or the messages, that a request is about."""
    value, path = fields.take(key), fields.at(key)
    if isinstance(value, str) and key != "messages":
        if key == "prompt" or embeds:
            return (value,), ()
        content = read_content(value, path, fields.not_counted)
        return (), (content.message("user"),)
    if key == "prompt" and isinstance(value, Mapping):
        fields.not_counted.add(path)  # a prompt template that the provider keeps
        return (), ()
    if not isinstance(value, list | tuple):
        needed = "an array" if key == "messages" else "a text or an array"
        fail(path, f"{needed} is needed, not {describe(value)}")
    if key in ("input", "prompt"):
        if value and all(isinstance(item, str) for item in value):
            return tuple(item for item in value if isinstance(item, str)), ()
        if any(isinstance(item, int | float) for item in value) or any(isinstance(item, list) for item in value):
            fail(path, "token ids are counted already; give texts")
        if key == "prompt":
            fail(path, "a text or a non-empty array of texts is needed")
    if key == "input":
        read = (read_item(Fields(item, join(path, i), fields.not_counted)) for i, item in enumerate(value))
        return (), tuple(message for message in read if message is not None)
    return (), _messages(value, path, fields.not_counted)


def _response_schema(fields: Fields) -> ResponseSchema | None:
    """The schema of ``response_format``, ``text.format``, ``output_config.format`` or ``output_format``."""
    found = None
    for key in ("response_format", "output_format"):
        if (chosen := fields.fields(key)) is not None:
            found = _format(chosen) or found
    for key, settings in (("text", ("verbosity",)), ("output_config", ("effort",))):
        if (holder := fields.fields(key)) is not None:
            if (chosen := holder.fields("format")) is not None:
                found = _format(chosen) or found
            holder.skip(dict.fromkeys(settings, _NONE))
            holder.close()
    for key in ("generationConfig", "generation_config"):
        if (config := fields.fields(key)) is not None:
            config.skip(dict.fromkeys(_GENERATION_CONFIG, _NONE))
            config.close()
    return found


def _format(fields: Fields) -> ResponseSchema | None:
    kind = fields.text("type", required=True)
    if kind in ("text", "json_object"):
        fields.close()
        return None
    if kind != "json_schema":
        fail(fields.at("type"), f"unknown format {(kind or '')[:40]!r}; known: text, json_object, json_schema")
    holder = fields.fields("json_schema") or fields  # Chat Completions nest it, Responses do not
    name, description = holder.text("name") or "response", holder.text("description")
    path = holder.at("schema")
    schema = check_schema(holder.take("schema") or {}, path, fields.not_counted)
    holder.skip({"strict": _NONE})
    holder.close()
    if holder is not fields:
        fields.close()
    return ResponseSchema(name, description, schema, path)
