"""The errors a caller may want to catch. Each carries one sentence that says what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

LONGEST_SHOWN = 80  # characters of a wrong name that a message repeats
MOST_SUGGESTED = 3


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


def unknown_name(
    what: str, name: str, known: Iterable[str], advice: str, looked_up: str | None = None
) -> UnknownNameError:
    """Build the error for an unknown ``what`` ("counter", "model"), naming its nearest relatives.

    ``looked_up`` is the name without what was taken off it.
    """
    short = name if len(name) <= LONGEST_SHOWN else f"{name[:LONGEST_SHOWN]}..."
    near = _nearest((looked_up or name)[:LONGEST_SHOWN].lower(), sorted(set(known)))
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return UnknownNameError(f"unknown {what} {short!r}: {hint}{advice}", name, near)


def _nearest(name: str, known: Sequence[str]) -> list[str]:
    """Names that begin as this one does, or this one as they do, before those that look like it."""
    from difflib import get_close_matches

    longer = [other for other in known if name and other.lower().startswith(f"{name}-")]
    shorter = [other for other in known if name.startswith((f"{other.lower()}-", f"{other.lower()}."))]
    close = get_close_matches(name, known, n=MOST_SUGGESTED, cutoff=0.6)
    found = (*sorted(longer, key=len)[:1], *sorted(shorter, key=len)[-1:], *close)
    return list(dict.fromkeys(found))[:MOST_SUGGESTED]
