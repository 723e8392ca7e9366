"""Templates filled with samples or with room: what is counted is what Jinja and str.format write."""

from __future__ import annotations

import re
from typing import Any

import jinja2
import pytest
from hypothesis import HealthCheck, assume, given, settings
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
    "huge": 10**400,
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
    "{user[0]}{items[1][0]}",
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
        ("jinja", "{{ [body, user] | join(', ') }}{{ user | default(body) }}", Filled((", AnnAnn",), 500)),
        ("jinja", "{% set x %}<{{ body }}>{% endset %}{{ x | trim | upper }}", Filled(("<", ">"), 500)),
        ("jinja", "{% macro m(a) %}[{{ a }}]{% endmacro %}{{ m(body) ~ m(a=tail) }}", Filled(("[", "][", "]"), 507)),
        ("jinja", "{% for x in [body, tail, user] %}{{ x }},{% endfor %}", Filled((",", ",Ann,"), 507)),
        ("jinja", "{% if body is defined and body is not none %}{{ body }}{% endif %}", Filled((), 500)),
        ("jinja", "{% filter indent(2) %}a\n{{ body }}{% endfilter %}", Filled(("a\n  ",), 500)),
        ("jinja", "{% set n = namespace(x=body) %}{{ n.x }}{{ dict(a=tail).a }}", Filled((), 507)),
        ("jinja", "{% autoescape true %}{{ body }}<{{ '<' }}{% endautoescape %}", Filled(("<&lt;",), 500)),
        ("format", "Dear {user}, {body}{tail!s}.", Filled(("Dear Ann, ", "."), 507)),
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
        ("jinja", "a\n{% if user %}", "line 2: not a Jinja template: Unexpected end of template"),
        ("jinja", "{{ 1 / 0 }}", "ZeroDivisionError"),
        (
            "jinja",
            "{{ items | map('upper') }}",
            "writes out an iterator, whose text is another each time: | list or | join",
        ),
        ("jinja", "{{ items | reverse }}", "writes out an iterator"),
        ("jinja", "{{ ''.__class__ }}", "access to attribute '__class__' of 'str' object is unsafe"),
        ("jinja", "{{ items.append(3) }}", "unsafe"),
        ("jinja", "{% for i in range(1000000) %}{% endfor %}", "OverflowError"),
        ("jinja", "{% include 'other.md' %}", "needs 'other.md', which is not there"),
        ("format", "{body!r}", "'body' has an allowance and no sample"),
        ("format", "{body:>9}", "'body' has an allowance and no sample"),
        ("format", "{usr}", "no variable 'usr'; did you mean 'user'?"),
        ("format", "{}", "{} has no name"),
        ("format", "{0}", "{0} has no name"),
        ("format", "{user", "not a str.format template: expected '}'"),
        ("format", "}", "not a str.format template: Single '}'"),
        ("format", "{user:>10000000000}", "'>10000000000': a width or precision of more than 10,000"),
        ("format", "{user:>10001}", "'>10001': a width or precision of more than 10,000"),
        ("format", "{n:.9999999999f}", "'.9999999999f': a width or precision of more than 10,000"),
        ("format", "{n:99999999999999999999}", "a width or precision of more than 10,000"),
        ("format", "{huge:f}", "not a str.format template: int too large to convert to float"),
        ("format", "{huge:c}", "not a str.format template: Python int too large"),
        ("format", "{items[99999999999999999999]}", "the sample has no '99999999999999999999'"),
        ("format", "{items[²]}", "the sample has no '²'"),
        ("format", "{user:>10000}" * 5_001, "more than 50,000,000 characters"),
        (
            "jinja",
            "{{ 'a' * 9999999999999999 }}",
            "fails: what it writes or works out does not fit into memory",
        ),
        (
            "jinja",
            "{% for i in range(9999) %}{% for j in range(9999) %}" + "a" * 9999 + "{% endfor %}{% endfor %}",
            "the template comes to more than 50,000,000 characters",
        ),
        ("jinja", "{{ '%9999999999999999d' % 1 }}", "the Jinja template fails: "),
        ("jinja", "{{ '{:>9999999999999999}'.format(1) }}", "the Jinja template fails: "),
        ("format", "{user:d}", "not a str.format template: Unknown format code 'd'"),
        ("format", "{n:{n}}", "a variable inside the format of another"),
        ("format", "{n.real}", "'n.real': the sample has no 'real'"),
        ("format", "{user.__class__}", "the sample has no '__class__'"),
        ("format", "{items}", "'items' is a table or list"),
        ("format", "{items[9]}", "the sample has no '9'"),
        ("format", "{items.0}", "the sample has no '0'"),
        ("format", "{user[3]}", "the sample has no '3'"),
        ("format", "{body.x}", "'body' has an allowance and no sample"),
        ("format", "{body[0]}", "'body' has an allowance and no sample"),
    ],
)
def test_what_cannot_be_filled(kind: str, template: str, says: str) -> None:
    with pytest.raises(TokengapError) as error:
        fill(template, kind, SAMPLES, {"body": 500})
    assert says in str(error.value)


KEPT = """\
upper
lower
capitalize
title
trim
trim('x')
e
escape
forceescape
string
safe
indent
indent()
indent(2)
indent(0)
indent('  ')
indent(width=4, first=True)
indent(2, true, true)
replace('a', 'b')
replace('a', 'b', 1)
default('a')
default('a', true)
d('a')
"""


@pytest.mark.parametrize("template", ["{{ q | %s }}", "{{ q | %s | trim }}", "{{ q | upper | %s }}", "{{ q | e | %s }}",
                                      "{{ q | indent(2) | %s }}", "{{ [q | %s] | join(', ') }}",
                                      "{% filter %s %}{{ q }}{% endfilter %}",
                                      "{% autoescape true %}{{ q | %s }}{% endautoescape %}"])  # fmt: skip
@pytest.mark.parametrize("name", KEPT.splitlines())
def test_the_filters_that_keep_a_text_write_a_variable_that_has_an_allowance(name: str, template: str) -> None:
    filled = fill(template.replace("%s", name), "jinja", {}, {"q": 9})
    assert (filled.allowance, "".join(filled.texts).strip()) == (9, "")


def test_an_import_that_needs_the_context() -> None:
    shared = {"shared.j2": b"<{{ q }}>"}
    plain, whole = "{% import 'shared.j2' as s %}{{ s }}", "{% import 'shared.j2' as s with context %}{{ s }}"
    with pytest.raises(TokengapError, match=r"'q' is undefined; .* write 'with context' after the import"):
        fill(plain, "jinja", {"q": "a"}, {}, shared.get)
    assert "".join(fill(whole, "jinja", {"q": "a"}, {}, shared.get).texts) == "<a>"


REFUSED = """\
{{ {'a': q} }}
{{ [q] }}
{{ (q,) }}
{{ [[q ~ '']] }}
{{ dict(a=q) }}
{{ dict(a=q).items() }}
{{ [q] ~ 'x' }}
{{ [[q]] | join(', ') }}
{{ [q] | string }}
{{ namespace(a=q ~ 'b') }}
{{ q | int }}
{{ q | float }}
{{ q | abs }}
{{ q | round }}
{{ q | wordcount }}
{{ q | length }}
{{ q | count }}
{{ q | string | length }}
{{ q | list }}
{{ q | string | list }}
{{ q | first }}
{{ q | string | last }}
{{ q | reverse }}
{{ q | truncate(3) }}
{{ q | wordwrap(3) }}
{{ q | center(9) }}
{{ q | urlencode }}
{{ q | urlize }}
{{ q | striptags }}
{{ q | pprint }}
{{ q | tojson }}
{{ [q] | tojson }}
{{ {'a': q ~ ''} | tojson }}
{{ q | filesizeformat }}
{{ q | attr('x') }}
{{ q | random }}
{{ {'a': q} | xmlattr }}
{{ [q, 'a'] | sort | join }}
{{ [q, 'a'] | unique | join }}
{{ [q] | map('length') | join }}
{{ [q] | select('string') | join }}
{{ [q] | sum }}
{{ {q: 1} | length }}
{{ {q ~ '': 1} }}
{{ {'a': 1}[q] }}
{{ {'a': 1}[q ~ ''] }}
{{ '%s' % q }}
{{ '%r' % (q ~ '') }}
{{ '%9s' | format(q) }}
{{ '{:>9}'.format(q) }}
{{ q + 'a' }}
{{ 'a' + q }}
{{ q * 2 }}
{{ (q ~ '') * 2 }}
{{ -q }}
{{ 'a' * q }}
{{ q % 'a' }}
{{ (q ~ '')[:1] }}
{{ (q ~ '')[0] }}
{{ q.upper() }}
{{ (q | string).split() }}
{{ ' '.join(q ~ q) }}
{% if q is string %}S{% else %}N{% endif %}
{% if q is number %}{% endif %}
{{ q is mapping }}
{{ q is iterable }}
{{ q is sameas q }}
{{ q is eq 'a' }}
{{ q is in ['a'] }}
{{ (q ~ '') is upper }}
{{ q == 'a' }}
{{ 'a' == q ~ '' }}
{{ q < 'a' }}
{{ 'a' in q }}
{{ 'a' in q ~ '' }}
{{ q in ['a'] }}
{{ q ~ '' not in ['a'] }}
{{ 1 < 2 == q }}
{{ range(q) }}
{{ lipsum(q) }}
{% set x %}{{ q }}{% endset %}{{ x | length }}
{% set x %}{{ q }}{% endset %}{{ x == '' }}
{% set x = q | upper %}{% if x == 'YES' %}{% endif %}
{% set a, b = q ~ q %}
{% filter length %}{{ q }}{% endfilter %}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(q) | length }}
{% macro m(a) %}{{ a | int }}{% endmacro %}{{ m(q) }}
{% macro m() %}{{ varargs | length }}{% endmacro %}{{ m(q) }}
{% macro m() %}{% endmacro %}{{ m(*(q ~ '')) }}
{% for c in q ~ '' %}{{ c }}{% endfor %}
{% for i in items if i == q %}{% endfor %}
{% include q ignore missing %}
{% include [q ~ ''] ignore missing %}
{% import q as x %}
{{ items | join(attribute=q) }}
{{ 'a b' | replace(q, '') }}
{{ 'a' | indent(q) }}
{{ q | replace('a', q) }}
"""


@pytest.mark.parametrize("template", REFUSED.splitlines())
def test_nothing_may_depend_on_a_variable_without_a_sample(template: str) -> None:
    with pytest.raises(TokengapError) as error:
        fill(template, "jinja", SAMPLES, {"q": 500})
    assert "'q' has an allowance and no sample, so that it can only be written out" in str(error.value)


ATOMS = st.sampled_from(["q", "r", "'a'", "1", "items", "order", "user", "'%s'", "[]", "none"])
UNARY = st.sampled_from(
    [f"({{0}} | {name})" for name in sorted(jinja2.filters.FILTERS.keys() - {"random", "slice", "batch", "groupby"})]
    + [
        f"({{0}} is {name})"
        for name in ("defined", "none", "string", "number", "iterable", "sequence", "true", "upper")
    ]
    + [
        "({0})[0]",
        "({0})[:1]",
        "[{0}]",
        "{{'k': {0}}}",
        "(not {0})",
        "(-{0})",
        "({0}).a",
        "({0}).split()",
        "dict(a={0})",
    ]
)
BINARY = st.sampled_from(
    [f"({{0}} {operator} {{1}})" for operator in ("~", "+", "*", "%", "==", "<", "in", "and", "or", "is eq", "is in")]
    + ["({0} if {1} else '')", "({0} | default({1}))", "([{0}, {1}] | join(' '))", "({0} | replace({1}, 'b'))"]
    + ["({0})[{1}]", "[{0}, {1}]", "({0} | map({1}))", "({0} | format({1}))", "{{{0}: {1}}}", "m({0}, {1})"]
)
EXPRESSION = st.recursive(
    ATOMS,
    lambda inner: st.builds(str.format, UNARY, inner) | st.builds(str.format, BINARY, inner, inner),
    max_leaves=6,
)
TEMPLATE = st.builds(
    lambda frame, expression, name: frame.replace("E", expression).replace("F", name),
    st.sampled_from(
        [
            "{{ E }}",
            "{% set x %}{{ E }}{% endset %}{{ x | F }}",
            "{% for i in E %}{{ i }}{% endfor %}",
            "{% if E %}A{{ r }}{% else %}B{% endif %}",
            "{% filter F %}{{ E }}{% endfilter %}",
        ]
    ),
    EXPRESSION,
    st.sampled_from(["upper", "length", "wordcount", "trim", "int", "indent", "list", "string"]),
)
MACRO = "{% macro m(a, b) %}<{{ a }}{{ b }}>{% endmacro %}"


@settings(max_examples=400, suppress_health_check=[HealthCheck.filter_too_much])
@given(TEMPLATE)
def test_what_is_filled_is_what_any_value_would_leave_around_itself(template: str) -> None:
    """Of what is accepted: values of other lengths, of letters without case, are written as often in the same text."""
    try:
        filled = fill(MACRO + template, "jinja", SAMPLES, {"q": 1_000, "r": 1})
    except TokengapError:
        return
    for q, r in (("\u4e00\u4e8c\u4e09", "\u56db"), ("\u4e00", "\u56db\u4e94")):
        written = jinja2.Template(MACRO + template).render(SAMPLES, q=q, r=r)
        assume("at0x" not in re.sub("[', ]", "", written.lower()))  # a list with an object as Python shows it
        assert written.count(q) * 1_000 + written.count(r) == filled.allowance
        assert written.replace(q, "").replace(r, "") == "".join(filled.texts)


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
