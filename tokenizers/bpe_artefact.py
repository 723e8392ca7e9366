"""A trained tokenizer as one file: everything that decides which ids a text gets, and where it came from.

The file is JSON: readable, and a difference between two versions shows in any diff. Loading checks every
field, the fingerprint and a checksum of the whole, so that a damaged or edited file is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from .bpe_training import BYTES, Alphabet, Merge
from .encodings import fingerprint
from .errors import TokengapError
from .files import write_atomically
from .pretokenize import Pretokenizer, restored
from .text import well_formed

FORMAT = "tokengap-bpe"
VERSION = 1
MAX_VOCABULARY_BYTES = 1 << 30
MAX_ID = 2**32 - 1
"""tiktoken and HuggingFace keep ids in 32 bits."""
UNKNOWN = "<unk>"
"""How the token of a character outside the alphabet ``characters`` is shown. It decodes to U+FFFD."""


@dataclass(frozen=True)
class Artefact:
    """A byte-pair encoding. Of ``merges`` and ``ranks`` only one is in use.

    Ids count the symbols of the alphabet first, then the merges in the order they were learned; for the
    alphabet ``characters`` one more is the unknown character's. ``ids`` renumbers symbols and merges, and
    ``extra`` adds tokens that no merge makes: both occur in imported tokenizers only. ``ranks`` is a
    vocabulary of the ``.tiktoken`` kind, where a token's id is its rank. ``whole_chunks``: a chunk that is
    itself a token is encoded as that token, without asking the merges.
    """

    alphabet: Alphabet
    pretokenizer: Pretokenizer
    symbols: tuple[str, ...] = field(default=(), repr=False)
    merges: tuple[Merge, ...] = field(default=(), repr=False)
    special_tokens: Mapping[str, int] = field(default_factory=dict)
    ids: tuple[int, ...] | None = field(default=None, repr=False)
    extra: Mapping[bytes, int] = field(default_factory=dict, repr=False)
    ranks: Mapping[bytes, int] | None = field(default=None, repr=False)
    whole_chunks: bool = False
    training: Mapping[str, Any] = field(default_factory=dict)

    @property
    def base_size(self) -> int:
        return BYTES if self.alphabet == "bytes" else len(self.symbols)

    @property
    def unknown_id(self) -> int | None:
        return self.base_size + len(self.merges) if self.alphabet == "characters" else None

    @property
    def vocabulary_size(self) -> int:
        """How many ids there are, special tokens and the unknown character included."""
        unknown = [self.unknown_id] if self.unknown_id is not None else []
        return len({*self.vocabulary, *unknown, *self.special_tokens.values()})

    @cached_property
    def vocabulary(self) -> dict[int, bytes]:
        """The bytes of every token that text can become, by id."""
        if self.ranks is not None:
            return {rank: token for token, rank in self.ranks.items()}
        tokens = [bytes([value]) for value in range(BYTES)] if self.alphabet == "bytes" else []
        tokens += [symbol.encode() for symbol in self.symbols]
        for merge in self.merges:
            tokens.append(tokens[merge.left] + tokens[merge.right])
        numbers = range(len(tokens)) if self.ids is None else self.ids
        return dict(zip(numbers, tokens, strict=True)) | {number: token for token, number in self.extra.items()}

    @cached_property
    def fingerprint(self) -> str:
        """Changes whenever any id could: see ``encodings.fingerprint``."""
        rule: list[object] = [self.alphabet, self.whole_chunks, self.symbols, self.ids, _hex(self.extra)]
        rule += [_hex(self.ranks), [(merge.left, merge.right) for merge in self.merges]]
        vocabulary = sha256(json.dumps(rule).encode()).hexdigest()
        kind = "lossy " if self.pretokenizer.lossy else ""
        return fingerprint(vocabulary, kind + self.pretokenizer.pattern, self.special_tokens)


def _hex(tokens: Mapping[bytes, int] | None) -> list[tuple[str, int]] | None:
    return None if tokens is None else sorted((token.hex(), number) for token, number in tokens.items())


def save(artefact: Artefact, path: Path) -> None:
    """Write the file in full or not at all. Raises TokengapError where it cannot be written."""
    write_atomically(path, dumps(artefact))


def dumps(artefact: Artefact) -> bytes:
    """The content of the file, the same for the same artefact."""
    rule = artefact.pretokenizer
    fields: dict[str, object] = {
        "format": FORMAT,
        "version": VERSION,
        "fingerprint": artefact.fingerprint,
        "alphabet": artefact.alphabet,
        "pretokenizer": {"name": rule.name, "unicode": rule.unicode_version, "pattern": rule.pattern},
        "symbols": "".join(artefact.symbols),
        "special_tokens": dict(artefact.special_tokens),
        "ids": artefact.ids,
        "extra": _hex(artefact.extra),
        "whole_chunks": artefact.whole_chunks,
        "ranks": _hex(artefact.ranks),
        "training": dict(artefact.training),
    }
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in fields.items()]
    rows = ",\n".join(f"[{merge.left},{merge.right},{merge.count},{merge.tied}]" for merge in artefact.merges)
    lines.append(f'"merges": [\n{rows}\n]')
    body = ",\n".join(lines)
    return f'{{\n{body},\n"checksum": "{_checksum(body)}"\n}}\n'.encode()


def _checksum(body: str) -> str:
    return f"sha256:{sha256(body.encode()).hexdigest()}"


def load(path: Path) -> Artefact:
    """Read an artefact. Raises TokengapError for a file that is unreadable, damaged or of another version."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise TokengapError(f"cannot read the tokenizer {path}: {error.strerror or error}") from error
    try:
        return loads(content)
    except TokengapError as error:
        raise TokengapError(f"{path} is not a usable tokenizer: {error}") from error


def loads(content: bytes) -> Artefact:
    """Read the content of an artefact's file, checking all of it."""
    try:
        text = content.decode()
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TokengapError("it is not JSON in UTF-8, or only a part of it; train or fetch it again") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise TokengapError(f"it is not a {FORMAT} file; 'tokengap bpe import' reads those of other tools")
    if document.get("version") != VERSION:
        advice = "use a tokengap of the version that wrote it, or train again"
        raise TokengapError(f"it is in version {document.get('version')!r} of the format, not {VERSION}; {advice}")
    body, found, _ = text.removeprefix("{\n").rpartition(',\n"checksum": ')
    if not found or document.get("checksum") != _checksum(body):
        raise TokengapError("it was changed after it was written (wrong checksum); train or fetch it again")
    try:
        artefact = _artefact(document)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        what = str(error) if isinstance(error, TokengapError) else f"{type(error).__name__}: {error}"
        raise TokengapError(f"its content does not fit together ({what}); train or fetch it again") from error
    if document.get("fingerprint") != artefact.fingerprint:
        raise TokengapError("its fingerprint is not that of its content; train or fetch it again")
    return artefact


def _artefact(document: Mapping[str, Any]) -> Artefact:
    rule = document["pretokenizer"]
    artefact = Artefact(
        alphabet=document["alphabet"],
        pretokenizer=restored(rule["name"], rule["pattern"], rule["unicode"]),
        symbols=tuple(document["symbols"]),
        merges=tuple(Merge(*map(_natural, row)) for row in document["merges"]),
        special_tokens={name: _natural(number) for name, number in document["special_tokens"].items()},
        ids=None if document["ids"] is None else tuple(map(_natural, document["ids"])),
        extra=_from_hex(document["extra"]),
        ranks=None if document["ranks"] is None else _from_hex(document["ranks"]),
        whole_chunks=document["whole_chunks"] is True,
        training=dict(document["training"]),
    )
    check(artefact)
    return artefact


def _natural(value: object) -> int:
    if type(value) is not int or value < 0:
        raise TokengapError(f"{value!r} is not a whole number from 0 on")
    return value


def _from_hex(rows: list[tuple[str, int]]) -> dict[bytes, int]:
    return {bytes.fromhex(token): _natural(number) for token, number in rows}


def check(artefact: Artefact) -> None:
    """Refuse an artefact whose parts contradict each other. Raises TokengapError."""
    if artefact.alphabet not in ("bytes", "characters"):
        raise TokengapError(f"there is no alphabet {artefact.alphabet!r}")
    if artefact.alphabet == "bytes" and artefact.symbols:
        raise TokengapError("the alphabet of bytes has no symbols of its own")
    if list(artefact.symbols) != sorted(set(artefact.symbols)):
        raise TokengapError("the symbols are not distinct characters in order")
    _check_merges(artefact)
    if artefact.ranks is not None and (artefact.merges or artefact.ids is not None or artefact.extra):
        raise TokengapError("it has both ranks and merges")
    _check_ids(artefact)
    names = artefact.special_tokens
    if not all(names):
        raise TokengapError("a special token has no name")
    for name, number in names.items():
        if not 0 <= number <= MAX_ID:
            raise TokengapError(f"the special token {name!r} has the id {number}: ids are from 0 to {MAX_ID}")
    if not all(map(is_well_formed, (*names, *artefact.symbols))):
        raise TokengapError("a name or a symbol in it is not valid Unicode")


def _check_merges(artefact: Artefact) -> None:
    for number, merge in enumerate(artefact.merges, artefact.base_size):
        if max(merge.left, merge.right) >= number:
            raise TokengapError(f"merge {number} joins a token that does not exist yet")
    if _vocabulary_bytes(artefact) > MAX_VOCABULARY_BYTES:
        raise TokengapError(
            "its tokens together are longer than a gigabyte; train with fewer merges, or split the text"
        )
    if len({(merge.left, merge.right) for merge in artefact.merges}) < len(artefact.merges):
        raise TokengapError("a pair is merged twice")


def is_well_formed(text: str) -> bool:
    """Whether a text is valid Unicode as it stands, with no surrogates in it."""
    return well_formed(text)[0] == text


def _vocabulary_bytes(artefact: Artefact) -> int:
    """The length of all tokens that merges make: a few dozen could otherwise double into any memory."""
    lengths = [4] * artefact.base_size
    for merge in artefact.merges:
        lengths.append(lengths[merge.left] + lengths[merge.right])
        if lengths[-1] > MAX_VOCABULARY_BYTES:
            break
    return sum(lengths)


def _check_ids(artefact: Artefact) -> None:
    numbers = list(artefact.ranks.values()) if artefact.ranks is not None else list(artefact.ids or ())
    if artefact.ids is not None and len(artefact.ids) != artefact.base_size + len(artefact.merges):
        raise TokengapError("the number of ids is not that of tokens")
    numbers += artefact.extra.values()
    if artefact.ids is None and artefact.ranks is None:
        numbers += range(artefact.base_size + len(artefact.merges))
    if artefact.unknown_id is not None:
        numbers.append(artefact.unknown_id)
    numbers += artefact.special_tokens.values()
    if len(set(numbers)) < len(numbers):
        raise TokengapError("two tokens have the same id")
    if artefact.ranks is not None and any(bytes([value]) not in artefact.ranks for value in range(BYTES)):
        raise TokengapError("the ranks lack some of the 256 bytes")
    if any(number < 0 for number in numbers):
        raise TokengapError("an id is below 0")
