"""What a counter is, and what it says of a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, runtime_checkable

from .errors import TokengapError

if TYPE_CHECKING:
    from fractions import Fraction

Kind = Literal["exact", "reconstructed", "calibrated", "heuristic"]
"""How good a count is, best first.

exact: what the named tokenizer itself produces. reconstructed: a rule that reproduces the
provider's published counts. calibrated: an estimate with a measured error. heuristic: a rule of
thumb without one.
"""

KINDS: tuple[Kind, ...] = ("exact", "reconstructed", "calibrated", "heuristic")


def weakest(kinds: Iterable[Kind]) -> Kind:
    """How good several counts are together: as good as the weakest of them.

    >>> weakest(["exact", "reconstructed"])
    'reconstructed'
    """
    return max(kinds, key=KINDS.index, default="exact")


WARNINGS: dict[str, str] = {
    "uncalibrated": "no measured error stands behind this estimate, so it has no interval",
    "lone_surrogate": "a lone surrogate is not a character; it was counted as U+FFFD",
    "unknown_characters": "characters outside the tokenizer's alphabet; each was counted as one unknown token",
    "assumed_tokenizer": "counted with another tokenizer than this model's own, which is not published, not included, "
    "or not the one that was asked for",
    "not_counted": "parts of the request are not in the count; not_counted names them",
    "image_size_unknown": "the size of an image cannot be seen in the request; the most it can cost was counted, "
    "or nothing where that has no bound, and not_counted names it",
}


class Count(NamedTuple):
    """How many tokens one text is, under which tokenizer, and how good that number is.

    ``estimate`` is the exact rational value of a rule of thumb, of which ``tokens`` is the ceiling;
    money is computed from it. ``interval`` is ``None`` where the count is exact or nothing measured
    backs one. ``fingerprint`` identifies the tokenizer's vocabulary, pattern and special tokens.
    """

    tokens: int
    tokenizer: str
    fingerprint: str
    kind: Kind
    estimate: Fraction | None = None
    interval: tuple[int, int] | None = None
    warnings: tuple[str, ...] = ()


def added(one: Count, other: Count) -> Count:
    """The count of a text of which these are the counts of two parts, by a counter whose counts add up."""
    if one.estimate is None or other.estimate is None:
        tokens, estimate = one.tokens + other.tokens, None
    else:
        estimate = one.estimate + other.estimate
        tokens = -(-estimate.numerator // estimate.denominator)
    warnings = tuple(dict.fromkeys(one.warnings + other.warnings))
    return one._replace(tokens=tokens, estimate=estimate, interval=None, warnings=warnings)


def adds_up(counter: Counter) -> bool:
    """Whether the counts of the parts of a text add up to its count, where it is cut as in ``safe_cuts``.

    A counter says so by a property of that name; of one that says nothing it is not known.
    """
    return bool(getattr(counter, "adds_up", False))


def check_counter(counter: object) -> None:
    """Raise TokengapError for what is no counter, such as the name of one."""
    if not isinstance(counter, Counter):
        raise TokengapError(f"{counter!r:.60} is no counter: get one with get_counter('o200k_base')")


def prepare(counter: Counter, characters: int | None = None) -> None:
    """Have a counter load at once what it counts so many characters with; without a number, what it counts any with.

    For processes that know they will count much, or that answer many and none of them late. A counter that has
    nothing to load has no method of that name. Raises TokengapError for what is no counter, or no number.
    """
    check_counter(counter)
    if characters is not None and (not isinstance(characters, int) or characters < 0):
        raise TokengapError(f"characters must be a whole number of at least 0, not {characters!r}")
    method = getattr(counter, "prepare", None)
    if method is not None:
        method(characters)


@runtime_checkable
class Counter(Protocol):
    """Anything that counts tokens. It must give a count for every ``str``, and never raise."""

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> Count: ...


@runtime_checkable
class Tokenizer(Counter, Protocol):
    """A counter that can show its tokens, and so where a text may be cut.

    ``pieces`` gives the bytes of each token, in order: joined they are the text in UTF-8, and
    ``count(text).tokens`` is their number. ``longest_token`` is that of the vocabulary, in bytes.
    ``splits_as_published``: texts are split by the rule of a published encoding, so that it is known
    where counts add up.
    """

    @property
    def longest_token(self) -> int: ...

    @property
    def splits_as_published(self) -> bool: ...

    def pieces(self, text: str) -> list[bytes]: ...


@runtime_checkable
class Encoder(Tokenizer, Protocol):
    """A tokenizer whose tokens have ids. ``decode`` raises TokengapError for an id that it does not have."""

    def encode(self, text: str) -> list[int]: ...

    def decode(self, tokens: Sequence[int]) -> bytes: ...
