"""Newer public prices from a file in genai-prices' own format: read whole, or refused."""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tokengap.estimators.cost import price_usage
from tokengap.estimators.price_book import load_book
from tokengap.estimators.price_data import read_price_data
from tokengap.estimators.usage import Usage
from tokengap.tokenizers.errors import TokengapError

# In the format of genai-prices' prices/new_data/v2/data.json, as published 2026-08-21.
TABLE: list[dict[str, Any]] = [
    {
        "id": "openai",
        "name": "OpenAI",
        "pricing_urls": ["https://example.com/pricing"],
        "api_pattern": "https://api\\.openai\\.com",
        "model_match": {"or": [{"starts_with": "gpt-"}, {"regex": "^o[134]"}]},
        "provider_match": {"contains": "openai"},
        "extractors": [
            {
                "api_flavor": "chat",
                "root": "usage",
                "model_path": "model",
                "mappings": [{"path": "prompt_tokens", "dest": "input_tokens", "required": True}],
            }
        ],
        "models": [
            {
                "id": "gpt-7",
                "name": "GPT 7",
                "match": {"or": [{"equals": "gpt-7"}, {"regex": "^gpt-7-\\d{8}$"}]},
                "context_window": 1000000,
                "prices": [
                    {"prices": {"input_mtok": 2, "output_mtok": 20.1}},
                    {
                        "constraint": {"start_date": "2026-12-01"},
                        "prices": {
                            "input_mtok": {"base": 1.1, "tiers": [{"start": 200000, "price": 2.2}]},
                            "output_mtok": 10,
                            "web_searches_kcount": 10,
                        },
                    },
                ],
                "price_variants": [{"when": {"processing": "batch"}, "prices": {"input_mtok": 1, "output_mtok": 5}}],
            }
        ],
    }
]


def write(folder: Path, table: Any) -> Path:
    file = folder / "data.json"
    file.write_text(json.dumps(table))
    return file


@pytest.mark.parametrize(
    ("input", "variant", "as_of", "total"),
    [
        (1_000_000, None, "2026-11-30", "22.1"),
        (200_000, None, "2026-12-01", "10.22"),
        (200_001, None, "2026-12-01", "10.4400022"),
        (1_000_000, "batch", "2026-11-30", "6"),
    ],
)
def test_the_file_is_the_public_table(tmp_path: Path, input: int, variant: str | None, as_of: str, total: str) -> None:
    book = load_book(price_data=write(tmp_path, TABLE))
    usage = Usage(input=input, output=1_000_000)
    result = price_usage(usage, "openai/gpt-7", book=book, as_of=as_of, variant=variant)
    assert result.total is not None
    assert result.total.amount == Decimal(total)
    assert result.source.table.endswith("data.json")
    assert len(result.source.sha256 or "") == 64
    assert price_usage(usage, "gpt-4o", book=book).status == "unknown_model"


def test_the_hash_is_of_the_prices_and_not_of_the_file(tmp_path: Path) -> None:
    table = read_price_data(write(tmp_path, TABLE))
    other = copy.deepcopy(TABLE)
    other[0]["models"][0]["description"] = "text that prices nothing"
    assert read_price_data(write(tmp_path, other)).sha256 == table.sha256
    other[0]["models"][0]["prices"][0]["prices"]["input_mtok"] = 2.01
    assert read_price_data(write(tmp_path, other)).sha256 != table.sha256


def test_a_model_without_any_price_is_unpriced(tmp_path: Path) -> None:
    nothing: list[Any] = [[], {}]
    for prices in nothing:
        book = load_book(price_data=write(tmp_path, change([*MODEL, "prices"], prices)))
        assert price_usage(Usage(input=1), "gpt-7", book=book).status == "unpriced"


def change(path: list[str | int], value: Any) -> list[dict[str, Any]]:
    table = copy.deepcopy(TABLE)
    place: Any = table
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return table


MODEL: list[str | int] = [0, "models", 0]
FIRST: list[str | int] = [*MODEL, "prices", 0, "prices"]


@pytest.mark.parametrize(
    ("table", "where", "problem"),
    [
        ({}, "", "a list of providers"),
        (["x"], "[0]", "as an object"),
        (change([0, "modles"], []), "[0].modles", "did you mean 'models'"),
        (change([*MODEL, "pirces"], {}), "[0].models[0].pirces", "did you mean 'prices'"),
        (change([*FIRST, "input_mtoks"], 3), "[0].models[0].prices[0].prices.input_mtoks", "did you mean 'input_mtok'"),
        (change([*FIRST, "input_mtok"], -1), "[0].models[0].prices[0].prices.input_mtok", "non-negative"),
        (change([*FIRST, "input_mtok"], "3"), "[0].models[0].prices[0].prices.input_mtok", "not a number"),
        (change([*FIRST, "input_mtok"], True), "[0].models[0].prices[0].prices.input_mtok", "not a number"),
        (change([*FIRST, "input_mtok"], 2500000), "[0].models[0].prices[0].prices.input_mtok", "absurdly high"),
        (change([*FIRST, "web_searches_kcount"], 1e300), ".web_searches_kcount", "absurdly high"),
        (change([*FIRST, "input_mtok"], 1e-300), ".input_mtok", "below what any price is"),
        (change([*FIRST, "input_mtok"], {"base": 1, "tires": []}), ".input_mtok.tires", "did you mean 'tiers'"),
        (change([*MODEL, "prices", 1, "constraint"], {"start": "2026-12-01"}), ".constraint.start", "did you mean"),
        (change([*MODEL, "prices", 1, "constraint"], {"start_date": "soon"}), "constraint", "date"),
        (change([*MODEL, "match"], {"like": "x"}), "match", ""),
        (change([*MODEL, "prices"], 3), "[0].models[0].prices", "as an object or a list"),
        (
            change([*MODEL, "match", "or", 1, "regex"], "("),
            "[0].models[0].match.or[1].regex",
            "not a regular expression",
        ),
        (change([0, "id"], None), "[0].id", "string"),
    ],
)
def test_what_is_wrong_is_named_with_its_path(tmp_path: Path, table: Any, where: str, problem: str) -> None:
    file = write(tmp_path, table)
    with pytest.raises(TokengapError) as error:
        read_price_data(file)
    message = str(error.value)
    assert message.startswith(str(file))
    assert where in message
    assert problem in message


@pytest.mark.parametrize("data", [b"", b"[", b"[NaN]", b"\xff", b"[" * 100_000])
def test_what_is_not_json_is_refused(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "data.json"
    file.write_bytes(data)
    with pytest.raises(TokengapError, match="not JSON"):
        read_price_data(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TokengapError, match="cannot read"):
        read_price_data(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"gpt-7"', r'"gpt-\ud800"', "half of a surrogate pair"),
        ("[{", "\ufeff[{", "byte order mark"),
        ('"name": "GPT 7"', '"name": "a", "name": "b"', "the key 'name' is there twice"),
        ("1000000", "1" * 5000, "a whole number in it is too large"),
        ("20.1", "1." + "1" * 200, "a price of 201 digits"),
        ('"start": 200000', '"start": -1', "-1 is no number of tokens that a tier begins at"),
        ("20.1", "NaN", "not JSON: NaN is not a number"),
        ('"GPT 7"', "[" * 100_000, "nested too deeply"),
    ],
)
def test_json_that_others_read_another_way_is_refused(tmp_path: Path, old: str, new: str, problem: str) -> None:
    file = write(tmp_path, TABLE)
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(TokengapError, match=problem):
        read_price_data(file)
