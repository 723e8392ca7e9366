"""``tokengap bpe train``, ``sweep``, ``export`` and ``import``: what makes tokenizers and moves them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ..estimators.reading import BINARY_HEAD, NotTextError, check_head
from ..tokenizers import bpe, bpe_artefact, bpe_corpus, bpe_exchange, bpe_inspection
from ..tokenizers.bpe_artefact import Artefact
from ..tokenizers.bpe_corpus import Document
from ..tokenizers.bpe_training import Learned
from ..tokenizers.counter import WARNINGS
from ..tokenizers.errors import TokengapError
from ..tokenizers.files import check_writable, write_atomically
from ..tokenizers.pretokenize import Pretokenizer, custom, pretokenizer
from .inputs import STDIN, Found, find_files, read_text
from .reports import warn, write_json

if TYPE_CHECKING:
    from rich.progress import Progress

_WORTH_WORKERS = 16 << 20  # bytes of text from which on starting processes pays


def train(args: argparse.Namespace) -> int:
    target = Path(args.output)
    options = bpe.Options(
        args.merges, args.vocab_size, _rule(args), args.alphabet, args.min_frequency, tuple(args.special)
    )
    check_writable(target)
    artefact, learned = _learn(args, options, target)
    bpe_artefact.save(artefact, target)
    training = artefact.training
    body = {
        "tokenizer": args.output,
        "fingerprint": artefact.fingerprint,
        "merges": len(learned.merges),
        "vocabulary": artefact.vocabulary_size,
        "special_tokens": dict(artefact.special_tokens),
        "training": dict(training),
    }
    if args.json:
        write_json(body)
        return 0
    for code in training["warnings"]:
        warn(WARNINGS.get(code, code))
    corpus = training["corpus"]
    print(f"{len(learned.merges):,} merges: a vocabulary of {artefact.vocabulary_size:,} tokens{_early(args, learned)}")
    print(
        f"{corpus['bytes']:,} bytes of text are {training['tokens']:,} tokens now, in {training['chunks']:,} chunks "
        f"({training['distinct_chunks']:,} distinct)"
    )
    print(f"wrote {args.output}, {artefact.fingerprint[:19]}")
    return 0


def _early(args: argparse.Namespace, learned: Learned) -> str:
    if args.merges is None or len(learned.merges) >= args.merges:
        return ""
    often = "" if args.min_frequency == 1 else f" that occurs {args.min_frequency} times"
    return f" ({args.merges:,} merges were asked for, but no pair{often} is left)"


def sweep(args: argparse.Namespace) -> int:
    asked = _numbers(args.merges)
    held_out = read_text(args.held_out) if args.held_out else None
    options = bpe.Options(
        max(asked), pretokenizer=_rule(args), alphabet=args.alphabet, min_frequency=args.min_frequency
    )
    artefact, learned = _learn(args, options)
    rows = list(bpe_inspection.sizes(artefact, learned.tokens, asked, held_out))
    if args.json:
        write_json({"rows": [asdict(row) for row in rows]})
        return 0
    from .tables import write_table

    held = [] if held_out is None else ["held-out tokens"]
    shown = [
        [f"{row.merges:,}", f"{row.vocabulary:,}", f"{row.corpus_tokens:,}"]
        + ([] if row.held_out_tokens is None else [f"{row.held_out_tokens:,}"])
        for row in rows
    ]
    write_table(["merges", "vocabulary", "corpus tokens", *held], shown, text=0)
    return 0


def export(args: argparse.Namespace) -> int:
    artefact = bpe_artefact.load(Path(args.tokenizer))
    _keep_inputs(Path(args.output), [args.tokenizer])
    write = bpe_exchange.to_tiktoken if args.format == "tiktoken" else bpe_exchange.to_huggingface
    write_atomically(Path(args.output), write(artefact))
    pattern = bpe_exchange.exported_pattern(artefact.pretokenizer)
    if args.json:
        body = {"output": args.output, "format": args.format, "fingerprint": artefact.fingerprint}
        write_json(body | {"pattern": pattern, "special_tokens": dict(artefact.special_tokens)})
        return 0
    print(f"wrote {args.output}: {artefact.vocabulary_size:,} tokens")
    if args.format == "tiktoken":
        print("the file has the ranks alone; --json also prints the pattern and the special tokens it needs")
    return 0


def import_(args: argparse.Namespace) -> int:
    source = Path(args.source)
    content = bpe_exchange.read(source)
    given = args.pretokenizer or args.pattern or args.special
    try:
        if content.lstrip()[:1] == b"{":
            if given:
                raise TokengapError("a tokenizer.json has its split rule and special tokens in it; give none")
            artefact = bpe_exchange.from_huggingface(content)
        else:
            artefact = bpe_exchange.from_tiktoken(content, _imported_rule(args), _special_ids(args.special))
    except TokengapError as error:
        raise TokengapError(f"{source} cannot be imported: {error}") from error
    _keep_inputs(Path(args.output), [args.source])
    bpe_artefact.save(artefact, Path(args.output))
    if args.json:
        body = {"tokenizer": args.output, "fingerprint": artefact.fingerprint}
        write_json(body | {"vocabulary": artefact.vocabulary_size, "special_tokens": dict(artefact.special_tokens)})
    else:
        print(f"wrote {args.output}: {artefact.vocabulary_size:,} tokens, {artefact.fingerprint[:19]}")
    return 0


def _rule(args: argparse.Namespace) -> Pretokenizer:
    return custom(args.pattern) if args.pattern is not None else pretokenizer(args.pretokenizer)


def _imported_rule(args: argparse.Namespace) -> Pretokenizer:
    if args.pattern is not None:
        return custom(args.pattern, rust=True)
    if args.pretokenizer is None:
        raise TokengapError("a .tiktoken file does not say how text is split; name a --pretokenizer or a --pattern")
    return pretokenizer(args.pretokenizer)


def _special_ids(given: Iterable[str]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for special in given:
        name, _, number = special.rpartition("=")
        if not name or not number.isascii() or not number.isdigit() or name in numbers:
            raise TokengapError(f"a special token is given as NAME=ID, each name once, not {special!r}")
        numbers[name] = int(number)
    return numbers


def _numbers(words: str) -> list[int]:
    numbers = []
    for word in words.split(","):
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            raise TokengapError(f"the numbers of merges are given as 0,20,60: {word!r} is none")
        numbers.append(int(word))
    return numbers


def _learn(args: argparse.Namespace, options: bpe.Options, target: Path | None = None) -> tuple[Artefact, Learned]:
    if args.workers is not None and args.workers < 1:
        raise TokengapError(f"at least one worker is needed, not {args.workers}")
    if not args.paths and sys.stdin is not None and sys.stdin.isatty():
        raise TokengapError("nothing to train on: name files or directories, or pipe a text in")
    found = [file for file in find_files(args.paths or [STDIN]) if _is_text(file)]
    if not found:
        raise TokengapError("nothing to train on: no UTF-8 text in these files")
    if target:
        _keep_inputs(target, (file.path for file in found if file.path != STDIN))
    size = sum(os.stat(file.path).st_size for file in found if file.path != STDIN)
    workers = args.workers or (os.cpu_count() or 1 if size >= _WORTH_WORKERS else 1)
    with _Bars(size) as bars:
        return bpe.learn_from(
            _documents(found, args.jsonl), options, workers=workers, reading=bars.reading, merging=bars.merging
        )


def _documents(found: Iterable[Found], field: str | None) -> Iterator[Document]:
    for file in found:
        path = None if file.path == STDIN else Path(file.path)
        if path is None and sys.stdin is None:
            raise TokengapError("standard input is closed: name a file")
        if field is not None:
            yield from bpe_corpus.json_lines(path, field)
        else:
            yield bpe_corpus.standard_input() if path is None else bpe_corpus.file(path)


def _keep_inputs(target: Path, inputs: Iterable[str]) -> None:
    """Refuse to write over what is read."""
    for path in inputs:
        if target.is_file() and target.samefile(path):
            raise TokengapError(f"{path} is read from: write to another file")


def _is_text(file: Found) -> bool:
    """Whether a file begins as text does; one that the user named must."""
    if file.path == STDIN or not os.path.isfile(file.path):  # what a pipe has can be read only once
        return True
    with open(file.path, "rb") as stream:
        head = stream.read(BINARY_HEAD)
    try:
        check_head(head, file.path)
    except NotTextError as error:
        if file.named:
            raise
        warn(f"skipped {error}")
        return False
    return True


class _Bars:
    """Progress of reading and of merging, on a terminal only."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._progress: Progress | None = None

    def __enter__(self) -> _Bars:
        if sys.stderr is not None and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._progress.add_task("reading", total=self._size or None)
            self._progress.add_task("merging", total=None, start=False)
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress:
            self._progress.stop()

    def reading(self, done: int) -> None:
        if self._progress:
            self._progress.update(self._progress.task_ids[0], completed=done)

    def merging(self, done: int, total: int) -> None:
        if self._progress:
            self._progress.start_task(self._progress.task_ids[1])
            self._progress.update(self._progress.task_ids[1], completed=done, total=total)
