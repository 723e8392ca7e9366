"""The form of Google's requests, in each of the ways its API and its client take it."""

from __future__ import annotations

from typing import Any

import pytest

from tokengap.estimators.request_count import RequestCount, count_request
from tokengap.tokenizers.errors import TokengapError

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z/C/HgAGgwJ/lK3Q6wAAAABJRU5ErkJggg=="  # 1 by 1
WHOLE: dict[str, Any] = {
    "contents": [{"role": "user", "parts": [{"text": "Why is the sky blue?"}]}],
    "systemInstruction": {"role": "system", "parts": [{"text": "Be brief."}]},
}


def gemini(model: str = "gemini-2.5-pro", **body: Any) -> RequestCount:
    return count_request({"contents": "Why is the sky blue?", **body}, model)


@pytest.mark.parametrize(
    "contents",
    [
        "Why is the sky blue?",
        {"parts": [{"text": "Why is the sky blue?"}]},
        {"parts": {"text": "Why is the sky blue?"}},
        [{"parts": {"text": "Why is the sky blue?"}}],
        {"role": "user", "parts": [{"text": "Why is the sky blue?"}]},
        {"text": "Why is the sky blue?"},
        ["Why is the sky blue?"],
        [{"text": "Why is the sky blue?"}],
        [{"parts": [{"text": "Why is the sky blue?"}]}],
        [{"role": None, "parts": ["Why is the sky blue?"]}],
    ],
)
@pytest.mark.parametrize("key", ["systemInstruction", "system_instruction"])
@pytest.mark.parametrize(
    "instruction",
    [
        "Be brief.",
        {"text": "Be brief."},
        {"parts": [{"text": "Be brief."}]},
        {"parts": {"text": "Be brief."}},
        {"role": "user", "parts": [{"text": "Be brief."}]},
        ["Be brief."],
        [{"text": "Be brief."}],
    ],
)
def test_one_request_in_every_form(contents: Any, key: str, instruction: Any) -> None:
    for model in ("gemini-2.5-pro", "gpt-4o"):
        count = count_request({"contents": contents, key: instruction}, model)
        assert count == count_request(WHOLE, model)
        assert count.not_counted == ()
    client = count_request({"contents": contents, "config": {key: instruction}}, "gemini-2.5-pro")
    assert client == count_request(WHOLE, "gemini-2.5-pro")


def test_texts_and_parts_in_a_row_are_one_message() -> None:
    loose = [{"role": "model", "parts": [{"text": "Hm."}]}, "a", {"text": "b"}, {"parts": [{"text": "c"}]}]
    wrapped = [loose[0], {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]}, loose[3]]
    assert count_request({"contents": loose}, "gpt-4o") == count_request({"contents": wrapped}, "gpt-4o")
    assert count_request(wrapped, "gpt-4o").tokens == count_request({"contents": wrapped}, "gpt-4o").tokens


@pytest.mark.parametrize(
    "tool",
    [
        {"googleSearch": {}},
        {"google_search": {}},
        {"googleSearchRetrieval": {"dynamicRetrievalConfig": {"mode": "MODE_DYNAMIC"}}},
        {"codeExecution": {}},
        {"code_execution": {}},
        {"urlContext": {}},
        {"googleMaps": {"enableWidget": True}},
        {"fileSearch": {"fileSearchStoreNames": ["fileSearchStores/x"]}},
        {"computerUse": {"environment": "ENVIRONMENT_BROWSER"}},
    ],
)
def test_a_tool_that_google_runs_is_named(tool: Any) -> None:
    (key,) = tool
    count = gemini(tools=[tool])
    assert count.not_counted == (f"tools[0].{key}",)
    assert count.tokens == gemini().tokens
    assert count.kind != "exact"
    function = {"name": "look", "description": "Look it up"}
    both = gemini(tools=[{**tool, "functionDeclarations": [function]}])
    assert both.not_counted == (f"tools[0].{key}",)
    assert both.parts["tools"] == gemini(tools=[{"functionDeclarations": [function]}]).parts["tools"]


@pytest.mark.parametrize(
    ("settings", "not_counted"),
    [
        ({"thinkingConfig": {"thinkingBudget": 0, "includeThoughts": False, "thinkingLevel": "LOW"}}, ()),
        ({"thinking_config": {"thinking_budget": 0}}, ()),
        ({"temperature": 1, "topK": 3, "top_p": 0.5, "maxOutputTokens": 9, "responseMimeType": "application/json"}, ()),
        ({"speechConfig": {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Kore"}}}}, ()),
        ({"imageConfig": {"aspectRatio": "16:9"}, "responseModalities": ["TEXT", "IMAGE"], "seed": 1}, ()),
        ({"mediaResolution": "MEDIA_RESOLUTION_LOW"}, ()),
        ({"thinkingConfig": {"thoughts": 1}}, ("generationConfig.thinkingConfig.thoughts",)),
        ({"audioTimestamp": True}, ()),
    ],
)
def test_settings_of_generation_add_nothing(settings: Any, not_counted: tuple[str, ...]) -> None:
    count = gemini(generationConfig=settings)
    assert count.not_counted == not_counted
    assert count.tokens == gemini().tokens


def test_an_answer_schema_is_counted() -> None:
    schema = {"type": "OBJECT", "properties": {"answer": {"type": "STRING", "maxLength": 9}}}
    parts = [
        gemini(generationConfig={"responseSchema": schema}).parts["structured_output"],
        gemini(generation_config={"response_schema": schema}).parts["structured_output"],
        gemini(config={"responseJsonSchema": schema}).parts["structured_output"],
        gemini(
            config={"response_schema": {**schema, "properties": {"answer": {"type": "STRING", "max_length": 9}}}}
        ).parts["structured_output"],
    ]
    assert parts[0].tokens > 10
    assert parts == [parts[0]] * 4


IMAGE = {"inlineData": {"mimeType": "image/png", "data": PNG}}
FILE = {"fileData": {"fileUri": "https://example.org/files/1", "mimeType": "image/png"}}


@pytest.mark.parametrize(
    ("model", "part", "settings", "tokens"),
    [
        ("gemini-2.5-pro", IMAGE, {}, 258),
        ("gemini-2.5-pro", FILE, {}, None),
        ("gemini-2.5-pro", FILE, {"mediaResolution": "MEDIA_RESOLUTION_LOW"}, 64),
        ("gemini-2.5-pro", FILE, {"mediaResolution": "MEDIA_RESOLUTION_HIGH"}, None),
        ("gemini-3-pro-preview", FILE, {}, 1090),
        ("gemini-3-pro-preview", FILE, {"media_resolution": "MEDIA_RESOLUTION_MEDIUM"}, 560),
        ("gemini-3-pro-preview", {**IMAGE, "mediaResolution": {"level": "media_resolution_low"}}, {}, 280),
        (
            "gemini-3-pro-preview",
            {**IMAGE, "mediaResolution": {"level": "MEDIA_RESOLUTION_ULTRA_HIGH"}},
            {"mediaResolution": "MEDIA_RESOLUTION_LOW"},
            2240,
        ),
        ("gemini-3-pro-preview", {"inlineData": {"mimeType": "image/heic", "data": "AAAA"}}, {}, 1090),
        ("gemini-2.5-pro", {"inlineData": {"mimeType": "image/heic", "data": "AAAA"}}, {}, None),
    ],
)
def test_the_resolution_of_media_is_heeded(model: str, part: Any, settings: Any, tokens: int | None) -> None:
    count = gemini(model, contents=[{"parts": [part, {"text": "What?"}]}], generationConfig=settings)
    assert (count.parts["images"].tokens if "images" in count.parts else None) == tokens
    assert ("image_size_unknown" in count.warnings) is (tokens is None)
    assert bool(count.not_counted) is (tokens is None)


def test_url_safe_base64_is_read() -> None:
    safe = PNG.replace("+", "-").replace("/", "_")
    assert safe != PNG
    assert "images" in gemini(contents=[{"inlineData": {"mimeType": "image/png", "data": safe}}]).parts


@pytest.mark.parametrize(
    ("part", "not_counted"),
    [
        ({"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}}, "inlineData"),
        ({"fileData": {"fileUri": "x", "mimeType": "video/mp4"}, "videoMetadata": {"fps": 1}}, "fileData"),
        ({"executableCode": {"language": "PYTHON", "code": "1"}}, "executableCode"),
        ({"code_execution_result": {"outcome": "OUTCOME_OK"}}, "code_execution_result"),
        ({"text": "Let me think.", "thought": True}, "text"),
        ({"text": "", "thoughtSignature": "AAAA"}, "thoughtSignature"),
        ({"functionCall": {"name": "f", "args": {}, "partialArgs": []}}, "functionCall.partialArgs"),
        (
            {"functionResponse": {"name": "f", "parts": [{"inlineData": {"mimeType": "audio/wav", "data": "A"}}]}},
            "functionResponse.parts[0].inlineData",
        ),
    ],
)
def test_what_a_part_holds_besides_is_named(part: Any, not_counted: str) -> None:
    count = gemini(contents=[{"role": "model", "parts": [part]}])
    assert count.not_counted == (f"contents[0].parts[0].{not_counted}",)


def test_one_tool_needs_no_list() -> None:
    function = {"name": "look", "description": "Look it up"}
    listed = gemini(tools=[{"functionDeclarations": [function]}])
    assert gemini(tools={"functionDeclarations": function}) == listed
    assert gemini(tools={"function_declarations": [function]}) == listed
    named = gemini(tools={"functionDeclarations": {**function, "zz": 1}}).not_counted
    assert named == ("tools.functionDeclarations.zz",)


def test_images_in_the_result_of_a_function_are_counted() -> None:
    result = {"functionResponse": {"name": "f", "id": "1", "response": {"ok": True}, "parts": [IMAGE]}}
    assert gemini(contents=[{"parts": [result]}]).parts["images"].tokens == 258


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"contents": []}, "contents: empty: at least one message or text is needed"),
        ({"contents": 3}, "contents: a text, a content or an array of contents is needed, not a number"),
        ({"contents": [3]}, r"contents\[0\]: a text or a part \(an object\) is needed, not a number"),
        ({"contents": {}}, "contents: not a part: it has no text, inlineData"),
        ({"contents": [{"content": "hi"}]}, r"contents\[0\]: not a part: it has no text"),
        ({"contents": [{"role": "user"}]}, r"contents\[0\].parts: a non-empty array of parts is needed"),
        ({"contents": [{"parts": "hi"}]}, r"contents\[0\].parts: an array is needed, not a string"),
        ({"contents": [{"role": "bot", "parts": ["hi"]}]}, r"contents\[0\].role: unknown role 'bot'; known"),
        (
            {"contents": [{"parts": [{"functionCall": {}}]}]},
            r"contents\[0\].parts\[0\].functionCall: 'name' is missing",
        ),
        (
            {"systemInstruction": "a", "system_instruction": "b"},
            "system_instruction: the instructions are there already",
        ),
        ({"instructions": "a"}, "instructions: it goes with 'input', not with 'contents'"),
        ({"system": "a"}, "system: it goes with 'messages', not with 'contents'"),
        ({"generationConfig": {}, "generation_config": {}}, "request: both 'generationConfig' and 'generation_config'"),
        (
            {"generationConfig": {"mediaResolution": "BIG"}},
            "generationConfig.mediaResolution: unknown media resolution 'BIG'",
        ),
        (
            {"generationConfig": {"responseSchema": {}, "response_json_schema": {}}},
            "generationConfig.response_json_schema: generationConfig.responseSchema is there already; give one of them",
        ),
        (
            {"tools": [{"functionDeclarations": [{"name": "f"}], "function_declarations": []}]},
            r"tools\[0\]: both 'functionDeclarations' and 'function_declarations' are given",
        ),
        (
            {"toolConfig": {"functionCallingConfig": {"mode": "MUST"}}},
            "toolConfig.functionCallingConfig.mode: unknown mode",
        ),
        (
            {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
            "toolConfig.functionCallingConfig: a tool is required, and there are no tools",
        ),
        (
            {
                "tools": [{"functionDeclarations": [{"name": "f"}]}],
                "toolConfig": {"functionCallingConfig": {"allowedFunctionNames": ["f", "g"]}},
            },
            r"toolConfig.functionCallingConfig.allowedFunctionNames\[1\]: there is no tool 'g'; known: f",
        ),
    ],
)
def test_what_google_would_refuse_is_refused(body: Any, error: str) -> None:
    with pytest.raises(TokengapError, match=f"^{error}"):
        gemini(**body)
