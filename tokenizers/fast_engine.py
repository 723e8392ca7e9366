"""The native engine behind the extra ``tokengap[fast]``: fastokens, held to tiktoken's ids.

It counts some ten times as fast as tiktoken, and takes two seconds of CPU to build. So it is built where that
pays: once this process was asked for ``WORTH`` characters of an encoding, or at once by ``prepare``. Until then,
and for what it is not given, the caller counts by its own means; the number is the same.

Before it counts anything, ``fast_engine_build`` has it encode texts whose ids are known. One wrong id, or a
failure at any time, and this process does not use it again: that is logged as a warning, and ``prepare`` says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sized
from typing import NamedTuple

from .encodings import Encoding
from .locks import loading
from .safe_cuts import blocks, published_cut

PACKAGE = "fastokens"
ENCODINGS = ("o200k_base", "cl100k_base")
"""The rank files it is used with."""

WORTH = 24_000_000
"""Characters that take about as long to count by other means as the engine takes to build."""

LARGEST = 1 << 16
"""UTF-8 bytes of the largest piece the engine is given. It spreads larger ones over threads of its own, which a
fork would lose; and pieces that stay in the processor's cache are counted twice as fast."""

_PIECE = LARGEST // 4 - 200
"""Characters after which a place to cut is looked for: mostly there is one before the piece can be too large."""

Encode = Callable[[str], Sized]
Otherwise = Callable[[str, Encoding], int]


class State(NamedTuple):
    """Whether the engine counts an encoding, and where it does not, why."""

    used: bool
    reason: str


class Engine:
    """The engine for one rank file: at most one of ``encode``, checked, and ``problem`` is set."""

    def __init__(self) -> None:
        self.asked = 0  # characters; threads may lose some in adding, which does no harm
        self.encode: Encode | None = None
        self.problem = ""


engines = {name: Engine() for name in ENCODINGS}


def count(text: str, encoding: Encoding, otherwise: Otherwise) -> int:
    """Count a text: by the engine what it is used for, by ``otherwise`` the rest of it or all.

    What it is not used for is a stretch of more than ``LARGEST`` bytes without a place to cut it. Raises
    UnicodeEncodeError for a text that is not well-formed, which the engine finds sooner than a check before it would.
    """
    engine = engines.get(encoding.ranks.name)
    encode = engine and (engine.encode or _built(engine, encoding, len(text)))
    if not encode:
        return otherwise(text, encoding)
    try:
        if len(text) <= _PIECE or (len(text) <= LARGEST and text.isascii()):
            return len(encode(text))
        return sum(len(encode(piece)) if _is_small(piece) else otherwise(piece, encoding) for piece in pieces(text))
    except (KeyboardInterrupt, SystemExit, MemoryError, UnicodeEncodeError):
        raise
    except BaseException as error:  # a panic of native code is no Exception
        give_up(encoding, f"it failed: {type(error).__name__}: {error}")
        return otherwise(text, encoding)


def prepare(encoding: Encoding) -> State:
    """Build and check the engine now, unless that was done, and say whether it is used."""
    engine = engines.get(encoding.ranks.name)
    if engine is None:
        return State(False, f"{PACKAGE} is used with the vocabularies of {' and '.join(ENCODINGS)} alone")
    with loading:
        from .fast_engine_build import build

        build(engine, encoding)
    return State(engine.encode is not None, engine.problem)


def pieces(text: str, size: int = _PIECE) -> Iterator[str]:
    """Cut a text into pieces of a few characters more than ``size``, where there is a place to cut it."""
    return blocks(text, size, published_cut)


def give_up(encoding: Encoding, problem: str) -> None:
    """Never use the engine for this encoding again, and say so."""
    from logging import getLogger

    name = encoding.ranks.name
    engines[name].encode, engines[name].problem = None, problem
    used = f"{PACKAGE} {installed_version()} is not used for {name}"
    getLogger("tokengap").warning("%s, since %s; the counts come from another engine", used, problem)


def installed_version() -> str | None:
    """The version of the engine's package."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return None


def _built(engine: Engine, encoding: Encoding, size: int) -> Encode | None:
    """The engine once it is worth building; while one thread builds it, the others count by other means."""
    engine.asked += size
    if engine.asked >= WORTH and not engine.problem and loading.acquire(blocking=False):
        try:
            from .fast_engine_build import build

            build(engine, encoding)
        finally:
            loading.release()
    return engine.encode


def _is_small(piece: str) -> bool:
    return 4 * len(piece) <= LARGEST or len(piece.encode()) <= LARGEST
