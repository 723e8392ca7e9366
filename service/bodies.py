"""The bodies that the HTTP service takes, as OpenAPI shows them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ..estimators.comparison import DEFAULT_BASELINE
from ..estimators.request_settings import named_model
from ..tokenizers.registry import DEFAULT_COUNTER

Spec = Annotated[str, Field(min_length=1, max_length=300)]


def _whole(value: object) -> object:
    """JSON has one kind of number: 1.0 is as whole as 1."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Integer = Annotated[int, BeforeValidator(_whole)]
Whole = Annotated[Integer, Field(ge=0, le=10**15)]
Short = Annotated[str, Field(max_length=300)]
Texts = Annotated[list[str], Field(fail_fast=True)]
TokenId = Annotated[int, Field(ge=0, le=2**31 - 1)]
Request = Annotated[Any, Field(json_schema_extra={"type": ["object", "array", "string"]})]
Unit = Literal["input", "output"]

_REQUEST = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello, how are you?"}]}


def examples(*bodies: dict[str, Any], one_of: tuple[str, ...] = ()) -> ConfigDict:
    """Examples, and the sets of members, written with spaces, of which a body has exactly one."""
    schema: dict[str, Any] = {"examples": list(bodies)}
    if one_of:
        schema["oneOf"] = [{"required": names.split()} for names in one_of]
    return ConfigDict(extra="forbid", strict=True, frozen=True, json_schema_extra=schema)


class Body(BaseModel):
    """What every body has in common. Names that a body does not have are refused."""

    model_config = examples()

    def specs(self) -> tuple[str, ...]:
        """The counters the body names, or those it means."""
        return ()

    def weight(self, size: int) -> int:
        """How much work it is, as bytes of plain text counted once."""
        return size


class PricedBody(Body):
    """What says which prices hold."""

    price: Short | None = Field(
        None,
        description="a price per million tokens instead of the model's, 'in=3,out=15 USD'",
        json_schema_extra={"pattern": r"[A-Za-z]{3}(/1M)?\s*$"},
    )
    as_of: Short | None = Field(
        default=None,
        description="prices of that time, 2026-11-30T12:00:00Z, or of a day; default: now",
        json_schema_extra={"pattern": r"^\s*[0-9]{4}-?[0-9W]"},
    )


class CountBody(PricedBody):
    """Texts, or one chat request, to count. Exactly one of ``input`` and ``request``."""

    model_config = examples(
        {"input": "Hello, how are you today?", "counters": ["o200k_base", "words:4/3"]},
        {"input": ["one text", "another"], "model": "gpt-4o"},
        {"request": _REQUEST},
        one_of=("input", "request"),
    )

    input: str | Texts = Field(default_factory=list, description="a text or several")
    request: Request = Field(
        default=None, description="a request to a chat model, in OpenAI's, Anthropic's or Google's shape"
    )
    counters: Annotated[list[Spec], Field(fail_fast=True)] = Field(
        default_factory=list, min_length=1, max_length=16, description=f"what to count with; default: {DEFAULT_COUNTER}"
    )
    model: Spec | None = Field(default=None, description="count with this model's encoding, and price it")
    unit: Unit = Field(default="input", alias="as", description="price the tokens as this")

    def specs(self) -> tuple[str, ...]:
        """The counters named, or else that of the model which the request names, or else the default for texts."""
        named = (f"model:{self.model}",) if self.model else ()
        if not self.counters and not named and self.request is not None:
            own = named_model(self.request)
            return (f"model:{own}",) if own else ()
        return tuple(dict.fromkeys((*self.counters, *named))) or (DEFAULT_COUNTER,)

    def weight(self, size: int) -> int:
        # A request is read field by field, which takes longer than its texts do.
        return size * (len(self.counters) + 1) * (4 if self.request is not None else 1)


class CompareBody(CountBody):
    """As for a count, with the naive estimate to compare with."""

    model_config = examples(
        {"input": "Order 778301 never came", "model": "gpt-4o", "calls": 200_000, "per": "month"},
        {"input": "How much is this?", "counters": ["cl100k_base"], "baseline": "words:4/3"},
        one_of=("input", "request"),
    )

    baseline: Spec = Field(default=DEFAULT_BASELINE, description="the naive estimate")
    calls: Annotated[Integer, Field(ge=1, le=10**15)] | None = Field(
        default=None, description="price the gap for so many calls"
    )
    per: Literal["hour", "day", "week", "month", "year"] = Field(
        default="month", description="the period of those calls"
    )

    def weight(self, size: int) -> int:
        return super().weight(size) * 8  # every word is counted alone as well


class TokenizeBody(Body):
    """Texts whose tokens are shown, under one counter."""

    model_config = examples({"input": "Hello, world", "counter": "o200k_base"})

    input: str | Texts = Field(description="a text or several")
    counter: Spec | None = Field(default=None, description=f"an encoding; default: the model's, or {DEFAULT_COUNTER}")
    model: Spec | None = Field(default=None, description="tokenize as this model does")

    def specs(self) -> tuple[str, ...]:
        return (self.counter or (f"model:{self.model}" if self.model else DEFAULT_COUNTER),)

    def weight(self, size: int) -> int:
        return size * 8


class FitBody(Body):
    """A text or a request that is to fit a model, with room for its answer."""

    model_config = examples(
        {"model": "gpt-4o", "input": "Summarise this.", "output_tokens": 500},
        {"model": "gpt-4o", "request": _REQUEST},
        one_of=("input model", "request"),
    )

    model: Spec | None = Field(default=None, description="the model; default: the one the request names")
    input: str | None = Field(default=None, description="the text")
    request: Request = Field(default=None, description="a whole request instead of a text")
    counter: Spec | None = Field(default=None, description="count with this instead of the model's own encoding")
    output_tokens: Whole | None = Field(default=None, description="the length of the answer to leave room for")
    answer: str | None = Field(default=None, description="a sample answer: leave room for it, show where it is cut off")

    def specs(self) -> tuple[str, ...]:
        model = self.model or named_model(self.request)
        return (self.counter,) if self.counter else (f"model:{model}",) if model else ()

    def weight(self, size: int) -> int:
        return size * 4


class CostBody(PricedBody):
    """What one call, or a month of calls, costs: by its counts, a request, or a provider's usage object."""

    model_config = examples(
        {"model": "gpt-4o", "input_tokens": 1000, "output_tokens": 100},
        {"model": "gpt-4o", "request": _REQUEST, "output_tokens": 300, "calls": 200_000},
        {"usage": {"model": "gpt-4o", "usage": {"prompt_tokens": 1000, "completion_tokens": 100}}},
    )

    model: Spec | None = Field(default=None, description="the model")
    provider: Short | None = Field(default=None, description="who serves it, such as azure or bedrock")
    request: Request = Field(default=None, description="a request whose input tokens are counted")
    counter: Spec | None = Field(default=None, description="count the request with this, not the model's own encoding")
    input_tokens: Whole | None = Field(default=None, description="all tokens sent, cached ones included")
    output_tokens: Whole | Short | None = Field(
        default=None, description="all tokens received; with calls also 100/300/900"
    )
    cache_read: Whole | None = Field(default=None, description="of the input, read from the cache")
    cache_write: Whole | None = Field(default=None, description="of the input, written to the cache")
    cache_write_1h: Whole | None = Field(default=None, description="of what was written, kept for an hour")
    reasoning_tokens: Whole | None = Field(default=None, description="of the output, reasoning")
    usage: dict[str, Any] | None = Field(default=None, description="a provider's usage object, or the response with it")
    usage_format: Literal["openai-chat", "openai-responses", "anthropic", "gemini", "tokengap"] | None = Field(
        default=None, description="whose it is, where its keys do not tell"
    )
    calls: Whole | Short | None = Field(
        default=None, description="calls a month, or least/typical/most as 1000/2000/9000"
    )
    cached_share: Short | None = Field(default=None, description="of the input, read from the cache: 0.6 or 60%")
    words: Whole | None = Field(default=None, description="words of the input, to show the estimate by words beside it")
    words_factor: Short = Field(default="1", description="tokens a word in that estimate")
    variant: Literal["batch", "flex", "priority", "fast", "standard"] | None = Field(
        default=None, description="how it is served; default: as the request says of itself"
    )
    exchange_rate: Short | None = Field(
        default=None, description="show the total in it too: '1 USD = 0.92 EUR @ 2026-11-28'"
    )

    def weight(self, size: int) -> int:
        return size * 4


class VendorBody(Body):
    """A body as a vendor's SDK sends it; what of it can be counted, the estimators know."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    model: Spec | None = Field(default=None, description="the model")

    def specs(self) -> tuple[str, ...]:
        return (f"model:{self.model}",) if self.model else ()

    def weight(self, size: int) -> int:
        return size * 4


class OpenAIBody(VendorBody):
    """Body of OpenAI's ``POST /v1/responses/input_tokens``."""

    model_config = VendorBody.model_config | ConfigDict(
        json_schema_extra={
            "examples": [{"model": "gpt-4o", "input": "Hello, how are you?"}],
            "required": ["model", "input"],
        }
    )

    model: Spec = Field(description="the model")


class AnthropicBody(VendorBody):
    """Body of Anthropic's ``POST /v1/messages/count_tokens``."""

    model_config = VendorBody.model_config | ConfigDict(
        json_schema_extra={
            "examples": [{"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "Hello, Claude"}]}],
            "required": ["model", "messages"],
        }
    )

    model: Spec = Field(description="the model")


class GoogleBody(VendorBody):
    """Body of Google's ``POST /v1beta/models/{model}:countTokens``."""

    model_config = VendorBody.model_config | ConfigDict(
        json_schema_extra={
            "examples": [{"contents": [{"role": "user", "parts": [{"text": "What is your name?"}]}]}],
            "oneOf": [{"required": ["contents"]}, {"required": ["generateContentRequest"]}],
        }
    )


class VllmTokenizeBody(VendorBody):
    """Body of vLLM's ``POST /tokenize``, with a prompt."""

    model_config = VendorBody.model_config | ConfigDict(
        json_schema_extra={"examples": [{"model": "gpt-4o", "prompt": "Hello, world"}]}
    )

    prompt: str = Field(description="the text")
    add_special_tokens: bool = Field(default=True, description="these encodings add none")
    return_token_strs: bool | None = Field(default=None, description="show the tokens as text too")


class VllmDetokenizeBody(VendorBody):
    """Body of vLLM's ``POST /detokenize``."""

    model_config = VendorBody.model_config | ConfigDict(
        json_schema_extra={"examples": [{"model": "gpt-4o", "tokens": [13225, 11, 2375]}]}
    )

    tokens: Annotated[list[TokenId], Field(fail_fast=True)] = Field(description="the ids")
