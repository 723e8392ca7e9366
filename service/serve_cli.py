"""``tokengap serve``: the HTTP service, until it is told to stop."""

from __future__ import annotations

import argparse
import errno
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NoReturn

from ..tokenizers.errors import TokengapError

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from .cli import Parser
    from .routes import Operations
    from .settings import Settings

PACKAGES = ("fastapi", "uvicorn", "httptools", "pydantic_settings", "prometheus_client", "limits", "redis")
"""What the extra ``serve`` installs and a plain installation does not have."""

KEEP_ALIVE_SECONDS = 75
"""Longer than proxies keep idle connections, so that it is they who close them and no request meets a closed one."""

FAILED = 3
"""The exit code where the service failed at its start for no fault of who started it."""

_EXAMPLES = """
examples:
  tokengap serve
  TOKENGAP_API_KEYS=key1,key2 TOKENGAP_RATE_LIMIT=600/minute tokengap serve --host 0.0.0.0 --workers 2

Every other setting is an environment variable; docs/deploy.md lists them.
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
    with ExitStack() as stack:
        sockets = [stack.enter_context(listener) for listener in listeners(args.host, args.port)]
        _check(settings)
        signal.signal(signal.SIGTERM, _stop)  # uvicorn finishes what runs, then raises the signal again
        if args.workers > 1:
            # How prometheus-client adds workers up.
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tokengap-metrics-"))
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        return _serve(args, settings, sockets)


def _serve(args: argparse.Namespace, settings: Settings, sockets: list[socket.socket]) -> int:
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    from .telemetry import log, log_config

    _allow_files(2 * settings.connections + 100)
    config = uvicorn.Config(
        "tokengap.service.app:create_app",
        factory=True,
        http="tokengap.service.connections:Connection",
        workers=args.workers,
        ws="none",
        access_log=False,
        log_config=log_config(settings.log_level),
        server_header=False,
        forwarded_allow_ips=settings.trusted_proxies,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=settings.shutdown_seconds,
    )
    for listener in sockets:
        host, port, *_ = listener.getsockname()
        log.info("listening", extra={"fields": {"host": host, "port": port}})
    if args.workers > 1:
        Multiprocess(config, sockets).run()
        return 0
    server = uvicorn.Server(config)
    with suppress(KeyboardInterrupt):
        server.run(sockets)
    return 0 if server.started else FAILED


def listeners(host: str, port: int) -> list[socket.socket]:
    """A socket for each address of a host, all with one port. Raises TokengapError where they cannot be had.

    An address that this machine has not is passed over where the name has others: ``localhost`` often has ::1.
    """
    bound: list[socket.socket] = []
    absent: OSError | None = None
    try:
        for family, *_, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE):
            try:
                bound.append(_bound(family, (address[0], port, *address[2:])))
                port = bound[0].getsockname()[1]
            except OSError as error:
                if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                    raise
                absent = error
        if absent and not bound:
            raise absent
    except (OSError, UnicodeError) as error:
        for listener in bound:
            listener.close()
        reason = (isinstance(error, OSError) and error.strerror) or "this is no name of a host"
        raise TokengapError(f"cannot listen on {host}, port {port}: {reason}; see --host and --port") from None
    return bound


def _bound(family: int, address: tuple[Any, ...]) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere this lets two services have one port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(address)
    except OSError:
        listener.close()
        raise
    return listener


def _settings() -> Settings:
    for package in PACKAGES:
        if find_spec(package) is None:
            raise TokengapError(f"the HTTP service needs {package}; install it with: pip install 'tokengap[serve]'")
    from .environment import read_settings

    return read_settings()


def _check(settings: Settings) -> None:
    """Refuse what no worker could start with: keys and prices that cannot be read, counters that cannot be made."""
    settings.keys()
    _check_preload(settings, _operations(settings))


def _operations(settings: Settings) -> Operations:
    """What a wrong price file is said by here, once, rather than by every worker."""
    from ..estimators.price_book import load_book
    from .routes import Operations

    with _naming("prices"):
        load_book(None, settings.prices)
    with _naming("price_data"):
        return Operations(settings)


@contextmanager
def _naming(setting: str) -> Iterator[None]:
    """Have what is said of a file name the setting that names the file."""
    from .environment import bad_setting

    try:
        yield
    except TokengapError as error:
        raise bad_setting(setting, str(error)) from None


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


def _check_preload(settings: Settings, operations: Operations) -> None:
    """Refuse counters to load that cannot be made: the service would never be ready."""
    from .environment import bad_setting
    from .problems import Problem

    for spec in settings.preload:
        try:
            operations.counter(spec, "")
        except Problem as problem:
            raise bad_setting("preload", problem.detail) from None


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
