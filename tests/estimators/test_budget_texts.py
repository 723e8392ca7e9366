"""What is counted of a file: its text, its requests, its tools, a field of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from tokengap.estimators.budget_config import Budget, validate
from tokengap.estimators.budget_texts import Contents, Sent, first_line, read_contents, tools_of, unused_variable
from tokengap.estimators.field_path import select_fields
from tokengap.estimators.path_patterns import select
from tokengap.estimators.toml_origin import Origin
from tokengap.tokenizers.errors import TokengapError

YAML = """\
# agents
agents:
  - name: one
    system: |
      Be brief.
  - name: two
    system: Be long.
defaults: &d {temperature: 0}
more: {<<: *d, when: 2026-11-30}
"""


BOMB = b"a0: &a0 [x, x]\n" + b"".join(b"a%d: &a%d [*a%d, *a%d]\n" % (n, n, n - 1, n - 1) for n in range(1, 60))


MERGES = "a0: &a0 {t: u}\n" + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 60))


def budget(**keys: Any) -> Budget:
    return validate({"budget": [{"name": "x", "paths": ["a"], "max_tokens": 1, **keys}]}, Origin()).budget[0]


def contents(path: str, data: str, **keys: Any) -> Contents:
    return read_contents(budget(**keys), path, data.encode())


def texts(*parts: str) -> Contents:
    return Contents(tuple(Sent((part,)) for part in parts))


@pytest.mark.parametrize(
    ("path", "data", "keys", "counted"),
    [
        ("a.md", "a\r\nb\n", {}, texts("a\r\nb\n")),
        ("a.json", '{"system": "x"}', {}, texts('{"system": "x"}')),
        ("a.json", '{"system": "x"}', {"field": "system"}, texts("x")),
        ("a.json", '{"system": ["x", "y"]}', {"field": "system"}, texts("x", "y")),
        ("a.jsonl", '{"p": "x"}\n\n{"p": "y"}\n', {"field": "[*].p"}, texts("x", "y")),
        ("a.yaml", YAML, {"field": "agents[*].system"}, texts("Be brief.\n", "Be long.")),
        ("a.yaml", "a: &a {x: 1, t: u}\nb: {<<: *a, t: v}", {"field": "b.t"}, texts("v")),
        ("a.yaml", MERGES, {"field": "a59.t"}, texts("u")),  # pyyaml < 6.0.4 would take for ever
        ("a.YML", YAML, {"field": "agents[1].system"}, texts("Be long.")),
        ("a.toml", '[prompts]\na = "x"\nb = "y"', {"field": "prompts.*"}, texts("x", "y")),
        ("a.yaml", "t: 'Hi {{ n }}'", {"type": "jinja", "field": "t", "variables": {"n": 1}}, texts("Hi 1")),
        ("a.txt", "Hi {n}{m}", {"type": "format", "variables": {"n": 1}, "allowances": {"m": 9}},
         Contents((Sent(("Hi 1",), 9),))),
        ("a.json", '[{"role": "user", "content": "x"}]', {"type": "chat"},
         Contents(requests=([{"role": "user", "content": "x"}],))),
        ("a.jsonl", '{"input": "x"}\n{"input": "y"}', {"type": "chat"},
         Contents(requests=({"input": "x"}, {"input": "y"}))),
        ("a.yaml", "m:\n  - {role: user, content: x}", {"type": "chat", "field": "m"},
         Contents(requests=([{"role": "user", "content": "x"}],))),
        ("a.json", '{"requests": [{"params": {"prompt": "x"}}, {"params": {"prompt": "y"}}]}', {"type": "chat"},
         Contents(requests=({"params": {"prompt": "x"}}, {"params": {"prompt": "y"}}))),
        ("a.toml", "tools = [{name = 'f'}]", {"type": "tools"}, Contents(tools=({"tools": [{"name": "f"}]},))),
    ],
)  # fmt: skip
def test_what_is_counted(path: str, data: str, keys: dict[str, Any], counted: Contents) -> None:
    assert contents(path, data, **keys) == counted


@pytest.mark.parametrize(
    ("path", "data", "keys", "says"),
    [
        ("a.md", b"\xff", {}, "a.md: not UTF-8 text (byte 0xff at offset 0)"),
        ("a.md", b"a\0b", {}, "a.md: binary"),
        ("a.md", b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", {}, "a pointer of Git LFS"),
        ("a.json", b"{", {"type": "chat"}, "a.json: not JSON"),
        ("a.json", b'{"a": 1, "a": 2}', {"type": "chat"}, "a.json: a: the key is there twice"),
        ("a.jsonl", b"{}\n{", {"type": "chat"},
         "a.jsonl: line 2: not JSON: a key in double quotes is expected (column 2)"),
        ("a.jsonl", b"{}\n" + b"[" * 5000, {"type": "chat"}, "line 2: nested deeper than 100 levels (column 101)"),
        ("a.jsonl", b'{"system": "x"}', {"field": "system"},
         "there is no system; the file is a list: [*].system is that of each of its members"),
        ("a.jsonl", b"\n\n", {"type": "chat"}, "a.jsonl: empty"),
        ("a.yaml", b"a: 1\na: 2", {"field": "a"}, "a.yaml: not YAML: the key 'a' is there twice, on line 2 again"),
        ("a.yaml", b"a: [", {"field": "a"}, "a.yaml: not YAML"),
        ("a.yaml", b"a: !!python/object:os.system x", {"field": "a"}, "a.yaml: not YAML"),
        ("a.yaml", BOMB, {"type": "chat"}, "a.yaml: its aliases stand for more than 1,000,000 values"),
        ("a.yaml", b"a: &a [*a]", {"field": "a"}, "a.yaml: its aliases stand for more than 1,000,000 values"),
        ("a.yaml", b"[" * 5000, {"type": "chat"}, "a.yaml: not YAML"),
        ("a.toml", b"a = ", {"field": "a"}, "a.toml: Invalid value"),
        ("a.md", b"# x", {"field": "a"}, "a.md: not JSON"),
        ("a.json", b'{"sytem": "x"}', {"field": "system"}, "there is no system; did you mean 'sytem'?"),
        ("a.json", b'[{"p": "x"}, {}]', {"field": "[*].p"}, "there is no [1].p"),
        ("a.json", b"[]", {"field": "[*]"}, "nothing at '[*]'"),
        ("a.json", b'{"p": 3}', {"field": "p"}, "a text is needed, or a list of them, not a number"),
        ("a.json", b'{"p": 3}', {"field": "p.*"}, "p is a number, not a table or list"),
        ("a.json", b'{"p": []}', {"field": "p[0]"}, "there is no p[0]"),
        ("a.md", b"{{ x }}", {"type": "jinja"}, "a.md: the Jinja template fails: 'x' is undefined"),
    ],
)  # fmt: skip
def test_what_cannot_be_counted(path: str, data: bytes, keys: dict[str, Any], says: str) -> None:
    with pytest.raises(TokengapError) as error:
        read_contents(budget(**keys), path, data)
    assert str(error.value).startswith(path)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("path", "data", "field", "line"),
    [
        ("a.yaml", YAML, "agents[*].system", 4),
        ("a.yaml", YAML, "agents[1].system", 7),
        ("a.json", '{\n "a": [\n  {"p": "x"},\n  {"p": "y"}]}', "a[1].p", 4),
        ("a.jsonl", '\n{"p": "x"}\n{"p": "y"}', "[1].p", 3),
        ("a.toml", 'x = 1\n[a]\np = "x"', "a.p", 3),
        ("a.json", "{", "a", 1),
    ],
)
def test_the_line_of_a_field(path: str, data: str, field: str, line: int) -> None:
    assert first_line(budget(field=field), path, data.encode()) == line


def test_the_line_of_a_whole_file() -> None:
    assert first_line(budget(), "a.md", b"\n\nx") == 1


def test_tools_in_their_forms() -> None:
    tool = {"name": "f"}
    assert (
        tools_of([tool]) == tools_of({"tools": [tool]}) == tools_of({"functions": [tool]}) == tools_of(tool) == [tool]
    )
    with pytest.raises(TokengapError, match="a list of tools is needed, not a string"):
        tools_of("f")


def test_a_path_with_dots_in_a_name() -> None:
    value = {"a.b": {"*": [1], 'q"': 2}}
    assert select_fields(value, '["a.b"]["*"][0]') == [(("a.b", "*", 0), 1)]
    assert select_fields({"x": value}, r'x["a.b"]["q\""]') == [(("x", "a.b", 'q"'), 2)]


@pytest.mark.parametrize("path", ["a..b", ".a", "a.", "a[x]", "a[-1]", "a b", '"a"', '["a', r'["\x"]', "a[0"])
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(TokengapError, match="is written such as"):
        select_fields({}, path)


@pytest.mark.parametrize(
    ("patterns", "chosen"),
    [
        (["*.md"], ["a.md"]),
        (["**/*.md"], ["a.md", "p/b.md", "p/draft/c.md", "q/p/d.md"]),
        (["p"], ["p/b.md", "p/draft/c.md", "p/é x.txt"]),
        (["p/"], ["p/b.md", "p/draft/c.md", "p/é x.txt"]),
        (["p/**", "!p/draft/**"], ["p/b.md", "p/é x.txt"]),
        (["p/**", "!p/draft"], ["p/b.md", "p/é x.txt"]),
        (["p/*"], ["p/b.md", "p/é x.txt"]),
        (["*"], ["#x", "a.md"]),
        (["a.md/"], []),
        (["**/draft"], ["p/draft/c.md"]),
        (["**"], ["#x", "a.md", "p/b.md", "p/draft/c.md", "p/é x.txt", "q/p/d.md"]),
        (["p/**", "!**/c.md", "p/draft/c.md"], ["p/b.md", "p/draft/c.md", "p/é x.txt"]),
        (["**/p/*.md"], ["p/b.md", "q/p/d.md"]),
        (["p/?.md", "p/[é]*"], ["p/b.md", "p/é x.txt"]),
        (["p/b.md"], ["p/b.md"]),
        (["P/B.md", "b.md", ".md"], []),
    ],
)
def test_globs(patterns: list[str], chosen: list[str]) -> None:
    paths = ["q/p/d.md", "a.md", "p/b.md", "p/draft/c.md", "p/é x.txt", "#x"]
    assert select(paths, patterns) == chosen


@pytest.mark.parametrize("pattern", ["*.md", "**/*.md", "p/*.md", "p/**/*.md", "*/*/*.md", "p/*/[cd].*", "?.md"])
def test_globs_mean_what_they_do_in_python(tmp_path: Path, pattern: str) -> None:
    paths = ["a.md", "p/b.md", "p/q/c.md", "p/q/d.txt", "r/p/e.md"]
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    assert select(paths, [pattern]) == sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob(pattern))


def test_a_sample_that_no_template_uses() -> None:
    template = budget(type="format", variables={"a": 1, "b": 2}, allowances={"c": 3})
    assert unused_variable(template, {"x": b"{a}", "y": b"{b}{c}"}) is None
    assert unused_variable(template, {"x": b"{a}{c}"}) == ("variables", "b")
    assert unused_variable(template, {"x": b"{a}{b}"}) == ("allowances", "c")
    assert unused_variable(budget(), {"x": b"\xff"}) is None
    assert unused_variable(budget(type="jinja", variables={"a": 1}), {"x": b"{% include 'y' %}"}) is None


NAME = st.sampled_from(["a", "b", "ab", "a.md", "p"])
GLOB = st.sampled_from(["**", "*", "*.md", "a*", "?", "[ab]", "[!a]", "a", "p"])


@given(st.lists(NAME, min_size=1, max_size=5), st.lists(GLOB, min_size=1, max_size=4))
def test_globs_are_those_of_gitignore(names: list[str], globs: list[str]) -> None:
    """But that a folder stands for all in it only where it is named plainly, which git does in any case."""
    path, pattern = "/".join(names), "/".join(globs)
    ignored = GitIgnoreSpec.from_lines([f"/{pattern}"]).match_file(path)
    plain = globs[-1] in ("a", "p")
    chosen = bool(select([path], [pattern]))
    if plain or globs[-1] == "**":
        assert chosen == ignored
    else:
        parents = ["/".join(names[:end]) for end in range(1, len(names))]
        assert ignored == (chosen or any(select([parent], [pattern]) for parent in parents))


@pytest.mark.parametrize("pattern", ["*a" * 50 + "b", "**/a/" * 50 + "b", "[ab]*" * 40 + "c", "**/*/" * 40 + "**"])
def test_no_pattern_takes_long(pattern: str) -> None:
    paths = ["a" * 5_000, "/".join("a" * 1_000)]
    assert select(paths, [pattern]) == ([paths[1]] if pattern.endswith("**") else [])
