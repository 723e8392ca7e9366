"""The options that say which prices hold, in every command that prices."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..estimators.price_book import PriceBook


def add_book(parser: Any) -> None:
    """Add the options that name a time and price files."""
    parser.add_argument("--as-of", metavar="TIME", help="prices of that time, as 2026-11-30T12:00:00Z (default: now)")
    parser.add_argument("--config", metavar="FILE", help="project's configuration (default: the nearest tokengap.toml "
                        "or pyproject.toml)")  # fmt: skip
    parser.add_argument("--no-config", action="store_true", help="do not look for a project's configuration")
    parser.add_argument("--organisation-prices", metavar="FILE", help="price file used after the project's")
    parser.add_argument("--price-data", metavar="FILE", help="newer public prices, in genai-prices' data format")


def load(args: argparse.Namespace) -> PriceBook:
    """The book that the options of a command name."""
    from pathlib import Path

    from ..estimators.price_book import load_book
    from ..estimators.price_config import find_project

    project = Path(args.config) if args.config else None if args.no_config else find_project(Path.cwd())
    organisation = Path(args.organisation_prices) if args.organisation_prices else None
    return load_book(project, organisation, Path(args.price_data) if args.price_data else None)
