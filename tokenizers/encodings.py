"""OpenAI's public encodings as data: rank file, split pattern, special tokens.

Patterns, special tokens and sha256 sums are those of tiktoken 0.14.0 (``tiktoken_ext/openai_public.py``,
MIT); the rank files are OpenAI's own, compressed. A test compares each with the installed tiktoken.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .vocabulary import File, Ranks, Vocabulary

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


class Encoding(NamedTuple):
    """A byte-level BPE that its maker published: everything that decides which ids a text gets."""

    name: str
    ranks: Ranks
    pattern: str
    special_tokens: Mapping[str, int]
    fingerprint: str
    """What ``fingerprint`` gives, which a test holds it to: to compute it would take longer than to count."""


def _harmony_tokens() -> dict[str, int]:
    reserved = {f"<|reserved_{i}|>": i for i in range(200000, 201088) if i not in _HARMONY_NAMES}
    # <|endofprompt|> keeps the id it has in o200k_base, which is reserved here as well.
    return {f"<|{name}|>": i for i, name in _HARMONY_NAMES.items()} | {"<|endofprompt|>": 200018} | reserved


# Each name with the sha256 of the rank file and of what tools/compile_vocabularies.py makes of it.
_P50K_FILE = File(
    "p50k_base",
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    "0f05b9c9a1830766add1e182dfaa337420bb68f7544e7a1fe81bd88c9e2dbdb7",
)
_CL100K_FILE = File(
    "cl100k_base",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "046cff4ade28bb76cc6b508241e1ed8131e2bab47499957b253a2be78aa7d7b9",
)
_O200K_FILE = File(
    "o200k_base",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "685fda745c06f9bbabccee5c471001d1b2ce6c74394cdf5de7db9c7194ff6e37",
)
_R50K = Ranks("r50k_base", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930", _P50K_FILE, 50256)
_P50K = Ranks("p50k_base", _P50K_FILE.made_from, _P50K_FILE, 50281)
_CL100K = Ranks("cl100k_base", _CL100K_FILE.made_from, _CL100K_FILE, 100256)
_O200K = Ranks("o200k_base", _O200K_FILE.made_from, _O200K_FILE, 199998)

ENCODINGS: Mapping[str, Encoding] = {
    encoding.name: encoding
    for encoding in (
        Encoding(
            "o200k_base",
            _O200K,
            O200K_PATTERN,
            {_END_OF_TEXT: 199999, "<|endofprompt|>": 200018},
            "sha256:63ed9ee546401fa84f5fdbdd41bb952e1877c43800ccaa1d52c968d9e1383497",
        ),
        Encoding(
            "o200k_harmony",
            _O200K,
            O200K_PATTERN,
            _harmony_tokens(),
            "sha256:4abacc2a3d3f9453795658bc7a2a12c7e2743505d02511a3483182d2c8447011",
        ),
        Encoding(
            "cl100k_base",
            _CL100K,
            CL100K_PATTERN,
            dict(zip((_END_OF_TEXT, *_FILL_IN_THE_MIDDLE), range(100257, 100261), strict=True))
            | {"<|endofprompt|>": 100276},
            "sha256:d94f07e9154b3081f40430b7029e184d1cde7dce3f1bc1c1b916008c66878f1b",
        ),
        Encoding(
            "p50k_base",
            _P50K,
            R50K_PATTERN,
            {_END_OF_TEXT: 50256},
            "sha256:7779269da26e557974f04c33f98b77abeae95a2f005aaed3d9a9733dc494a1b8",
        ),
        Encoding(
            "p50k_edit",
            _P50K,
            R50K_PATTERN,
            {_END_OF_TEXT: 50256} | dict(zip(_FILL_IN_THE_MIDDLE, range(50281, 50284), strict=True)),
            "sha256:6f30118418d001a023dc5aa6bf6ed75a23800598283f425cb8653d2ac194b1f6",
        ),
        Encoding(
            "r50k_base",
            _R50K,
            R50K_PATTERN,
            {_END_OF_TEXT: 50256},
            "sha256:4faad6bba5a4b68d68af56f87ebd1e0bd73a2eca6dd0730f099b8f508fd950b3",
        ),
    )
}

ALIASES: Mapping[str, str] = {"gpt2": "r50k_base"}
"""Other names of the same encoding. GPT-2's own two files hold r50k_base's vocabulary."""


def fingerprint(vocabulary_sha256: str, pattern: str, special_tokens: Mapping[str, int]) -> str:
    """Identify a tokenizer: it changes whenever any id could.

    ``vocabulary_sha256`` is that of the rank file in its plain form: a line ``base64 rank`` a token.
    """
    import json
    from hashlib import sha256

    identity = json.dumps([vocabulary_sha256, pattern, sorted(special_tokens.items())], separators=(",", ":"))
    return f"sha256:{sha256(identity.encode()).hexdigest()}"


def load_ranks(ranks: Ranks) -> dict[bytes, int]:
    """The tokens of a rank file with their ranks, from the compiled file. Raises TokengapError if it is damaged."""
    return Vocabulary(ranks).load()


def read_ranks(ranks: Ranks) -> bytes:
    """A rank file in its plain form, as published."""
    from binascii import b2a_base64

    tokens = load_ranks(ranks).items()
    return b"".join(b"%b %d\n" % (b2a_base64(token, newline=False), rank) for token, rank in tokens)
