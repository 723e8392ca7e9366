"""How a budget is judged: each limit against what is there, and against what was there before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_UP, Decimal
from typing import TYPE_CHECKING, NamedTuple

from .budget_counting import FileCount, sum_costs
from .budget_plan import Plan
from .budget_report import MISSING, Violation
from .price import CONTEXT, Money, display

if TYPE_CHECKING:
    from .budget_baseline import Pair
    from .toml_origin import Origin

_SHOWN = 3  # names in a message


class Totals(NamedTuple):
    """All files of a budget together; ``cost`` is of all calls."""

    tokens: int
    most: int
    cost: Money | None


class Case(NamedTuple):
    """One budget to judge. ``base`` is ``None`` where there is nothing to compare with."""

    plan: Plan
    place: int
    origin: Origin
    pairs: Sequence[Pair]
    head: Totals
    base: Totals | None
    first_line: Callable[[str], int]

    @property
    def compares(self) -> bool:
        """Whether there is a base, even if not all of it can be counted."""
        return self.base is not None or any(pair.base for pair in self.pairs)

    def at(self, key: str) -> tuple[str, int]:
        """Where a key of the budget stands in the configuration."""
        return self.origin.name, self.origin.line("budget", self.place, key)

    def dearest_change(self, key: str) -> tuple[str, int]:
        """The file that has grown most; without a base, the limit itself."""
        grown = [(growth(pair), pair.path) for pair in self.pairs if pair.head and self.base and growth(pair) > 0]
        if not grown:
            return self.at(key)
        path = max(grown)[1]
        return path, self.first_line(path)

    def limit(self, key: str) -> str:
        """``raise max_tokens (tokengap.toml:6)``."""
        path, line = self.at(key)
        return f"raise {key} ({path}:{line})"


def totals(counts: Sequence[FileCount], plan: Plan) -> Totals:
    """Files that could not be read are left out, and must not be among them where that matters."""
    limit = plan.budget.max_cost if plan.spec is None else None  # where no file is left to name a model
    priced = plan.price or limit
    nothing = Money(Decimal(0), priced.currency) if priced else None
    cost = sum_costs(count.cost for count in counts) if counts else nothing
    return Totals(
        sum(count.tokens for count in counts),
        sum(count.most for count in counts),
        cost * plan.budget.calls if cost else None,
    )


def growth(pair: Pair) -> int:
    """The tokens that a file has gained, all of them where it is new: as counted, for a bound of the base would hide
    some of them."""
    return (pair.head.tokens if pair.head else 0) - (pair.base.tokens if pair.base else 0)


def judge(case: Case, *, fail_inherited: bool, allow_missing: bool) -> tuple[Violation, ...]:
    """The violations of a budget, with what was so on the base already turned into warnings."""
    found = (*_tokens(case), *_per_file(case), *_cost(case), *_growth(case), *_quality(case))
    return tuple(_graded(violation, case, fail_inherited, allow_missing) for violation in found)


def _graded(violation: Violation, case: Case, fail_inherited: bool, allow_missing: bool) -> Violation:
    if violation.introduced is False:
        violation = violation._replace(message=f"{violation.message}; it was over on the base already")
    lenient = (violation.introduced is False and not fail_inherited) or (violation.code in MISSING and allow_missing)
    return violation._replace(severity="warning" if lenient else case.plan.budget.severity)


def _tokens(case: Case) -> Iterator[Violation]:
    limit = case.plan.budget.max_tokens
    if limit is None or case.head.most <= limit:
        return
    over = case.head.most - limit
    yield Violation(
        "TOK001",
        f"{_count(case.head)} in all, {over:,} more than max_tokens {limit:,}",
        f"take {tokens(over)} out{_largest(case)}, or {case.limit('max_tokens')}",
        *case.dearest_change("max_tokens"),
        "error",
        None if case.base is None else not limit < case.base.most >= case.head.most,
    )


def _per_file(case: Case) -> Iterator[Violation]:
    limit = case.plan.budget.max_tokens_per_file
    for pair in case.pairs:
        if limit is None or pair.head is None or pair.head.most <= limit:
            continue
        over = pair.head.most - limit
        was_over = pair.base is not None and limit < pair.base.most >= pair.head.most
        yield Violation(
            "TOK004",
            f"the file has {_count(pair.head)}, {over:,} more than max_tokens_per_file {limit:,}",
            f"take {tokens(over)} out of it, or {case.limit('max_tokens_per_file')}",
            pair.path,
            case.first_line(pair.path),
            "error",
            None if case.base is None else not was_over,
            pair.path,
        )


def _cost(case: Case) -> Iterator[Violation]:
    budget, cost = case.plan.budget, case.head.cost
    if budget.max_cost is None:
        return
    if cost is None:
        yield _unpriced(case, budget.max_cost)
    elif cost.amount > budget.max_cost.amount:
        calls = "" if budget.calls == 1 else f" for {budget.calls:,} calls"
        bound = "" if case.head.most == case.head.tokens else f" for {_count(case.head)}"
        base = case.base.cost if case.base else None
        was_over = base is not None and budget.max_cost.amount < base.amount >= cost.amount
        over = Money(CONTEXT.subtract(cost.amount, budget.max_cost.amount), cost.currency)
        share = (CONTEXT.divide(over.amount, cost.amount) * 100).quantize(Decimal(1), ROUND_UP)
        yield Violation(
            "TOK002",
            f"{display(cost)}{calls}{bound}, {display(over)} more than max_cost {display(budget.max_cost)}",
            f"take {share}% of the tokens out{_largest(case)}, or {case.limit('max_cost')}",
            *case.dearest_change("max_cost"),
            "error",
            None if case.base is None or base is None else not was_over,
        )


def _unpriced(case: Case, max_cost: Money) -> Violation:
    """No price of the model, or none of it at the tier that a request names."""
    unpriced = (model for pair in case.pairs if pair.head and not pair.head.cost for model in pair.head.models)
    names = list(dict.fromkeys(unpriced)) or [case.plan.model or case.plan.spec or "no model"]
    name = ", ".join(map(repr, names[:_SHOWN]))
    limit = f"so that max_cost {display(max_cost)} cannot be checked"
    where = f"under {case.origin.header('prices')} in {case.origin.name}"
    named = [(pair.path, why) for pair in case.pairs if pair.head for why in pair.head.unpriced]
    if case.plan.price and named:
        path, why = named[0]
        more = f" and {len(named) - 1} more" if len(named) > 1 else ""
        message = f"no price is known for the input of {name} as {path}{more} asks for it ({why}), {limit}"
        fix = f"give it that price {where}, with its variant, ask for it at a tier that has one, or remove max_cost"
    else:
        message = f"no price is known for the input of {name}, {limit}"
        fix = f"give it a price {where}, or remove max_cost"
    return Violation("TOK010", message, fix, *case.at("max_cost"), "error")


def _growth(case: Case) -> Iterator[Violation]:
    budget, base = case.plan.budget, case.base
    if budget.max_growth is None or base is None or not any(pair.base for pair in case.pairs):
        return
    gained = case.head.tokens - base.tokens
    if gained <= budget.growth_tolerance or case.head.tokens <= budget.max_growth.most(base.tokens):
        return
    percent = f" (+{gained * 100 / base.tokens:.1f}%)" if base.tokens else ""
    counted = "" if (case.head.most, base.most) == (case.head.tokens, base.tokens) else " as counted"
    limit = f"max_growth is {budget.max_growth.text}"
    yield Violation(
        "TOK003",
        f"{tokens(gained)} more than the base's {base.tokens:,}{percent}{counted}, and {limit}",
        f"take out what it gained{_grown(case)}, or {case.limit('max_growth')}",
        *case.dearest_change("max_growth"),
        "error",
        True,
    )


def _quality(case: Case) -> Iterator[Violation]:
    """Counts that are not as good as the budget needs them."""
    needed = case.plan.budget.count
    if needed == "any":
        return
    for pair in case.pairs:
        count = pair.head
        if count is None or (count.kind == "exact" if needed == "exact" else count.upper is not None):
            continue
        why = f"{', '.join(count.not_counted[:_SHOWN])} cannot be counted" if count.not_counted else "no error is known"
        message = (
            f"the count of {count.tokens:,} is {count.kind}, and {why}, so that nothing bounds it"
            if count.upper is None
            else f"the count of {count.tokens:,} is {count.kind}, at most {count.upper:,}, not exact"
        )
        path, line = case.at("count")
        yield Violation(
            "TOK011",
            message,
            f'count for a model whose tokenizer is known, or set count = "any" ({path}:{line})',
            pair.path,
            case.first_line(pair.path),
            "error",
            None,
            pair.path,
        )


def tokens(number: int) -> str:
    """``1 token``, ``1,200 tokens``."""
    return f"{number:,} token{'' if number == 1 else 's'}"


def _count(counted: Totals | FileCount) -> str:
    if counted.most == counted.tokens:
        return tokens(counted.most)
    return f"at most {tokens(counted.most)} (counted {counted.tokens:,})"


def _largest(case: Case) -> str:
    """The files there is most to take out of."""
    sizes = sorted(((pair.head.most, pair.path) for pair in case.pairs if pair.head), reverse=True)
    if len(sizes) < 2:
        return ""
    return f" (largest: {', '.join(f'{path} {size:,}' for size, path in sizes[:_SHOWN])})"


def _grown(case: Case) -> str:
    sizes = sorted(((growth(pair), pair.path) for pair in case.pairs if growth(pair) > 0), reverse=True)
    return f" ({', '.join(f'{path} +{size:,}' for size, path in sizes[:_SHOWN])})" if sizes else ""
