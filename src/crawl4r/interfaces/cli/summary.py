"""The end of a crawl as plain data."""

from __future__ import annotations

from typing import Any

from crawl4r.crawl import EndedBy
from crawl4r.crawl_run import CrawlRun
from crawl4r.workspace import Workspace


def summary_of(run: CrawlRun, workspace: Workspace, ended: EndedBy) -> dict[str, Any]:
    """The end of a run as plain data: totals of the workspace, and what this run did."""
    assert run.crawl is not None
    status = workspace.status()
    counts = status["urls"]
    progress = run.crawl.progress
    return {
        "ended": ended.value,
        "workspace": str(workspace.path),
        "pages": run.crawl.keeper.pages,
        "bytes": run.crawl.keeper.bytes,
        "stored_bytes": status["stored_bytes"],
        "documents": status["documents"],
        "passages": run.follower.progress.passages if run.follower else 0,
        "unembedded": run.follower.behind[1] if run.follower else 0,
        "other_languages": (status["index"] or {}).get("other_languages", {}),
        "known": sum(counts.values()),
        "done": counts.get("done", 0),
        "pending": counts.get("pending", 0) + counts.get("leased", 0) + counts.get("waiting", 0),
        "failed": counts.get("failed", 0),
        "refused": counts.get("refused", 0),
        "seconds": round(run.seconds, 3),
        "visits": progress.visits,
        "new_pages": progress.pages,
        "retries": progress.retries,
        "verdicts": dict(progress.verdicts),
        "endings": [
            {"verdict": verdict, "reason": reason, "urls": count}
            for verdict, reason, count in workspace.report.endings()[:8]
        ],
        "given_up": sorted(run.crawl.schedule.given_up),
    }
