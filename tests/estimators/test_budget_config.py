"""Budgets as they are configured: what is meant is understood, and nothing that is not passes."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tokengap.estimators.budget_config import Budget, Configuration, read_configuration
from tokengap.estimators.price import Money
from tokengap.estimators.toml_origin import key_lines
from tokengap.tokenizers.errors import TokengapError

ISSUE = """\
model = "openai/gpt-4o"
prices_at = 2026-11-30
[[budget]]
name = "system prompts"
paths = ["prompts/**/*.md", "!prompts/draft/**"]
max_tokens = "8k"
max_tokens_per_file = 2000
max_cost = "0.02 USD"
calls = 1
max_growth = "5%"
severity = "error"
"""
EVERYTHING = """\
model = "openai/gpt-4o"
prices_at = 2026-11-30
organisation_prices = "prices.toml"

[[budget]]
name = "templates"
paths = ["prompts/**/*.yaml", "!prompts/draft/**"]
type = "jinja"
field = "agents[*].system"
variables = { user = "Ann" }
allowances = { history = "2k" }
model = "openai/gpt-4o-mini"
counter = "o200k_base"
count = "any"
max_tokens = "8k"
max_tokens_per_file = 2000
max_cost = "0.02 USD"
calls = "200k"
max_growth = "200 tokens"
growth_tolerance = 20
severity = "warning"

[[budget]]
name = "tools"
paths = ["tools/*.json"]
type = "tools"
max_growth = "5%"

[[prices]]
model = "house"
in = "3 USD/1M"
"""


def budget(text: str) -> Budget:
    (read,) = read_configuration(f"[[budget]]\n{text}\n".encode(), "tokengap.toml").configuration.budget
    return read


def with_limit(text: str) -> Budget:
    return budget(f'name = "x"\npaths = ["a"]\n{text}')


def refusal(text: str, path: str = "tokengap.toml") -> str:
    with pytest.raises(TokengapError) as error:
        read_configuration(text.encode(), path)
    return str(error.value)


def test_the_form_that_must_exist() -> None:
    configuration = read_configuration(ISSUE.encode(), "tokengap.toml").configuration
    (read,) = configuration.budget
    assert configuration.model == "openai/gpt-4o"
    assert configuration.prices_at is not None
    assert configuration.prices_at.time.date() == date(2026, 11, 30)
    assert (read.name, read.paths) == ("system prompts", ("prompts/**/*.md", "!prompts/draft/**"))
    assert (read.max_tokens, read.max_tokens_per_file, read.calls) == (8000, 2000, 1)
    assert read.max_cost == Money(Decimal("0.02"), "USD")
    assert read.max_growth is not None
    assert (read.max_growth.percent, read.max_growth.tokens) == (Fraction(5), None)
    assert (read.severity, read.type, read.count) == ("error", "text", "bounded")


def test_the_same_in_pyproject() -> None:
    text = ISSUE.replace("[[budget]]", "[[tool.tokengap.budget]]").replace("model", "[tool.tokengap]\nmodel", 1)
    there = read_configuration(f'[project]\nname = "x"\n{text}'.encode(), "a/pyproject.toml").configuration
    assert there == read_configuration(ISSUE.encode(), "tokengap.toml").configuration
    wrong = refusal(text.replace("max_tokens =", "max_tokns ="), "a/pyproject.toml")
    assert wrong.startswith("a/pyproject.toml:7: tool.tokengap.budget[0].max_tokns: unknown key")
    assert read_configuration(b"[project]\nname = 'x'", "pyproject.toml").configuration == Configuration()


RIGHT = """\
[tool.tokengap]
model = "gpt-4o"
[[tool.tokengap.budget]]
name = "right"
paths = ["a"]
max_tokens = 1
"""
UNDER = "name = 'wrong'\npaths = ['b']\nmax_tokens = 1\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[tool.tokengap.budget]", "budget: a list of tables is needed, each under its own [[tool.tokengap.budget]]"),
        ("[tool.tokengap]\nbudget = [1]", "budget[0]: a list of tables is needed, each under its own [[tool."),
        ("[tool.tokengap]\nmax_cost = 1", "max_cost: misplaced key 'max_cost': it belongs under a [[tool.tokengap.bud"),
        ("[[tool.tokengap.budget]]\nprices_at = 1", "budget[0].prices_at: misplaced key 'prices_at': it belongs at the "
         "top, before every [[tool.tokengap.budget]]"),
    ],
)  # fmt: skip
def test_tables_are_called_as_they_are_in_a_pyproject(text: str, says: str) -> None:
    assert f": tool.tokengap.{says}" in refusal(text, "pyproject.toml")


@pytest.mark.parametrize("beside", [RIGHT, ""])
@pytest.mark.parametrize(
    ("header", "says"),
    [
        ("[[budget]]", "budget: misplaced: in pyproject.toml it is [[tool.tokengap.budget]]"),
        ("[budget]", "budget: misplaced: in pyproject.toml it is [[tool.tokengap.budget]]"),
        ("[[budgets]]", "budgets: misplaced: in pyproject.toml it is [[tool.tokengap.budget]]"),
        ("[[x]]", "x: misplaced: in pyproject.toml it is [[tool.tokengap.budget]]"),
        ("[[tool.budget]]", "tool.budget: misplaced: it is [[tool.tokengap.budget]]"),
        ("[[tokengap.budget]]", "tokengap: misplaced: in pyproject.toml it is [tool.tokengap]"),
        ('[["tool.tokengap.budget"]]', '["tool.tokengap.budget"]: misplaced: in pyproject.toml it is [tool.tokengap]'),
        ("[[tool.tokengp.budget]]", "tool.tokengp: nobody reads 'tokengp'; did you mean 'tokengap'?"),
        ("[[tool.Tokengap.budget]]", "tool.Tokengap: nobody reads 'Tokengap'; did you mean 'tokengap'?"),
        ("[[tool.token-gap.budget]]", "tool.token-gap: nobody reads 'token-gap'; did you mean 'tokengap'?"),
        ("[[tool.tokengap-budget]]", "tool.tokengap-budget: nobody reads"),
        ("[[tools.tokengap.budget]]", "tools.tokengap: misplaced: it is [tool.tokengap], not in a table of another"),
        ("[[Tool.tokengap.budget]]", "Tool.tokengap: misplaced: it is [tool.tokengap], not in a table of another"),
        ("[[tool.poetry.tokengap.budget]]", "tool.poetry.tokengap: misplaced: it is [tool.tokengap], not in a table"),
        ("[[tool.poetry.group.tokengap.budget]]", "tool.poetry.group.tokengap: misplaced"),
        ("[[tool.poetry.budget]]", "tool.poetry.budget: misplaced: it is [[tool.tokengap.budget]]"),
        ("[[project.budget]]", "project.budget: misplaced: it is [[tool.tokengap.budget]]"),
        ("[[project.tokengap.budget]]", "project.tokengap: misplaced"),
    ],
)
def test_misplaced_tables_of_a_pyproject(header: str, says: str, beside: str) -> None:
    text = f"{beside}{header}\n{UNDER}"
    line = beside.count("\n") + 1
    assert refusal(text, "pyproject.toml").startswith(f"pyproject.toml:{line}: {says}")


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("prices_at = 2026-11-30", "prices_at: misplaced: in pyproject.toml it is under [tool.tokengap]"),
        ("prices-at = 2026-11-30", "prices-at: misplaced: in pyproject.toml it is under [tool.tokengap]"),
        ("model = 'gpt-4o'", "model: misplaced: in pyproject.toml it is under [tool.tokengap]"),
        ("max_tokens = 1", "max_tokens: misplaced: in pyproject.toml it is under [[tool.tokengap.budget]]"),
        ("tool.prices_at = 2026-11-30", "tool.prices_at: misplaced: it is under [tool.tokengap]"),
        ("prices = [{model = 'x'}]", "prices: misplaced: in pyproject.toml it is [[tool.tokengap.prices]]"),
    ],
)
def test_misplaced_keys_of_a_pyproject(key: str, says: str) -> None:
    assert refusal(f"\n{key}\n{RIGHT}", "pyproject.toml").startswith(f"pyproject.toml:2: {says}")


def test_tables_of_others_are_theirs() -> None:
    """Names and keys such as other tools have, and tokengap where it is only a dependency."""
    others = """
[project]
name = "x"
scripts = { tokengap = "x:y" }
optional-dependencies = { tokengap = ["tokengap"] }
[project.entry-points."tokengap.counters"]
mine = "x:y"
[dependency-groups]
dev = ["tokengap"]
[tool.poetry.dependencies]
tokengap = { version = "1", extras = ["fast"] }
[tool.uv.sources]
tokengap = { git = "g" }
[tool.hatch.envs.tokengap]
dependencies = ["tokengap"]
[tool.tokenizer]
model = "x"
[tool.model]
paths = ["a"]
[[tool.bundle.budget]]
paths = ["a"]
max_size = 3
[tool.llm]
max_tokens = 3
model = "x"
prices = [{ model = "x", in = 3 }]
[[tool.mypy.overrides]]
module = "tokengap.*"
[flake8]
x = 1
[module]
paths = ["a"]
[models]
gpt = "x"
"""
    read = read_configuration((RIGHT + others).encode(), "pyproject.toml").configuration
    assert [each.name for each in read.budget] == ["right"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('"8k"', 8000), ('"8 k"', 8000), ('"8K"', 8000), ('"1.5M"', 1_500_000), ('"1.25k tokens"', 1250),
        ('" 8k "', 8000), ('"8 K tokens"', 8000), ('"100 tokens"', 100), ('"2 M"', 2_000_000), ('"0.5k"', 500),
        ("8000", 8000), ("8_000", 8000), ('"8000"', 8000), ('"1 tokens"', 1), ("1", 1),
    ],
)  # fmt: skip
def test_numbers_of_tokens(written: str, meant: int) -> None:
    assert with_limit(f"max_tokens = {written}").max_tokens == meant


@pytest.mark.parametrize(
    "written",
    ["0", "-1", "8.0", "true", '""', '"8ki"', '"8 kb"', '"8,000"', '"1.0005k"', '"k"', '"8k calls"', "[8000]",
     '"8m"', '"1.5 m"', '"8m tokens"', '"8 Tokens"', '"8k k"', '"8 token"', '"tokens"',
     '"eight"', '"8000 USD"', '"٨"', "nan", '"10000000M"', '"1e3"'],
)  # fmt: skip
def test_what_is_no_number_of_tokens(written: str) -> None:
    said = refusal(f'[[budget]]\nname = "x"\npaths = ["a"]\nmax_tokens = {written}')
    assert said.startswith("tokengap.toml:4: budget[0].max_tokens: ")


def test_small_m_is_no_million() -> None:
    said = refusal('[[budget]]\nname = "x"\npaths = ["a"]\nmax_tokens = "8m"')
    assert said.endswith("""max_tokens: '8m': m is no unit here; millions are written with M, such as "1.5M\"""")


@pytest.mark.parametrize(("written", "meant"), [("1000", 1000), ('"200k"', 200_000), ('"1.5 M"', 1_500_000)])
def test_numbers_of_calls(written: str, meant: int) -> None:
    assert with_limit(f'max_cost = "1 USD"\ncalls = {written}').calls == meant


@pytest.mark.parametrize("written", ["0", '"200k tokens"', '"200 calls"', '"2m"', "1.5", "true"])
def test_what_is_no_number_of_calls(written: str) -> None:
    said = refusal(f'[[budget]]\nname = "x"\npaths = ["a"]\nmax_cost = "1 USD"\ncalls = {written}')
    assert said.startswith("tokengap.toml:5: budget[0].calls: ")


@pytest.mark.parametrize(
    ("written", "meant"),
    [('"0.02 USD"', Money(Decimal("0.02"), "USD")), ('"3eur"', Money(Decimal(3), "EUR"))],
)
def test_costs(written: str, meant: Money) -> None:
    assert with_limit(f"max_cost = {written}").max_cost == meant


@pytest.mark.parametrize("written", ["0.02", '"0.02"', '"$0.02"', '"0.02 US"', '"0 USD"', '"-1 USD"', '"0,02 USD"'])
def test_what_is_no_cost(written: str) -> None:
    said = refusal(f'[[budget]]\nname = "x"\npaths = ["a"]\nmax_cost = {written}')
    assert said.startswith("tokengap.toml:4: budget[0].max_cost: ")


@pytest.mark.parametrize(
    ("written", "base", "most"),
    [
        ('"5%"', 1000, Fraction(1050)), ('"0%"', 1000, Fraction(1000)), ('"2.5 %"', 100, Fraction(205, 2)),
        ("200", 1000, Fraction(1200)), ('"2k"', 1000, Fraction(3000)), ("0", 7, Fraction(7)),
    ],
)  # fmt: skip
def test_growth(written: str, base: int, most: Fraction) -> None:
    growth = with_limit(f"max_growth = {written}").max_growth
    assert growth is not None
    assert growth.most(base) == most


@pytest.mark.parametrize("written", ['"5"x', "0.05", '"5 percent"', '"-5%"', '"%"', "true", '"5%%"'])
def test_what_is_no_growth(written: str) -> None:
    assert refusal(f'[[budget]]\nname = "x"\npaths = ["a"]\nmax_growth = {written}').startswith("tokengap.toml:4: ")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[budgets]]", "tokengap.toml:1: budgets: unknown key 'budgets'; did you mean 'budget'?"),
        ("[budget]\nname = 'x'", "tokengap.toml:1: budget: a list of tables is needed, each under its own [[budget]]"),
        ("budget = ['x']", "tokengap.toml:1: budget[0]: a list of tables is needed, each under its own [[budget]]"),
        ("max_tokens = 1", "tokengap.toml:1: max_tokens: misplaced key 'max_tokens': it belongs under a [[budget]]"),
        ("model = 3", "tokengap.toml:1: model: a name in quotes is needed"),
        ("\nmodel = ''", "tokengap.toml:2: model: a name in quotes is needed"),
        ("prices_at = 3", "tokengap.toml:1: prices_at: a date is needed, such as 2026-11-30"),
        ("prices_at = 'soon'", "tokengap.toml:1: prices_at: bad time 'soon'"),
        ("\nprices-at = 2026-11-30", "tokengap.toml:2: prices-at: unknown key 'prices-at'; did you mean 'prices_at'?"),
        ("x = 1\n\ny = [", "tokengap.toml:3: not TOML: Invalid value"),
        ("a = 1\na = 2", "tokengap.toml:2: not TOML: Cannot overwrite a value"),
        ("[[tool.tokengap.budget]]", "tokengap.toml:1: tool: misplaced key 'tool': only in pyproject.toml"),
    ],
)
def test_what_is_wrong_at_the_top(text: str, says: str) -> None:
    assert refusal(text).startswith(says)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "tokengap.toml:3: budget[0]: nothing is limited: at least one of max_tokens"),
        ("max_tokens = 1\nmodel = ''", "tokengap.toml:7: budget[0].model: a name in quotes is needed"),
        ("max_tokens = 1\ncounter = ' '", "tokengap.toml:7: budget[0].counter: a name in quotes is needed"),
        (
            "exclude = ['b']",
            "tokengap.toml:6: budget[0].exclude: unknown key 'exclude'; a pattern in 'paths' that begins",
        ),
        ("owner = 'me'", "tokengap.toml:6: budget[0].owner: unknown key 'owner'; known are allowances, calls"),
        (
            "max_tokens = 99999999999999999999",
            "tokengap.toml:6: budget[0].max_tokens: 99999999999999999999 is more",
        ),
        (
            "max_tokens = '99999999999999999999'",
            "tokengap.toml:6: budget[0].max_tokens: '99999999999999999999' is",
        ),
        ("max_token = 1", "tokengap.toml:6: budget[0].max_token: unknown key 'max_token'; did you mean 'max_tokens'?"),
        ("prices_at = 2026-11-30", "tokengap.toml:6: budget[0].prices_at: misplaced key 'prices_at': it belongs at"),
        ("severity = 'eror'", "tokengap.toml:6: budget[0].severity: 'eror' is not one of 'error' or 'warning'"),
        ("type = 'txt'", "tokengap.toml:6: budget[0].type: 'txt' is not one of 'text', 'chat', 'tools', 'jinja'"),
        ("count = 'sure'", "tokengap.toml:6: budget[0].count: 'sure' is not one of 'exact', 'bounded' or 'any'"),
        ("growth_tolerance = 3\nmax_tokens = 1", "tokengap.toml:6: budget[0].growth_tolerance: 'growth_tolerance' me"),
        ("calls = 3\nmax_tokens = 1", "tokengap.toml:6: budget[0].calls: 'calls' means nothing without 'max_cost'"),
        ("max_tokens = 1\nvariables = { a = 1 }", "tokengap.toml:7: budget[0].variables: 'variables' is for templates"),
        ("max_tokens = 1\nfield = 'a['", "tokengap.toml:7: budget[0].field: 'a[' is no path to a field"),
        ("max_tokens = 1\nfield = ''", "tokengap.toml:7: budget[0].field: an empty path"),
        (
            "max_tokens = 1\ntype = 'jinja'\nvariables = { a = 1 }\nallowances = { a = 1 }",
            "tokengap.toml:9: budget[0].allowances: 'a' has a sample in 'variables' already",
        ),
        (
            "max_tokens = 1\ntype = 'jinja'\n[budget.allowances]\nx = 1\nhistory = '2kk'",
            "tokengap.toml:10: budget[0].allowances.history: '2kk' is not a whole number",
        ),
        (
            "max_tokens = 1\ntype = 'jinja'\n[budget.variables]\n'a b' = 1",
            'tokengap.toml:9: budget[0].variables["a b"]: not the name of a variable',
        ),
        (
            "max_tokens = 1\n[[budget]]\nname = 'x'\npaths = ['b']\nmax_tokens = 1",
            "tokengap.toml:8: budget[1].name: a budget before it is called 'x' too",
        ),
    ],
)
def test_what_is_wrong_in_a_budget(text: str, says: str) -> None:
    assert refusal(f"model = 'gpt-4o'\n\n[[budget]]\nname = 'x'\npaths = ['a']\n{text}").startswith(says)


@pytest.mark.parametrize(
    "pattern",
    ["", " ", "/prompts/*.md", "../*.md", "a/../b", "./a", "a//b", "a/.", "~/a", "C:/a", "a\\b", "a**/b", "a/***/b",
     "a/**b", "a ", "[z-a]", "[^a]", "a[", "*.{md,txt}"],
)  # fmt: skip
def test_impossible_globs(pattern: str) -> None:
    good = "[[budget]]\nname = 'x'\nmax_tokens = 1\npaths = [\n  'prompts/*.md',\n  {}]"
    said = refusal(good.format(f"'{pattern}'"))
    assert said.startswith("tokengap.toml:6: budget[0].paths[1]: ")
    assert refusal(good.format(f"'!{pattern}'")).startswith("tokengap.toml:6: budget[0].paths[1]: ")


@pytest.mark.parametrize("paths", ["'a'", "[]", "[1]", "['!a']", "['!a', 'b']", "{}", "3"])
def test_what_are_no_paths(paths: str) -> None:
    assert "budget[0].paths" in refusal(f"[[budget]]\nname = 'x'\nmax_tokens = 1\npaths = {paths}")


def test_more_than_anybody_means() -> None:
    one = "[[budget]]\nname = 'x{}'\nmax_tokens = 1\npaths = ['a']\n"
    many = "".join(one.format(number) for number in range(201))
    assert refusal(many).startswith("tokengap.toml:1: budget: more than 200 budgets")
    patterns = ", ".join(["'a'"] * 101)
    assert "budget[0].paths: more than 100 patterns" in refusal(one.replace("'a'", patterns))
    assert "budget[0].paths[0]: 'aaa" in refusal(one.replace("'a'", f"'{'a' * 501}'"))


@pytest.mark.parametrize("name", ["''", "' '", "3", "'a\\u0007'", "'a\\nb'", f"'{'a' * 201}'"])
def test_what_is_no_name(name: str) -> None:
    text = name.replace("'", '"')
    assert "budget[0].name: a name" in refusal(f"[[budget]]\nname = {text}\nmax_tokens = 1\npaths = ['a']")


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(TokengapError, match=r"tokengap\.toml:2: not TOML: not UTF-8 \(byte 0xff"):
        read_configuration(b"model = 'x'\ny = '\xff'", "tokengap.toml")


def test_everything_is_understood() -> None:
    first, second = read_configuration(EVERYTHING.encode(), "tokengap.toml").configuration.budget
    assert (first.variables, first.allowances) == ({"user": "Ann"}, {"history": 2000})
    assert (first.calls, first.growth_tolerance, first.severity, first.count) == (200_000, 20, "warning", "any")
    assert second.type == "tools"


KEYS = sorted(set(re.findall(r"^(\w+) =", EVERYTHING.partition("[[prices]]")[0], re.MULTILINE)))
KNOWN = {field.name for kind in (Budget, Configuration) for field in fields(kind)} | {"prices", "organisation_prices"}
LETTERS = st.sampled_from("abcdefghijklmnopqrstuvwxyz_-A1")


def mistyped(word: str, data: st.DataObject) -> str:
    """One letter dropped, added, replaced, or two exchanged."""
    place = data.draw(st.integers(0, len(word) - 1))
    letter = data.draw(LETTERS)
    return data.draw(
        st.sampled_from(
            [
                word[:place] + word[place + 1 :],
                word[:place] + letter + word[place:],
                word[:place] + letter + word[place + 1 :],
                word[:place] + word[place : place + 2][::-1] + word[place + 2 :],
            ]
        )
    )


@given(st.sampled_from(KEYS), st.data())
def test_no_mistyped_key_passes(key: str, data: st.DataObject) -> None:
    wrong = mistyped(key, data)
    assume(wrong and wrong not in KNOWN)
    text, count = re.subn(rf"^{key} =", f"{wrong} =", EVERYTHING, count=1, flags=re.MULTILINE)
    assert count == 1
    line = text.split("\n").index(next(line for line in text.split("\n") if line.startswith(f"{wrong} ="))) + 1
    said = refusal(text)
    assert re.match(rf"tokengap\.toml:{line}: \S*{re.escape(wrong)}\S*: unknown key '{wrong}'; did you mean '", said)


@given(st.sampled_from([key for key in KEYS if key not in ("model",)]), st.data())
def test_no_key_passes_in_another_place(key: str, data: st.DataObject) -> None:
    """A line moved to the top, into the other kind of table, or below a table it does not belong to."""
    lines = EVERYTHING.split("\n")
    start = next(number for number, line in enumerate(lines) if line.startswith(f"{key} ="))
    moved = lines.pop(start)
    at_top = key in ("prices_at", "organisation_prices")
    inside = [number for number, line in enumerate(lines) if line.startswith("name =")]
    place = data.draw(st.sampled_from(inside)) if at_top else 0
    lines.insert(place, moved)
    said = refusal("\n".join(lines))
    assert re.match(r"tokengap\.toml:\d+: ", said)


@given(st.sampled_from(["tool", "tokengap", "budget"]), st.booleans(), st.data())
def test_no_mistyped_header_of_a_pyproject_passes(word: str, first: bool, data: st.DataObject) -> None:
    """Beside a right budget, which would pass by itself, before it or after it."""
    wrong = mistyped(word, data)
    assume(wrong and wrong != word)
    header = "[[tool.tokengap.budget]]".replace(word, f'"{wrong}"')
    other = f"{header}\n{UNDER}"
    assert re.match(r"pyproject\.toml:\d+: ", refusal(other + RIGHT if first else RIGHT + other, "pyproject.toml"))


WRONG_TYPES = ["true", "3.5", "[]", "{}", "2026-11-30", "[1]", "{ a = 1 }", '"?"', "-1", '""']
ANY_VALUE_IS_MEANT = {("name", '"?"'), ("model", '"?"'), ("counter", '"?"'),
                      ("prices_at", "2026-11-30"), ("variables", "{}"), ("variables", "{ a = 1 }"),
                      ("allowances", "{}"), ("allowances", "{ a = 1 }"), ("field", '"?"')}  # fmt: skip


@pytest.mark.parametrize("key", [key for key in KEYS if key != "organisation_prices"])
@pytest.mark.parametrize("value", WRONG_TYPES)
def test_no_value_of_another_type_passes(key: str, value: str) -> None:
    """What is a name of something is looked up when it is checked: here any text is one."""
    if (key, value) in ANY_VALUE_IS_MEANT:
        return
    text = re.sub(rf"^{key} = .*", f"{key} = {value}", EVERYTHING, count=1, flags=re.MULTILINE)
    assert re.match(rf"tokengap\.toml:\d+: (budget\[0\]\.)?{key}", refusal(text))


@given(st.data())
def test_no_damaged_unit_passes(data: st.DataObject) -> None:
    """A letter or sign put into or beside a value with a unit gives a value that is written so, or an error."""
    key, value = data.draw(
        st.sampled_from([("max_tokens", "8k"), ("max_cost", "0.02 USD"), ("max_growth", "5%"), ("calls", "200k")])
    )
    place = data.draw(st.integers(0, len(value)))
    sign = data.draw(st.sampled_from("abceghijlnopqrsuvwxyz$€,;:/+-_~#!?'"))
    damaged = value[:place] + sign + value[place:]
    text = f'[[budget]]\nname = "x"\npaths = ["a"]\nmax_cost = "1 USD"\n{key} = "{damaged}"\n'
    if key == "max_cost":
        text = text.replace('max_cost = "1 USD"\n', "")
    assert re.match(rf"tokengap\.toml:\d: budget\[0\]\.{key}: ", refusal(text))


def paths_of(value: Any, steps: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {steps} - {()} | {path for key, member in members for path in paths_of(member, (*steps, key))}


SCALARS = st.sampled_from(["1", "1.5", "true", "2026-11-30", '"a # b"', "'''x\ny'''", '"""q\n"""', "'['"])
NAMES = st.sampled_from(["a", "b-c", '"d.e"', "'f g'", "1", "a.b", 'x."y".z'])


@st.composite
def values(draw: st.DrawFn, depth: int = 0) -> str:
    kind = draw(st.sampled_from(["scalar", "array", "inline"] if depth < 3 else ["scalar"]))
    if kind == "array":
        items = draw(st.lists(values(depth + 1), max_size=3))
        return "[" + ", # c\n".join(items) + draw(st.sampled_from(["", "\n"])) + "]"
    if kind == "inline":
        names = draw(st.lists(NAMES, max_size=2, unique=True))
        return "{" + ", ".join(f"{name} = {draw(values(depth + 1))}" for name in names) + "}"
    return draw(SCALARS)


@st.composite
def documents(draw: st.DrawFn) -> str:
    lines = []
    for _ in range(draw(st.integers(0, 5))):
        name = draw(NAMES)
        kind = draw(st.sampled_from(["pair", "table", "list", "comment"]))
        lines.append(
            {"pair": f"{name} = {draw(values())}", "table": f"[{name}] # t", "list": f"[[{name}]]", "comment": "# x"}[
                kind
            ]
        )
    return draw(st.sampled_from(["\n", "\r\n", "\n\n"])).join(lines)


@given(documents())
def test_every_key_has_its_line(document: str) -> None:
    """The lines are of the very keys that tomllib reads, whatever the form they are written in."""
    try:
        read = tomllib.loads(document)
    except tomllib.TOMLDecodeError:
        return
    lines = key_lines(document.encode())
    assert set(lines) == paths_of(read)
    written = document.split("\n")
    for steps, line in lines.items():
        if isinstance(steps[-1], str):
            assert steps[-1] in written[line - 1]
