"""Memory of a process that reads page after page: kept for the next one, and seldom looked through."""

from __future__ import annotations

import contextlib
import ctypes
import gc

# glibc's names and numbers (malloc.h); other libraries have no `mallopt` and are left alone.
_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3
_KEPT = 64 * 1024**2  # free bytes at the top of the heap before any are given back
_PAD = 1024**2
_MAPPED = 32 * 1024**2  # only blocks from here on are mapped one by one

_UNCOLLECTED = 50_000  # objects, until the collector looks for cycles among them


def keep_freed_memory() -> None:
    """For the whole process, so only programs call it: a crawl took 45 page faults a page without."""
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        for parameter, value in (
            (_M_TRIM_THRESHOLD, _KEPT),
            (_M_TOP_PAD, _PAD),
            (_M_MMAP_THRESHOLD, _MAPPED),
        ):
            mallopt(parameter, value)


def collect_seldom() -> None:
    """Once everything is loaded: that stays, and a page is thousands of rows and links, in no cycle."""
    gc.freeze()
    gc.set_threshold(_UNCOLLECTED)
