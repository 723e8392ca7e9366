"""Pieces, merges, traces, sizes, cuts and the word dictionary, on small texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokengap.tokenizers import bpe, bpe_inspection
from tokengap.tokenizers.bpe import Artefact, BpeTokenizer
from tokengap.tokenizers.bpe_exchange import from_huggingface, from_ranks, to_huggingface
from tokengap.tokenizers.bpe_inspection import (
    Embedding,
    MergeRow,
    answer_cut,
    bracketed,
    expensive_words,
    merge_rows,
    piece,
    pieces,
    sizes,
    word_dictionary,
)
from tokengap.tokenizers.bpe_tracing import trace, trace_training
from tokengap.tokenizers.bpe_training import learn
from tokengap.tokenizers.errors import TokengapError
from tokengap.tokenizers.pretokenize import pretokenizer
from tokengap.tokenizers.split_rules import RULES

RIVER = "the river bends, the river bends; thé rivér"
TOKENIZER = bpe.train([RIVER], merges=20, pretokenizer="workbook", special_tokens=["<|end|>"])
LETTERS = bpe.train([RIVER], merges=20, pretokenizer="words", alphabet="characters")


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ("the", "the"),
        ("é\n\t\\'\"", r"\xc3\xa9\n\t\\\'" + '"'),
        ("it's", "it's"),
        ("\x00\x7f", r"\x00\x7f"),
    ],
)
def test_escaped(data: str, shown: str) -> None:
    assert bpe_inspection.escaped(data.encode()) == shown


def test_pieces() -> None:
    assert bracketed(TOKENIZER, TOKENIZER.encode("the river ü")) == r"[the][ river][ ][\xc3][\xbc]"
    assert piece(TOKENIZER, TOKENIZER.artefact.special_tokens["<|end|>"]) == "<|end|>"
    assert pieces(LETTERS, LETTERS.encode("théx\u200b")) == ["thé", "<unk>", "<unk>"]
    with pytest.raises(TokengapError, match="no token with the id 9999"):
        piece(TOKENIZER, 9999)


def test_merge_rows() -> None:
    first, second, third, fourth, *_ = merge_rows(TOKENIZER)
    assert first == MergeRow(256, 116, 104, "t", "h", "th", count=3, tied=True, candidates=4)
    assert (second.piece, third.left_id, fourth.piece) == (" r", second.id, " riv")
    assert (fourth.count, fourth.tied, fourth.candidates) == (3, False, 1)


def test_merge_rows_of_an_import_have_no_counts() -> None:
    imported = BpeTokenizer(from_huggingface(to_huggingface(TOKENIZER.artefact)))
    ours, theirs = merge_rows(TOKENIZER), merge_rows(imported)
    assert [row.piece for row in theirs] == [row.piece for row in ours]
    assert {(row.count, row.tied, row.candidates) for row in theirs} == {(None, None, None)}


@pytest.mark.parametrize("tokenizer", [TOKENIZER, LETTERS], ids=["bytes", "characters"])
@given(text=st.text(alphabet="the rivébndsz😀", max_size=30))
def test_a_trace_ends_with_the_encoding(tokenizer: BpeTokenizer, text: str) -> None:
    steps = trace(tokenizer, text)
    assert [step.number for step in steps] == sorted({step.number for step in steps})
    if steps:
        assert [shown for chunk in steps[-1].chunks for shown in chunk] == pieces(tokenizer, tokenizer.encode(text))


def test_trace() -> None:
    steps = trace(LETTERS, "there")
    assert [(step.number, step.left, step.right) for step in steps] == [(1, "t", "h"), (4, "th", "e")]
    assert steps[-1].chunks == (("the", "r", "e"),)


def test_what_cannot_be_traced() -> None:
    with pytest.raises(TokengapError, match="too long to trace"):
        trace(TOKENIZER, "x" * 10_001)
    ranks = BpeTokenizer(from_ranks({bytes([value]): value for value in range(256)}, pretokenizer("gpt2"), {}))
    with pytest.raises(TokengapError, match="keeps no merges"):
        trace(ranks, "x")


@pytest.mark.parametrize("rule", RULES)
@given(text=st.text(alphabet="abc \n", max_size=60))
def test_training_in_the_open_learns_what_the_trainer_learns(rule: str, text: str) -> None:
    tokenizer = bpe.train([text], merges=10, pretokenizer=rule, alphabet="characters")
    shown = [(row.left, row.right, row.count, row.candidates) for row in merge_rows(tokenizer)]
    steps = trace_training(text, 10, pretokenizer(rule))
    assert [(step.left, step.right, step.count, len(step.tied)) for step in steps] == plain(shown)


def plain(rows: list[tuple[str, str, int | None, int | None]]) -> list[tuple[str, str, int | None, int | None]]:
    """Rows with line feeds as themselves, which pieces show escaped."""
    return [(left.replace("\\n", "\n"), right.replace("\\n", "\n"), count, tied) for left, right, count, tied in rows]


def test_training_in_the_open_over_bytes() -> None:
    (step,) = trace_training("éé", 1, pretokenizer("none"), "bytes")
    assert (step.left, step.right, step.count) == (r"\xc3", r"\xa9", 2)
    assert step.chunks == ((r"\xc3\xa9", r"\xc3\xa9"),)


def test_sizes() -> None:
    artefact = TOKENIZER.artefact
    learned = learn(dict.fromkeys(artefact.pretokenizer.chunks("the then"), 1), 50)
    shorter = Artefact("bytes", artefact.pretokenizer, merges=learned.merges)
    rows = list(sizes(shorter, learned.tokens, [0, 2, 1000], "then"))
    assert [(row.asked, row.merges, row.vocabulary) for row in rows] == [(0, 0, 256), (2, 2, 258), (1000, 4, 260)]
    assert [(row.corpus_tokens, row.held_out_tokens) for row in rows] == [(8, 4), (4, 2), (2, 2)]
    for row in rows:
        cut = BpeTokenizer(Artefact("bytes", artefact.pretokenizer, merges=learned.merges[: row.merges]))
        assert cut.count("the then") == row.corpus_tokens
        assert cut.count("then") == row.held_out_tokens
    assert next(sizes(shorter, learned.tokens, [1])).held_out_tokens is None


def test_expensive_words() -> None:
    words = expensive_words(LETTERS, "the zebra zebu the\nrivers", 2)
    assert [(word, len(ids)) for word, ids in words] == [("zebra", 5), ("zebu", 4)]


@pytest.mark.parametrize(
    ("limit", "text", "inside_word", "inside_character"),
    [
        (0, "", False, False),
        (1, "the", False, False),
        (2, "the river", False, False),
        (3, "the river ", False, False),
        (4, "the river é", True, False),
        (5, "the river éq", True, False),
    ],
)
def test_answer_cut(limit: int, text: str, inside_word: bool, inside_character: bool) -> None:
    cut = answer_cut(TOKENIZER, "the river éqx", limit)
    assert (cut.tokens, cut.truncated) == (6, True)
    assert (cut.text, cut.inside_word, cut.inside_character) == (text, inside_word, inside_character)


def test_a_cut_inside_a_character() -> None:
    cut = answer_cut(TOKENIZER, "an 😀", 5)
    assert (cut.text, cut.inside_word, cut.inside_character) == ("an ", False, True)


def test_answer_that_fits() -> None:
    for limit in (6, 7):
        cut = answer_cut(TOKENIZER, "the river éqx", limit)
        assert (cut.text, cut.truncated, cut.inside_word, cut.inside_character) == (
            "the river éqx",
            False,
            False,
            False,
        )
    with pytest.raises(TokengapError, match="negative"):
        answer_cut(TOKENIZER, "x", -1)


@given(text=st.text(alphabet=st.one_of(st.sampled_from("the rivérs😀"), st.characters())), limit=st.integers(0, 40))
def test_a_cut_is_the_longest_whole_text_within_the_limit(text: str, limit: int) -> None:
    cut = answer_cut(TOKENIZER, text, limit)
    ids = TOKENIZER.encode(text)[:limit]
    assert TOKENIZER.decode(ids, "replace").startswith(cut.text)
    if cut.inside_character:
        assert len(cut.text.encode()) < sum(len(TOKENIZER.token_bytes(number)) for number in ids)
    else:
        assert cut.text == TOKENIZER.decode(ids)


def test_word_dictionary() -> None:
    dictionary = word_dictionary(["the River", "the boat"], lowercase=True)
    assert dictionary.words == {"the": 0, "river": 1, "boat": 2}
    assert dictionary.look_up("The river boats") == [0, 1, None]
    assert dictionary.shown("The river boats") == ["the", "river", "<unk>"]
    assert word_dictionary(["The"]).look_up("the") == [None]


def test_embedding() -> None:
    assert Embedding(50257, 768).share_of(117_000_000) == pytest.approx(0.3299, abs=1e-4)
