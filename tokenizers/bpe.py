"""The home-grown tokenizer: train one, keep it in a file, count with it as ``bpe:PATH``.

>>> tokenizer = train(["low lower lowest"], merges=2, pretokenizer="workbook")
>>> tokenizer.encode("slow")
[115, 257]
>>> tokenizer.decode([115, 257])
'slow'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import bpe_artefact
from .bpe_artefact import Artefact
from .bpe_corpus import Corpus, Document, count_corpus, texts
from .bpe_encoding import BpeTokenizer, Encoded, IncrementalDecoder
from .bpe_training import BYTES, MAX_MERGES, Alphabet, Learned, learn, merges_for
from .counter import Count
from .errors import TokengapError
from .pretokenize import DEFAULT_PRETOKENIZER, Pretokenizer, custom, pretokenizer

__all__ = [
    "Artefact",
    "BpeCounter",
    "BpeTokenizer",
    "Encoded",
    "IncrementalDecoder",
    "Options",
    "custom",
    "from_spec",
    "learn_from",
    "load",
    "save",
    "train",
]


@dataclass(frozen=True, slots=True)
class Options:
    """How to train. Either ``merges`` or ``vocab_size`` says how far.

    ``vocab_size`` is an upper bound for everything that has an id: alphabet, merges, special tokens, and the
    unknown character of the alphabet ``characters``.
    """

    merges: int | None = None
    vocab_size: int | None = None
    pretokenizer: Pretokenizer = field(default_factory=lambda: pretokenizer(DEFAULT_PRETOKENIZER))
    alphabet: Alphabet = "bytes"
    min_frequency: int = 1
    special_tokens: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._check_types()
        if (self.merges is None) == (self.vocab_size is None):
            raise TokengapError("say how far to train: either a number of merges or a vocabulary size")
        if self.merges is not None and not 0 <= self.merges <= MAX_MERGES:
            raise TokengapError(f"the number of merges must be from 0 to {MAX_MERGES:,}, not {self.merges:,}")
        if self.vocab_size is not None and self.vocab_size > MAX_MERGES:
            raise TokengapError(f"a vocabulary can have at most {MAX_MERGES:,} tokens, not {self.vocab_size:,}")
        if self.min_frequency < 1:
            raise TokengapError(f"the least frequency of a pair must be at least 1, not {self.min_frequency}")
        if self.alphabet not in ("bytes", "characters"):
            raise TokengapError(f"there is no alphabet {self.alphabet!r}: choose bytes or characters")
        names = self.special_tokens
        if not all(names) or len(set(names)) < len(names) or not all(map(bpe_artefact.is_well_formed, names)):
            raise TokengapError("special tokens need different names that are not empty and are valid Unicode")
        if self.alphabet == "bytes":
            self.most_merges(BYTES)  # what cannot work is refused before anything is read

    def _check_types(self) -> None:
        for number in (self.merges, self.vocab_size, self.min_frequency):
            if number is not None and (isinstance(number, bool) or not isinstance(number, int)):
                raise TokengapError(f"merges, vocabulary and frequency are whole numbers, not {number!r:.40}")
        if isinstance(self.special_tokens, str) or not all(isinstance(name, str) for name in self.special_tokens):
            raise TokengapError(f"special tokens are given as a list of names, not {self.special_tokens!r:.40}")

    def most_merges(self, alphabet_size: int) -> int:
        """How many merges these options allow. Raises TokengapError for a vocabulary below the alphabet."""
        if self.vocab_size is None:
            return self.merges or 0
        unknown = self.alphabet == "characters"
        what = f"the {alphabet_size:,} {self.alphabet} of the alphabet"
        what += ", the unknown character" if unknown else ""
        what += " and the special tokens" if self.special_tokens else ""
        return merges_for(self.vocab_size, alphabet_size + unknown + len(self.special_tokens), what)


def train(
    documents: Iterable[str],
    *,
    merges: int | None = None,
    vocab_size: int | None = None,
    pretokenizer: str | Pretokenizer = DEFAULT_PRETOKENIZER,
    alphabet: Alphabet = "bytes",
    min_frequency: int = 1,
    special_tokens: Sequence[str] = (),
    workers: int = 1,
) -> BpeTokenizer:
    """Train a tokenizer on texts held in memory; ``learn_from`` takes files and shows progress.

    Raises TokengapError for options that cannot be met.
    """
    rule = _rule(pretokenizer)
    if isinstance(documents, str):
        documents = [documents]
    if not isinstance(documents, Iterable) or isinstance(documents, (bytes, bytearray)):
        raise TokengapError(f"the texts to train on must be str, not {type(documents).__name__}")
    if isinstance(special_tokens, str):
        raise TokengapError(f"special tokens are given as a list of names, not {special_tokens!r:.40}")
    options = Options(merges, vocab_size, rule, alphabet, min_frequency, tuple(special_tokens))
    return BpeTokenizer(learn_from(texts(documents), options, workers=workers)[0])


def _rule(rule: str | Pretokenizer) -> Pretokenizer:
    if not isinstance(rule, str | Pretokenizer):
        raise TokengapError(f"a split rule is a name or a Pretokenizer, not {type(rule).__name__}")
    return pretokenizer(rule) if isinstance(rule, str) else rule


def learn_from(
    documents: Iterable[Document],
    options: Options,
    *,
    workers: int = 1,
    reading: Callable[[int], None] | None = None,
    merging: Callable[[int, int], None] | None = None,
) -> tuple[Artefact, Learned]:
    """Train on documents that are read in pieces. See ``bpe_corpus`` for where they come from.

    ``reading`` is told the bytes read so far, ``merging`` the merges learned and those asked for. Returns
    the artefact, and what was learned with the tokens of the training text after each merge.
    """
    corpus = count_corpus(documents, options.pretokenizer, workers=workers, progress=reading)
    alphabet_size = len(set().union(*corpus.chunks)) if options.alphabet == "characters" else BYTES
    most = options.most_merges(alphabet_size)
    learned = learn(
        corpus.chunks, most, alphabet=options.alphabet, min_frequency=options.min_frequency, progress=merging
    )
    first = alphabet_size + len(learned.merges) + (options.alphabet == "characters")
    artefact = Artefact(
        alphabet=options.alphabet,
        pretokenizer=options.pretokenizer,
        symbols=learned.symbols,
        merges=learned.merges,
        special_tokens={name: first + number for number, name in enumerate(options.special_tokens)},
        training=_provenance(options, corpus, learned),
    )
    bpe_artefact.check(artefact)
    return artefact, learned


def _provenance(options: Options, corpus: Corpus, learned: Learned) -> dict[str, Any]:
    from importlib.metadata import version

    return {
        "corpus": {"sha256": corpus.sha256, "bytes": corpus.bytes, "documents": corpus.documents},
        "chunks": sum(corpus.chunks.values()),
        "distinct_chunks": len(corpus.chunks),
        "tokens": learned.tokens[-1],
        "merges": options.merges,
        "vocab_size": options.vocab_size,
        "min_frequency": options.min_frequency,
        "warnings": ["lone_surrogate"] if corpus.repaired else [],
        "tokengap": version("tokengap"),
    }


def save(tokenizer: BpeTokenizer, path: str | Path) -> None:
    """Keep a tokenizer in a file. Raises TokengapError where it cannot be written."""
    bpe_artefact.save(tokenizer.artefact, Path(path))


def load(path: str | Path) -> BpeTokenizer:
    """Read a tokenizer from a file, checking it. Raises TokengapError."""
    return BpeTokenizer(bpe_artefact.load(Path(path)))


@dataclass(frozen=True, slots=True)
class BpeCounter:
    """The exact count of one trained tokenizer. Text is data: special tokens in it are plain text."""

    name: str
    tokenizer: BpeTokenizer

    def count(self, text: str) -> Count:
        from .text import well_formed

        text, repaired = well_formed(text)
        unknown = self.tokenizer.unknown_characters(text)
        applies = {"lone_surrogate": repaired, "unknown_characters": unknown}
        return Count(
            tokens=self.tokenizer.count(text),
            tokenizer=self.name,
            fingerprint=self.tokenizer.artefact.fingerprint,
            kind="exact",
            warnings=tuple(warning for warning, found in applies.items() if found),
        )

    @property
    def adds_up(self) -> bool:
        return self.tokenizer.artefact.pretokenizer.can_be_cut


class BpePieces(BpeCounter):
    """The same for a tokenizer whose tokens join to the text: it can show them, and texts can be cut by them."""

    @property
    def splits_as_published(self) -> bool:
        return self.tokenizer.artefact.pretokenizer.name in ("gpt2", "cl100k", "o200k")

    @property
    def longest_token(self) -> int:
        return self.tokenizer.longest_token

    def pieces(self, text: str) -> list[bytes]:
        """The bytes of each token: joined, the UTF-8 of the text."""
        return [self.tokenizer.token_bytes(number) for number in self.tokenizer.encode(text)]


def from_spec(spec: str) -> BpeCounter:
    """Build the counter of ``bpe:PATH``."""
    path = spec.partition(":")[2]
    if not path:
        raise TokengapError("the counter 'bpe' needs the file of a trained tokenizer, such as bpe:town.bpe")
    tokenizer = load(path)
    lossless = tokenizer.artefact.alphabet == "bytes" and not tokenizer.artefact.pretokenizer.lossy
    return (BpePieces if lossless else BpeCounter)(spec, tokenizer)
