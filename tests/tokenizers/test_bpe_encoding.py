"""Encoding and decoding: equal to replaying the merges, lossless, and total."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.tokenizers import bpe
from tokengap.tokenizers.bpe import Artefact, BpeTokenizer, IncrementalDecoder
from tokengap.tokenizers.bpe_merging import merge_long, merge_short
from tokengap.tokenizers.bpe_training import Merge
from tokengap.tokenizers.errors import TokengapError
from tokengap.tokenizers.pretokenize import custom, pretokenizer
from tokengap.tokenizers.split_rules import RULES

END = "<|end|>"
CORPUS = [
    "the river bends, the river bends again; thé rivér, 12 banks and 21 boats\n" * 3,
    "नदी और नाव. 川と船。 😀😀\r\n\tnaïve\u0301",
]
ANY_TEXT = st.text(alphabet=st.one_of(st.characters(codec="utf-8"), st.sampled_from("the river,\n 12é\u0301書😀")))
SURROGATES = st.text(alphabet=st.one_of(st.characters(), st.sampled_from("\ud800\udc00a\udfff")))


def trained(rule: str, **options: object) -> BpeTokenizer:
    split = custom(r"\w+|\s") if rule == "custom" else pretokenizer(rule)
    return bpe.train(CORPUS, merges=120, pretokenizer=split, special_tokens=[END], **options)  # type: ignore[arg-type]


TOKENIZERS = {rule: trained(rule) for rule in (*RULES, "custom")}
LOSSLESS = [rule for rule in TOKENIZERS if rule != "words"]


def replayed(tokenizer: BpeTokenizer, text: str) -> list[int]:
    """Every merge in the order it was learned, over every chunk: the documents' encoder."""
    ids: list[int] = []
    for chunk in tokenizer.artefact.pretokenizer.chunks(text):
        parts = list(chunk.encode())
        for new, merge in enumerate(tokenizer.artefact.merges, 256):
            at = 0
            while at < len(parts) - 1:
                if parts[at] == merge.left and parts[at + 1] == merge.right:
                    parts[at : at + 2] = [new]
                at += 1
        ids += parts
    return ids


@pytest.mark.parametrize("rule", TOKENIZERS)
@given(text=ANY_TEXT)
def test_same_ids_as_replaying_the_merges(rule: str, text: str) -> None:
    tokenizer = TOKENIZERS[rule]
    ids = tokenizer.encode(text)
    assert ids == replayed(tokenizer, text)
    assert tokenizer.count(text) == len(ids)
    assert list(tokenizer.encode_with_offsets(text).ids) == ids


@pytest.mark.parametrize("rule", LOSSLESS)
@given(text=ANY_TEXT)
def test_round_trip(rule: str, text: str) -> None:
    tokenizer = TOKENIZERS[rule]
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("rule", TOKENIZERS)
@given(text=ANY_TEXT)
def test_spans_are_where_the_tokens_are(rule: str, text: str) -> None:
    tokenizer = TOKENIZERS[rule]
    encoded = tokenizer.encode_with_offsets(text)
    data = text.encode()
    for number, (start, end), (first, last) in zip(encoded.ids, encoded.byte_spans, encoded.char_spans, strict=True):
        assert data[start:end] == tokenizer.token_bytes(number)
        characters = text[first:last].encode()
        assert tokenizer.token_bytes(number) in characters
        assert len(text[first + 1 : last - 1].encode()) <= end - start
    if rule != "words":
        assert [start for start, _ in encoded.byte_spans[1:]] == [end for _, end in encoded.byte_spans[:-1]]


@given(merges=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=12), text=st.text(alphabet="abc"))
def test_long_and_short_chunks_are_merged_alike(merges: Sequence[tuple[int, int]], text: str) -> None:
    """Any merges, also those no training would give, such as one whose pair an earlier merge removes."""
    table: dict[tuple[int, int], int] = {}
    lengths = [1, 1, 1]
    for left, right in merges:
        if max(left, right) < len(lengths) and (left, right) not in table:
            table[left, right] = len(lengths)
            lengths.append(lengths[left] + lengths[right])
    parts = ["abc".index(letter) for letter in text]
    assert merge_long(list(parts), table.get, lengths) == merge_short(list(parts), table.get)


@given(ranks=st.sets(st.text(alphabet="ab", min_size=2, max_size=5)), order=st.randoms(), text=st.text(alphabet="ab"))
def test_vocabularies_that_were_not_learned_in_order(ranks: set[str], order: object, text: str) -> None:
    """Ranks may put a token before its parts: then a merge opens a lower one, which goes first."""
    tokens = ["a", "b", *sorted(ranks, key=lambda _: order.random())]  # type: ignore[attr-defined]
    numbers = {token: number for number, token in enumerate(tokens)}

    def find(pair: tuple[int, int], default: int) -> int:
        return numbers.get(tokens[pair[0]] + tokens[pair[1]], default)

    parts = ["ab".index(letter) for letter in text]
    assert merge_long(list(parts), find, list(map(len, tokens))) == merge_short(list(parts), find)


@pytest.mark.parametrize("text", ["a" * 50_000, "ab" * 30_000, "the river " * 8_000, "\u0301" * 30_000])
def test_endless_chunk_is_encoded_as_its_parts_would_be(text: str) -> None:
    tokenizer = bpe.train([text[:100], *CORPUS], merges=150, pretokenizer="none")
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    table = {(merge.left, merge.right) for merge in tokenizer.artefact.merges}
    assert not table.intersection(pairwise(ids))


def test_runs_are_merged_from_the_left() -> None:
    pair = Artefact("bytes", pretokenizer("none"), merges=(Merge(97, 97, 1, 1),))
    tokenizer = BpeTokenizer(pair)
    for text, ids in {"aaa": [256, 97], "aaaa": [256, 256], "aaaaa": [256, 256, 97]}.items():
        assert tokenizer.encode(text) == ids
        assert tokenizer.encode(text * 1 + "b" * 200)[: len(ids)] == ids  # long enough for the other way of merging


def test_empty_training_text_still_encodes() -> None:
    for text in ("", "a", "\n"):
        tokenizer = bpe.train([text], merges=4)
        assert not tokenizer.artefact.merges
        assert tokenizer.encode("ab") == [97, 98]


@given(SURROGATES)
def test_lone_surrogates_are_u_fffd_everywhere(text: str) -> None:
    tokenizer = TOKENIZERS["gpt2"]
    valid = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    ids = tokenizer.encode(valid)
    assert tokenizer.encode(text) == ids
    assert tokenizer.count(text) == len(ids)
    encoded = tokenizer.encode_with_offsets(text)
    assert list(encoded.ids) == ids
    assert ("lone_surrogate" in encoded.warnings) == (valid.count("\ufffd") > text.count("\ufffd"))


class TestDecoding:
    tokenizer = TOKENIZERS["gpt2"]

    @given(ids=st.lists(st.integers(0, TOKENIZERS["gpt2"].artefact.vocabulary_size - 1)))
    def test_any_ids_in_the_vocabulary(self, ids: list[int]) -> None:
        data = b"".join(map(self.tokenizer.token_bytes, ids))
        assert self.tokenizer.decode(ids, "replace") == data.decode(errors="replace")
        stream = IncrementalDecoder(self.tokenizer, "replace")
        assert "".join([*map(stream.feed, ids), stream.finish()]) == data.decode(errors="replace")

    @given(text=ANY_TEXT)
    def test_a_stream_holds_back_unfinished_characters(self, text: str) -> None:
        stream = IncrementalDecoder(self.tokenizer)
        shown = ""
        for number in self.tokenizer.encode(text):
            shown += stream.feed(number)
            assert text.startswith(shown)
        assert shown == text
        assert stream.finish() == ""

    def test_invalid_utf_8(self) -> None:
        assert self.tokenizer.decode([195], "replace") == "\ufffd"
        with pytest.raises(TokengapError, match="at byte 1 of 2") as caught:
            self.tokenizer.decode([97, 195])
        assert isinstance(caught.value.__cause__, UnicodeDecodeError)
        stream = IncrementalDecoder(self.tokenizer)
        stream.feed(195)
        with pytest.raises(TokengapError, match="valid UTF-8"):
            stream.finish()

    @pytest.mark.parametrize("number", [-1, 10**9])
    def test_unknown_id(self, number: int) -> None:
        with pytest.raises(TokengapError, match=f"no token with the id {number}; the highest id is"):
            self.tokenizer.decode([number])


class TestSpecialTokens:
    tokenizer = bpe.train(["a<b> c"], merges=0, special_tokens=["<b>", "<b>c"])

    def test_ids_come_after_all_that_text_can_become(self) -> None:
        assert self.tokenizer.artefact.special_tokens == {"<b>": 256, "<b>c": 257}
        assert self.tokenizer.artefact.vocabulary_size == 258

    def test_typed_text_is_text(self) -> None:
        assert self.tokenizer.encode("a<b>") == list(b"a<b>")

    def test_allowed_by_name(self) -> None:
        assert self.tokenizer.encode("a<b>c<b>", ["<b>"]) == [97, 256, 99, 256]
        assert self.tokenizer.encode("a<b>c<b>", ["<b>", "<b>c"]) == [97, 257, 256]
        encoded = self.tokenizer.encode_with_offsets("é<b>c", ["<b>"])
        assert encoded.byte_spans[2:] == ((2, 5), (5, 6))
        assert encoded.char_spans[2:] == ((1, 4), (4, 5))

    def test_unknown_name(self) -> None:
        with pytest.raises(TokengapError, match="no special token '<c>'; there are <b>, <b>c"):
            self.tokenizer.encode("x", ["<c>"])

    def test_documents(self) -> None:
        ids = self.tokenizer.encode_documents(["a", "<b>", ""], "<b>")
        assert ids == [97, 256, *b"<b>", 256, 256]
        assert self.tokenizer.decode(ids) == "a<b><b><b><b>"


class TestCharacters:
    tokenizer = bpe.train(["low lower"], merges=2, pretokenizer="words", alphabet="characters", special_tokens=[END])

    def test_unseen_characters_are_reported_unknown_tokens(self) -> None:
        unknown = self.tokenizer.artefact.unknown_id
        assert unknown == 7  # e l o r w, lo, low
        encoded = self.tokenizer.encode_with_offsets("lowé zé")
        assert list(encoded.ids) == [6, unknown, unknown, unknown] == self.tokenizer.encode("lowé zé")
        assert encoded.unknown == {"é": 2, "z": 1}
        assert encoded.byte_spans == ((0, 3), (3, 5), (6, 7), (7, 9))
        assert encoded.char_spans == ((0, 3), (3, 4), (5, 6), (6, 7))
        assert encoded.warnings == ("unknown_characters",)
        assert self.tokenizer.decode(encoded.ids) == "low\ufffd\ufffd\ufffd"

    def test_ids(self) -> None:
        assert self.tokenizer.artefact.special_tokens == {END: 8}
        assert self.tokenizer.artefact.vocabulary_size == 9

    @given(text=st.text(alphabet="low er\n", max_size=300))
    def test_known_text(self, text: str) -> None:
        tokenizer = bpe.train(["low lower\n"], merges=9, pretokenizer="none", alphabet="characters")
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert not tokenizer.unknown_characters(text)


def test_memory_of_chunks_is_bounded() -> None:
    tokenizer = bpe.train(["x"], merges=0)
    text = " ".join(map(str, range(150_000)))
    assert tokenizer.count(text) == len(text)
    assert len(tokenizer._memo) <= 1 << 16
    tokenizer.count("y" * 300)
    assert "y" * 300 not in tokenizer._memo
