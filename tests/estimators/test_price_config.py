"""Price files: what they say is what is charged, and what they get wrong is named."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.estimators.as_of import parse_as_of
from tokengap.estimators.cost import CostResult, price_usage
from tokengap.estimators.price_book import PriceBook, load_book
from tokengap.estimators.price_config import read_prices
from tokengap.estimators.price_list import list_prices
from tokengap.estimators.project_file import find_project
from tokengap.estimators.usage import Usage
from tokengap.tokenizers.errors import TokengapError

MILLION = Usage(input=10**6, output=10**6)
NOON = "2026-11-30T12:00:00Z"


def book(folder: Path, text: str) -> PriceBook:
    file = folder / "prices.toml"
    file.write_text(text)
    return PriceBook((read_prices(file),))


def price(book: PriceBook, model: str = "gpt-4o", usage: Usage = MILLION, **options: str | None) -> CostResult:
    as_of = options.pop("as_of", NOON)
    return price_usage(
        usage, model, book=book, as_of=as_of, provider=options.get("provider"), variant=options.get("variant")
    )


def total(result: CostResult) -> Decimal:
    assert result.total is not None, result
    return result.total.amount


def test_an_entry_goes_before_the_public_price(tmp_path: Path) -> None:
    own = book(tmp_path, '[[prices]]\nprovider = "openai"\nmodel = "gpt-4o"\nin = "2 EUR/1M"\nout = "0.008 EUR/1K"\n')
    result = price(own)
    assert (total(result), result.currency) == (Decimal(10), "EUR")
    assert result.source.table == "organisation: prices.toml prices[0]"
    assert len(result.source.sha256 or "") == 64
    assert price(own, "gpt-4o-mini").source.table == "genai-prices"
    assert price(own, "gpt-4o", provider="azure").source.table == "genai-prices"


@pytest.mark.parametrize("name", ["gpt-4o", "openai/gpt-4o", "GPT-4o ", "gpt-4o-2024-08-06"])
def test_an_entry_finds_the_model_under_its_other_names(tmp_path: Path, name: str) -> None:
    own = book(tmp_path, '[[prices]]\nprovider = "openai"\nmodel = "gpt-4o"\nin = "2 USD/1M"\nout = "8 USD/1M"\n')
    assert total(price(own, name)) == 10


def test_a_model_that_no_table_has(tmp_path: Path) -> None:
    own = book(
        tmp_path,
        '[[prices]]\nprovider = "acme"\nmodel = ["house-*", "mouse"]\n'
        'currency = "usd"\nin = "2/1M"\nout = "8 / 1M tokens"',
    )
    for name, provider in (("acme/house-1", None), ("house-2", "acme"), ("HOUSE-3", None), ("mouse", None)):
        assert total(price(own, name, provider=provider)) == 10
    assert price(own, "other/house-1").status == "unknown_model"
    assert price(own, "house-2", provider="other").status == "unknown_model"
    assert price(own, "acme/barn").status == "unknown_model"


def test_dates_choose_the_entry(tmp_path: Path) -> None:
    own = book(
        tmp_path,
        """
        [[prices]]
        model = "m"
        from = 2026-01-01
        to = 2026-07-01
        in = "2 USD/1M"
        out = "2 USD/1M"
        [[prices]]
        model = "m"
        from = 2026-07-01T06:00:00Z
        in = "1 USD/1M"
        out = "1 USD/1M"
        """,
    )
    assert price(own, "m", as_of="2025-12-31T23:59:59Z").status == "unknown_model"
    assert total(price(own, "m", as_of="2026-01-01")) == 4
    assert price(own, "m", as_of="2026-01-01").source.effective_date == "2026-01-01"
    assert total(price(own, "m", as_of="2026-06-30T23:59:59Z")) == 4
    assert price(own, "m", as_of="2026-07-01").status == "unknown_model"
    assert total(price(own, "m", as_of="2026-07-01T06:00:00Z")) == 2


def test_a_multiplier_scales_every_price_of_what_would_hold(tmp_path: Path) -> None:
    own = book(tmp_path, '[[prices]]\nmodel = "gpt-4o*"\nmultiplier = "0.85"\n')
    usage = Usage(input=10_000, cache_read=8000, output=500, web_searches=1)
    assert total(price(own, usage=usage)) == Decimal("0.85") * (Decimal("0.020") + Decimal("0.01"))
    source = price(own).source
    assert source.based_on is not None
    assert (source.based_on.table, source.based_on.model) == ("genai-prices", "gpt-4o")
    assert total(price(own, variant="batch")) == Decimal("0.85") * Decimal("6.25")


def test_a_multiplier_scales_tiers(tmp_path: Path) -> None:
    own = book(tmp_path, '[[prices]]\nmodel = "gemini-2.5-pro"\nmultiplier = "1.1"\n')
    usage = Usage(input=200_001, output=1000)
    result = price(own, "gemini-2.5-pro", usage=usage)
    assert (total(result), result.tier) == (Decimal("0.5150025") * Decimal("1.1"), 200_000)


def test_multipliers_stack_and_name_a_base(tmp_path: Path) -> None:
    own = book(
        tmp_path,
        """
        [[prices]]
        provider = "azure"
        model = "us/gpt-4o"
        multiplier = "1.1"
        base = "azure/gpt-4o"
        [[prices]]
        provider = "azure"
        model = "gpt-4o"
        multiplier = "0.5"
        """,
    )
    assert total(price(own, "azure/us/gpt-4o")) == Decimal("12.5") * Decimal("0.55")
    assert total(price(own, "azure/gpt-4o")) == Decimal("6.25")


def test_a_base_that_names_itself_is_the_price_beneath(tmp_path: Path) -> None:
    own = book(tmp_path, '[[prices]]\nmodel = "gpt-4o"\nmultiplier = "0.5"\nbase = "openai/gpt-4o"\n')
    assert total(price(own)) == Decimal("6.25")


def test_a_circle_of_multiples_is_refused(tmp_path: Path) -> None:
    own = book(
        tmp_path,
        """
        [[prices]]
        model = "a"
        multiplier = "0.5"
        base = "b"
        [[prices]]
        model = "b"
        multiplier = "0.5"
        base = "a"
        """,
    )
    with pytest.raises(TokengapError, match="circle"):
        price(own, "a")


def test_a_base_that_is_unknown_is_the_files_fault(tmp_path: Path) -> None:
    own = book(tmp_path, '[[prices]]\nmodel = "a"\nmultiplier = "0.5"\nbase = "gpt-99-super"\n')
    with pytest.raises(TokengapError, match=r"prices\[0\]\.base: unknown model 'gpt-99-super'"):
        price(own, "a")


def test_a_variant_needs_an_entry_of_its_own(tmp_path: Path) -> None:
    text = '[[prices]]\nmodel = "gpt-4o"\nin = "2 USD/1M"\nout = "2 USD/1M"\n'
    with pytest.raises(TokengapError, match="but not its batch variant"):
        price(book(tmp_path, text), variant="batch")
    batch = text + '[[prices]]\nmodel = "gpt-4o"\nvariant = "batch"\nin = "1 USD/1M"\nout = "1 USD/1M"\n'
    assert total(price(book(tmp_path, batch), variant="batch")) == 2
    assert total(price(book(tmp_path, batch))) == 4


def test_an_entry_of_a_variant_leaves_the_standard_price_alone(tmp_path: Path) -> None:
    own = book(tmp_path, '[[prices]]\nmodel = "gpt-4o"\nvariant = "batch"\nmultiplier = "0.5"\n')
    assert total(price(own)) == Decimal("12.5")
    assert total(price(own, variant="batch")) == Decimal("3.125")
    absolute = '[[prices]]\nmodel = "gpt-4o"\nvariant = "batch"\nin = "1 USD/1M"\nout = "1 USD/1M"\n'
    assert total(price(book(tmp_path, absolute))) == Decimal("12.5")


def test_free_is_said_where_the_file_says_so(tmp_path: Path) -> None:
    own = book(tmp_path, '[[prices]]\nmodel = "m"\nin = "0 USD/1M"\nout = "0 USD/1M"\n')
    result = price(own, "m")
    assert result.status == "free"
    assert total(result) == 0
    half = book(tmp_path, '[[prices]]\nmodel = "m"\nin = "0 USD/1M"\n')
    assert (price(half, "m").status, price(half, "m").total) == ("partial", None)


def test_tiers_keep_the_base_of_what_they_do_not_name(tmp_path: Path) -> None:
    own = book(
        tmp_path,
        """
        [[prices]]
        model = "m"
        in = "1 USD/1M"
        out = "2 USD/1M"
        [[prices.tiers]]
        above = 100
        in = "10 USD/1M"
        [[prices.tiers]]
        above = 1000
        out = "20 USD/1M"
        """,
    )
    assert total(price(own, "m", Usage(input=100, output=10))) == Decimal("0.00012")
    assert total(price(own, "m", Usage(input=101, output=10))) == Decimal("0.00103")
    assert total(price(own, "m", Usage(input=1001, output=10))) == Decimal("0.01021")


@pytest.mark.parametrize(
    ("text", "path", "problem"),
    [
        ('[[prices]]\nmodel = "m"\nin = "3 USD"', "prices[0].in", "with a unit"),
        ('[[prices]]\nmodel = "m"\nin = "3"', "prices[0].in", "with a unit"),
        ('[[prices]]\nmodel = "m"\nin = 3', "prices[0].in", "has no unit"),
        ('[[prices]]\nmodel = "m"\nin = 0.3', "prices[0].in", "has no unit"),
        ('[[prices]]\nmodel = "m"\nin = "-3 USD/1M"', "prices[0].in", "non-negative"),
        ('[[prices]]\nmodel = "m"\nin = "nan USD/1M"', "prices[0].in", "non-negative"),
        ('[[prices]]\nmodel = "m"\nin = "3 USD/1"', "prices[0].in", "absurdly high"),
        ('[[prices]]\nmodel = "m"\nin = "3000000 USD/1M"', "prices[0].in", "absurdly high"),
        ('[[prices]]\nmodel = "m"\nin = "3/1M"', "prices[0]", "one currency"),
        ('[[prices]]\nmodel = "m"\nin = "3 USD/1M"\nout = "3 EUR/1M"', "prices[0]", "one currency"),
        ('[[prices]]\nmodel = "m"\ncurrency = "EUR"\nin = "3 USD/1M"', "prices[0]", "one currency"),
        ('[[prices]]\nmodel = "m"\ncurrency = "euro"\nin = "3 USD/1M"', "prices[0].currency", "three letters"),
        ('[[prices]]\nmodel = "m"', "prices[0]", "no price"),
        ('[[prices]]\nin = "3 USD/1M"', "prices[0].model", "name of a model"),
        ('[[prices]]\nmodel = []\nin = "3 USD/1M"', "prices[0].model", "name of a model"),
        ('[[prices]]\nmodel = "m"\nprovider = ""\nin = "3 USD/1M"', "prices[0].provider", "name of a provider"),
        ('[[prices]]\nmodel = "m"\ncache_raed = "3 USD/1M"', "prices[0].cache_raed", "did you mean 'cache_read'"),
        ('[[prices]]\nmodle = "m"\nin = "3 USD/1M"', "prices[0].modle", "did you mean 'model'"),
        ('[[price]]\nmodel = "m"', "price", "did you mean 'prices'"),
        ('[[prices]]\nmodel = "m"\nin = "3 USD/1M"\ninput = "3 USD/1M"', "prices[0].input", "twice"),
        ('[[prices]]\nmodel = "m"\nin = "3 USD/1M"\nvariant = "Batch"', "prices[0].variant", "not one of batch"),
        ('[[prices]]\nmodel = "m"\nin = "3 USD/1M"\nfrom = "soon"', "prices[0].from", "bad time"),
        ('[[prices]]\nmodel = "m"\nin = "3 USD/1M"\nfrom = 3', "prices[0].from", "a date is needed"),
        ('[[prices]]\nmodel = "m"\nin = "3 USD/1M"\nfrom = 2026-02-01\nto = 2026-01-01', "prices[0].to", "never hold"),
        ('[[prices]]\nmodel = "m"\nmultiplier = 0.85', "prices[0].multiplier", "in quotes"),
        ('[[prices]]\nmodel = "m"\nmultiplier = "0"', "prices[0].multiplier", "not above 0"),
        ('[[prices]]\nmodel = "m"\nmultiplier = "85%"', "prices[0].multiplier", "in quotes"),
        ('[[prices]]\nmodel = "m"\nmultiplier = "2"\nin = "3 USD/1M"', "prices[0].multiplier", "exclude each other"),
        ('[[prices]]\nmodel = "m"\nbase = "n"\nin = "3 USD/1M"', "prices[0].base", "a multiplier beside it"),
        ('[[prices]]\nmodel = "m"\nin = "3 USD/1M"\ntiers = 3', "prices[0].tiers", "list of tables"),
        (
            '[[prices]]\nmodel = "m"\nin = "3 USD/1M"\ntiers = [{ abvoe = 3, in = "6 USD/1M" }]',
            "prices[0].tiers[0].abvoe",
            "did you mean 'above'",
        ),
        (
            '[[prices]]\nmodel = "m"\nin = "3 USD/1M"\ntiers = [{ above = "3k", in = "6 USD/1M" }]',
            "prices[0].tiers[0].above",
            "a number of tokens",
        ),
        (
            '[[prices]]\nmodel = "m"\nin = "3 USD/1M"\n'
            'tiers = [{ above = 9, in = "6 USD/1M" }, { above = 9, in = "7 USD/1M" }]',
            "prices[0].tiers[1].above",
            "above that of the tier before",
        ),
        (
            '[[prices]]\nmodel = "m"\nin = "3 USD/1M"\ntiers = [{ above = 9 }]',
            "prices[0].tiers[0]",
            "at least one price",
        ),
        (
            '[[prices]]\nmodel = "m"\nin = "3 USD/1M"\ntiers = [{ above = 9, out = "6 USD/1M" }]',
            "prices[0].tiers[0]",
            "in this tier only",
        ),
        ('prices = "none"', "prices", "[[prices]]"),
        ("[prices]\nmodel = 3", "prices", "[[prices]]"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_key(tmp_path: Path, text: str, path: str, problem: str) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(text)
    with pytest.raises(TokengapError) as error:
        read_prices(file)
    message = str(error.value)
    assert re.match(rf"{re.escape(str(file))}:\d+: {re.escape(path)}: ", message)
    assert problem in message


@pytest.mark.parametrize("data", [b"[[prices", b"\xff\xfe", b"a = 1\na = 2"])
def test_what_is_not_toml_is_refused(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "prices.toml"
    file.write_bytes(data)
    with pytest.raises(TokengapError, match="not TOML"):
        read_prices(file)
    with pytest.raises(TokengapError, match="cannot read"):
        read_prices(tmp_path)


def test_layers_first_hit_wins(tmp_path: Path) -> None:
    (tmp_path / "org.toml").write_text(
        '[[prices]]\nmodel = "gpt-4o"\nin = "2 USD/1M"\nout = "2 USD/1M"\n'
        '[[prices]]\nmodel = "gpt-5"\nin = "3 USD/1M"\nout = "3 USD/1M"\n'
    )
    project = tmp_path / "tokengap.toml"
    project.write_text(
        'model = "gpt-4o"\nprices_at = 2026-11-30\norganisation_prices = "org.toml"\n'
        '[[prices]]\nmodel = "gpt-4o"\nmultiplier = "0.5"\n[[budget]]\nname = "x"\n'
    )
    layered = load_book(project)
    assert total(price(layered)) == 2  # half the organisation's price
    assert price(layered).source.table.startswith("project: ")
    assert price(layered).source.based_on is not None
    assert total(price(layered, "gpt-5")) == 6
    assert price(layered, "gpt-4.1").source.table == "genai-prices"
    other = tmp_path / "other.toml"
    other.write_text('[[prices]]\nmodel = "gpt-4o"\nin = "4 USD/1M"\nout = "4 USD/1M"\n')
    assert total(price(load_book(project, other))) == 4


def test_pyproject_keeps_the_same_under_its_tool(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text('[project]\nname = "x"\n[[tool.tokengap.prices]]\nmodel = "m"\nin = "2 USD/1M"\nout = "1 USD/1M"\n')
    assert total(price(load_book(file), "m")) == 3
    file.write_text('[[tool.tokengap.prices]]\nmodel = "m"\nni = "2 USD/1M"\n')
    with pytest.raises(TokengapError, match=r"pyproject.toml:3: tool\.tokengap\.prices\[0\]\.ni: unknown key 'ni'"):
        load_book(file)


@pytest.mark.parametrize(
    "text",
    [
        '[[price]]\nmodel = "m"',
        "[[Prices]]",
        "[[pricing]]",
        'organization_prices = "x"',
        'organisation-price = "x"',
        'modle = "x"',
        "prices_a = 1",
        "[[budgets]]",
    ],
)
def test_a_project_key_that_is_not_known_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "tokengap.toml"
    file.write_text(text)
    with pytest.raises(TokengapError, match="did you mean"):
        load_book(file)


def test_the_nearest_configuration_holds(tmp_path: Path) -> None:
    inner = tmp_path / "repo" / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "tokengap.toml").write_text("")
    assert find_project(inner) == tmp_path / "tokengap.toml"
    (tmp_path / "repo" / ".git").mkdir()
    assert find_project(inner) is None
    (tmp_path / "repo" / "pyproject.toml").write_text("[tool.tokengap]\n")
    (tmp_path / "repo" / "a" / "pyproject.toml").write_text("[tool.other]\n")
    assert find_project(inner) == tmp_path / "repo" / "pyproject.toml"
    (inner / "tokengap.toml").write_text("")
    assert find_project(inner) == inner / "tokengap.toml"


def test_a_history_of_one_entry_is_priced_at_its_time(tmp_path: Path) -> None:
    own = book(tmp_path, '[[prices]]\nmodel = "gpt-4o"\nfrom = 2026-11-01\nin = "1 USD/1M"\nout = "1 USD/1M"\n')
    assert total(price(own)) == 2
    assert total(price_usage(MILLION, "gpt-4o", as_of=date(2026, 10, 31), book=own)) == Decimal("12.5")


VALID = """
[[prices]]
provider = "openai"
model = "m"
from = 2026-01-01
to = 2027-01-01
currency = "USD"
variant = "batch"
in = "3/1M"
cache_read = "1/1M"
out = "15 USD/1M"
web_searches = "10/1K"
[[prices.tiers]]
above = 128000
in = "6/1M"
out = "30 USD/1M"
[[prices]]
model = "n"
multiplier = "0.5"
base = "openai/gpt-4o"
"""
KEYS = sorted(set(re.findall(r"^(\w+) =", VALID, re.MULTILINE)))


@given(st.sampled_from(KEYS), st.data())
def test_no_mistyped_key_passes(tmp_path_factory: pytest.TempPathFactory, key: str, data: st.DataObject) -> None:
    """Drop, double or replace one letter of one key: it is refused, and named."""
    place = data.draw(st.integers(0, len(key) - 1))
    letter = data.draw(st.sampled_from("abcxyz_"))
    kinds = [
        key[:place] + key[place + 1 :],
        key[:place] + letter + key[place:],
        key[:place] + letter + key[place + 1 :],
    ]
    wrong = data.draw(st.sampled_from(kinds))
    if wrong in ("", *KEYS, "input", "output", "to"):
        return
    file = tmp_path_factory.mktemp("mistyped") / "prices.toml"
    file.write_text(re.sub(rf"^{key} =", f"{wrong} =", VALID, count=1, flags=re.MULTILINE))
    with pytest.raises(TokengapError, match=re.escape(f".{wrong}: unknown key {wrong!r}")):
        read_prices(file)


def test_the_file_that_is_mistyped_there_is_right(tmp_path: Path) -> None:
    assert len(book(tmp_path, VALID).layers[0].entries) == 2


@pytest.mark.parametrize(("provider", "near"), [("opnai", "openai"), ("azzure", "azure"), ("antropic", "anthropic")])
def test_a_mistyped_provider_is_refused(provider: str, near: str, tmp_path: Path) -> None:
    path = tmp_path / "tokengap.toml"
    path.write_text(f'[[prices]]\nprovider = "{provider}"\nmodel = "m"\nin = "1 USD/1M"\n')
    with pytest.raises(TokengapError, match=rf"prices\[0\]\.provider: unknown provider '{provider}'; .* '{near}'"):
        load_book(path)


@pytest.mark.parametrize("provider", ["house", "our-gateway", "openai", "bedrock", "Azure"])
def test_a_provider_of_ones_own_is_not(provider: str, tmp_path: Path) -> None:
    path = tmp_path / "tokengap.toml"
    path.write_text(f'[[prices]]\nprovider = "{provider}"\nmodel = "m"\nin = "1 USD/1M"\n')
    assert load_book(path).price("m", parse_as_of(None).time, provider=provider).per_million["input"] == 1


@pytest.mark.parametrize("model", ["azure/us/gpt-4o", "us/gpt-4o"])
def test_the_source_names_a_provider_once(model: str, tmp_path: Path) -> None:
    path = tmp_path / "tokengap.toml"
    path.write_text('[[prices]]\nprovider = "azure"\nmodel = "us/gpt-4o"\nin = "1 USD/1M"\n')
    source = load_book(path).price(model, parse_as_of(None).time, provider="azure").source
    assert source.row == "azure/us/gpt-4o"


@pytest.mark.parametrize(
    ("written", "asked", "provider"),
    [
        ("openai/gpt-4.1-mini", "gpt-4.1-mini", None),
        ("openai/gpt-4.1-mini", "openai/gpt-4.1-mini", None),
        ("openai/gpt-4.1-mini", "gpt-4.1-mini", "openai"),
        ("gpt-4o-2024-08-06", "gpt-4o-20240806", None),
        ("gpt-4o-20240806", "gpt-4o-2024-08-06", None),
        ("openai/gpt-4o-20240806", "openai/gpt-4o-2024-08-06", None),
        ("azure_ai/gpt-4o", "gpt-4o", "azure"),
        ("vertex_ai/gemini-2.5-pro", "google/gemini-2.5-pro", None),
        ("my-cloud/house", "house", "my-cloud"),
        ("house-2026-01-31", "house-20260131", None),
    ],
)
def test_an_entry_holds_however_the_name_is_written(
    tmp_path: Path, written: str, asked: str, provider: str | None
) -> None:
    own = book(tmp_path, f'[[prices]]\nmodel = "{written}"\nin = "2 USD/1M"\nout = "8 USD/1M"\n')
    assert total(price(own, asked, provider=provider)) == 10


def test_an_entry_of_one_provider_or_date_is_no_other_s(tmp_path: Path) -> None:
    own = book(
        tmp_path, '[[prices]]\nmodel = ["openai/gpt-4o", "gpt-5-2025-08-07"]\nin = "2 USD/1M"\nout = "8 USD/1M"\n'
    )
    assert price(own, "gpt-4o", provider="azure").source.table == "genai-prices"
    assert price(own, "gpt-5").source.table == "genai-prices"
    assert price(own, "gpt-5-20250806").source.table == "genai-prices"


def test_a_list_and_a_cost_have_one_price(tmp_path: Path) -> None:
    own = book(tmp_path, '[[prices]]\nmodel = "openai/gpt-4.1-mini"\nin = "2 USD/1M"\nout = "8 USD/1M"\n')
    (row,) = list_prices(own, parse_as_of(NOON).time, "gpt-4.1-mini", "openai")
    assert row.price.per_million == {"input": 2, "output": 8}
    assert total(price(own, "gpt-4.1-mini")) == 10


def test_a_chain_of_multiples_has_an_end(tmp_path: Path) -> None:
    entries = [f'[[prices]]\nmodel = "m{n}"\nmultiplier = "1.0"\nbase = "m{n + 1}"\n' for n in range(2000)]
    own = book(tmp_path, "".join(entries) + '[[prices]]\nmodel = "m2000"\nin = "1 USD/1M"\nout = "1 USD/1M"\n')
    assert total(price(own, "m1990")) == 2
    with pytest.raises(TokengapError, match="more than 16 multiples"):
        price(own, "m0")


def test_multiples_of_multiples_stay_within_what_a_price_can_be(tmp_path: Path) -> None:
    own = book(tmp_path, '[[prices]]\nmodel = "gpt-4o"\nmultiplier = "100"\n' * 3)
    with pytest.raises(TokengapError, match="absurdly high"):
        price(own, "gpt-4o")


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ('model = "[m"\nin = "1 USD/1M"', "a bracket without its other"),
        ('model = "m"\ncached_input = "1 USD/1M"', "did you mean 'cache_read'"),
        ('model = "m"\nin = "1 USD/1M"\nweb_searches = "10 USD/1M"', "web_searches are priced by the call"),
        ('model = "m"\nin = "1 USD/1M"\nfoo = ' + "9" * 5000, "a whole number in it is too large"),
    ],
)
def test_entries_that_cannot_be_meant(tmp_path: Path, entry: str, problem: str) -> None:
    with pytest.raises(TokengapError, match=problem):
        book(tmp_path, f"[[prices]]\n{entry}\n")
