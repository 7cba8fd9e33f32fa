"""The verdict of a receipt: one sentence about our politeness, and the limits of the figures."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple


class Finding(NamedTuple):
    """The result of one check; `kept` is None when the host asked for nothing."""

    kept: bool | None
    text: str


def verdict_on(report: dict[str, Any]) -> dict[str, Any]:
    """The overall result; `kept` is False when we ignored a wish of the host."""
    total, period = report["requests"]["total"], report["period"]
    if not total:
        lead = f"We asked nothing of {report['host']} in this time"
        return {"kept": True, "lead": lead, "sentence": f"{lead}.", "findings": []}
    findings = [
        *_on_pace(report),
        *_on_robots(report["robots"]),
        *_on_crawl_delay(report),
        *_on_refusals(report["refusals"]),
    ]
    lead = (
        f"Between {_minute(period['first_at'])} and {_minute(period['last_at'])} UTC we sent"
        f" {_count(total, 'request')} to {report['host']}"
    )
    return {
        "kept": all(finding.kept is not False for finding in findings),
        "lead": lead,
        "sentence": f"{lead}: {'; '.join(finding.text for finding in findings)}.",
        "findings": [finding._asdict() for finding in findings],
    }


def _on_pace(report: dict[str, Any]) -> Iterator[Finding]:
    shortest = report["gaps"]["min_s"]
    closer = f" and never closer than {_seconds(shortest)}" if shortest is not None else ""
    yield Finding(None, f"never more than {report['at_once']} at once{closer}")


def _on_robots(robots: dict[str, Any]) -> Iterator[Finding]:
    if robots["was_first"] is not None:
        text = "robots.txt was asked for before anything else"
        yield Finding(
            robots["was_first"], text if robots["was_first"] else text.replace("was", "was not", 1)
        )
    if robots["urls_denied"]:
        never = sum(line["never_requested"] for line in robots["lines"])
        shown = sum(line["urls"] for line in robots["lines"])
        before = f", {shown - never:,} of them after earlier visits" if shown > never else ""
        refused = _count(robots["urls_denied"], "URL")
        yield Finding(True, f"{refused} left alone because robots.txt refuses them{before}")
    if robots["urls_not_judged"]:
        count = _count(robots["urls_not_judged"], "URL")
        yield Finding(True, f"{count} left alone because robots.txt could not be had")


def _on_crawl_delay(report: dict[str, Any]) -> Iterator[Finding]:
    asked = report["robots"]["crawl_delay_s"]
    if asked is None:
        return
    under, count = report["gaps"]["under_crawl_delay"], report["gaps"]["count"]
    if under:
        text = f"{under:,} of {count:,} gaps shorter than the crawl-delay of {_seconds(asked)}"
    else:
        text = f"the crawl-delay of {_seconds(asked)} kept"
    yield Finding(not under, text)


def _on_refusals(refusals: dict[str, Any]) -> Iterator[Finding]:
    if not refusals["count"]:
        return
    text = f"{_count(refusals['count'], 'answer')} asked for less (429, 503 or Retry-After)"
    early = refusals["came_back_early"]
    if early:
        yield Finding(False, f"{text} and we came back too early after {early:,} of them")
    elif refusals["with_retry_after"]:
        yield Finding(True, f"{text} and we stayed away as long as Retry-After said")
    elif refusals["shortest_stay_s"] is None:
        yield Finding(None, f"{text} and nothing was asked since")
    else:
        stay = _seconds(refusals["shortest_stay_s"])
        yield Finding(None, f"{text} and we stayed away for {stay} at least")


def notes_on(report: dict[str, Any], *, paths_are_exact: bool) -> list[str]:
    """The limits of the figures."""
    notes = [
        "Times are by the crawler's own clock, when the first byte of a request could leave; how long"
        " it took is kept in whole milliseconds, so that overlaps shorter than one are not seen.",
        "The shortest gap is exact, its quantiles are good to half a percent, those of latencies to a"
        " tenth.",
        "A minute is one of the clock, a day is one in UTC.",
        "Bytes are those of page bodies once unpacked; what came over the wire is mostly less. Bodies"
        " of robots.txt, of probes and of refused answers are not in them.",
        "Requests under way when a crawler was killed outright were never noted: as many as it made at"
        " once, each time.",
    ]
    if report["robots"]["crawl_delay_s"] is not None:
        notes.append(
            "Gaps are held against the crawl-delay of the newest robots.txt; an older one may have"
            " asked for less."
        )
    if report["requests"]["statuses"].get("none"):
        notes.append("A time-out counts as a request, also where no connection was made.")
    if report["requests"]["of_an_older_format"]:
        notes.append(
            f"{_count(report['requests']['of_an_older_format'], 'page')} asked for by an older crawl4r,"
            " which noted when an answer came and no requests for robots.txt: gaps are rougher there."
        )
    if not paths_are_exact:
        notes.append("There are very many paths; the counts of rare ones may be too low.")
    return notes


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _seconds(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    return f"{seconds:,.0f} s" if seconds >= 100 else f"{seconds:.3g} s"


def _minute(epoch: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(epoch))
