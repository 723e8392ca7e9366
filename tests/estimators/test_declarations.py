"""How tool definitions are written out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.estimators.declarations import declare
from tokengap.estimators.fields import NotCounted
from tokengap.estimators.framing import rules
from tokengap.estimators.request_count import count_request
from tokengap.estimators.schema import check_schema
from tokengap.estimators.tools import Tool

OLD, NEW = (next(rule for rule in rules().tools if rule.name == f"openai-functions{end}") for end in ("-2023", ""))


def written(schema: Any, rule: Any = NEW) -> str:
    """The one parameter of a function, without what stands around it."""
    tool = Tool("f", None, check_schema(schema, "p", NotCounted()), "p")
    text = declare((tool,), rule, NotCounted()).text
    return text.removeprefix("namespace functions {\n\ntype f = (").removesuffix(
        ") => any;\n\n} // namespace functions"
    )


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "object", "properties": {}}, ""),
        ({}, ""),
        ({"properties": {"a": {"type": "integer"}}}, "_: { a?: number }"),
        ({"properties": {"a": {}, "b": {"type": "null"}}, "required": ["b"]}, "_: { a?: any, b: null }"),
        ({"properties": {"a": {"enum": ["x", 1, None]}}}, '_: { a?: "x" | 1 | null }'),
        ({"properties": {"a": {"const": "x"}}}, '_: { a?: "x" }'),
        ({"properties": {"a": {"type": ["string", "null"]}}}, "_: { a?: string | null }"),
        ({"properties": {"a": {"type": "string", "nullable": True}}}, "_: { a?: string | null }"),
        ({"properties": {"a": {"type": "array"}}}, "_: { a?: any[] }"),
        ({"properties": {"a": {"items": {"items": {"type": "boolean"}}}}}, "_: { a?: boolean[][] }"),
        ({"properties": {"a": {"oneOf": [{"type": "string"}, True]}}}, "_: { a?: string | any }"),
        (
            {"properties": {"a": {"allOf": [{"$ref": "#/$defs/B"}]}}, "$defs": {"B": {"type": "string"}}},
            "_: { a?: string }",
        ),
        ({"properties": {"a": {"type": "object"}}}, "_: { a?: {} }"),
        ({"items": {"type": "string"}}, "_: string[]"),
        ({"anyOf": [{"type": "string"}, {"type": "number"}]}, "_: string | number"),
        (
            {"properties": {"a": {"properties": {"b": {"type": "string"}}}, "c": {"type": "string"}}},
            "_: { a?: { b?: string }, c?: string }",
        ),
        (
            {"properties": {"a": {"properties": {"b": {"type": "string", "description": "B\nb"}}}}},
            "_: {\na?: {\n// B\n// b\nb?: string,\n},\n}",
        ),
        ({"properties": {"a": {"type": "string", "default": "x"}}}, '_: {\na?: string, // default: "x"\n}'),
    ],
)
def test_layout_of_today(schema: Any, text: str) -> None:
    assert written(schema) == text


def test_layout_of_2023() -> None:
    inner = {"b": {"type": "string", "description": "not shown"}}
    schema = {"properties": {"a": {"description": "shown", "properties": inner}}}
    assert written(schema, OLD) == "_: {\n// shown\na?: {\n  b?: string,\n},\n}"


def test_what_is_left_out_is_listed() -> None:
    schema = {
        "title": "T",
        "properties": {"a": {"type": "string", "pattern": "x", "x-y": 1}},
        "additionalProperties": False,
    }
    not_counted = NotCounted()
    tool = Tool("f", None, check_schema(schema, "p", not_counted), "p")
    declared = declare((tool,), NEW, not_counted)
    assert set(not_counted.paths()) == {"p.title", "p.properties.a.pattern", "p.properties.a.x-y"}
    assert declared.left_out == ('title: "T"', 'pattern: "x"')


schemas: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.sampled_from([{"type": "string"}, {"type": "integer"}, {"enum": ["a", "b"]}, {}]),
    lambda inner: (
        st.dictionaries(st.sampled_from("abcd"), inner, max_size=3).map(lambda p: {"type": "object", "properties": p})
        | inner.map(lambda items: {"type": "array", "items": items})
        | st.lists(inner, min_size=1, max_size=3).map(lambda variants: {"anyOf": variants})
    ),
    max_leaves=8,
)


@given(schemas, st.text("abc xyz.", min_size=1, max_size=30))
def test_a_description_adds_to_the_count(schema: dict[str, Any], description: str) -> None:
    def count(extra: dict[str, str]) -> int:
        function = {"name": "f", "parameters": schema, **extra}
        return count_request({"messages": [], "tools": [{"type": "function", "function": function}]}, "gpt-4o").tokens

    assert count({"description": description}) > count({})


@given(schemas)
def test_every_line_is_accounted_for(schema: dict[str, Any]) -> None:
    assert written(schema).count("{") == written(schema).count("}")
    wide = replace(NEW, one_line_objects=False)
    assert written(schema).split() == written(schema, wide).replace(",\n}", "\n}").split()
