"""The end of a crawl as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crawl4r.crawling.loop import EndedBy
from crawl4r.model import Verdict
from crawl4r.reports.status import Overview
from crawl4r.workspace.reader import WorkspaceReader
from crawl4r.workspace.run_outcome import RunOutcome

# Totals: `status` counts them, under the same names.
_TOTALS = (
    "pages", "bytes", "captures", "stored_bytes", "documents", "index", "urls", "known", "done",
    "pending", "failed", "refused", "guesses", "endings",
)  # fmt: skip
LIMITS = frozenset([EndedBy.MAX_PAGES, EndedBy.MAX_BYTES, EndedBy.MAX_SECONDS])
# Verdicts without an answer of the site.
UNREACHED = frozenset([Verdict.NETWORK_ERROR, Verdict.EGRESS_REFUSED, Verdict.ROBOTS_UNREACHABLE])


def summary_of(outcome: RunOutcome, workspace: WorkspaceReader) -> dict[str, Any]:
    """The end of a run as plain data: totals of its crawl and store, and the counts of this run."""
    status = workspace.status() | _of_crawl(outcome, workspace)
    summary = {
        "ended": outcome.ended.value,
        "workspace": str(workspace.home),
        **{name: status[name] for name in _TOTALS},
        "passages": (status["index"] or {}).get("passages", 0),
        "unembedded": outcome.unembedded,
        "other_languages": (status["index"] or {}).get("other_languages", {}),
        "unread": outcome.unread,
        "seconds": outcome.seconds,
        "visits": outcome.visits,
        "asked": outcome.asked,
        "new_pages": outcome.new_pages,
        "shared": outcome.shared,
        "retries": outcome.retries,
        "verdicts": dict(outcome.verdicts),
        "given_up": list(outcome.given_up),
    }
    return summary | {"problem": _problem_of(outcome, workspace, summary)}


def _of_crawl(outcome: RunOutcome, workspace: WorkspaceReader) -> dict[str, Any]:
    """What other crawls of the store have no part in."""
    tallies = workspace.parts.notes_of(outcome.crawl)
    counts = Overview(workspace.database).counts(outcome.crawl)
    del counts["documents"]
    return counts | {name: tallies.tally(name) for name in ("pages", "bytes")}


def _problem_of(
    outcome: RunOutcome, workspace: WorkspaceReader, summary: dict[str, Any]
) -> str | None:
    """Why this run kept no page, or gave hosts up; None on success."""
    if outcome.ended is EndedBy.HOSTS_GIVEN_UP and summary["pending"]:
        return f"no answer any more from {', '.join(summary['given_up'][:3])}: {_first(summary)}"
    if not summary["known"] or summary["new_pages"]:
        return None
    is_empty = not summary["pages"] and outcome.ended not in LIMITS
    is_unreached = bool(summary["verdicts"]) and UNREACHED.issuperset(summary["verdicts"])
    problem = _problem_of_seeds(outcome.seeds, workspace)
    if is_empty or is_unreached:
        return f"nothing could be kept: {problem or _first(summary)}"
    return f"no seed could be fetched: {problem}" if problem else None


def _problem_of_seeds(seeds: Iterable[str], workspace: WorkspaceReader) -> str | None:
    """The problem of the first seed, if no seed could be fetched."""
    problem = None
    for seed in seeds:
        story = workspace.why(seed)
        verdict = story.get("verdict")
        if verdict not in UNREACHED | {Verdict.ROBOTS_DENIED, Verdict.HTTP_ERROR}:
            return None
        problem = problem or f"{seed}: {verdict}: {story['reason']}"
    return problem


def _first(summary: dict[str, Any]) -> str:
    """The most frequent verdict of URLs without a page."""
    endings = summary["endings"]
    return f"{endings[0]['verdict']}: {endings[0]['reason']}" if endings else summary["ended"]
