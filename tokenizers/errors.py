"""The errors a caller may want to catch. Each carries one sentence that says what to do."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST_SHOWN = 80  # characters of a wrong name that a message repeats


class TokengapError(ValueError):
    """Input that tokengap refuses: exit code 2 on the command line, a 4xx over HTTP."""


class UnknownNameError(TokengapError):
    """A counter, encoding or model that nobody has registered.

    ``suggestions`` are the nearest known names, best first, possibly none.
    """

    def __init__(self, message: str, name: str, suggestions: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.name = name
        self.suggestions = tuple(suggestions)


def unknown_name(what: str, name: str, known: Iterable[str], advice: str) -> UnknownNameError:
    """Build the error for an unknown ``what`` ("counter", "model"), naming its nearest relatives."""
    from difflib import get_close_matches

    short = name if len(name) <= LONGEST_SHOWN else f"{name[:LONGEST_SHOWN]}..."
    near = get_close_matches(short.lower(), sorted(known), n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return UnknownNameError(f"unknown {what} {short!r}: {hint}{advice}", name, near)
