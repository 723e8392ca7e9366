"""Templates filled with samples or with room: what is counted is what Jinja and str.format write."""

from __future__ import annotations

from typing import Any

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.estimators.templates import Filled, fill, used_variables
from tokengap.tokenizers.errors import TokengapError

SAMPLES: dict[str, Any] = {
    "user": "Ann",
    "n": 3,
    "items": ["a", "b"],
    "order": {"id": 7, "lines": [{"sku": "x"}], "note": "{not a field}"},
    "empty": "",
    "on": True,
}
JINJA = [
    "Dear {{ user }},\n\n{% for item in items %}- {{ item | upper }}\n{% endfor %}",
    "{% if on %}yes{% else %}no{% endif %}{# said #}",
    "{{ order.id }} {{ order['lines'][0].sku }} {{ items | join(', ') }}",
    "a\r\nb {{ n }}\r\n",
    "{% set x = n * 2 %}{{ x }}{% macro m(a) %}[{{ a }}]{% endmacro %}{{ m(user) }}\n\n",
    "{% raw %}{{ user }}{% endraw %} {{ '%s' % user }} é ✓",
    "",
]
FORMAT = [
    "Dear {user}, you have {n:>4} of {items[0]}{{braces}}",
    "{order[id]} {n!r} {user!s:*^9} {empty}|",
    "{order[note]}",
    "",
]


@pytest.mark.parametrize("template", JINJA)
def test_jinja_writes_the_same(template: str) -> None:
    """The sandbox and the strictness change nothing of what is written."""
    assert "".join(fill(template, "jinja", SAMPLES, {}).texts) == jinja2.Template(template).render(SAMPLES)


@pytest.mark.parametrize("template", FORMAT)
def test_format_writes_the_same(template: str) -> None:
    assert "".join(fill(template, "format", SAMPLES, {}).texts) == template.format(**SAMPLES)


@given(st.text(st.characters(codec="utf-8", max_codepoint=0x10EFFF, exclude_characters="{}")))  # beyond, it is refused
def test_text_without_fields_is_itself(text: str) -> None:
    assert "".join(fill(text, "format", {}, {}).texts) == text


@pytest.mark.parametrize(
    ("kind", "template", "filled"),
    [
        ("jinja", "Dear {{ user }}, {{ body }}", Filled(("Dear Ann, ",), 500)),
        ("jinja", "{{ body }}{{ body | upper }} x {{ body | trim }}", Filled((" x ",), 1500)),
        ("jinja", "{% for i in items %}<{{ body }}>{% endfor %}", Filled(("<", "><", ">"), 1000)),
        ("jinja", "{% if body %}{{ tail }}{% endif %}", Filled((), 7)),
        ("jinja", "{{ 'a' ~ body ~ 'b' }}", Filled(("a", "b"), 500)),
        ("format", "Dear {user}, {body}{tail!s:>9}.", Filled(("Dear Ann, ", "."), 507)),
        ("format", "{tail}", Filled((), 7)),
    ],
)
def test_a_variable_without_a_sample_takes_its_allowance(kind: str, template: str, filled: Filled) -> None:
    assert fill(template, kind, SAMPLES, {"body": 500, "tail": 7}) == filled


@pytest.mark.parametrize(
    ("kind", "template", "says"),
    [
        ("jinja", "{{ usr }}", "'usr' is undefined; did you mean 'user'? give it a sample in 'variables'"),
        ("jinja", "{{ order.nmae }}", "has no attribute 'nmae'"),
        ("jinja", "{% for c in body %}{{ c }}{% endfor %}", "'body' has an allowance and no sample"),
        ("jinja", "{{ body.text }}", "'body' has an allowance and no sample"),
        ("jinja", "{{ body[0] }}", "'body' has an allowance and no sample"),
        ("jinja", "{{ body | length }}", "'body' has an allowance and no sample"),
        ("jinja", "{% if body == 'x' %}{% endif %}", "'body' has an allowance and no sample"),
        ("jinja", "{{ body() }}", "'body' has an allowance and no sample"),
        ("jinja", "{{ body | tojson }}", "the Jinja template fails: TypeError"),
        ("jinja", "a\n{% if user %}", "line 2: not a Jinja template: Unexpected end of template"),
        ("jinja", "{{ 1 / 0 }}", "ZeroDivisionError"),
        ("jinja", "{{ ''.__class__ }}", "access to attribute '__class__' of 'str' object is unsafe"),
        ("jinja", "{{ items.append(3) }}", "unsafe"),
        ("jinja", "{% for i in range(1000000) %}{% endfor %}", "OverflowError"),
        ("jinja", "{% include 'other.md' %}", "needs 'other.md', which is not there"),
        ("format", "{usr}", "no variable 'usr'; did you mean 'user'?"),
        ("format", "{}", "{} has no name"),
        ("format", "{0}", "{0} has no name"),
        ("format", "{user", "not a str.format template: expected '}'"),
        ("format", "}", "not a str.format template: Single '}'"),
        ("format", "{user:d}", "not a str.format template: Unknown format code 'd'"),
        ("format", "{n:{n}}", "a variable inside the format of another"),
        ("format", "{n.real}", "'n.real': the sample has no 'real'"),
        ("format", "{user.__class__}", "the sample has no '__class__'"),
        ("format", "{items}", "'items' is a table or list"),
        ("format", "{items[9]}", "the sample has no '9'"),
    ],
)
def test_what_cannot_be_filled(kind: str, template: str, says: str) -> None:
    with pytest.raises(TokengapError) as error:
        fill(template, kind, SAMPLES, {"body": 500})
    assert says in str(error.value)


def test_a_mark_in_the_template_is_refused() -> None:
    with pytest.raises(TokengapError, match="private-use"):
        fill("\U0010f000", "jinja", {}, {"body": 1})


def test_included_files_are_read() -> None:
    files = {"head.md": b"Be brief, {{ user }}.", "macros.j2": b"{% macro m() %}!{% endmacro %}"}
    template = "{% include 'head.md' %}{% from 'macros.j2' import m %}{{ m() }}{{ body }}"
    assert fill(template, "jinja", SAMPLES, {"body": 9}, files.get) == Filled(("Be brief, Ann.!",), 9)
    with pytest.raises(TokengapError, match="not UTF-8"):
        fill("{% include 'a' %}", "jinja", {}, {}, {"a": b"\xff"}.get)
    with pytest.raises(TokengapError, match="RecursionError"):
        fill("{% include 'a' %}", "jinja", {}, {}, {"a": b"{% include 'a' %}"}.get)


@pytest.mark.parametrize(
    ("kind", "template", "names"),
    [
        ("jinja", "{{ a }}{% for b in c %}{{ b }}{% endfor %}{% set d = 1 %}{{ d }}", {"a", "c"}),
        ("jinja", "{% include 'x' %}", None),
        ("format", "{a.b} {c[0]} {{d}} {e!r:>3}", {"a", "c", "e"}),
    ],
)
def test_used_variables(kind: str, template: str, names: set[str] | None) -> None:
    assert used_variables(template, kind) == names
