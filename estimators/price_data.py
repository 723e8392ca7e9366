"""Newer public prices from a file that the user names, in genai-prices' own data format (v2)."""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ..tokenizers.errors import TokengapError
from .price import check_rate
from .project_file import nearest, read_bytes
from .usage import MAX_TOKENS

if TYPE_CHECKING:
    from .price_table import PriceTable

MAX_DIGITS = 30
"""Most significant digits of a price: what is billed is summed with twice as many."""


_TOO_LARGE = "a whole number in it is too large"  # Python's own limit, of 4,300 digits


def read_price_data(path: Path) -> PriceTable:
    """Read a table from a file such as genai-prices' ``prices/new_data/v2/data.json``.

    Raises TokengapError, with the path in the file, for an unknown key or a value out of place: a
    price that was dropped would be taken for one that is not known.
    """
    from hashlib import sha256

    from .price_table import PriceTable

    data = read_bytes(path)
    if data.startswith(BOM_UTF8):
        raise TokengapError(f"{path}: begins with a byte order mark (U+FEFF), which JSON has not")
    try:
        raw = json.loads(data.decode(), parse_float=Decimal, parse_constant=_refuse_constant, object_pairs_hook=_unique)
        json.dumps(raw, ensure_ascii=False, default=str).encode()
    except RecursionError:
        raise TokengapError(f"{path}: not JSON that is read: nested too deeply") from None
    except UnicodeEncodeError:
        raise TokengapError(f"{path}: half of a surrogate pair stands in a string of it, which is no text") from None
    except UnicodeDecodeError:
        raise TokengapError(f"{path}: not JSON: not UTF-8") from None
    except json.JSONDecodeError as error:
        raise TokengapError(f"{path}: not JSON: {error}") from None
    except ValueError as error:
        raise TokengapError(f"{path}: {error if isinstance(error, TokengapError) else _TOO_LARGE}") from None
    if not isinstance(raw, list):
        raise TokengapError(f"{path}: a list of providers is needed, as in genai-prices' data format v2")
    for where, problem in _problems(raw):
        raise TokengapError(f"{path}: {where}: {problem}")
    return PriceTable(str(path), f"file:{sha256(data).hexdigest()[:12]}", tuple(_providers(raw, path)))


def _refuse_constant(name: str) -> NoReturn:
    raise TokengapError(f"not JSON: {name} is not a number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise TokengapError(f"the key {twice[:60]!r} is there twice in one object")
    return found


def _providers(raw: list[Any], path: Path) -> list[Any]:
    from genai_prices.types import _providers_from_raw
    from pydantic import ValidationError

    try:
        # How to read usage from a response is of no use here, and warns of what it does not know.
        return _providers_from_raw([{key: value for key, value in row.items() if key != "extractors"} for row in raw])
    except ValidationError as error:
        # Of the forms a value may have, the one that was followed furthest is the one that was meant.
        furthest = max(error.errors(), key=lambda each: len(each["loc"]))
        steps = [step for step in furthest["loc"] if isinstance(step, int) or not ("[" in step or step[:1].isupper())]
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")
        raise TokengapError(f"{path}: {where}: {furthest['msg']}") from None
    except (TypeError, ValueError, AttributeError, AssertionError) as error:
        raise TokengapError(f"{path}: not in genai-prices' data format v2: {error}") from None


def _problems(raw: list[Any]) -> Iterator[tuple[str, str]]:
    """What pydantic would let pass: keys that are not known, and prices that cannot be."""
    from genai_prices import types

    for number, provider in enumerate(raw):
        where = f"[{number}]"
        if not isinstance(provider, dict):
            yield where, "a provider is needed, as an object"
            continue
        yield from _unknown(where, provider, {item.name for item in fields(types.Provider)})
        for key in ("model_match", "provider_match"):
            yield from _pattern_problems(f"{where}.{key}", provider.get(key))
        models = provider.get("models", [])
        for index, model in enumerate(models if isinstance(models, list) else []):
            inside = f"{where}.models[{index}]"
            if not isinstance(model, dict):
                yield inside, "a model is needed, as an object"
                continue
            yield from _unknown(inside, model, {item.name for item in fields(types.ModelInfo)})
            yield from _pattern_problems(f"{inside}.match", model.get("match"))
            yield from _price_problems(inside, model)


def _pattern_problems(where: str, clause: Any) -> Iterator[tuple[str, str]]:
    """Regular expressions that are none, which would show only when a name is looked up."""
    if not isinstance(clause, dict):
        return
    for key, value in clause.items():
        for index, inner in enumerate(value if isinstance(value, list) else []):
            yield from _pattern_problems(f"{where}.{key}[{index}]", inner)
        if key == "regex" and isinstance(value, str):
            try:
                re.compile(value)
            except re.error as error:
                yield f"{where}.{key}", f"not a regular expression: {error}"


def _price_problems(where: str, model: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    rows = model.get("prices", [])
    if isinstance(rows, dict):
        yield from _rate_problems(f"{where}.prices", rows)
        rows = []
    for name, more in (("prices", rows), ("price_variants", model.get("price_variants") or [])):
        if not isinstance(more, list):
            yield f"{where}.{name}", "prices are needed, as an object or a list"
            continue
        for index, row in enumerate(more):
            inside = f"{where}.{name}[{index}]"
            if not isinstance(row, dict):
                yield inside, "prices are needed, as an object"
                continue
            yield from _unknown(inside, row, {"constraint", "prices", *(["when"] if name != "prices" else [])})
            if isinstance(constraint := row.get("constraint"), dict):
                yield from _unknown(f"{inside}.constraint", constraint, {"start_date", "start_time", "end_time"})
            yield from _rate_problems(f"{inside}.prices", row.get("prices"))


def _rate_problems(where: str, prices: Any) -> Iterator[tuple[str, str]]:
    from genai_prices.data_units import unit_data

    if not isinstance(prices, dict):
        yield where, "prices are needed, as an object"
        return
    known = {str(unit.get("price_key", name)) for name, unit in unit_data.items()}
    yield from _unknown(where, prices, known)
    for key, price in prices.items():
        inside = f"{where}.{key}"
        if not isinstance(price, dict):
            yield from _rate_problem(inside, price) if price is not None else ()
            continue
        yield from _unknown(inside, price, {"base", "tiers"})
        yield from _rate_problem(f"{inside}.base", price.get("base"))
        tiers = price.get("tiers")
        for index, tier in enumerate(tiers if isinstance(tiers, list) else []):
            if isinstance(tier, dict):
                start = tier.get("start")
                if isinstance(start, int) and not 0 <= start <= MAX_TOKENS:
                    yield (
                        f"{inside}.tiers[{index}].start",
                        f"{start!r:.40} is no number of tokens that a tier begins at",
                    )
                yield from _unknown(f"{inside}.tiers[{index}]", tier, {"start", "price"})
                yield from _rate_problem(f"{inside}.tiers[{index}].price", tier.get("price"))


def _rate_problem(where: str, rate: Any) -> Iterator[tuple[str, str]]:
    if isinstance(rate, bool) or not isinstance(rate, int | Decimal):
        yield where, f"{rate!r:.40} is not a number"
        return
    if isinstance(rate, Decimal) and len(rate.as_tuple().digits) > MAX_DIGITS:
        yield where, f"a price of {len(rate.as_tuple().digits)} digits is more than any price has"
        return
    try:
        # What is billed by the hour or by the call has the same bounds: no such price comes near them.
        check_rate(Decimal(rate), "USD", "price")
    except TokengapError as error:
        yield where, str(error)


def _unknown(where: str, given: Mapping[str, Any], known: Iterable[str]) -> Iterator[tuple[str, str]]:
    for key in given:
        if key not in known:
            yield f"{where}.{key}", nearest(key, known)
