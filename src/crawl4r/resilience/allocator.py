"""Keep what the parser frees for the next page, instead of handing it back to the kernel."""

from __future__ import annotations

import contextlib
import ctypes

# glibc's names and numbers (malloc.h); other libraries have no `mallopt` and are left alone.
_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3
_KEPT = 64 * 1024**2  # free bytes at the top of the heap before any are given back
_PAD = 1024**2
_MAPPED = 32 * 1024**2  # only blocks from here on are mapped one by one


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
