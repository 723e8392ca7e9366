"""The settings of the HTTP service, read from environment variables that begin with ``TOKENGAP_``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

COUNTERS = (
    "o200k_base",
    "o200k_harmony",
    "cl100k_base",
    "p50k_base",
    "p50k_edit",
    "r50k_base",
    "gpt2",
    "model",
    "words",
    "chars",
    "bytes",
)
"""What may be counted with unless settings say otherwise: nothing here ever opens a file of the caller's choice."""

Words = Annotated[tuple[str, ...], NoDecode]


class Settings(BaseSettings):
    """Every setting has a default that is safe on an open port; lists are written with commas."""

    model_config = SettingsConfigDict(env_prefix="TOKENGAP_", extra="ignore", frozen=True)

    counters: Words = Field(
        default=COUNTERS, description="names of the counters that may be used; a spec begins with one"
    )
    preload: Words = Field(
        default=("o200k_base", "cl100k_base"), description="counters loaded before the service is ready"
    )
    prices: Path | None = Field(default=None, description="a price file that goes before the public table")
    price_data: Path | None = Field(default=None, description="newer public prices, in genai-prices' data format")

    max_body_bytes: int = Field(default=4 * 2**20, ge=1, description="the longest body; a longer one is answered 413")
    max_texts: int = Field(default=1000, ge=1, description="the most texts in one request")
    max_text_chars: int = Field(default=2_000_000, ge=1, description="the most characters to count, times the counters")
    max_tokenize_chars: int = Field(default=100_000, ge=1, description="the most characters of which tokens are shown")
    max_values: int = Field(default=50_000, ge=1, description="the most JSON values in a chat request")
    max_buffered_bytes: int = Field(default=64 * 2**20, ge=1, description="all bodies held at a time; beyond, 503")
    body_seconds: float = Field(default=10, gt=0, description="how long a body may take to arrive; then 408")
    work_seconds: float = Field(default=10, gt=0, description="how long a request may wait and be worked on; then 503")
    threads: int = Field(default_factory=lambda: max(os.cpu_count() or 1, 2), ge=1, description="for long work")
    queue: int = Field(default=16, ge=0, description="long requests that may wait for a thread; beyond, 503")
    inline_bytes: int = Field(default=32 * 2**10, ge=0, description="bodies up to this are answered without a thread")
    connections: int = Field(default=2048, ge=1, description="connections a worker holds; beyond, 503")
    shutdown_seconds: int = Field(default=30, ge=0, description="how long running requests may finish at shutdown")

    api_keys: Annotated[tuple[SecretStr, ...], NoDecode] = Field(
        default=(), description="keys, one of which a caller needs"
    )
    api_keys_file: Path | None = Field(default=None, description="a file with more keys, one a line, # for comments")
    rate_limit: str | None = Field(default=None, description="requests per key (or address), such as '600/minute'")
    redis_url: SecretStr | None = Field(
        default=None, description="a Redis that shares the rate limit, redis://host:6379/0"
    )
    cors_origins: Words = Field(default=(), description="origins that browsers may call from; none by default")
    trusted_proxies: str = Field(default="127.0.0.1", description="addresses whose X-Forwarded-For is believed")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="info logs every request"
    )

    @field_validator("counters", "preload", "api_keys", "cors_origins", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("rate_limit")
    @classmethod
    def _readable(cls, value: str | None) -> str | None:
        from limits import parse

        if value is not None:
            parse(value)
        return value

    def keys(self) -> tuple[str, ...]:
        """All keys, of the environment and of the file."""
        keys = [key.get_secret_value() for key in self.api_keys]
        if self.api_keys_file:
            lines = (line.strip() for line in self.api_keys_file.read_text(encoding="utf-8").splitlines())
            keys += [line for line in lines if line and not line.startswith("#")]
        return tuple(keys)
