"""The end of a crawl as plain data."""

from __future__ import annotations

from typing import Any

from crawl4r.crawl import EndedBy
from crawl4r.crawl_run import CrawlRun
from crawl4r.workspace import Workspace

# Totals of the workspace: `status` counts them, under the same names.
_TOTALS = (
    "pages", "bytes", "captures", "stored_bytes", "documents", "index", "urls", "known", "done",
    "pending", "failed", "refused", "guesses", "endings",
)  # fmt: skip


def summary_of(run: CrawlRun, workspace: Workspace, ended: EndedBy) -> dict[str, Any]:
    """The end of a run as plain data: totals of the workspace, and what this run did."""
    assert run.crawl is not None
    status = workspace.status()
    progress = run.crawl.progress
    return {
        "ended": ended.value,
        "workspace": str(workspace.path),
        **{name: status[name] for name in _TOTALS},
        "passages": (status["index"] or {}).get("passages", 0),
        "unembedded": run.follower.behind[1] if run.follower else 0,
        "other_languages": (status["index"] or {}).get("other_languages", {}),
        "unread": run.documenter.behind() if run.documenter else 0,
        "seconds": round(run.seconds, 3),
        "visits": progress.visits,
        "new_pages": progress.pages,
        "retries": progress.retries,
        "verdicts": dict(progress.verdicts),
        "given_up": sorted(run.crawl.schedule.given_up),
    }
