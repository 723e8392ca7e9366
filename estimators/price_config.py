"""Price files: a project's own prices and an organisation's, in TOML.

Every key is known or refused, with its path and the nearest key that would do: a mistyped price
that passed in silence would be the public one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fnmatch import translate
from functools import partial
from pathlib import Path, PurePath
from typing import Any

from ..tokenizers.errors import TokengapError
from .as_of import parse_as_of
from .misplaced import refuse_misplaced
from .price import CONTEXT, EVENT_UNITS, TOKEN_UNITS, Price, PriceSource, Tier, check_rate, plain
from .price_book import Entry, Layer
from .price_names import canonical, forms
from .project_file import PREFIX, PROJECT_KEYS, nearest, read_bytes
from .toml_origin import Origin, Steps, parse_toml

_UNIT_KEYS = {unit: unit for unit in (*TOKEN_UNITS, *EVENT_UNITS)} | {"in": "input", "out": "output"}
_ENTRY_KEYS = frozenset(("provider", "model", "from", "to", "currency", "variant", "tiers", "multiplier", "base"))
_VARIANTS = ("batch", "flex", "priority", "fast")
_PER = {"1": 1, "1K": 1_000, "1M": 1_000_000}
_RATE = re.compile(
    r"(?P<amount>[0-9]{1,15}(?:\.[0-9]{1,15})?)(?: ?(?P<currency>[A-Za-z]{3}))? ?"
    r"/ ?(?P<per>1|1K|1M)(?: (?:tokens?|calls?))?",
    re.ASCII,
)
_MULTIPLIER = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,15})?", re.ASCII)
_RATE_FORM = 'a price is a string with its unit, such as "3 USD/1M"'


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in which file a value is, for the error."""

    origin: Origin
    steps: Steps = ()

    @property
    def path(self) -> str:
        """``tool.tokengap.prices[0].in``."""
        return self.origin.shown(self.steps)

    def at(self, step: str | int) -> _Place:
        return _Place(self.origin, (*self.steps, step))

    def error(self, problem: str) -> TokengapError:
        return self.origin.error(self.steps, problem)

    def only(self, table: Mapping[str, Any], known: Iterable[str]) -> None:
        for key in table:
            if key not in known:
                raise self.at(key).error(nearest(key, known))


def read_project(path: Path) -> tuple[Layer | None, Path | None]:
    """The prices of a project's configuration, and the organisation's file it names."""
    layer, named = parse_project(read_bytes(path), str(path))
    return layer, path.parent / named if named else None


def read_named(project: Path, organisation: Path) -> Layer:
    """The prices of the organisation's file that a project names; one that is not there is told at its key."""
    try:
        read_bytes(organisation)
    except TokengapError as error:
        in_pyproject = project.name == "pyproject.toml"
        origin = Origin(str(project), read_bytes(project), PREFIX if in_pyproject else ())
        raise origin.error(("organisation_prices",), str(error)) from None
    return read_prices(organisation)


def parse_project(data: bytes, path: str) -> tuple[Layer | None, str | None]:
    """The same from the bytes of a configuration, the organisation's file as it is named there."""
    in_pyproject = PurePath(path).name == "pyproject.toml"
    origin = Origin(path, data, PREFIX if in_pyproject else ())
    tables = parse_toml(data, path)
    if in_pyproject:
        refuse_misplaced(tables, data, path)
    tools = tables.get("tool", {}) if in_pyproject else {}
    settings = tables if not in_pyproject else tools.get("tokengap", {}) if isinstance(tools, dict) else {}
    return project_prices(settings, origin)


def project_prices(settings: Any, origin: Origin) -> tuple[Layer | None, str | None]:
    """The same from a configuration as plain values."""
    place = _Place(origin)
    if not isinstance(settings, dict):
        raise place.error("a table is needed")
    place.only(settings, PROJECT_KEYS)
    named = settings.get("organisation_prices")
    if named is not None and (not isinstance(named, str) or not named):
        raise place.at("organisation_prices").error("the path of a price file is needed")
    return (_layer("project", place, settings["prices"]) if "prices" in settings else None), named


def read_prices(path: Path, name: str = "organisation") -> Layer:
    """The prices of a file of its own: ``[[prices]]`` entries and nothing else."""
    data = read_bytes(path)
    place = _Place(Origin(str(path), data))
    settings = parse_toml(data, str(path))
    place.only(settings, ("prices",))
    return _layer(name, place, settings.get("prices", []))


def _layer(name: str, place: _Place, prices: Any) -> Layer:
    import json
    from hashlib import sha256

    place = place.at("prices")
    if not isinstance(prices, list) or not all(isinstance(entry, dict) for entry in prices):
        raise place.error(f"a list of tables is needed, each under its own {place.origin.header('prices')}")
    entries = tuple(_entry(place.at(index), entry) for index, entry in enumerate(prices))
    normal = json.dumps(prices, sort_keys=True, ensure_ascii=False, default=str)
    return Layer(name, place.origin.path, sha256(normal.encode()).hexdigest(), entries)


def _entry(place: _Place, entry: Mapping[str, Any]) -> Entry:
    place.only(entry, _ENTRY_KEYS | _UNIT_KEYS.keys())
    start, end = (_time(place.at(key), entry.get(key)) for key in ("from", "to"))
    if start and end and start >= end:
        raise place.at("to").error(
            f"the price would never hold: it ends at {end:%Y-%m-%d}, and begins at {start:%Y-%m-%d}"
        )
    variant = entry.get("variant")
    if variant is not None and variant not in _VARIANTS:
        raise place.at("variant").error(f"{variant!r} is not one of {', '.join(_VARIANTS)}")
    provider = entry.get("provider")
    if provider is not None and (not isinstance(provider, str) or not provider.strip()):
        raise place.at("provider").error("the name of a provider is needed")
    multiplier = _multiplier(place, entry)
    base = entry.get("base")
    if base is not None and (multiplier is None or not isinstance(base, str) or not base.strip()):
        raise place.at("base").error("the model whose price is multiplied is needed, and a multiplier beside it")
    globs = _globs(place.at("model"), entry.get("model"))
    return Entry(
        f"{place.origin.name} {place.path}",
        globs,
        tuple(map(_pattern, globs)),
        canonical(provider) if provider else None,
        start,
        end,
        variant,
        None if multiplier is not None else _price(place, entry, variant),
        multiplier,
        base,
        partial(_mistake, place),
    )


def _mistake(place: _Place, key: str, problem: str) -> TokengapError:
    return place.at(key).error(problem)


def _globs(place: _Place, value: Any) -> tuple[str, ...]:
    globs = value if isinstance(value, list) else [value]
    if not globs or not all(isinstance(glob, str) and glob.strip() for glob in globs):
        raise place.error("the name of a model is needed, or a pattern such as 'gpt-4o-2024-*', or a list of them")
    for glob in globs:
        if glob.count("[") != glob.count("]"):
            raise place.error(f"{glob[:60]!r} has a bracket without its other: a set is written as '[ab]'")
    return tuple(glob.strip().lower() for glob in globs)


def _pattern(glob: str) -> re.Pattern[str]:
    """A glob, in any form of its date and of its provider's name."""
    prefix, slash, rest = glob.partition("/")
    named = (glob, f"{canonical(prefix)}/{rest}") if slash else (glob,)
    return re.compile("|".join(dict.fromkeys(translate(form) for name in named for form in forms(name))))


def _time(place: _Place, value: Any) -> datetime | None:
    if value is None:
        return None
    if not isinstance(value, str | date):
        raise place.error("a date is needed, such as 2026-11-30")
    try:
        return parse_as_of(value).time
    except TokengapError as error:
        raise place.error(str(error)) from None


def _multiplier(place: _Place, entry: Mapping[str, Any]) -> Decimal | None:
    value = entry.get("multiplier")
    if value is None:
        return None
    place = place.at("multiplier")
    if not isinstance(value, str) or not _MULTIPLIER.fullmatch(value.strip()):
        raise place.error('a decimal in quotes is needed, such as "0.85" for 15% off or "1.1" for an uplift')
    for key in entry:
        if key in _UNIT_KEYS or key in ("tiers", "currency"):
            raise place.error(f"a multiplier and {key!r} exclude each other: the price is the base's")
    if not 0 < (multiplier := Decimal(value.strip())) <= 100:
        raise place.error(f'{value} is not above 0 and up to 100; for what is free, write "0 USD/1M"')
    return multiplier


def _price(place: _Place, entry: Mapping[str, Any], variant: str | None) -> Price:
    currency = entry.get("currency")
    if currency is not None and (not isinstance(currency, str) or not re.fullmatch(r"[A-Za-z]{3}", currency)):
        raise place.at("currency").error('a currency of three letters is needed, such as "USD"')
    currencies = {currency.upper()} if currency else set()
    rates = _rates(place, entry, currencies)
    tiers: list[Tier] = []
    rows = entry.get("tiers", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise place.at("tiers").error('a list of tables is needed, such as [{ above = 200000, in = "6 USD/1M" }]')
    for index, row in enumerate(rows):
        inside = place.at("tiers").at(index)
        inside.only(row, ("above", *_UNIT_KEYS))
        above = row.get("above")
        if isinstance(above, bool) or not isinstance(above, int) or above <= (tiers[-1].above if tiers else 0):
            raise inside.at("above").error("a number of tokens is needed, above that of the tier before")
        higher = _rates(inside, row, currencies)
        if not higher:
            raise inside.error(f"a tier needs at least one price; {_RATE_FORM}")
        for unit in (set(higher) - set(rates)) | (set(higher) & set(EVENT_UNITS)):
            raise inside.error(f"{unit} has a price in this tier only; it needs one outside the tiers, and per token")
        tiers.append(Tier(above, {**(tiers[-1].per_million if tiers else _tokens(rates)), **higher}))
    if not rates:
        raise place.error(f"no price: at least 'in' or a multiplier is needed; {_RATE_FORM}")
    if len(currencies) != 1:
        raise place.error(f"one currency is needed, not {', '.join(sorted(currencies)) or 'none'}; {_RATE_FORM}")
    source = PriceSource(place.origin.path)
    events = {unit: rate for unit, rate in rates.items() if unit in EVENT_UNITS}
    return Price(currencies.pop(), _tokens(rates), source, tuple(tiers), events, variant)


def _tokens(rates: Mapping[str, Decimal]) -> dict[str, Decimal]:
    return {unit: rate for unit, rate in rates.items() if unit in TOKEN_UNITS}


def _rates(place: _Place, table: Mapping[str, Any], currencies: set[str]) -> dict[str, Decimal]:
    """The unit prices of a table, per million tokens or thousand calls; their currencies are added to the set."""
    rates: dict[str, Decimal] = {}
    for key, text in table.items():
        if (unit := _UNIT_KEYS.get(key)) is None:
            continue
        inside = place.at(key)
        if unit in rates:
            raise inside.error(f"{unit} is given twice")
        if not isinstance(text, str):
            raise inside.error(f"{text!r} has no unit: {_RATE_FORM}")
        rates[unit] = _rate(inside, unit, text, currencies)
    return rates


def _rate(place: _Place, unit: str, text: str, currencies: set[str]) -> Decimal:
    match = _RATE.fullmatch(text.strip())
    if match is None:
        raise place.error(f"{text[:60]!r} is not a non-negative price with a unit: {_RATE_FORM}, or per 1K, or per 1")
    if match["currency"]:
        currencies.add(match["currency"].upper())
    if unit in EVENT_UNITS and match["per"] == "1M":
        raise place.error(f'{text[:60]!r}: {unit} are priced by the call: per 1K or per 1, such as "10 USD/1K"')
    per = 1_000_000 if unit in TOKEN_UNITS else 1_000
    rate = CONTEXT.divide(CONTEXT.multiply(Decimal(match["amount"]), Decimal(per)), Decimal(_PER[match["per"]]))
    try:
        return check_rate(Decimal(plain(rate)), next(iter(currencies), "USD"), f"price {text[:60]!r}")
    except TokengapError as error:
        raise place.error(str(error)) from None
