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
from tokengap.tokenizers.registry import get_counter

ASK = [{"role": "user", "content": "x"}]
OLD, NEW = (next(rule for rule in rules().tools if rule.name == f"openai-functions{end}") for end in ("-2023", ""))


def written(schema: Any, rule: Any = NEW) -> str:
    """The one parameter of a function, without what stands around it."""
    tool = Tool("f", None, check_schema(schema, "p", NotCounted()), "t", "p")
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


def test_what_is_left_out_is_in_the_interval_or_listed() -> None:
    schema = {
        "title": "T",
        "properties": {"a": {"type": "string", "pattern": "x", "x-y": 1}},
        "additionalProperties": False,
    }
    not_counted = NotCounted()
    tool = Tool("f", None, check_schema(schema, "p", not_counted), "t", "p")
    declared = declare((tool,), NEW, not_counted)
    assert not_counted.paths() == ("p.properties.a.x-y",)
    assert dict(declared.left_out) == {'title: "T"': 1, 'pattern: "x"': 1}


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
        return count_request({"messages": ASK, "tools": [{"type": "function", "function": function}]}, "gpt-4o").tokens

    assert count({"description": description}) > count({})


@given(schemas)
def test_every_line_is_accounted_for(schema: dict[str, Any]) -> None:
    assert written(schema).count("{") == written(schema).count("}")
    wide = replace(NEW, one_line_objects=False)
    assert written(schema).split() == written(schema, wide).replace(",\n}", "\n}").split()


def interval(schema: Any, model: str = "gpt-4o") -> tuple[int, int, int]:
    """The tokens of a function with the parameters, and their bounds."""
    function = {"name": "f", "description": "Do it", "parameters": schema}
    tools = count_request({"messages": ASK, "tools": [{"type": "function", "function": function}]}, model).parts[
        "tools"
    ]
    assert tools.interval is not None
    return tools.tokens, *tools.interval


def properties(**schemas: Any) -> dict[str, Any]:
    return {"type": "object", "properties": schemas}


TEXT = {"type": "string"}
SAID = {"type": "string", "description": "What it is"}
PUBLISHED_CONSTRUCTS = {
    "nothing": {"type": "object", "properties": {}},
    "a property": properties(a=TEXT),
    "described properties": properties(a=SAID, b={"type": "integer", "description": "How many"}, c=TEXT),
    "no type": properties(a={"description": "Anything"}),
    "null": properties(a={"type": "null"}),
    "an enum of texts": properties(a={"type": "string", "enum": ["Happy", "Sad"]}),
    "an enum of numbers": properties(a={"type": "integer", "enum": [-1, 1]}),
    "an array of texts": properties(a={"type": "array", "items": TEXT, "description": "Some"}),
    "an object within": properties(a=properties(b=TEXT), c=SAID),
    "a described object within": properties(a={**properties(b=SAID), "description": "It"}),
    "strict": {**properties(a=TEXT), "required": ["a"], "additionalProperties": False},
}


@pytest.mark.parametrize("schema", PUBLISHED_CONSTRUCTS.values(), ids=PUBLISHED_CONSTRUCTS)
@pytest.mark.parametrize("model", ["gpt-4", "gpt-4o"])
def test_what_published_counts_cover_is_one_number(schema: Any, model: str) -> None:
    tokens, low, high = interval(schema, model)
    assert low == tokens == high


TARGET = properties(x=SAID, y={"type": "number"})
# A schema, and ways it may be written; the first is ours where none of the published counts tells.
UNPUBLISHED: dict[str, tuple[Any, list[str]]] = {
    "$ref": ({**properties(a={"$ref": "#/$defs/T"}), "$defs": {"T": TARGET}}, ["_: { a?: any }"]),
    "$ref beside words": (
        {**properties(a={"$ref": "#/$defs/T", "description": "It"}), "$defs": {"T": TARGET}},
        ["_: {\n// It\na?: any,\n}"],
    ),
    "nullable": (properties(a={"type": "string", "nullable": True}), ["_: { a?: string }", "_: { a?: string | null }"]),
    "a list of types": (
        properties(a={"type": ["string", "null"]}),
        ["_: { a?: string }", "_: { a?: string | null }", "_: { a?: any }"],
    ),
    "anyOf": (
        properties(a={"anyOf": [TEXT, {"type": "number"}]}),
        ["_: { a?: string | number }", "_: {\na?:\n | string\n | number\n,\n}"],
    ),
    "anyOf of objects": (properties(a={"anyOf": [TARGET, properties(z=TEXT)]}), []),
    "oneOf": (properties(a={"oneOf": [TEXT, {"type": "number"}]}), ["_: {\na?:\n | string\n | number\n,\n}"]),
    "allOf": (properties(a={"allOf": [TARGET]}), ["_: { a?: any }"]),
    "an enum of many": (properties(a={"type": "string", "enum": [f"v{n}" for n in range(40)]}), []),
    "an enum of several types": (properties(a={"enum": ["x", 1, None]}), ["_: { a?: any }"]),
    "an enum without a type": (properties(a={"enum": ["x", "y"]}), ["_: { a?: any }", '_: { a?: "x" | "y" }']),
    "an enum that may be null": (
        properties(a={"type": ["string", "null"], "enum": ["x", None]}),
        ['_: { a?: "x" | null }', "_: { a?: string | null }"],
    ),
    "an enum with quotes": (
        properties(a={"type": "string", "enum": ['"', "\\"]}),
        ['_: { a?: """ | "\\" }', '_: { a?: "\\"" | "\\\\" }'],
    ),
    "const": (properties(a={"const": "x"}), ['_: { a?: "x" }', "_: { a?: any }"]),
    "const beside a type": (properties(a={"type": "string", "const": "x"}), ["_: { a?: string }", '_: { a?: "x" }']),
    "objects within objects": (
        properties(a=properties(b=properties(c=SAID))),
        ["_: {\na?: {\nb?: {\n    // What it is\n    c?: string,\n  },\n},\n}"],
    ),
    "several properties on a line": (properties(a=TEXT, b=TEXT), ["_: {\na?: string,\nb?: string,\n}"]),
    "an array of objects": (
        properties(a={"type": "array", "items": TARGET}),
        ["_: {\na?: Array<{\n// What it is\nx?: string,\ny?: number,\n}>,\n}"],
    ),
    "an array of anything": (properties(a={"type": "array"}), ["_: { a?: any[] }", "_: { a?: Array<any> }"]),
    "an array of an enum": (
        properties(a={"type": "array", "items": {"type": "string", "enum": ["x", "y"]}}),
        ['_: { a?: ("x" | "y")[] }'],
    ),
    "an array of arrays": (properties(a={"type": "array", "items": {"type": "array", "items": TEXT}}), []),
    "an array at the top": ({"type": "array", "items": TEXT}, ["", "_: string[]"]),
    "a union at the top": ({"anyOf": [TARGET, properties(z=TEXT)]}, [""]),
    "an object and a union": ({**properties(a=TEXT, b=TEXT), "anyOf": [{"required": ["a"]}]}, []),
    "a default": (
        properties(a={"type": "string", "default": "metric"}),
        ["_: { a?: string }", '_: {\na?: string, // default: "metric"\n}', "_: {\na?: string, // default: metric\n}"],
    ),
    "a title": (
        properties(a={**SAID, "title": "Name"}),
        ["_: {\n// What it is\na?: string,\n}", "_: {\n// Name\n//\n// What it is\na?: string,\n}"],
    ),
    "a format": (
        properties(a={"type": "string", "format": "date-time"}),
        ["_: { a?: string }", "_: {\n// format: date-time\na?: string,\n}"],
    ),
    "bounds": (
        properties(a={"type": "integer", "minimum": 1, "maximum": 10}),
        ["_: { a?: number }", "_: {\n// minimum: 1\n// maximum: 10\na?: number,\n}"],
    ),
    "a pattern": (properties(a={"type": "string", "pattern": "^[a-z]+$"}), ["_: { a?: string }"]),
    "examples": (
        properties(a={"type": "string", "examples": ["hello", "world"]}),
        ['_: {\n// Examples:\n// - "hello"\n// - "world"\na?: string,\n}'],
    ),
    "a name in quotes": (properties(**{"first name": TEXT}), ['_: { "first name"?: string }']),
    "several lines": (
        properties(a={"type": "string", "description": "One\nTwo"}),
        ["_: {\n// One\nTwo\na?: string,\n}"],
    ),
    "any object": (properties(a={"type": "object"}), ["_: { a?: {} }", "_: { a?: object }", "_: {\na?: {\n},\n}"]),
    "a description of all": (
        {**properties(a=SAID), "description": "The place"},
        ["_: // The place\n{\n// What it is\na?: string,\n}"],
    ),
}


@pytest.mark.parametrize(("schema", "ways"), UNPUBLISHED.values(), ids=UNPUBLISHED)
@pytest.mark.parametrize("model", ["gpt-4", "gpt-4o"])
def test_what_they_do_not_cover_is_bounded_by_the_ways_it_may_be_written(
    schema: Any, ways: list[str], model: str
) -> None:
    tokens, low, high = interval(schema, model)
    assert low < high
    assert low <= tokens <= high
    encoding = get_counter(f"model:{model}")

    def size(parameter: str) -> int:
        return encoding.count(f"type f = ({parameter}) => any;").tokens

    for way in ways:
        assert low <= tokens + size(way) - size(written(schema)) <= high, way


def test_both_ways_to_say_null_cost_the_same() -> None:
    assert (
        interval(properties(a={"type": ["string", "null"]}))[0] == interval(properties(a={**TEXT, "nullable": True}))[0]
    )


def test_an_older_count_covers_what_it_has() -> None:
    # hmarr/openai-chat-tokens b8e3b11 has unions, constants, arrays of objects, names with spaces
    for name in ("anyOf", "const beside a type", "an array of objects", "a name in quotes", "a description of all"):
        tokens, low, high = interval(UNPUBLISHED[name][0], "gpt-3.5-turbo-0613")
        assert low == tokens == high


def test_an_object_keeps_its_properties_beside_a_union() -> None:
    schema = {**properties(a=TEXT), "anyOf": [{"required": ["a"]}]}
    assert written(schema) == "_: { a?: string }"
    declared = declare((Tool("f", None, check_schema(schema, "p", NotCounted()), "t", "p"),), NEW, NotCounted())
    assert list(declared.left_out) == ['anyOf:\n// - {"required": ["a"]}']
    nested = properties(o={**schema, "oneOf": [TEXT]})
    assert written(nested) == "_: { o?: { a?: string } }"


@given(schemas)
def test_bounds_hold_what_is_counted(schema: dict[str, Any]) -> None:
    for model in ("gpt-4o", "gpt-3.5-turbo-0613", "gpt-5"):
        tokens, low, high = interval({"type": "object", "properties": {"a": schema}}, model)
        assert 0 < low <= tokens <= high


def expressions(types: int) -> dict[str, Any]:
    """A syntax tree whose operators hold any of its types, as a model of it in Python or TypeScript gives it."""
    ref = {"$ref": "#/$defs/Expression"}
    operators = {f"Op{n}": properties(left=ref, right=ref) for n in range(types - 1)}
    names = [*operators, "Literal"]
    return {
        **properties(tree=ref),
        "$defs": {
            "Expression": {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in names]},
            **operators,
            "Literal": properties(value=TEXT),
        },
    }


@pytest.mark.parametrize("types", [2, 6, 8, 100])
def test_a_schema_that_circles_is_as_long_as_it_is_written(types: int) -> None:
    tokens, low, high = interval(expressions(types))
    assert 20 < low <= tokens <= high < 60 + 40 * types
    assert written(expressions(types)).count("left?: any") == types - 1


def test_a_definition_is_written_where_it_is_first_met() -> None:
    point = {**properties(x={"type": "number"}), "description": "Where"}
    schema = {**properties(a={"$ref": "#/$defs/P"}, b={"$ref": "#/$defs/P"}), "$defs": {"P": point}}
    assert written(schema) == "_: {\n// Where\na?: { x?: number },\nb?: any,\n}"
    tokens, low, high = interval(schema)
    twice = interval(properties(a=point, b=point))[0]
    assert low < tokens < twice <= high  # who writes it out twice is within the interval


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("#/$defs/a%20b", "boolean"),
        ("#/$defs/a b", "boolean"),
        ("#/$defs/c~1d~0e", "null"),
        ("#/%24defs/c~1d~0e", "null"),
        ("#/anyOf/1", "number"),
        ("#/$defs/yes", "any"),
        ("#", "any"),
    ],
)
def test_references_are_pointers_in_a_fragment(reference: str, text: str) -> None:
    schema = {
        **properties(p={"$ref": reference}),
        "anyOf": [TEXT, {"type": "number"}],
        "$defs": {"a b": {"type": "boolean"}, "c/d~e": {"type": "null"}, "yes": True},
    }
    assert written(schema) == f"_: {{ p?: {text} }}"


def test_definitions_that_lead_deep_are_written_as_far_as_they_can() -> None:
    chain = {f"D{n}": properties(a={"$ref": f"#/$defs/D{n + 1}"}) for n in range(300)}
    deep: Any = TEXT
    for _ in range(80):
        deep = {"items": deep}
    definitions = {**chain, "D300": deep}
    for n in (300, *range(25, 40)):  # the deepest that is followed holds all that JSON may nest
        tokens, low, high = interval({**properties(a={"$ref": f"#/$defs/D{300 - n}"}), "$defs": definitions})
        assert 20 < low <= tokens <= high


NO_PARAMETERS = properties()


@pytest.mark.parametrize(
    "schema",
    [
        TEXT,
        {"anyOf": [TARGET, properties(z=TEXT)]},
        {"anyOf": [properties(**{f"p{n}": TEXT}) for n in range(26)]},
        properties(a={"anyOf": [properties(**{f"p{n}": TEXT}) for n in range(26)]}),
        {"type": ["object", "null"]},
        {"type": "array", "items": {"type": "array", "items": {"type": "array"}}},
    ],
)
@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5"])
def test_nothing_is_shorter_than_no_parameters(schema: Any, model: str) -> None:
    assert interval(schema, model)[1] >= interval(NO_PARAMETERS, model)[1] > 0


@given(schemas)
def test_no_schema_is_shorter_than_no_parameters(schema: dict[str, Any]) -> None:
    assert interval(schema)[1] >= interval(NO_PARAMETERS)[1]
