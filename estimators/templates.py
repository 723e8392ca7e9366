"""Prompt templates filled with samples, or with room for what is not known yet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from string import Formatter
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ..tokenizers.errors import TokengapError

if TYPE_CHECKING:
    from jinja2 import Environment

_FIRST_MARK = 0x10F000
"""Private-use characters stand for the variables that have an allowance: no text means anything by them."""

_MOST_MARKS = 0xFF0
MOST_WIDTH = 10_000
MOST_CHARACTERS = 50_000_000
"""Of the width of a ``str.format`` field; of the text that a template comes to."""

MARKS = re.compile(f"([{chr(_FIRST_MARK)}-{chr(_FIRST_MARK + _MOST_MARKS)}])")


class Filled(NamedTuple):
    """The texts between the variables that have an allowance, and the tokens allowed for these."""

    texts: tuple[str, ...]
    allowance: int


def fill(
    template: str,
    kind: str,
    variables: Mapping[str, Any],
    allowances: Mapping[str, int],
    include: Callable[[str], bytes | None] = lambda _: None,
) -> Filled:
    """Fill a Jinja ("jinja") or ``str.format`` ("format") template.

    Where a variable has an allowance the text is cut, and each of its occurrences, in a loop too,
    costs the allowance. Raises TokengapError for a template that fails, or a variable without a value.

    >>> fill("Dear {{ name }}, {{ body }}", "jinja", {"name": "Ann"}, {"body": 500})
    Filled(texts=('Dear Ann, ',), allowance=500)
    """
    if len(allowances) > _MOST_MARKS:
        raise TokengapError(f"more than {_MOST_MARKS} allowances")
    if MARKS.search(template):
        raise TokengapError("the template holds private-use characters above U+10F000, which mark variables here")
    marks = {name: chr(_FIRST_MARK + index) for index, name in enumerate(allowances)}
    values = {**variables, **{name: Room(name, mark) for name, mark in marks.items()}}
    if kind == "jinja":
        text = _fill_jinja(template, values, _environment(include, {mark: name for name, mark in marks.items()}))
    else:
        text = _fill_format(template, values)
    parts = MARKS.split(text)
    tokens = dict(zip(marks.values(), allowances.values(), strict=True))
    return Filled(tuple(part for part in parts[::2] if part), sum(tokens[mark] for mark in parts[1::2]))


def used_variables(template: str, kind: str) -> frozenset[str] | None:
    """The variables that a template names, ``None`` where it includes others, which may name any."""
    if kind == "format":
        return frozenset(_first(name) for _, name, _, _ in Formatter().parse(template) if name is not None)
    from jinja2 import meta

    tree = _environment(lambda _: None, {}).parse(template)
    if any(True for _ in meta.find_referenced_templates(tree)):
        return None
    return frozenset(meta.find_undeclared_variables(tree))


class Room:
    """A variable that is not known yet. It can be written; to look into it would be to guess."""

    def __init__(self, name: str, mark: str) -> None:
        self.name, self._mark = name, mark

    def __str__(self) -> str:
        return self._mark

    def __html__(self) -> str:
        return self._mark

    def __bool__(self) -> bool:
        return True

    def _refuse(self, *_: object) -> NoReturn:
        refuse(self.name)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    __iter__ = __len__ = __getitem__ = __contains__ = __call__ = _refuse
    __add__ = __radd__ = __mod__ = __rmod__ = __mul__ = __rmul__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __hash__ = _refuse
    __repr__ = __format__ = __int__ = __float__ = __index__ = _refuse


def refuse(name: str) -> NoReturn:
    """Raise for a template that would look into a variable that has an allowance."""
    raise TokengapError(
        f"{name!r} has an allowance and no sample, so that it can only be written out; "
        "to loop over it, compare or measure it, give a sample in 'variables'"
    )


def _fill_jinja(template: str, values: Mapping[str, Any], environment: Environment) -> str:
    from jinja2 import TemplateError, TemplateNotFound, TemplateSyntaxError

    try:
        return "".join(_bounded(environment.from_string(template).generate(values)))
    except TokengapError:
        raise
    except TemplateSyntaxError as error:
        raise TokengapError(f"line {error.lineno}: not a Jinja template: {error.message}") from None
    except TemplateNotFound as error:
        raise TokengapError(f"the Jinja template needs {error.name!r}, which is not there") from None
    except TemplateError as error:
        raise TokengapError(f"the Jinja template fails: {error.message}{_advice(str(error), values)}") from None
    except MemoryError:
        raise TokengapError("the Jinja template fails: what it writes or works out does not fit into memory") from None
    except Exception as error:  # a template can raise whatever its filters do
        said = f": {error}" if str(error) else ""
        raise TokengapError(f"the Jinja template fails: {type(error).__name__}{said}") from None


def _environment(include: Callable[[str], bytes | None], marks: Mapping[str, str]) -> Environment:
    """As Jinja is by default, trailing newline dropped and all, but sandboxed: a template is data of whoever
    sends the pull request. Undefined variables are errors. ``marks`` are of the variables that have an allowance."""
    from jinja2 import FunctionLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    from .reading import decode

    def load(name: str) -> str | None:
        data = include(name)
        return None if data is None else decode(data, name)

    options: dict[str, Any] = {"undefined": StrictUndefined, "loader": FunctionLoader(load)}
    if not marks:
        return ImmutableSandboxedEnvironment(finalize=writable, **options)
    from .template_guard import GuardedEnvironment

    return GuardedEnvironment(marks, **options)


def writable(value: Any) -> Any:
    """A value that is written out. What ``map`` and ``reverse`` make would be written as its place in memory."""
    if isinstance(value, Iterator):
        raise TokengapError(
            "the Jinja template writes out an iterator, whose text is another each time: | list or | join it"
        )
    return value


def _fill_format(template: str, values: Mapping[str, Any]) -> str:
    try:
        return "".join(_bounded(_format_parts(template, values)))
    except TokengapError:
        raise
    except (ValueError, TypeError, ArithmeticError) as error:
        raise TokengapError(f"not a str.format template: {error}") from None


def _bounded(parts: Iterable[str]) -> Iterator[str]:
    """The parts of a text, as long as they fit into memory: a few characters of a template can ask for gigabytes."""
    length = 0
    for part in parts:
        length += max(len(part), 1)
        if length > MOST_CHARACTERS:
            raise TokengapError(f"the template comes to more than {MOST_CHARACTERS:,} characters")
        yield part


def _format_parts(template: str, values: Mapping[str, Any]) -> Iterator[str]:
    for literal, name, spec, conversion in Formatter().parse(template):
        yield literal
        if name is None:
            continue
        if "{" in (spec or ""):
            raise TokengapError(f"{{{name}:{spec}}}: a variable inside the format of another is not filled in")
        value = _look_up(name, values)
        if isinstance(value, Room):
            if spec or conversion not in (None, "s"):
                raise TokengapError(
                    f"{name!r} has an allowance and no sample, so that it can only be written as it is: {{{name}}}"
                )
            yield str(value)
        elif isinstance(value, Mapping | list):
            raise TokengapError(f"{name!r} is a table or list; name a member, such as {{{name}[key]}}")
        else:
            if any(len(number) > 6 or int(number) > MOST_WIDTH for number in re.findall("[0-9]+", spec or "")):
                raise TokengapError(f"{name}: {spec!r:.60}: a width or precision of more than {MOST_WIDTH:,}")
            converted = Formatter().convert_field(value, conversion)
            yield format(converted, spec or "")


def _look_up(name: str, values: Mapping[str, Any]) -> Any:
    """The value of ``user``, ``user.name`` or ``user[name]``: members of plain tables and lists only."""
    first = _first(name)
    if not first or first.isdigit():
        raise TokengapError(f"{{{name}}} has no name to give it a value by")
    if first not in values:
        raise TokengapError(f"no variable {first!r}{_advice(f'{first!r} is undefined', values)}")
    value = values[first]
    for member, index in re.findall(r"\.([^.\[\]]+)|\[([^\[\]]+)\]", name[len(first) :]):
        key = member or index
        if isinstance(value, Room):
            refuse(value.name)
        if index and isinstance(value, list | str) and key.isascii() and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, Mapping) and key in value:
            value = value[key]
        else:
            raise TokengapError(f"{name!r}: the sample has no {key!r}")
    return value


def _first(name: str) -> str:
    return re.split(r"[.\[]", name, maxsplit=1)[0]


def _advice(problem: str, values: Iterable[str]) -> str:
    """What to do about a variable without a value."""
    from difflib import get_close_matches

    match = re.search(r"'([^']+)' is undefined", problem)
    if match is None:
        return ""
    if match[1] in values:  # it is there, but not for what a template imports
        return "; what is imported has no variables of its own: write 'with context' after the import"
    near = get_close_matches(match[1], list(values), n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"; {hint}give it a sample in 'variables' or tokens in 'allowances'"
