"""The encodings as data, against the installed tiktoken's own definitions."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from tokengap.tokenizers import encodings
from tokengap.tokenizers.encodings import ENCODINGS, Ranks, load_ranks
from tokengap.tokenizers.errors import TokengapError

published = import_module("tiktoken_ext.openai_public")


@pytest.fixture
def definition(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> dict[str, object]:
    """tiktoken's constructor of an encoding, with its download replaced by what it would fetch."""
    monkeypatch.setattr(
        published, "load_tiktoken_bpe", lambda url, expected_hash: (Path(url).stem.split("/")[-1], expected_hash)
    )
    return dict(getattr(published, request.param)())


@pytest.mark.parametrize(
    ("definition", "encoding"), [(name, ENCODINGS[name]) for name in ENCODINGS], indirect=["definition"], ids=ENCODINGS
)
def test_same_as_tiktoken(definition: dict[str, object], encoding: encodings.Encoding) -> None:
    assert definition["name"] == encoding.name
    assert definition["pat_str"] == encoding.pattern
    assert definition["mergeable_ranks"] == (encoding.ranks.name, encoding.ranks.sha256)
    assert definition["special_tokens"] == encoding.special_tokens


def test_every_published_encoding_is_here() -> None:
    assert set(published.ENCODING_CONSTRUCTORS) == {*ENCODINGS, *encodings.ALIASES}


@pytest.mark.parametrize(
    ("name", "size"), [("o200k_base", 199998), ("cl100k_base", 100256), ("p50k_base", 50280), ("r50k_base", 50256)]
)
def test_rank_files_load(name: str, size: int) -> None:
    ranks = load_ranks(ENCODINGS[name].ranks)
    assert len(ranks) == size
    assert {bytes([byte]) for byte in range(256)} <= ranks.keys()


def test_damaged_rank_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = encodings._DATA / "r50k_base.tiktoken.gz"
    monkeypatch.setattr(encodings, "_DATA", tmp_path)
    with pytest.raises(TokengapError, match="reinstall"):
        load_ranks(ENCODINGS["r50k_base"].ranks)
    (tmp_path / good.name).write_bytes(good.read_bytes()[:-1000])
    with pytest.raises(TokengapError, match="reinstall"):
        load_ranks(ENCODINGS["r50k_base"].ranks)
    (tmp_path / good.name).write_bytes(good.read_bytes())
    with pytest.raises(TokengapError, match="damaged"):
        load_ranks(Ranks("r50k_base", "0" * 64))


def test_fingerprints_tell_encodings_apart() -> None:
    prints = {encoding.fingerprint for encoding in ENCODINGS.values()}
    assert len(prints) == len(ENCODINGS)
    assert ENCODINGS["o200k_base"].fingerprint == (
        "sha256:63ed9ee546401fa84f5fdbdd41bb952e1877c43800ccaa1d52c968d9e1383497"
    )
