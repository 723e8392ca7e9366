"""Whether a text or a request fits a model: what it counts, held to the model's limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..tokenizers.counter import Count
from ..tokenizers.errors import TokengapError, UnknownNameError
from ..tokenizers.models import counter_for
from ..tokenizers.registry import DEFAULT_COUNTER
from .counting import ChatRequest, Text
from .limits import Fit, find_limits, fit, whole_number
from .request_count import RequestCount, count_request
from .request_settings import named_model, requested_output

if TYPE_CHECKING:
    from ..tokenizers.counter import Counter
    from .cutting import AnswerCut


@dataclass(frozen=True, slots=True)
class Fitting:
    """The verdict on one input, the count it rests on, and where a sample answer would be cut off."""

    source: str
    verdict: Fit
    count: Count | RequestCount
    answer: AnswerCut | None = None

    @property
    def not_counted(self) -> tuple[str, ...]:
        """The paths of a request that are not in the count."""
        return () if isinstance(self.count, Count) else self.count.not_counted

    def to_dict(self) -> dict[str, Any]:
        count = self.count
        return self.verdict.to_dict() | {
            "tokenizer": count.tokenizer,
            "fingerprint": count.fingerprint,
            "kind": count.kind,
            "interval": count.interval,
            "not_counted": self.not_counted,
            "answer": self.answer and self.answer.to_dict(),
            "warnings": [*count.warnings, *self.verdict.warnings],
        }


def fit_input(
    given: str | Text | ChatRequest,
    model: str | None = None,
    *,
    counter: str | None = None,
    output_tokens: int | None = None,
    answer: str | None = None,
) -> Fitting:
    """Whether a text or a request fits a model, by default the one the request names, with its answer.

    The room left for the answer is ``output_tokens``, else what a request says is the most it may be,
    else the length of ``answer``, a sample of it.

    >>> fit_input("Hello, world", "gpt-4o", output_tokens=500).verdict.left
    127497

    Raises TokengapError for a request that cannot be counted, UnknownNameError for an unknown model.
    """
    given = Text("text", given) if isinstance(given, str) else given
    _check(given, model, counter, output_tokens, answer)
    body = given.body if isinstance(given, ChatRequest) else None
    model = model or named_model(body)
    if model is None:
        raise TokengapError("a model is needed, such as gpt-4o")
    limits, by = find_limits(model), _counter_of(model, counter)
    count = by.count(given.text) if isinstance(given, Text) else count_request(body, model, counter)
    if output_tokens is None:
        output_tokens = requested_output(body)
    expected = output_tokens
    complete = isinstance(count, Count) or not count.not_counted

    def held(expected: int) -> Fit:
        return fit(count.tokens, limits, expected, interval=count.interval, complete=complete)

    if answer is None:
        return Fitting(given.source, held(expected or 0), count)
    from .cutting import cut_answer

    expected = by.count(answer).tokens if expected is None else expected
    room = held(0).answer_room
    if output_tokens is not None:
        room = output_tokens if room is None else min(output_tokens, room)
    cut = None if room is None else cut_answer(answer, room, by)
    return Fitting(given.source, held(expected), count, cut)


def _check(given: object, model: object, counter: object, output_tokens: object, answer: object) -> None:
    """Refuse what is of another type, by name."""
    if not isinstance(given, Text | ChatRequest):
        raise TokengapError(f"a str, a Text or a ChatRequest is needed, not {type(given).__name__}")
    texts = {"model": model, "counter": counter, "answer": answer}
    if isinstance(given, Text):
        texts["text"] = given.text
    for what, value in texts.items():
        if not isinstance(value, str) and (value is not None or what == "text"):
            raise TokengapError(f"the {what} must be a str, not {type(value).__name__}")
    if output_tokens is not None:
        whole_number(output_tokens, "the expected answer")


def _counter_of(model: str, spec: str | None) -> Counter:
    try:
        return counter_for(model, spec)
    except UnknownNameError:
        if spec is not None:
            raise
        raise TokengapError(
            f"the limits of {model!r} are known, but not its tokenizer; name a counter to count with, such as "
            f"{DEFAULT_COUNTER}"
        ) from None
