"""The peak of memory of a task, from the kernel and not from an allocator."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MEGABYTE = 1 << 20
_FORGET_THE_PEAK = "5"  # proc(5), clear_refs


@dataclass(slots=True)
class Growth:
    """Bytes of resident memory above what there was at the start; `peak` includes what was freed."""

    peak: int = 0
    remaining: int = 0


@contextmanager
def watch_memory() -> Iterator[Growth]:
    growth = Growth()
    Path("/proc/self/clear_refs").write_text(_FORGET_THE_PEAK, encoding="ascii")
    before = _resident("VmRSS")
    yield growth
    growth.peak = _resident("VmHWM") - before
    growth.remaining = _resident("VmRSS") - before


def _resident(field: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"the kernel does not report {field}")
