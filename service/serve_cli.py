"""``tokengap serve``: the HTTP service, until it is told to stop."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NoReturn

from ..tokenizers.errors import TokengapError

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from .cli import Parser
    from .settings import Settings

PACKAGES = ("fastapi", "uvicorn", "httptools", "pydantic_settings", "prometheus_client", "limits", "redis")
"""What the extra ``serve`` installs and a plain installation does not have."""

KEEP_ALIVE_SECONDS = 75
"""Longer than proxies keep idle connections, so that it is they who close them and no request meets a closed one."""

_EXAMPLES = """
examples:
  tokengap serve
  TOKENGAP_API_KEYS=key1,key2 TOKENGAP_RATE_LIMIT=600/minute tokengap serve --host 0.0.0.0 --workers 2

Every other setting is an environment variable; docs/http.md lists them.
"""


def add_parsers(commands: _SubParsersAction[Parser]) -> None:
    """Add the command."""
    serving = commands.add_parser("serve", description="Answer over HTTP, until stopped.", epilog=_EXAMPLES)
    serving.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    serving.add_argument("--port", type=_port, default=8000, help="the port (default: %(default)s)")
    serving.add_argument("--workers", type=_workers, default=1, metavar="N", help="processes (default: %(default)s)")
    serving.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serve; the exit code is 0 after a stop that was asked for."""
    settings = _settings()
    signal.signal(signal.SIGTERM, _stop)  # uvicorn finishes what runs, then raises the signal again
    if args.workers == 1:
        _serve(args, settings)
        return 0
    with tempfile.TemporaryDirectory(prefix="tokengap-metrics-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder  # how prometheus-client adds workers up
        _serve(args, settings)
    return 0


def _serve(args: argparse.Namespace, settings: Settings) -> None:
    import uvicorn

    from .telemetry import log_config

    _allow_files(2 * settings.connections + 100)
    uvicorn.run(
        "tokengap.service.app:create_app",
        factory=True,
        http="tokengap.service.connections:Connection",
        host=args.host,
        port=args.port,
        workers=args.workers,
        ws="none",
        access_log=False,
        log_config=log_config(settings.log_level),
        server_header=False,
        forwarded_allow_ips=settings.trusted_proxies,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=settings.shutdown_seconds,
    )


def _settings() -> Settings:
    for package in PACKAGES:
        if find_spec(package) is None:
            raise TokengapError(f"the HTTP service needs {package}; install it with: pip install 'tokengap[serve]'")
    from pydantic import ValidationError

    from .routes import Operations
    from .settings import Settings

    try:
        settings = Settings()
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = f"bad setting TOKENGAP_{str(first['loc'][0]).upper()}" if first["loc"] else "bad settings"
        raise TokengapError(f"{where}: {first['msg'].removeprefix('Value error, ')}") from None
    settings.keys()
    Operations(settings)  # a wrong price file is said here, once, rather than by every worker
    return settings


def _allow_files(number: int) -> None:
    """Raise the limit of open files, as far as this is allowed: each connection is one."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number if hard == resource.RLIM_INFINITY else min(number, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _stop(*_: Any) -> NoReturn:
    sys.exit(0)


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text[:6]) <= 65535:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a port, 0 to 65535")


def _workers(text: str) -> int:
    if text.isascii() and text.isdigit() and 1 <= int(text[:4]) <= 256:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number of processes, 1 to 256")
