"""``tokengap fit``, ``tokengap cut`` and ``tokengap models``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..tokenizers.counter import Count
from ..tokenizers.errors import TokengapError, UnknownNameError
from ..tokenizers.registry import DEFAULT_COUNTER, get_counter
from .inputs import STDIN, read_text
from .numbers import whole
from .reports import explained, warn, write_json

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from ..estimators.cutting import AnswerCut, Cut
    from ..estimators.limits import Fit
    from ..estimators.request_count import RequestCount
    from ..tokenizers.counter import Counter

DOES_NOT_FIT = 1

_FIT_EXAMPLES = """
examples:
  tokengap fit --model gpt-4o --output-tokens 500 prompt.md
  tokengap fit --model gpt-4o --answer sample-answer.md --json prompt.md
"""
_CUT_EXAMPLES = """
examples:
  tokengap cut --counter o200k_base --max-tokens 1000 prompt.md > short.md
  tail -n 5000 server.log | tokengap cut --model gpt-4o --max-tokens 4000 --from-end
"""


def add_parsers(commands: _SubParsersAction[Any]) -> None:
    """Add the three commands; each sets ``run`` to a function from its arguments to an exit code."""
    fits = commands.add_parser(
        "fit",
        description="Say whether a text fits a model, with room for its answer. Exit code 1 where it does not.",
        epilog=_FIT_EXAMPLES,
    )
    fits.add_argument("path", metavar="FILE", nargs="?", help="the text; - is standard input (default)")
    fits.add_argument("--request", metavar="FILE", help="a whole request as JSON, instead of a text")
    fits.add_argument("-m", "--model", required=True, metavar="NAME", help="the model")
    fits.add_argument("-c", "--counter", metavar="SPEC", help="count with this instead of the model's own encoding")
    fits.add_argument("--output-tokens", type=whole, metavar="N", help="the length of the answer to leave room for")
    fits.add_argument("--answer", metavar="FILE", help="a sample answer: leave room for it, show where it is cut off")
    fits.add_argument("--json", action="store_true", help="print JSON")
    fits.set_defaults(run=run_fit)

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
        "A dash is a limit that is not known.",
    )
    listed.add_argument("containing", nargs="?", default="", metavar="TEXT", help="only names that have this in them")
    listed.add_argument("--all", action="store_true", help="also the models of the price table, as provider/name")
    listed.add_argument("--json", action="store_true", help="print JSON")
    listed.set_defaults(run=run_models)


def run_fit(args: argparse.Namespace) -> int:
    """Exit code 0 where the text fits or nobody knows, 1 where it does not."""
    from ..estimators.limits import find_limits, fit

    limits = find_limits(args.model)
    counter = _counter_of(args.model, args.counter)
    count = _count_request(args) if args.request else counter.count(read_text(args.path or STDIN))
    expected, answer = args.output_tokens, None
    if args.answer is not None:
        from ..estimators.cutting import cut_answer

        sample = read_text(args.answer)
        expected = counter.count(sample).tokens if expected is None else expected
        room = fit(count.tokens, limits).answer_room
        if args.output_tokens is not None:
            room = min(args.output_tokens, expected if room is None else room)
        answer = None if room is None else cut_answer(sample, room, counter)
    result = fit(count.tokens, limits, expected or 0)
    if args.json:
        of_text: dict[str, object] = {
            "tokenizer": count.tokenizer,
            "fingerprint": count.fingerprint,
            "kind": count.kind,
        }
        warnings = [*count.warnings, *result.warnings]
        if not isinstance(count, Count):
            of_text |= {"interval": count.interval, "not_counted": count.not_counted}
        write_json(
            result.to_dict() | of_text | {"answer": answer and answer.to_dict(), "warnings": warnings},
        )
    else:
        _print_fit(result, count, answer)
    return DOES_NOT_FIT if result.fits is False else 0


def _count_request(args: argparse.Namespace) -> Count | RequestCount:
    from ..estimators.request_count import count_request
    from .json_files import read_json

    if args.path:
        raise TokengapError("give a text or --request, not both")
    return count_request(read_json(args.request), args.model, args.counter)


def run_cut(args: argparse.Namespace) -> int:
    """Print what is kept, byte for byte; what was cut goes to standard error."""
    from ..estimators.cutting import cut

    counter = get_counter(f"model:{args.model}" if args.model else args.counter or DEFAULT_COUNTER)
    result = cut(read_text(args.path), args.max_tokens, counter, from_end=args.from_end)
    sys.stdout.buffer.write(result.kept.encode())
    sys.stdout.buffer.flush()
    print(_cut_summary(result), file=sys.stderr)
    _print_warnings(result.warnings)
    return 0


def run_models(args: argparse.Namespace) -> int:
    """Print the list; none that matches is an error."""
    from ..estimators.limits import list_models

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
        figures = "  ".join(f"{_figure(limit):>9}" for limit in limits)
        print(f"{row.name:{width}}  {(row.encoding or '-') + assumed:14}  {figures}")
    if any(row.published is False for row in rows):
        print("? the provider has not named the encoding", file=sys.stderr)
    return 0


def _counter_of(model: str, spec: str | None) -> Counter:
    try:
        return get_counter(spec or f"model:{model}")
    except UnknownNameError:
        if spec:
            raise
        raise TokengapError(
            f"the limits of {model!r} are known, but not its tokenizer; say what to count with, such as "
            f"--counter {DEFAULT_COUNTER}"
        ) from None


def _print_fit(result: Fit, count: Count | RequestCount, answer: AnswerCut | None) -> None:
    limits = result.limits
    verdict = {True: "fits", False: "does not fit", None: "not known whether it fits"}[result.fits]
    print(f"{limits.model}: {verdict}")
    print(f"  text            {count.tokens:>11,} tokens ({count.tokenizer}, {count.kind})")
    if result.output_tokens:
        print(f"  answer          {result.output_tokens:>11,} tokens expected")
    for name, limit in (
        ("context window", limits.context_window),
        ("input limit", limits.max_input),
        ("output limit", limits.max_output),
    ):
        if limit is not None or name != "input limit":
            print(f"  {name:15} {_figure(limit):>11}")
    if result.must_cut:
        keep = result.tokens - result.must_cut
        how = f": tokengap cut --counter {count.tokenizer} --max-tokens {keep}" if keep else ""
        print(f"  must be cut     {result.must_cut:>11,} tokens{how}")
    elif result.left is not None:
        print(f"  left            {result.left:>11,}")
    if answer is not None:
        print(f"  the answer {_answer_summary(answer)}")
    _print_warnings((*count.warnings, *result.warnings), () if isinstance(count, Count) else count.not_counted)


def _answer_summary(answer: AnswerCut) -> str:
    if not answer.dropped:
        return "would be complete"
    where = f"inside the word {answer.word!r}" if answer.word else "between words"
    if answer.inside_character:
        where = "inside a character"
    return f"would be cut off {where}, after {answer.kept[-40:]!r}; {len(answer.dropped):,} characters would be lost"


def _cut_summary(result: Cut) -> str:
    kept = f"kept {result.tokens:,} of at most {result.max_tokens:,} tokens ({result.tokenizer}, {result.kind})"
    if not result.dropped:
        return f"{kept}: nothing was cut"
    end = "beginning" if result.from_end else "end"
    size = len(result.dropped.encode())
    return f"{kept}: cut {len(result.dropped):,} characters ({size:,} bytes) from the {end}"


def _print_warnings(codes: Sequence[str], not_counted: Sequence[str] = ()) -> None:
    from ..estimators.limits import WARNINGS as LIMIT_WARNINGS

    for code in codes:
        warn(LIMIT_WARNINGS.get(code) or explained(code, not_counted))


def _figure(limit: int | None) -> str:
    return "-" if limit is None else f"{limit:,}"
