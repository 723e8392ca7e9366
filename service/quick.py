"""``POST /v1/count`` for one text under counters without a price: most of what a service is asked, and most often.

The general path takes as long for a short prompt as counting it does. Here the answer is made once for a set of
counters, by the general path itself, with gaps for what depends on the text. Whatever is not as simple as that is
left to the general path, so that there is one place for everything that can be wrong with a body.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..estimators.contract import report_json
from ..estimators.counting import Text, count
from ..tokenizers.counter import Count, Counter
from ..tokenizers.encodings import ALIASES, ENCODINGS
from ..tokenizers.registry import DEFAULT_COUNTER, get_counter
from ..tokenizers.text import TextSize, measure
from .operations import Done, encode

MOST_FORMS = 64
"""Sets of counters whose answer is kept; beyond, they are made anew."""

_BY_DEFAULT = [DEFAULT_COUNTER]
_GAPS = dict.fromkeys(("tokens", "words", "chars", "bytes"), "\0d") | dict.fromkeys(
    ("tokens_per_word", "bytes_per_token"), "\0b"
)
"""The members that the text decides, and what stands for each until the template is made."""


class Form(NamedTuple):
    """An answer with gaps, and the counters that fill them."""

    template: bytes
    counters: tuple[Counter, ...]


class QuickCount:
    """Answers the simplest bodies, of which each counter's text has at most ``most_chars`` in all."""

    def __init__(self, most_chars: int) -> None:
        self._most_chars = most_chars
        self._forms: dict[tuple[str, ...], Form] = {}

    def learn(self, specs: tuple[str, ...]) -> None:
        """Keep the form of the answer under counters that the general path has counted with, all of them exact."""
        if specs in self._forms or not all(spec in ENCODINGS or spec in ALIASES for spec in specs):
            return
        if len(self._forms) >= MOST_FORMS:
            self._forms.clear()
        self._forms[specs] = Form(_template(specs), tuple(map(get_counter, specs)))

    def answer(self, body: object) -> Done | None:
        """The answer to a body as JSON read it; ``None`` where the general path is to give it."""
        if not isinstance(body, dict) or len(body) != (2 if "counters" in body else 1):
            return None
        text, specs = body.get("input"), body.get("counters", _BY_DEFAULT)
        if not isinstance(text, str) or not isinstance(specs, list) or not all(isinstance(spec, str) for spec in specs):
            return None
        form = self._forms.get(tuple(specs))
        if form is None or len(text) * len(form.counters) > self._most_chars:
            return None
        counts = [counter.count(text) for counter in form.counters]
        if any(found.warnings for found in counts):
            return None
        return Done(form.template % _gaps(measure(text), counts), counted=tuple(counts))


def _gaps(size: TextSize, counts: Sequence[Count]) -> tuple[object, ...]:
    """What the template leaves open, in its order."""
    words, chars, length = size
    gaps: list[object] = []
    for tokens, *_ in counts:
        gaps += (tokens, words, chars, length, _ratio(tokens, words), _ratio(length, tokens))
    for tokens, *_ in counts:
        gaps += (tokens, words, chars, length)
    return tuple(gaps)


def _ratio(part: int, whole: int) -> bytes:
    return b"%r" % (part / whole) if whole else b"null"


def _template(specs: tuple[str, ...]) -> bytes:
    """The JSON of a report of one text, with a gap for printf-style formatting wherever the text decides."""
    body: dict[str, Any] = report_json(count([Text("text", "")], specs))
    for entry in (*body["results"], *body["total"]):
        entry |= {name: gap for name, gap in _GAPS.items() if name in entry}
    template = encode(body).replace(b"%", b"%%")
    for gap in set(_GAPS.values()):
        template = template.replace(encode(gap), b"%" + gap[-1].encode())
    return template
