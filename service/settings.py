"""The settings of the HTTP service, read from environment variables that begin with ``TOKENGAP_``."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from ..tokenizers.errors import TokengapError
from ..tokenizers.registry import BUILT_IN, plugins

OPENS_FILES = frozenset({"bpe"})
"""Counters whose spec names a file, which over HTTP a caller would choose: refused, whatever the settings say."""

COUNTERS = tuple(name for name in BUILT_IN if name not in OPENS_FILES)
"""What may be counted with unless settings say otherwise."""

PREFIX = "TOKENGAP_"

NO_KEY = "no key is in it, which would let anybody in; unset it where no key is needed"
"""What is wrong where keys are set and there are none."""

Words = Annotated[tuple[str, ...], NoDecode]

_ORIGIN = re.compile(
    r"(?!http://.*:80$|https://.*:443$)[a-z][a-z0-9+.-]*://([a-z0-9_.-]+|\[[0-9a-f:.]+\])(:[1-9][0-9]*)?"
)


class Settings(BaseSettings):
    """Every setting has a default that is safe on an open port; lists are written with commas."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", frozen=True, env_ignore_empty=True)

    counters: Words = Field(
        default=COUNTERS, description="names of the counters that may be used; a spec begins with one"
    )
    preload: Words = Field(
        default=("o200k_base", "cl100k_base"),
        description="counters loaded before the service is ready; of the default, those that may be used",
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

    @field_validator("api_keys", mode="before")
    @classmethod
    def _some_key(cls, value: Any) -> Any:
        if isinstance(value, str) and not value.strip(" ,"):
            raise ValueError(NO_KEY)
        return value

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
        offered = tuple(spec for spec in self.preload if spec.partition(":")[0] in self.counters)
        if "preload" not in self.model_fields_set:  # of the default, those that are offered; frozen from here on
            object.__setattr__(self, "preload", offered)
        for spec in self.preload:
            if spec not in offered:
                raise ValueError(f"preload names {spec!r}, which is not among the counters")
        return self

    @field_validator("rate_limit")
    @classmethod
    def _one_limit(cls, value: str | None) -> str | None:
        from limits import parse_many

        if value is not None:
            try:
                amounts = [limit.amount for limit in parse_many(value)]
            except ValueError:
                amounts = []
            if len(amounts) != 1 or amounts[0] < 1:
                raise ValueError(f"{value!r} is not one limit, such as '600/minute' or '10 per second'")
        return value

    @field_validator("redis_url")
    @classmethod
    def _redis_address(cls, value: SecretStr | None) -> SecretStr | None:
        from redis.connection import parse_url

        url = value.get_secret_value() if value else None
        if url is not None:
            with suppress(ValueError):
                given = parse_url(url)  # type: ignore[no-untyped-call]
                if url.startswith(("redis://", "rediss://")) and given.get("host"):
                    return value
            raise ValueError("this is not the address of a Redis, such as redis://:PASSWORD@HOST:6379/0")
        return value

    @field_validator("cors_origins")
    @classmethod
    def _origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for origin in value:
            if origin != "*" and not _ORIGIN.fullmatch(origin):
                raise ValueError(
                    f"{origin!r} is no origin as browsers send it, such as https://app.example or "
                    "http://localhost:3000: in small letters, without a path or the scheme's own port; or * for any"
                )
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _addresses(cls, value: str) -> str:
        for part in value.split(","):
            try:
                ip_network(part.strip()) if part.strip() != "*" else None
            except ValueError as error:
                raise ValueError(f"{error}; write addresses and networks with commas: 10.0.0.7,172.16.0.0/12") from None
        return value

    def keys(self) -> tuple[str, ...]:
        """All keys, of the environment and of the file. Raises TokengapError for a file that gives none."""
        keys = [key.get_secret_value() for key in self.api_keys]
        if self.api_keys_file:
            keys += _keys_in(self.api_keys_file)
        return tuple(keys)


def _keys_in(file: Path) -> list[str]:
    where = f"bad setting {PREFIX}API_KEYS_FILE: {file}"
    try:
        lines = [line.strip() for line in file.read_text(encoding="utf-8-sig").splitlines()]
    except OSError as error:
        raise TokengapError(f"{where}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise TokengapError(f"{where}: byte {error.start} is not UTF-8") from None
    keys = [line for line in lines if line and not line.startswith("#")]
    if not keys:
        raise TokengapError(f"{where}: {NO_KEY}")
    return keys
