"""``tokengap bpe encode``, ``decode`` and ``inspect``: what a tokenizer does to texts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from ..estimators.counting import Text
from ..tokenizers import bpe, bpe_inspection, bpe_tracing
from ..tokenizers.bpe_artefact import UNKNOWN
from ..tokenizers.bpe_encoding import BpeTokenizer, Encoded
from ..tokenizers.counter import WARNINGS
from ..tokenizers.errors import TokengapError
from ..tokenizers.text import well_formed
from .inputs import STDIN, Skipped, find_files, read_text, read_texts
from .reports import warn, write_json

_MOST_DIGITS = 18
_SHOWN_MERGES = 20


def encode(args: argparse.Namespace) -> int:
    tokenizer = bpe.load(args.tokenizer)
    end = tokenizer.encode_documents([""], args.end) if args.end is not None else []
    results = []
    for text in _texts(args):
        encoded = tokenizer.encode_with_offsets(text.text, args.allow_special)
        _warn(text.source, encoded)
        ids = [*encoded.ids, *end]
        if args.json:
            results.append(_encoded_json(tokenizer, text.source, ids, encoded, offsets=args.offsets))
        elif args.pieces:
            print(bpe_inspection.bracketed(tokenizer, ids))
        else:
            print(*ids)
    if args.json:
        fingerprint = tokenizer.artefact.fingerprint
        write_json({"tokenizer": args.tokenizer, "fingerprint": fingerprint, "results": results})
    return 0


def _encoded_json(
    tokenizer: BpeTokenizer, source: str, ids: list[int], encoded: Encoded, *, offsets: bool
) -> dict[str, Any]:
    body: dict[str, Any] = {"source": source, "tokens": len(ids), "ids": ids}
    body["pieces"] = bpe_inspection.pieces(tokenizer, ids)
    if offsets:
        body |= {"byte_spans": encoded.byte_spans, "char_spans": encoded.char_spans}
    return body | {"unknown": dict(encoded.unknown), "warnings": list(encoded.warnings)}


def _warn(source: str, encoded: Encoded) -> None:
    for code in encoded.warnings:
        if code == "unknown_characters":
            shown = ", ".join(f"{character!r} ({times})" for character, times in encoded.unknown.items())
            warn(f"{source}: not in the alphabet, encoded as {UNKNOWN}: {shown}")
        else:
            warn(f"{source}: {WARNINGS.get(code, code)}")


def decode(args: argparse.Namespace) -> int:
    tokenizer = bpe.load(args.tokenizer)
    ids = [number for path in args.paths or [STDIN] for number in _ids(read_text(path), path)]
    text = tokenizer.decode(ids, args.errors)
    if tokenizer.artefact.pretokenizer.lossy:
        warn("the tokenizer drops spaces and line ends, so the text comes without them")
    if args.json:
        write_json({"tokens": len(ids), "text": text})
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
    return 0


def _ids(text: str, source: str) -> Iterable[int]:
    words = text.translate(dict.fromkeys(map(ord, "[],"), " ")).split()
    for position, word in enumerate(words, 1):
        if not (word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS):
            raise TokengapError(f"{source}: word {position} is not an id: {word[:40]!r}")
        yield int(word)


def inspect(args: argparse.Namespace) -> int:
    tokenizer = bpe.load(args.tokenizer)
    wants = (args.expensive, args.answer_limit, args.dictionary, args.chunks or None, args.trace or None)
    asks_text = any(want is not None for want in wants)
    texts = list(_texts(args)) if asks_text or args.paths or args.text else []
    body = _described(tokenizer, args)
    body["texts"] = [_inspected(tokenizer, text, args) for text in texts]
    if args.json:
        body["merges"] = [asdict(row) for row in bpe_inspection.merge_rows(tokenizer)]
        write_json(body)
        return 0
    _print_described(tokenizer, body)
    for text in body["texts"]:
        _print_inspected(text)
    return 0


def _described(tokenizer: BpeTokenizer, args: argparse.Namespace) -> dict[str, Any]:
    artefact = tokenizer.artefact
    body: dict[str, Any] = {
        "tokenizer": args.tokenizer,
        "fingerprint": artefact.fingerprint,
        "alphabet": artefact.alphabet,
        "pretokenizer": asdict(artefact.pretokenizer) | {"lossy": artefact.pretokenizer.lossy},
        "vocabulary": artefact.vocabulary_size,
        "special_tokens": dict(artefact.special_tokens),
        "training": dict(artefact.training),
    }
    if args.width is not None:
        if args.width < 1:
            raise TokengapError(f"the width of an embedding is at least 1, not {args.width}")
        table = bpe_inspection.Embedding(artefact.vocabulary_size, args.width)
        body["embedding"] = asdict(table) | {"numbers": table.numbers}
    return body


def _inspected(tokenizer: BpeTokenizer, text: Text, args: argparse.Namespace) -> dict[str, Any]:
    encoded = tokenizer.encode_with_offsets(text.text)
    _warn(text.source, encoded)
    body: dict[str, Any] = {"source": text.source, "tokens": len(encoded.ids)}
    body["pieces"] = bpe_inspection.pieces(tokenizer, encoded.ids)
    if args.chunks:
        body["chunks"] = tokenizer.artefact.pretokenizer.chunks(well_formed(text.text)[0])
    if args.trace:
        body["trace"] = [asdict(step) for step in bpe_tracing.trace(tokenizer, text.text)]
    if args.expensive is not None:
        body["expensive_words"] = [
            {"word": word, "tokens": len(ids), "pieces": bpe_inspection.pieces(tokenizer, ids)}
            for word, ids in bpe_inspection.expensive_words(tokenizer, text.text, args.expensive)
        ]
    if args.answer_limit is not None:
        body["answer"] = asdict(bpe_inspection.answer_cut(tokenizer, text.text, args.answer_limit))
    if args.dictionary is not None:
        dictionary = bpe_inspection.word_dictionary([read_text(args.dictionary)], lowercase=args.lowercase)
        numbers = dictionary.look_up(text.text)
        body["dictionary"] = {
            "words": len(dictionary.words),
            "ids": numbers,
            "shown": dictionary.shown(text.text),
            "unknown": numbers.count(None),
        }
    return body


def _print_described(tokenizer: BpeTokenizer, body: dict[str, Any]) -> None:
    rule = body["pretokenizer"]
    print(f"{body['tokenizer']}: {body['vocabulary']:,} tokens over {body['alphabet']}, {body['fingerprint'][:19]}")
    print(f"split by {rule['name']}, Unicode {rule['unicode_version']}" + (" (lossy)" if rule["lossy"] else ""))
    for name, number in body["special_tokens"].items():
        print(f"special token {name} is {number}")
    if table := body.get("embedding"):
        print(f"an embedding of width {table['width']:,} holds {table['numbers']:,} numbers")
    rows = bpe_inspection.merge_rows(tokenizer)
    for number, row in enumerate(rows[:_SHOWN_MERGES], 1):
        known = "" if row.count is None else f" ({row.count:,}{f', {row.candidates} tied' if row.tied else ''})"
        print(f"{number}. [{row.left}]+[{row.right}]{known}")
    if len(rows) > _SHOWN_MERGES:
        print(f"and {len(rows) - _SHOWN_MERGES:,} more merges; --json lists them all")


def _print_inspected(body: dict[str, Any]) -> None:
    print(f"\n{body['source']}: {body['tokens']:,} tokens")
    if len(body["pieces"]) <= bpe_tracing.MAX_TRACED:
        print(_brackets(body["pieces"]))
    if "chunks" in body:
        print(
            f"{len(body['chunks']):,} chunks: {_brackets([bpe_inspection.escaped(c.encode()) for c in body['chunks']])}"
        )
    for step in body.get("trace", ()):
        print(f"merge {step['number']}: {'  '.join('|'.join(chunk) for chunk in step['chunks'])}")
    for word in body.get("expensive_words", ()):
        print(f"{word['tokens']} tokens: {_brackets(word['pieces'])}")
    if answer := body.get("answer"):
        where = "inside a word" if answer["inside_word"] else "between words"
        cut = f"cut {where}" if answer["truncated"] else "not cut"
        print(f"limit {answer['limit']}, {cut}: {answer['text']}")
    if dictionary := body.get("dictionary"):
        print(f"a dictionary of {dictionary['words']:,} words: {' '.join(dictionary['shown'])}")


def _brackets(pieces: list[str]) -> str:
    return "".join(f"[{piece}]" for piece in pieces)


def _texts(args: argparse.Namespace) -> list[Text]:
    if not args.paths and not args.text and sys.stdin is not None and sys.stdin.isatty():
        raise TokengapError("there is no text: name a file or directory, give --text, or pipe one in")
    found = find_files(args.paths or ([] if args.text else [STDIN]))
    skipped: list[Skipped] = []
    texts = list(read_texts(found, args.text, skipped))
    for file in skipped:
        warn(f"skipped {file.source}: {file.reason}")
    return texts
