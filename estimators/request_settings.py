"""What a request says of how it is to be served: by which model, at which tier. Its text is read elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

from ..tokenizers.errors import TokengapError
from .settings import BATCH_BODIES

STANDARD_TIERS = ("auto", "default", "standard", "standard_only", "unspecified")
PRICED_TIERS = ("flex", "priority", "fast")
"""What a request may name as its ``service_tier``: served at the standard price, or at one of its own.

OpenAI, Anthropic and Google, API references, 2026-11."""


def named_model(body: object) -> str | None:
    """The model that a request, or the one inside a line of a batch file, names."""
    model = _setting(body, "model")
    return model if isinstance(model, str) else None


def model_path(body: object) -> str:
    """Where a request names its model, or would."""
    return _setting_at(body, "model")[1]


def requested_output(body: object) -> int | None:
    """The most output tokens that a request allows itself, where it says so."""
    generation = _setting(body, "generationConfig") or _setting(body, "generation_config") or _setting(body, "config")
    if isinstance(generation, Mapping):
        limits = [generation.get(name) for name in ("maxOutputTokens", "max_output_tokens")]
    else:
        limits = [_setting(body, name) for name in ("max_completion_tokens", "max_output_tokens", "max_tokens")]
    return next(
        (limit for limit in limits if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0), None
    )


def requested_variant(body: object) -> str | None:
    """The variant a request is billed as: its tier or speed, or batch for a line of a batch file; else ``None``.

    Raises TokengapError for a tier or speed whose price is not known, and for two that do not combine.
    """
    ways = []
    if _inner(body) is not None and isinstance(body, Mapping) and ("custom_id" in body or "key" in body):
        ways.append("batch")
    for key, standard, priced in (
        ("service_tier", STANDARD_TIERS, PRICED_TIERS),
        ("serviceTier", STANDARD_TIERS, PRICED_TIERS),
        ("speed", ("standard",), ("fast",)),
    ):
        value, path = _setting_at(body, key)
        name = value.lower() if isinstance(value, str) else value
        if value is not None and name not in (*standard, *priced):
            raise TokengapError(f"{path}: no price is known for {str(value)[:40]!r}; say the variant that is billed")
        ways += [way for way in priced if way == name and way not in ways]
    if len(ways) > 1:
        raise TokengapError(
            f"{' and '.join(ways)} do not combine: a call is served one way; say the one that is billed"
        )
    return ways[0] if ways else None


def variant_path(body: object) -> str:
    """Where a request says how it is served: the path of its tier or speed, or of what makes it a line of a batch."""
    for key in ("service_tier", "serviceTier", "speed"):
        value, path = _setting_at(body, key)
        if isinstance(value, str) and value.lower() in PRICED_TIERS:
            return path
    if isinstance(body, Mapping) and _inner(body) is not None:
        return next((key for key in ("custom_id", "key") if key in body), "")
    return ""


def _setting(body: object, key: str) -> object:
    return _setting_at(body, key)[0]


def _setting_at(body: object, key: str) -> tuple[object, str]:
    """A setting and its path: of what is sent, before what is around it."""
    inner, within = _inner(body), ""
    if isinstance(body, Mapping) and inner is not None:
        within = next(f"{name}." for name in BATCH_BODIES if name in body)
    layers = (
        (inner, within),
        (body, ""),
        (_client_config(inner), f"{within}config."),
        (_client_config(body), "config."),
    )
    for layer, path in layers:
        if isinstance(layer, Mapping) and layer.get(key) is not None:
            return layer[key], path + key
    return None, f"{within}{key}"


def _client_config(body: object) -> object:
    """The ``config`` of the google-genai client."""
    return body.get("config") if isinstance(body, Mapping) and "contents" in body else None


def _inner(body: object) -> Mapping[str, object] | None:
    """The request inside a line of a batch file."""
    if not isinstance(body, Mapping):
        return None
    inner = next((body[name] for name in BATCH_BODIES if name in body), None)
    return inner if isinstance(inner, Mapping) else None
