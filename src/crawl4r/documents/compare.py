"""Compare two texts of a page: short ones in this process, long ones in a sandbox process."""

from __future__ import annotations

from crawl4r.content.compare.changes import TextComparison
from crawl4r.processes.sandbox import Sandbox, SandboxKilled

QUICK = 64 * 1024  # characters of both texts, which take at most a tenth of a second


class Incomparable(Exception):
    """The comparison failed; `str()` tells how."""


async def compare_safely(
    sandbox: Sandbox, before: str, after: str, *, labels: tuple[str, str] | None = None
) -> TextComparison:
    """Compare in a process that runs `entries.COMPARER`; with `labels` also make a diff.

    Raises Incomparable when it takes too long or fails.
    """
    old, new = before.encode("utf-8", "replace"), after.encode("utf-8", "replace")
    try:
        return await sandbox.run({"length": len(old), "labels": labels}, old + new, TextComparison)
    except SandboxKilled as killed:
        raise Incomparable(killed.reason) from None
