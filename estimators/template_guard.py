"""Jinja for templates with variables that have an allowance: these can be written, and nothing can depend on them.

In what is written a mark stands for such a variable. A text with a mark in it may be joined, set, passed to a macro and
written; what would look into it (a length, a comparison, a loop, most filters and tests) is refused, because it
would see the mark in place of a text that nobody knows yet.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, ItemsView, KeysView, Mapping, ValuesView
from typing import Any

from jinja2 import Environment, nodes
from jinja2.nodes import EvalContext
from jinja2.runtime import Context, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Cycler, Joiner, Namespace

from .templates import MARKS, Room, refuse, writable

_TEXT_FILTERS = frozenset(
    (
        "capitalize",
        "e",
        "escape",
        "forceescape",
        "indent",
        "lower",
        "replace",
        "safe",
        "string",
        "title",
        "trim",
        "upper",
    )
)
"""Filters that leave a mark where it is, whatever text it stands for."""

_PASSING_FILTERS = frozenset(("d", "default", "join"))
"""Filters that pass on what they are given, arguments too, or write it."""

_TESTS = frozenset(("defined", "undefined", "none"))
"""Tests whose answer is known: there is a value, and it is a text."""

_TYPES = (dict, Namespace, Cycler, Joiner)
_CONTAINERS = (Mapping, list, tuple, set, frozenset, KeysView, ValuesView, ItemsView)
_PASSED = (Context, EvalContext, Environment)  # what Jinja gives some filters and tests before their arguments

_READ = "read by an operator"
_WRITTEN = "written as a text"
_TAKEN_APART = "taken apart"
"""Filters of our own, which no template can name."""

_OPERATORS: Mapping[type[nodes.Node], tuple[str, str]] = {
    nodes.Compare: (_READ, "expr"),
    nodes.Operand: (_READ, "expr"),
    nodes.Pair: (_READ, "key"),
    nodes.Include: (_READ, "template"),
    nodes.Import: (_READ, "template"),
    nodes.FromImport: (_READ, "template"),
    nodes.Extends: (_READ, "template"),
    nodes.For: (_TAKEN_APART, "iter"),
    nodes.Getitem: (_TAKEN_APART, "node"),
    nodes.Call: (_TAKEN_APART, "dyn_args"),
}
"""What looks into a value, and the member of the node that it is."""


class GuardedEnvironment(ImmutableSandboxedEnvironment):
    """The sandbox, refusing whatever would look into a variable that has an allowance.

    ``names`` are those of the variables, by their marks.
    """

    intercepted_binops = frozenset(ImmutableSandboxedEnvironment.default_binop_table)
    intercepted_unops = frozenset(ImmutableSandboxedEnvironment.default_unop_table)

    def __init__(self, names: Mapping[str, str], **options: Any) -> None:
        super().__init__(finalize=lambda value: writable(self._write(value)), **options)
        self._names = names
        self.filters = {name: self._guard_filter(name, function) for name, function in self.filters.items()}
        self.filters |= {_READ: self._read, _WRITTEN: self._write, _TAKEN_APART: self._take_apart}
        self.tests |= {name: self._guard(self.tests[name]) for name in self.tests.keys() - _TESTS}

    def getattr(self, obj: Any, attribute: str) -> Any:
        return super().getattr(self._take_apart(obj), attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        return super().getitem(self._take_apart(obj), self._read(argument))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        return super().call_binop(context, operator, self._read(left), self._read(right))

    def call_unop(self, context: Context, operator: str, arg: Any) -> Any:
        return super().call_unop(context, operator, self._read(arg))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805 - as in Jinja
        if not isinstance(__obj, Macro) and not any(__obj is type for type in _TYPES):
            for value in (*args, *kwargs.values()):
                __self._read(value)
        return super().call(__context, __obj, *args, **kwargs)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        _guard_operators(tree, self)
        return tree

    def _guard(self, function: Any) -> Callable[..., Any]:
        """A filter or test that may be given no mark."""

        @functools.wraps(function)  # and with it what Jinja notes on a function
        def guarded(*args: Any, **kwargs: Any) -> Any:
            for value in (*args, *kwargs.values()):
                self._read(value)
            return function(*args, **kwargs)

        return guarded

    def _guard_filter(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        if name not in _TEXT_FILTERS and name not in _PASSING_FILTERS:
            return self._guard(function)

        @functools.wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            passed = [each for each in args if isinstance(each, _PASSED)]
            value, *others = args[len(passed) :]
            if name in _TEXT_FILTERS:
                for other in (*others, *kwargs.values()):
                    self._read(other)
                if isinstance(self._write(value), Room):  # some of them look into whatever is no string
                    return function(*passed, str(value), *others, **kwargs)
            elif name == "join" and isinstance(value, _CONTAINERS):
                for each in value:
                    self._write(each)
            return function(*args, **kwargs)

        return guarded

    def _read(self, value: Any) -> Any:
        """A value that something depends on: there may be no mark in it."""
        if not isinstance(value, _PASSED) and (name := self._marked(value)) is not None:
            refuse(name)
        return value

    def _take_apart(self, value: Any) -> Any:
        """A value whose members are looked at: it may hold variables, but be none."""
        return self._read(value) if isinstance(value, Room | str) else value

    def _write(self, value: Any) -> Any:
        """A value that is made a text: a list or table would be written as Python shows it."""
        return value if isinstance(value, Room | str) else self._read(value)

    def _marked(self, value: Any) -> str | None:
        """The name of a variable that a value is, or has in it."""
        if isinstance(value, Room):
            return value.name
        if isinstance(value, str):
            found = MARKS.search(value)
            return self._names[found[0]] if found else None
        if isinstance(value, Namespace):
            value = getattr(value, "_Namespace__attrs")  # noqa: B009 - it answers for its members only
        if not isinstance(value, _CONTAINERS):
            return None
        members = [*value.keys(), *value.values()] if isinstance(value, Mapping) else value
        return next((name for member in members if (name := self._marked(member)) is not None), None)


def _guard_operators(tree: nodes.Template, environment: Environment) -> None:
    """Put a filter of our own before what Jinja compiles to plain Python, which asks no environment."""

    def through(name: str, node: Any) -> nodes.Filter:
        return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno, environment=environment)

    looking: tuple[type[nodes.Node], ...] = (*_OPERATORS, nodes.Assign, nodes.Concat)
    for node in list(tree.find_all(looking)):
        if isinstance(node, nodes.Concat):
            node.nodes = [through(_WRITTEN, each) for each in node.nodes]
        elif isinstance(node, nodes.Assign):
            node.node = through(_TAKEN_APART, node.node) if isinstance(node.target, nodes.Tuple) else node.node
        else:
            name, member = _OPERATORS[type(node)]
            if (value := getattr(node, member)) is not None:
                setattr(node, member, through(name, value))
