"""Every engine gives tiktoken's counts: on real, random and hostile text, and on every character."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from tokengap.tokenizers import engines, python_engine, tiktoken_encodings
from tokengap.tokenizers.encodings import ENCODINGS, load_ranks
from tokengap.tokenizers.safe_cuts import blocks
from tokengap.tokenizers.segment_memo import PATTERNS, SegmentMemo

NAMES = ("o200k_base", "cl100k_base", "p50k_base", "r50k_base")
AWKWARD = list(" \n\r\t\v'sStTlLvVeErRdDmMkK/.!,-aAzZ0123éÉ×ª²µ\xa0\x85\x1c\u2009’—ſ\u212aǅʰम\u0301\u094d書😀𐐀")
PIECES = [*AWKWARD, "  ", "   ", "\t\t", "\n\n", "\r\n", "'s", "'LL", "ab", "Cd", " x", "1234", "    "]
ANY_TEXT = st.lists(st.one_of(st.sampled_from(PIECES), st.characters(codec="utf-8"))).map("".join)
LATIN_TEXT = st.lists(st.sampled_from([piece for piece in PIECES if piece < "\u0100" or piece in "’—"])).map("".join)


@cache
def reference(name: str) -> tiktoken.Encoding:
    """tiktoken itself, built apart from the code under test."""
    ranks = load_ranks(ENCODINGS[name].ranks)
    return tiktoken.Encoding(name, pat_str=ENCODINGS[name].pattern, mergeable_ranks=ranks, special_tokens={})


@cache
def memo(name: str) -> SegmentMemo | None:
    encoding = ENCODINGS[name]
    if encoding.pattern not in PATTERNS:
        return None
    return SegmentMemo(
        lambda text: tiktoken_encodings.count(text, encoding), lambda text: tiktoken_encodings.encode(text, encoding)
    )


def by_memo(name: str, text: str) -> int:
    """Have every block looked up by the memo, under the encodings that have one."""
    tokens, known = 0, memo(name)
    for block in blocks(text, 1 << 12):
        if known:
            known._to_skip = 0
        tokens += known.count(block) if known else len(reference(name).encode_ordinary(block))
    return tokens


ENGINES: dict[str, Callable[[str, str], int]] = {
    "python": lambda name, text: python_engine.engine(ENCODINGS[name]).count(text),
    "tiktoken": lambda name, text: tiktoken_encodings.count(text, ENCODINGS[name]),
    "memo": by_memo,
}
every_engine = pytest.mark.parametrize("engine", ENGINES)
every_encoding = pytest.mark.parametrize("name", NAMES)


def assert_same(engine: str, name: str, text: str) -> None:
    assert ENGINES[engine](name, text) == len(reference(name).encode_ordinary(text))


@every_engine
@every_encoding
@given(text=ANY_TEXT | LATIN_TEXT)
def test_any_text(engine: str, name: str, text: str) -> None:
    assert_same(engine, name, text)


@every_engine
@every_encoding
def test_real_texts(engine: str, name: str, shared_dir: Path) -> None:
    for folder in ("texts", "files"):
        for path in sorted((shared_dir / folder).iterdir()):
            assert_same(engine, name, path.read_bytes().decode())


def is_character(point: int) -> bool:
    return not 0xD800 <= point < 0xE000


def in_four_contexts(points: range) -> str:
    """Each character after a space, alone among line ends, after a letter and before a contraction."""
    return "".join(f" {chr(point)}\n{chr(point)}\na{chr(point)}'s {chr(point)}'s\n" for point in points)


@every_engine
@every_encoding
def test_the_characters_of_many_scripts(engine: str, name: str) -> None:
    for start in (*range(0, 0x3400, 0x400), 0xA000, 0xFE00, 0x1D400, 0x1F600):
        assert_same(engine, name, in_four_contexts(range(start, start + 0x200)))


@pytest.mark.probe
@every_engine
@every_encoding
def test_every_character(engine: str, name: str) -> None:
    for start in range(0, 0x110000, 0x800):
        if is_character(start):
            assert_same(engine, name, in_four_contexts(range(start, start + 0x800)))


@pytest.mark.probe
@every_engine
@every_encoding
def test_standard_library(engine: str, name: str) -> None:
    for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if "site-packages" not in path.parts:
            assert_same(engine, name, path.read_bytes().decode(errors="replace"))


RUNS = (
    *("a", "^", " ", "\n", "\t", "\u0301", "書", "😀", "A", "1", " \n", "'s", "\x1c", "中文字符漢", "<|endoftext|>"),
    "".join(random.Random(7).choices("abcdefghijklmnopqrstuvwxyz", k=2_000)),
)


@every_engine
@every_encoding
def test_hostile_text(engine: str, name: str) -> None:
    for run in RUNS:
        endless = run * (2_000 // len(run))
        for text in (endless, endless + "x", "M" + endless + "."):
            assert_same(engine, name, text)


@pytest.mark.slow
@every_engine
@every_encoding
@pytest.mark.parametrize("run", RUNS, ids=range(len(RUNS)))
def test_long_hostile_text(engine: str, name: str, run: str) -> None:
    assert_same(engine, name, run * (50_000 // len(run)))


@every_encoding
def test_a_text_may_be_counted_by_several_engines(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by a process that has counted so much by the end of the text that tiktoken is loaded."""
    text = "".join(f"Größe {number} of 書, it's\n  x{number}  'tis\n\n" for number in range(9_000))
    expected = len(reference(name).encode_ordinary(text))
    for worth in (0, 10_000, 1 << 40):
        python_engine.build.cache_clear()
        monkeypatch.setattr(python_engine, "WORTH", worth)
        assert engines.count(text, ENCODINGS[name]) == (expected, False)


@pytest.mark.parametrize(("size", "loaded"), [(1_000, "False"), (engines.LARGE + 4, "True")])
def test_tiktoken_is_loaded_for_large_texts_only(size: int, loaded: str) -> None:
    program = (
        "import sys; from tokengap.tokenizers.registry import get_counter;"
        f"get_counter('o200k_base').count('a b ' * {size // 4}); print('tiktoken' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.strip() == loaded


@pytest.mark.parametrize(("characters", "loaded"), [(engines.LARGE, "False"), (engines.LARGE + 1, "True")])
def test_tiktoken_is_loaded_before_much_is_counted(characters: int, loaded: str) -> None:
    program = (
        "import sys; from tokengap.tokenizers.registry import get_counter;"
        "from tokengap.tokenizers.counter import prepare;"
        f"prepare(get_counter('model:gpt-4o'), {characters}); prepare(get_counter('words'), {characters});"
        "print('tiktoken' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.strip() == loaded
