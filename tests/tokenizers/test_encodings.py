"""The encodings as data, against the installed tiktoken's own definitions and the published files."""

from __future__ import annotations

from hashlib import sha256
from importlib import import_module
from pathlib import Path

import pytest

from tokengap.tokenizers import encodings
from tokengap.tokenizers.encodings import ENCODINGS, load_ranks, read_ranks

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
def test_the_published_rank_files_can_be_had_back(name: str, size: int) -> None:
    """So every token and rank in a compiled file is the published one."""
    ranks = ENCODINGS[name].ranks
    assert len(load_ranks(ranks)) == size
    assert sha256(read_ranks(ranks)).hexdigest() == ranks.sha256


@pytest.mark.parametrize("encoding", ENCODINGS.values(), ids=ENCODINGS)
def test_fingerprint_is_what_it_is_computed_from(encoding: encodings.Encoding) -> None:
    computed = encodings.fingerprint(encoding.ranks.sha256, encoding.pattern, encoding.special_tokens)
    assert encoding.fingerprint == computed


def test_fingerprints_tell_encodings_apart() -> None:
    prints = {encoding.fingerprint for encoding in ENCODINGS.values()}
    assert len(prints) == len(ENCODINGS)
    assert ENCODINGS["o200k_base"].fingerprint == (
        "sha256:63ed9ee546401fa84f5fdbdd41bb952e1877c43800ccaa1d52c968d9e1383497"
    )
