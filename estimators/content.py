"""Messages and the parts they are made of, in the forms of OpenAI and Anthropic."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from .fields import Fields, Known, NotCounted, describe, fail, join, names
from .images import read_image
from .messages import Call, Content, Message, Result, check_role
from .settings import SCALAR

_CITATION = names(
    "type url title start_index end_index file_id filename index container_id cited_text document_index document_title "
    "start_char_index end_char_index start_page_number end_page_number start_block_index end_block_index "
    "encrypted_index search_result_index source"
)
_LOGPROB = names("token bytes logprob")

LABELS: Mapping[str, Known] = {
    # Ids name a part, and index or status belong to a stream; no published count moves with them.
    **dict.fromkeys(names("id index status type is_error phase strict namespace caller_id async toolset_name"), SCALAR),
    "caller": names("type caller_id tool_id"),
    "cache_control": names("type ttl"),
    "prompt_cache_breakpoint": names("mode ttl"),
    # Of an earlier answer: where its citations point, and how likely its tokens were.
    "annotations": {**dict.fromkeys(_CITATION, SCALAR), "url_citation": _CITATION},
    "logprobs": {**dict.fromkeys(_LOGPROB, SCALAR), "top_logprobs": _LOGPROB},
}
"""Keys of a message or part that only label it: no part of the prompt."""

_SYSTEM_LABELS: Mapping[str, Known] = {"clear_at": SCALAR, "output_config": names("effort")}
_NEEDS_CONTENT = names("system developer user tool")
_HOSTED_ITEMS = names(
    "reasoning item_reference compaction web_search_call file_search_call computer_call computer_call_output "
    "code_interpreter_call image_generation_call local_shell_call local_shell_call_output shell_call "
    "shell_call_output apply_patch_call apply_patch_call_output mcp_call mcp_list_tools mcp_approval_request "
    "mcp_approval_response tool_search_call tool_search_output program program_output additional_tools "
    "configuration_update compaction_trigger"
)
_KEPT_BY_PROVIDER = names("audio reasoning reasoning_content reasoning_details")  # of an earlier answer
_HOSTED_PARTS = names(
    "input_audio audio file input_file video video_url container_upload redacted_thinking server_tool_use "
    "web_search_tool_result web_fetch_tool_result code_execution_tool_result tool_search_tool_result "
    "bash_code_execution_tool_result text_editor_code_execution_tool_result advisor_tool_result mcp_tool_use "
    "mcp_tool_result mcp_tool_listing tool_reference tool_addition tool_removal browser_state compaction fallback"
)


def read_message(fields: Fields) -> Message:
    """One chat message."""
    role = fields.text("role", required=True) or ""
    check_role(role, fields.at("role"))
    content = Content()
    calls = fields.items("tool_calls")
    legacy = fields.fields("function_call")
    for i, call in enumerate(calls):
        _read_tool_call(Fields(call, join(fields.at("tool_calls"), i), fields.not_counted), content)
    if legacy is not None:
        _read_function(legacy, content, legacy=True)
    if "content" in fields:
        value = fields.take("content")
        if role in _NEEDS_CONTENT and (value is None or value in ([], ())):
            found = "null" if value is None else "empty"
            fail(fields.at("content"), f"{found}: a text or at least one part is needed")
        _add_content(value, fields.at("content"), fields.not_counted, content)
    elif role != "assistant" and not (role == "system" and any(key in fields for key in _SYSTEM_LABELS)):
        fail(fields.path, "'content' is missing")
    if (refusal := fields.text("refusal")) is not None:
        content.texts.append(refusal)
    _read_result_id(fields, "tool_call_id", content)
    name = fields.text("name")
    fields.skip_uncounted(_KEPT_BY_PROVIDER)
    fields.skip(LABELS)
    if role == "system":
        fields.skip(_SYSTEM_LABELS)
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
    if kind is None and "role" not in fields and "id" in fields:
        kind = "item_reference"
    if kind is None or kind == "message":
        return read_message(fields)
    if kind in _HOSTED_ITEMS:
        fields.not_counted.add(fields.path)
        return None
    content = Content()
    if kind in ("function_call", "custom_tool_call"):
        name = fields.text("name", required=True) or ""
        arguments = fields.text("arguments" if kind == "function_call" else "input", required=True) or ""
        content.calls.append(Call(name, arguments, id=fields.text("call_id")))
        message = content.message("assistant")
    elif kind in ("function_call_output", "custom_tool_call_output"):
        if "output" not in fields:
            fail(fields.path, "'output' is missing")
        _add_content(fields.take("output"), fields.at("output"), fields.not_counted, content)
        _read_result_id(fields, "call_id", content)
        message = content.message("tool")
    else:
        fail(fields.at("type"), f"unknown item type {kind[:40]!r}")
    fields.skip(LABELS)
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
    fields.skip(LABELS)
    fields.close()


def _text_part(fields: Fields, content: Content) -> None:
    content.texts.append(fields.text("text", required=True) or "")
    fields.skip({"citations": _CITATION})  # of an earlier answer: Anthropic counts no text that they repeat


def _refusal_part(fields: Fields, content: Content) -> None:
    content.texts.append(fields.text("refusal", required=True) or "")


def _thinking_part(fields: Fields, content: Content) -> None:
    # Earlier thinking is kept or dropped by the provider; its signature is no text.
    fields.take("signature")
    if fields.text("thinking") is not None:
        fields.not_counted.add(fields.at("thinking"))


def _image_part(fields: Fields, content: Content) -> None:
    content.images.append(read_image(fields))
    fields.skip({"transformations": names("oversized_image")})


def _tool_use_part(fields: Fields, content: Content) -> None:
    name = fields.text("name", required=True) or ""
    content.calls.append(Call(name, compact_json(fields, "input"), id=fields.text("id")))


def _tool_result_part(fields: Fields, content: Content) -> None:
    _read_result_id(fields, "tool_use_id", content)
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
        source.skip({"media_type": SCALAR})
        source.close()
    elif kind == "content":
        _add_content(source.take("content"), source.at("content"), fields.not_counted, content)
        source.close()
    else:
        fields.not_counted.add(source.path)
    _read_citations(fields)


def _search_result_part(fields: Fields, content: Content) -> None:
    for key in ("title", "source"):
        content.texts.append(fields.text(key, required=True) or "")
    _add_content(fields.take("content"), fields.at("content"), fields.not_counted, content)
    _read_citations(fields)


def _read_citations(fields: Fields) -> None:
    """Whether the answer is to cite: Anthropic then adds to its system prompt, and does not say what."""
    if (citations := fields.fields("citations")) is not None:
        if citations.take("enabled") is True:
            fields.not_counted.add(citations.path)
        citations.close()


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
    arguments = "arguments" if kind == "function" else "input"
    _read_function(function, content, arguments=arguments, call_id=fields.text("id"))
    fields.skip(LABELS)
    fields.close()


def _read_function(
    fields: Fields, content: Content, *, arguments: str = "arguments", legacy: bool = False, call_id: str | None = None
) -> None:
    name = fields.text("name", required=True) or ""
    content.calls.append(Call(name, fields.text(arguments) or "", legacy, call_id))
    fields.close()


def _read_result_id(fields: Fields, key: str, content: Content) -> None:
    """The id of the call that is answered; where there is none, nothing is said of it."""
    if (call_id := fields.text(key)) is not None:
        content.results.append(Result(call_id, fields.at(key)))


def compact_json(fields: Fields, key: str) -> str:
    """Arguments given as an object, as the compact JSON that a model would write them in."""
    value = fields.take(key)
    return "" if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
