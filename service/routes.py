"""The operations of the HTTP service: each calls one estimator and answers in the JSON of every door."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

from ..estimators.as_of import parse_as_of
from ..estimators.comparison import compare
from ..estimators.contract import report_json
from ..estimators.counting import ChatRequest, Report, Text, Texts, count
from ..estimators.cutting import tokenizer_of
from ..estimators.fitting import fit_input
from ..estimators.model_list import list_models
from ..estimators.price import Price, parse_price
from ..estimators.price_book import load_book
from ..estimators.request import read_request
from ..estimators.request_settings import model_path, named_model
from ..tokenizers.counter import Count, Counter, Encoder, Tokenizer, prepare
from ..tokenizers.errors import TokengapError
from ..tokenizers.registry import BUILT_IN, get_counter, listing, plugins
from ..tokenizers.text import well_formed
from .bodies import CompareBody, CountBody, FitBody, PricedBody, TokenizeBody
from .operations import Done
from .problems import Fault, Problem, invalid, pointer_of, problem_of
from .protection import checkpoint, measure_json
from .quick import QuickCount
from .settings import Settings

MOST_WARM = 1024
"""How many counters are remembered as ready; callers may name ever new ones."""


class Operations:
    """The operations under one set of settings."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.book = load_book(None, settings.prices, settings.price_data)
        self.quick = QuickCount(min(settings.inline_bytes, settings.max_text_chars))
        self._warm: dict[str, None] = {}

    def load(self) -> None:
        """Read vocabularies and prices, in any thread; ``warm_up`` is to follow, in the thread that counts most."""
        self.prepare(self.settings.preload)
        _ = self.book.table

    def warm_up(self) -> None:
        """Count once with what was loaded. The thread that counts first with tiktoken is faster than others after."""
        for spec in self.settings.preload:
            counter = self.counter(spec, "/preload")
            for text in ("ready", "ĉu ne?"):  # the second is none that a simple pattern will do for
                counter.count(text)
            self.warmed(spec)
            self.quick.learn((spec,))
        count("ready", ["model:gpt-4o"], book=self.book)

    def prepare(self, specs: Iterable[str]) -> None:
        """Load what counting with these takes, so that no later request waits for it; of unknown names, nothing."""
        for spec in specs:
            with suppress(Problem):
                prepare(self.counter(spec, ""))

    def is_warm(self, specs: Sequence[str]) -> bool:
        """Whether counting with these waits for nothing: no vocabulary to read, no unknown name to explain."""
        return all(spec in self._warm for spec in specs)

    def warmed(self, *specs: str) -> None:
        if len(self._warm) >= MOST_WARM:
            self._warm.clear()
        self._warm.update(dict.fromkeys(specs))

    def count(self, body: CountBody) -> Done:
        """Count texts or a request, and price them where a model or a price is given."""
        texts, specs = self._asked(body), self._counters(body)
        price, as_of = price_of(body), time_of(body)
        with faults_at("/request"):
            report = count(texts, specs, price=price, unit=body.unit, book=self.book, as_of=as_of)
        self.quick.learn(specs)
        return self._done(report)

    def compare(self, body: CompareBody) -> Done:
        """Count as ``count`` does, beside a naive estimate, and report the gap between the two."""
        texts, specs = self._asked(body), self._counters(body)
        self.counter(body.baseline, "/baseline", None if "baseline" in body.model_fields_set else "baseline")
        price, as_of = price_of(body), time_of(body)
        with faults_at("/request"):
            report = compare(
                texts,
                specs,
                baseline=body.baseline,
                price=price,
                unit=body.unit,
                calls=body.calls,
                per=body.per,
                book=self.book,
                as_of=as_of,
            )
        return self._done(report)

    def tokenize(self, body: TokenizeBody) -> Done:
        """Show the tokens of texts, with where each begins and ends."""
        (spec,) = body.specs()
        pointer = "/counter" if body.counter else "/model"
        counter = self.counter(spec, pointer, None if body.counter or body.model else "counter")
        with faults_at(pointer):
            tokenizer = tokenizer_of(counter)
        self.check_texts(body.input, self.settings.max_tokenize_chars)
        results: list[dict[str, Any]] = []
        counts: list[Count] = []
        for text in self.texts(body.input):
            counted, ids, pieces = _tokens(text.text, counter, tokenizer)
            counts.append(counted)
            results.append(
                {
                    "source": text.source,
                    "counter": spec,
                    "tokenizer": counted.tokenizer,
                    "fingerprint": counted.fingerprint,
                    "kind": counted.kind,
                    "interval": counted.interval,
                    "tokens": counted.tokens,
                    "pieces": list(_shown(ids, pieces)),
                    "warnings": counted.warnings,
                }
            )
        self.warmed(spec)
        return Done({"results": results}, counted=tuple(counts))

    def fit(self, body: FitBody) -> Done:
        """Say whether a text or a request fits a model, with room for its answer."""
        if (body.input is None) == ("request" not in body.model_fields_set):
            raise _one_of_two()
        unknown = "/model" if body.model or body.input is not None else model_pointer(body.request)
        if body.input is None:
            self.check_request(body.request)
        if not (body.model or named_model(body.request)):
            if body.input is None:
                with faults_at("/request"):
                    read_request(body.request)
            raise invalid(unknown, "a model is needed, such as gpt-4o")
        (spec,) = body.specs()
        if body.counter:
            self.counter(spec, "/counter")
        else:
            self.check_allowed(spec, unknown)
        if body.answer is not None and well_formed(body.answer)[1]:
            raise invalid("/answer", "the answer holds a lone surrogate, which is no character: it cannot be cut")
        self.check_texts([text for text in (body.input, body.answer) if text is not None])
        given = ChatRequest("request", body.request) if body.input is None else body.input
        with faults_at("/request" if body.input is None else "", unknown):
            fitted = fit_input(
                given, body.model, counter=body.counter, output_tokens=body.output_tokens, answer=body.answer
            )
        self.warmed(spec)
        return Done(fitted.to_dict(), counted=(fitted.count,))

    def counters(self) -> dict[str, Any]:
        """The counters that may be used here."""
        return {"counters": [entry._asdict() for entry in listing() if entry.name in self.settings.counters]}

    def models(self, containing: str, everything: bool) -> dict[str, Any]:
        """The models with their limits; ``everything`` takes in the price table's."""
        return {"models": [row.to_dict() for row in list_models(containing, everything=everything)]}

    def counter(self, spec: str, pointer: str, default_of: str | None = None) -> Counter:
        """A counter that is allowed. Raises Problem, pointing to where the spec was given.

        ``default_of`` is the member that would name another, where nothing was given and the spec is the default.
        """
        self.check_allowed(spec, pointer, default_of)
        with faults_at(pointer):
            return get_counter(spec)

    def check_allowed(self, spec: str, pointer: str, default_of: str | None = None) -> None:
        """Refuse a counter that the settings do not offer; of a default, point to no member: none is wrong."""
        name = spec.partition(":")[0]
        if name not in self.settings.counters and (name in BUILT_IN or name in plugins()):
            what = f"the counter {name!r}" if default_of is None else f"give {default_of!r}: its default, {name!r},"
            offered = ", ".join(self.settings.counters)
            detail = f"{what} is not offered over HTTP; GET /v1/counters lists those that are: {offered}"
            raise Problem("counter-not-allowed", detail, (Fault(pointer if default_of is None else "", detail),))

    def check_texts(
        self, given: str | Sequence[str], most: int | None = None, times: int = 1, pointer: str = "/input"
    ) -> None:
        """Refuse more texts, or more characters times counters, than one request may hold."""
        texts = (given,) if isinstance(given, str) else given
        most = self.settings.max_text_chars if most is None else most
        if len(texts) > self.settings.max_texts:
            detail = f"{len(texts):,} texts are more than {self.settings.max_texts:,}; send fewer at a time"
            raise Problem("too-much-text", detail, (Fault(pointer, detail),))
        chars = sum(map(len, texts)) * times
        if chars > most:
            by = f" ({times} counters)" if times > 1 else ""
            detail = f"{chars:,} characters to count{by} are more than {most:,}; send less at a time"
            raise Problem("too-much-text", detail, (Fault(pointer, detail),))

    def check_request(self, request: object, times: int = 1, pointer: str = "/request") -> None:
        """Refuse a chat request with more values or more text than one may hold."""
        values, chars = measure_json(request, self.settings.max_values)
        if values > self.settings.max_values:
            detail = f"the request has more than {self.settings.max_values:,} values; send less at a time"
            raise Problem("too-much-text", detail, (Fault(pointer, detail),))
        if chars * times > self.settings.max_text_chars:
            detail = f"{chars * times:,} characters to count are more than {self.settings.max_text_chars:,}"
            raise Problem("too-much-text", detail, (Fault(pointer, detail),))

    def texts(self, given: str | Sequence[str]) -> Iterator[Text]:
        """The texts by name, as ``count`` names them; none once nobody waits for the answer."""
        if isinstance(given, str):
            yield Text("text", given)
            return
        for number, text in enumerate(given, start=1):
            checkpoint()
            yield Text(f"text:{number}", text)

    def _asked(self, body: CountBody) -> Texts:
        times = len(body.specs())
        given = {"input", "request"} & body.model_fields_set
        if len(given) != 1:
            raise _one_of_two()
        if "request" in given:
            self.check_request(body.request, times)
            return [ChatRequest("request", body.request)]
        self.check_texts(body.input, times=times)
        return self.texts(body.input)

    def _counters(self, body: CountBody) -> tuple[str, ...]:
        specs = body.specs()
        if not specs:
            with faults_at("/request"):
                read_request(body.request)  # what is wrong with it otherwise comes first
            raise invalid(model_pointer(body.request), "the request names no model: give 'model', or 'counters'")
        default_of = None if body.counters or body.model or body.request is not None else "counters"
        for spec in specs:
            where = "/model" if body.model else model_pointer(body.request)
            where = f"/counters/{body.counters.index(spec)}" if spec in body.counters else where
            self.counter(spec, where, default_of)
        return specs

    def _done(self, report: Report) -> Done:
        self.warmed(*(total.counter for total in report.total))
        counts = tuple(row.request or row.count for row in report.results)
        unpriced = any("unpriced" in row.warnings for row in report.results)
        return Done(report_json(report), counted=counts, unpriced="no price for the model" if unpriced else None)


@contextmanager
def faults_at(
    pointer: str, unknown: str | None = None, passing: tuple[type[TokengapError], ...] = ()
) -> Iterator[None]:
    """Turn what an estimator refuses into a problem that points to its cause; those of ``passing`` stay."""
    try:
        yield
    except passing:
        raise
    except TokengapError as error:
        raise problem_of(error, pointer, unknown) from None


def model_pointer(request: object) -> str:
    """Where a request names its model, or would."""
    return "/request" + pointer_of(model_path(request))


def price_of(body: PricedBody) -> Price | None:
    if body.price is None:
        return None
    with faults_at("/price"):
        return parse_price(body.price)


def time_of(body: PricedBody) -> datetime:
    """The time whose prices hold; now is the second that has begun, so that a price is looked up once in it."""
    if body.as_of is None:
        return datetime.now(UTC).replace(microsecond=0)
    with faults_at("/as_of"):
        return parse_as_of(body.as_of).time


def _one_of_two() -> Problem:
    return invalid("", "exactly one of 'input' and 'request' is needed")


def _tokens(text: str, counter: Counter, tokenizer: Tokenizer) -> tuple[Count, list[int] | None, list[bytes]]:
    """The count of a text, the ids of its tokens where they have any, and their bytes."""
    if not isinstance(tokenizer, Encoder):
        return counter.count(text), None, tokenizer.pieces(well_formed(text)[0])
    text, repaired = well_formed(text)
    ids = tokenizer.encode(text)
    of_any = counter.count("")  # what is said of every text, so that this one is not tokenized twice
    warnings = (*of_any.warnings, "lone_surrogate") if repaired else of_any.warnings
    return of_any._replace(tokens=len(ids), warnings=warnings), ids, [tokenizer.decode((token,)) for token in ids]


def _shown(ids: Sequence[int] | None, pieces: Sequence[bytes]) -> Iterator[dict[str, Any]]:
    """Each token with its id and span. A character that tokens share belongs to each of them."""
    begun = at = 0  # characters begun, bytes passed
    for number, piece in enumerate(pieces):
        inside = bool(piece) and piece[0] & 0xC0 == 0x80
        start = begun - 1 if inside else begun
        begun += len(piece) if piece.isascii() else sum(byte & 0xC0 != 0x80 for byte in piece)
        try:
            shown: str | None = piece.decode()
        except UnicodeDecodeError:
            shown = None
        yield {
            "id": None if ids is None else ids[number],
            "text": shown,
            "start": start,
            "end": begun,
            "byte_start": at,
            "byte_end": at + len(piece),
        }
        at += len(piece)
