"""The settings as the environment gives them: nothing in it that is meant for the service is passed over."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from pydantic import ValidationError

from ..tokenizers.errors import LONGEST_SHOWN, TokengapError
from .settings import NO_KEY, PREFIX, Settings

OTHERS = frozenset({"workers", "config", "baseline", "package"})
"""Names of the files that come with tokengap: of docker-compose.yml, and of the template for GitLab."""

TESTS = frozenset({"cases", "shared", "slow", "system", "texts", "update_docs", "update_golden"})
"""Names of its tests and benchmarks."""

_LINK = re.compile(r"(\w+_)?(SERVICE_(HOST|PORT(_\w+)?)|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)")
"""What Kubernetes, and Docker's links, set in every container beside a service whose name begins with "tokengap"."""


def read_settings() -> Settings:
    """The settings of this process's environment. Raises TokengapError for a name or a value that cannot be meant."""
    given = dict(_given(os.environ))
    for name in given:
        _check_name(name)
    for name in ("api_keys", "api_keys_file"):
        if given.get(name) == "":
            raise bad_setting(name, NO_KEY)
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        message = str(first["msg"]).removeprefix("Value error, ")
        raise bad_setting(str(first["loc"][0]) if first["loc"] else None, message) from None


def bad_setting(name: str | None, message: str) -> TokengapError:
    """The error that names a setting, or no one of them."""
    return TokengapError(f"bad setting {PREFIX}{name.upper()}: {message}" if name else f"bad settings: {message}")


def _given(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Names after the prefix in small letters, as pydantic reads them, with their values."""
    for variable, value in environment.items():
        name = variable.upper()
        if name.startswith(PREFIX) and not _is_link(name.removeprefix(PREFIX), value):
            yield name.removeprefix(PREFIX).lower(), value


def _is_link(name: str, value: str) -> bool:
    return bool(_LINK.fullmatch(name)) and (not name.endswith("PORT") or "SERVICE_" in name or "://" in value)


def _check_name(name: str) -> None:
    known = Settings.model_fields
    if name in known or name in OTHERS or name in TESTS:
        return
    near = get_close_matches(name, (*known, *OTHERS), n=1, cutoff=0.6)
    hint = f"did you mean {PREFIX}{near[0].upper()}? " if near else ""
    if name in ("host", "port"):
        hint = f"say --{name}; "
    raise TokengapError(
        f"no setting has the name {PREFIX}{name[:LONGEST_SHOWN].upper()}: {hint}docs/deploy.md lists them"
    )
