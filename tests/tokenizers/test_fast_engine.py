"""The engine of tokengap[fast]: tiktoken's ids and counts for every text, or it is not used and says why."""

from __future__ import annotations

import json
import multiprocessing
import random
import re
import subprocess
import sys
import sysconfig
import textwrap
from base64 import b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from tokengap.service.cli import main
from tokengap.tokenizers import fast_engine, fast_engine_build, safe_cuts, tiktoken_encodings
from tokengap.tokenizers.encodings import ENCODINGS, Encoding, load_ranks
from tokengap.tokenizers.errors import TokengapError
from tokengap.tokenizers.locks import loading
from tokengap.tokenizers.registry import get_counter
from tokengap.tokenizers.text import well_formed
from tokengap.tokenizers.unicode_classes import classes

fastokens = pytest.importorskip("fastokens", reason="fastokens is not installed")

NAMES = ("o200k_base", "cl100k_base")


@cache
def reference(name: str) -> tiktoken.Encoding:
    """tiktoken itself, built apart from the code under test."""
    encoding = ENCODINGS[name]
    ranks, special = load_ranks(encoding.ranks), dict(encoding.special_tokens)
    return tiktoken.Encoding(name, pat_str=encoding.pattern, mergeable_ranks=ranks, special_tokens=special)


@pytest.fixture(scope="session", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    """An encoding whose engine is built, checked and in use from here on."""
    given: str = request.param
    assert fast_engine.prepare(ENCODINGS[given]) == (True, "")
    return given


def plain(name: str) -> bytes:
    return fast_engine_build.rank_file(load_ranks(ENCODINGS[name].ranks))


def refused(text: str, encoding: Encoding) -> int:
    raise AssertionError(f"{len(text)} characters were not counted by the engine")


def test_the_known_ids_are_tiktokens(name: str) -> None:
    probes = fast_engine_build.probes(load_ranks(ENCODINGS[name].ranks))
    assert fast_engine_build.checksum(reference(name).encode_ordinary, probes) == fast_engine_build.KNOWN[name]


def test_the_probes_have_every_token_that_is_text() -> None:
    ranks = load_ranks(ENCODINGS["cl100k_base"].ranks)
    probed = {line for text in fast_engine_build.probes(ranks) for line in text.split("\n")}
    for token in ranks:
        if b"\n" not in token and (text := token.decode(errors="ignore")).encode() == token:
            assert text in probed


# What it counts


def check(name: str, text: str) -> None:
    """The count through the door that everything uses, which must not have gone round the engine unseen."""
    assert get_counter(name).count(text).tokens == len(reference(name).encode(text, disallowed_special=()))


def test_shared_texts(name: str, shared_dir: Path, shared_json: Callable[[str], Any]) -> None:
    for path in (*sorted((shared_dir / "files").iterdir()), shared_dir / "texts" / "tinyshakespeare.txt"):
        check(name, path.read_bytes().decode())
    for parts in shared_json("texts/udhr.json")["languages"].values():
        for text in parts.values():
            if isinstance(text, str):
                check(name, text)


def sources() -> Iterator[str]:
    for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if "site-packages" not in path.parts:
            yield path.read_bytes().decode(errors="replace")


def test_some_of_the_standard_library(name: str) -> None:
    for text in list(sources())[::40]:
        check(name, text)


@pytest.mark.probe
def test_the_standard_library(name: str) -> None:
    parts = list(sources())
    for text in parts:
        check(name, text)
    check(name, "".join(parts))  # as one text, so that it is cut


@pytest.mark.probe
def test_every_code_point(name: str) -> None:
    """Alone on a line, after a letter, before 's, after a space; after a capital and a digit as well."""
    encode = reference(name).encode_ordinary
    tokenizer = built(plain(name), name)
    for start in range(0, 0x110000, 0x80):
        if 0xD800 <= start < 0xE000:
            continue
        characters = map(chr, range(start, start + 0x80))
        text = "".join(f"{c}\n!\na{c}\n!\n{c}'s\n!\n {c}\n!\nA{c}a\n!\n1{c}1\n!\n" for c in characters)
        assert list(tokenizer.encode_ordinary(text).ids) == encode(text), hex(start)
        check(name, text)


@settings(max_examples=300)
@given(st.text(st.characters(codec=None)))
def test_any_text(name: str, text: str) -> None:
    check(name, text)


PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            [" ", "  ", "\n", "\r\n", "\t", "\xa0", "\u3000", "\x1c", "a", "B", "!", "/", "'s", "'LL", "7", "字"]
        ),
        st.sampled_from(["e\u0301", "<|endoftext|>", "<|", "|>", "\ufffd", "👩\u200d👧", "ǅ", "ſ"]),
        st.sampled_from(["\u088f", "\U00016ea0", "\U000323b0"]),  # letters since Unicode 17
    ),
    max_size=40,
)


@settings(max_examples=500)
@given(PIECES.map("".join))
def test_any_arrangement_of_what_matters(name: str, text: str) -> None:
    check(name, text)


@settings(max_examples=50)
@given(PIECES.map("".join), st.integers(0, 60))
def test_texts_that_are_cut(name: str, text: str, around: int) -> None:
    """The arrangement stands where the text is cut."""
    filler = "some words, " * 4_000
    check(name, filler[: fast_engine._PIECE - around] + text + "é" + filler)


@settings(max_examples=500)
@given(PIECES.map("".join), st.integers(1, 3))
def test_a_cut_changes_no_chunk(text: str, size: int) -> None:
    """Of any published encoding, id by id; pieces of a few characters try every cut there is."""
    for encoding in ("o200k_base", "cl100k_base", "r50k_base"):
        encode = reference(encoding).encode_ordinary
        assert [i for piece in fast_engine.pieces(text, size) for i in encode(piece)] == encode(text)


def test_a_cut_is_between_a_letter_and_none() -> None:
    """In Unicode 16, as the published patterns have it, whatever the interpreter's own version is."""
    everything = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
    letters = {chr(point) for first, last in classes()["L"] for point in range(first, last + 1)}
    marks = {chr(point) for first, last in classes()["M"] for point in range(first, last + 1)}
    before, after = (
        set(re.findall(safe_cuts.LETTER, everything)),
        set(re.findall(safe_cuts.NO_LETTER, everything)),
    )
    assert before < letters
    assert after.isdisjoint(letters | marks | {"'"})
    assert len(before) > 30_000
    assert len(after) > 80


UNEASY = {
    "json without spaces": '{"key":"value","list":[1,2,3]},',
    "base64": "Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZg==",
    "Japanese": "日本語の文章、とても長い。",
    "Russian": "Ещё один длинный русский текст, без латиницы. ",
    "Hindi": "यह एक लंबा हिन्दी पाठ है। ",
    "Arabic": "هذا نص عربي طويل جدا، ",
    "Thai": "ข้อความภาษาไทย ที่ยาวมาก ",
    "emoji": "😀 👩\u200d👧 ",
    "numbers": "3.14159 2.71828 1,000 ",
}


@pytest.mark.parametrize("kind", UNEASY)
def test_text_of_every_kind_can_be_cut(name: str, kind: str) -> None:
    text = UNEASY[kind] * 9_000
    assert fast_engine.count(text, ENCODINGS[name], refused) == len(reference(name).encode_ordinary(text))


HOSTILE: dict[str, Callable[[], str]] = {
    "letter": lambda: "a" * 300_000,
    "spaces": lambda: " " * 1_000_000,
    "tabs and a word": lambda: "\t" * 300_000 + "end",
    "newlines": lambda: "\n" * 300_000,
    "carets": lambda: "^" * 300_000,
    "emoji": lambda: "😀" * 100_000,
    "random letters": lambda: "".join(random.Random(7).choices("abcdefghijklmnopqrstuvwxyz", k=300_000)),
    "random code points": lambda: "".join(
        map(chr, random.Random(7).choices([*range(0xD800), *range(0xE000, 0x30000)], k=200_000))
    ),
    "Han": lambda: "中文字符漢" * 50_000,
    "marks": lambda: "\u0301" * 100_000,
    "apostrophes": lambda: "'s" * 100_000,
    "special tokens": lambda: "<|endoftext|>" * 50_000,
    "lone surrogates": lambda: "a\ud800 " * 50_000,
    "slashes after newlines": lambda: "a\n/" * 50_000,
    "long words": lambda: " ".join("x" * length for length in range(1, 800)),
    "a word of 100,000 letters in prose": lambda: "some words, " * 5_000 + "ab" * 50_000 + " more words" * 5_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text(name: str, kind: str) -> None:
    text = HOSTILE[kind]()
    expected = tiktoken_encodings.count(well_formed(text)[0], ENCODINGS[name])
    assert get_counter(name).count(text).tokens == expected


def test_the_engine_is_what_counts(name: str) -> None:
    text = "It's a text, and not a short one.\n" * 10_000
    assert fast_engine.count(text, ENCODINGS[name], refused) == len(reference(name).encode_ordinary(text))


def test_only_what_cannot_be_cut_goes_round_it(name: str) -> None:
    around, long = "some words, " * 10_000, "ab" * 50_000
    passed = []

    def otherwise(text: str, encoding: Encoding) -> int:
        passed.append(text)
        return len(reference(name).encode_ordinary(text))

    text = around + long + " " + around
    assert fast_engine.count(text, ENCODINGS[name], otherwise) == len(reference(name).encode_ordinary(text))
    assert [long in piece and len(piece) < len(long) + 20_000 for piece in passed] == [True]


def test_harmony_shares_the_engine(name: str) -> None:
    assert fast_engine.prepare(ENCODINGS["o200k_harmony"]).used
    text = "<|start|>assistant<|message|>Hi<|end|>" * 100
    assert get_counter("o200k_harmony").count(text).tokens == len(reference("o200k_harmony").encode_ordinary(text))


def test_threads(name: str) -> None:
    texts = [f"{number} words, and more of them. " * 3_000 for number in range(40)]
    counter = get_counter(name)
    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(lambda text: counter.count(text).tokens, texts))
    assert counts == [len(reference(name).encode_ordinary(text)) for text in texts]


def in_a_fork(name: str) -> int:
    return fast_engine.count("It's late. " * 20_000, ENCODINGS[name], refused)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_keeps_it(name: str) -> None:
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(in_a_fork, [name]).get(timeout=60) == in_a_fork(name)


# When it is built


@pytest.fixture
def unbuilt(monkeypatch: pytest.MonkeyPatch) -> fast_engine.Engine:
    engine = fast_engine.Engine()
    monkeypatch.setattr(fast_engine, "engines", {"cl100k_base": engine})
    return engine


def test_it_is_built_when_that_pays(unbuilt: fast_engine.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_engine, "WORTH", 1_000)
    counter = get_counter("cl100k_base")
    for _ in range(9):
        counter.count("a" * 100)
    assert (unbuilt.encode, unbuilt.asked) == (None, 900)
    assert counter.count("a" * 100).tokens == 13
    assert unbuilt.encode is not None


def test_nobody_waits_while_it_is_built(unbuilt: fast_engine.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_engine, "WORTH", 0)
    held, done = Event(), Event()

    def build() -> None:
        with loading:
            held.set()
            done.wait()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(build)
        held.wait()
        assert get_counter("cl100k_base").count("a text").tokens == 2
        done.set()
    assert unbuilt.encode is None


@pytest.mark.parametrize("other", ["p50k_base", "p50k_edit", "r50k_base"])
def test_encodings_it_is_not_used_with(other: str) -> None:
    state = fast_engine.prepare(ENCODINGS[other])
    assert state == (False, "fastokens is used with the vocabularies of o200k_base and cl100k_base alone")
    assert fast_engine.count("a", ENCODINGS[other], lambda text, encoding: 77) == 77


def test_without_the_package(unbuilt: fast_engine.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (fast_engine, fast_engine_build):
        monkeypatch.setattr(module, "PACKAGE", "tokengap-has-no-such-package")
    monkeypatch.setattr(fast_engine, "WORTH", 0)
    assert get_counter("cl100k_base").count("a text").tokens == 2
    state = fast_engine.prepare(ENCODINGS["cl100k_base"])
    assert not state.used
    assert "pip install tokengap[fast]" in state.reason


def test_a_wrong_argument_does_not_put_the_engine_aside() -> None:
    assert fast_engine.prepare(ENCODINGS["cl100k_base"]).used
    for wrong in (None, b"x", 7):
        with pytest.raises(TokengapError, match="a text must be str"):
            get_counter("cl100k_base").count(wrong)  # type: ignore[arg-type]  # as from a caller without types
    assert fast_engine.prepare(ENCODINGS["cl100k_base"]).used


# What is not trusted


def swapped(content: bytes, one: int, other: int) -> bytes:
    """A rank file in which two tokens have each other's rank."""
    lines = content.splitlines()
    (first, number), (second, another) = lines[one].split(), lines[other].split()
    lines[one], lines[other] = first + b" " + another, second + b" " + number
    lines.sort(key=lambda line: int(line.split()[1]))
    return b"\n".join(lines) + b"\n"


def replaced(content: bytes, rank: int) -> bytes:
    """A rank file in which one token is another one, that its two bytes make."""
    lines = content.splitlines()
    lines[rank] = b64encode(b"q%") + b" %d" % rank
    return b"\n".join(lines) + b"\n"


def built(content: bytes, preset: str) -> Any:
    with fast_engine_build.path_of(content) as path:
        return fastokens.Tokenizer.from_tiktoken(path, encoding=preset)


@pytest.mark.parametrize(
    ("tampered", "preset"),
    [
        (lambda content: content, "o200k_base"),  # another split pattern
        (lambda content: swapped(content, 300, 301), "cl100k_base"),
        (lambda content: swapped(content, 100_000, 100_001), "cl100k_base"),
        (lambda content: replaced(content, 100_250), "cl100k_base"),
        (lambda content: replaced(content, 100_255), "cl100k_base"),
    ],
    ids=["pattern", "early ranks", "late ranks", "a token", "the last token"],
)
def test_a_broken_engine_shows(tampered: Callable[[bytes], bytes], preset: str) -> None:
    tokenizer = built(tampered(plain("cl100k_base")), preset)
    probes = fast_engine_build.probes(load_ranks(ENCODINGS["cl100k_base"].ranks))
    ids = fast_engine_build.checksum(lambda text: tokenizer.encode_ordinary(text).ids, probes)
    assert ids != fast_engine_build.KNOWN["cl100k_base"]


@pytest.mark.parametrize("letter", ["088f", "0c5c", "1acf", "a7ce", "10940", "16ea0", "1e6c0", "323b0", "33479"])
def test_an_engine_of_another_unicode_version_shows(letter: str) -> None:
    """One more letter or mark than in Unicode 16; these are some of those that Unicode 17 has."""
    encoding = ENCODINGS["cl100k_base"]
    pattern = encoding.pattern.replace(r"\p{L}", rf"[\p{{L}}\x{{{letter}}}]")
    ranks = load_ranks(encoding.ranks)
    other = tiktoken.Encoding("other", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    probes = (text for text in fast_engine_build.probes([]) if chr(int(letter, 16)) in text)
    ids = [(other.encode_ordinary(text), reference("cl100k_base").encode_ordinary(text)) for text in probes]
    assert any(one != same for one, same in ids)


PACKAGES = {
    # The real package behind a from_tiktoken that is given a vocabulary with two ranks swapped.
    "wrong ids": """
        class Tokenizer:
            @staticmethod
            def from_tiktoken(path, encoding):
                lines = open(path, "rb").read().splitlines()
                (first, one), (second, two) = lines[300].split(), lines[301].split()
                lines[300], lines[301] = second + b" " + one, first + b" " + two
                with tempfile.NamedTemporaryFile() as file:
                    file.write(b"\\n".join(lines))
                    file.flush()
                    return real.Tokenizer.from_tiktoken(file.name, encoding=encoding)
        """,
    # It refuses the path with a panic, which is no Exception.
    "panics": """
        class Panic(BaseException):
            pass
        class Tokenizer:
            @staticmethod
            def from_tiktoken(path, encoding):
                raise Panic("called `Option::unwrap()` on a `None` value")
        """,
    # It passes the check, and panics on one text.
    "panics later": """
        class Panic(BaseException):
            pass
        class Tokenizer:
            def __init__(self, tokenizer):
                self.tokenizer = tokenizer
            @classmethod
            def from_tiktoken(cls, path, encoding):
                return cls(real.Tokenizer.from_tiktoken(path, encoding=encoding))
            def encode_ordinary(self, text):
                if "unlucky text" in text:
                    raise Panic("index out of bounds")
                return self.tokenizer.encode_ordinary(text)
        """,
    "cannot be imported": "raise ImportError('libgcc_s.so.1: cannot open shared object file')",
    "another interface": "",
}

COUNTED = """
import json, sys
from tokengap.tokenizers import fast_engine, fast_engine_build, safe_cuts, tiktoken_encodings
from tokengap.tokenizers.encodings import ENCODINGS
from tokengap.tokenizers.locks import loading
from tokengap.tokenizers.registry import get_counter
before = fast_engine.prepare(ENCODINGS["cl100k_base"])
counts = [get_counter("cl100k_base").count(text).tokens for text in ("It's late. " * 9, "an unlucky text", "a b")]
print(json.dumps([before, counts, fast_engine.prepare(ENCODINGS["cl100k_base"])]))
"""


@pytest.mark.parametrize(
    ("kind", "used", "reason"),
    [
        ("wrong ids", False, "it gives known texts other ids than tiktoken"),
        ("panics", False, "it cannot be built: Panic: called `Option::unwrap()` on a `None` value"),
        ("panics later", True, "it failed: Panic: index out of bounds"),
        ("cannot be imported", False, "it cannot be built: ImportError: libgcc_s.so.1: cannot open shared object file"),
        ("another interface", False, "it cannot be built: AttributeError"),
    ],
)
def test_a_broken_package(kind: str, used: bool, reason: str, tmp_path: Path) -> None:
    """Installed, it is found out, the counts are right all the same, and one line says so."""
    real = import_module("fastokens._native").__file__
    code = f"""
        import importlib.util, tempfile
        spec = importlib.util.spec_from_file_location("fastokens._native", {real!r})
        real = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(real)
        """
    (tmp_path / "fastokens.py").write_text(textwrap.dedent(code) + textwrap.dedent(PACKAGES[kind]), encoding="utf-8")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{COUNTED}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    before, counts, after = json.loads(done.stdout)
    assert counts == [
        len(reference("cl100k_base").encode_ordinary(t)) for t in ("It's late. " * 9, "an unlucky text", "a b")
    ]
    assert before[0] is used
    assert not after[0]
    assert after[1].startswith(reason)
    (line,) = done.stderr.splitlines()
    assert "is not used for cl100k_base, since it" in line


def test_the_command_lists_the_engines(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["counters", "--verbose", "--json"]) == 0
    found = {(row["encoding"], row["engine"]): row for row in json.loads(capsys.readouterr().out)["engines"]}
    assert {encoding for encoding, _ in found} == set(ENCODINGS)
    assert found["o200k_base", "fastokens"]["used"]
    assert not found["r50k_base", "fastokens"]["used"]
    assert found["r50k_base", "tiktoken"]["used"]
    listed = run("counters", "-v")
    assert (listed.returncode, listed.stderr) == (0, b"")
    assert "the reference" in listed.stdout.decode()
    assert "the reference" not in run("counters").stdout.decode()
