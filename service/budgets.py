"""``POST /v1/budgets/check``: files against budgets, as ``tokengap check`` judges them, without a file system."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from ..estimators.budget_baseline import TreeBase
from ..estimators.budget_check import check_budgets
from ..estimators.budget_config import ELSEWHERE, TEMPLATES, Loaded, read_configuration, validate
from ..estimators.budget_report import CheckReport, check_json
from ..estimators.price_book import PriceBook
from ..estimators.price_config import parse_project, project_prices
from ..estimators.toml_origin import Origin
from ..tokenizers.counter import WARNINGS, Count
from ..tokenizers.text import well_formed
from .answers import Answer
from .bodies import Body, examples
from .operations import Done
from .problems import Fault, Problem, invalid, pointer_to
from .protection import checkpoint, measure_json
from .routes import Operations, faults_at

_MOST_MATCHES = 200_000
_MOST_SETTINGS = 10_000  # values of a configuration
_LONGEST = 100_000  # its characters

_NAME = "tokengap.toml"
_AT = "/configuration"
_SURROGATE = "lone_surrogate"

Files = Annotated[dict[str, str], Field(description="the text of each file, by its path")]


class BudgetsBody(Body):
    """Files, what they were before, and the budgets they are to keep."""

    model_config = examples(
        {
            "configuration": {
                "model": "gpt-4o",
                "prices_at": "2026-11-30",
                "budget": [{"name": "prompts", "paths": ["prompts/**"], "max_tokens": "8k", "max_growth": "5%"}],
            },
            "files": {"prompts/system.md": "You are a careful assistant."},
            "base": {"prompts/system.md": "You are an assistant."},
        }
    )

    configuration: str | dict[str, Any] = Field(description="a tokengap.toml as text, or the same as an object")
    files: Files
    base: Files | None = Field(default=None, description="the files before the change; without them none is told")
    renames: dict[str, str] = Field(default_factory=dict, description="the earlier path of a renamed file, by its path")
    fail_inherited: bool = Field(default=False, description="fail for what was over on the base already")
    allow_missing: bool = Field(default=False, description="only warn where a price or a bound is missing")

    def weight(self, size: int) -> int:
        return max(size * 8, 10**9)  # its counters are known only when it is read: never on the event loop


class BudgetsAnswer(Answer):
    """What ``tokengap check --format json`` prints."""

    passed: bool
    exit_code: int = Field(description="what the command would exit with: 0, 1, or 3 where a price or bound is missing")
    budgets: list[dict[str, Any]]
    prices: dict[str, Any]


class _Texts(Mapping[str, bytes]):
    """The files of a body as bytes; none once nobody waits for the answer."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self.replaced: set[str] = set()
        """Files that were read with a character in place of a lone surrogate."""

    def __getitem__(self, path: str) -> bytes:
        checkpoint()
        text, replaced = well_formed(self._texts[path])
        if replaced:
            self.replaced.add(path)
        return text.encode()

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


class Budgets:
    """The operation under the settings of the others."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    def check(self, body: BudgetsBody) -> Done:
        """Judge the files; a budget that is broken is an answer, not an error."""
        with faults_at(_AT):
            loaded, book = self._read(body.configuration)
        self._allow(loaded)
        self._check_size(loaded, [*body.files.values(), *(body.base or {}).values()])
        _check_paths(body)
        _check_renames(body)
        files, before = _Texts(body.files), _Texts(body.base or {})
        base = None if body.base is None else TreeBase("base", before, body.renames)
        with faults_at(_AT):
            report = check_budgets(
                loaded,
                files,
                base,
                book=book,
                fail_inherited=body.fail_inherited,
                allow_missing=body.allow_missing,
                workers=1,  # the service has threads of its own
            ).report
        report = _warned(report, files.replaced, before.replaced)
        unpriced = any(violation.code == "TOK010" for violation in report.violations)
        return Done(
            check_json(report), counted=_counts(report), unpriced="no price for the model" if unpriced else None
        )

    def _read(self, configuration: str | dict[str, Any]) -> tuple[Loaded, PriceBook]:
        """The budgets, and the project's own prices before those of the service."""
        values, chars = measure_json(configuration, _MOST_SETTINGS)
        if values > _MOST_SETTINGS or chars > _LONGEST:
            raise too_much(_AT, f"more than {_MOST_SETTINGS:,} values or {_LONGEST:,} characters")
        if isinstance(configuration, str):
            data = well_formed(configuration)[0].encode()
            loaded = read_configuration(data, _NAME)
            layer, named = parse_project(data, _NAME)
        else:
            origin = Origin()
            loaded = Loaded(
                validate({key: value for key, value in configuration.items() if key not in ELSEWHERE}, origin), origin
            )
            layer, named = project_prices(configuration, origin)
        if named:
            raise invalid(f"{_AT}/organisation_prices", "the service reads no files; give the prices under [[prices]]")
        if not loaded.configuration.budget:
            raise invalid(_AT, "no budget, so that nothing would be checked")
        book = self._operations.book
        return loaded, PriceBook((layer, *book.layers), book.public) if layer else book

    def _check_size(self, loaded: Loaded, texts: list[str]) -> None:
        """Refuse more than one request may ask: to count, to match, to parse."""
        budgets = loaded.configuration.budget
        self._operations.check_texts(texts, times=len(budgets))
        matches = len(texts) * sum(len(budget.paths) for budget in budgets)
        if matches > _MOST_MATCHES:
            raise too_much("/files", f"{matches:,} times a file and a pattern are more than {_MOST_MATCHES:,}")
        parsing = sum(budget.field is not None or budget.type != "text" for budget in budgets)
        values = parsing * sum(text.count(sign) for text in texts for sign in ",[{\n") if parsing else 0
        if values > (most := self._operations.settings.max_values):
            raise too_much("/files", f"some {values:,} values in JSON or YAML are more than {most:,}")

    def _allow(self, loaded: Loaded) -> None:
        """Refuse what this door does not offer: some counters, and templates, which are programs."""
        model = loaded.configuration.model
        for place, budget in enumerate(loaded.configuration.budget):
            pointer = f"{_AT}/budget/{place}"
            if budget.type in TEMPLATES:
                detail = "templates are not filled over HTTP: send the texts they come to, as type 'text'"
                raise invalid(f"{pointer}/type", detail)
            named = budget.model or model
            if budget.counter:
                self._operations.counter(budget.counter, f"{pointer}/counter")
            elif named:
                self._operations.counter(f"model:{named}", f"{pointer}/model" if budget.model else f"{_AT}/model")
            elif budget.type in ("chat", "tools"):  # each is counted as the model that it names
                self._operations.check_allowed("model:", f"{pointer}/type")


def _check_paths(body: BudgetsBody) -> None:
    """Refuse what is no path in a tree of files: none of these could come of one."""
    for member, paths in (("files", body.files), ("base", body.base or {})):
        for path in paths:
            if "\0" in path or not {"", ".", ".."}.isdisjoint(path.split("/")):
                detail = f"{path!r:.200} is no path below the folder of the configuration, such as 'prompts/system.md'"
                raise invalid(pointer_to((member, path)), detail)


def _check_renames(body: BudgetsBody) -> None:
    """Refuse a rename of which one side is not there: ignored, it would make a file new that is not."""
    if body.renames and body.base is None:
        raise invalid("/renames", "it means nothing without base")
    earlier: dict[str, str] = {}
    for path, before in body.renames.items():
        pointer = pointer_to(("renames", path))
        if path not in body.files:
            raise invalid(pointer, f"files has no {path!r:.200}")
        if before not in (body.base or {}):
            raise invalid(pointer, f"base has no {before!r:.200}")
        if (other := earlier.setdefault(before, path)) != path:
            raise invalid(pointer, f"{before!r:.200} is renamed to {other!r:.200} already")


def _warned(report: CheckReport, files: Collection[str], base: Collection[str]) -> CheckReport:
    """The report with what it was counted otherwise than it was sent."""
    said = [f"{path}: {WARNINGS[_SURROGATE]}" for path in sorted(files)]
    said += [f"{path} on the base: {WARNINGS[_SURROGATE]}" for path in sorted(base)]
    budgets = tuple(
        result._replace(
            files=tuple(
                file._replace(head=file.head._replace(warnings=(*file.head.warnings, _SURROGATE)))
                if file.head and file.path in files
                else file
                for file in result.files
            )
        )
        for result in report.budgets
    )
    return report._replace(budgets=budgets, notices=(*said, *report.notices)) if said else report


def _counts(report: CheckReport) -> tuple[Count, ...]:
    return tuple(Count(each.tokens, each.tokenizer, "", each.kind) for each in report.budgets)


def too_much(pointer: str, what: str) -> Problem:
    """More than one request may hold."""
    detail = f"{what}; send less at a time"
    return Problem("too-much-text", detail, (Fault(pointer, detail),))
