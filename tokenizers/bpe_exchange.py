"""Tokenizers of other tools: read from and written to ``.tiktoken`` ranks and HuggingFace's ``tokenizer.json``.

Both keep byte-level byte-pair encodings only. What they could not reproduce id by id is refused.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from .bpe_artefact import Artefact, check
from .bpe_merging import merge_all, merge_short
from .bpe_training import BYTES, Merge
from .encodings import CL100K_PATTERN, O200K_PATTERN, R50K_PATTERN
from .errors import TokengapError
from .pretokenize import Pretokenizer, custom, pretokenizer
from .split_pattern import for_rust
from .split_rules import RULES

_ANY = r"[\x{0}-\x{10ffff}]"
_GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_PUBLISHED = {_GPT2_PATTERN: "gpt2", R50K_PATTERN: "gpt2", CL100K_PATTERN: "cl100k", O200K_PATTERN: "o200k"}


def tiktoken_arguments(artefact: Artefact, name: str) -> dict[str, Any]:
    """What ``tiktoken.Encoding(**...)`` takes. Raises TokengapError for what tiktoken cannot reproduce."""
    _check_exportable(artefact)
    ranks = artefact.ranks
    if ranks is None:
        tokens = _unique_tokens(artefact)
        numbers = list(artefact.ids or range(len(tokens)))
        merged = numbers[BYTES:]
        if artefact.extra or any(first >= second for first, second in pairwise(merged)):
            raise TokengapError("tiktoken merges in the order of the ids, and those of this tokenizer are in another")
        ranks = dict(zip(tokens, numbers, strict=True))
    return {
        "name": name,
        "pat_str": exported_pattern(artefact.pretokenizer),
        "mergeable_ranks": dict(ranks),
        "special_tokens": dict(artefact.special_tokens),
    }


def to_tiktoken(artefact: Artefact) -> bytes:
    """A ``.tiktoken`` file: a line of base64 and rank for every token. Pattern and special tokens are not in it."""
    ranks: dict[bytes, int] = tiktoken_arguments(artefact, "")["mergeable_ranks"]
    lines = (b"%s %d\n" % (b64encode(token), rank) for token, rank in sorted(ranks.items(), key=lambda item: item[1]))
    return b"".join(lines)


def to_huggingface(artefact: Artefact) -> bytes:
    """A ``tokenizer.json``. There, the text of a special token is always taken for the token itself."""
    _check_exportable(artefact)
    tokens, merges = _recovered(artefact.ranks) if artefact.ranks is not None else _tokens_and_merges(artefact)
    vocabulary = {_byte_level(token): number for token, number in tokens.items()}
    vocabulary |= {_byte_level(token): number for token, number in artefact.extra.items()}
    vocabulary |= artefact.special_tokens  # else they would be numbered from the end of the vocabulary on
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_added_token(name, number) for name, number in artefact.special_tokens.items()],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [_split(exported_pattern(artefact.pretokenizer)), _byte_level_step()],
        },
        "post_processor": None,
        "decoder": _byte_level_step(),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": artefact.whole_chunks,
            "vocab": vocabulary,
            "merges": [[_byte_level(left), _byte_level(right)] for left, right in merges],
        },
    }
    return json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n"


def exported_pattern(rule: Pretokenizer) -> str:
    """A split rule for the engines of other tools, which must match every character."""
    pattern = for_rust(rule.pattern)
    return f"{pattern}|(?:(?!{pattern}){_ANY})++" if rule.name == "custom" else pattern


def from_tiktoken(content: bytes, rule: Pretokenizer, special_tokens: Mapping[str, int]) -> Artefact:
    """Read a ``.tiktoken`` file; the rule and the special tokens, which it lacks, must be given."""
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        try:
            token, rank = line.split()
            value = int(rank)
            decoded = b64decode(token, validate=True)
        except ValueError as error:
            raise TokengapError(f"line {number} is not a token in base64 and its rank") from error
        if decoded in ranks or value < 0 or not decoded:
            raise TokengapError(f"line {number} has an empty or repeated token, or a negative rank")
        ranks[decoded] = value
    return from_ranks(ranks, rule, special_tokens)


def from_ranks(ranks: Mapping[bytes, int], rule: Pretokenizer, special_tokens: Mapping[str, int]) -> Artefact:
    """A vocabulary in which a token's id is its rank, encoded as tiktoken does. Raises TokengapError."""
    artefact = Artefact("bytes", rule, special_tokens=dict(special_tokens), ranks=dict(ranks), whole_chunks=True)
    check(artefact)
    return artefact


def from_huggingface(content: bytes) -> Artefact:
    """Read a ``tokenizer.json`` with a byte-level byte-pair encoding. Raises TokengapError."""
    try:
        document = json.loads(content)
        model = document["model"]
        _check_importable(document, model)
        special = {str(token["content"]): int(token["id"]) for token in document.get("added_tokens") or ()}
        vocabulary = {_raw(token): int(number) for token, number in model["vocab"].items() if token not in special}
        merges = [tuple(map(_raw, _pair(row))) for row in model["merges"]]
        rule = _imported_rule(document.get("pre_tokenizer"))
    except TokengapError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TokengapError(f"it is not a tokenizer.json ({type(error).__name__}: {error})") from error
    whole = model.get("ignore_merges") is True
    if len({left + right for left, right in merges}) < len(merges):
        artefact = Artefact("bytes", rule, special_tokens=special, ranks=vocabulary, whole_chunks=whole)
        _check_merges_are_ranks(vocabulary, merges)
    else:
        artefact = _renumbered(vocabulary, merges, rule, special, whole)
    check(artefact)
    return artefact


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TokengapError(f"cannot read {path}: {error.strerror or error}") from error


def _check_exportable(artefact: Artefact) -> None:
    if artefact.alphabet != "bytes":
        raise TokengapError("only a tokenizer over bytes can be exported; this one is over characters")
    if artefact.pretokenizer.lossy:
        raise TokengapError("a tokenizer that splits by 'words' drops the spaces, which no other tool does")


def _unique_tokens(artefact: Artefact) -> list[bytes]:
    """The tokens in the order of their merges, each of which must be what its own bytes become."""
    tokens = [bytes([value]) for value in range(BYTES)]
    for merge in artefact.merges:
        tokens.append(tokens[merge.left] + tokens[merge.right])
    table = {(merge.left, merge.right): number for number, merge in enumerate(artefact.merges, BYTES)}
    lengths = list(map(len, tokens))
    for number, token in enumerate(tokens):
        if merge_all(list(token), table.get, lengths) != [number]:
            raise TokengapError(f"the token {token!r} is not what its own bytes are merged to; no other tool has such")
    return tokens


def _tokens_and_merges(artefact: Artefact) -> tuple[dict[bytes, int], list[tuple[bytes, bytes]]]:
    tokens = _unique_tokens(artefact)
    numbers = artefact.ids or range(len(tokens))
    merges = [(tokens[merge.left], tokens[merge.right]) for merge in artefact.merges]
    return dict(zip(tokens, numbers, strict=True)), merges


def _recovered(ranks: Mapping[bytes, int]) -> tuple[dict[bytes, int], list[tuple[bytes, bytes]]]:
    """The merges behind ranks: the two tokens that each token's bytes become by the ranks before its own."""
    tokens = {rank: token for token, rank in ranks.items()}
    merges = []
    for rank, token in sorted(tokens.items()):
        parts = [ranks[token[at : at + 1]] for at in range(len(token))]

        def earlier(pair: tuple[int, int], default: int, rank: int = rank) -> int:
            found = ranks.get(tokens[pair[0]] + tokens[pair[1]], rank)
            return found if found < rank else default

        found = [tokens[part] for part in merge_short(parts, earlier)]
        if len(found) == 2:
            merges.append((found[0], found[1]))
    return dict(ranks), merges


def _byte_level_characters() -> Iterator[tuple[int, str]]:
    """The printable character by which byte-level vocabularies write each byte."""
    spare = 0x100
    for value in range(BYTES):
        if 0x21 <= value <= 0x7E or 0xA1 <= value <= 0xAC or value >= 0xAE:
            yield value, chr(value)
        else:
            yield value, chr(spare)
            spare += 1


_CHARACTER = dict(_byte_level_characters())
_BYTE = {character: value for value, character in _CHARACTER.items()}


def _byte_level(token: bytes) -> str:
    return "".join(map(_CHARACTER.__getitem__, token))


def _raw(token: str) -> bytes:
    try:
        return bytes(map(_BYTE.__getitem__, token))
    except KeyError:
        raise TokengapError(f"the token {token!r} is not written byte by byte; only byte-level BPE is read") from None


def _added_token(name: str, number: int) -> dict[str, object]:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {"id": number, "content": name, **flags}


def _split(pattern: str) -> dict[str, object]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def _byte_level_step() -> dict[str, object]:
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def _check_importable(document: Mapping[str, Any], model: Mapping[str, Any]) -> None:
    if model.get("type") != "BPE":
        raise TokengapError(f"its model is {model.get('type')!r}; only byte-level BPE is read")
    if document.get("normalizer"):
        raise TokengapError("it normalizes the text first, which tokengap does not")
    refused = ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback")
    if used := [name for name in refused if model.get(name)]:
        raise TokengapError(f"it uses {' and '.join(used)}; only plain byte-level BPE is read")


def _pair(row: str | list[str]) -> list[str]:
    parts = row.split(" ") if isinstance(row, str) else row
    if len(parts) != 2:
        raise TokengapError(f"{row!r} is not a merge of two tokens")
    return parts


def _imported_rule(step: Mapping[str, Any] | None) -> Pretokenizer:
    steps: list[Mapping[str, Any]] = (step or {}).get("pretokenizers") or [step or {}]
    if steps[-1].get("type") != "ByteLevel" or steps[-1].get("add_prefix_space"):
        raise TokengapError("its pre-tokenizer does not end in ByteLevel without a prefix space")
    if steps[-1].get("use_regex", True):
        if len(steps) == 1:
            return pretokenizer("gpt2")
    elif len(steps) == 2 and steps[0]["type"] == "Split" and steps[0]["behavior"] == "Isolated":
        return _rule_of(steps[0]["pattern"]["Regex"])
    raise TokengapError("its pre-tokenizer is neither GPT-2's nor a single isolating split by a pattern")


def _rule_of(pattern: str) -> Pretokenizer:
    for name in RULES:
        if exported_pattern(pretokenizer(name)) == pattern:
            return pretokenizer(name)
    known = _PUBLISHED.get(pattern)
    return pretokenizer(known) if known else custom(pattern, rust=True)


def _check_merges_are_ranks(vocabulary: Mapping[bytes, int], merges: list[Any]) -> None:
    """Where several merges make one token, they must be all pairs that spell it, in the order of the ids."""
    made = [vocabulary[left + right] for left, right in merges]
    listed = set(merges)
    for token in vocabulary:
        for at in range(1, len(token)):
            if token[:at] in vocabulary and token[at:] in vocabulary and (token[:at], token[at:]) not in listed:
                raise TokengapError("several of its merges make the same token, but not in the order of its ids")
    if made != sorted(made):
        raise TokengapError("several of its merges make the same token, but not in the order of its ids")


def _renumbered(
    vocabulary: Mapping[bytes, int], merges: list[Any], rule: Pretokenizer, special: dict[str, int], whole: bool
) -> Artefact:
    numbers = {bytes([value]): value for value in range(BYTES)}
    for number, (left, right) in enumerate(merges, BYTES):
        numbers[left + right] = number
    try:
        rows = tuple(Merge(numbers[left], numbers[right], 0, 0) for left, right in merges)
        ids = tuple(vocabulary[token] for token in numbers)
    except KeyError as error:
        raise TokengapError(f"its vocabulary lacks the token {error.args[0]!r} of its alphabet or merges") from None
    extra = {token: number for token, number in vocabulary.items() if token not in numbers}
    plain = ids == tuple(range(len(ids)))
    return Artefact(
        "bytes",
        rule,
        merges=rows,
        special_tokens=special,
        ids=None if plain else ids,
        extra=extra,
        whole_chunks=whole,
    )
