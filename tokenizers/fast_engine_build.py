"""Building the native engine, and the check it must pass before it counts anything.

It encodes every token of the vocabulary, the characters at both ends of each run of a character class, all that
are no letter, mark or number in Unicode 16, contractions, whitespace and special tokens, and must give the ids
that tiktoken gives.
"""

from __future__ import annotations

import os
from binascii import b2a_base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from importlib import import_module

from .encodings import Encoding, load_ranks
from .fast_engine import LARGEST, PACKAGE, Engine, give_up, installed_version
from .unicode_classes import LAST_CODE_POINT, classes, complement, union

KNOWN: Mapping[str, str] = {
    "o200k_base": "6048e5bbc100062113bec935649c17d1747ddc6ba00e8723b3eb8f31574130fd",
    "cl100k_base": "28ac12bbb6de8a12eed92eee324d275587c2beea6df2ac0a44ce7dd3a31fa36c",
}
"""By rank file, the sha256 of the ids of all ``probes`` as tiktoken 0.14 has them."""

_LAST_PROBED = 0x3FFFF  # beyond are no letters, nor are any planned


def build(engine: Engine, encoding: Encoding) -> None:
    """Build the engine, check it and put it to use, or note why not, unless that was done. ``loading`` is held."""
    try:
        if engine.encode or engine.problem:
            return
        if installed_version() is None:
            engine.problem = f"{PACKAGE} is not installed; 'pip install tokengap[fast]' brings it"
            return
        ranks = load_ranks(encoding.ranks)
        with path_of(rank_file(ranks)) as path:
            tokenizer = import_module(PACKAGE).Tokenizer.from_tiktoken(path, encoding=encoding.ranks.name)
        if checksum(lambda text: tokenizer.encode_ordinary(text).ids, probes(ranks)) == KNOWN[encoding.ranks.name]:
            engine.encode = tokenizer.encode_ordinary
        else:
            give_up(encoding, "it gives known texts other ids than tiktoken")
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # a panic of native code is no Exception
        give_up(encoding, f"it cannot be built: {type(error).__name__}: {error}")


def rank_file(ranks: Mapping[bytes, int]) -> bytes:
    """The plain ``.tiktoken`` file of a vocabulary."""
    return b"".join(b"%s %d\n" % (b2a_base64(token, newline=False), rank) for token, rank in ranks.items())


@contextmanager
def path_of(content: bytes) -> Iterator[str]:
    """Content as a file that is gone afterwards, in memory where the system can: the engine takes a path only."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("ranks")
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            yield f"/proc/self/fd/{descriptor}"
        return
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "ranks"
        path.write_bytes(content)
        yield str(path)


TEXTS = (
    "",
    "a",
    "Hello, how are you today? I'm fine, we'LL see; they'Re here, IT'S, don't, we'd've, 'tis 'S 'ſ'ſ x'ſ.",
    "HTTPServer iPhone XMLHttpRequest aAaA AaAa ÀÉéà ǅ ǆ Ǆ ʰa aʰ Aʰ",
    "1234567 12 1 1234 ½ ٣٤٥٦ Ⅷ 7a a7 7.5 -3e10 0x1F",
    "  \n \r\n\t\r \n\n\n   x  \n\n  y\u00a0\u00a0z \u3000\u2028 \x1c\x1d \x85\x0b\x0c end   ",
    "a/b//c/\n/\r\n!!\r\n\n?/ ...\n\n/// \n/",
    "<|endoftext|><|endofprompt|><|fim_prefix|>x<|fim_middle|><|fim_suffix|><|start|>",
    "नमस्ते, आज तपाईंलाई कस्तो छ? 你好，世界。日本語のテキスト、です。 안녕하세요 Привет, Мир! مرحبا "
    "👩\u200d👩\u200d👧 🇳🇵 e\u0301 \ufffd",
    "a" * 3000 + " " * 3000 + "\n" * 300 + "ab" * 500 + "^" * 300 + "é" * 300 + "字" * 300,
    "\x00\x01\x7f\u200b\ufeff\u00ad\ud7ff\ue000\uffff\U0010ffff",
)
"""What engines are known to get wrong, or well might."""


def probes(tokens: Iterable[bytes]) -> Iterator[str]:
    """Texts that show whether an engine has a vocabulary, given in the order of its ranks, and tiktoken's rules."""
    yield from TEXTS
    yield from _joined(_boundaries(), " ")
    yield from _joined(_neither(), " ")
    yield from _joined(_as_texts(tokens), "\n")


def checksum(encode: Callable[[str], Sequence[int]], texts: Iterable[str]) -> str:
    """The sha256 of the ids of texts."""
    found = sha256()
    for text in texts:
        found.update(repr(list(encode(text))).encode())
    return found.hexdigest()


def _boundaries() -> Iterator[str]:
    """The characters on both sides of each end of a run of a class, where their class shows in the chunks."""
    points: set[int] = set()
    for ranges in classes().values():
        for first, last in ranges:
            points.update((first - 1, first, last, last + 1))
    for point in sorted(points):
        if 0 <= point <= LAST_CODE_POINT and not _is_surrogate(point):
            character = chr(point)
            yield f"{character}'s a{character}A 1{character}"


def _neither() -> Iterator[str]:
    """What is no letter, mark or number, as later versions of Unicode make of some of it."""
    for first, last in complement(union(*(classes()[name] for name in "LMN"))):
        for point in range(first, min(last, _LAST_PROBED) + 1):
            if not _is_surrogate(point):
                yield f"{chr(point)}'s"


def _is_surrogate(point: int) -> bool:
    return 0xD800 <= point <= 0xDFFF


def _as_texts(tokens: Iterable[bytes]) -> Iterator[str]:
    """The tokens that are text."""
    for token in tokens:
        try:
            yield token.decode()
        except UnicodeDecodeError:
            continue


def _joined(texts: Iterable[str], separator: str) -> Iterator[str]:
    """Texts joined to some that are as long as those the engine is given."""
    parts: list[str] = []
    size = 0
    for text in texts:
        parts.append(text)
        size += len(text)
        if size > LARGEST // 8:
            yield separator.join(parts)
            parts, size = [], 0
    yield separator.join(parts)
