"""Verdicts: what is over, since when, how sure that is, and what it exits with."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tokengap.estimators.budget_baseline import Base, TreeBase
from tokengap.estimators.budget_check import Checked, check_budgets
from tokengap.estimators.budget_config import Loaded, read_configuration, validate
from tokengap.estimators.budget_recording import read_recording, record
from tokengap.estimators.budget_report import CODES, BudgetResult, check_json
from tokengap.estimators.price import Money
from tokengap.estimators.price_book import load_book
from tokengap.estimators.request_count import count_request
from tokengap.estimators.toml_origin import Origin
from tokengap.service.check_rows import rows
from tokengap.tokenizers.errors import TokengapError
from tokengap.tokenizers.registry import get_counter

TODAY = date(2026, 12, 1)
HEAD = 'model = "gpt-4o"\nprices_at = 2026-11-30\n[[budget]]\nname = "b"\npaths = ["p/**"]\n'


def words(number: int) -> bytes:
    """A text of exactly so many tokens."""
    return (" a" * number).encode()


def loaded(limits: str) -> Loaded:
    return read_configuration((HEAD + limits).encode(), "tokengap.toml")


def check(limits: str, files: dict[str, bytes], base: dict[str, bytes] | Base | None = None, **options: Any) -> Checked:
    if isinstance(base, dict):
        base = TreeBase("main", base, options.pop("renames", {}))
    return check_budgets(loaded(limits), files, base, today=TODAY, **options)


def only(checked: Checked) -> BudgetResult:
    (result,) = checked.report.budgets
    return result


def refusal(limits: str, files: dict[str, bytes], base: dict[str, bytes] | None = None) -> str:
    with pytest.raises(TokengapError) as error:
        check(limits, files, base)
    return str(error.value)


def test_the_texts_of_these_tests_are_as_long_as_they_say() -> None:
    assert [get_counter("o200k_base").count(words(n).decode()).tokens for n in (1, 7, 5000)] == [1, 7, 5000]


@pytest.mark.parametrize(
    ("limits", "tokens", "base", "codes", "introduced", "exit"),
    [
        ("max_tokens = 10", 10, None, [], None, 0),
        ("max_tokens = 10", 11, None, ["TOK001"], None, 1),
        ("max_tokens = 10", 11, 10, ["TOK001"], True, 1),
        ("max_tokens = 10", 11, 11, ["TOK001"], False, 0),
        ("max_tokens = 10", 11, 15, ["TOK001"], False, 0),
        ("max_tokens = 10", 16, 15, ["TOK001"], True, 1),
        ("max_tokens = 10", 10, 15, [], None, 0),
        ("max_tokens_per_file = 10", 11, None, ["TOK004"], None, 1),
        ("max_tokens_per_file = 10", 11, 11, ["TOK004"], False, 0),
        ("max_tokens_per_file = 10", 12, 11, ["TOK004"], True, 1),
        ('max_cost = "0.0025 USD"', 1000, None, [], None, 0),
        ('max_cost = "0.0025 USD"', 1001, None, ["TOK002"], None, 1),
        ('max_cost = "0.0025 USD"', 1001, 1001, ["TOK002"], False, 0),
        ('max_cost = "0.0025 USD"', 1001, 1000, ["TOK002"], True, 1),
        ('max_cost = "5 USD"\ncalls = "2k"', 1000, None, [], None, 0),
        ('max_cost = "5 USD"\ncalls = "2k"', 1001, None, ["TOK002"], None, 1),
        ('max_growth = "5%"', 105, 100, [], None, 0),
        ('max_growth = "5%"', 106, 100, ["TOK003"], True, 1),
        ('max_growth = "0%"', 100, 100, [], None, 0),
        ("max_growth = 7", 107, 100, [], None, 0),
        ("max_growth = 7", 108, 100, ["TOK003"], True, 1),
        ('max_growth = "5%"\ngrowth_tolerance = 9', 109, 100, [], None, 0),
        ('max_growth = "5%"\ngrowth_tolerance = 9', 110, 100, ["TOK003"], True, 1),
        ('max_growth = "5%"', 50, 100, [], None, 0),
        ('max_growth = "5%"', 1000, None, [], None, 0),
        ('max_growth = "5%"', 1, 0, ["TOK003"], True, 1),
        ('max_growth = "5%"', 0, 0, [], None, 0),
        ('max_growth = "5%"\ngrowth_tolerance = 9', 9, 0, [], None, 0),
        ('max_growth = "5%"\ngrowth_tolerance = 9', 10, 0, ["TOK003"], True, 1),
        ("max_growth = 7", 7, 0, [], None, 0),
        ("max_growth = 7", 8, 0, ["TOK003"], True, 1),
        ("max_growth = '1k'", 1001, 0, ["TOK003"], True, 1),
        ('max_tokens = 10\nseverity = "warning"', 11, None, ["TOK001"], None, 0),
        ('max_tokens = 10\nmax_growth = "5%"', 20, 15, ["TOK001", "TOK003"], True, 1),
    ],
)
def test_limits(
    limits: str, tokens: int, base: int | None, codes: list[str], introduced: bool | None, exit: int
) -> None:
    before = None if base is None else {"p/a": words(base)}
    checked = check(limits, {"p/a": words(tokens), "elsewhere": words(9999)}, before)
    result = only(checked)
    assert [violation.code for violation in result.violations] == codes
    assert {violation.introduced for violation in result.violations} <= {introduced}
    assert checked.report.exit_code == exit
    assert (result.tokens, result.base_tokens) == (tokens, base)
    assert result.passed is checked.report.passed is (exit == 0)


def test_what_was_over_fails_where_that_is_asked() -> None:
    files = {"p/a": words(11)}
    assert check("max_tokens = 10", files, files).report.exit_code == 0
    assert check("max_tokens = 10", files, files, fail_inherited=True).report.exit_code == 1


def test_each_file_is_told_apart() -> None:
    before = {"p/same": 5, "p/grown": 5, "p/shrunk": 5, "p/gone": 5, "p/old name": 50, "p/old place": 7, "q/moved": 8}
    after = {"p/same": 5, "p/grown": 6, "p/shrunk": 4, "p/added": 3, "p/new name": 51, "p/new place": 7, "p/moved": 8}
    base, files = ({path: words(number) for path, number in tree.items()} for tree in (before, after))
    renames = {"p/new name": "p/old name", "p/moved": "q/moved"}
    result = only(check("max_tokens = '1k'", files, base, renames=renames))
    told = {file.path: (file.change, file.base_path, file.base_tokens, file.tokens) for file in result.files}
    assert told == {
        "p/same": ("unchanged", "p/same", 5, 5),
        "p/grown": ("grown", "p/grown", 5, 6),
        "p/shrunk": ("shrunk", "p/shrunk", 5, 4),
        "p/gone": ("removed", "p/gone", 5, 0),
        "p/added": ("new", None, None, 3),
        "p/new name": ("renamed", "p/old name", 50, 51),
        "p/new place": ("renamed", "p/old place", 7, 7),
        "p/moved": ("new", "q/moved", None, 8),
    }
    assert (result.tokens, result.base_tokens) == (84, 77)


@pytest.mark.parametrize("limits", ["max_tokens = 50\nmax_growth = '5%'", "max_tokens_per_file = 50"])
def test_a_file_renamed_into_a_budget_is_new_to_it(limits: str) -> None:
    """What it was elsewhere was in no budget of this name: neither its tokens nor its being over is inherited."""
    files, before = {"p/a": words(14), "p/big": words(70)}, {"p/a": words(14), "draft/big": words(70)}
    checked = check(limits, files, before, renames={"p/big": "draft/big"})
    result = only(checked)
    assert checked.report.exit_code == 1
    assert {violation.introduced for violation in result.violations} == {True}
    assert (result.base_tokens, result.files[1].change, result.files[1].base_path) == (14, "new", "draft/big")
    written = read_recording(record(zip((was := check(limits, before)).plans, was.report.budgets, strict=True)), "b")
    recorded = only(check(limits, files, written))
    assert [(v.code, v.introduced) for v in recorded.violations] == [(v.code, v.introduced) for v in result.violations]


def test_a_file_renamed_from_one_budget_to_another_leaves_one_and_is_new_to_the_other() -> None:
    text = HEAD + 'max_tokens = 10\n[[budget]]\nname = "c"\npaths = ["q/**"]\nmax_tokens = 10'
    base = TreeBase("m", {"p/a": words(5), "p/b": words(11), "q/c": words(5)}, {"q/b": "p/b"})
    files = {"p/a": words(5), "q/b": words(11), "q/c": words(5)}
    read = read_configuration(text.encode(), "tokengap.toml")
    first, second = check_budgets(read, files, base, today=TODAY).report.budgets
    assert ([file.change for file in first.files], first.base_tokens, first.passed) == (
        ["unchanged", "removed"],
        16,
        True,
    )
    assert ([file.change for file in second.files], second.base_tokens, second.passed) == (
        ["new", "unchanged"],
        5,
        False,
    )


def test_a_renamed_file_is_not_growth() -> None:
    result = only(check('max_growth = "0%"', {"p/b": words(10)}, {"p/a": words(10)}))
    assert result.violations == ()


def test_a_file_over_its_limit_before_it_was_renamed_is_inherited() -> None:
    checked = check("max_tokens_per_file = 9", {"p/b": words(10)}, {"p/a": words(10)})
    (file,) = only(checked).files
    assert (file.verdict, file.introduced, checked.report.exit_code) == ("warn", False, 0)


def test_only_the_file_that_is_new_fails() -> None:
    checked = check(
        "max_tokens_per_file = 9", {"p/a": words(10), "p/b": words(10), "p/c": words(9)}, {"p/a": words(10)}
    )
    told = {file.path: (file.verdict, file.introduced) for file in only(checked).files}
    assert told == {"p/a": ("warn", False), "p/b": ("fail", True), "p/c": ("pass", None)}
    assert checked.report.exit_code == 1


def test_where_to_look() -> None:
    limits = "max_tokens = 10\nmax_tokens_per_file = 9\nmax_growth = 0\n"
    files = {"p/a": words(8), "p/b": words(20)}
    assert {(v.code, v.path, v.line) for v in only(check(limits, files)).violations} == {
        ("TOK001", "tokengap.toml", 6),
        ("TOK004", "p/b", 1),
    }
    with_base = only(check(limits, files, {"p/a": words(8), "p/b": words(10)})).violations
    assert {(v.code, v.path, v.line) for v in with_base} == {
        ("TOK001", "p/b", 1),
        ("TOK003", "p/b", 1),
        ("TOK004", "p/b", 1),
    }
    assert "take 18 tokens out (largest: p/b 20, p/a 8), or raise max_tokens (tokengap.toml:6)" in with_base[0].fix


@pytest.mark.parametrize(
    ("keys", "named", "counted_as", "price", "notice"),
    [
        ("", "gpt-4", "gpt-4", "0.03", False),
        ("", None, "gpt-4o", "0.0025", False),
        ("model = 'gpt-4o-mini'", "gpt-4", "gpt-4o-mini", "0.00015", True),
        ("model = 'gpt-4o-mini'", "openai/gpt-4o-mini", "gpt-4o-mini", "0.00015", False),
        ("model = 'gpt-4o-mini'", None, "gpt-4o-mini", "0.00015", False),
        ("model = 'gpt-4o-mini'", "GPT-4o-mini", "gpt-4o-mini", "0.00015", False),
        ("model = 'gpt-4o'", "gpt-4o-2024-05-13", "gpt-4o", "0.0025", True),
        ("model = 'openai/gpt-4o'", "gpt-4o-2024-08-06", "openai/gpt-4o", "0.0025", True),
        ("model = 'gpt-4o'", "ft:gpt-4o:acme::x", "gpt-4o", "0.0025", True),
        ("model = 'gpt-4o'", "our own gpt-4o", "gpt-4o", "0.0025", True),
        ("model = 'gpt-4.1'", "azure/gpt-4.1", "gpt-4.1", "0.002", False),
        ("model = 'gpt-oss-120b'", "cerebras/gpt-oss-120b", "gpt-oss-120b", "0.000039", True),
        ("counter = 'o200k_base'", "gpt-4", "gpt-4", "0.03", False),
    ],
)
@pytest.mark.parametrize("type", ["chat", "tools"])
def test_the_model_that_a_request_names_holds_unless_the_budget_has_one(
    keys: str, named: str | None, counted_as: str, price: str, notice: bool, type: str
) -> None:
    """As with ``tokengap count`` and ``cost``: --model, or else the request's own."""
    tools = [{"type": "function", "function": {"name": "look_up", "description": "Look up an order by its number."}}]
    body = {"messages": [{"role": "user", "content": "hi " * 1000}], **({"tools": tools} if type == "tools" else {})}
    request = body | ({"model": named} if named else {})
    checked = check(
        f"max_tokens = 9\ncount = 'any'\ntype = '{type}'\n{keys}", {"p/a.json": json.dumps(request).encode()}
    )
    counter = "o200k_base" if "counter" in keys else None
    counted = count_request(body, counted_as, counter)
    (file,) = only(checked).files
    assert file.head is not None
    assert file.head.tokens == (counted.parts["tools"].tokens if type == "tools" else counted.tokens)
    assert file.head.cost == Money(Decimal(price) / 1000 * file.head.most, "USD")
    assert (only(checked).model, only(checked).models) == (counted_as, (counted_as,))
    assert any("names another model" in each for each in checked.report.notices) is notice
    assert set(checked.report.prices.models) >= {counted_as}


NO_MODEL = HEAD.replace('model = "gpt-4o"\n', "")


@pytest.mark.parametrize(("type", "empty"), [("chat", False), ("tools", False), ("tools", True)])
def test_requests_that_all_name_their_model_need_no_other(type: str, empty: bool) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "maxProperties": 2}}}
    body = {"messages": [{"role": "user", "content": "hi"}], "tools": [] if empty else [tool]}
    files = {f"p/{name}.json": json.dumps({"model": name, **body}).encode() for name in ("gpt-4", "gpt-4o-mini")}
    read = read_configuration(f"{NO_MODEL}type = '{type}'\nmax_cost = '1 USD'".encode(), "tokengap.toml")
    checked = check_budgets(read, files, TreeBase("main", files, {}), today=TODAY)
    (result,) = checked.report.budgets
    assert (*result.models,) == (*checked.report.prices.models,) == ("gpt-4", "gpt-4o-mini")
    own = [only(check(f"type = '{type}'\nmodel = '{name}'\nmax_tokens = 1", {"p/a.json": files[f"p/{name}.json"]}))
           for name in ("gpt-4", "gpt-4o-mini")]  # fmt: skip
    assert (result.tokens, result.upper) == (sum(each.tokens for each in own), sum(each.upper or 0 for each in own))
    assert result.cost == Money(sum((each.cost.amount for each in own if each.cost), Decimal()), "USD")
    base = read_recording(record(zip(checked.plans, checked.report.budgets, strict=True)), "base.json")
    assert check_budgets(read, files, base, today=TODAY).report.budgets[0].base_tokens == result.tokens
    gone = check_budgets(read, {}, TreeBase("main", files, {}), today=TODAY).report
    assert (gone.budgets[0].tokens, gone.budgets[0].tokenizer, gone.exit_code) == (0, "", 0)


@pytest.mark.parametrize(
    ("limits", "content", "says"),
    [
        ("type = 'chat'", '{"prompt": "Hi"}', "4: budget[0].paths: p/a.json: it names no model: write model = "),
        ("type = 'tools'", "[]", "4: budget[0].paths: p/a.json: it names no model: write model = "),
        ("type = 'text'", "Hi", "2: budget[0]: no model: write model = "),
    ],
)
def test_what_names_no_model_needs_one(limits: str, content: str, says: str) -> None:
    read = read_configuration(f"{NO_MODEL}max_tokens = 9\n{limits}".encode(), "tokengap.toml")
    with pytest.raises(TokengapError) as error:
        check_budgets(read, {"p/a.json": content.encode()}, today=TODAY)
    assert str(error.value).startswith(f"tokengap.toml:{says}")


def test_only_the_prices_of_what_was_counted_are_told() -> None:
    request = b'{"model": "gpt-4", "prompt": "hi"}'
    assert set(check("type = 'chat'\nmax_tokens = 9", {"p/a.json": request}).report.prices.models) == {"gpt-4"}
    own = check("type = 'chat'\nmax_tokens = 9\nmodel = 'gpt-4o-mini'", {"p/a.json": request})
    assert set(own.report.prices.models) == {"gpt-4o-mini"}


def test_requests_that_name_several_models() -> None:
    lines = [json.dumps({"model": name, "prompt": "hi"}) for name in ("gpt-4", "gpt-4o", "gpt-4")]
    files = {"p/a.jsonl": "\n".join(lines).encode()}
    result = only(check("max_tokens = 9\ntype = 'chat'", files))
    assert (result.model, result.models, result.tokenizer) == (None, ("gpt-4", "gpt-4o"), "cl100k_base, o200k_base")
    assert result.cost == Money(Decimal("0.0000625"), "USD")


def test_a_request_whose_model_nobody_knows() -> None:
    files = {"p/a.json": b'{"model": "our-alias", "prompt": "hi"}'}
    said = refusal("max_tokens = 9\ntype = 'chat'", files)
    assert said.startswith("tokengap.toml:5: budget[0].paths: p/a.json: unknown model 'our-alias'")
    assert said.endswith("or set the budget's 'model', which holds whatever a request names")
    assert check("max_tokens = 9\ntype = 'chat'\nmodel = 'gpt-4o'", files).report.exit_code == 0


def test_the_price_of_a_requests_model_is_in_another_currency(tmp_path: Path) -> None:
    project = tmp_path / "tokengap.toml"
    project.write_text(HEAD + '[[prices]]\nmodel = "gpt-4"\nin = "1000 EUR/1M"\n')
    files = {"p/a.json": b'{"model": "gpt-4", "prompt": "hi"}', "p/b.json": b'{"prompt": "hi"}'}
    book = load_book(project)
    with pytest.raises(TokengapError, match=r"p/a\.json: the price of gpt-4 is in EUR, and max_cost is in USD"):
        check("max_cost = '9 USD'\ntype = 'chat'", files, book=book)
    assert only(check("max_tokens = 9\ntype = 'chat'", files, book=book)).cost is None


def test_two_budgets_count_one_request_each_as_its_own_model() -> None:
    text = HEAD + "max_tokens = 9\ntype = 'chat'\n[[budget]]\nname = 'c'\npaths = ['p/**']\nmax_tokens = 9\n"
    text += "type = 'chat'\nmodel = 'gpt-4o'"
    files = {"p/a.json": b'{"model": "gpt-4", "prompt": "hi"}'}
    report = check_budgets(read_configuration(text.encode(), "tokengap.toml"), files, today=TODAY).report
    assert [result.model for result in report.budgets] == ["gpt-4", "gpt-4o"]


def test_a_base_without_the_files_of_a_budget_is_said() -> None:
    report = check('max_growth = "5%"', {"p/a": words(10)}, {"q/x": b"x"}).report
    assert report.notices == ("'b' has no files on the base; its max_growth is not checked",)
    assert report.exit_code == 0
    report = check('max_growth = "5%"', {"p/a": words(10)}).report
    assert report.notices == ("no base to compare with: max_growth is not checked (b)",)


def test_a_file_that_could_not_be_counted_on_the_base() -> None:
    report = check('max_growth = "5%"\nmax_tokens = 9', {"p/a": words(10)}, {"p/a": b"\xff"}).report
    (violation,) = report.budgets[0].violations
    assert (violation.code, violation.introduced) == ("TOK001", None)
    assert report.exit_code == 1
    assert "p/a cannot be counted on the base (p/a: not UTF-8 text" in report.notices[0]
    assert report.notices[0].endswith("; max_growth of 'b' is not checked")
    assert report.budgets[0].files[0].change is None
    report = check("max_tokens = 90", {"p/a": words(10)}, {"p/a": b"\xff"}).report
    assert report.notices[0].endswith("; 'b' has no base")


def test_every_file_gone() -> None:
    result = only(check("max_tokens = 9", {}, {"p/a": words(5)}))
    assert (result.tokens, result.base_tokens, result.passed) == (0, 5, True)


@pytest.mark.parametrize(
    ("limits", "files", "says"),
    [
        ("max_tokens = 1", {"q/a": b"x"}, "tokengap.toml:5: budget[0].paths: no file matches p/**"),
        ("max_tokens = 1", {"p/a": b"\xff"}, "tokengap.toml:5: budget[0].paths: p/a: not UTF-8 text"),
        ("max_tokens = 1\ntype = 'chat'", {"p/a": b"{}"}, "tokengap.toml:5: budget[0].paths: p/a: request: none of"),
        ("max_tokens = 1\nmodel = 'gtp-4o'", {"p/a": b"x"}, "tokengap.toml:7: budget[0].model: unknown model 'gtp-4o'"),
        ("max_tokens = 1\ncounter = 'o20k'", {"p/a": b"x"}, "tokengap.toml:7: budget[0].counter: unknown counter"),
        ("max_tokens = 1\nmodel = 'o200k_base'", {"p/a": b"x"},
         "tokengap.toml:7: budget[0].model: 'o200k_base' is no model but a counter: write counter = "),
        ("max_cost = '1 EUR'", {"p/a": b"x"}, "tokengap.toml:6: budget[0].max_cost: it is in EUR, and the price of"),
        ("max_tokens = 1\ntype = 'format'\nvariables = { a = 1, b = 2 }", {"p/a": b"{a}"},
         "tokengap.toml:8: budget[0].variables.b: no template of this budget uses this variable"),
        ("max_tokens = 1\ntype = 'jinja'", {"p/a": b"{{ x }}"}, "tokengap.toml:5: budget[0].paths: p/a: the Jinja"),
    ],
)  # fmt: skip
def test_what_cannot_be_checked(limits: str, files: dict[str, bytes], says: str) -> None:
    assert refusal(limits, files).startswith(says)


def test_no_model_at_all() -> None:
    text = HEAD.replace('model = "gpt-4o"\n', "") + "max_tokens = 1"
    with pytest.raises(TokengapError, match=r"tokengap\.toml:2: budget\[0\]: no model: write model = "):
        check_budgets(read_configuration(text.encode(), "tokengap.toml"), {"p/a": b"x"})
    wrong = HEAD.replace("gpt-4o", "gtp-4o") + "max_tokens = 1"
    with pytest.raises(TokengapError, match=r"tokengap\.toml:1: model: unknown model 'gtp-4o': did you mean"):
        check_budgets(read_configuration(wrong.encode(), "tokengap.toml"), {"p/a": b"x"})


def test_a_pattern_that_names_nothing_beside_one_that_does() -> None:
    text = HEAD.replace('["p/**"]', '["p/**",\n "q/*"]') + "max_tokens = 1"
    report = check_budgets(read_configuration(text.encode(), "tokengap.toml"), {"p/a": b"x"}, today=TODAY).report
    assert report.notices == ("tokengap.toml:6: no file matches 'q/*'",)


def test_only_the_budgets_of_some_files() -> None:
    text = HEAD + 'max_tokens = 1\n[[budget]]\nname = "c"\npaths = ["q/**"]\nmax_tokens = 1'
    files = {"p/a": words(5), "q/a": words(5)}
    read = read_configuration(text.encode(), "tokengap.toml")
    for paths, names in ((["p/a"], ["b"]), (["q/a", "x"], ["c"]), (["x"], []), (["p"], ["b"]), (["."], ["b", "c"]),
                         (["px"], []), (None, ["b", "c"])):  # fmt: skip
        report = check_budgets(read, files, only=paths, today=TODAY).report
        assert [result.budget.name for result in report.budgets] == names
    removed = check_budgets(read, files, TreeBase("m", {**files, "q/gone": b"x"}, {}), only=["q/gone"], today=TODAY)
    assert [result.budget.name for result in removed.report.budgets] == ["c"]


# How sure a count is.


def test_a_request_is_compared_by_its_upper_bound() -> None:
    request = [{"role": "user", "content": "Call it."}, {"role": "assistant", "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}]}]  # fmt: skip
    counted = count_request(request, "gpt-4o")
    assert counted.interval is not None
    high = counted.interval[1]
    assert counted.tokens < high
    files = {"p/a.json": json.dumps(request).encode()}
    assert check(f"type = 'chat'\nmax_tokens = {high}", files).report.exit_code == 0
    checked = check(f"type = 'chat'\nmax_tokens = {high - 1}", files)
    (violation,) = only(checked).violations
    assert violation.code == "TOK001"
    assert f"at most {high:,} tokens (counted {counted.tokens:,})" in violation.message
    assert (only(checked).tokens, only(checked).upper, only(checked).kind) == (counted.tokens, high, counted.kind)
    assert only(checked).cost is not None
    assert only(checked).cost.amount == high * Decimal("0.0000025")  # type: ignore[union-attr]


def test_what_is_said_of_bounds() -> None:
    """The numbers of a message are those of the row beside it, or it says which they are."""
    call = {"id": "1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    request = [{"role": "user", "content": "Call it."}, {"role": "assistant", "tool_calls": [call]}]
    files, base = ({"p/a.json": json.dumps(each).encode()} for each in (request, request[:1]))
    limits = "type = 'chat'\nmax_cost = '0.00001 USD'\nmax_growth = 1"
    result = only(check(limits, files, base))
    assert result.upper is not None
    assert result.base_tokens is not None
    (dear, grown) = (violation.message for violation in result.violations)
    assert f" USD for at most {result.upper} tokens (counted {result.tokens}), " in dear
    gained = result.tokens - result.base_tokens
    percent, limit = f"(+{gained * 100 / result.base_tokens:.1f}%)", "max_growth is 1 token"
    assert grown == f"{gained} tokens more than the base's {result.base_tokens} {percent} as counted, and {limit}"


@pytest.mark.parametrize(
    ("limit", "passes"), [("40%", False), ("49%", False), ("50%", True), ("6", False), ("7", True)]
)
def test_growth_is_that_which_the_row_tells(limit: str, passes: bool) -> None:
    """From the count to the count: from bound to bound it would be 7 of 16 tokens."""
    requests = [{"messages": [{"role": "user", "content": " a" * number}]} for number in (7, 14)]
    before, files = ({"p/a.json": json.dumps(each).encode()} for each in requests)
    growth = f"'{limit}'" if "%" in limit else limit
    checked = check(f"type = 'chat'\nmodel = 'gpt-5'\nmax_growth = {growth}", files, before)
    result, body = only(checked), check_json(checked.report)
    assert (result.tokens, result.base_tokens, result.passed) == (21, 14, passes)
    bound = count_request(requests[0], "gpt-5").interval
    assert bound is not None
    assert bound[1] > 14
    (row, of_file) = rows(checked.report)
    assert row.change == of_file.change == "+7 (+50.0%)"
    assert isinstance(body["budgets"], list)
    assert (body["budgets"][0]["tokens"], body["budgets"][0]["base_tokens"]) == (21, 14)
    if not passes:
        message = result.violations[0].message
        assert message.startswith("7 tokens more than the base's 14 (+50.0%) as counted, and max_growth is ")


@pytest.mark.parametrize(
    ("tier", "says"),
    [("flex", "variant 'flex'"), ("scale", "service_tier: no price is known for 'scale'")],
)
def test_a_tier_without_a_price_is_named(tier: str, says: str) -> None:
    request = {"model": "gpt-4o", "service_tier": tier, "messages": [{"role": "user", "content": "Hi"}]}
    checked = check("type = 'chat'\nmax_cost = '1 USD'", {"p/a.json": json.dumps(request).encode()})
    (violation,) = only(checked).violations
    assert (violation.code, checked.report.exit_code) == ("TOK010", 3)
    assert f"no price is known for the input of 'gpt-4o' as p/a.json asks for it ({says})" in violation.message
    assert "give it that price under [[prices]] in tokengap.toml, with its variant" in violation.fix


def test_tools_are_counted_as_they_are_in_a_prompt(shared_dir: Path) -> None:
    """Of a server's listing what a model is sent; keywords that are not shown are bounded by themselves."""
    data = (shared_dir / "files" / "tool_schemas_github_mcp_all.min.json").read_bytes()
    request = {"messages": [{"role": "user", "content": "x"}], "tools": json.loads(data)}
    part = count_request(request, "gpt-4o").parts["tools"]
    result = only(check("type = 'tools'\nmax_tokens = '1M'", {"p/a.json": data}))
    assert result.tokens == part.tokens
    assert part.interval is not None
    assert result.upper is not None
    assert part.interval[1] <= result.upper < part.tokens * 1.25
    assert result.passed


@pytest.mark.parametrize(
    ("tools", "not_counted", "bounded"),
    [
        ([{"name": "f", "inputSchema": {"type": "object"}, "annotations": {"a": 1}, "title": "F"}], [], True),
        ([{"name": "f", "parameters": {"type": "object", "properties": {"a.b": {"type": "number", "minimum": 0}}}}],
         [], True),
        ([{"type": "web_search"}, {"type": "function", "function": {"name": "f"}}], ["tools[0]"], False),
    ],
)  # fmt: skip
def test_what_is_not_counted_of_tools(tools: list[Any], not_counted: list[str], bounded: bool) -> None:
    result = only(check("type = 'tools'\nmax_tokens = '1k'", {"p/a.json": json.dumps(tools).encode()}))
    (file,) = result.files
    assert file.head is not None
    assert list(file.head.not_counted) == not_counted
    assert (result.upper is not None) is bounded


@pytest.mark.parametrize(
    ("limits", "content", "exit"),
    [
        ("model = 'claude-sonnet-4-5'", words(5), 3),
        ("model = 'claude-sonnet-4-5'\ncount = 'any'", words(5), 0),
        ("model = 'claude-sonnet-4-5'\ncount = 'any'", words(500), 1),
        ("model = 'claude-sonnet-4-5'", words(500), 1),
        ("count = 'exact'", words(5), 0),
        ("type = 'chat'\ncount = 'exact'", b'[{"role": "user", "content": "x"}]', 3),
        ("type = 'chat'", b'[{"role": "user", "content": "x"}]', 0),
        ("type = 'chat'", b'[{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}]', 3),
        ("type = 'format'\nallowances = { x = 50 }", b"a{x}", 0),
        ("type = 'format'\nallowances = { x = 50 }\ncount = 'exact'", b"a{x}", 3),
        ("type = 'format'\nallowances = { x = 500 }", b"a{x}", 1),
        ("counter = 'words:4/3'", words(5), 3),
    ],
)
def test_a_count_that_is_not_good_enough(limits: str, content: bytes, exit: int) -> None:
    checked = check(f"max_tokens = 100\n{limits}", {"p/a": content})
    assert checked.report.exit_code == exit
    assert check(f"max_tokens = 100\n{limits}", {"p/a": content}, allow_missing=True).report.exit_code == exit % 3
    if exit == 3:
        (violation,) = only(checked).violations
        assert (violation.code, violation.path) == ("TOK011", "p/a")


@pytest.mark.parametrize(
    ("model", "counter", "kind"),
    [
        ("claude-sonnet-4-5", "o200k_base", "heuristic"),
        ("gpt-4o", "cl100k_base", "heuristic"),
        ("gpt-4o", "model:gpt-4", "heuristic"),
        ("gpt-4o", "o200k_base", "exact"),
        ("openai/gpt-4o-2024-08-06", "model:gpt-4o", "exact"),
        ("davinci", "gpt2", "exact"),
        ("a model of our own", "o200k_base", "heuristic"),
        (None, "cl100k_base", "exact"),
    ],
)
@pytest.mark.parametrize(("type", "content"), [("text", "Hello, world"), ("chat", '{"prompt": "Hello, world"}')])
def test_another_tokenizer_counts_no_model_exactly(
    model: str | None, counter: str, kind: str, type: str, content: str
) -> None:
    text = HEAD.replace('"gpt-4o"', f'"{model}"') if model else HEAD.replace('model = "gpt-4o"\n', "")
    text += f"max_tokens = 9\ncount = 'exact'\ncounter = '{counter}'\ntype = '{type}'"
    read = read_configuration(text.encode(), "tokengap.toml")
    report = check_budgets(read, {"p/a.json": content.encode()}, today=TODAY).report
    (result,) = report.budgets
    assert (result.kind, report.exit_code) == (kind, 0 if kind == "exact" else 3)
    assert result.upper == (3 if kind == "exact" else None)
    said = [notice for notice in report.notices if "is not known to be the tokenizer of" in notice]
    assert said == ([] if kind == "exact" else [
        f"'b': {counter} is not known to be the tokenizer of {model}, so that no count is exact (p/a.json)"
    ])  # fmt: skip


MISTYPED = ["claude-sonet-4-5", "gpt4o", "gpt-4oo", "openai/gpt-4oo", "mistral-smal-latest", "our-modl"]


@pytest.mark.parametrize("model", MISTYPED)
@pytest.mark.parametrize("place", ["top", "budget", "request"])
def test_a_mistyped_model_is_refused_beside_a_counter_too(model: str, place: str, tmp_path: Path) -> None:
    """Counted under a wrong name, it would pass as exact, and be priced as nothing."""
    text = HEAD if place != "top" else HEAD.replace('"gpt-4o"', f'"{model}"')
    text += "max_tokens = 500\ncounter = 'o200k_base'\ncount = 'exact'\ntype = 'chat'\n"
    text += f"model = '{model}'\n" if place == "budget" else ""
    text += '[[prices]]\nmodel = "our-model"\nin = "1 USD/1M"\n'
    request = {"prompt": "Hi"} | ({"model": model} if place == "request" else {})
    (tmp_path / "tokengap.toml").write_text(text)
    read, book = read_configuration(text.encode(), "tokengap.toml"), load_book(tmp_path / "tokengap.toml")
    with pytest.raises(TokengapError, match=f"unknown model '{model}': did you mean ") as error:
        check_budgets(read, {"p/a.json": json.dumps(request).encode()}, book=book, today=TODAY)
    line = {"top": "1: model", "budget": "10: budget[0].model", "request": "5: budget[0].paths: p/a.json"}[place]
    assert str(error.value).startswith(f"tokengap.toml:{line}: unknown model")


@pytest.mark.parametrize(
    ("model", "price"), [("our-model", "1"), ("acme-chat-7", None), ("avian/xiaomi/mimo-v2.5", "0.2")]
)
def test_a_model_of_our_own_is_priced_and_never_exact(model: str, price: str | None, tmp_path: Path) -> None:
    text = HEAD + f"max_tokens = 500\ncounter = 'o200k_base'\ncount = 'any'\nmodel = '{model}'\n"
    text += '[[prices]]\nmodel = "our-model"\nin = "1 USD/1M"\n'
    (tmp_path / "tokengap.toml").write_text(text)
    read, book = read_configuration(text.encode(), "tokengap.toml"), load_book(tmp_path / "tokengap.toml")
    report = check_budgets(read, {"p/a": words(10)}, book=book, today=TODAY).report
    (result,) = report.budgets
    assert (result.kind, result.upper, result.model) == ("heuristic", None, model)
    assert result.cost == (Money(Decimal(price) * 10 / 10**6, "USD") if price else None)
    assert f"'b': o200k_base is not known to be the tokenizer of {model}, so that no count is exact (p/a)" in (
        report.notices
    )


def test_no_tools_are_no_tokens() -> None:
    result = only(check("type = 'tools'\nmax_tokens = 1\ncount = 'exact'\nmax_cost = '1 USD'", {"p/a.json": b"[]"}))
    assert (result.tokens, result.kind, result.violations) == (0, "exact", ())


def test_an_unpriced_model_never_passes(tmp_path: Path) -> None:
    """gpt-4o has a tokenizer, and the table of this test no price."""
    empty = tmp_path / "prices.json"
    empty.write_text("[]")
    book = load_book(price_data=empty)
    checked = check("max_cost = '1 USD'", {"p/a": words(5)}, book=book)
    (violation,) = only(checked).violations
    assert (violation.code, violation.path, violation.line) == ("TOK010", "tokengap.toml", 6)
    assert (checked.report.exit_code, only(checked).cost) == (3, None)
    assert check("max_cost = '1 USD'", {"p/a": words(5)}, book=book, allow_missing=True).report.exit_code == 0
    assert check("max_tokens = 9", {"p/a": words(5)}, book=book).report.exit_code == 0
    both = check("max_cost = '1 USD'\nmax_tokens = 4", {"p/a": words(5)}, book=book)
    assert both.report.exit_code == 1


def test_a_counter_alone_has_no_price() -> None:
    text = HEAD.replace('model = "gpt-4o"\n', "") + "counter = 'o200k_base'\n"
    read = read_configuration(f"{text}max_tokens = 9".encode(), "tokengap.toml")
    assert check_budgets(read, {"p/a": words(5)}).report.exit_code == 0
    read = read_configuration(f"{text}max_cost = '9 USD'".encode(), "tokengap.toml")
    assert check_budgets(read, {"p/a": words(5)}).report.exit_code == 3


def test_a_projects_own_price(tmp_path: Path) -> None:
    project = tmp_path / "tokengap.toml"
    project.write_text(HEAD + 'max_cost = "9 EUR"\n[[prices]]\nmodel = "gpt-4o"\nin = "1000 EUR/1M"\n')
    read = read_configuration(project.read_bytes(), str(project))
    report = check_budgets(read, {"p/a": words(10_000)}, book=load_book(project), today=TODAY).report
    (violation,) = report.budgets[0].violations
    assert violation.message == "10.00 EUR, 1.00 EUR more than max_cost 9.00 EUR"
    assert "take 10% of the tokens out" in violation.fix


@pytest.mark.parametrize(
    ("at", "today", "says"),
    [
        ("2026-11-30", date(2026, 12, 1), None),
        ("2026-11-30", date(2027, 2, 28), None),
        ("2026-11-30", date(2027, 3, 1), "the prices are 91 days old: prices_at is 2026-11-30"),
        ("2026-12-02", date(2026, 12, 1), "the prices are of a day to come: prices_at is 2026-12-02"),
    ],
)
def test_stale_prices_are_said(at: str, today: date, says: str | None) -> None:
    read = read_configuration((HEAD + "max_tokens = 9").replace("2026-11-30", at).encode(), "tokengap.toml")
    report = check_budgets(read, {"p/a": b"x"}, today=today).report
    assert [notice for notice in report.notices if "prices_at" in notice] == ([says] if says else [])
    assert report.exit_code == 0
    assert report.prices.pinned
    assert report.prices.stale is (report.prices.age_days > 90)


def test_a_table_that_is_old_is_said_though_prices_are_of_today() -> None:
    read = read_configuration((HEAD + "max_tokens = 9").replace("2026-11-30", "2028-01-01").encode(), "tokengap.toml")
    report = check_budgets(read, {"p/a": b"x"}, today=date(2028, 1, 1)).report
    assert "the price table genai-prices 0.2.3 may be out of date: its newest price is" in report.notices[0]
    assert report.prices.stale


@pytest.mark.parametrize(
    ("settings", "rate"),
    [
        ({}, "1.25"),
        ({"service_tier": "default"}, "1.25"),
        ({"service_tier": "flex"}, "0.625"),
        ({"service_tier": "priority"}, "2.5"),
        ({"service_tier": "gold"}, None),
    ],
)
def test_a_request_is_priced_at_the_tier_it_names(settings: dict[str, str], rate: str | None) -> None:
    """By the table, gpt-5's input at these tiers, a million tokens of it."""
    request = {"messages": [{"role": "user", "content": "Hello"}], **settings}
    files = {"p/a.json": json.dumps(request).encode()}
    result = only(check("type = 'chat'\nmodel = 'gpt-5'\nmax_cost = '1 USD'", files))
    if rate is None:
        assert [violation.code for violation in result.violations] == ["TOK010"]
        return
    assert result.upper is not None
    assert result.cost is not None
    assert result.cost.amount == result.upper * Decimal(rate) / 10**6
    if rate != "1.25":  # a batch has no tier
        return
    batch = {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": request}
    files = {"p/a.jsonl": json.dumps(batch).encode()}
    result = only(check("type = 'chat'\nmodel = 'gpt-5'\nmax_cost = '1 USD'", files))
    assert result.cost is not None
    assert result.cost.amount == (result.upper or 0) * Decimal("0.625") / 10**6


def test_what_a_counter_warns_of_is_said_once() -> None:
    files = {f"p/{number}": words(number) for number in range(1, 4)}
    report = check("model = 'claude-sonnet-4-5'\ncount = 'any'\nmax_tokens = 100", files).report
    assert [notice for notice in report.notices if "tokenizer" in notice] == [
        "'b': counted with another tokenizer than this model's own, which is not published, not included, or not the "
        "one that was asked for (p/1 and 2 more)"
    ]


# Counts written down.


def test_a_recording_is_a_base() -> None:
    files = {"p/a": words(10), "p/over": words(30)}
    checked = check("max_tokens_per_file = 20\nmax_growth = 5", files)
    base = read_recording(record(zip(checked.plans, checked.report.budgets, strict=True)), "base.json")
    again = check("max_tokens_per_file = 20\nmax_growth = 5", {"p/b": words(10), "p/over": words(30)}, base)
    assert again.report.exit_code == 0
    assert {file.path: file.change for file in only(again).files} == {"p/b": "renamed", "p/over": "unchanged"}
    assert only(again).base_tokens == 40
    grown = check("max_tokens_per_file = 20\nmax_growth = 5", {**files, "p/c": words(6)}, base)
    assert [violation.code for violation in only(grown).violations] == ["TOK004", "TOK003"]
    other = check("max_tokens_per_file = 20\nmax_growth = 5\nmodel = 'gpt-4'", files, base)
    assert "base.json was counted otherwise for 'b' (model, fingerprint); write it anew" in other.report.notices[0]
    assert only(other).base_tokens is None
    assert (again.report.baseline, other.report.baseline) == ("base.json", None)


def test_a_recording_keeps_costs() -> None:
    files = {"p/a": words(1001)}
    checked = check('max_cost = "0.0025 USD"', files)
    base = read_recording(record(zip(checked.plans, checked.report.budgets, strict=True)), "base.json")
    again = check('max_cost = "0.0025 USD"', files, base)
    assert [violation.introduced for violation in only(again).violations] == [False]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"tokengap_baseline": 2, "budgets": []}', '{"tokengap_baseline": 1, "budgets": [], "x": 1}',
     '{"tokengap_baseline": 1, "budgets": [{"name": "b", "made": {}, "files": [{"path": "p/a", "tokens": -1, '
     '"upper": null, "kind": "exact", "cost": null, "sha256": "' + "0" * 64 + '"}]}]}'],
)  # fmt: skip
def test_what_is_no_recording(text: str) -> None:
    with pytest.raises(TokengapError, match=r"base\.json: not a baseline: [^:].* writes") as error:
        read_recording(text, "base.json")
    assert "nput should" not in str(error.value)
    assert ": :" not in str(error.value)


# The forms of the answer.


def test_the_json_that_must_exist() -> None:
    report = check("max_tokens = 10", {"p/a": words(11)}, {"p/a": words(9)}).report
    body = json.loads(json.dumps(check_json(report)))
    assert {"passed", "exit_code", "budgets", "prices"} <= body.keys()
    (found,) = body["budgets"]
    assert {"name", "passed", "tokens", "limit", "cost", "kind", "files", "violations"} <= found.keys()
    assert (found["name"], found["passed"], found["tokens"], found["limit"]) == ("b", False, 11, 10)
    assert found["cost"] == {"amount": "0.0000275", "currency": "USD"}
    (file,) = found["files"]
    assert {key: file[key] for key in ("path", "tokens", "base_tokens", "change", "verdict", "introduced")} == {
        "path": "p/a", "tokens": 11, "base_tokens": 9, "change": "grown", "verdict": "pass", "introduced": None,
    }  # fmt: skip
    (violation,) = found["violations"]
    assert violation["code"] in CODES
    assert {"code", "message", "path", "line"} <= violation.keys()
    assert body["prices"]["models"]["gpt-4o"]["source"]["version"] == "0.2.3"


def test_a_configuration_need_not_be_a_file() -> None:
    """As the HTTP service and the pytest plugin use it."""
    body = {"model": "gpt-4o", "budget": [{"name": "b", "paths": ["**"], "max_tokens": "10"}]}
    read = Loaded(validate(body, Origin()), Origin())
    report = check_budgets(read, {"a": words(11)}, today=TODAY).report
    (violation,) = report.violations
    assert (violation.path, violation.line) == ("configuration", 1)
    with pytest.raises(TokengapError, match=r"^budget\[0\]\.paths: no file matches \*\*$"):
        check_budgets(read, {}, today=TODAY)
