"""Splitting into chunks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokengap.estimators.splitting import split
from tokengap.tokenizers.errors import TokengapError
from tokengap.tokenizers.registry import get_counter

ENCODINGS = ["o200k_base", "cl100k_base", "r50k_base"]
AWKWARD = "aB9 '\n\t/.s'll日\u0301\u200d❤️👍🏽１é\u3000Z_"

texts = st.text(st.sampled_from(AWKWARD) | st.characters(exclude_categories=["Cs"]), max_size=60)
runs = st.lists(st.tuples(st.text(st.sampled_from(AWKWARD), max_size=8), st.integers(1, 120)), max_size=4)
runs_text = runs.map(lambda parts: "".join(text * times for text, times in parts))


@pytest.mark.parametrize("name", ENCODINGS)
@given(text=texts | runs_text, limit=st.integers(8, 40), overlap=st.integers(0, 7))
@settings(max_examples=60)
def test_chunks_are_within_their_limits_and_join_to_the_text(name: str, text: str, limit: int, overlap: int) -> None:
    counter = get_counter(name)
    chunks = list(split(text, limit, counter, overlap=overlap))
    assert "".join(chunk.text[chunk.overlap :] for chunk in chunks) == text
    end = 0
    for chunk in chunks:
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.tokens == counter.count(chunk.text).tokens <= limit
        assert chunk.overlap == end - chunk.start < len(chunk.text)
        assert counter.count(chunk.text[: chunk.overlap]).tokens <= overlap
        end = chunk.end


def test_split_examples() -> None:
    chunks = list(split("one two three four five six", 3, get_counter("o200k_base"), overlap=1))
    assert [chunk.text for chunk in chunks] == ["one two three", " three four five", " five six"]
    assert [chunk.overlap for chunk in chunks] == [0, 6, 5]
    assert list(split("", 3, get_counter("o200k_base"))) == []


@pytest.mark.parametrize(("limit", "overlap"), [(0, 0), (-1, 0), (3, 3), (3, 4), (3, -1)])
def test_bad_chunks_are_refused_before_the_first(limit: int, overlap: int) -> None:
    with pytest.raises(TokengapError):
        split("some text", limit, get_counter("o200k_base"), overlap=overlap)


def test_a_character_too_long_for_a_chunk_is_named() -> None:
    with pytest.raises(TokengapError, match="character 1 of the text, '𓀀', is 4 tokens by itself: a chunk of 3"):
        list(split("a𓀀", 3, get_counter("r50k_base")))


@pytest.mark.parametrize("text", ["a" * 200_000, " " * 200_000, "some words, " * 20_000], ids=["a", "spaces", "words"])
def test_chunks_of_a_large_text_are_full(text: str) -> None:
    chunks = list(split(text, 500, get_counter("o200k_base"), overlap=50))
    assert "".join(chunk.text[chunk.overlap :] for chunk in chunks) == text
    assert all(chunk.tokens >= 495 for chunk in chunks[:-1])
