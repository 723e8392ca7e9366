"""What each vendor would refuse of a body: our own operations take all their shapes, a façade takes one.

Members as openai 3.57.0, anthropic 2.14.0 and google-genai 3.6.1 declare them. Settings that add nothing to a prompt
pass: a client may send what it sends to generate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..estimators.fields import names, spellings
from ..estimators.settings import SETTINGS
from .problems import invalid, pointer_to

_OPENAI = frozenset(SETTINGS) | names(
    "conversation input instructions parallel_tool_calls personality previous_response_id reasoning text tool_choice "
    "tools truncation"
)
_ANTHROPIC = frozenset(SETTINGS) | names(
    "messages system tools tool_choice thinking output_config output_format cache_control compaction container "
    "context_management mcp_servers"
)
_GOOGLE = frozenset(SETTINGS) | spellings(
    "contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent"
)
_CHAT_PARTS = names("text image_url")  # of OpenAI's Chat Completions
_RESPONSES_PARTS = names("input_text output_text summary_text input_image refusal")
_MESSAGES_PARTS = names("text image tool_use tool_result thinking document search_result")
_CHAT_MEMBERS = names("tool_calls function_call tool_call_id name refusal")
_ELSEWHERE_TOOL = names("function input_schema") | spellings("functionDeclarations")

At = tuple[str | int, ...]
"""The keys and indexes that lead to a place in the body."""

Shape = Callable[[Mapping[str, Any], At], None]
"""Refuses what a vendor would of a request that stands at a place."""


def check_openai(request: Mapping[str, Any], _: At = ()) -> None:
    """Refuse what OpenAI's Responses do not take."""
    _check_members(request, _OPENAI, "input")
    _refuse_others(request.get("tools"), ("tools",), _ELSEWHERE_TOOL, "a tool")
    items = request["input"]
    for number, item in enumerate(items if isinstance(items, list) else ()):
        at: At = ("input", number)
        if not isinstance(item, dict):
            raise invalid(pointer_to(at), "an item of the input is an object, such as a message with a role")
        if item.get("type", "message") == "message":
            _refuse_members(item, at, _CHAT_MEMBERS, "a message")
            _check_role(item, at, names("user assistant system developer"))
        for part, place in _parts(item, at):
            _check_part(part, place, _RESPONSES_PARTS, _CHAT_PARTS | _MESSAGES_PARTS)
            if part.get("file_id") is not None:
                raise _no_file((*place, "file_id"))


def check_anthropic(request: Mapping[str, Any], _: At = ()) -> None:
    """Refuse what Anthropic's Messages do not take."""
    _check_members(request, _ANTHROPIC, "messages")
    elsewhere = names("function parameters") | spellings("functionDeclarations")
    _refuse_others(request.get("tools"), ("tools",), elsewhere, "a tool")
    messages = request["messages"]
    for number, message in enumerate(messages if isinstance(messages, list) else ()):
        at: At = ("messages", number)
        if not isinstance(message, dict):
            raise invalid(pointer_to(at), "a message is an object with a role and content")
        _refuse_members(message, at, _CHAT_MEMBERS, "a message")
        _check_role(message, at, names("user assistant system"))
        for part, place in _parts(message, at):
            _check_part(part, place, _MESSAGES_PARTS, _CHAT_PARTS | _RESPONSES_PARTS)
            source = part.get("source")
            if isinstance(source, dict) and source.get("type") == "file":
                raise _no_file((*place, "source", "file_id"))


def check_google(request: Mapping[str, Any], at: At = ()) -> None:
    """Refuse what Google's API does not take; ``at`` is where the request stands."""
    _check_members(request, _GOOGLE, "contents", at)
    elsewhere = names("type name function input_schema parameters")
    _refuse_others(request.get("tools"), (*at, "tools"), elsewhere, "a tool")
    contents = request["contents"]
    if not isinstance(contents, list | dict):
        raise invalid(pointer_to((*at, "contents")), "an array of contents is needed, each with its parts")
    for content, place in _each(contents, (*at, "contents")):
        if not isinstance(content, dict) or "parts" not in content:
            raise invalid(pointer_to(place), "a content is an object with parts, such as {'parts': [{'text': …}]}")
        for part, where in _each(content["parts"], (*place, "parts")):
            if not isinstance(part, dict):
                raise invalid(pointer_to(where), "a part is an object, such as {'text': …}")


def same_model(given: object, model: str) -> bool:
    """Whether Google's name of a model, which may have its place before it, is that of the path."""
    return isinstance(given, str) and given.rpartition("/")[2] == model.rpartition("/")[2]


def _check_members(request: Mapping[str, Any], known: frozenset[str], needed: str, at: At = ()) -> None:
    for name in request:
        if name not in known:
            raise invalid(pointer_to((*at, name)), f"{name[:80]!r} is no member of this call")
    if request.get(needed) is None:
        raise invalid(pointer_to((*at, needed)), f"{needed!r} is missing")


def _refuse_members(given: Mapping[str, Any], at: At, foreign: frozenset[str], what: str) -> None:
    for name in given:
        if name in foreign:
            raise invalid(pointer_to((*at, name)), f"{name!r} is no member of {what} in this call")


def _refuse_others(tools: object, at: At, foreign: frozenset[str], what: str) -> None:
    for tool, place in _each(tools, at):
        if isinstance(tool, dict):
            _refuse_members(tool, place, foreign, what)


def _check_role(message: Mapping[str, Any], at: At, known: frozenset[str]) -> None:
    role = message.get("role")
    if isinstance(role, str) and role not in known:
        raise invalid(pointer_to((*at, "role")), f"{role[:40]!r} is no role in this call: {', '.join(sorted(known))}")


def _check_part(part: Mapping[str, Any], at: At, own: frozenset[str], others: frozenset[str]) -> None:
    kind = part.get("type")
    if isinstance(kind, str) and kind in others - own:
        known = ", ".join(sorted(own))
        raise invalid(pointer_to((*at, "type")), f"{kind!r} is no type of a part in this call; known: {known}")


def _parts(item: Mapping[str, Any], at: At) -> Iterator[tuple[Mapping[str, Any], At]]:
    """The parts of a message, and those within them: of a result, or of a document."""
    for key in ("content", "output", "source"):
        inner = item.get(key)
        if key == "source" and isinstance(inner, dict):
            yield from _parts(inner, (*at, key))
        elif isinstance(inner, list):
            for part, place in _each(inner, (*at, key)):
                if isinstance(part, dict):
                    yield part, place
                    yield from _parts(part, place)


def _each(value: object, at: At) -> Iterator[tuple[object, At]]:
    """The members of an array, or the one value in its place."""
    if isinstance(value, list):
        yield from ((item, (*at, number)) for number, item in enumerate(value))
    elif value is not None:
        yield value, at


def _no_file(at: At) -> Exception:
    return invalid(pointer_to(at), "a file by its id is the provider's: send what is in it instead")
