"""What a report may not be written over: what the check itself reads."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from ..estimators.budget_config import Loaded
from ..estimators.path_patterns import select
from ..estimators.project_file import PROJECT_FILES
from ..tokenizers.errors import TokengapError


def refuse_targets(
    targets: Mapping[str, str], loaded: Loaded, folder: Path, files: Collection[str], read: Iterable[str | None]
) -> None:
    """Raise TokengapError for a file to write, by the option that asks for it, that something is read from.

    ``files`` are those below ``folder``, the configuration's; ``read`` are others that the command line names.
    """
    sources = {os.path.realpath(path): f"{path}, which is read" for path in read if path and os.path.isfile(path)}
    sources[os.path.realpath(loaded.origin.path)] = "the configuration"
    for option, target in targets.items():
        real = os.path.realpath(target)
        inside = os.path.relpath(real, folder).replace(os.sep, "/")
        over = sources.get(real)
        if ".git" in Path(real).parts:
            over = "git's own"
        elif os.path.basename(real) in PROJECT_FILES:
            over = "the configuration" if over else "a configuration"
        elif inside in files:
            names = (each.name for each in loaded.configuration.budget if select([inside], each.paths))
            over = next((f"a file of the budget {name!r}" for name in names), over)
        if over:
            raise TokengapError(f"{option}: it would be written over {over}; name another file")
