"""The Python functions that price take what is natural to give, and refuse the rest by name."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tokengap import estimators
from tokengap.estimators import (
    ExchangeRate,
    PriceBook,
    Range,
    Usage,
    load_book,
    model_price,
    monthly_cost,
    parse_exchange_rate,
    parse_price,
    price_report,
    price_request,
    price_usage,
)
from tokengap.tokenizers.errors import TokengapError

NOON = "2026-11-30T12:00:00Z"
BODY = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello, how are you?"}]}
REPORT = {"prompt_tokens": 1000, "completion_tokens": 100}
ONE = Range(1, 1, 1)


def test_prices_and_rates_are_given_as_text() -> None:
    result = price_usage(Usage(10**6), price="3 USD", exchange_rate="1 USD = 0.5 EUR @ 2026-11-28")
    assert result.total is not None
    assert result.converted is not None
    assert (result.total.amount, result.converted.amount) == (Decimal(3), Decimal("1.5"))
    assert result.exchange_rate == parse_exchange_rate("1 USD = 0.5 EUR @ 2026-11-28")
    assert isinstance(result.exchange_rate, ExchangeRate)
    assert price_report(REPORT, price="3 USD").total == price_report(REPORT, price=parse_price("3 USD")).total
    month = monthly_cost(None, input=10**6, output=ONE, calls=ONE, price="3 USD")
    assert month.cost.max is not None
    assert month.cost.max.amount == Decimal("3.000003")


def test_a_request_is_priced_from_its_body() -> None:
    assert (
        price_request(BODY, as_of=NOON).cost.total
        == price_request(estimators.ChatRequest("r", BODY), as_of=NOON).cost.total
    )


def test_a_book_is_read_from_the_text_of_a_path(tmp_path: Path) -> None:
    (tmp_path / "tokengap.toml").write_text('[[prices]]\nmodel = "m"\nin = "2 USD/1M"\n')
    assert model_price("m", book=load_book(str(tmp_path / "tokengap.toml"))).per_million == {"input": 2}
    assert model_price("gpt-4o", NOON) == model_price("gpt-4o", NOON, variant="standard")


@pytest.mark.parametrize(
    "call",
    [
        lambda: model_price(5),  # type: ignore[arg-type]
        lambda: model_price("gpt-4o", 5),  # type: ignore[arg-type]
        lambda: model_price("gpt-4o", provider=b"openai"),  # type: ignore[arg-type]
        lambda: model_price("gpt-4o", variant=["batch"]),  # type: ignore[arg-type]
        lambda: model_price("gpt-4o", book=[]),  # type: ignore[arg-type]
        lambda: parse_price(3),  # type: ignore[arg-type]
        lambda: parse_exchange_rate(None),  # type: ignore[arg-type]
        lambda: PriceBook(["x"]),  # type: ignore[arg-type]
        lambda: PriceBook((), "table"),  # type: ignore[arg-type]
        lambda: load_book(""),
        lambda: load_book(5),  # type: ignore[arg-type]
        lambda: load_book(organisation=b"x"),  # type: ignore[arg-type]
        lambda: price_usage(REPORT, "gpt-4o"),  # type: ignore[arg-type]
        lambda: price_usage(Usage(1), "gpt-4o", book=[]),  # type: ignore[arg-type]
        lambda: price_usage(Usage(1), "gpt-4o", book={}),  # type: ignore[arg-type]
        lambda: price_usage(Usage(1), "gpt-4o", exchange_rate=0),  # type: ignore[arg-type]
        lambda: price_usage(Usage(1), "gpt-4o", price=0),  # type: ignore[arg-type]
        lambda: price_usage(Usage(1), price=""),
        lambda: price_usage(Usage(1), "gpt-4o", as_of=""),
        lambda: price_report(REPORT, "gpt-4o", provider=5),  # type: ignore[arg-type]
        lambda: price_report(REPORT, "gpt-4o", format={}),  # type: ignore[arg-type]
        lambda: price_report(REPORT, "gpt-4o", format=""),
        lambda: price_report(REPORT, "gpt-4o", book=0),  # type: ignore[arg-type]
        lambda: price_report(REPORT, 5),  # type: ignore[arg-type]
        lambda: price_request("hello", "gpt-4o"),  # type: ignore[arg-type]
        lambda: price_request(BODY, 5),  # type: ignore[arg-type]
        lambda: price_request(BODY, counter=5),  # type: ignore[arg-type]
        lambda: price_request(BODY, usage=Usage(1)),  # type: ignore[arg-type]
        lambda: price_request(BODY, usage=lambda tokens: tokens),  # type: ignore[arg-type,return-value]
        lambda: monthly_cost("gpt-4o", input=1, output=300, calls=ONE),  # type: ignore[arg-type]
        lambda: monthly_cost("gpt-4o", input=1, output=ONE, calls=9),  # type: ignore[arg-type]
        lambda: monthly_cost("gpt-4o", input=1, output=ONE, calls=ONE, cached_share="60%"),  # type: ignore[arg-type]
        lambda: monthly_cost("gpt-4o", input=1, output=ONE, calls=ONE, word_input=1.5),  # type: ignore[arg-type]
        lambda: monthly_cost(5, input=1, output=ONE, calls=ONE),  # type: ignore[arg-type]
        lambda: monthly_cost("gpt-4o", input=1, output=ONE, calls=ONE, word_input=Fraction(-1)),
    ],
)
def test_what_is_no_such_thing_is_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(TokengapError):
        call()
