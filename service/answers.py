"""The answers of the HTTP service, as OpenAPI shows them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Kind = Literal["exact", "reconstructed", "calibrated", "heuristic"]
Interval = Annotated[list[int], Field(min_length=2, max_length=2)] | None


class Answer(BaseModel):
    """Answers may gain members; none is renamed or changes its meaning."""

    model_config = ConfigDict(extra="allow")


class MoneyAnswer(Answer):
    amount: str = Field(description="a decimal, in full")
    currency: str


class RowAnswer(Answer):
    source: str
    counter: str
    tokenizer: str
    tokens: int
    estimate: str | None
    kind: Kind
    interval: Interval
    fingerprint: str
    words: int
    chars: int
    bytes: int
    tokens_per_word: float | None
    bytes_per_token: float | None
    cost: MoneyAnswer | None
    warnings: list[str]


class TotalAnswer(Answer):
    counter: str
    tokens: int
    words: int
    chars: int
    bytes: int
    cost: MoneyAnswer | None


class ReportAnswer(Answer):
    """Counts, as ``tokengap count --json`` prints them."""

    results: list[RowAnswer]
    total: list[TotalAnswer]
    prices: list[dict[str, Any]]


class GapAnswer(Answer):
    baseline: str
    reference: str
    tokens: int
    percent: float | None
    ratio: float | None
    cost: MoneyAnswer | None
    volume: dict[str, Any] | None
    parts: list[dict[str, Any]]


class ComparisonAnswer(ReportAnswer):
    """Counts and the gap between them, as ``tokengap compare --json`` prints them."""

    gap: GapAnswer


class PieceAnswer(Answer):
    """One token. ``text`` is null where it begins or ends inside a character."""

    id: int | None
    text: str | None
    start: int = Field(description="where it begins, in characters of the text")
    end: int = Field(description="where it ends; a character that is split belongs to each of its tokens")
    byte_start: int
    byte_end: int


class TokenizedAnswer(Answer):
    source: str
    counter: str
    tokenizer: str
    fingerprint: str
    kind: Kind
    interval: Interval
    tokens: int
    pieces: list[PieceAnswer]
    warnings: list[str]


class TokenizeAnswer(Answer):
    """The tokens of each text, in order."""

    results: list[TokenizedAnswer]


class FitAnswer(Answer):
    """Whether it fits, as ``tokengap fit --json`` prints it."""

    model: str
    fits: bool | None
    tokens: int
    output_tokens: int
    context_window: int | None
    max_input: int | None
    max_output: int | None
    left: int | None
    must_cut: int | None
    answer_room: int | None
    tokenizer: str
    fingerprint: str
    kind: Kind
    interval: Interval
    not_counted: list[str]
    answer: dict[str, Any] | None
    sources: dict[str, str]
    warnings: list[str]


class CostAnswer(Answer):
    """A bill, as ``tokengap cost --json`` prints it."""

    status: Literal["priced", "free", "unpriced", "partial"]
    model: str | None
    total: MoneyAnswer | None
    subtotal: MoneyAnswer | None
    currency: str | None
    lines: list[dict[str, Any]]
    usage: dict[str, Any]
    as_of: str
    source: dict[str, Any]
    warnings: list[str]


class CountersAnswer(Answer):
    counters: list[dict[str, Any]]


class ModelAnswer(Answer):
    model: str
    encoding: str | None
    published: bool | None
    context_window: int | None
    max_input: int | None
    max_output: int | None
    sources: dict[str, str]
    warnings: list[str]


class ModelsAnswer(Answer):
    models: list[ModelAnswer]


class PricesAnswer(Answer):
    """Prices per million tokens, or without a pattern the providers; as ``tokengap prices --json`` prints them."""

    prices: list[dict[str, Any]] | None = None
    providers: dict[str, int] | None = None
    as_of: str
    source: dict[str, Any]


class OpenAIAnswer(Answer):
    object: Literal["response.input_tokens"]
    input_tokens: int


class AnthropicAnswer(Answer):
    input_tokens: int


class GoogleAnswer(Answer):
    total_tokens: int = Field(alias="totalTokens")


class GoogleModelsAnswer(Answer):
    """A page of models; without ``nextPageToken`` the last one."""

    models: list[dict[str, Any]]
    next_page_token: str | None = Field(default=None, alias="nextPageToken")


class VllmTokenizeAnswer(Answer):
    count: int
    max_model_len: int | None
    tokens: list[int]
    token_strs: list[str] | None


class VllmDetokenizeAnswer(Answer):
    prompt: str


class StateAnswer(Answer):
    status: str


class FaultAnswer(Answer):
    pointer: str = Field(description="a JSON pointer into the body")
    detail: str


class ProblemAnswer(Answer):
    """An error, after RFC 9457. ``type`` is stable."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: list[FaultAnswer] = Field(default_factory=list)
