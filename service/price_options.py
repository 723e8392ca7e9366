"""The options that say which prices hold, in every command that prices."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

from ..tokenizers.errors import TokengapError

if TYPE_CHECKING:
    from ..estimators.price_book import PriceBook


class OneValue(argparse.Action):
    """An option that is given once, with a value that is not empty: a script's unset variable is no default."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        if not values.strip():
            raise argparse.ArgumentError(self, "the value is empty: leave the option out, or say what it is")
        if getattr(namespace, self.dest) is not None:
            raise argparse.ArgumentError(self, "is given twice, and only one can hold")
        setattr(namespace, self.dest, values)


def add_book(parser: Any) -> None:
    """Add the options that name a time and price files."""
    one = partial(parser.add_argument, action=OneValue)
    one("--as-of", metavar="TIME", help="prices of that time, as 2026-11-30T12:00:00Z (default: now)")
    one("--config", metavar="FILE", help="project's configuration (default: the nearest tokengap.toml "
        "or pyproject.toml)")  # fmt: skip
    parser.add_argument("--no-config", action="store_true", help="do not look for a project's configuration")
    one("--organisation-prices", metavar="FILE", help="price file used after the project's")
    one("--price-data", metavar="FILE", help="newer public prices, in genai-prices' data format")


def load(args: argparse.Namespace) -> PriceBook:
    """The book that the options of a command name."""
    from pathlib import Path

    from ..estimators.price_book import load_book
    from ..estimators.project_file import find_project

    if args.config and args.no_config:
        raise TokengapError("--config and --no-config exclude each other: give one of them")
    project = Path(args.config) if args.config else None if args.no_config else find_project(Path.cwd())
    organisation = Path(args.organisation_prices) if args.organisation_prices else None
    return load_book(project, organisation, Path(args.price_data) if args.price_data else None)
