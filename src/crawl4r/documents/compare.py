"""Two texts of a page compared: short ones here, long ones in a process that can be killed."""

from __future__ import annotations

from crawl4r.content.compare.changes import TextComparison
from crawl4r.processes.sandbox import Sandbox, SandboxKilled

QUICK = 64 * 1024  # characters of both texts that take a tenth of a second, whatever they say


class Incomparable(Exception):
    """The texts broke the process that compared them; `str()` says how."""


async def compare_safely(
    sandbox: Sandbox, before: str, after: str, *, labels: tuple[str, str] | None = None
) -> TextComparison:
    """Compare in a process that runs `entries.COMPARER`; with `labels`, make a diff too.

    Raises Incomparable when that takes too long or fails.
    """
    old, new = before.encode("utf-8", "replace"), after.encode("utf-8", "replace")
    try:
        return await sandbox.run({"length": len(old), "labels": labels}, old + new, TextComparison)
    except SandboxKilled as killed:
        raise Incomparable(killed.reason) from None
