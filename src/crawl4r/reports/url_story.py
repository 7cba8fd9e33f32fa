"""Queries on a workspace about its URLs: what happened to them, and why. Read-only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from crawl4r.archive.captures import Captures
from crawl4r.archive.documents import Documents
from crawl4r.archive.dropped import DroppedBytes
from crawl4r.errors import StorageDamaged
from crawl4r.frontier.guesses import GuessCounts, count_guesses, is_guess, is_in_vain
from crawl4r.frontier.kept import IS_KEPT
from crawl4r.frontier.revisits import Revisits
from crawl4r.model import Capture, UrlState, Verdict
from crawl4r.storage.database import Database
from crawl4r.storage.tables import RobotsRecords
from crawl4r.urls.canonical import split
from crawl4r.urls.robots import RobotsFile
from crawl4r.urls.scope import Scope

GUESSES = "guesses"
LINKS = "links"
_PAGES = f"""
SELECT u.url, u.state, v.status, v.sha256, CASE WHEN v.status = 304 THEN c.bytes ELSE v.bytes END,
       v.fetched_at, u.depth, r.url, u.page_type, u.verdict, u.reason, u.found_by, {IS_KEPT}
FROM urls u LEFT JOIN urls r ON r.id = u.referrer LEFT JOIN captures v ON v.id = u.capture
LEFT JOIN captures c ON c.id = u.content
"""


class PageRow(Struct, frozen=True):
    """One known URL with its state. Unknown values are None."""

    url: str
    state: str
    status: int | None
    sha256: str | None
    bytes: int | None
    captured_at: float | None
    depth: int
    referrer: str | None
    page_type: str
    verdict: str | None
    reason: str | None
    found_by: str
    kept: bool  # the archive holds a page of it, even one without text


class Reporter:
    def __init__(self, database: Database, dropped: DroppedBytes | None = None) -> None:
        """`dropped` knows which bytes were removed from the store; `why` tells of them."""
        self._database = database
        self._dropped = dropped
        self._captures = Captures(database)
        self._documents = Documents(database)

    def pages(
        self, state: str | None = None, verdict: str | None = None, found_by: str | None = None
    ) -> Iterator[PageRow]:
        """Every known URL in the order of discovery, optionally of one state or verdict.

        `found_by`: `guesses` selects the URLs that crawl4r guessed, `links` all others.
        """
        conditions, values = [], []
        if found_by:
            conditions.append(is_guess("u") if found_by == GUESSES else f"NOT {is_guess('u')}")
        for column, value in (("u.state", state), ("u.verdict", verdict)):
            if value:
                conditions.append(f"{column} = ?")
                values.append(value)
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        for row in self._database.stream(f"{_PAGES} {where} ORDER BY u.id", values):
            fields = list(row)
            if fields[3] is not None and not isinstance(fields[3], bytes):
                raise StorageDamaged(f"state.db: the row of {fields[0]} is damaged")
            fields[3] = fields[3].hex() if fields[3] else None
            fields[-1] = bool(fields[-1])
            yield PageRow(*fields)

    def counts(self, crawl: int | None = None) -> dict[str, int]:
        """The number of URLs in each state, of all crawls or of one."""
        rows = self._database.read(
            "SELECT state, count(*) FROM urls WHERE crawl_id = coalesce(?, crawl_id) GROUP BY state",
            (crawl,),
        )
        return dict(rows)

    def guesses(self, crawl: int | None = None) -> GuessCounts:
        """The results of guessed URLs."""
        return count_guesses(self._database, crawl)

    def endings(self, crawl: int | None = None) -> list[tuple[str, str, int]]:
        """Verdicts with their reasons, the most frequent first. All foreign hosts count as one reason.

        Guesses without a result are excluded.
        """
        rows = self._database.read(
            "SELECT verdict, CASE WHEN reason LIKE 'host % is not in scope' THEN 'on other hosts'"
            " ELSE reason END AS why, count(*) AS n FROM urls WHERE verdict IS NOT NULL"
            " AND verdict NOT IN ('ok', 'redirect', 'not-modified')"
            f" AND NOT {is_in_vain()} AND crawl_id = coalesce(?, crawl_id)"
            " GROUP BY verdict, why ORDER BY n DESC LIMIT 50",
            (crawl,),
        )
        return [(verdict, reason or "", count) for verdict, reason, count in rows]

    def why(self, url: str, scope: Scope, agents: tuple[str, ...], now: float) -> dict[str, Any]:
        """Everything about a canonical URL: source, rule, robots, attempts, captures, and the
        probability that it has changed."""
        ruling = scope.judge(url)
        rows = self._database.read(
            "SELECT u.id, u.state, u.depth, u.found_by, u.found_at, r.url, u.rule, u.page_type,"
            " u.nofollow, u.attempts, u.due_at, u.verdict, u.reason, k.name, u.written"
            " FROM crawls k JOIN urls u ON u.crawl_id = k.id AND u.url = ?"
            " LEFT JOIN urls r ON r.id = u.referrer ORDER BY u.capture IS NULL, k.id DESC",
            (url,),
        )
        story: dict[str, Any] = {
            "url": url,
            "known": bool(rows),
            "scope_now": {"admitted": ruling.admitted, "rule": ruling.rule},
            "robots": self._robots_line(url, agents, rows[0][-1] if rows else ""),
        }
        if rows:
            names = ["state", "depth", "found_by", "found_at", "referrer", "rule", "page_type"]
            names += ["nofollow", "attempts", "due_at", "verdict", "reason", "crawl", "written"]
            story |= dict(zip(names, rows[0][1:], strict=True))
            story["nofollow"] = bool(story["nofollow"])
            story["other_crawls"] = [
                {"crawl": row[-2], "state": row[1], "rule": row[6], "reason": row[-3]}
                for row in rows[1:]
            ]
            story["failed_attempts"] = self._attempts(url)
            story["captures"] = [self._tell_capture(c) for c in self._captures.of_url(url)]
            story["document"] = self._tell_document(url)
            story["revisit"] = Revisits(self._database).outlook(url, now)
        return story

    def cap_reached(
        self, crawl: int, url: str, groups: Sequence[str], caps: Mapping[str, int]
    ) -> str | None:
        """Why a crawl refuses an admissible URL by a cap or trap; None when it is admitted.

        `groups`: the groups of the URL. `caps`: the maximum number of URLs of each.
        """
        sql = "SELECT state, verdict, reason FROM urls WHERE crawl_id = ? AND url = ?"
        rows = self._database.read(sql, (crawl, url))
        state, verdict, reason = rows[0] if rows else (UrlState.REFUSED, None, None)
        if state != UrlState.REFUSED:
            return None
        reached = []
        for key in groups:
            maximum = caps[key.partition(" ")[0]]
            sql = "SELECT admitted FROM groups WHERE crawl_id = ? AND key = ?"
            counted = self._database.read(sql, (crawl, key))
            if counted and counted[0][0] >= maximum:
                reached.append(f"cap of {maximum} reached for {key}")
        if verdict == Verdict.CAPPED and (reason in reached or str(reason).startswith("depth ")):
            return str(reason)  # the reason that the crawl recorded, of several current ones
        return reached[0] if reached else None

    def _tell_capture(self, capture: Capture) -> dict[str, Any]:
        read = self._documents.extraction(capture.id)
        told: dict[str, Any] = {"capture_id": capture.id, "captured_at": capture.fetched_at}
        told |= _brief(capture._asdict())
        if self._dropped and (dropped := self._dropped.of(capture.sha256)):
            told |= {"dropped_at": dropped.at, "dropped_by": dropped.why}
        if read is not None:
            told |= {"change": read.change.value, "signals": list(read.signals)}
            if read.verdict != capture.verdict.value:  # judged again by newer signatures
                told |= {"verdict": read.verdict, "reason": read.reason}
        return told

    def _tell_document(self, url: str) -> dict[str, Any] | None:
        stored = self._documents.get(url)
        if stored is None:
            return None
        return {
            "document_id": stored.id,
            "title": stored.document.title,
            "language": stored.document.language,
            "kind": stored.document.kind,
            "words": len(stored.document.markdown.split()),
            "note": stored.document.note,
            "capture_id": stored.capture,
            "updated_at": stored.updated_at,
            "gone_at": stored.gone_at,
            "deleted_at": stored.deleted_at,
            "near_of": stored.near_of,
        }

    def _attempts(self, url: str) -> list[dict[str, Any]]:
        rows = self._database.read(
            "SELECT at, verdict, reason, status, latency_ms FROM attempts"
            " WHERE page_id = (SELECT id FROM pages WHERE url = ?) ORDER BY at",
            (url,),
        )
        names = ("at", "verdict", "reason", "status", "latency_ms")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _robots_line(
        self, url: str, agents: tuple[str, ...], written: str
    ) -> dict[str, Any] | None:
        parts = split(url)
        record = RobotsRecords(self._database).get(parts.origin)
        if record is None:
            return None
        answer: dict[str, Any] = {
            "outcome": record.outcome,
            "status": record.status,
            "fetched_at": record.fetched_at,
        }
        if record.outcome == "rules":
            ruling = RobotsFile(record.body).judge_spellings(parts.path, written, agents)
            answer |= {"allowed": ruling.allowed, "rule": ruling.rule, "line": ruling.line}
        return answer


def _brief(capture: dict[str, Any]) -> dict[str, Any]:
    wanted = [
        "status",
        "verdict",
        "reason",
        "sha256",
        "bytes",
        "content_type",
        "latency_ms",
        "retries",
        "address",
        "http_version",
        "location",
    ]
    return {name: capture[name] for name in wanted}
