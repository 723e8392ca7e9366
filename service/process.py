"""How a server process treats memory: what is loaded stays, what a request took goes back."""

from __future__ import annotations

import ctypes
import gc
import sys

_ARENAS, _MMAP_THRESHOLD = -8, -3  # of mallopt, malloc.h
LARGE = 256 * 1024
"""Bytes of a block that glibc takes from the system by itself, so that it can be given back."""


def give_back_memory() -> None:
    """Have large blocks go back to the system when they are freed.

    glibc keeps the blocks of a megabyte text in a heap of its own for each thread, which grows with every coincidence
    of large requests and never shrinks.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
        if mallopt is not None:
            mallopt(_MMAP_THRESHOLD, LARGE)
            mallopt(_ARENAS, 2)


def keep_what_is_loaded() -> None:
    """Take vocabularies and prices out of garbage collection, and collect less often.

    To look through them again and again is what would make answers late, as would looking after every 700 of the
    values in a body.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)
