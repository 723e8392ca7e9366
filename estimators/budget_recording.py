"""Counts written down, to be compared with later: what ``--write-baseline`` writes."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..tokenizers.counter import Kind
from ..tokenizers.errors import TokengapError
from ..tokenizers.registry import get_counter
from .budget_baseline import RecordedBase
from .budget_counting import FileCount
from .budget_plan import Plan
from .budget_report import BudgetResult
from .price import Money
from .strict_json import parse_json


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class RecordedCost(_Strict):
    """An amount, in full, and its currency."""

    amount: str = Field(pattern=r"^[0-9]{1,30}(\.[0-9]{1,60})?$")
    currency: str = Field(pattern=r"^[A-Z]{3}$")


class RecordedFile(_Strict):
    """The count of one file."""

    path: str
    tokens: int = Field(ge=0)
    upper: int | None = Field(ge=0)
    kind: Kind
    cost: RecordedCost | None
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")

    def count(self) -> FileCount:
        cost = Money(Decimal(self.cost.amount), self.cost.currency) if self.cost else None
        return FileCount(self.tokens, self.upper, self.kind, cost, (), (), self.sha256)


class RecordedBudget(_Strict):
    """The files of one budget, and how they were counted."""

    name: str
    made: dict[str, str | None]
    files: list[RecordedFile]


class Recording(_Strict):
    """What ``--write-baseline`` writes."""

    tokengap_baseline: Literal[1]
    budgets: list[RecordedBudget]


def record(results: Iterable[tuple[Plan, BudgetResult]]) -> str:
    """The counts of a check as JSON, for ``read_recording``."""
    budgets = [
        RecordedBudget(
            name=plan.budget.name,
            made=how_made(plan),
            files=[
                RecordedFile(
                    path=file.path,
                    tokens=file.head.tokens,
                    upper=file.head.upper,
                    kind=file.head.kind,
                    cost=RecordedCost(**file.head.cost.to_dict()) if file.head.cost else None,
                    sha256=file.head.digest,
                )
                for file in result.files
                if file.head
            ],
        )
        for plan, result in results
    ]
    return Recording(tokengap_baseline=1, budgets=budgets).model_dump_json(indent=2) + "\n"


def read_recording(text: str, name: str) -> RecordedBase:
    """Read what ``record`` wrote. Raises TokengapError for anything else."""
    try:
        recording = Recording.model_validate(parse_json(text))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise TokengapError(f"{name}: not a baseline: {where} is not as --write-baseline writes it") from None
    except TokengapError as error:
        raise TokengapError(f"{name}: not a baseline: {error}; --write-baseline writes one") from None
    return RecordedBase(name, tuple(recording.budgets))


def recorded_counts(base: RecordedBase, plan: Plan) -> dict[str, FileCount] | str:
    """The recorded counts of a budget, or why they compare with nothing."""
    budget = next((each for each in base.budgets if each.name == plan.budget.name), None)
    if budget is None:
        return f"{base.name} has no budget {plan.budget.name!r}"
    if budget.made != (now := how_made(plan)):
        different = ", ".join(key for key in now if budget.made.get(key) != now[key])
        return f"{base.name} was counted otherwise for {plan.budget.name!r} ({different}); write it anew"
    return {file.path: file.count() for file in budget.files}


def how_made(plan: Plan) -> dict[str, str | None]:
    """What must be the same for two counts to be comparable."""
    return {
        "type": plan.budget.type,
        "field": plan.budget.field,
        "model": plan.model,
        "fingerprint": get_counter(plan.spec).count("").fingerprint if plan.spec else None,
    }
