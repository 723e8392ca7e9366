"""Compiled vocabularies: what they hold, and that a damaged one is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tokengap.tokenizers import vocabulary
from tokengap.tokenizers.encodings import ENCODINGS, load_ranks
from tokengap.tokenizers.errors import TokengapError
from tokengap.tokenizers.vocabulary import Vocabulary

NAMES = ("o200k_base", "cl100k_base", "p50k_base", "r50k_base")


@pytest.mark.parametrize("name", NAMES)
def test_every_token_is_found(name: str) -> None:
    ranks = ENCODINGS[name].ranks
    compiled = Vocabulary(ranks)
    for token, rank in load_ranks(ranks).items():
        assert compiled.rank(token, -1) == rank
        assert compiled.token(rank) == token


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_token_is_not_found(name: str) -> None:
    known = load_ranks(ENCODINGS[name].ranks)
    compiled = Vocabulary(ENCODINGS[name].ranks)
    others = {token + b"\xff" for token in known} | {token[1:] + b"q" for token in known} | {b""}
    assert all(compiled.rank(token, -1) == -1 for token in others - known.keys())


def test_r50k_has_no_token_that_only_p50k_has() -> None:
    spaces = b"  "
    assert Vocabulary(ENCODINGS["p50k_base"].ranks).rank(spaces, -1) > 0
    assert Vocabulary(ENCODINGS["r50k_base"].ranks).rank(spaces, -1) == -1


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of r50k_base's file, in the place of those that are shipped."""
    path = tmp_path / "p50k_base.vocabulary"
    shutil.copy(Path(vocabulary.DATA, path.name), path)
    monkeypatch.setattr(vocabulary, "DATA", str(tmp_path))
    return path


@pytest.mark.parametrize("length", [0, 7, 55, 56, 1000, -1])
def test_a_cut_file_is_refused(copied: Path, length: int) -> None:
    copied.write_bytes(copied.read_bytes()[:length])
    with pytest.raises(TokengapError, match="reinstall"):
        Vocabulary(ENCODINGS["r50k_base"].ranks)


def test_a_missing_file_is_refused(copied: Path) -> None:
    copied.unlink()
    with pytest.raises(TokengapError, match="cannot be read"):
        Vocabulary(ENCODINGS["r50k_base"].ranks)


@pytest.mark.parametrize("place", [0, 8, 30])
def test_another_header_is_refused(copied: Path, place: int) -> None:
    content = bytearray(copied.read_bytes())
    content[place] ^= 1
    copied.write_bytes(content)
    with pytest.raises(TokengapError, match="of another version"):
        Vocabulary(ENCODINGS["r50k_base"].ranks)


def test_one_wrong_bit_is_seen_when_all_is_read(copied: Path) -> None:
    content = bytearray(copied.read_bytes())
    content[-1] ^= 1
    copied.write_bytes(content)
    with pytest.raises(TokengapError, match="wrong sha256"):
        load_ranks(ENCODINGS["p50k_base"].ranks)
