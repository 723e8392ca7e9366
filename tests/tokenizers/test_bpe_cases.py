"""The published cases of the four documents, through the Python API."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tokengap.tokenizers import bpe
from tokengap.tokenizers.bpe import BpeTokenizer, Options, learn_from
from tokengap.tokenizers.bpe_corpus import texts
from tokengap.tokenizers.bpe_inspection import (
    Embedding,
    answer_cut,
    bracketed,
    expensive_words,
    merge_rows,
    pieces,
    sizes,
    word_dictionary,
)
from tokengap.tokenizers.bpe_tracing import pair_counts, trace, trace_training
from tokengap.tokenizers.errors import TokengapError
from tokengap.tokenizers.pretokenize import custom, pretokenizer
from tokengap.tokenizers.text import measure

Read = Callable[[str], Any]


@pytest.fixture(scope="module")
def cases(shared_json: Read) -> Callable[[str], dict[str, Any]]:
    return lambda name: {case["id"]: case for case in shared_json(f"cases/{name}.json")["cases"]}


@pytest.fixture(scope="module")
def workbook(shared_json: Read) -> Any:
    return shared_json("cases/03_workbook_train.json")


@pytest.fixture(scope="module")
def town(workbook: Any) -> BpeTokenizer:
    return bpe.train([workbook["corpus_text"]], merges=60, pretokenizer="workbook", special_tokens=["<|end|>"])


@pytest.fixture(scope="module")
def shop_lines(shared_json: Read) -> list[str]:
    lines: list[str] = shared_json("cases/13_shop.json")["training_lines"]
    return lines


@pytest.fixture(scope="module")
def shop(shop_lines: list[str]) -> BpeTokenizer:
    return letters(shop_lines, 60)


def letters(lines: list[str], merges: int) -> BpeTokenizer:
    return bpe.train(lines, merges=merges, pretokenizer="words", alphabet="characters")


def pairs(tokenizer: BpeTokenizer) -> list[list[int]]:
    return [[merge.left, merge.right] for merge in tokenizer.artefact.merges]


def by_word(tokenizer: BpeTokenizer, text: str) -> str:
    """Tokens with | between them and two spaces between words, as the shop document shows them."""
    return "  ".join("|".join(pieces(tokenizer, tokenizer.encode(word))) for word in text.split(" "))


def test_01_units(shared_json: Read) -> None:
    for case in shared_json("cases/01_units.json")["cases"]:
        text, expected = case["text"], case["expected"]
        if "joined_words" in expected:
            assert " ".join(text.split()) == expected["joined_words"] != text
            continue
        size = measure(text)
        assert {"chars": size.chars, "words": size.words, "bytes": size.bytes} | {
            "byte_values": bpe.train([], merges=0).encode(text)
        } == expected


def test_02_chunks_of_the_corpus(shared_json: Read, town: BpeTokenizer, workbook: Any) -> None:
    expected, training = shared_json("cases/02_chunks.json")["corpus"], town.artefact.training
    assert (training["chunks"], training["distinct_chunks"]) == (expected["chunks_total"], expected["chunks_distinct"])
    size = measure(workbook["corpus_text"])
    assert (size.bytes, size.chars, size.words) == (expected["bytes"], expected["chars"], expected["words"])


def test_03_workbook(cases: Any, town: BpeTokenizer, workbook: Any) -> None:
    case = cases("03_workbook_train")
    rows = merge_rows(town)
    plain = bpe.train([workbook["corpus_text"]], merges=60, pretokenizer="workbook")
    assert plain.artefact.vocabulary_size == case["train60-vocab"]["expected"]["vocab_size"]
    assert [row.piece for row in rows[:10]] == case["train60-first10"]["expected"]["first10"]
    assert [row.piece for row in rows[-5:]] == case["train60-last5"]["expected"]["last5"]
    expected = case["train60-all"]["expected"]
    assert pairs(town) == expected["merges"]
    assert [row.piece for row in rows] == expected["pieces"]
    assert [row.count for row in rows] == expected["counts"]
    assert [row.candidates for row in rows] == expected["candidates_tied"]
    assert [town.token_bytes(row.id).hex() for row in rows] == expected["pieces_hex"]
    held_out = case["heldout"]
    ids = town.encode(held_out["text"])
    assert ids == held_out["expected"]["ids"]
    assert bracketed(town, ids) == held_out["expected"]["pieces"]
    assert measure(held_out["text"]).bytes == held_out["expected"]["bytes"]


def test_03_until_no_pair_is_left(cases: Any, workbook: Any) -> None:
    expected = cases("03_workbook_train")["train-all196"]["expected"]
    tokenizer = bpe.train([workbook["corpus_text"]], merges=1000, pretokenizer="workbook")
    assert len(tokenizer.artefact.merges) == expected["n_learned"]
    assert tokenizer.artefact.vocabulary_size == expected["vocab_size"]
    assert pairs(tokenizer) == expected["merges"]
    assert [tokenizer.token_bytes(row.id).hex() for row in merge_rows(tokenizer)] == expected["pieces_hex"]


@pytest.mark.parametrize("name", ["hand-and", "hand-ten"])
def test_04_by_hand(cases: Any, name: str) -> None:
    case, expected = cases("04_check_hand")[name], cases("04_check_hand")[name]["expected"]
    tokenizer = bpe.train([case["training_text"]], merges=case["n_merges"], pretokenizer="workbook")
    rows = merge_rows(tokenizer)
    assert [row.piece for row in rows] == expected["merges"]
    assert pairs(tokenizer) == expected["ids"]
    assert [row.count for row in rows] == expected["counts"]
    assert [row.candidates for row in rows] == expected["candidates_tied"]
    for text, shown in expected["encodings"].items():
        assert bracketed(tokenizer, tokenizer.encode(text)) == shown


def test_04_pairs_before_the_first_merge(cases: Any) -> None:
    case = cases("04_check_hand")["hand-and-table"]
    counts = pair_counts(pretokenizer("workbook").chunks(case["training_text"]))
    assert {left + right: count for (left, right), count in counts.items()} == case["expected"][
        "pair_counts_before_merge_1"
    ]


def test_05_round_trips(cases: Any, town: BpeTokenizer, workbook: Any) -> None:
    for name, case in cases("05_roundtrip").items():
        expected = case["expected"]
        if "round_trip" in expected:
            ids = town.encode(case["text"])
            assert ids == expected["ids"], name
            assert len(ids) == expected["tokens"]
            assert bracketed(town, ids) == expected["pieces"]
            assert town.decode(ids) == case["text"]
        elif name == "rt-wordlevel":
            dictionary = word_dictionary([workbook["corpus_text"]], lowercase=True)
            assert dictionary.shown(case["text"]) == expected["words"]
        elif name == "rt-one-token-at-a-time":
            ids = town.encode(case["text"])
            assert ids == expected["ids"]
            assert [town.decode([number], "replace") for number in ids] == expected["decoded_each"]
        elif name == "rt-invalid-ids":
            assert town.decode(case["ids"], "replace") == expected["replace"]
            with pytest.raises(TokengapError) as caught:
                town.decode(case["ids"])
            assert type(caught.value.__cause__).__name__ == expected["strict"]
        else:
            assert name == "rt-surrogate"  # counted as U+FFFD with a warning, the same at every door
            encoded = town.encode_with_offsets(json.loads(case["text_json_escape"]))
            assert list(encoded.ids) == town.encode("\ufffd")
            assert encoded.warnings == ("lone_surrogate",)


def test_06_special_token(cases: Any, town: BpeTokenizer) -> None:
    case = cases("06_special")
    documents, expected = case["special-docs"]["docs"], case["special-docs"]["expected"]
    ids = town.encode_documents(documents, "<|end|>")
    assert ids == expected["ids"]
    assert town.artefact.special_tokens == {"<|end|>": expected["end_id"]}
    assert town.decode(ids) == expected["decoded"]
    assert ids.count(expected["end_id"]) == expected["real_end_tokens"]
    assert town.decode(ids).count("<|end|>") == expected["markers_in_decoded_text"]
    typed = case["special-typed"]
    assert town.encode(typed["text"]) == typed["expected"]["ids"]
    assert bracketed(town, town.encode(typed["text"])) == typed["expected"]["pieces"]


def test_07_sizes(cases: Any, workbook: Any, shared_json: Read) -> None:
    table = list(cases("07_sizes").values())
    options = Options(1000, pretokenizer=pretokenizer("workbook"))
    artefact, learned = learn_from(texts([workbook["corpus_text"]]), options)
    rows = list(sizes(artefact, learned.tokens, [case["n_merges"] for case in table], workbook["held_out"]))
    for row, case in zip(rows, table, strict=True):
        shown = {"vocab": row.vocabulary, "corpus_tokens": row.corpus_tokens, "heldout_tokens": row.held_out_tokens}
        assert shown == case["expected"]
    held_out = {row.asked: row.held_out_tokens or 0 for row in rows}
    derived = shared_json("cases/07_sizes.json")["derived"]
    assert held_out[0] - held_out[60] == derived["first60_saves_on_heldout"]
    assert held_out[60] - held_out[1000] == derived["next136_saves"]
    assert len(artefact.merges) == derived["merges_until_exhausted"]


def test_08_probes(cases: Any, town: BpeTokenizer) -> None:
    for name, case in cases("08_probes").items():
        ids = town.encode(case["text"])
        shown = {"tokens": len(ids), "ids": ids, "pieces": bracketed(town, ids)}
        assert shown == case["expected"], name
        assert town.decode(ids) == case["text"]


def test_09_embedding(cases: Any) -> None:
    case = cases("09_embedding")["emb-gpt2-small"]
    table = Embedding(case["vocab"], case["width"])
    assert table.numbers == case["expected"]["numbers"]
    assert round(table.share_of(117_000_000), 4) == case["expected"]["share_of_117M"]


@pytest.mark.parametrize("name", ["aaab", "low-words", "low-words-next", "low-stream"])
def test_10_traces(cases: Any, name: str) -> None:
    case = cases("10_traces")[name]
    text = case.get("text") or " ".join(case["words"])
    rule = pretokenizer("words" if "words" in case else "none")
    steps = case["expected"]["steps"]
    for shown, step in zip(trace_training(text, len(steps), rule), steps, strict=True):
        assert [shown.left, shown.right] == step["merge"]
        assert shown.count == step["count"]
        chunks = [list(chunk) for chunk in shown.chunks]
        assert chunks == (step["words"] if "words" in step else [step["tokens"]])
        if "tied" in step:
            assert [list(pair) for pair in shown.tied] == step["tied"]
    tokenizer = bpe.train([text], merges=len(steps), pretokenizer=rule, alphabet="characters")
    assert [[row.left, row.right] for row in merge_rows(tokenizer)] == [step["merge"] for step in steps]


def test_10_counts_and_ends(cases: Any) -> None:
    case = cases("10_traces")
    counts = pair_counts([case["aaab-counts"]["text"]])
    expected = case["aaab-counts"]["expected"]["pair_counts"]
    assert {left + right: count for (left, right), count in counts.items()} == expected
    tokenizer = bpe.train([case["aaab"]["text"]], merges=3, pretokenizer="none")
    assert len(tokenizer.encode(case["aaab"]["text"])) == case["aaab"]["expected"]["final_tokens"]
    assert [row.piece for row in merge_rows(tokenizer)] == case["aaab"]["expected"]["learned"]
    words = trace_training("low lower lowest", 2, pretokenizer("words"))
    assert list(words[-1].chunks[2]) == case["low-words"]["expected"]["lowest_after_2"]


@pytest.fixture(scope="module")
def shakespeare(shared_dir: Path) -> str:
    return (shared_dir / "texts/tinyshakespeare.txt").read_bytes().decode()[:50_000]


def test_11_shakespeare(cases: Any, shakespeare: str) -> None:
    case = cases("11_shakespeare")
    tokenizer = bpe.train([shakespeare], merges=200, pretokenizer="none")
    expected, merges = case["shakes-200"]["expected"], case["shakes-merges"]["expected"]
    size = measure(shakespeare)
    assert (size.chars, size.bytes) == (expected["chars"], expected["bytes"])
    assert tokenizer.count(shakespeare) == expected["tokens"] == tokenizer.artefact.training["tokens"]
    assert round(size.bytes / tokenizer.count(shakespeare), 4) == expected["bytes_per_token"]
    assert pairs(tokenizer) == merges["merges"]
    assert [row.count for row in merge_rows(tokenizer)] == merges["counts"]
    assert [tokenizer.token_bytes(row.id).hex() for row in merge_rows(tokenizer)] == merges["pieces_hex"]
    trips = case["shakes-roundtrip"]
    assert [tokenizer.count(text) for text in trips["texts"]] == trips["expected"]["tokens"]
    assert [tokenizer.decode(tokenizer.encode(text)) for text in trips["texts"]] == trips["texts"]
    chunked = bpe.train([shakespeare], merges=200, pretokenizer="workbook")
    assert chunked.count(shakespeare) == case["shakes-chunked"]["expected"]["tokens"]


def test_13_shop_rules(cases: Any, shop: BpeTokenizer) -> None:
    rules = cases("13_shop")["shop-rules60"]["expected"]["rules"]
    for row, rule in zip(merge_rows(shop), rules, strict=True):
        shown = {"left": row.left, "right": row.right, "count": row.count, "candidates_tied": row.candidates}
        assert {"n": rule["n"]} | shown == rule


def test_13_shop_sentences(cases: Any, shop: BpeTokenizer) -> None:
    case = cases("13_shop")
    for name in ("shop-sent-the", "shop-sent-when", "shop-sent-complaint"):
        text, expected = case[name]["text"], case[name]["expected"]
        assert by_word(shop, text) == expected["pieces"]
        assert shop.count(text) == expected["tokens"]
        assert len(text.replace(" ", "")) == expected["letters"]
        assert measure(text).words == expected["words"]
    assert by_word(shop, case["shop-orders"]["word"]) == case["shop-orders"]["expected"]["pieces"]
    number = case["shop-1042"]
    assert shop.count(number["word"]) == number["expected"]["tokens"]
    assert shop.encode_with_offsets(number["word"]).unknown == {"2": 1}


def test_13_three_rules(cases: Any, shop_lines: list[str]) -> None:
    case = cases("13_shop")["shop-there"]
    three = letters(shop_lines, 3)
    assert [[row.left, row.right] for row in merge_rows(three)] == case["rules"]
    assert by_word(three, case["word"]) == case["expected"]["pieces"]


@pytest.mark.parametrize("name", ["shop-rules-60", "shop-rules-100", "shop-rules-200"])
def test_13_shop_more_rules(cases: Any, shop_lines: list[str], name: str) -> None:
    case, expected = cases("13_shop")[name], cases("13_shop")[name]["expected"]
    tokenizer = letters(shop_lines, case["n_rules_asked"])
    messages = cases("13_shop")["shop-price"]["messages"]
    rows = merge_rows(tokenizer)
    assert len(rows) == expected["rules_learned"]
    assert [tokenizer.count(text) for text in messages] == expected["tokens"]
    assert [by_word(tokenizer, text) for text in messages] == expected["pieces"]
    assert [rows[-1].left, rows[-1].right, rows[-1].count] == expected["last_real_rule"]


def test_13_when_it_stops_helping(cases: Any, shop_lines: list[str]) -> None:
    case = cases("13_shop")
    expected = case["shop-stop-helping"]["expected"]
    messages = case["shop-price"]["messages"]
    artefact, learned = learn_from(
        texts(shop_lines), Options(1000, pretokenizer=pretokenizer("words"), alphabet="characters")
    )
    assert len(learned.merges) == case["shop-exhausted"]["expected"]["rules_until_exhausted"]
    whole = {int(merges): tokens for merges, tokens in expected["whole_text_tokens"].items()}
    assert {merges: learned.tokens[merges] for merges in whole} == whole
    counts = [[letters(shop_lines, merges).count(text) for text in messages] for merges in range(66, 104)]
    last = expected["last_rule_that_changes_any_of_the_three"]
    assert counts[last - 66] == expected["tokens_from_there"] != counts[last - 67]
    final = expected["first_sentence_final_from_rule"]
    assert counts[final - 66][0] == expected["tokens_from_there"][0] != counts[final - 67][0]
    everything = BpeTokenizer(artefact)
    assert [everything.count(text) for text in messages] == expected["tokens_from_there"]


def test_13_most_expensive_words(cases: Any, shop: BpeTokenizer, shop_lines: list[str]) -> None:
    expected = cases("13_shop")["shop-most-expensive"]["expected"]
    words = expensive_words(shop, "\n".join(shop_lines), 6)
    assert [word for word, _ in words[:2]] == expected["words"]
    assert [len(ids) for _, ids in words[:2]] == [expected["tokens"]] * 2
    assert {word: "|".join(pieces(shop, ids)) for word, ids in words[:2]} == expected["pieces"]
    assert [[word, "|".join(pieces(shop, ids))] for word, ids in words[2:]] == expected["next"]


def test_13_cuts(cases: Any, shop: BpeTokenizer) -> None:
    inside = {6, 7}
    for name, case in cases("13_shop").items():
        if not name.startswith("shop-cut"):
            continue
        cut = answer_cut(shop, case["reply"], case["limit"])
        assert (cut.text, cut.truncated) == (case["expected"]["cut"], case["expected"]["truncated"]), name
        assert cut.inside_word == (case["limit"] in inside)
        if name == "shop-cut":
            assert cut.tokens == case["expected"]["reply_tokens"]
            assert by_word(shop, case["reply"]) == case["expected"]["pieces"]


def test_13_steps_and_dictionary(cases: Any, shop: BpeTokenizer, shop_lines: list[str]) -> None:
    case = cases("13_shop")
    steps = trace(shop, case["shop-steps"]["text"])
    assert [step.number for step in steps] == case["shop-steps"]["expected"]["rules_that_fire"]
    dictionary = word_dictionary(shop_lines)
    expected = case["shop-dictionary"]["expected"]
    assert len(dictionary.words) == expected["distinct_words"]
    assert {text: dictionary.look_up(text) for text in expected["ids"]} == expected["ids"]
    corpus, training = case["shop-corpus"]["expected"], shop.artefact.training
    assert (training["corpus"]["documents"], training["chunks"]) == (corpus["lines"], corpus["words"])
    assert " ".join(shop_lines).split().count("tomorrow") == corpus["tomorrow_count"]


@pytest.mark.parametrize("name", ["blog-published-ids", "blog-as-printed"])
def test_14_blog(cases: Any, name: str) -> None:
    case, expected = cases("14_blog")[name], cases("14_blog")[name]["expected"]
    text = case["training_text_value"]
    tokenizer = bpe.train([text], vocab_size=case["vocab_size"], pretokenizer="none")
    assert pairs(tokenizer) == expected["merges"]
    assert tokenizer.encode(case["text"]) == expected["ids"]
    assert len(expected["ids"]) == expected["n"]
    assert measure(text).bytes == expected["train_bytes"]
    assert tokenizer.count(text) == expected["train_tokens"]
    if "pieces" in expected:
        assert bracketed(tokenizer, expected["ids"]) == expected["pieces"]
    vocab = cases("14_blog")["blog-vocab"]["expected"]
    assert (len(tokenizer.artefact.merges), tokenizer.artefact.vocabulary_size) == (
        vocab["merge_tokens"],
        vocab["vocab"],
    )
    short = cases("14_blog")["blog-short"]
    assert [tokenizer.encode(text) for text in short["texts"]] == short["expected"]["ids"]
    for bytes_case in (cases("14_blog")["blog-bytes-emoji"], cases("14_blog")["blog-bytes-namaste"]):
        assert bytes_case["text"].encode().hex() == bytes_case["expected"]["bytes_hex"]


def test_15_ties(shared_json: Read, workbook: Any, shop_lines: list[str]) -> None:
    """What any other tie rule, chunk order or a kept pair table would get wrong."""
    sensitivity = shared_json("cases/15_tie_sensitivity.json")
    expected = sensitivity["workbook"]["expected"]
    options = Options(1000, pretokenizer=pretokenizer("workbook"))
    artefact, learned = learn_from(texts([workbook["corpus_text"]]), options)
    rows = list(sizes(artefact, learned.tokens, [20, 60, 150, 300], workbook["held_out"]))
    assert [row.corpus_tokens for row in rows] == expected["corpus_tokens_20_60_150_300"]
    assert [row.held_out_tokens for row in rows] == expected["heldout_20_60_150_300"]
    assert len(artefact.merges) == expected["total_merges"]
    often = bpe.train([workbook["corpus_text"]], merges=1000, pretokenizer="workbook", min_frequency=2)
    assert len(often.artefact.merges) == sensitivity["workbook"]["stop_below_frequency_2"]["total"]
    assert len(letters(shop_lines, 1000).artefact.merges) == sensitivity["shop"]["expected"]["exhausted"]


def test_documents_pattern_as_a_custom_rule(town: BpeTokenizer, workbook: Any) -> None:
    own = bpe.train([workbook["corpus_text"]], merges=60, pretokenizer=custom(r" ?\w+| ?[^\w\s]+|\s+"))
    assert pairs(own) == pairs(town)


def test_reported_training_faults(shared_json: Read) -> None:
    faults = {case["id"]: case for case in shared_json("cases/reported_faults.json")["cases"]}
    empty = faults["minbpe-114"]
    for text in empty["input"]["train_texts"]:
        tokenizer = bpe.train([text], merges=empty["input"]["n_merges"])
        assert len(tokenizer.artefact.merges) == empty["expected"]["merges"]
        works = empty["expected"]["encode_still_works"]
        assert tokenizer.encode(works["text"]) == works["ids"]
    runs = faults["minbpe-38"]
    tokenizer = bpe.train(["aaab"], merges=1, pretokenizer="none")
    assert pairs(tokenizer) == runs["input"]["merges"]
    assert [tokenizer.encode(text) for text in runs["input"]["texts"]] == runs["expected"]["ids"]
    order = faults["minbpe-90"]
    for text, merges in order["expected"]["merges"].items():
        rows = merge_rows(bpe.train([text], merges=order["input"]["n_merges"], pretokenizer="none"))
        assert [[row.piece, row.count] for row in rows] == merges
    with pytest.raises(TokengapError, match="too small"):
        bpe.train(["x"], vocab_size=faults["tokenizers-670"]["input"]["vocab_size"])
