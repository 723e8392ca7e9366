"""A name finds its own row of the table, and no other."""

from __future__ import annotations

import pytest

from tokengap.estimators import price_table
from tokengap.estimators.price_names import ALIASES, canonical, clean
from tokengap.tokenizers.errors import UnknownNameError

TABLE = price_table.bundled()


def test_every_row_is_found_by_its_own_id() -> None:
    for row in TABLE.rows:
        assert price_table.find(TABLE, row.model, row.provider).info is row.info, row
        assert price_table.find(TABLE, f"{row.provider}/{row.model}", None).info is row.info, row


def test_every_alias_is_of_a_provider_in_the_table() -> None:
    ids = {entry.id for entry in TABLE.providers}
    assert set(ALIASES.values()) <= ids
    assert not set(ALIASES) & ids
    assert canonical(" Vertex_AI ") == "google"


@pytest.mark.parametrize("provider", ["my-openai-proxy", "openai2", "not-google"])
def test_a_provider_is_not_found_inside_another_name(provider: str) -> None:
    with pytest.raises(UnknownNameError, match="unknown provider"):
        price_table.find(TABLE, "gpt-4o", provider)


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("gpt-4o-2099-01-01", "gpt-4o"),
        ("gpt-4o-mini-nonsense", "gpt-4o-mini"),
        ("gpt-5-turbo", "gpt-5"),
        ("claude-sonnet-4-5-7", "claude-sonnet-4-5"),
        ("claude-sonnet-4-50", "claude-sonnet-4-5"),
        ("xclaude-sonnet-4-5", "claude-sonnet-4-5"),
        ("gemini-2.5-pro-extended-thinking", "gemini-2.5-pro"),
        ("gemini-3.5-flash-8b-nonsense", "gemini-3.5-flash"),
        ("us.anthropic.claude-sonnet-4-5-20250929-mini-v1:0", "claude-sonnet-4-5"),
    ],
)
def test_the_beginning_of_a_name_is_not_the_name(name: str, base: str) -> None:
    with pytest.raises(UnknownNameError) as error:
        price_table.find(TABLE, name, None)
    assert error.value.name == name
    assert price_table.find(TABLE, base, None).info is not None


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5-latest", "claude-sonnet-4-5"),
        ("claude-3-5-haiku-20241022", "claude-3-5-haiku-latest"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("ft:gpt-3.5-turbo:org::id", "ft:gpt-3.5-turbo-"),
        ("ft:gpt-3.5-turbo-0125:org:name:id", "ft:gpt-3.5-turbo-"),
        ("xai/grok-4", "grok-4-0709"),
        ("gemini/gemini-2.5-flash", "gemini-2.5-flash"),
    ],
)
def test_dates_and_prefixes_are_declared(name: str, model: str) -> None:
    assert price_table.find(TABLE, name, None).model == model


def test_what_others_serve_is_suggested_by_their_names() -> None:
    with pytest.raises(UnknownNameError, match="who serves it") as error:
        price_table.find(TABLE, "llama-3.3-70b-versatile", None)
    assert "groq/llama-3.3-70b-versatile" in error.value.suggestions


def test_clean() -> None:
    assert clean(" models/Gemini-2.5-Pro ") == "gemini-2.5-pro"
    assert clean("projects/p/locations/eu/publishers/google/models/gemini-2.5-pro@default") == "gemini-2.5-pro"
    assert clean("accounts/fireworks/models/x") == "accounts/fireworks/models/x"
    for bad in ("", " ", "a\tb", "a" * 257):
        with pytest.raises(UnknownNameError, match="bad model name"):
            clean(bad)


@pytest.mark.parametrize(
    "name",
    [
        "claude-sonnet-4-5-v9",
        "gemini-3-flash-preview-99",
        "gemini-2.5-pro-preview-99-99",
        "gemini-2.5-pro-2024",
        "gpt-4o-9999",
        "gpt-4o-20241399",
        "ft:gpt-3.5-turbo-9999:org::id",
    ],
)
def test_what_is_no_date_or_version_is_no_affix(name: str) -> None:
    with pytest.raises(UnknownNameError):
        price_table.find(TABLE, name, None)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", None),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("gemini-2.5-pro-preview-05-06", "gemini-2.5-pro"),
        ("gemini-2.5-pro-exp-03-25", "gemini-2.5-pro"),
        ("gemini-2.5-flash-preview-09-2025", None),
        ("gemini-2.0-flash-001", "gemini-2.0-flash"),
        ("gpt-4o-20240806", "gpt-4o"),
        ("mistral-large-2411", None),
    ],
)
def test_real_dates_and_versions_are_affixes(name: str, model: str | None) -> None:
    found = price_table.find(TABLE, name, None)
    assert found.info is not None
    assert model in (None, found.model)
