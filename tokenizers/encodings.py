"""OpenAI's public encodings as data: rank file, split pattern, special tokens.

Patterns, special tokens and sha256 sums are those of tiktoken 0.14.0 (``tiktoken_ext/openai_public.py``,
MIT); the rank files are OpenAI's own, compressed. A test compares each with the installed tiktoken.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from .errors import TokengapError

_DATA = Path(__file__).with_name("data")

R50K_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K_PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _CONTRACTION + "|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _CONTRACTION + "|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

_END_OF_TEXT = "<|endoftext|>"
_FILL_IN_THE_MIDDLE = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
_HARMONY_NAMES = {
    199998: "startoftext",
    199999: "endoftext",
    200002: "return",
    200003: "constrain",
    200005: "channel",
    200006: "start",
    200007: "end",
    200008: "message",
    200012: "call",
}


class Ranks(NamedTuple):
    """A rank file: its name in ``data/`` without the endings, and the sha256 of its plain text."""

    name: str
    sha256: str


class Encoding(NamedTuple):
    """A byte-level BPE that its maker published: everything that decides which ids a text gets."""

    name: str
    ranks: Ranks
    pattern: str
    special_tokens: Mapping[str, int]

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.ranks.sha256, self.pattern, self.special_tokens)


def _harmony_tokens() -> dict[str, int]:
    reserved = {f"<|reserved_{i}|>": i for i in range(200000, 201088) if i not in _HARMONY_NAMES}
    # <|endofprompt|> keeps the id it has in o200k_base, which is reserved here as well.
    return {f"<|{name}|>": i for i, name in _HARMONY_NAMES.items()} | {"<|endofprompt|>": 200018} | reserved


_R50K = Ranks("r50k_base", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930")
_P50K = Ranks("p50k_base", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069")
_CL100K = Ranks("cl100k_base", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7")
_O200K = Ranks("o200k_base", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d")

ENCODINGS: Mapping[str, Encoding] = {
    encoding.name: encoding
    for encoding in (
        Encoding("o200k_base", _O200K, O200K_PATTERN, {_END_OF_TEXT: 199999, "<|endofprompt|>": 200018}),
        Encoding("o200k_harmony", _O200K, O200K_PATTERN, _harmony_tokens()),
        Encoding(
            "cl100k_base",
            _CL100K,
            CL100K_PATTERN,
            dict(zip((_END_OF_TEXT, *_FILL_IN_THE_MIDDLE), range(100257, 100261), strict=True))
            | {"<|endofprompt|>": 100276},
        ),
        Encoding("p50k_base", _P50K, R50K_PATTERN, {_END_OF_TEXT: 50256}),
        Encoding(
            "p50k_edit",
            _P50K,
            R50K_PATTERN,
            {_END_OF_TEXT: 50256} | dict(zip(_FILL_IN_THE_MIDDLE, range(50281, 50284), strict=True)),
        ),
        Encoding("r50k_base", _R50K, R50K_PATTERN, {_END_OF_TEXT: 50256}),
    )
}

ALIASES: Mapping[str, str] = {"gpt2": "r50k_base"}
"""Other names of the same encoding. GPT-2's own two files hold r50k_base's vocabulary."""


def fingerprint(vocabulary_sha256: str, pattern: str, special_tokens: Mapping[str, int]) -> str:
    """Identify a tokenizer: it changes whenever any id could.

    ``vocabulary_sha256`` is that of the rank file in its plain form: a line ``base64 rank`` a token.
    """
    import json

    identity = json.dumps([vocabulary_sha256, pattern, sorted(special_tokens.items())], separators=(",", ":"))
    return f"sha256:{sha256(identity.encode()).hexdigest()}"


def load_ranks(ranks: Ranks) -> dict[bytes, int]:
    """Read a shipped rank file, refusing one whose sha256 is not the published one."""
    import zlib
    from binascii import a2b_base64

    path = _DATA / f"{ranks.name}.tiktoken.gz"
    try:
        plain = zlib.decompress(path.read_bytes(), wbits=zlib.MAX_WBITS | 16)
    except (OSError, zlib.error) as error:
        raise TokengapError(f"the rank file {path.name} cannot be read; reinstall tokengap") from error
    if sha256(plain).hexdigest() != ranks.sha256:
        raise TokengapError(f"the rank file {path.name} is damaged (wrong sha256); reinstall tokengap")
    fields = plain.split()
    tokens = map(a2b_base64, fields[::2])
    if int(fields[-1]) == len(fields) // 2 - 1:  # every rank from 0 on, in order: nothing to parse
        return dict(zip(tokens, range(len(fields) // 2), strict=True))
    return dict(zip(tokens, map(int, fields[1::2]), strict=True))
