"""Reports that machines read: valid by their schemas, whatever names and numbers are in them."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
import xmlschema
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tokengap.estimators.budget_baseline import TreeBase
from tokengap.estimators.budget_check import check_budgets
from tokengap.estimators.budget_config import Loaded, validate
from tokengap.estimators.budget_report import CheckReport
from tokengap.estimators.toml_origin import Origin
from tokengap.service.check_cli import FORMATS
from tokengap.service.check_markdown import MARKER, MOST_CHARACTERS
from tokengap.service.check_report import render

NAMES = ["plain.md", "a,b:c%.md", "über/日本.md", "<b>|`x`*_[]()@you#1$&.md", "new\nline\r.md", "bell\x07.md",
         "\udcff.md", "::error::x.md", "a b/…", "%0A%2C.md", "'\".md", "-->.md", "]]>.md"]  # fmt: skip


def report(
    files: dict[str, int], base: dict[str, int] | None = None, budgets: list[dict[str, Any]] | None = None
) -> CheckReport:
    """Check texts of so many tokens."""
    limits = budgets or [{"name": "b", "paths": ["**"], "max_tokens_per_file": 10}]
    body = {"model": "gpt-4o", "prices_at": "2026-11-30", "budget": limits}
    trees = [{path: (" a" * number).encode() for path, number in (tree or {}).items()} for tree in (files, base)]
    before = None if base is None else TreeBase("main", trees[1], {})
    loaded = Loaded(validate(body, origin := Origin("tokengap.toml")), origin)
    return check_budgets(loaded, trees[0], before, today=date(2026, 12, 1)).report


MIXED = report(
    {**dict.fromkeys(NAMES, 11), "kept": 3, "was over": 12, "costly/x": 9},
    {"was over": 12, "kept": 2},
    [
        {"name": "each, 100%: | <b>", "paths": ["**", "nothing/*"], "max_tokens_per_file": 10},
        {"name": "::error::all", "paths": ["**"], "max_tokens": 20, "max_growth": "5%", "max_cost": "0.0000001 USD"},
        {"name": "missing", "paths": ["costly/x"], "counter": "words:1", "max_tokens": 100},
        {"name": "warned", "paths": ["kept"], "max_tokens": 1, "severity": "warning"},
    ],
)._replace(folder="sub dir")


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_bears_every_name(format: str) -> None:
    text = render(MIXED, format)
    assert text.endswith("\n")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\ud800-\udfff]", text)
    assert text.encode()


def test_the_mix_has_every_kind() -> None:
    assert {violation.code for violation in MIXED.violations} == {"TOK001", "TOK002", "TOK003", "TOK004", "TOK011"}
    assert {violation.severity for violation in MIXED.violations} == {"error", "warning"}


@pytest.mark.system
@pytest.mark.parametrize("checked", [MIXED, report({"a": 1})], ids=["mixed", "passed"])
def test_junit_is_valid(schemas: Path, checked: CheckReport) -> None:
    text = render(checked, "junit")
    xmlschema.XMLSchema10(schemas / "junit-10.xsd").validate(text)
    root = fromstring(text)  # noqa: S314 - it is our own
    cases = root.findall("testsuite/testcase")
    assert int(root.get("tests", "")) == len(cases)
    assert int(root.get("failures", "")) == len(root.findall("testsuite/testcase/failure"))
    assert int(root.get("errors", "")) == len(root.findall("testsuite/testcase/error"))
    severities = [violation.severity for violation in checked.violations]
    assert len(root.findall(".//failure")) + len(root.findall(".//error")) == severities.count("error")
    assert len(root.findall(".//system-out")) == severities.count("warning")


@pytest.mark.system
@pytest.mark.parametrize("checked", [MIXED, report({"a": 1})], ids=["mixed", "passed"])
def test_sarif_is_valid(schemas: Path, checked: CheckReport, tmp_path: Path) -> None:
    text = render(checked, "sarif")
    sarif_schema(schemas).validate(json.loads(text))
    found = multitool(schemas, text, tmp_path)
    assert {code for code, _ in found} <= {"SARIF2005"}  # wants the address of a site, which there is not


@pytest.mark.system
def test_sarif_that_is_not_valid_is_found_out(schemas: Path, tmp_path: Path) -> None:
    """Neither sees everything: the tool is silent of a level that is none, and exits with 0 in any case."""
    body = json.loads(render(report({"a": 11}), "sarif"))
    body["runs"][0]["results"][0]["nope"] = 1
    assert "JSON1005" in {code for code, _ in multitool(schemas, json.dumps(body), tmp_path)}
    del body["runs"][0]["results"][0]["nope"]
    body["runs"][0]["results"][0]["level"] = "errr"
    assert not sarif_schema(schemas).is_valid(body)


def sarif_schema(schemas: Path) -> Draft202012Validator:
    return Draft202012Validator(json.loads((schemas / "sarif" / "sarif-2.1.0.json").read_bytes()))


def multitool(schemas: Path, text: str, folder: Path) -> list[tuple[str, str]]:
    """What Microsoft's validator says of a report: the code of each rule, and the message."""
    file = folder / "x.sarif"
    file.write_text(text)
    done = subprocess.run(
        [schemas / "sarif" / "Sarif.Multitool", "validate", file, "--level", "Error;Warning"],
        env={**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"},
        capture_output=True,
        check=False,
    )
    said = done.stdout.decode()
    assert "Analysis completed successfully." in said
    return re.findall(r"(?:error|warning) ([A-Z]+\d+): (.*)", said)


def test_sarif_points_at_files_from_the_repositorys_top() -> None:
    (run,) = json.loads(render(MIXED, "sarif"))["runs"]
    places = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]}
    assert "sub%20dir/a%2Cb%3Ac%25.md" in places
    assert "sub%20dir/%FF.md" in places
    assert {result["ruleId"] for result in run["results"]} <= {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    prints = [result["partialFingerprints"]["tokengap/v1"] for result in run["results"]]
    assert len(set(prints)) == len(prints)


def test_gitlab_has_what_it_must() -> None:
    """The fields that GitLab's documentation of the report lists as required, and its five severities."""
    entries = json.loads(render(MIXED, "gitlab"))
    assert len(entries) == len(MIXED.violations)
    for entry in entries:
        assert entry.keys() >= {"description", "check_name", "fingerprint", "location", "severity"}
        assert entry["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert entry["location"]["path"].startswith("sub dir/")
        assert entry["location"]["lines"]["begin"] >= 1
    assert len({entry["fingerprint"] for entry in entries}) == len(entries)
    assert json.loads(render(report({"a": 1}), "gitlab")) == []


def read_commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Workflow commands as GitHub's runner reads them."""
    found = []
    for line in text.split("\n"):
        match = re.fullmatch(r"::(\w+) (.*?)::(.*)", line.lstrip())
        if match:
            pairs = (pair.split("=", 1) for pair in match[2].split(","))
            properties = {key: _unescape(value, {"%3A": ":", "%2C": ","}) for key, value in pairs}
            found.append((match[1], properties, _unescape(match[3], {})))
    return found


def _unescape(text: str, more: dict[str, str]) -> str:
    for code, sign in {"%0D": "\r", "%0A": "\n", **more, "%25": "%"}.items():
        text = text.replace(code, sign)
    return text


def test_github_reads_the_names_that_were_meant() -> None:
    checked = report(dict.fromkeys(NAMES[:5], 11))._replace(folder="a, b")
    commands = read_commands(render(checked, "github"))
    assert sorted(properties["file"] for _, properties, _ in commands) == sorted(f"a, b/{name}" for name in NAMES[:5])
    assert {properties["title"] for _, properties, _ in commands} == {"tokengap TOK004: b"}
    message = commands[0][2]
    assert message.startswith(
        "the file has 11 tokens, 1 more than max_tokens_per_file 10\nHow to fix: take 1 token out"
    )


SHOWN = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z"), include_characters=" \r\n"), max_size=30)


@given(SHOWN, SHOWN)
def test_github_reads_back_what_was_written(value: str, message: str) -> None:
    from tokengap.service.check_github import _command

    line = _command("error", {"file": value, "line": "1"}, message)
    assert "\n" not in line
    assert "\r" not in line
    (read,) = read_commands(line)
    assert read == ("error", {"file": value, "line": "1"}, message)


def test_no_name_becomes_a_command() -> None:
    """Whatever line of whatever report a runner reads, a file's name cannot make it one."""
    for format in FORMATS:
        if format != "github":
            assert not re.search(r"^\s*::", render(MIXED, format), re.MULTILINE), format


@pytest.mark.parametrize(("errors", "said"), [(10, None), (11, "and 1 more errors"), (25, "and 15 more errors")])
def test_annotations_stop_at_githubs_ten(errors: int, said: str | None) -> None:
    text = render(report({f"p{number:02}": 11 for number in range(errors)}), "github")
    commands = read_commands(text)
    assert len(commands) == 10
    assert ("tokengap: and" in text) is (said is not None)
    assert said is None or said in text


def test_warnings_have_ten_of_their_own() -> None:
    tree = {f"p{number:02}": 11 for number in range(15)}
    text = render(report({**tree, "q": 11}, tree), "github")
    assert [level for level, _, _ in read_commands(text)] == ["error"] + ["warning"] * 10
    assert "tokengap: and 5 more warnings, of which GitHub shows none; --output json=FILE has them all" in text


def test_sarif_writes_a_path_as_it_is() -> None:
    noted = report({"a": 1})._replace(notices=("subm is another repository",))
    (invocation,) = json.loads(render(noted, "sarif"))["runs"][0]["invocations"]
    (said,) = invocation["toolExecutionNotifications"]
    assert said["message"]["text"] == "subm is another repository."


@pytest.mark.parametrize("files", [400, 3000])
def test_markdown_fits_a_comment(files: int) -> None:
    text = render(report({f"folder/a file of some name {number}.md": 11 for number in range(files)}), "markdown")
    assert text.startswith(MARKER)
    assert len(text) < MOST_CHARACTERS + 100 < 65_536
    assert "left out" in text


def test_markdown_is_no_markup() -> None:
    text = render(MIXED, "markdown")
    assert r"\<b\>\|\`x\`\*\_\[\]()\@&#8203;you\#&#8203;1\$\&.md" in text
    for line in text.split("\n"):
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) == 8


class Screen(io.TextIOWrapper):
    """A terminal of some encoding."""

    def __init__(self, encoding: str, *, terminal: bool) -> None:
        super().__init__(io.BytesIO(), encoding)
        self.isatty = lambda: terminal  # type: ignore[method-assign]


def test_the_table_is_drawn_as_the_screen_can_show_it() -> None:
    for screen in (None, Screen("utf-8", terminal=False)):
        assert "\x1b[" not in render(MIXED, "table", screen=screen)
        assert "──" in render(MIXED, "table", screen=screen)
    assert "\x1b[1;31mfail" in render(MIXED, "table", screen=Screen("utf-8", terminal=True))
    plain = render(report({"a": 11}), "table", screen=Screen("ascii", terminal=False))
    assert plain.isascii()
    assert "--+--" in plain


def test_the_table_shows_what_fails_and_what_changed_most() -> None:
    base = {f"p{number:03}": 5 for number in range(200)}
    files = {path: 5 + number % 7 for number, path in enumerate(base)} | {"p007": 11, "p008": 5}
    text = render(report(files, base), "table")
    names = re.findall(r"^  (p\d+)", text, re.MULTILINE)
    over = [path for path, tokens in files.items() if tokens > 10]
    assert len(names) == 50
    assert set(over) < set(names)
    changed = sum(tokens != 5 for tokens in files.values())
    assert f"  and {changed - 50} more files" in text
    assert names == sorted(names)
    assert text.count("FAIL TOK004") == len(over)


def test_a_check_of_nothing_is_a_report_too() -> None:
    body = {"model": "gpt-4o", "budget": [{"name": "b", "paths": ["**"], "max_tokens": 10}]}
    loaded = Loaded(validate(body, origin := Origin("tokengap.toml")), origin)
    nothing = check_budgets(loaded, {"a": b"x"}, only=["y"]).report
    assert render(nothing, "table") == "no budget is about these files\n"
    assert json.loads(render(nothing, "json"))["passed"]
    assert all(render(nothing, format) for format in FORMATS)
