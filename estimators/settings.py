"""Keys of a request that are no part of its prompt, and those whose content only the provider has.

From the API references of OpenAI, Anthropic and Google, as their Python packages of November 2026 declare them
(openai 3.57.0, anthropic 2.14.0, google-genai 3.6.1).
"""

from __future__ import annotations

from collections.abc import Mapping

from .fields import Known, names, spellings

SCALAR: frozenset[str] = frozenset()
"""A setting that holds no keys."""

_SAFETY = spellings("category threshold method")

SETTINGS: Mapping[str, Known] = {
    # How to sample and how much to answer: read by the server, not by the model.
    **dict.fromkeys(
        names(
            "temperature top_p top_k min_p n candidate_count best_of seed stop stop_sequences max_tokens "
            "max_completion_tokens max_output_tokens presence_penalty frequency_penalty repetition_penalty logprobs "
            "top_logprobs echo"
        ),
        SCALAR,
    ),
    "logit_bias": None,
    # Transport, storage, billing.
    **dict.fromkeys(
        names(
            "model stream store user service_tier serviceTier speed background include truncation dimensions "
            "encoding_format safety_identifier prompt_cache_key prompt_cache_retention inference_geo "
            "parallel_tool_calls max_tool_calls betas anthropic_beta anthropic_version modalities timeout "
            "user_profile_id workspace_id"
        ),
        SCALAR,
    ),
    # Any key of the caller's own, or of a service beside the model.
    **dict.fromkeys(
        names(
            "metadata labels moderation access_programs background_options billing_policy diagnostics fallbacks "
            "fallback_credit_token modelArmorConfig model_armor_config"
        ),
        None,
    ),
    "stream_options": names("include_usage include_obfuscation"),
    "cache_control": names("type ttl"),
    "prompt_cache_options": names("mode ttl comparison_response_id prewarm"),
    # How much to think, in which modality or how wordily to answer.
    "reasoning_effort": SCALAR,
    "verbosity": SCALAR,
    "reasoning": names("effort summary generate_summary context mode"),
    "thinking": {
        **dict.fromkeys(names("type budget_tokens display"), SCALAR),
        "block_binding": names("prefix_mismatch_behavior"),
    },
    "audio": {"voice": names("id"), "format": SCALAR},
    "image": names("context_compression"),
    "safetySettings": _SAFETY,
    "safety_settings": _SAFETY,
}
"""Keys of a request that add nothing to its prompt, each with the keys it may hold; None: any."""

BATCH_BODIES = ("body", "params", "request", "generateContentRequest")
"""Where a line of a batch file of OpenAI, Anthropic or Google, or a call that counts tokens, has its request."""

BATCH_SETTINGS: Mapping[str, Known] = {
    **SETTINGS,
    **dict.fromkeys(names("custom_id method url key"), SCALAR),
}
"""The same beside the request in a line of a batch file."""


def _spelled(text: str, known: Known = SCALAR) -> dict[str, Known]:
    """The names in a text, in both spellings, with the keys they may hold."""
    return dict.fromkeys(spellings(text), known)


_VOICE: Mapping[str, Known] = _spelled(
    "voiceConfig",
    {
        "voice": SCALAR,
        **_spelled("prebuiltVoiceConfig", spellings("voiceName")),
        **_spelled(
            "replicatedVoiceConfig",
            {
                **_spelled("mimeType voiceSampleAudio consentAudio"),
                **_spelled("voiceConsentSignature", names("signature")),
            },
        ),
    },
)
_SPEAKERS = _spelled("speakerVoiceConfigs", {"speaker": SCALAR, **_VOICE})
_IMAGE: Mapping[str, Known] = {
    **_spelled("aspectRatio imageSize personGeneration prominentPeople outputMimeType outputCompressionQuality"),
    **_spelled("imageOutputOptions", spellings("compressionQuality mimeType")),
}
_ROUTING: Mapping[str, Known] = {
    **_spelled("autoMode", spellings("modelRoutingPreference")),
    **_spelled("manualMode", spellings("modelName")),
}

GENERATION_SETTINGS: Mapping[str, Known] = {
    **_spelled(
        "temperature topP topK candidateCount maxOutputTokens stopSequences responseMimeType seed presencePenalty "
        "frequencyPenalty responseLogprobs logprobs responseModalities enableAffectiveDialog "
        "enableEnhancedCivicAnswers audioTimestamp"  # the last adds to audio alone, which is noted itself
    ),
    **_spelled("thinkingConfig", spellings("includeThoughts thinkingBudget thinkingLevel")),
    **_spelled("routingConfig", _ROUTING),
    **_spelled("modelSelectionConfig", spellings("featureSelectionPreference")),
    **_spelled(
        "speechConfig", {**_spelled("languageCode"), **_VOICE, **_spelled("multiSpeakerVoiceConfig", _SPEAKERS)}
    ),
    **_spelled("imageConfig", _IMAGE),
}
"""The same of Gemini's ``generationConfig``."""

CLIENT_SETTINGS: Mapping[str, Known] = {
    **_spelled("httpOptions generationOutputConfig", None),
    **_spelled("shouldReturnHttpResponse"),
    **_spelled("automaticFunctionCalling", spellings("disable maximumRemoteCalls ignoreCallHistory")),
}
"""What the google-genai client takes beside these in its ``config`` and reads itself."""

HISTORY = names("previous_response_id conversation thread")
"""Keys that stand for earlier messages which the provider has."""

STYLES = names("personality")
"""Keys that name a style of the provider's own, in words that only it has."""

ELSEWHERE = HISTORY.union(
    STYLES,
    names(
        "prompt_id cachedContent cached_content container context_management compaction mcp_servers web_search_options "
        "prediction suffix"
    ),
)
"""Keys whose content the provider has, makes or puts in place: part of the prompt, or maybe, and not counted."""
