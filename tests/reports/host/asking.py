"""Crawls whose every request the server has logged, and what the report says of them."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.interfaces.cli.running import Answer, run
from tests.site.access_log import AccessRecord

CONTACT = "https://example.org/bot"
PROBE = "/crawlr-asks-for-a-missing-page-"


def crawl(workspace: Path, *arguments: str, env: dict[str, str] | None = None) -> Answer:
    """`crawl4r crawl` on loopback; `arguments` are seeds and options."""
    fixed = ("--allow-private", "127.0.0.0/8", "--contact", CONTACT, "--no-extract", "--json")
    return run("crawl", *arguments, "-w", workspace, *fixed, env=env)


def report(workspace: Path, host: str, *options: str) -> dict[str, Any]:
    answer = run("report", host, "-w", workspace, "--json", *options)
    assert answer.code == 0, answer.err
    told: dict[str, Any] = answer.json
    return told


def counted(records: Iterable[AccessRecord]) -> dict[str, Any]:
    """The `requests` part of a report, as the server's own log would have it."""
    records = list(records)
    robots = sum(record.path == "/robots.txt" for record in records)
    probes = sum(record.path.startswith(PROBE) for record in records)
    return {
        "total": len(records),
        "statuses": {str(s): n for s, n in Counter(r.status for r in records).items()},
        "robots": robots,
        "probes": probes,
        "not_modified": sum(record.status == 304 for record in records),
    }


def said(told: dict[str, Any]) -> dict[str, Any]:
    """The same of a report."""
    requests = told["requests"]
    return {
        "total": requests["total"],
        "statuses": requests["statuses"],
        "robots": requests["kinds"]["robots"],
        "probes": requests["kinds"]["probes"],
        "not_modified": requests["kinds"]["revalidations"],
    }


def arrival_gaps(records: Iterable[AccessRecord]) -> list[float]:
    """Seconds between arrivals, the shortest first."""
    arrivals = sorted(record.arrived_monotonic for record in records)
    return sorted(later - earlier for earlier, later in pairwise(arrivals))
