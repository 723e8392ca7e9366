"""``tokengap cut`` and ``tokengap models``."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from ..tokenizers.errors import TokengapError
from ..tokenizers.registry import DEFAULT_COUNTER, get_counter
from .inputs import STDIN, read_text
from .numbers import figure, whole
from .reports import explained, warn, write_json

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from ..estimators.cutting import Cut

_CUT_EXAMPLES = """
examples:
  tokengap cut --counter o200k_base --max-tokens 1000 prompt.md > short.md
  tail -n 5000 server.log | tokengap cut --model gpt-4o --max-tokens 4000 --from-end
"""


def add_parsers(commands: _SubParsersAction[Any]) -> None:
    """Add the two commands."""
    cuts = commands.add_parser(
        "cut",
        description="Print the longest beginning of a text that has at most N tokens, byte for byte.\n"
        "What was cut is said on standard error.",
        epilog=_CUT_EXAMPLES,
    )
    cuts.add_argument("path", metavar="FILE", nargs="?", default=STDIN, help="the text; - is standard input (default)")
    cuts.add_argument("-n", "--max-tokens", type=whole, required=True, metavar="N", help="the tokens to keep")
    cuts.add_argument("--from-end", action="store_true", help="keep the end of the text instead of its beginning")
    by = cuts.add_mutually_exclusive_group()
    by.add_argument("-c", "--counter", metavar="SPEC", help=f"what to count with (default: {DEFAULT_COUNTER})")
    by.add_argument("-m", "--model", metavar="NAME", help="count with this model's encoding")
    cuts.set_defaults(run=run_cut)

    listed = commands.add_parser(
        "models",
        description="List models: encoding, context window, limits of input and output, in tokens.\n"
        "WINDOW is for input and answer together; INPUT is a limit of the input alone, which only some\n"
        "providers have; OUTPUT is the longest answer. A dash is a limit that is not known, or no encoding: such\n"
        "a model is counted with --counter. A ? after an encoding says that the provider has not named it: it is\n"
        "assumed, and counts by it are heuristic. Every name can be given to 'tokengap fit'.",
    )
    listed.add_argument("containing", nargs="?", default="", metavar="TEXT", help="only names that have this in them")
    listed.add_argument("--all", action="store_true", help="also the models of the price table, as provider/name")
    listed.add_argument("--json", action="store_true", help="print JSON")
    listed.set_defaults(run=run_models)


def run_cut(args: argparse.Namespace) -> int:
    """Print what is kept, byte for byte; what was cut goes to standard error."""
    from ..estimators.cutting import cut

    counter = get_counter(f"model:{args.model}" if args.model else args.counter or DEFAULT_COUNTER)
    result = cut(read_text(args.path), args.max_tokens, counter, from_end=args.from_end)
    sys.stdout.buffer.write(result.kept.encode())
    sys.stdout.buffer.flush()
    print(_cut_summary(result), file=sys.stderr)
    for code in result.warnings:
        warn(explained(code))
    return 0


def run_models(args: argparse.Namespace) -> int:
    """Print the list; none that matches is an error."""
    from ..estimators.model_list import list_models

    rows = list_models(args.containing, everything=args.all)
    if not rows:
        hint = "" if args.all else "; --all looks through the price table too"
        raise TokengapError(f"no model has {args.containing!r} in its name{hint}")
    if args.json:
        write_json([row.to_dict() for row in rows])
        return 0
    width = max(len(row.name) for row in rows)
    print(f"{'MODEL':{width}}  {'ENCODING':14}  {'WINDOW':>9}  {'INPUT':>9}  {'OUTPUT':>9}")
    for row in rows:
        assumed = "?" if row.published is False else ""
        limits = (row.limits.context_window, row.limits.max_input, row.limits.max_output)
        figures = "  ".join(f"{figure(limit):>9}" for limit in limits)
        print(f"{row.name:{width}}  {(row.encoding or '-') + assumed:14}  {figures}")
    if any(row.published is False for row in rows):
        print("? the provider has not named the encoding: it is assumed", file=sys.stderr)
    return 0


def _cut_summary(result: Cut) -> str:
    kept = f"kept {result.tokens:,} of at most {result.max_tokens:,} tokens ({result.tokenizer}, {result.kind})"
    if not result.dropped:
        return f"{kept}: nothing was cut"
    end = "beginning" if result.from_end else "end"
    size = len(result.dropped.encode())
    return f"{kept}: cut {len(result.dropped):,} characters ({size:,} bytes) from the {end}"
