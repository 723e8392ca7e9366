"""The form of Google's requests: contents and their parts, and what of ``generationConfig`` is in the prompt.

Keys may be in camelCase or snake_case, as Google's API takes both.
"""

from __future__ import annotations

from collections.abc import Mapping

from .content import compact_json
from .fields import Fields, Known, NotCounted, describe, fail, join, names, show, spellings
from .images import Image, check_url, read_image
from .messages import Call, Content, Message, check_role
from .settings import CLIENT_SETTINGS, GENERATION_SETTINGS, SCALAR

_HOSTED_PARTS = spellings("executableCode codeExecutionResult toolCall toolResponse audioTranscription")
_DATA = _HOSTED_PARTS | spellings("text inlineData fileData functionCall functionResponse thoughtSignature")
_PART_SETTINGS: Mapping[str, Known] = {
    # What of a file is read, or whose voice it is: the file itself is not counted.
    **dict.fromkeys(spellings("partMetadata"), None),  # any key of the caller's own
    **dict.fromkeys(
        spellings("videoMetadata documentMetadata spreadsheetMetadata audioMetadata speechMetadata"),
        spellings("startOffset endOffset fps contentLayers startPage endPage visibleCells sheetIndex speaker style"),
    ),
    **dict.fromkeys(spellings("mediaProcessing"), SCALAR),
}
_CALL_LABELS: Mapping[str, Known] = dict.fromkeys(spellings("id willContinue scheduling"), SCALAR)
_FILE_LABELS: Mapping[str, Known] = dict.fromkeys(spellings("displayName"), SCALAR)
_RESOLUTIONS = names("unspecified low medium high ultra_high")


def read_contents(value: object, path: str, not_counted: NotCounted, resolution: str = "") -> tuple[Message, ...]:
    """``contents``: a text, a content, a part, or an array of them; texts and parts in a row are one message."""
    if isinstance(value, str | Mapping):
        return _contents([(value, path)], not_counted, resolution)
    if not isinstance(value, list | tuple):
        fail(path, f"a text, a content or an array of contents is needed, not {describe(value)}")
    return _contents([(item, join(path, i)) for i, item in enumerate(value)], not_counted, resolution)


def read_instruction(value: object, path: str, not_counted: NotCounted) -> Message:
    """``systemInstruction``: a text, a content, a part, or an array of texts and parts."""
    content = Content()
    items = [(item, join(path, i)) for i, item in enumerate(value)] if isinstance(value, list | tuple) else None
    for item, at in items or [(value, path)]:
        if isinstance(item, Mapping) and _is_content(item):
            _read_content(Fields(item, at, not_counted), content, "")
        else:
            _read_part(item, at, not_counted, content, "")
    return content.message("system")


def _contents(items: list[tuple[object, str]], not_counted: NotCounted, resolution: str) -> tuple[Message, ...]:
    messages: list[Message] = []
    loose: Content | None = None  # of the texts and parts that stand outside a content
    for item, path in items:
        if isinstance(item, Mapping) and _is_content(item):
            if loose:
                messages.append(loose.message("user"))
            loose, content = None, Content()
            role = _read_content(Fields(item, path, not_counted), content, resolution)
            messages.append(content.message(role))
        else:
            loose = loose or Content()
            _read_part(item, path, not_counted, loose, resolution)
    if loose:
        messages.append(loose.message("user"))
    return tuple(messages)


def _is_content(item: Mapping[str, object]) -> bool:
    return "parts" in item or "role" in item


def _read_content(fields: Fields, content: Content, resolution: str) -> str:
    """Read one content, and return its role: without one it is the user's."""
    role = fields.text("role") or "user"
    check_role(role, fields.at("role"))
    parts = fields.each("parts")
    if not parts:
        fail(fields.at("parts"), "a non-empty array of parts is needed")
    for part, path in parts:
        _read_part(part, path, fields.not_counted, content, resolution)
    fields.close()
    return role


def _read_part(value: object, path: str, not_counted: NotCounted, content: Content, resolution: str) -> None:
    if isinstance(value, str):
        content.texts.append(value)
        return
    if not isinstance(value, Mapping):
        fail(path, f"a text or a part (an object) is needed, not {describe(value)}")
    if not value.keys() & _DATA:
        fail(path, "not a part: it has no text, inlineData, fileData, functionCall or functionResponse")
    fields = Fields(value, path, not_counted)
    resolution = read_resolution(fields) or resolution
    is_thought = fields.take("thought") is True  # kept or dropped by the provider, as Anthropic's thinking is
    if (text := fields.text("text")) is not None:
        if is_thought:
            not_counted.add(fields.at("text"))
        else:
            content.texts.append(text)
    _read_media(fields, content, resolution)
    if (call := fields.fields(fields.spelled("functionCall"))) is not None:
        name = call.text("name", required=True) or ""
        content.calls.append(Call(name, compact_json(call, "args"), id=call.text("id")))
        call.skip(_CALL_LABELS)
        call.close()
    if (result := fields.fields(fields.spelled("functionResponse"))) is not None:
        content.texts += [result.text("name", required=True) or "", compact_json(result, "response")]
        for part, at in result.each("parts"):
            inner = Fields(part, at, not_counted)
            _read_media(inner, content, read_resolution(inner) or resolution)
            inner.skip(_PART_SETTINGS)
            inner.close()
        result.skip(_CALL_LABELS)
        result.close()
    fields.skip_uncounted(_HOSTED_PARTS | spellings("thoughtSignature"))
    fields.skip(_PART_SETTINGS)
    fields.close()


def _read_media(fields: Fields, content: Content, resolution: str) -> None:
    """Images, given as data or by address; other media are not counted."""
    for key in ("inlineData", "fileData"):
        data = fields.fields(fields.spelled(key))
        if data is None:
            continue
        media_type = data.text(data.spelled("mimeType")) or ""
        if not media_type.startswith("image/"):
            fields.not_counted.add(data.path)
            continue
        if key == "inlineData":
            content.images.append(read_image(data, media_type, resolution))
        else:
            key_of_uri = data.spelled("fileUri")
            check_url(data.text(key_of_uri, required=True) or "", data.at(key_of_uri))
            content.images.append(Image(data.path, "auto", None, resolution))
        data.skip(_FILE_LABELS)
        data.close()


def read_resolution(fields: Fields) -> str:
    """``mediaResolution``, of a part or of all media: how many tokens each may take. "" where none is said."""
    key = fields.spelled("mediaResolution")
    value, path = fields.take(key), fields.at(key)
    if isinstance(value, Mapping):
        holder = Fields(value, path, fields.not_counted)
        value, path = holder.text("level"), holder.at("level")
        holder.close()
    if value is None:
        return ""
    level = value.lower().removeprefix("media_resolution_") if isinstance(value, str) else ""
    if level not in _RESOLUTIONS:
        fail(path, f"unknown media resolution {show(value)}; known: MEDIA_RESOLUTION_LOW, _MEDIUM, _HIGH")
    return "" if level == "unspecified" else level


def read_answer_schema(fields: Fields) -> tuple[object, str] | None:
    """The schema that ``generationConfig`` asks the answer to follow, and its path. It takes the rest as settings."""
    found = None
    for key in ("responseSchema", "responseJsonSchema", "_responseJsonSchema"):
        spelled = fields.spelled(key)
        if (schema := fields.take(spelled)) is not None:
            if found is not None:
                fail(fields.at(spelled), f"{found[1]} is there already; give one of them")
            found = schema, fields.at(spelled)
    fields.skip(GENERATION_SETTINGS)
    fields.skip(CLIENT_SETTINGS)
    return found
