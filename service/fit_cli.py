"""``tokengap fit``: whether a text or requests fit a model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..tokenizers.errors import TokengapError
from ..tokenizers.registry import get_counter
from .inputs import STDIN, read_text
from .numbers import figure, whole
from .reports import explained, printable, warn, write_json

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from ..estimators.counting import ChatRequest, Text
    from ..estimators.cutting import AnswerCut
    from ..estimators.fitting import Fitting

DOES_NOT_FIT = 1

_VERDICT = {True: "fits", False: "does not fit", None: "not known whether it fits"}
_EXAMPLES = """
examples:
  tokengap fit --model gpt-4o --output-tokens 500 prompt.md
  tokengap fit --model gpt-4o --answer sample-answer.md --json prompt.md
  tokengap fit --request batch.jsonl
"""


def add_parsers(commands: _SubParsersAction[Any]) -> None:
    """Add the command."""
    fits = commands.add_parser(
        "fit",
        description="Say whether a text, or each of some requests, fits a model, with room for its answer.\n"
        "Exit code 1 where one does not.",
        epilog=_EXAMPLES,
    )
    fits.add_argument("path", metavar="FILE", nargs="?", help="the text; - is standard input (default)")
    fits.add_argument(
        "--request",
        dest="requests",
        action="append",
        default=[],
        metavar="FILE",
        help="a request as JSON, or several as JSONL, instead of a text (repeatable)",
    )
    fits.add_argument("-m", "--model", metavar="NAME", help="the model (default: the one a request names)")
    fits.add_argument("-c", "--counter", metavar="SPEC", help="count with this instead of the model's own encoding")
    fits.add_argument(
        "--output-tokens",
        type=whole,
        metavar="N",
        help="the length of the answer to leave room for (default: what a request allows itself)",
    )
    fits.add_argument("--answer", metavar="FILE", help="a sample answer: leave room for it, show where it is cut off")
    fits.add_argument("--json", action="store_true", help="print JSON")
    fits.set_defaults(run=run_fit)


def run_fit(args: argparse.Namespace) -> int:
    """Exit code 0 where everything fits or nobody knows, 1 where something does not."""
    _check(args)
    sample = None if args.answer is None else read_text(args.answer)
    results = [_fit(args, given, sample) for given in _inputs(args)]
    verdicts = {result.verdict.fits for result in results}
    fits = False if False in verdicts else None if None in verdicts else True
    if args.json:
        several = {"fits": fits, "results": [{"source": each.source} | each.to_dict() for each in results]}
        write_json(results[0].to_dict() if len(results) == 1 else several)
    elif len(results) == 1:
        _print_one(results[0], is_text=not args.requests)
    else:
        _print_several(results)
    return DOES_NOT_FIT if fits is False else 0


def _check(args: argparse.Namespace) -> None:
    """Refuse options that are wrong whatever the input, before it is read."""
    read = [args.answer, *(args.requests or [args.path or STDIN])]
    if read.count(STDIN) > 1:
        raise TokengapError("standard input can be read only once: give a file for the text, the request or --answer")
    if args.counter is not None:
        get_counter(args.counter)
    if args.model is not None:
        from ..estimators.limits import find_limits

        find_limits(args.model)


def _inputs(args: argparse.Namespace) -> Sequence[Text | ChatRequest]:
    if not args.requests:
        from ..estimators.counting import Text

        if args.model is None:
            raise TokengapError("a text names no model: give --model, such as --model gpt-4o")
        path = args.path or STDIN
        return [Text("stdin" if path == STDIN else path, read_text(path))]
    if args.path:
        raise TokengapError("give a text or --request, not both")
    from .requests import read_requests

    return read_requests(args.requests)


def _fit(args: argparse.Namespace, given: Text | ChatRequest, sample: str | None) -> Fitting:
    from ..estimators.fitting import fit_input

    try:
        return fit_input(given, args.model, counter=args.counter, output_tokens=args.output_tokens, answer=sample)
    except TokengapError as error:
        raise TokengapError(f"{given.source}: {error}") from error


def _print_one(result: Fitting, *, is_text: bool) -> None:
    verdict, count = result.verdict, result.count
    limits = verdict.limits
    interval = f", between {count.interval[0]:,} and {count.interval[1]:,}" if count.interval else ""
    print(f"{printable(limits.model)}: {_VERDICT[verdict.fits]}")
    name = "text" if is_text else "request"
    print(f"  {name:15} {count.tokens:>11,} tokens ({count.tokenizer}, {count.kind}{interval})")
    if verdict.output_tokens:
        print(f"  answer          {verdict.output_tokens:>11,} tokens expected")
    for name, limit in (
        ("context window", limits.context_window),
        ("input limit", limits.max_input),
        ("output limit", limits.max_output),
    ):
        if limit is not None or name != "input limit":
            print(f"  {name:15} {figure(limit):>11}")
    if verdict.answer_over:
        print(f"  answer is over  {verdict.answer_over:>11,} tokens: the model gives none so long, whatever is cut")
    if verdict.must_cut:
        keep = (count.interval[1] if count.interval else count.tokens) - verdict.must_cut
        how = f": tokengap cut --counter {count.tokenizer} --max-tokens {keep}" if keep and is_text else ""
        print(f"  must be cut     {verdict.must_cut:>11,} tokens{how}")
    elif verdict.left is not None:
        print(f"  left            {verdict.left:>11,}")
    if result.answer is not None:
        print(f"  the answer {_answer_summary(result.answer)}")
    _print_warnings(result)


def _print_several(results: Sequence[Fitting]) -> None:
    """A line for each request: verdict, tokens, what is left or must be cut."""
    width = max(len(f"{result.count.tokens:,}") for result in results)
    for result in results:
        verdict = result.verdict
        room = "" if verdict.left is None else f", {verdict.left:,} left"
        room = f", {verdict.must_cut:,} must be cut" if verdict.must_cut else room
        over = f", the answer is {verdict.answer_over:,} over the limit" if verdict.answer_over else ""
        answer = f", the answer {_answer_summary(result.answer)}" if result.answer else ""
        print(
            f"{result.count.tokens:>{width},} tokens  {printable(result.source)}: "
            f"{_VERDICT[verdict.fits]} {printable(verdict.limits.model)}{room}{over}{answer}"
        )
    for result in results:
        _print_warnings(result, f"{result.source}: ")


def _answer_summary(answer: AnswerCut) -> str:
    if not answer.dropped:
        return "would be complete"
    where = f"inside the word {answer.word!r}" if answer.word else "between words"
    if answer.inside_character:
        where = "inside a character"
    return f"would be cut off {where}, after {answer.kept[-40:]!r}; {len(answer.dropped):,} characters would be lost"


def _print_warnings(result: Fitting, prefix: str = "") -> None:
    from ..estimators.limits import WARNINGS as LIMIT_WARNINGS

    for code in (*result.count.warnings, *result.verdict.warnings):
        warn(prefix + (LIMIT_WARNINGS.get(code) or explained(code, result.not_counted)))
