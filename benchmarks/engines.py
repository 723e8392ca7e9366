"""The engines that ``count.py`` compares: from an encoding's name to a function that counts a text.

Each is given what it needs from the rank files that tokengap ships; none is let near the network. Special
tokens are text to all of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path

from texts import FOLDER

from tokengap.tokenizers.encodings import ENCODINGS, load_ranks

Count = Callable[[str], int]

GIGATOKEN_SCHEMES = {"o200k_base": "o200k", "cl100k_base": "gpt4", "p50k_base": "gpt2", "r50k_base": "gpt2"}


def rank_file(encoding: str) -> Path:
    """The plain ``.tiktoken`` file."""
    path = FOLDER / f"{encoding}.tiktoken"
    if not path.exists():
        from tokengap.tokenizers.fast_engine_build import rank_file as written

        path.write_bytes(written(load_ranks(ENCODINGS[encoding].ranks)))
    return path


def tokenizer_json(encoding: str) -> Path:
    """The encoding as a HuggingFace ``tokenizer.json``, which takes minutes to write the first time."""
    path = FOLDER / f"{encoding}.json"
    if not path.exists():
        from tokengap.tokenizers.bpe_exchange import from_ranks, to_huggingface
        from tokengap.tokenizers.pretokenize import pretokenizer

        rule = pretokenizer({"o200k_base": "o200k", "cl100k_base": "cl100k"}.get(encoding, "gpt2"))
        path.write_bytes(to_huggingface(from_ranks(load_ranks(ENCODINGS[encoding].ranks), rule, {})))
    return path


def tokengap_fast(encoding: str) -> Count:
    from tokengap.tokenizers import fast_engine
    from tokengap.tokenizers.registry import get_counter

    state = fast_engine.prepare(ENCODINGS[encoding])
    if not state.used:
        raise SystemExit(f"the engine of tokengap[fast] is not used: {state.reason}")
    counter = get_counter(encoding)
    return lambda text: counter.count(text).tokens


def tokengap(encoding: str) -> Count:
    """As if the extra were not installed."""
    from tokengap.tokenizers import fast_engine
    from tokengap.tokenizers.registry import get_counter

    fast_engine.WORTH = sys.maxsize
    counter = get_counter(encoding)
    return lambda text: counter.count(text).tokens


def tiktoken(encoding: str) -> Count:
    import tiktoken

    known = ENCODINGS[encoding]
    ranks, special = load_ranks(known.ranks), dict(known.special_tokens)
    built = tiktoken.Encoding(encoding, pat_str=known.pattern, mergeable_ranks=ranks, special_tokens=special)
    return lambda text: len(built.encode_ordinary(text))


def gigatoken(encoding: str) -> Count:
    built = import_module("gigatoken").Tokenizer.from_tiktoken(
        rank_file(encoding), GIGATOKEN_SCHEMES[encoding], special_tokens={}
    )
    encode = built.backend.encode
    return lambda text: len(encode(text))


def toktok(encoding: str) -> Count:
    # batch_count, which it documents, starts threads: 20 microseconds that a single text need not pay
    count: Count = import_module("toktok")._encoding(encoding).count
    return count


def fastokens(encoding: str) -> Count:
    built = import_module("fastokens").Tokenizer.from_tiktoken(str(rank_file(encoding)), encoding=encoding)
    return lambda text: len(built.encode_ordinary(text))


def bpe_openai(encoding: str) -> Count:
    built = import_module("bpe_openai._bindings").tokenizer_for_encoding(encoding)  # its Python layer cannot count
    return lambda text: int(built.count(text))


def huggingface(encoding: str) -> Count:
    from tokenizers import Tokenizer

    built = Tokenizer.from_file(str(tokenizer_json(encoding)))
    return lambda text: len(built.encode(text))


ENGINES: Mapping[str, Callable[[str], Count]] = {
    "tiktoken": tiktoken,
    "tokengap": tokengap,
    "[fast]": tokengap_fast,
    "gigatoken": gigatoken,
    "toktok": toktok,
    "fastokens": fastokens,
    "bpe-openai": bpe_openai,
    "HF": huggingface,
}

PACKAGES = {"[fast]": "tokengap", "toktok": "toktok-rs", "HF": "tokenizers"}
