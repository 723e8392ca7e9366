"""Training texts: read in pieces, counted the same in one block or many, by one process or two."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.tokenizers import bpe_corpus
from tokengap.tokenizers.bpe import Options, learn_from
from tokengap.tokenizers.bpe_corpus import count_corpus, file, json_lines, standard_input, texts
from tokengap.tokenizers.errors import TokengapError
from tokengap.tokenizers.pretokenize import Pretokenizer, custom, pretokenizer
from tokengap.tokenizers.split_rules import RULES

RULE_NAMES = [*RULES, "custom"]
MIXED = "The boat's  here.\n\n\tÜber 12 000 书,\r\n😀 /end\n/ x"


def rule(name: str) -> Pretokenizer:
    return custom(r"\w+|\s") if name == "custom" else pretokenizer(name)


@given(parts=st.lists(st.text(alphabet=" \n\r\t/a.'1é书😀", max_size=30)))
@pytest.mark.parametrize("name", RULE_NAMES)
def test_pieces_and_blocks_change_nothing(name: str, parts: list[str]) -> None:
    whole = count_corpus(texts(["".join(parts)]), rule(name))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bpe_corpus, "_BLOCK", 3)
        pieces = count_corpus([parts], rule(name))
    assert list(pieces.chunks.items()) == list(whole.chunks.items())
    assert (pieces.sha256, pieces.bytes, pieces.documents) == (whole.sha256, whole.bytes, 1)


def test_blocks_are_small() -> None:
    pieces = iter([MIXED * 1000] * 40)
    blocks = list(bpe_corpus._blocks(pieces, pretokenizer("o200k")))
    assert "".join(blocks) == MIXED * 40_000
    assert max(map(len, blocks)) < 1.2 * bpe_corpus._BLOCK


@pytest.mark.parametrize("name", RULE_NAMES)
def test_two_workers_learn_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bpe_corpus, "_BLOCK", 10_000)
    documents = [MIXED * 2_000, MIXED[::-1] * 1_000]
    options = Options(40, pretokenizer=rule(name))
    one, _ = learn_from(texts(documents), options, workers=1)
    two, _ = learn_from(texts(documents), options, workers=2)
    assert two == one


def test_an_error_of_the_reader_ends_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bpe_corpus, "_BLOCK", 10_000)

    def failing() -> Iterator[str]:
        yield MIXED * 2_000
        raise TokengapError("broken")

    with pytest.raises(TokengapError, match="broken"):
        count_corpus([failing()], pretokenizer("gpt2"), workers=2)


def test_no_chunk_reaches_into_the_next_document(tmp_path: Path) -> None:
    for number, text in enumerate(("ab", "cd")):
        (tmp_path / str(number)).write_text(text)
    corpus = count_corpus(map(file, sorted(tmp_path.iterdir())), pretokenizer("none"))
    assert corpus.chunks == {"ab": 1, "cd": 1}
    assert (corpus.documents, corpus.bytes, corpus.sha256) == (2, 4, sha256(b"abcd").hexdigest())


def test_bytes_are_kept_as_they_are(tmp_path: Path) -> None:
    data = "\ufeffa\r\nb\rc\x00é".encode()
    (tmp_path / "text").write_bytes(data)
    assert "".join(file(tmp_path / "text")).encode() == data


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"ab\xff", "invalid start byte at byte 2"), (b"ab\xc3", "unexpected end of data at byte 2")],
)
@pytest.mark.parametrize("size", [1, 3, 1 << 20])
def test_not_utf_8(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, data: bytes, message: str) -> None:
    monkeypatch.setattr(bpe_corpus, "_READ", size)
    (tmp_path / "bad").write_bytes("é".encode() * 4 + data)
    with pytest.raises(TokengapError, match=message.replace("byte 2", "byte 10")):
        count_corpus([file(tmp_path / "bad")], pretokenizer("gpt2"))


def test_unreadable(tmp_path: Path) -> None:
    with pytest.raises(TokengapError, match=r"cannot read .*none"):
        file(tmp_path / "none")
    with pytest.raises(TokengapError, match="cannot read"):
        file(tmp_path)


def test_json_lines(tmp_path: Path) -> None:
    lines = [{"text": "a b"}, {"text": "c\ud800", "id": 1}, None, {"text": ""}]
    written = "\n".join("" if line is None else json.dumps(line) for line in lines)
    (tmp_path / "rows.jsonl").write_text(written)
    corpus = count_corpus(json_lines(tmp_path / "rows.jsonl", "text"), pretokenizer("gpt2"))
    assert corpus.chunks == {"a": 1, " b": 1, "c": 1, "\ufffd": 1}
    assert (corpus.documents, corpus.repaired) == (3, True)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": 3}', "line 2: there is no text in a field 'text'"),
        ('{"other": "x"}', "line 2: there is no text"),
        ('["x"]', "line 2: there is no text"),
        ("{", "line 2: not JSON"),
        ("[" * 100_000, "line 2: not JSON"),
    ],
)
def test_bad_json_lines(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "rows.jsonl").write_text('{"text": "fine"}\n' + line)
    with pytest.raises(TokengapError, match=message):
        count_corpus(json_lines(tmp_path / "rows.jsonl", "text"), pretokenizer("gpt2"))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("é x".encode())))
    assert count_corpus([standard_input()], pretokenizer("gpt2")).chunks == {"é": 1, " x": 1}


def test_progress() -> None:
    seen: list[int] = []
    corpus = count_corpus(texts(["ab", "cde"]), pretokenizer("gpt2"), progress=seen.append)
    assert seen == [2, 5]
    assert corpus.bytes == 5
