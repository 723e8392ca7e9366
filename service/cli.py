"""The command line's front door: find the command, run it, turn every failure into one line.

Exit codes: 0 done, 2 wrong use or wrong input, 130 interrupted. Only the module of the command that
was asked for is imported, so that counting does not wait for what it does not use.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn, TextIO

from ..tokenizers.errors import TokengapError
from .reports import printable

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

MISUSE = 2
INTERRUPTED = 130
LONGEST_MESSAGE = 1000

MODULES = {
    "count_cli": {"count": "count the tokens of texts, and price them", "counters": "list the counters"},
    "cost_cli": {"cost": "what a call costs, line by line"},
    "prices_cli": {"prices": "the prices that are known"},
    "fit_cli": {"fit": "say whether a text or a request fits a model"},
    "limits_cli": {
        "cut": "cut a text to a number of tokens",
        "models": "list models with their encoding and limits",
    },
    "compare_cli": {"compare": "count under several counters, and show the gap to a word-based estimate"},
    "check_cli": {"check": "check prompts against budgets, and against what they were on a base"},
    "bpe_cli": {"bpe": "train a tokenizer of your own, encode, decode and inspect with it"},
    "serve_cli": {"serve": "answer over HTTP"},
}
"""The commands by the module that has them. Each module's ``add_parsers`` adds them to the parser."""


# argparse makes a formatter for every argument; without a width each would ask for the terminal's.
_QUICK = partial(argparse.RawDescriptionHelpFormatter, width=80)


class Parser(argparse.ArgumentParser):
    """A parser that raises instead of printing its usage and leaving."""

    def __init__(self, **options: object) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_QUICK, **options)  # type: ignore[arg-type]

    def format_help(self) -> str:
        """The help, as wide as the terminal."""
        self.formatter_class = argparse.RawDescriptionHelpFormatter
        return super().format_help()

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """As argparse does, but a failure to write is not swallowed."""
        (file or sys.stdout).write(self.format_help())

    def error(self, message: str) -> NoReturn:
        raise TokengapError(f"{message} (see '{self.prog} --help')")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        _prepare_streams()
        status = _run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)
    except BrokenPipeError:
        return _fail("the output was closed before all of it was written")
    except OSError as error:
        name = (
            "the output" if error.filename is None else repr(error.filename) if not error.filename else error.filename
        )
        return _fail(f"{name}: {error.strerror or error}")
    except TokengapError as error:
        return _fail(str(error))
    return status


def _run(argv: Sequence[str]) -> int:
    try:
        args = _parse(argv)
    except SystemExit:  # --help or --version has been printed
        return 0
    status: int = args.run(args)
    return status


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser(
        prog="tokengap",
        description="Count tokens, price them, and see how far a word-based estimate is off. Offline.",
        epilog="'tokengap COMMAND --help' explains a command, with examples.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(prog="tokengap", metavar="COMMAND", required=True, parser_class=Parser)
    asked = next((module for module, names in MODULES.items() if argv and argv[0] in names), None)
    if asked:
        import_module(f".{asked}", __package__).add_parsers(commands)
    else:
        for names in MODULES.values():
            for name, summary in names.items():
                commands.add_parser(name, help=summary)
    args, rest = parser.parse_known_args(argv)
    # argparse takes only the first group of positional arguments: paths may also follow an option.
    if rest and (not hasattr(args, "paths") or any(word.startswith("-") and word != "-" for word in rest)):
        hint = "; a file whose name begins with - goes after --" if any(map(os.path.lexists, rest)) else ""
        parser.prog = f"tokengap {argv[0]}"
        parser.error(f"unrecognized arguments: {' '.join(rest)}{hint}")
    if rest:
        args.paths = [*args.paths, *rest]
    return args


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print(f"tokengap {version('tokengap')}")
        parser.exit()


def _prepare_streams() -> None:
    """Make standard output whole or an error, and what the terminal's encoding cannot say escaped.

    Under PYTHONUNBUFFERED Python writes straight to the file, and drops what one such write does not
    take: a full disk would cut a report short and nobody be told.
    """
    if sys.stdout is None:
        raise TokengapError("standard output is closed")
    if isinstance(sys.stdout, io.TextIOWrapper) and isinstance(raw := sys.stdout.buffer, io.FileIO):
        whole = io.BufferedWriter(io.FileIO(raw.fileno(), "w", closefd=False))
        sys.stdout = io.TextIOWrapper(whole, encoding=sys.stdout.encoding)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _fail(message: str, status: int = MISUSE) -> int:
    if len(message) > LONGEST_MESSAGE:
        message = f"{message[: LONGEST_MESSAGE // 2]}...{message[-LONGEST_MESSAGE // 2 :]}"
    _settle(sys.stdout)
    _settle(sys.stderr, f"tokengap: error: {printable(message)}\n")
    return status


def _settle(stream: TextIO | None, last: str = "") -> None:
    """Write what is left, or drop it where nobody reads it: else the interpreter tries again at exit."""
    if stream is None:
        return
    try:
        stream.write(last)
        stream.flush()
    except OSError:
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, stream.fileno())
        os.close(devnull)
