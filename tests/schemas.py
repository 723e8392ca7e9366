"""Fetch the schemas that reports are validated against, each from what its maker distributes.

    python tests/schemas.py FOLDER

The JUnit schema is in pytest's source distribution, of the version that is installed; SARIF's, with the
validator that reads between its lines, in Microsoft's package for npm.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path

SARIF = "@microsoft/sarif-multitool-linux@5.7.0"


def main(folder: Path) -> None:
    """Fill the folder, whole or not at all."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        new = Path(name) / "schemas"
        new.mkdir()
        (new / "junit-10.xsd").write_bytes(junit(Path(name)))
        sarif(Path(name), new / "sarif")
        shutil.rmtree(folder, ignore_errors=True)
        new.rename(folder)


def junit(work: Path) -> bytes:
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--no-binary", "pytest", "-d", work, f"pytest=={version('pytest')}"], check=True)
    (archive,) = work.glob("pytest-*.tar.gz")
    with tarfile.open(archive) as sources:
        member = next(each for each in sources.getmembers() if each.name.endswith("/junit-10.xsd"))
        file = sources.extractfile(member)
        assert file is not None
        return file.read()


def sarif(work: Path, folder: Path) -> None:
    subprocess.run(["npm", "pack", "--silent", SARIF], cwd=work, stdout=subprocess.DEVNULL, check=True)
    (archive,) = work.glob("microsoft-*.tgz")
    with tarfile.open(archive) as package:
        package.extractall(work, filter="data")
    (work / "package").rename(folder)
    (folder / "Sarif.Multitool").chmod(0o755)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
