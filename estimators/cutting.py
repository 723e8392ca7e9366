"""Cut a text to a number of tokens, or count it up to a limit.

Every number here is a recount of the text it stands for, by the counter that was asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from ..tokenizers.counter import Counter, Kind, Tokenizer, check_counter
from ..tokenizers.errors import TokengapError
from ..tokenizers.models import ModelCounter
from ..tokenizers.text import well_formed
from .recount import Pieces, Prefixes, Suffixes, is_boundary

BLOCK = 1 << 16
"""Characters counted at a time on the way to a limit."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A text cut in two: ``kept``, of ``tokens`` tokens, and ``dropped``. Joined they are the text."""

    kept: str
    dropped: str
    tokens: int
    max_tokens: int
    from_end: bool
    tokenizer: str
    kind: Kind
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LimitedCount:
    """A count that stopped once past its limit: the text then has ``at_least`` that many tokens."""

    tokens: int
    at_least: bool
    limit: int


@dataclass(frozen=True, slots=True)
class AnswerCut:
    """What an output limit leaves of an answer.

    ``kept`` is whole characters. ``word`` is the word that is cut in two, if one is (a run of letters and
    digits, up to 100 of them on either side: in scripts without spaces it may be several);
    ``inside_character`` says that the last token ends inside a character, of which nothing can be shown.
    """

    kept: str
    dropped: str
    word: str | None
    inside_character: bool

    def to_dict(self) -> dict[str, Any]:
        return {
            "complete": not self.dropped,
            "kept_chars": len(self.kept),
            "dropped_chars": len(self.dropped),
            "inside_word": self.word,
            "inside_character": self.inside_character,
        }


def cut(text: str, max_tokens: int, counter: Counter, *, from_end: bool = False) -> Cut:
    """Keep the longest beginning (or end) of a text whose recount is at most ``max_tokens``.

    It ends on a character, and no part longer by up to the longest token of the vocabulary has a
    recount within the limit either; counts are not monotone, so more cannot be said without trying
    every length.

    >>> from tokengap.tokenizers.registry import get_counter
    >>> cut("A token is not a word.", 3, get_counter("o200k_base")).kept
    'A token is'

    Raises TokengapError for a negative limit, a counter without tokens to cut at, a lone surrogate.
    """
    tokenizer = tokenizer_of(counter)
    not_negative(max_tokens, "the number of tokens to keep")
    text = whole_text(text)
    kept, dropped = _keep(tokenizer, text, max_tokens, from_end)
    count = counter.count(kept)
    return Cut(kept, dropped, count.tokens, max_tokens, from_end, count.tokenizer, count.kind, count.warnings)


def count_until(text: str | Iterable[str], limit: int, counter: Counter) -> LimitedCount:
    """Count a text, or a text that arrives in parts, and stop soon after ``limit`` tokens.

    Up to the limit the count is that of the whole text. A counter that cannot show its tokens counts
    all of it, since only its own rule knows where counts add up.

    Raises TokengapError for a negative limit, and for what is no text or no counter.
    """
    check_counter(counter)
    not_negative(limit, "the limit")
    if not isinstance(text, Iterable) or isinstance(text, (bytes, bytearray)):
        raise TokengapError(f"a text must be str, or parts that are, not {type(text).__name__}")
    parts = map(_part, (text,) if isinstance(text, str) else text)
    try:
        tokenizer = tokenizer_of(counter)
    except TokengapError:
        tokens = counter.count("".join(parts)).tokens
        return LimitedCount(tokens, False, limit)
    tokens = 0
    for block, end in _blocks(tokenizer, parts, limit):
        if end == "anywhere":  # its own count may be more than its share; but no token is longer than the longest
            tokens += -(-len(block.encode(errors="replace")) // tokenizer.longest_token)
        else:
            tokens += tokenizer.count(block).tokens
        if tokens > limit and end != "end":
            return LimitedCount(tokens, True, limit)
    return LimitedCount(tokens, False, limit)


def cut_answer(answer: str, max_output_tokens: int, counter: Counter) -> AnswerCut:
    """Show where a model that stops after ``max_output_tokens`` tokens would break off this answer.

    >>> from tokengap.tokenizers.registry import get_counter
    >>> cut_answer("Unbelievably good", 2, get_counter("o200k_base")).word
    'Unbelievably'
    """
    tokenizer = tokenizer_of(counter)
    not_negative(max_output_tokens, "the output limit")
    answer = whole_text(answer)
    said = b"".join(tokenizer.pieces(answer)[:max_output_tokens])
    kept = said.decode(errors="ignore")  # only the last character can be incomplete
    inside_character = len(kept.encode()) < len(said)
    end = len(kept)
    left, right = re.search(r"\w+\Z", kept[-100:]), re.match(r"\w+", answer[end : end + 100])
    word = left[0] + right[0] if left and right else None
    return AnswerCut(kept, answer[end:], word, inside_character)


def _keep(tokenizer: Tokenizer, text: str, limit: int, from_end: bool) -> tuple[str, str]:
    """Cut in two: what is kept, and what is dropped."""
    size, reach = len(text), tokenizer.longest_token
    known = _known(tokenizer, text, limit, from_end)
    if len(known) <= limit:
        return text, ""
    if from_end:
        guess = next(size - at for at, number in known.index.items() if len(known) - number <= limit)
        suffixes = Suffixes(tokenizer, text, known)
        length, tokens = _longest(lambda length: suffixes.count(size - length), guess, size, limit, reach)
    else:
        guess = next(at for at in reversed(known.index) if known.index[at] <= limit)
        length, tokens = _longest(Prefixes(tokenizer, text, known).count, guess, size, limit, reach)

    def part(length: int) -> str:
        return text[size - length :] if from_end else text[:length]

    def recount(length: int) -> int:
        return tokenizer.count(part(length)).tokens

    if recount(length) != tokens:  # a tokenizer that is not local: every length is counted in full
        length, _ = _longest(recount, length, size, limit, reach)
    return part(length), text[: size - length] if from_end else text[length:]


def _known(tokenizer: Tokenizer, text: str, limit: int, from_end: bool) -> Pieces:
    """The tokens of as much of the text as has more than ``limit``, or of all of it."""
    size = 4 * limit + 4 * tokenizer.longest_token
    while True:
        start, end = (max(len(text) - size, 0), len(text)) if from_end else (0, min(size, len(text)))
        known = Pieces(tokenizer, text, start, end)
        if len(known) > limit or end - start == len(text):
            return known
        size *= 2


def _longest(count: Callable[[int], int], length: int, size: int, limit: int, reach: int) -> tuple[int, int]:
    """From a guess to a length within the limit, with none within it up to ``reach`` longer; and its count."""
    while (tokens := count(length) if length else 0) > limit:
        length -= 1
    while True:
        for longer in range(min(length + reach, size), length, -1):
            if (more := count(longer)) <= limit:
                length, tokens = longer, more
                break
        else:
            return length, tokens


def _blocks(
    tokenizer: Tokenizer, parts: Iterator[str], limit: int
) -> Iterator[tuple[str, Literal["boundary", "anywhere", "end"]]]:
    """The text in blocks, and where each ends: the counts of those that end at a boundary add up.

    A block without a boundary is given up on, as the last, once its length alone puts it over the limit.
    """
    text, size = "", BLOCK
    for more in (part[at : at + BLOCK] for part in parts for at in range(0, len(part), BLOCK)):
        text += more
        while len(text) >= size:
            at = _block_end(tokenizer, text)
            if at is None and len(text) > limit * tokenizer.longest_token:
                yield text, "anywhere"
                return
            if at is None:
                size = 2 * len(text)
                break
            yield text[:at], "boundary"
            text, size = text[at:], BLOCK
    yield text, "end"


def _block_end(tokenizer: Tokenizer, text: str) -> int | None:
    """The last place in a block where counts add up, as the tokens on both sides of it confirm."""
    near = 2 * tokenizer.longest_token
    if not tokenizer.splits_as_published:
        return None
    for at in range(len(text) - near, near, -1):
        if is_boundary(text, at):
            left, right = text[at - near : at], text[at : at + near]
            if tokenizer.pieces(left + right) == tokenizer.pieces(left) + tokenizer.pieces(right):
                return at
    return None


def tokenizer_of(counter: Counter) -> Tokenizer:
    """The tokens behind a counter; one without tokens that join to the text is refused."""
    if isinstance(counter, ModelCounter):
        return tokenizer_of(counter.counter)
    if isinstance(counter, Tokenizer):
        return counter
    check_counter(counter)
    raise TokengapError(
        f"the counter {counter.name!r} cannot cut a text: it has no tokens that join to the text; "
        "use an encoding such as o200k_base"
    )


def whole_text(text: str) -> str:
    """The text with surrogate pairs joined; what cannot be written as UTF-8 is refused."""
    text, repaired = well_formed(text)
    if repaired:
        raise TokengapError("the text holds a lone surrogate, which is no character: it cannot be cut without loss")
    return text


def _part(text: object) -> str:
    if not isinstance(text, str):
        raise TokengapError(f"a part of a text must be str, not {type(text).__name__}")
    return text


def not_negative(number: int, what: str) -> None:
    """Refuse what is no whole number, or is below 0, saying of what it is."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise TokengapError(f"{what} is {number!r:.40}: a whole number is needed, 0 or more")
