"""The definition of a kept URL, for progress, summary, status and pages, in every database."""

from __future__ import annotations

from crawl4r.model import REJECTED

_REJECTED = ", ".join(f"'{verdict.value}'" for verdict in sorted(REJECTED))
# For a row of `urls u`: true if the archive holds a page of it, even a rejected one, and never NULL.
IS_KEPT = f"(u.content IS NOT NULL OR u.verdict IS NOT NULL AND u.verdict IN ({_REJECTED}))"
