"""A TOML file that messages point into: which line each of its keys is on."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ..tokenizers.errors import TokengapError
from .fields import join

if TYPE_CHECKING:
    from tree_sitter import Node

Steps = tuple[str | int, ...]
"""The way to a value: ``("budget", 0, "paths", 1)``."""

_HEADERS = ("table", "table_array_element")
_LONG_NUMBER = re.compile(rb"[0-9_]{4300}")
_TOML_LINE = re.compile(r"\(at (?:line (\d+), column \d+|end of document)\)")


@dataclass(frozen=True)
class Origin:
    """The file a configuration was read from, for messages that point into it; without a path there is none."""

    path: str = ""
    data: bytes = b""
    prefix: Steps = ()

    @property
    def name(self) -> str:
        """The file's name, as it is reached from the folder it is in."""
        return PurePath(self.path).name or "configuration"

    @cached_property
    def _lines(self) -> Mapping[Steps, int]:
        return key_lines(self.data)

    def line(self, *steps: str | int) -> int:
        """The line of a key, or of what it is missing from."""
        return line_of(self._lines, (*self.prefix, *steps))

    def shown(self, steps: Steps) -> str:
        """The path of a key: ``budget[0].paths``."""
        path = ""
        for step in (*self.prefix, *steps):
            path = join(path, step)
        return path

    def header(self, name: str) -> str:
        """How a table of a list at the top is headed here: ``[[tool.tokengap.budget]]``."""
        return f"[[{'.'.join(map(str, (*self.prefix, name)))}]]"

    def error(self, steps: Steps, problem: str) -> TokengapError:
        """``tokengap.toml:3: budget[0].paths: problem``."""
        place = f"{self.path}:{self.line(*steps)}" if self.data else self.path
        return TokengapError(": ".join(part for part in (place, self.shown(steps), problem) if part))


def parse_toml(data: bytes, path: str) -> dict[str, Any]:
    """Parse TOML; TokengapError with the line where it is none."""
    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TokengapError(f"{path}:{line}: not TOML: not UTF-8 (byte 0x{data[error.start]:02x})") from None
    except RecursionError:
        raise TokengapError(f"{path}: not read: nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        match = _TOML_LINE.search(str(error))
        line = int(match[1]) if match and match[1] else data.rstrip().count(b"\n") + 1
        raise TokengapError(f"{path}:{line}: not TOML: {_TOML_LINE.sub('', str(error)).strip()}") from None
    except ValueError:  # Python's own limit, of 4,300 digits
        line = next((number for number, row in enumerate(data.split(b"\n"), 1) if _LONG_NUMBER.search(row)), 1)
        raise TokengapError(f"{path}:{line}: not read: a whole number in it is too large") from None


def key_lines(data: bytes) -> dict[Steps, int]:
    """The line, from 1, of every key, table and list item of a valid TOML file.

    >>> key_lines(b'a = 1\\n[[b]]\\nc = [2,\\n 3]')[("b", 0, "c", 1)]
    4
    """
    import tree_sitter_toml
    from tree_sitter import Language, Parser

    found: dict[Steps, int] = {}
    lengths: dict[Steps, int] = {}
    here: Steps = ()
    for node in Parser(Language(tree_sitter_toml.language())).parse(data).root_node.named_children:
        if node.type == "pair":
            _pair(node, (), found)
        elif node.type in _HEADERS:
            here = _header(node, lengths)
            _note(here, node, found)
            for pair in node.named_children:
                if pair.type == "pair":
                    _pair(pair, here, found)
    return found


def line_of(lines: Mapping[Steps, int], steps: Steps) -> int:
    """The line of a value, or of what holds it; 1 where nothing does.

    >>> line_of({("a",): 3}, ("a", "b"))
    3
    """
    return next((lines[steps[:end]] for end in range(len(steps), 0, -1) if steps[:end] in lines), 1)


def _header(node: Node, lengths: dict[Steps, int]) -> Steps:
    """Where a ``[table]`` or ``[[table]]`` stands; its place in a list is that of the last one written."""
    here: Steps = ()
    names = _names(node.named_children[0])
    for position, name in enumerate(names):
        here = (*here, name)
        if node.type == "table_array_element" and position == len(names) - 1:
            lengths[here] = lengths.get(here, 0) + 1
        if here in lengths:
            here = (*here, lengths[here] - 1)
    return here


def _pair(node: Node, table: Steps, found: dict[Steps, int]) -> None:
    key, value = (child for child in node.named_children if child.type != "comment")
    here = table
    for name in _names(key):
        here = (*here, name)
        _note(here, key, found)
    _value(value, here, found)


def _value(node: Node, here: Steps, found: dict[Steps, int]) -> None:
    members = [child for child in node.named_children if child.type != "comment"]
    if node.type == "array":
        for index, member in enumerate(members):
            _note((*here, index), member, found)
            _value(member, (*here, index), found)
    elif node.type == "inline_table":
        for pair in members:
            _pair(pair, here, found)


def _note(steps: Steps, node: Node, found: dict[Steps, int]) -> None:
    for end in range(1, len(steps) + 1):
        found.setdefault(steps[:end], node.start_point[0] + 1)


def _names(key: Node) -> tuple[str, ...]:
    """The names of a key, dotted or not; tomllib knows what a quoted one means."""
    names: list[str] = []
    while key.type == "dotted_key":  # its last name beside all that go before
        key, last = key.named_children
        names.append(_name(last))
    return (_name(key), *reversed(names))


def _name(key: Node) -> str:
    text = (key.text or b"").decode()
    return next(iter(tomllib.loads(f"{text} = 0"))) if key.type == "quoted_key" else text
