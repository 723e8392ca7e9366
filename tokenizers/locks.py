"""Locks that a fork waits for, so that no process begins with one that nobody will release.

They are made before anything can be forked while one is held: hooks that come later would be called half.
"""

from __future__ import annotations

import os
from _thread import RLock, allocate_lock  # threading takes longer to import than to count takes

loading = RLock()
"""Held while engines are imported and built, and what that takes, such as the locks of imports."""

remembering = allocate_lock()
"""Held while a memo is written."""

if hasattr(os, "register_at_fork"):
    for _lock in (loading, remembering):
        os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
