"""A politeness receipt as one HTML file, without scripts or external resources."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crawl4r._version import __version__
from crawl4r.interfaces.cli.view.format import clock_time, human_bytes
from crawl4r.interfaces.cli.view.host_report_text import KIND_WORDS, asked_words, line_words
from crawl4r.interfaces.html.elements import Markup, isolated, joined, tag
from crawl4r.interfaces.html.plots import (
    answers_by_status,
    gaps_histogram,
    latency_over_time,
    requests_over_time,
    span,
)
from crawl4r.interfaces.html.style import STYLE

# Browsers refuse to load or run anything, so untrusted text in the page can do no harm.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(report: dict[str, Any], made_at: float) -> str:
    """The whole document."""
    has_requests = bool(report["requests"]["total"])
    body = tag(
        "main",
        _header(report),
        _verdict(report["verdict"]),
        *((_tiles(report), *_plots(report)) if has_requests else ()),
        tag("div", _who(report), _kinds(report["requests"]), class_="two"),
        _robots(report["robots"], report["gaps"]),
        _refusals(report["refusals"]),
        tag("div", _paths(report["paths"]), _errors(report["errors"]), class_="two"),
        _section("How to read this", tag("ol", *(tag("li", note) for note in report["notes"]))),
        tag(
            "footer",
            f"Made by crawl4r {__version__} at {clock_time(made_at)} from its own records.",
        ),
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"What crawl4r asked of {report['host']}"),
        Markup(f"<style>{STYLE}</style>"),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', body), lang='en')}\n"


def _section(title: str, *parts: str, **attributes: object) -> Markup:
    return tag("section", tag("h2", title), *parts, **attributes)


def _header(report: dict[str, Any]) -> Markup:
    period = report["period"]
    words = "nothing was asked"
    if period["first_at"] is not None:
        words = f"{clock_time(period['first_at'])} to {clock_time(period['last_at'])}"
    bounds = [
        f"{name} {clock_time(period[name])}"
        for name in ("since", "until")
        if period[name] is not None
    ]
    return tag(
        "header",
        tag("p", "What crawl4r asked of", class_="over"),
        tag("h1", isolated(report["host"])),
        tag("p", words + (f" (asked for: {' '.join(bounds)})" if bounds else ""), class_="muted"),
    )


def _verdict(verdict: dict[str, Any]) -> Markup:
    kept = verdict["kept"]
    title = f"{'Everything' if kept else 'Not everything'} this host asked for was kept"
    classes = {True: "kept", False: "broken", None: None}
    findings = [
        tag("li", finding["text"], class_=classes[finding["kept"]])
        for finding in verdict["findings"]
    ]
    return _section(
        title,
        tag("p", verdict["lead"] + (":" if findings else ".")),
        tag("ul", *findings) if findings else "",
        class_="verdict" if kept else "verdict broken",
    )


def _tiles(report: dict[str, Any]) -> Markup:
    gaps, most = report["gaps"], report["most"]
    tiles = [
        (f"{report['requests']['total']:,}", "requests"),
        (str(report["at_once"]), "at once, at most"),
        (span(gaps["min_s"]) if gaps["count"] else "-", "shortest gap"),
        (span(gaps["median_s"]) if gaps["count"] else "-", "median gap"),
        (f"{most['minute']['requests']:,}", "in the busiest minute"),
        (f"{most['day']['requests']:,}", "on the busiest day"),
        (human_bytes(report["requests"]["bytes"]), "of pages, unpacked"),
        (f"{report['robots']['urls_denied']:,}", "URLs left alone for robots.txt"),
    ]
    return tag(
        "div",
        *(tag("div", tag("b", value), tag("span", words), class_="tile") for value, words in tiles),
        class_="tiles",
    )


def _plots(report: dict[str, Any]) -> Iterable[Markup]:
    yield _plot("Requests over time", requests_over_time(report), "wide")
    gaps = _plot("Gaps between requests", gaps_histogram(report)) if report["gaps"]["count"] else ""
    yield tag("div", gaps, _plot("Answers by status", answers_by_status(report)), class_="two")
    latency = latency_over_time(report)
    yield _plot("How long answers took: median, and up to the 95th percentile", latency, "wide")


def _plot(title: str, drawing: Markup, width: str = "") -> Markup:
    return _section(title, tag("div", drawing, class_=f"plot {width}".strip()))


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> Markup:
    """A table. Columns whose head ends with a space hold numbers."""
    classes = [("n" if head.endswith(" ") else None) for head in heads]
    cells = zip(heads, classes, strict=True)
    return tag(
        "table",
        tag("tr", *(tag("th", head.strip(), class_=class_) for head, class_ in cells)),
        *(
            tag("tr", *(tag("td", c, class_=k) for c, k in zip(row, classes, strict=True)))
            for row in rows
        ),
    )


def _who(report: dict[str, Any]) -> Markup:
    rows = [
        (tag("code", isolated(agent["user_agent"])), isolated(agent["contact"] or "none given"),
         f"{agent['requests']:,}")
        for agent in report["agents"]
    ]  # fmt: skip
    return _section("Who we said we are", _table(("user agent", "contact", "pages "), rows))


def _kinds(requests: dict[str, Any]) -> Markup:
    rows = [(KIND_WORDS[kind], f"{count:,}") for kind, count in requests["kinds"].items() if count]
    rows.append((tag("b", "in all"), tag("b", f"{requests['total']:,}")))
    if requests["unsent"]:
        rows.append(
            ("never left: no name, no connection, or our own gate", f"{requests['unsent']:,}")
        )
    return _section("What was asked for", _table(("", "requests "), rows))


def _robots(robots: dict[str, Any], gaps: dict[str, Any]) -> Markup:
    files = [
        (tag("code", isolated(file["origin"])), f"{file['outcome']} ({file['status'] or 'no status'})",
         clock_time(file["fetched_at"]),
         span(file["crawl_delay_s"]) if file["crawl_delay_s"] else "none")
        for file in robots["files"]
    ]  # fmt: skip
    parts = [tag("p", f"It was {asked_words(robots)}.")]
    if robots["crawl_delay_s"]:
        under = f"{gaps['under_crawl_delay']:,} of {gaps['count']:,} gaps were shorter"
        parts.append(tag("p", f"Crawl-delay {span(robots['crawl_delay_s'])}: {under}."))
    if files:
        heads = ("newest robots.txt", "answer", "fetched", "crawl-delay ")
        parts.append(_table(heads, files))
    if robots["lines"]:
        parts.append(tag("h3", "Lines that refused URLs"))
        rows = [
            (tag("code", isolated(line["rule"])), str(line["line"] or "-"), line_words(line))
            for line in robots["lines"]
        ]
        parts.append(_table(("rule", "line ", "URLs "), rows))
    return _section("robots.txt", *parts)


def _refusals(refusals: dict[str, Any]) -> Markup:
    if not refusals["count"]:
        return _section(
            "Answers that asked for less", tag("p", "None: no 429, no 503 and no Retry-After.")
        )
    rows = [
        (
            clock_time(refusal["at"]),
            str(refusal["status"]),
            "-" if refusal["asked_s"] is None else span(refusal["asked_s"]),
            "since then"
            if refusal["stayed_away_s"] is None
            else span(max(refusal["stayed_away_s"], 0.001)),
        )
        for refusal in reversed(refusals["newest"])
    ]
    words = f"Such answers: {refusals['count']:,}. The newest:"
    heads = ("when", "status ", "Retry-After ", "nothing asked for ")
    return _section(
        "Answers that asked for less: 429, 503, Retry-After", tag("p", words), _table(heads, rows)
    )


def _paths(paths: list[dict[str, Any]]) -> Markup:
    rows = [(tag("code", isolated(path["path"])), f"{path['requests']:,}") for path in paths]
    return _section("Busiest paths, by their first part", _table(("path", "requests "), rows))


def _errors(errors: list[dict[str, Any]]) -> Markup:
    if not errors:
        return _section("Errors", tag("p", "None."))
    rows = [
        (joined(error["verdict"] or "-", ": ", isolated(error["reason"])), f"{error['requests']:,}")
        for error in errors
    ]
    return _section("Errors, and answers that were no page", _table(("reason", "requests "), rows))
