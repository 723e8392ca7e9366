"""The pytest plugin, in test runs of its own."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.estimators import TokengapError, count, count_request
from tokengap.service.pytest_terms import read_marks, read_terms

pytest_plugins = ["pytester"]

TEXT = "a few words"  # 3 tokens of o200k_base, 0.0000075 USD as input of gpt-4o
LONG = "a few words " * 9  # 28 tokens
assert [count(text).results[0].count.tokens for text in (TEXT, LONG)] == [3, 28]


@pytest.fixture(autouse=True)
def _prices() -> None:
    """Load the compiled modules that a process can load but once: a run inside this one forgets what it loaded."""
    count(TEXT, ["model:gpt-4o"])


def outcomes(pytester: pytest.Pytester, body: str, *options: str, **expected: int) -> str:
    """What a run over one test module prints, once it has been seen to end as expected."""
    pytester.makepyfile("import pytest\n" + body)
    result = pytester.runpytest(*options)
    assert result.parseoutcomes() == expected, str(result.stdout)
    return str(result.stdout)


def test_within_the_limits(pytester: pytest.Pytester) -> None:
    body = f"""
def test_it(token_budget):
    counted = token_budget({TEXT!r}, max_tokens=3, max_cost="0.0000075 USD", model="gpt-4o", as_of="2026-11-30")
    assert (counted.tokens, counted.kind, counted.cost.to_dict()) == (
        3, "exact", {{"amount": "0.0000075", "currency": "USD"}})
"""
    shown = outcomes(pytester, body, passed=1)
    assert "= token budgets =" in shown
    assert "1 count, all within their limits" in shown


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (f"{LONG!r}, max_tokens=27", "text: 28 tokens (exact, o200k_base), 1 more than max_tokens=27"),
        (f"{LONG * 60!r}, max_tokens='1k'", "1,621 tokens (exact, o200k_base), 621 more than max_tokens=1,000"),
        (f"{LONG!r}, max_tokens=1, name='the greeting'", "the greeting: 28 tokens"),
        (f"{LONG!r}, max_tokens=26, counter='words:1', count='any'", "27 tokens (heuristic, words:1), 1 more than"),
        (f"{TEXT!r}, max_tokens=9, counter='words:1'", "3 tokens (heuristic, words:1) is not as good a count as"),
        ("[{'role': 'user', 'content': 'hi'}], model='gpt-4o', max_tokens=9, count='exact'", "is not as good a count"),
        (
            f"{TEXT!r}, max_cost='0.000007 USD', model='gpt-4o', as_of='2026-11-30'",
            "text: 0.0000075 USD, 0.0000005 USD more than max_cost='0.000007 USD'",
        ),
        (f"{TEXT!r}, max_cost='0.01 EUR', price='3 EUR', calls=2000", "text: 0.018 EUR, 0.008 EUR more than"),
        (f"{TEXT!r}, max_cost='1 USD'", "max_cost='1.00 USD', and no price is known (o200k_base): name a model"),
        (
            "{'model': 'gpt-4o', 'messages': [{'role': 'user', 'content': 'hi'}]}, max_tokens=7",
            "request: 8 tokens (reconstructed, model:gpt-4o, o200k_base), 1 more than max_tokens=7",
        ),
        ("[{'role': 'user', 'content': 'hi'}], model='gpt-4o', max_tokens=7", "request: 8 tokens"),
        (
            "'hi', model='claude-sonnet-4-5', counter='o200k_base', count='exact', max_tokens=9",
            "text: 1 tokens (heuristic, o200k_base) is not as good a count as this budget needs",
        ),
        (
            "{'prompt': 'hi', 'model': 'gpt-4o'}, counter='cl100k_base', count='exact', max_tokens=9",
            "request: 1 tokens (heuristic, cl100k_base) is not as good a count as this budget needs",
        ),
        ("__import__('pathlib').Path('prompt.md'), max_tokens=1", "prompt.md: 2 tokens"),
    ],
)
def test_over_a_limit(pytester: pytest.Pytester, call: str, message: str) -> None:
    pytester.path.joinpath("prompt.md").write_bytes(b"\r\n\n\r")
    shown = outcomes(pytester, f"def test_it(token_budget):\n    token_budget({call})\n", "-rN", failed=1)
    assert message in shown
    assert ("1 unpriced" if "no price" in message else "1 vague" if "not as good" in message else "1 over") in shown
    assert "pytest_budget.py:" not in shown, "the traceback ends in the test"


def test_an_upper_bound_is_what_counts(pytester: pytest.Pytester) -> None:
    """A count with an interval is held to its upper end, and the failure says so."""
    call = {"id": "1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    request = {"model": "gpt-4o", "messages": [{"role": "assistant", "tool_calls": [call]}]}
    known = count_request(request)
    assert known.interval is not None
    low, high = known.interval
    assert low <= known.tokens < high
    body = f"""
def test_within(token_budget):
    assert token_budget({request!r}, max_tokens={high}).most == {high}
def test_over(token_budget):
    token_budget({request!r}, max_tokens={high - 1})
"""
    shown = outcomes(pytester, body, passed=1, failed=1)
    assert f"request: {high} tokens at most, {known.tokens} by the count (" in shown
    assert f"{known.tokens} to {high}" in shown


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("'a'", "TokengapError: no limit: give max_tokens or max_cost"),
        ("'a', max_tokens=-1", "TokengapError: max_tokens: -1 is not a whole number"),
        ("'a', max_cost=0.02", "TokengapError: max_cost: 0.02 is not an amount with its currency"),
        (
            "'a', max_tokens=1, count='exactly'",
            "count: 'exactly' is not one of 'exact', 'bounded' or 'any'",
        ),
        ("'a', max_tokens=1, model='gpt-4oo'", "UnknownNameError: unknown model 'gpt-4oo'"),
        ("'a', max_tokens=9, model='claude-sonet-4-5', counter='o200k_base'", "did you mean claude-sonnet-4-5"),
        ("'a', max_cost='1 EUR', model='gpt-4o'", "the price is in USD: give both in the same currency"),
        ("'a', max_tokens=1, calls=5", "TokengapError: calls means nothing without max_cost"),
        ("'a', max_token=1", "TokengapError: max_token: unknown key 'max_token'; did you mean 'max_tokens'?"),
        ("'a', max_tokens=1, nmae='x'", "TokengapError: nmae: unknown key 'nmae'; did you mean 'name'?"),
        ("b'a', max_tokens=1, counter='bytes'", "TokengapError: request: "),
        ("{'messages': [{}]}, max_tokens=1", "TokengapError: request: messages[0]"),
        ("{'messages': 'a', 'model': 'gpt-4o'}, max_tokens=1", "TokengapError: request: messages"),
    ],
)
def test_a_wrong_call_is_one_error(pytester: pytest.Pytester, call: str, error: str) -> None:
    body = f"def test_it(token_budget):\n    token_budget({call})\n"
    shown = outcomes(pytester, body, "-rN", failed=1)
    assert error in shown
    assert "= token budgets =" not in shown
    assert "pytest_budget.py:" not in shown


def test_a_counter_counts_a_model_that_nobody_knows_never_exactly(pytester: pytest.Pytester) -> None:
    call = "token_budget('a', max_tokens=9, model='acme-chat-7', counter='o200k_base', count='exact')"
    shown = outcomes(pytester, f"def test_it(token_budget):\n    {call}\n", failed=1)
    assert "1 tokens (heuristic, o200k_base) is not as good a count as this budget needs" in shown


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ("(max_token=5)", "unknown key 'max_token'; did you mean 'max_tokens'?"),
        ("(budget=5)", "known are as_of, calls, count, counter, max_cost, max_tokens, model, price"),
        ("(500)", "its arguments need names: max_tokens=500, say"),
        ("", "it says nothing"),
        ("(max_tokens=True)", "max_tokens: True is not a whole number such as 8000"),
        ("(max_tokens='8 kg')", "max_tokens: '8 kg' is not a whole number"),
        ("(max_tokens=0)", "max_tokens: 0 would allow nothing"),
        ("(max_tokens=None)", "max_tokens is None: leave it out"),
        ("(max_cost='0.02')", "max_cost: '0.02' is not an amount with its currency"),
        ("(max_tokens=1, calls=0)", "calls: 0 calls would cost nothing"),
        ("(max_tokens=1, as_of='soon')", "as_of: bad time 'soon'"),
        ("(max_tokens=1, as_of=2026)", "as_of: a date is needed"),
        ("(max_tokens=1, model=4)", "model: 4 is no name"),
        ("(max_tokens=1, count='none')", "count: 'none' is not one of"),
    ],
)
def test_a_wrong_marker_is_refused_before_the_test(pytester: pytest.Pytester, marker: str, message: str) -> None:
    body = f"@pytest.mark.token_budget{marker}\ndef test_it(token_budget):\n    pass\n"
    shown = outcomes(pytester, body, "-rN", errors=1)
    assert "the marker token_budget of " in shown
    assert message in shown
    assert "Traceback" not in shown
    assert "During handling" not in shown


def test_a_marker_holds_for_all_counts_together(pytester: pytest.Pytester) -> None:
    body = f"""
@pytest.mark.token_budget(max_tokens=6, max_cost="0.000015 USD", model="gpt-4o", as_of="2026-11-30")
def test_within(token_budget):
    assert token_budget({TEXT!r}).tokens == token_budget({TEXT!r}, name="again", max_tokens=3).tokens == 3

@pytest.mark.token_budget(max_tokens=8)
def test_over(token_budget):
    token_budget({TEXT!r})
    token_budget({TEXT!r})
    token_budget({TEXT!r})

@pytest.mark.token_budget(max_cost="0.00002 USD", model="gpt-4o", as_of="2026-11-30")
def test_too_dear(token_budget):
    token_budget({TEXT!r}, calls=2)
    token_budget({TEXT!r})

@pytest.mark.token_budget(max_cost="1 USD", model="gpt-4o")
def test_unpriced(token_budget):
    token_budget({TEXT!r}, model="cl100k_base", counter="cl100k_base")
"""
    shown = outcomes(pytester, body, "-rN", "-v", passed=1, failed=3)
    assert "3 counts together: 9 tokens (exact, o200k_base), 1 more than max_tokens=8" in shown
    assert "2 counts together: 0.0000225 USD, 0.0000025 USD more than max_cost='0.00002 USD'" in shown
    assert "no price is known (cl100k_base)" in shown
    assert "11 counts, 2 over, 1 unpriced" in shown


def test_the_nearer_marker_goes_first(pytester: pytest.Pytester) -> None:
    body = f"""
pytestmark = pytest.mark.token_budget(max_tokens=2, model="gpt-4o", price="3 EUR")

@pytest.mark.token_budget(max_tokens=100)
class TestIt:
    def test_class(self, token_budget):
        assert token_budget({LONG!r}).cost.to_dict() == {{"amount": "0.000084", "currency": "EUR"}}

    @pytest.mark.token_budget(max_tokens=30)
    def test_function(self, token_budget):
        assert token_budget({LONG!r}).tokenizer == "model:gpt-4o, o200k_base"

    @pytest.mark.token_budget(model="gpt-4")
    def test_another_model_has_another_price(self, token_budget):
        counted = token_budget({LONG!r})
        assert (counted.tokenizer, counted.cost.currency) == ("model:gpt-4, cl100k_base", "USD")

    @pytest.mark.token_budget(counter="bytes")
    def test_a_counter_is_priced_as_the_model(self, token_budget):
        counted = token_budget("abc", count="any")
        assert (counted.tokens, counted.cost.to_dict()) == (3, {{"amount": "0.000009", "currency": "EUR"}})

    def test_the_call_goes_first(self, token_budget):
        counted = token_budget("abc", counter="bytes", price="1 USD", count="any")
        assert counted.cost.to_dict() == {{"amount": "0.000003", "currency": "USD"}}

def test_module(token_budget):
    token_budget({TEXT!r})
"""
    assert "3 tokens (exact, model:gpt-4o, o200k_base)" in outcomes(pytester, body, "-rN", passed=5, failed=1)


def test_a_marked_test_must_count(pytester: pytest.Pytester) -> None:
    body = """
import unittest

@pytest.mark.token_budget(max_tokens=5)
def test_without_the_fixture():
    pass

@pytest.mark.token_budget(max_cost="1 USD", model="gpt-4o")
def test_without_a_call(token_budget):
    pass

@pytest.mark.token_budget(model="gpt-4o")
def test_without_a_limit():
    pass

@pytest.mark.token_budget(max_tokens=5)
def test_skipped():
    pytest.skip()

@pytest.mark.token_budget(max_tokens=5)
def test_fails_by_itself():
    assert "own" == "reason"

@pytest.mark.token_budget(max_tokens=5)
def test_by_another_way(request):
    request.getfixturevalue("token_budget")("a")

@pytest.mark.token_budget(max_tokens=5)
class TestClass:
    def test_that_counts_nothing(self):
        pass

class TestUnit(unittest.TestCase):
    @pytest.mark.token_budget(max_tokens=5)
    def test_skipped(self):
        self.skipTest("later")
"""
    shown = outcomes(pytester, body, "-rN", failed=3, passed=3, skipped=2)
    assert shown.count("this test is marked with token_budget and counted nothing: take the fixture") == 2
    assert "'own' == 'reason'" in shown


MANY = f"""
@pytest.mark.parametrize("number", range(30))
def test_it(token_budget, number):
    token_budget({TEXT!r}, max_tokens=3 if number == 7 else 2 if number == 9 else 100, model="gpt-4o")
"""


@pytest.mark.parametrize(
    ("options", "rows", "more"),
    [
        ((), 20, "10 more, all within their limits (-v shows them)"),
        (("-v",), 30, None),
        (("-q",), 1, "29 more, all within their limits"),
    ],
)
def test_the_summary(pytester: pytest.Pytester, options: tuple[str, ...], rows: int, more: str | None) -> None:
    shown = outcomes(pytester, MANY, "-rN", *options, passed=29, failed=1)
    lines = shown[shown.index("= token budgets =") :].splitlines()[1:]
    table = [line for line in lines if "::test_it[" in line and "(text)" in line]
    assert len(table) == rows
    assert table[0].split()[:2] == ["3", "2"]
    assert "OVER: " in table[0]
    if rows > 1:
        assert table[1].endswith("test_it[7] (text)"), "what is nearest its limit comes first"
        assert table[1].split()[:5] == ["3", "3", "0.0000075", "USD", "exact"]
    assert (more or "29 more") in shown or more is None
    assert "30 counts, 1 over" in lines


@pytest.mark.parametrize("options", [("-n", "2"), ("-p", "no:xdist")])
def test_xdist_carries_the_counts(pytester: pytest.Pytester, options: tuple[str, ...]) -> None:
    shown = outcomes(pytester, MANY, "-rN", *options, passed=29, failed=1)
    assert "30 counts, 1 over" in shown
    assert shown.count("(text)\n") == 20


def test_other_plugins_may_be_missing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(MANY.replace("@pytest", "import pytest\n@pytest"))
    quiet = pytester.runpytest("-p", "no:terminal")
    assert (quiet.ret, str(quiet.stdout)) == (1, "")
    without = pytester.runpytest("-p", "no:tokengap", "-rN")
    assert without.parseoutcomes() == {"errors": 30}
    assert "fixture 'token_budget' not found" in str(without.stdout)
    assert "= token budgets =" not in str(without.stdout)


def test_nothing_is_said_or_loaded_where_it_is_not_used(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        "import json, sys\n"
        "def pytest_unconfigure():\n"
        "    print(json.dumps([name for name in sys.modules if name.startswith('tokengap')]))\n"
    )
    pytester.makepyfile("def test_it(): pass")
    done = pytester.runpytest_subprocess("-p", "no:hypothesispytest")
    assert done.parseoutcomes() == {"passed": 1}
    assert "token" not in str(done.stdout).partition("collected")[2].rpartition("[")[0]
    loaded = json.loads(done.outlines[-1])
    assert [name for name in loaded if name.startswith("tokengap")] == [
        "tokengap",
        "tokengap.service",
        "tokengap.service.pytest_plugin",
    ]


def test_the_marker_is_registered(pytester: pytest.Pytester) -> None:
    assert "@pytest.mark.token_budget(max_tokens=, max_cost=, calls=, model=" in str(
        pytester.runpytest("--markers").stdout
    )
    body = "@pytest.mark.token_budget(max_tokens=1)\ndef test_it(token_budget):\n    token_budget('a')\n"
    outcomes(pytester, body, "--strict-markers", passed=1)


def test_the_configuration_of_the_project_is_used(pytester: pytest.Pytester) -> None:
    """Its model, its prices and their time, where a test says nothing else."""
    configuration = """
model = "gpt-4o"
prices_at = 2026-11-30
[[prices]]
model = "gpt-4o"
from = 2026-11-30
in = "7 EUR/1M"
[[prices]]
model = "gpt-4o"
in = "9 EUR/1M"
"""
    pytester.path.joinpath("tokengap.toml").write_text(configuration)
    body = f"""
def test_it(token_budget):
    counted = token_budget({TEXT!r}, max_tokens=3)
    assert (counted.tokenizer, counted.cost.to_dict()["amount"]) == ("model:gpt-4o, o200k_base", "0.000021")

def test_at_another_time(token_budget):
    assert token_budget({TEXT!r}, max_tokens=3, as_of="2026-11-29").cost.to_dict()["amount"] == "0.000027"

def test_a_request_names_its_model(token_budget):
    messages = [{{"role": "user", "content": "hi"}}]
    request = {{"model": "gpt-4", "messages": messages}}
    assert token_budget(request, max_tokens=99).tokenizer == "model:gpt-4, cl100k_base"
    assert token_budget(messages, max_tokens=99).tokenizer == "model:gpt-4o, o200k_base"
"""
    outcomes(pytester, body, passed=3)


def test_a_wrong_configuration_of_the_project(pytester: pytest.Pytester) -> None:
    pytester.path.joinpath("tokengap.toml").write_text('modell = "gpt-4o"\n')
    shown = outcomes(pytester, "def test_it(token_budget):\n    token_budget('a', max_tokens=1)\n", "-rN", failed=1)
    assert "tokengap.toml:1" in shown
    assert "did you mean 'model'?" in shown


@given(st.integers(min_value=1, max_value=10**6))
def test_numbers_of_tokens(number: int) -> None:
    assert read_terms(max_tokens=number).max_tokens == read_terms(max_tokens=str(number)).max_tokens == number
    assert read_terms(max_tokens=f"{number}k").max_tokens == 1000 * number


@given(st.text(max_size=8))
def test_no_unknown_argument_passes(key: str) -> None:
    known = {"max_tokens", "max_cost", "calls", "model", "counter", "price", "as_of", "count"}
    if key not in known:
        with pytest.raises(TokengapError, match="unknown key"):
            read_marks([((), {key: 1})])
