"""Files are written in full or not at all."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tokengap.tokenizers.errors import TokengapError
from tokengap.tokenizers.files import check_writable, write_atomically


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "town.bpe"
    path.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TokengapError, match=r"cannot write .*town\.bpe: No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["town.bpe"]


@pytest.mark.skipif(sys.platform == "win32", reason="permission bits of POSIX")
def test_permissions_are_those_of_an_ordinary_file(tmp_path: Path) -> None:
    plain, written = tmp_path / "plain", tmp_path / "written"
    plain.touch()
    write_atomically(written, b"x")
    assert written.stat().st_mode == plain.stat().st_mode
    written.chmod(0o640)
    write_atomically(written, b"y")
    assert written.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "real.bpe", tmp_path / "link.bpe"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_checked_before_the_work(tmp_path: Path) -> None:
    check_writable(tmp_path / "new")
    with pytest.raises(TokengapError, match="it is a directory"):
        check_writable(tmp_path)
    with pytest.raises(TokengapError, match="there is no folder"):
        check_writable(tmp_path / "no" / "new")


def test_a_device_stays_a_device() -> None:
    write_atomically(Path(os.devnull), b"x")
    assert not Path(os.devnull).is_file()
