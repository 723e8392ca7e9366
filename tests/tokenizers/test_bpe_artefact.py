"""The file of a tokenizer: all of it comes back, any change is noticed, nothing is left half-written."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.tokenizers import bpe
from tokengap.tokenizers.bpe_artefact import Artefact, check, dumps, load, loads, save
from tokengap.tokenizers.bpe_training import Merge
from tokengap.tokenizers.errors import TokengapError
from tokengap.tokenizers.pretokenize import custom, pretokenizer
from tokengap.tokenizers.split_rules import RULES

TEXT = "when the boats come in, the boats are tied: über die Brücke 橋"


def trained(**options: object) -> Artefact:
    defaults: dict[str, object] = {"merges": 12, "special_tokens": ["<|end|>"]}
    return bpe.train([TEXT], **defaults | options).artefact  # type: ignore[arg-type]


@pytest.mark.parametrize("rule", [*map(pretokenizer, RULES), custom(r"[^\W\d]+|\d|\s")], ids=lambda rule: rule.name)
@pytest.mark.parametrize("alphabet", ["bytes", "characters"])
def test_comes_back_as_it_was(tmp_path: Path, rule: object, alphabet: str) -> None:
    artefact = trained(pretokenizer=rule, alphabet=alphabet)
    path = tmp_path / "town.bpe"
    save(artefact, path)
    assert load(path) == artefact
    assert load(path).fingerprint == artefact.fingerprint
    assert dumps(load(path)) == path.read_bytes()
    assert [entry.name for entry in tmp_path.iterdir()] == ["town.bpe"]


def test_says_where_it_came_from() -> None:
    training = trained().training
    data = TEXT.encode()
    assert training["corpus"] == {"sha256": sha256(data).hexdigest(), "bytes": len(data), "documents": 1}
    assert (training["merges"], training["vocab_size"], training["min_frequency"]) == (12, None, 1)
    assert training["tokens"] == bpe.BpeTokenizer(trained()).count(TEXT)


CHANGES: dict[str, Callable[[Artefact], Artefact]] = {
    "merges": lambda artefact: replace(artefact, merges=artefact.merges[:-1]),
    "order": lambda artefact: replace(artefact, merges=(artefact.merges[1], artefact.merges[0], *artefact.merges[2:])),
    "rule": lambda artefact: replace(artefact, pretokenizer=pretokenizer("cl100k")),
    "special": lambda artefact: replace(artefact, special_tokens={"<|stop|>": 268}),
    "special id": lambda artefact: replace(artefact, special_tokens={"<|end|>": 269}),
    "whole chunks": lambda artefact: replace(artefact, whole_chunks=True),
    "ids": lambda artefact: replace(artefact, ids=(1, 0, *range(2, 268))),
    "extra": lambda artefact: replace(artefact, extra={b"xyz": 300}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_fingerprint_changes_with_whatever_decides_an_id(change: str) -> None:
    artefact = trained()
    assert CHANGES[change](artefact).fingerprint != artefact.fingerprint


def test_fingerprint_is_of_the_tokenizer_not_of_its_history() -> None:
    artefact = trained()
    same = replace(artefact, training={}, merges=tuple(replace(merge, count=1, tied=1) for merge in artefact.merges))
    assert same.fingerprint == artefact.fingerprint


def test_characters_and_gaps_are_in_the_fingerprint() -> None:
    words = pretokenizer("words")
    assert trained(pretokenizer=words).fingerprint != trained(pretokenizer=custom(words.pattern)).fingerprint
    fewer = replace(trained(alphabet="characters"), symbols=("a", "b"), merges=())
    assert fewer.fingerprint != replace(fewer, symbols=("a", "c")).fingerprint


CONTENT = dumps(trained())


@given(st.integers(0, len(CONTENT) - 1), st.binary(min_size=1, max_size=1))
def test_any_changed_byte_is_refused(position: int, byte: bytes) -> None:
    changed = CONTENT[:position] + byte + CONTENT[position + 1 :]
    if changed != CONTENT:
        with pytest.raises(TokengapError):
            loads(changed)


@given(st.integers(0, len(CONTENT) - 3))
def test_any_truncated_file_is_refused(length: int) -> None:
    with pytest.raises(TokengapError):
        loads(CONTENT[:length])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "not a tokengap-bpe file"),
        (b'{"format": "other"}', "not a tokengap-bpe file; 'tokengap bpe import'"),
        (CONTENT.replace(b'"version": 1', b'"version": 2'), "version 2 of the format, not 1"),
        (CONTENT.replace(b'"merges": 12', b'"merges": 13'), "wrong checksum"),
        (json.dumps(json.loads(CONTENT)).encode(), "wrong checksum"),
    ],
)
def test_unusable(content: bytes, message: str) -> None:
    with pytest.raises(TokengapError, match=message):
        loads(content)


def resealed(**fields: object) -> bytes:
    """A file whose checksum is right and whose content is not."""
    document = json.loads(CONTENT) | fields
    del document["checksum"]
    body = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in document.items())
    return f'{{\n{body},\n"checksum": "sha256:{sha256(body.encode()).hexdigest()}"\n}}\n'.encode()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"merges": [[97, 999, 1, 1]]}, "does not exist yet"),
        ({"merges": [[97, 97, 1, 1], [97, 97, 1, 1]]}, "merged twice"),
        ({"merges": [[97, 97]]}, "does not fit together"),
        ({"merges": [[97, -1, 1, 1]]}, "not a whole number"),
        ({"merges": [[97, True, 1, 1]]}, "not a whole number"),
        ({"merges": 3}, "does not fit together"),
        ({"merges": []}, "fingerprint is not"),
        ({"alphabet": "letters"}, "no alphabet"),
        ({"symbols": "ab"}, "no symbols of its own"),
        ({"alphabet": "characters", "symbols": "ba"}, "in order"),
        ({"special_tokens": {"<|end|>": 256}}, "the same id"),
        ({"special_tokens": {"": 300}}, "no name"),
        ({"special_tokens": {"\ud800": 300}}, "valid Unicode"),
        ({"special_tokens": {"<|end|>": -1}}, "not a whole number"),
        ({"alphabet": "characters", "symbols": "a\ud800", "merges": []}, "valid Unicode"),
        ({"merges": [[97, 97, 1, 1], *([number, number, 1, 1] for number in range(256, 320))]}, "a gigabyte"),
        ({"special_tokens": []}, "does not fit together"),
        ({"ids": [1, 2]}, "number of ids"),
        ({"extra": [["zz", 999]]}, "does not fit together"),
        ({"ranks": [["61", 0]]}, "both ranks and merges"),
        ({"ranks": [["61", 0]], "merges": []}, "lack some of the 256 bytes"),
        ({"pretokenizer": {"name": "gpt2", "unicode": "16.0.0", "pattern": "x"}}, "is not the one"),
        ({"pretokenizer": {"name": "gpt3", "unicode": "16.0.0", "pattern": "x"}}, "unknown pre-tokenizer"),
        ({"pretokenizer": {"name": "custom", "unicode": "16.0.0", "pattern": "(x"}}, "does not compile"),
        ({"pretokenizer": None}, "does not fit together"),
        ({"training": None}, "does not fit together"),
    ],
)
def test_content_that_does_not_fit_together(fields: dict[str, object], message: str) -> None:
    with pytest.raises(TokengapError, match=message):
        loads(resealed(**fields))


def test_path_is_named(tmp_path: Path) -> None:
    with pytest.raises(TokengapError, match=r"cannot read the tokenizer .*none\.bpe: No such file"):
        load(tmp_path / "none.bpe")
    (tmp_path / "bad.bpe").write_bytes(b"{}")
    with pytest.raises(TokengapError, match=r"bad\.bpe is not a usable tokenizer"):
        load(tmp_path / "bad.bpe")


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(TokengapError, match="cannot write"):
        save(trained(), tmp_path / "no" / "folder.bpe")


def test_ranks_and_merges_are_two_kinds() -> None:
    ranks = {bytes([value]): value for value in range(256)}
    check(Artefact("bytes", pretokenizer("gpt2"), ranks=ranks))
    with pytest.raises(TokengapError, match="both"):
        check(Artefact("bytes", pretokenizer("gpt2"), ranks=ranks, merges=(Merge(1, 1, 0, 0),)))
