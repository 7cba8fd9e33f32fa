"""A politeness receipt as text, for a terminal or a mail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crawl4r.interfaces.cli.view.format import clock_time, human_bytes, human_seconds

KIND_WORDS = {
    "pages": "pages",
    "revalidations": "pages known before, answered 304",
    "retries": "once more, after an answer that failed or none",
    "robots": "robots.txt",
    "probes": "a page that cannot exist, to know the host's error page",
    "guesses": "guesses: sitemaps, archives and further pages that no page named",
    "other": "other, such as redirects of robots.txt",
}


def line_words(line: dict[str, Any]) -> str:
    """The number of URLs that a line of robots.txt refused, in words."""
    never, before = line["never_requested"], line["urls"] - line["never_requested"]
    words = [f"{never:,} URL{'s' if never != 1 else ''} never requested"] if never else []
    words += [f"{before:,} not requested again"] if before else []
    return ", ".join(words)


def asked_words(robots: dict[str, Any]) -> str:
    """How often, and when last, robots.txt was requested."""
    if not robots["asked"]:
        return "not asked for"
    times = "once" if robots["asked"] == 1 else f"{robots['asked']:,} times"
    return f"asked for {times}, last {clock_time(robots['last_asked_at'])}"


def lines(report: dict[str, Any]) -> Iterator[str]:
    """The lines of the report. They hold untrusted text unescaped."""
    yield report["verdict"]["sentence"]
    kept = report["verdict"]["kept"]
    yield f"{'Everything' if kept else 'NOT everything'} that the host asked for was kept."
    yield ""
    for agent in report["agents"]:
        contact = agent["contact"] or "none given"
        yield f"who: {agent['user_agent']}, contact {contact}"
    period = report["period"]
    yield f"from {clock_time(period['first_at'])} to {clock_time(period['last_at'])}"
    yield from _requests(report["requests"])
    yield from _pace(report)
    yield from _robots(report["robots"])
    yield from _refusals(report["refusals"])
    yield from _busiest(report)
    for note in report["notes"]:
        yield f"note: {note}"


def _requests(requests: dict[str, Any]) -> Iterator[str]:
    yield f"requests: {requests['total']:,}, {human_bytes(requests['bytes'])} of pages, unpacked"
    for kind, count in requests["kinds"].items():
        if count:
            yield f"  {count:>9,}  {KIND_WORDS[kind]}"
    if requests["unsent"]:
        yield f"  {requests['unsent']:>9,}  never left: no name, no connection, or our own gate"
    statuses = requests["statuses"].items()
    yield "answers: " + (", ".join(f"{status}: {count:,}" for status, count in statuses) or "none")


def _pace(report: dict[str, Any]) -> Iterator[str]:
    gaps, most, latency = report["gaps"], report["most"], report["latency"]
    yield f"at once: {report['at_once']} at most"
    if gaps["count"]:
        yield (
            f"gaps: shortest {_seconds(gaps['min_s'])}, 1 of 100 under {_seconds(gaps['p01_s'])},"
            f" median {_seconds(gaps['median_s'])}"
        )
    for name, peak in most.items():
        if peak["at"] is not None:
            yield f"busiest {name}: {peak['requests']:,} requests, {clock_time(peak['at'])}"
    if latency["median_ms"] is not None:
        yield (
            f"latency: median {latency['median_ms']:.0f} ms, 95 of 100 within"
            f" {latency['p95_ms']:.0f} ms, longest {latency['max_ms']:,} ms"
        )


def _robots(robots: dict[str, Any]) -> Iterator[str]:
    yield f"robots.txt: {asked_words(robots)}"
    for file in robots["files"]:
        delay = f", crawl-delay {_seconds(file['crawl_delay_s'])}" if file["crawl_delay_s"] else ""
        answer = f"{file['outcome']} ({file['status'] or 'no status'})"
        yield f"  {file['origin']}: {answer} of {clock_time(file['fetched_at'])}{delay}"
    for line in robots["lines"]:
        number = f" (line {line['line']})" if line["line"] else ""
        yield f"  {line['rule']}{number}: {line_words(line)}"


def _refusals(refusals: dict[str, Any]) -> Iterator[str]:
    if not refusals["count"]:
        return
    yield (
        f"asked for less (429, 503 or Retry-After): {refusals['count']:,} times,"
        f" {refusals['with_retry_after']:,} of them with a Retry-After"
    )
    for refusal in refusals["newest"][-5:]:
        asked = refusal["asked_s"]
        wish = "no time named" if asked is None else f"asked for {human_seconds(asked)}"
        stayed = refusal["stayed_away_s"]
        then = "nothing asked since" if stayed is None else f"stayed away {human_seconds(stayed)}"
        yield f"  {clock_time(refusal['at'])}  {refusal['status']}, {wish}, {then}"


def _busiest(report: dict[str, Any]) -> Iterator[str]:
    if report["paths"]:
        yield "busiest paths, by their first part:"
    for path in report["paths"]:
        yield f"  {path['requests']:>9,}  {path['path']}"
    if report["errors"]:
        yield "errors, and answers that were no page:"
    for error in report["errors"]:
        yield f"  {error['requests']:>9,}  {error['verdict']}: {error['reason']}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds < 60 else human_seconds(seconds)
