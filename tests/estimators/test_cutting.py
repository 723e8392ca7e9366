"""Cutting, splitting and counting up to a limit."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tokengap.estimators.cutting import BLOCK, count_until, cut, cut_answer, tokenizer_of
from tokengap.estimators.splitting import split
from tokengap.tokenizers import bpe
from tokengap.tokenizers.counter import Count, Counter, Tokenizer
from tokengap.tokenizers.encoding_counter import EncodingCounter
from tokengap.tokenizers.errors import TokengapError
from tokengap.tokenizers.registry import get_counter

ENCODINGS = ["o200k_base", "cl100k_base", "r50k_base"]
AWKWARD = "aB9 '\n\t/.s'll日\u0301\u200d❤️👍🏽１é\u3000Z_"

texts = st.text(st.sampled_from(AWKWARD) | st.characters(exclude_categories=["Cs"]), max_size=60)
runs = st.lists(st.tuples(st.text(st.sampled_from(AWKWARD), max_size=8), st.integers(1, 120)), max_size=4)
runs_text = runs.map(lambda parts: "".join(text * times for text, times in parts))


def assert_longest(text: str, limit: int, tokenizer: Tokenizer, from_end: bool) -> None:
    """The definition: within the limit, and nothing longer by up to the longest token is."""
    result = cut(text, limit, tokenizer, from_end=from_end)
    kept, size = result.kept, len(text)
    assert (result.dropped + kept if from_end else kept + result.dropped) == text
    assert result.tokens == tokenizer.count(kept).tokens <= limit
    for length in range(len(kept) + 1, min(len(kept) + tokenizer.longest_token, size) + 1):
        longer = text[size - length :] if from_end else text[:length]
        assert tokenizer.count(longer).tokens > limit


@pytest.mark.parametrize("from_end", [False, True])
@pytest.mark.parametrize("name", ENCODINGS)
@given(text=texts | runs_text, limit=st.integers(0, 60))
@example("token", 1)
@example("x" + " " * 400 + "y", 2)
@example("=" * 500, 3)
@example("12345678901234567890", 3)
@settings(max_examples=40)
def test_cut_is_the_longest_within_the_limit(name: str, from_end: bool, text: str, limit: int) -> None:
    assert_longest(text, limit, EncodingCounter(name), from_end)


def test_counts_are_not_monotone() -> None:
    """A prefix longer by one character may be one token less, so the first one over the limit is not the end."""
    counter = get_counter("cl100k_base")
    assert [counter.count(text).tokens for text in ("toke", "token")] == [2, 1]
    assert cut("token", 1, counter).kept == "token"


@pytest.mark.parametrize(
    ("text", "limit", "from_end", "kept"),
    [
        ("A token is not a word.", 3, False, "A token is"),
        ("A token is not a word.", 2, True, " word."),
        ("A token is not a word.", 99, False, "A token is not a word."),
        ("A token is not a word.", 0, False, ""),
        ("A token is not a word.", 0, True, ""),
        ("", 5, False, ""),
        ("line\r\nline\r\n", 2, False, "line\r\n"),
        ("日本語", 10**18, False, "日本語"),
    ],
)
def test_cut_examples(text: str, limit: int, from_end: bool, kept: str) -> None:
    assert cut(text, limit, get_counter("o200k_base"), from_end=from_end).kept == kept


@pytest.mark.parametrize("limit", range(8))
@pytest.mark.parametrize("from_end", [False, True])
def test_no_character_is_split(limit: int, from_end: bool) -> None:
    text = "👩‍👩‍👧‍👦𝔘𝔫𝔦"
    result = cut(text, limit, get_counter("r50k_base"), from_end=from_end)
    assert "\ufffd" not in result.kept + result.dropped
    assert text in (result.kept + result.dropped, result.dropped + result.kept)


@pytest.mark.parametrize("from_end", [False, True])
@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize(
    "unit",
    ["a", " ", "=", "1", "٣", "日", "❤️", "\n", "The quick brown fox, it's said, jumps over 13 lazy dogs.\n", "a日B"],
)
def test_a_long_text_is_cut_to_the_token(unit: str, name: str, from_end: bool) -> None:
    tokenizer = EncodingCounter(name)
    text = unit * (100_000 // len(unit))
    result = cut(text, 700, tokenizer, from_end=from_end)
    assert result.tokens == tokenizer.count(result.kept).tokens
    assert 698 <= result.tokens <= 700


@pytest.mark.slow
@pytest.mark.parametrize("from_end", [False, True])
@pytest.mark.parametrize("limit", [1000, 7000, 50_000])
@pytest.mark.parametrize("unit", ["a", " ", "=", "1", "٣", "日", "\n", "a日B", "❤️", "!\n//"])
def test_a_million_bytes_of_one_thing(unit: str, limit: int, from_end: bool) -> None:
    tokenizer = EncodingCounter("o200k_base")
    text = unit * (1_000_000 // len(unit.encode()))
    result = cut(text, limit, tokenizer, from_end=from_end)
    assert result.tokens == tokenizer.count(result.kept).tokens <= limit
    assert not result.dropped or result.tokens >= limit - 3


def test_a_model_cuts_with_its_encoding_and_says_what_is_assumed() -> None:
    result = cut("one two three", 2, get_counter("model:gpt-6-sol"))
    assert result.kept == "one two"
    assert result.kind == "heuristic"
    assert "assumed_tokenizer" in result.warnings


@pytest.mark.parametrize("function", [cut, split, cut_answer])
@pytest.mark.parametrize("spec", ["words", "chars:4", "bytes"])
def test_a_counter_without_tokens_is_refused(spec: str, function: Callable[..., object]) -> None:
    with pytest.raises(TokengapError, match="has no tokens that join to the text; use an encoding such as o200k_base"):
        function("some text", 3, get_counter(spec))


@pytest.mark.parametrize("function", [cut, cut_answer])
def test_bad_limits_and_texts_are_refused(function: Callable[..., object]) -> None:
    with pytest.raises(TokengapError, match="is -1: a whole number is needed"):
        function("some text", -1, get_counter("o200k_base"))
    with pytest.raises(TokengapError, match="lone surrogate"):
        function("a\ud800", 1, get_counter("o200k_base"))


class EvenLengthsPair:
    """A tokenizer that is not local: texts of even length are read two characters at a time."""

    name, longest_token, splits_as_published = "pairs", 2, True

    def pieces(self, text: str) -> list[bytes]:
        step = 1 if len(text) % 2 else 2
        return [text[at : at + step].encode() for at in range(0, len(text), step)]

    def count(self, text: str) -> Count:
        return Count(len(self.pieces(text)), self.name, "sha256:0", "exact")


@pytest.mark.parametrize("from_end", [False, True])
@pytest.mark.parametrize("limit", range(0, 30, 3))
def test_a_tokenizer_that_is_not_local_is_recounted_in_full(limit: int, from_end: bool) -> None:
    assert_longest("abcdefghijk " * 4, limit, EvenLengthsPair(), from_end)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Counter]:
    """Counters of tokenizers trained by different split rules."""

    def make(**options: Any) -> Counter:
        path = tmp_path_factory.mktemp("bpe") / "t.bpe"
        corpus = ["the library lends books, the readers read the books the library has\n\n" * 3, "a-b--c" * 9]
        bpe.save(bpe.train(corpus, merges=60, **options), path)
        return get_counter(f"bpe:{path}")

    return make


@pytest.mark.parametrize("rule", ["none", "workbook", "gpt2", "o200k"])
@pytest.mark.parametrize("from_end", [False, True])
def test_a_trained_tokenizer_cuts_by_its_own_rule(trained: Callable[..., Counter], rule: str, from_end: bool) -> None:
    tokenizer = tokenizer_of(trained(pretokenizer=rule))
    text = "the readers read--the books, a-b the library 日本 lends\n\n" * 3
    for limit in range(0, 60, 7):
        assert_longest(text, limit, tokenizer, from_end)
    assert count_until(text * 3000, 50, tokenizer).at_least
    assert "".join(chunk.text[chunk.overlap :] for chunk in split(text, 9, tokenizer, overlap=2)) == text


@pytest.mark.parametrize("options", [{"pretokenizer": "words"}, {"alphabet": "characters"}])
def test_a_lossy_tokenizer_is_refused(trained: Callable[..., Counter], options: dict[str, str]) -> None:
    with pytest.raises(TokengapError, match="has no tokens that join to the text"):
        cut("the books", 1, trained(**options))


@given(text=texts | runs_text, limit=st.integers(0, 200))
@settings(max_examples=60)
def test_up_to_the_limit_the_count_is_that_of_the_whole(text: str, limit: int) -> None:
    counter = get_counter("o200k_base")
    result = count_until(text, limit, counter)
    whole = counter.count(text).tokens
    assert result.tokens <= whole
    assert result.at_least or result.tokens == whole
    assert not result.at_least or result.tokens > limit


LARGE = {
    "prose": "The quick brown fox, it's said, jumps over 13 lazy dogs.\n" * 8000,
    "one letter": "a" * 400_000,
    "spaces": " " * 400_000,
    "chinese": "人人生而自由，在尊严和权利上一律平等。" * 15_000,
}


@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
@pytest.mark.parametrize("limit", [10, 40_000, 10**9])
@pytest.mark.parametrize("part", [None, 5000])
def test_a_large_text_stops_early_and_is_never_overstated(text: str, limit: int, part: int | None) -> None:
    counter = get_counter("o200k_base")
    parts = text if part is None else (text[at : at + part] for at in range(0, len(text), part))
    result = count_until(parts, limit, counter)
    whole = counter.count(text).tokens
    assert result.tokens <= whole
    assert (result.tokens > limit) == (whole > limit)
    if not result.at_least:
        assert result.tokens == whole
    if limit == 10:
        assert result.at_least


def test_what_comes_after_the_limit_is_not_even_read() -> None:
    read = 0

    def parts() -> Iterator[str]:
        nonlocal read
        while True:
            read += 1
            yield "word " * 1000

    result = count_until(parts(), 2 * BLOCK, get_counter("o200k_base"))
    assert result.at_least
    assert result.tokens > 2 * BLOCK
    assert read < 200


@pytest.mark.parametrize("spec", ["words", "chars:4"])
def test_a_rule_of_thumb_counts_all_of_it(spec: str) -> None:
    result = count_until(iter(["one two", " three"]), 1, get_counter(spec))
    assert (result.tokens, result.at_least) == (get_counter(spec).count("one two three").tokens, False)


@pytest.mark.parametrize(
    ("answer", "limit", "kept", "word", "inside_character"),
    [
        ("Unbelievably good", 2, "Unbel", "Unbelievably", False),
        ("Unbelievably good", 3, "Unbelievably", None, False),
        ("Unbelievably good", 9, "Unbelievably good", None, False),
        ("Unbelievably good", 0, "", None, False),
        ("good 𓀀", 2, "good ", None, False),
        ("good 𓀀", 3, "good ", None, True),
        ("naïve", 1, "na", "naïve", False),
        ("a b", 1, "a", None, False),
    ],
)
def test_where_an_output_limit_breaks_off(
    answer: str, limit: int, kept: str, word: str | None, inside_character: bool
) -> None:
    result = cut_answer(answer, limit, get_counter("o200k_base"))
    assert (result.kept, result.word, result.inside_character) == (kept, word, inside_character)
    assert result.kept + result.dropped == answer


O200K = get_counter("o200k_base")


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (cut, (b"bytes", 5, O200K)),
        (cut, ("text", "5", O200K)),
        (cut, ("text", True, O200K)),
        (cut, ("text", 1.0, O200K)),
        (cut, ("text", 5, "o200k_base")),
        (cut, ("text", 5, None)),
        (count_until, (7, 5, O200K)),
        (count_until, ("text", 5, "o200k_base")),
        (count_until, ("text", 5, None)),
        (count_until, ("text", 5, 7)),
        (split, ("text", 2, "o200k_base")),
        (count_until, (b"bytes", 5, O200K)),
        (count_until, (["text", 7], 5, O200K)),
        (split, ("text", 2.5, O200K)),
        (split, (None, 2, O200K)),
        (split, ("text", "2", O200K)),
    ],
)
def test_what_is_of_another_type_is_refused(call: Callable[..., object], arguments: tuple[object, ...]) -> None:
    with pytest.raises(TokengapError):
        call(*arguments)
