from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tokengap.tokenizers import registry
from tokengap.tokenizers.counter import Count, Counter, prepare
from tokengap.tokenizers.errors import TokengapError, UnknownNameError
from tokengap.tokenizers.registry import BUILT_IN, get_counter, listing

PLUGIN = """
from tokengap.tokenizers.counter import Count

class Vowels:
    name = "vowels"
    def count(self, text):
        return Count(sum(text.count(v) for v in "aeiou"), "vowels", "sha256:0", "heuristic")

def from_spec(spec):
    return Vowels()

class Crashing(Vowels):
    def count(self, text):
        raise RuntimeError("no")

class Wrong(Vowels):
    def count(self, text):
        return len(text)

def crashing(spec):
    return Crashing()

def wrong(spec):
    return Wrong()

def nothing(spec):
    return None
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """Put a real distribution with a counter on the path, as an installer would."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def add(package: str, name: str, value: str = "vowel_counter:from_spec") -> None:
        (tmp_path / "vowel_counter.py").write_text(PLUGIN)
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[tokengap.counters]\n{name} = {value}\n")
        _forget()

    _forget()
    yield add
    _forget()
    sys.modules.pop("vowel_counter", None)


def _forget() -> None:
    registry.plugins.cache_clear()
    registry._build.cache_clear()


@pytest.mark.parametrize("name", [name for name in BUILT_IN if name not in ("model", "bpe")])
def test_built_in_counters(name: str) -> None:
    counter = get_counter(name)
    assert isinstance(counter, Counter)
    assert isinstance(counter.count("Hello"), Count)
    assert get_counter(name) is counter


def test_alias() -> None:
    assert get_counter("gpt2").count("Hello") == get_counter("r50k_base").count("Hello")


@pytest.mark.parametrize(
    ("spec", "suggestion"),
    [("o200k", "o200k_base"), ("cl100k-base", "cl100k_base"), ("O200K_BASE", "o200k_base"), ("word:1", "words")],
)
def test_unknown_counter_names_its_neighbour(spec: str, suggestion: str) -> None:
    with pytest.raises(UnknownNameError, match=suggestion) as error:
        get_counter(spec)
    assert suggestion in error.value.suggestions


@pytest.mark.parametrize("spec", ["", ":", "nope", "x" * 100_000, "a\nb", "\udbc0"])
def test_unknown_counter_is_one_short_line(spec: str) -> None:
    with pytest.raises(UnknownNameError) as error:
        get_counter(spec)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


def test_plugin_is_found_and_listed(install: object) -> None:
    install("vowel-counter", "vowels")  # type: ignore[operator]
    assert get_counter("vowels").count("education").tokens == 5
    assert any(entry.name == "vowels" and "vowel-counter" in entry.summary for entry in listing())


def test_plugin_cannot_take_a_built_in_name(install: object) -> None:
    install("impostor", "o200k_base")  # type: ignore[operator]
    install("vowel-counter", "vowels")  # type: ignore[operator]
    assert get_counter("o200k_base").count("Hello").kind == "exact"
    assert get_counter("vowels").count("aei").tokens == 3
    (rejected,) = (entry for entry in listing() if entry.kind == "rejected")
    assert (rejected.name, "impostor" in rejected.summary) == ("o200k_base", True)


def test_two_plugins_with_one_name_are_refused(install: object) -> None:
    install("first-vowels", "vowels")  # type: ignore[operator]
    install("second-vowels", "vowels")  # type: ignore[operator]
    with pytest.raises(TokengapError, match=r"(first|second)-vowels and by (first|second)-vowels both provide it"):
        get_counter("vowels")
    assert [entry.kind for entry in listing() if entry.name == "vowels"] == ["rejected"]


@pytest.mark.parametrize("value", ["no_such_module:from_spec", "vowel_counter:missing"])
def test_broken_plugin_is_one_line(install: object, value: str) -> None:
    install("broken", "vowels", value)  # type: ignore[operator]
    with pytest.raises(TokengapError, match="cannot be loaded"):
        get_counter("vowels")


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("crashing", "provided by broken.* failed: RuntimeError: no"),
        ("wrong", "gave no Count but int"),
        ("nothing", "is no counter but NoneType"),
        ("Vowels", "failed: TypeError"),
    ],
)
def test_a_plugin_that_misbehaves_is_one_clear_error(install: object, attribute: str, message: str) -> None:
    install("broken", "vowels", f"vowel_counter:{attribute}")  # type: ignore[operator]
    with pytest.raises(TokengapError, match=message):
        get_counter("vowels").count("hello")


@pytest.mark.parametrize("spec", ["o200k_base:1", "gpt2:", "cl100k_base:x"])
def test_an_encoding_takes_no_argument(spec: str) -> None:
    with pytest.raises(TokengapError, match="takes no argument"):
        get_counter(spec)


def test_an_artefact_written_anew_is_read_anew(tmp_path: Path) -> None:
    from tokengap.tokenizers.bpe import save, train

    path = tmp_path / "t.bpe"
    counts = []
    for merges in (0, 2):
        save(train(["aaaa"], merges=merges), path)
        counts.append(get_counter(f"bpe:{path}").count("aaaa").tokens)
    assert counts == [4, 1]


@pytest.mark.parametrize("spec", ["o200k_base", "r50k_base", "model:gpt-4o", "words:4/3", "chars:4", "bytes"])
@pytest.mark.parametrize("given", [None, 7, b"bytes", ["a"], bytearray(b"a")])
def test_what_is_no_text_is_refused(spec: str, given: object) -> None:
    counter = get_counter(spec)
    with pytest.raises(TokengapError, match="a text must be str, not"):
        counter.count(given)  # type: ignore[arg-type]  # as from a caller without types
    assert counter.count("a text").tokens >= 2


@pytest.mark.parametrize(
    ("counter", "characters", "message"),
    [
        ("o200k_base", None, "'o200k_base' is no counter"),
        (get_counter("o200k_base"), "x", "at least 0, not 'x'"),
        (get_counter("o200k_base"), -5, "at least 0, not -5"),
        (get_counter("words"), 1.5, r"at least 0, not 1\.5"),
    ],
)
def test_what_cannot_be_prepared(counter: object, characters: object, message: str) -> None:
    with pytest.raises(TokengapError, match=message):
        prepare(counter, characters)  # type: ignore[arg-type]  # as from a caller without types
