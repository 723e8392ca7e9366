"""The settings of the HTTP service, read from environment variables that begin with ``TOKENGAP_``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from ..tokenizers.registry import BUILT_IN, plugins

OPENS_FILES = frozenset({"bpe"})
"""Counters whose spec names a file, which over HTTP a caller would choose: refused, whatever the settings say."""

COUNTERS = tuple(name for name in BUILT_IN if name not in OPENS_FILES)
"""What may be counted with unless settings say otherwise."""

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

    @field_validator("counters")
    @classmethod
    def _safe(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if name in OPENS_FILES:
                raise ValueError(f"{name!r} opens files of the caller's choice, and is never offered over HTTP")
            if name not in BUILT_IN and name not in plugins():
                raise ValueError(f"no counter has the name {name!r}; 'tokengap counters' lists them")
        return value

    @model_validator(mode="after")
    def _loadable(self) -> Self:
        for spec in self.preload:
            if spec.partition(":")[0] not in self.counters:
                raise ValueError(f"preload names {spec!r}, which is not among the counters")
        return self

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
