"""Memory that stays with the process."""

import ctypes
import sys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4
"""Numbers of glibc's mallopt."""


def keep_freed_memory() -> bool:
    """Let the C library keep what training frees after each step, where it can be told so.

    Otherwise glibc gives large blocks back to the system, which hands them out again page by page, each page
    filled with zeros: a tenth to a third of the time of a step on a processor.

    Returns:
        Whether it was told.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    settings = ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, 2**31 - 1), (_TOP_PAD, 2**26))
    return all(mallopt(number, value) == 1 for number, value in settings)


def give_back_freed_memory() -> bool:
    """Give the system what is free, where the C library can be told so.

    Batches of many shapes cut what is kept into pieces that fit no other batch, so that a long training would
    hold several times what it needs.

    Returns:
        Whether it was told.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform.startswith("linux") else None
    if trim is None:
        return False
    trim(0)
    return True
