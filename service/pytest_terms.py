"""The arguments of the marker and of the fixture ``token_budget``: read, checked, joined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, get_args

from ..estimators.budget_config import Needed
from ..estimators.budget_values import BadValueError, one_of, read_calls, read_cost, read_positive, read_time
from ..estimators.price import Money
from ..estimators.project_file import nearest
from ..tokenizers.errors import TokengapError


class Terms(NamedTuple):
    """How much may be counted, and how it is counted. ``max_cost`` is for all the ``calls``.

    The names mean what they mean in the configuration of 'tokengap check': ``counter`` counts in place of the
    model's tokenizer, and ``count`` is the least that a count must be: "exact", "bounded" (the default) or "any".
    """

    max_tokens: int | None = None
    max_cost: Money | None = None
    calls: int | None = None
    model: str | None = None
    counter: str | None = None
    price: str | None = None
    as_of: datetime | None = None
    count: Needed | None = None  # type: ignore[assignment]  # not tuple's method of that name

    @property
    def limited(self) -> bool:
        return self.max_tokens is not None or self.max_cost is not None


def read_marks(marks: Iterable[tuple[Sequence[Any], Mapping[str, Any]]]) -> Terms:
    """The arguments of markers, the nearest first, as one.

    Raises TokengapError for arguments that are unknown, wrong, or none.
    """
    terms = Terms()
    for args, given in marks:
        if args:
            raise TokengapError(f"its arguments need names: max_tokens={args[0]!r}, say")
        if not given:
            raise TokengapError("it says nothing: give it max_tokens or max_cost")
        for key in given:
            if key not in Terms._fields:
                raise TokengapError(f"{key}: {nearest(key, Terms._fields)}")
            if given[key] is None:
                raise TokengapError(f"{key} is None: leave it out")
        terms = joined(terms, read_terms(**given))
    return terms


def read_terms(**given: Any) -> Terms:
    """Check each argument; ``None`` is one that is not given."""
    read: dict[str, Any] = {}
    for key, value in given.items():
        try:
            read[key] = None if value is None else _READERS.get(key, _word)(value)
        except BadValueError as error:
            raise TokengapError(f"{key}: {error}") from None
    return Terms(**read)


def joined(near: Terms, far: Terms) -> Terms:
    """What ``near`` says, and of ``far`` what it does not. Another model has another tokenizer and price."""
    if near.model:
        far = far._replace(counter=None, price=None)
    return far._replace(**{key: value for key, value in near._asdict().items() if value is not None})


def _word(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise BadValueError(f"{value!r:.60} is no name, in quotes")
    return value


def _time(value: object) -> datetime:
    return read_time(value).time


_READERS: Mapping[str, Callable[[object], Any]] = {
    "max_tokens": read_positive,
    "max_cost": read_cost,
    "calls": read_calls,
    "as_of": _time,
    "count": one_of(get_args(Needed)),
}
