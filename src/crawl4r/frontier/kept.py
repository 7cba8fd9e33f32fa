"""The definition of a kept URL, for progress, summary, status and pages."""

from __future__ import annotations

from crawl4r.model import REJECTED

_REJECTED = ", ".join(f"'{verdict.value}'" for verdict in sorted(REJECTED))
# For a row of `urls u`: 1 if the archive holds a page of it, even a rejected one, else 0.
IS_KEPT = f"(u.content IS NOT NULL OR coalesce(u.verdict IN ({_REJECTED}), 0))"
