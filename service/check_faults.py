"""A fault of tokengap itself, in one line that says where."""

from __future__ import annotations

import traceback
from pathlib import Path


def describe_fault(error: Exception) -> str:
    """What went wrong, and the last of our own lines that was running."""
    here = Path(__file__).parents[1]
    frames = traceback.extract_tb(error.__traceback__)
    last = [frame for frame in frames if here in Path(frame.filename).parents][-1]
    place = Path(last.filename).relative_to(here).as_posix()
    return f"{type(error).__name__}: {error} ({place}:{last.lineno}); this is a fault of tokengap, please report it"
