"""Exports that the real tiktoken and the real HuggingFace tokenizers encode alike, and imports of both."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tiktoken.load
import tokenizers as huggingface
from hypothesis import given, settings
from hypothesis import strategies as st

from tokengap.tokenizers import bpe
from tokengap.tokenizers.bpe import BpeTokenizer
from tokengap.tokenizers.bpe_exchange import (
    from_huggingface,
    from_ranks,
    from_tiktoken,
    tiktoken_arguments,
    to_huggingface,
    to_tiktoken,
)
from tokengap.tokenizers.encodings import CL100K_PATTERN, ENCODINGS, load_ranks
from tokengap.tokenizers.errors import TokengapError
from tokengap.tokenizers.pretokenize import custom, pretokenizer
from tokengap.tokenizers.split_rules import RULES

END = "<|end|>"
CORPUS = [
    "the boats aren't here; THE BOATS WEREN'T here\n" * 4,
    "aaaa aaaaa aaaaaaa baaab aba abab ababa 112 1212 1111111\n" * 3,
    "नमस्ते, naïve cafe\u0301 a\u0301\u0302 书本 😀😀 สวัสดี ﺍﻟﺴﻼﻢ שָׁלוֹם\r\n\t x",
]
EXPORTABLE = [*(rule for rule in RULES if rule != "words"), "custom"]
CUSTOM = r"(?i:the)|[^\W\d]+?s|\d{1,2}"
TEXT = st.text(
    alphabet=st.one_of(st.characters(codec="utf-8"), st.sampled_from("theTHE boats'ab1\n é\u0301\u094d书😀\u3000"))
)


@cache
def all_three(rule: str) -> tuple[BpeTokenizer, tiktoken.Encoding, huggingface.Tokenizer]:
    split = custom(CUSTOM) if rule == "custom" else pretokenizer(rule)
    ours = bpe.train(CORPUS, merges=150, pretokenizer=split, special_tokens=[END])
    theirs = tiktoken.Encoding(**tiktoken_arguments(ours.artefact, "town"))
    return ours, theirs, huggingface.Tokenizer.from_str(to_huggingface(ours.artefact).decode())


@pytest.mark.parametrize("rule", EXPORTABLE)
@given(text=TEXT)
@settings(max_examples=60)
def test_same_ids_in_all_three(rule: str, text: str) -> None:
    ours, theirs, hf = all_three(rule)
    ids = ours.encode(text)
    assert theirs.encode_ordinary(text) == ids
    assert hf.encode(text, add_special_tokens=False).ids == ids
    assert hf.decode(ids) == text
    assert theirs.decode(ids) == text


@pytest.mark.parametrize("rule", EXPORTABLE)
def test_trained_text_and_special_tokens(rule: str) -> None:
    ours, theirs, hf = all_three(rule)
    for text in CORPUS:
        assert ours.encode(text) == theirs.encode_ordinary(text) == hf.encode(text, add_special_tokens=False).ids
    special = ours.artefact.special_tokens[END]
    assert theirs.encode(END, allowed_special="all") == [special] == ours.encode(END, [END])
    assert hf.token_to_id(END) == special


@given(text=st.text(alphabet="ab", min_size=1, max_size=60), probe=st.text(alphabet="ab", max_size=40))
@settings(max_examples=200)
def test_no_training_text_makes_them_differ(text: str, probe: str) -> None:
    """Overlapping runs are where merging by pairs and by ranks could come apart."""
    ours = bpe.train([text], merges=1000, pretokenizer="none")
    try:
        arguments = tiktoken_arguments(ours.artefact, "town")
    except TokengapError:
        return  # a token that no other tool can have: refused rather than exported wrong
    assert tiktoken.Encoding(**arguments).encode_ordinary(probe) == ours.encode(probe)


def test_files_as_the_real_libraries_load_them(tmp_path: Path) -> None:
    ours, _, _ = all_three("cl100k")
    (tmp_path / "town.tiktoken").write_bytes(to_tiktoken(ours.artefact))
    (tmp_path / "tokenizer.json").write_bytes(to_huggingface(ours.artefact))
    ranks = tiktoken.load.load_tiktoken_bpe(str(tmp_path / "town.tiktoken"))
    assert ranks == tiktoken_arguments(ours.artefact, "")["mergeable_ranks"]
    hf = huggingface.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert hf.get_vocab_size() == ours.artefact.vocabulary_size


@pytest.mark.parametrize("rule", EXPORTABLE)
def test_imports_of_our_exports(rule: str) -> None:
    ours, _, _ = all_three(rule)
    artefact = ours.artefact
    back = from_huggingface(to_huggingface(artefact))
    if rule != "custom":  # whose pattern comes back with the part for unmatched text
        assert back.fingerprint == artefact.fingerprint
    ranks = from_tiktoken(to_tiktoken(artefact), artefact.pretokenizer, artefact.special_tokens)
    for text in (*CORPUS, "", "é\u0301 \x1c x"):
        assert BpeTokenizer(back).encode(text) == ours.encode(text) == BpeTokenizer(ranks).encode(text)


def test_a_vocabulary_of_huggingface_s_own_training() -> None:
    """Ids in another order than ours: special tokens first, bytes by their printable characters."""
    from tokenizers import decoders, models, pre_tokenizers, trainers

    hf = huggingface.Tokenizer(models.BPE())
    hf.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    hf.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=350, special_tokens=[END], initial_alphabet=alphabet, show_progress=False)
    hf.train_from_iterator(CORPUS, trainer)
    ours = BpeTokenizer(from_huggingface(hf.to_str().encode()))
    assert ours.artefact.special_tokens == {END: 0}
    for text in (*CORPUS, "unseen: Grüße 42"):
        ids = hf.encode(text).ids
        assert ours.encode(text) == ids
        assert ours.decode(ids) == text
    again = huggingface.Tokenizer.from_str(to_huggingface(ours.artefact).decode())
    assert again.get_vocab() == hf.get_vocab()
    scrambled = json.loads(hf.to_str())
    vocab = scrambled["model"]["vocab"]
    first, last = sorted(vocab, key=vocab.__getitem__)[-2:]
    vocab[last], vocab[first] = vocab[first], vocab[last]
    artefact = from_huggingface(json.dumps(scrambled).encode())
    with pytest.raises(TokengapError, match="in the order of the ids"):
        to_tiktoken(artefact)


def test_every_split_of_a_token_listed_as_a_merge() -> None:
    """How converted tiktoken vocabularies come: several merges for one token, and whole chunks first."""
    ours, theirs, _ = all_three("cl100k")
    document = json.loads(to_huggingface(ours.artefact))
    vocab = document["model"]["vocab"]
    document["model"]["ignore_merges"] = True
    document["model"]["merges"] = [
        [token[:at], token[at:]]
        for token in sorted(vocab, key=vocab.__getitem__)
        for at in range(1, len(token))
        if token[:at] in vocab and token[at:] in vocab
    ]
    imported = BpeTokenizer(from_huggingface(json.dumps(document).encode()))
    assert imported.artefact.ranks is not None
    for text in CORPUS:
        assert imported.encode(text) == theirs.encode_ordinary(text)
    document["model"]["merges"].pop()
    del document["model"]["merges"][:1]
    if len({left + right for left, right in document["model"]["merges"]}) < len(document["model"]["merges"]):
        with pytest.raises(TokengapError, match="several of its merges"):
            from_huggingface(json.dumps(document).encode())


def test_published_pattern_is_the_named_rule() -> None:
    ours, _, _ = all_three("cl100k")
    document = json.loads(to_huggingface(ours.artefact))
    document["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = CL100K_PATTERN
    assert from_huggingface(json.dumps(document).encode()).pretokenizer.name == "cl100k"


def test_a_pattern_in_the_wild() -> None:
    """Close to cl100k's, as a well-known open model has it; compared with HuggingFace's own reading of it."""
    pattern = (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
        r"|\s+(?!\S)|\s+"
    )
    ours, _, _ = all_three("cl100k")
    document = json.loads(to_huggingface(ours.artefact))
    document["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = pattern
    content = json.dumps(document)
    imported, hf = BpeTokenizer(from_huggingface(content.encode())), huggingface.Tokenizer.from_str(content)
    for text in (*CORPUS, "IT'S 2024\n\n  ok!\n", "  lead\n \n x"):
        assert imported.encode(text) == hf.encode(text, add_special_tokens=False).ids


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rule"), [("cl100k_base", "cl100k"), ("p50k_base", "gpt2"), ("o200k_base", "o200k")])
def test_public_vocabulary_through_huggingface(name: str, rule: str, shared_dir: Path) -> None:
    ours = BpeTokenizer(from_ranks(load_ranks(ENCODINGS[name].ranks), pretokenizer(rule), {}))
    hf = huggingface.Tokenizer.from_str(to_huggingface(ours.artefact).decode())
    for path in sorted((shared_dir / "files").iterdir()):
        text = path.read_bytes().decode()
        assert hf.encode(text, add_special_tokens=False).ids == ours.encode(text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alphabet": "characters"}, "over characters"),
        ({"pretokenizer": "words"}, "drops the spaces"),
    ],
)
def test_what_cannot_be_exported(options: dict[str, Any], message: str) -> None:
    artefact = bpe.train(CORPUS, merges=5, **options).artefact
    for write in (to_tiktoken, to_huggingface):
        with pytest.raises(TokengapError, match=message):
            write(artefact)


def changed(**changes: Any) -> bytes:
    document = json.loads(to_huggingface(all_three("gpt2")[0].artefact))
    for path, value in changes.items():
        *parents, last = path.split("__")
        target = document
        for parent in parents:
            target = target[parent]
        target[last] = value
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model__type": "WordPiece"}, "'WordPiece'; only byte-level BPE"),
        ({"model__byte_fallback": True}, "uses byte_fallback"),
        ({"model__dropout": 0.1}, "uses dropout"),
        ({"normalizer": {"type": "NFC"}}, "normalizes"),
        ({"pre_tokenizer": None}, "ByteLevel"),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "ByteLevel"),
        ({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True}}, "prefix space"),
        ({"pre_tokenizer__pretokenizers": [{"type": "Digits"}, {"type": "ByteLevel", "use_regex": False}]}, "neither"),
        ({"model__vocab": {"a": 0}}, "lacks the token"),
        ({"model__vocab": {"▁a": 0}}, "not written byte by byte"),
        ({"model__merges": ["a b c"]}, "not a merge of two"),
        ({"model__merges": [["a", "b"], ["a", "b"]]}, "not a tokenizer.json|several of its merges"),
        ({"model": None}, "not a tokenizer.json"),
        ({"added_tokens": [{"content": END, "id": 65}]}, "the same id"),
        ({"added_tokens": [{"content": END, "id": -1}]}, "below 0"),
        ({"added_tokens": [{"content": "\ud800", "id": 999}]}, "valid Unicode"),
    ],
)
def test_tokenizer_json_that_cannot_be_reproduced(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(TokengapError, match=message):
        from_huggingface(changed(**changes))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"3", b'"x"', b"\xff", b"[" * 100_000])
def test_not_a_tokenizer_json(content: bytes) -> None:
    with pytest.raises(TokengapError, match=r"not a tokenizer\.json"):
        from_huggingface(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"YQ== x\n", "line 1"),
        (b"YQ==\n", "line 1"),
        (b"YQ== 1\nYQ== 2\n", "line 2"),
        (b"!!!! 1\n", "line 1"),
        (b"YQ== -1\n", "line 1"),
        (b"YQ== 1\n", "lack some of the 256 bytes"),
        (b"", "lack some"),
    ],
)
def test_not_ranks(content: bytes, message: str) -> None:
    with pytest.raises(TokengapError, match=message):
        from_tiktoken(content, pretokenizer("gpt2"), {})


def test_special_token_on_a_taken_id() -> None:
    content = to_tiktoken(all_three("gpt2")[0].artefact)
    with pytest.raises(TokengapError, match="the same id"):
        from_tiktoken(content, pretokenizer("gpt2"), {"<x>": 97})
