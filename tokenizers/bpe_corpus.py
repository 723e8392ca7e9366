"""Training text of any size: read in pieces, cut where no chunk is affected, counted chunk by chunk.

What stays in memory is the distinct chunks, not the text. Blocks may be counted by worker processes; they
are added up in the order of the text, so the result is the same for any number of them.
"""

from __future__ import annotations

import codecs
import json
import os
import signal
import sys
from collections import Counter as Tally
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from .errors import TokengapError
from .pretokenize import Pretokenizer
from .text import well_formed

Document = Iterable[str]
"""One text in pieces. No chunk reaches from one document into the next."""

_BLOCK = 1 << 20
_READ = 1 << 20


@dataclass
class Corpus:
    """Distinct chunks with their counts, in order of first appearance, and what they were counted from.

    ``sha256`` and ``bytes`` are of the texts themselves, in UTF-8 and one after the other.
    """

    chunks: dict[str, int] = field(default_factory=dict)
    documents: int = 0
    bytes: int = 0
    sha256: str = ""
    repaired: bool = False


def count_corpus(
    documents: Iterable[Document],
    rule: Pretokenizer,
    *,
    workers: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Corpus:
    """Count the chunks of all documents. ``progress`` is called with the bytes read so far.

    Raises TokengapError where a text cannot be read.
    """
    corpus = Corpus()
    hashed = sha256()
    chunks = corpus.chunks

    def read() -> Iterator[str]:
        for document in documents:
            corpus.documents += 1
            for block in _blocks(_well_formed(document, corpus), rule):
                data = block.encode()
                hashed.update(data)
                corpus.bytes += len(data)
                yield block
                if progress:
                    progress(corpus.bytes)

    for counted in _counted(read(), rule, workers):
        for chunk, times in counted.items():
            chunks[chunk] = chunks.get(chunk, 0) + times
    corpus.sha256 = hashed.hexdigest()
    return corpus


def texts(documents: Iterable[str]) -> Iterator[Document]:
    """Each string is a document."""
    for document in documents:
        if not isinstance(document, str):
            raise TokengapError(f"a text to train on must be str, not {type(document).__name__}; decode bytes as UTF-8")
        yield [document]


def file(path: Path) -> Document:
    """A file is a document, read as it is: UTF-8 without newline translation."""
    return _decoded(_opened(path), str(path))


def standard_input() -> Document:
    return _decoded(sys.stdin.buffer, "standard input")


def json_lines(path: Path | None, name: str) -> Iterator[Document]:
    """One field of each line of a JSON Lines file (of standard input for ``None``) is a document."""
    where = str(path) if path else "standard input"
    with _opened(path) if path else sys.stdin.buffer as stream:
        for number, line in enumerate(_lines(stream, where), 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise TokengapError(f"{where}, line {number}: not JSON ({error})") from error
            value = record.get(name) if isinstance(record, dict) else None
            if not isinstance(value, str):
                raise TokengapError(f"{where}, line {number}: there is no text in a field {name!r}")
            yield [value]


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise TokengapError(f"cannot read {path}: {error.strerror or error}") from error


def _lines(stream: BinaryIO, where: str) -> Iterator[bytes]:
    try:
        yield from stream
    except OSError as error:
        raise TokengapError(f"cannot read {where}: {error.strerror or error}") from error


def _decoded(stream: BinaryIO, where: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    done = 0
    with stream:
        while True:
            held_back = len(decoder.getstate()[0])
            try:
                data = stream.read(_READ)
                piece = decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                at = done - held_back + error.start
                raise TokengapError(f"{where} is not UTF-8: {error.reason} at byte {at:,}") from error
            except OSError as error:
                raise TokengapError(f"cannot read {where}: {error.strerror or error}") from error
            done += len(data)
            if piece:
                yield piece
            if not data:
                return


def _well_formed(document: Document, corpus: Corpus) -> Iterator[str]:
    for piece in document:
        text, repaired = well_formed(piece)
        corpus.repaired |= repaired
        yield text


def _blocks(pieces: Iterable[str], rule: Pretokenizer) -> Iterator[str]:
    """Join and cut the pieces of one document into blocks that can be chunked one by one."""
    if not rule.can_be_cut:
        yield "".join(pieces)
        return
    rest, start, searched = "", 0, _BLOCK
    for piece in pieces:
        if start:
            rest, searched, start = rest[start:], searched - start, 0
        rest += piece
        while len(rest) > searched:
            cut = rule.safe_cut(rest, searched)
            if cut is None:
                searched = len(rest) - 1  # a cut is seen only with the character after it
                break
            yield rest[start:cut]
            start, searched = cut, cut + _BLOCK
    yield rest[start:]


def _counted(blocks: Iterable[str], rule: Pretokenizer, workers: int) -> Iterator[dict[str, int]]:
    """Count each block, in order, with at most two blocks per worker under way."""
    if workers < 2:
        for block in blocks:
            yield count_block(block, rule)
        return
    from concurrent.futures import Future, ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    blocks = iter(blocks)
    ahead = list(_take(blocks, 2))
    if len(ahead) < 2:  # too little to be worth a second process
        yield from (count_block(block, rule) for block in ahead)
        return
    under_way: deque[Future[dict[str, int]]] = deque()
    try:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_end_with_parent) as pool:
            for block in chain(ahead, blocks):
                with _uninterrupted():  # a worker is started by the first blocks it is given
                    under_way.append(pool.submit(count_block, block, rule))
                if len(under_way) >= 2 * workers:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
    except BrokenProcessPool as error:
        raise TokengapError(
            "a worker process ended before its work was done; train with one worker, or, in a script, "
            "under if __name__ == '__main__':, since workers import the script"
        ) from error


def _end_with_parent() -> None:
    """Let no worker outlive a process that was killed: it would wait for work for ever."""
    from multiprocessing import parent_process
    from threading import Thread

    if parent := parent_process():

        def watch() -> None:
            parent.join()
            os._exit(1)

        Thread(target=watch, daemon=True).start()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach: this one hears it, and ends them. Theirs would be tracebacks."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _take(blocks: Iterator[str], most: int) -> Iterator[str]:
    for _, block in zip(range(most), blocks, strict=False):
        yield block


def count_block(text: str, rule: Pretokenizer) -> dict[str, int]:
    """The distinct chunks of a text, in order of first appearance, with their counts."""
    return dict(Tally(rule.chunks(text)))
