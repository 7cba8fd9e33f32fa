"""Which URLs are "kept"? The one answer for progress, summary, status and pages."""

from __future__ import annotations

from crawl4r.model import REJECTED

_REJECTED = ", ".join(f"'{verdict.value}'" for verdict in sorted(REJECTED))
# Of a row of `urls u`: the archive holds a page of it, also one that was rejected. 0 or 1.
IS_KEPT = f"(u.content IS NOT NULL OR coalesce(u.verdict IN ({_REJECTED}), 0))"
