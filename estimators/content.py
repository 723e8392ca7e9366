"""Messages and the parts they are made of, in the forms of OpenAI, Anthropic and Gemini."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .fields import Fields, NotCounted, describe, fail, join, names
from .images import Image, read_image

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function", "model"})

_NONE: frozenset[str] = frozenset()
_LABELS: Mapping[str, frozenset[str] | None] = {
    # Ids tie a result to its call, and index or status to a stream; no published count moves with them.
    **dict.fromkeys(("id", "call_id", "tool_call_id", "tool_use_id", "index", "status", "type"), _NONE),
    "cache_control": frozenset({"type", "ttl"}),
    "annotations": None,  # of an earlier answer: where its citations point
    "is_error": _NONE,
    "phase": _NONE,
    "logprobs": None,
    "strict": _NONE,
}
"""Keys of a message or part that only label it: no part of the prompt."""

_HOSTED_ITEMS = names(
    "reasoning item_reference compaction web_search_call file_search_call computer_call computer_call_output "
    "code_interpreter_call image_generation_call local_shell_call local_shell_call_output shell_call "
    "shell_call_output apply_patch_call apply_patch_call_output mcp_call mcp_list_tools mcp_approval_request "
    "mcp_approval_response tool_search_call tool_search_output program program_output"
)
_KEPT_BY_PROVIDER = names("audio reasoning reasoning_content reasoning_details")  # of an earlier answer
_HOSTED_PARTS = names(
    "input_audio audio file input_file video video_url container_upload redacted_thinking server_tool_use "
    "web_search_tool_result web_fetch_tool_result code_execution_tool_result tool_search_tool_result "
    "bash_code_execution_tool_result text_editor_code_execution_tool_result mcp_tool_use mcp_tool_result "
    "tool_reference compaction fallback"
)


@dataclass(frozen=True, slots=True)
class Call:
    """A function the model called. ``legacy``: in the form of ``function_call``, whose counts are published."""

    name: str
    arguments: str
    legacy: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One message: its texts and images in order, and the calls it makes."""

    role: str
    texts: tuple[str, ...] = ()
    name: str | None = None
    calls: tuple[Call, ...] = ()
    images: tuple[Image, ...] = ()

    def own_texts(self) -> tuple[str, ...]:
        """Every text the message holds, its name and calls among them."""
        calls = (text for call in self.calls for text in (call.name, call.arguments))
        return (*((self.name,) if self.name else ()), *self.texts, *calls)


@dataclass(slots=True)
class Content:
    """What the parts of one message add up to while it is read."""

    texts: list[str] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def message(self, role: str, name: str | None = None) -> Message:
        return Message(role, tuple(self.texts), name, tuple(self.calls), tuple(self.images))


def read_message(fields: Fields, role: str | None = None) -> Message:
    """One chat message. Its role is its own, unless the place where it stands gives it one."""
    own = fields.text("role", required=role is None)
    role = role or own
    if role not in ROLES:
        shown = repr(role[:40]) if role else role
        fail(fields.at("role"), f"unknown role {shown}; known: {', '.join(sorted(ROLES))}")
    content = Content()
    calls = fields.items("tool_calls")
    legacy = fields.fields("function_call")
    for i, call in enumerate(calls):
        _read_tool_call(Fields(call, join(fields.at("tool_calls"), i), fields.not_counted), content)
    if legacy is not None:
        _read_function(legacy, content, legacy=True)
    if "parts" in fields:
        for i, part in enumerate(fields.items("parts")):
            _gemini_part(Fields(part, join(fields.at("parts"), i), fields.not_counted), content)
    elif "content" in fields:
        _add_content(fields.take("content"), fields.at("content"), fields.not_counted, content)
    elif role != "assistant":
        fail(fields.path, "'content' is missing")
    if (refusal := fields.text("refusal")) is not None:
        content.texts.append(refusal)
    name = fields.text("name")
    fields.skip_uncounted(_KEPT_BY_PROVIDER)
    fields.skip(_LABELS)
    fields.close()
    return content.message(role, name)


def read_content(value: object, path: str, not_counted: NotCounted) -> Content:
    """A text, or an array of parts."""
    content = Content()
    _add_content(value, path, not_counted, content)
    return content


def read_item(fields: Fields) -> Message | None:
    """One item of a Responses ``input``; None for one whose text the provider keeps."""
    kind = fields.text("type")
    if kind is None or kind == "message":
        return read_message(fields)
    if kind in _HOSTED_ITEMS:
        fields.not_counted.add(fields.path)
        return None
    content = Content()
    if kind in ("function_call", "custom_tool_call"):
        name = fields.text("name", required=True) or ""
        arguments = fields.text("arguments" if kind == "function_call" else "input", required=True) or ""
        content.calls.append(Call(name, arguments))
        message = content.message("assistant")
    elif kind in ("function_call_output", "custom_tool_call_output"):
        if "output" not in fields:
            fail(fields.path, "'output' is missing")
        _add_content(fields.take("output"), fields.at("output"), fields.not_counted, content)
        message = content.message("tool")
    else:
        fail(fields.at("type"), f"unknown item type {kind[:40]!r}")
    fields.skip(_LABELS)
    fields.close()
    return message


def _add_content(value: object, path: str, not_counted: NotCounted, content: Content) -> None:
    if isinstance(value, str):
        content.texts.append(value)
    elif isinstance(value, list | tuple):
        for i, part in enumerate(value):
            if isinstance(part, str):
                content.texts.append(part)
            else:
                _read_part(Fields(part, join(path, i), not_counted), content)
    elif value is not None:
        fail(path, f"a text, an array of parts or null is needed, not {describe(value)}")


def _read_part(fields: Fields, content: Content) -> None:
    kind = fields.text("type", required=True) or ""
    if kind in _HOSTED_PARTS:
        fields.not_counted.add(fields.path)
        return
    read = _PARTS.get(kind)
    if read is None:
        fail(fields.at("type"), f"unknown part type {kind[:40]!r}")
    read(fields, content)
    fields.skip(_LABELS)
    fields.close()


def _text_part(fields: Fields, content: Content) -> None:
    content.texts.append(fields.text("text", required=True) or "")
    fields.skip_uncounted(frozenset({"citations"}))


def _refusal_part(fields: Fields, content: Content) -> None:
    content.texts.append(fields.text("refusal", required=True) or "")


def _thinking_part(fields: Fields, content: Content) -> None:
    # Earlier thinking is kept or dropped by the provider; its signature is no text.
    fields.take("signature")
    if fields.text("thinking") is not None:
        fields.not_counted.add(fields.at("thinking"))


def _image_part(fields: Fields, content: Content) -> None:
    content.images.append(read_image(fields))


def _tool_use_part(fields: Fields, content: Content) -> None:
    name = fields.text("name", required=True) or ""
    content.calls.append(Call(name, _arguments(fields, "input")))
    fields.skip_uncounted(frozenset({"caller"}))


def _tool_result_part(fields: Fields, content: Content) -> None:
    _add_content(fields.take("content"), fields.at("content"), fields.not_counted, content)


def _document_part(fields: Fields, content: Content) -> None:
    for key in ("title", "context"):
        if (text := fields.text(key)) is not None:
            content.texts.append(text)
    source = fields.fields("source")
    if source is None:
        fail(fields.path, "'source' is missing")
    kind = source.text("type", required=True)
    if kind == "text":
        content.texts.append(source.text("data", required=True) or "")
        source.skip({"media_type": _NONE})
        source.close()
    elif kind == "content":
        _add_content(source.take("content"), source.at("content"), fields.not_counted, content)
        source.close()
    else:
        fields.not_counted.add(source.path)
    fields.skip({"citations": frozenset({"enabled"})})


def _search_result_part(fields: Fields, content: Content) -> None:
    for key in ("title", "source"):
        content.texts.append(fields.text(key, required=True) or "")
    _add_content(fields.take("content"), fields.at("content"), fields.not_counted, content)
    fields.skip({"citations": frozenset({"enabled"})})


_PARTS: Mapping[str, Callable[[Fields, Content], None]] = {
    **dict.fromkeys(("text", "input_text", "output_text", "summary_text"), _text_part),
    **dict.fromkeys(("image_url", "input_image", "image"), _image_part),
    "refusal": _refusal_part,
    "thinking": _thinking_part,
    "tool_use": _tool_use_part,
    "tool_result": _tool_result_part,
    "document": _document_part,
    "search_result": _search_result_part,
}


def _read_tool_call(fields: Fields, content: Content) -> None:
    kind = fields.text("type") or "function"
    if kind not in ("function", "custom"):
        fail(fields.at("type"), f"unknown tool call type {kind[:40]!r}; known: function, custom")
    function = fields.fields(kind)
    if function is None:
        fail(fields.path, f"{kind!r} is missing")
    _read_function(function, content, arguments="arguments" if kind == "function" else "input")
    fields.skip(_LABELS)
    fields.close()


def _read_function(fields: Fields, content: Content, *, arguments: str = "arguments", legacy: bool = False) -> None:
    name = fields.text("name", required=True) or ""
    content.calls.append(Call(name, fields.text(arguments) or "", legacy))
    fields.close()


def _arguments(fields: Fields, key: str) -> str:
    """Arguments given as an object, as the compact JSON that a model would write them in."""
    import json

    value = fields.take(key)
    return "" if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _gemini_part(fields: Fields, content: Content) -> None:
    if (text := fields.text("text")) is not None:
        content.texts.append(text)
    for key in ("inlineData", "inline_data"):
        if (data := fields.fields(key)) is not None:
            mime = data.text("mimeType") or data.text("mime_type") or ""
            if mime.startswith("image/"):
                content.images.append(read_image(data, media_type=mime))
                data.close()
            else:
                fields.not_counted.add(data.path)
    for key in ("functionCall", "function_call"):
        if (call := fields.fields(key)) is not None:
            content.calls.append(Call(call.text("name", required=True) or "", _arguments(call, "args")))
            call.skip(_LABELS)
            call.close()
    for key in ("functionResponse", "function_response"):
        if (result := fields.fields(key)) is not None:
            content.texts += [result.text("name", required=True) or "", _arguments(result, "response")]
            result.skip(_LABELS)
            result.close()
    fields.close()
