"""The command ``tokengap check``: find the configuration and the files, let them be judged, report."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from ..estimators.budget_baseline import TreeBase
from ..tokenizers.errors import TokengapError

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from ..estimators.budget_baseline import Base
    from ..estimators.budget_check import Checked
    from ..estimators.budget_config import Loaded
    from ..estimators.price_book import PriceBook
    from .cli import Parser

FORMATS = ("table", "json", "markdown", "github", "gitlab", "junit", "sarif")
INTERNAL = 4

_EPILOG = """\
exit codes:
  0 within budget, 1 a budget is broken, 2 wrong use or configuration, 3 a needed price or count is
  missing (see --allow-missing), 4 a fault of tokengap itself, 130 interrupted

a configuration, in tokengap.toml (in pyproject.toml: [tool.tokengap] and [[tool.tokengap.budget]]):
  model = "openai/gpt-4o"
  [[budget]]
  name = "system prompts"
  paths = ["prompts/**/*.md", "!prompts/draft/**"]
  max_tokens = "8k"
  max_growth = "5%"

examples:
  tokengap check --init
  tokengap check --baseline origin/main
  tokengap check --baseline origin/main --format github --output junit=budgets.xml --output sarif=budgets.sarif
"""


def add_parsers(subparsers: _SubParsersAction[Parser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "check",
        description="Check prompts against the budgets in tokengap.toml, or [tool.tokengap] of pyproject.toml, "
        "and against what they were on a base.",
        epilog=_EPILOG,
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="check only the budgets that these files belong to")
    parser.add_argument("--baseline", metavar="REF|FILE", help="compare with a commit of git, or with a file that "
                        "--write-baseline wrote")  # fmt: skip
    parser.add_argument("--write-baseline", metavar="FILE", help="write the counts down as JSON")
    parser.add_argument("--init", action="store_true", help="write a first tokengap.toml from the prompts found here")
    report = parser.add_argument_group("report")
    report.add_argument("--format", choices=FORMATS, default="table", help="what to print (default: %(default)s)")
    report.add_argument("--output", action="append", default=[], metavar="FORMAT=FILE", help="write a report to a "
                        "file as well (repeatable)")  # fmt: skip
    report.add_argument("-q", "--quiet", action="store_true", help="print nothing where all is within budget, "
                        "nothing changed and nothing was left unchecked")  # fmt: skip
    strictness = parser.add_argument_group("strictness")
    strictness.add_argument("--fail-inherited", action="store_true", help="fail for what was over on the base already")
    strictness.add_argument("--allow-missing", action="store_true", help="only warn where a price or a bound of a "
                            "count is missing")  # fmt: skip
    price = parser.add_argument_group("price")
    price.add_argument("--as-of", metavar="TIME", help="prices of that time instead of prices_at")
    price.add_argument("--today", metavar="DATE", help="tell the age of prices on that day (default: today)")
    price.add_argument("--organisation-prices", metavar="FILE", help="price file used after the project's")
    price.add_argument("--price-data", metavar="FILE", help="newer public prices, in genai-prices' data format")
    parser.add_argument("--config", metavar="FILE", help="configuration (default: the nearest tokengap.toml or "
                        "pyproject.toml)")  # fmt: skip
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the check; a fault of our own is told apart from a budget that is broken."""
    try:
        return _init() if args.init else _check(args)
    except (TokengapError, OSError):
        raise
    except Exception as error:
        from .check_faults import describe_fault

        sys.stdout.flush()
        sys.stderr.write(f"tokengap: internal error: {describe_fault(error)}\n")
        return INTERNAL


def _check(args: argparse.Namespace) -> int:
    from .check_report import Outputs

    outputs = Outputs(args.format, args.output, quiet=args.quiet, written=args.write_baseline)
    checked = check(args)
    if args.write_baseline:
        from ..estimators.budget_recording import record
        from ..tokenizers.files import write_atomically

        recording = record(zip(checked.plans, checked.report.budgets, strict=True))
        write_atomically(Path(args.write_baseline), recording.encode())
    outputs.write(checked.report)
    return checked.report.exit_code


def check(args: argparse.Namespace) -> Checked:
    """What the arguments ask to be checked."""
    from ..estimators.budget_check import check_budgets
    from .check_baseline import Found, find_baseline
    from .check_files import WorkTree, folders, open_git, reaches
    from .check_targets import refuse_targets
    from .git import Blobs

    loaded = _configuration(args)
    config = Path(loaded.origin.path)
    folder = config.resolve().parent
    book = _book(args, config) if loaded.has_prices or args.organisation_prices or args.price_data else None
    patterns = [pattern for budget in loaded.configuration.budget for pattern in budget.paths]
    includes = any(budget.type == "jinja" for budget in loaded.configuration.budget)
    git = open_git(folder)
    with Blobs(folder) as blobs:
        work = WorkTree(folder, git, blobs, () if includes else folders(patterns))
        read = (args.organisation_prices, args.price_data)
        written = {f"--write-baseline {args.write_baseline}": args.write_baseline} if args.write_baseline else {}
        refuse_targets(written, loaded, folder, work, read)  # a baseline may be written over the one that is read
        outputs = {f"--output {each}": each.partition("=")[2] for each in args.output}
        refuse_targets(outputs, loaded, folder, work, (*read, args.baseline))
        for place, budget in enumerate(loaded.configuration.budget):
            for unopened, why in work.unopened.items():
                if reaches(budget.paths, unopened):
                    raise loaded.origin.error(("budget", place, "paths"), f"{unopened}: {why}")
        found = find_baseline(args.baseline, git, blobs, work) if args.baseline is not None else Found(None)
        checked = check_budgets(
            loaded,
            work,
            found.base,
            only=_only(args.paths, config, folder, found.base),
            book=book,
            today=_day(args.today),
            fail_inherited=args.fail_inherited,
            allow_missing=args.allow_missing,
        )
    skipped = (path for path in work.others if any(reaches(each.paths, path) for each in loaded.configuration.budget))
    notices = (f"{path} is another repository, such as a submodule: its files are not checked" for path in skipped)
    said = (*_beside(config), *found.notices, *notices, *_hidden(checked, folder), *checked.report.notices)
    report = checked.report._replace(notices=said, folder=git.top() if git else "")
    return checked._replace(report=report)


def _book(args: argparse.Namespace, config: Path) -> PriceBook:
    from ..estimators.price_book import load_book

    organisation, data = (Path(file) if file else None for file in (args.organisation_prices, args.price_data))
    return load_book(config, organisation, data)


def _configuration(args: argparse.Namespace) -> Loaded:
    from ..estimators.budget_config import read_configuration
    from ..estimators.misplaced import refuse_passed_over
    from ..estimators.project_file import find_project, read_bytes

    path = Path(args.config) if args.config else find_project(Path.cwd())
    if not args.config:
        refuse_passed_over(Path.cwd(), path)
    if path is None:
        from .check_init import misnamed

        advice = misnamed(Path.cwd()) or "'tokengap check --init' writes one"
        raise TokengapError(
            f"no configuration: no tokengap.toml and no [tool.tokengap] in a pyproject.toml, here or above; {advice}"
        )
    if path.exists() and not path.is_file():  # a pipe can be read but once, and its prices are read apart
        raise TokengapError(f"{path}: not a file")
    shown = path if args.config else Path(os.path.relpath(path))
    loaded = read_configuration(read_bytes(path), str(shown))
    if not loaded.configuration.budget:
        missing = f"no {loaded.origin.header('budget')}, so that nothing would be checked"
        raise loaded.origin.error((), f"{missing}; 'tokengap check --help' shows one")
    if args.as_of is None:
        return loaded
    from dataclasses import replace

    from ..estimators.as_of import parse_as_of

    at = parse_as_of(args.as_of)
    return loaded._replace(configuration=replace(loaded.configuration, prices_at=at))


def _beside(config: Path) -> Iterator[str]:
    """A second configuration that nobody reads, because the first holds."""
    from ..estimators.project_file import has_settings

    other = config.parent / "pyproject.toml"
    if config.name == "tokengap.toml" and other.is_file() and has_settings(other):
        yield f"{other.name} has [tool.tokengap] too, which is not read: {config.name} holds"


def _hidden(checked: Checked, folder: Path) -> Iterator[str]:
    """Files that are told as removed, though something is still there under their names."""
    for path in dict.fromkeys(file.path for result in checked.report.budgets for file in result.files if not file.head):
        if os.path.islink(folder / path):
            yield f"{path} is a symbolic link now: it is not checked"
        elif os.path.isfile(folder / path):
            yield f"{path} is ignored by git now: it is not checked"


def _only(paths: list[str], config: Path, folder: Path, base: Base | None) -> list[str] | None:
    """Paths as the configuration's patterns see them; the configuration itself concerns every budget."""
    before = base.files if isinstance(base, TreeBase) else ()
    asked = []
    for path in paths:
        here = os.path.abspath(path)
        here = os.path.join(os.path.realpath(os.path.dirname(here)), os.path.basename(here))
        above = Path(here) in folder.parents  # what is above the configuration has all that it is about
        asked.append("." if above else os.path.relpath(here, folder).replace(os.sep, "/"))
        if not os.path.lexists(path) and asked[-1] not in before:
            raise TokengapError(f"{path}: no such file or folder")
    return None if not paths or os.path.relpath(config.resolve(), folder) in asked else asked


def _day(text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise TokengapError(f"bad date {text[:40]!r}: write it as 2026-11-30") from None


def _init() -> int:
    from .check_init import write_first_configuration

    return write_first_configuration(Path.cwd())
