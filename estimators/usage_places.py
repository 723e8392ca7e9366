"""Where the usage objects of providers have the counts of ours, to say what is wrong in the words of the report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .fields import snake_case
from .usage import MODALITIES, UNITS

Places = Mapping[str, tuple[str, ...]]
"""Of each count of ours the paths of those it is the sum of."""


def _openai(input: str, output: str) -> Places:
    sent, got = f"{input}_details", f"{output}_details"
    kinds = ("audio", "image")
    return {
        "input": (input,),
        "output": (output,),
        "cache_read": (f"{sent}.cached_tokens", "prompt_cache_hit_tokens", "cached_tokens"),
        "cache_write": (f"{sent}.cache_write_tokens",),
        "reasoning": (f"{got}.reasoning_tokens",),
        **{f"input_{kind}": (f"{sent}.{kind}_tokens",) for kind in kinds},
        **{f"output_{kind}": (f"{got}.{kind}_tokens",) for kind in kinds},
        **{f"cache_read_{kind}": (f"{sent}.cached_tokens_details.{kind}_tokens",) for kind in kinds},
    }


_CREATED = "cache_creation"
_PLACES: Mapping[str, Places] = {
    "openai-chat": _openai("prompt_tokens", "completion_tokens"),
    "openai-responses": _openai("input_tokens", "output_tokens"),
    "anthropic": {
        "input": ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
        "output": ("output_tokens",),
        "cache_read": ("cache_read_input_tokens",),
        "cache_write": ("cache_creation_input_tokens", _CREATED),
        "cache_write_1h": (f"{_CREATED}.ephemeral_1h_input_tokens",),
        "reasoning": ("output_tokens_details.thinking_tokens",),
        "web_searches": ("server_tool_use.web_search_requests",),
    },
    "gemini": {
        "input": ("promptTokenCount", "toolUsePromptTokenCount"),
        "output": ("candidatesTokenCount", "responseTokenCount", "thoughtsTokenCount"),
        "cache_read": ("cachedContentTokenCount",),
        "reasoning": ("thoughtsTokenCount",),
        **{f"input_{kind}": ("promptTokensDetails", "toolUsePromptTokensDetails") for kind in MODALITIES},
        **{f"output_{kind}": ("candidatesTokensDetails",) for kind in MODALITIES},
        **{f"cache_read_{kind}": ("cacheTokensDetails",) for kind in MODALITIES},
    },
    "tokengap": {unit: (unit,) for unit in UNITS},
}
_UNIT = re.compile(rf"\b({'|'.join(sorted(UNITS, key=len, reverse=True))})\b")


def in_words_of(message: str, body: Mapping[str, Any], path: str, format: str) -> str:
    """An error about our counts with the names that a report of the format, which stands at the path, has for them.

    >>> in_words_of("reasoning (6) is more than output (5)", {"output_tokens": 5}, "usage", "openai-responses")
    'reasoning (6) is more than usage.output_tokens (5)'
    """

    def named(match: re.Match[str]) -> str:
        found = dict.fromkeys(_found(body, _PLACES[format].get(match[1], ())))
        return " and ".join(f"{path}.{place}" for place in found) or match[1]

    return _UNIT.sub(named, message)


def _found(body: Mapping[str, Any], places: Iterable[str]) -> Iterable[str]:
    """Those of the places that there are, as they are spelled."""
    for place in places:
        steps, here = [], body
        for step in place.split("."):
            forms = (step, snake_case(step), step.replace("_tokens_details", "_token_details"))
            form = next((form for form in forms if isinstance(here, Mapping) and here.get(form) is not None), None)
            if form is None:
                break
            steps.append(form)
            here = here[form]
        else:
            yield ".".join(steps)
