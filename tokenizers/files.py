"""Writing files in full or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from .errors import TokengapError


def write_atomically(path: Path, content: bytes) -> None:
    """Write to a new file beside the old one, then put it in its place.

    A device, such as /dev/null, is written to as it is. Raises TokengapError.
    """
    from tempfile import NamedTemporaryFile

    try:
        if path.exists() and not path.is_file():
            path.write_bytes(content)
            return
        target = path.resolve()
        with NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            try:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
                file.close()
                os.chmod(file.name, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
                os.replace(file.name, target)
            except BaseException:
                file.close()
                with suppress(OSError):
                    os.unlink(file.name)
                raise
    except OSError as error:
        raise TokengapError(f"cannot write {path}: {error.strerror or error}") from error


def check_writable(path: Path) -> None:
    """Refuse a path that cannot be written before the work that would be lost. Raises TokengapError."""
    folder = path.resolve().parent
    if path.is_dir():
        raise TokengapError(f"cannot write {path}: it is a directory")
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise TokengapError(f"cannot write {path}: there is no folder {folder} to write to")


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
