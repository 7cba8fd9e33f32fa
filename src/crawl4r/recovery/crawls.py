"""Crawls and their URLs come back: from what was salvaged, else from the captures of each crawl."""

from __future__ import annotations

from crawl4r.content.verdict.validate import is_hard, is_soft
from crawl4r.frontier.kept import IS_KEPT
from crawl4r.frontier.priority import breadth_first
from crawl4r.model import LISTING, FoundBy, UrlState, Verdict
from crawl4r.politeness.answers import RETRIED
from crawl4r.recovery.outcome import Outcome
from crawl4r.storage.crawls import CrawlNotes, Crawls, is_name
from crawl4r.storage.database import Database
from crawl4r.urls.canonical import split

_RULE = "brought back by `crawl4r recover`"
# What each crawl knows of a page. An import has no crawl: its pages belong to the first one.
_SEEN = f"""
CREATE TEMP TABLE seen AS
    SELECT coalesce(c.crawl_id, ?1) AS crawl_id, c.page_id AS page_id, min(c.id) AS first,
        max(c.id) AS last, max(CASE WHEN c.verdict = '{Verdict.OK}' THEN c.id END) AS content,
        max(c.crawl_id) IS NULL AS is_imported
    FROM captures c GROUP BY coalesce(c.crawl_id, ?1), c.page_id ORDER BY min(c.id)
"""
_ADD = f"""
INSERT OR IGNORE INTO urls (crawl_id, url, host_id, state, priority, depth, found_by, found_at, rule,
                            page_type, verdict, reason, capture, content)
SELECT s.crawl_id, p.url, p.host_id, state_of(l.verdict, l.status), priority_of(f.depth), f.depth,
    found_by(f.depth, f.page_type, s.is_imported), f.fetched_at, '{_RULE}', f.page_type, l.verdict,
    l.reason, s.last, s.content
FROM seen s JOIN pages p ON p.id = s.page_id JOIN captures f ON f.id = s.first
JOIN captures l ON l.id = s.last WHERE true ORDER BY s.first
"""
# The referrer of a URL that was added is the one that its first line names.
_LINK = f"""
UPDATE urls SET referrer = (
    SELECT r.id FROM seen s JOIN captures f ON f.id = s.first JOIN pages p ON p.id = s.page_id
    JOIN urls r ON r.crawl_id = s.crawl_id AND r.url = f.referrer
    WHERE s.crawl_id = urls.crawl_id AND p.url = urls.url AND r.id <> urls.id)
WHERE rule = '{_RULE}'
"""
# A salvaged row may be older than the lines, or name captures whose lines are lost.
_FORGET_LOST = (
    "UPDATE urls SET capture = NULL WHERE capture NOT IN (SELECT id FROM captures)",
    f"UPDATE urls SET content = NULL WHERE content NOT IN"
    f" (SELECT id FROM captures WHERE verdict = '{Verdict.OK}')",
)
_CATCH_UP = """
UPDATE urls SET capture = s.last, content = coalesce(s.content, urls.content),
    state = iif(coalesce(urls.capture, 0) < s.last, state_of(l.verdict, l.status), urls.state),
    verdict = iif(coalesce(urls.capture, 0) < s.last, l.verdict, urls.verdict),
    reason = iif(coalesce(urls.capture, 0) < s.last, l.reason, urls.reason)
FROM seen s JOIN pages p ON p.id = s.page_id JOIN captures l ON l.id = s.last
WHERE urls.crawl_id = s.crawl_id AND urls.url = p.url
    AND (coalesce(urls.capture, 0) < s.last OR urls.content IS NULL)
"""
_VISIT_AGAIN = (
    "UPDATE urls SET state = 'pending', attempts = 0 WHERE state IN ('done', 'needs-browser')"
    " AND (capture IS NULL OR capture IN (SELECT id FROM without_bytes))",
)
_CRAWLS_WITHOUT_A_ROW = """
SELECT crawl_id, min(id), min(found_at) FROM urls
WHERE crawl_id NOT IN (SELECT id FROM crawls) GROUP BY crawl_id
"""


def name_crawls(database: Database, name_in_lines: str | None) -> None:
    """Give the crawls of salvaged URLs a row again when theirs is lost."""
    crawls = Crawls(database)
    lost = database.read(_CRAWLS_WITHOUT_A_ROW)
    for number, first, began in lost:
        ((url,),) = database.read("SELECT url FROM urls WHERE id = ?", (first,))
        is_free = is_name(name_in_lines) and not crawls.find(str(name_in_lines))
        is_sure = len(lost) == 1 and is_free
        name = name_in_lines if is_sure else crawls.free_name(split(url).netloc)
        database.write(
            "INSERT INTO crawls (id, name, kind, state, created_at)"
            " VALUES (?, ?, 'crawl', 'stopped', ?)",
            (number, name, began),
        )
    database.write("DELETE FROM crawl_notes WHERE crawl_id NOT IN (SELECT id FROM crawls)")
    database.commit()


def bring_back_urls(database: Database, outcome: Outcome) -> None:
    """A row for each captured URL of each crawl, and its scope where no note of it is left."""
    crawls = Crawls(database)
    if outcome.captures and not crawls.all():  # imports alone
        crawls.add("imported", 0.0)
    first = next((crawl.id for crawl in crawls.all()), 0)
    database.define("state_of", 2, _state_of)
    database.define("priority_of", 1, lambda depth: breadth_first(depth, 0.0))
    database.define("found_by", 3, _found_by)
    database.write(_SEEN, (first,))
    database.write("CREATE UNIQUE INDEX temp.seen_pages ON seen(crawl_id, page_id)")
    for statement in _FORGET_LOST:
        database.write(statement)
    for statement in (_CATCH_UP, _ADD, _LINK, *_VISIT_AGAIN):
        database.write(statement)
    for crawl in crawls.all():
        _note_scope(database, crawl.id)
    database.commit()
    _count(database, outcome)
    outcome.crawls = [crawl.name for crawl in crawls.all()]


def ask_for_whole_pages(database: Database) -> None:
    """Make the next visit of each page unconditional: a 304 has no links to find again."""
    database.write("UPDATE pages SET content = NULL")
    database.commit()


def _count(database: Database, outcome: Outcome) -> None:
    ((outcome.urls, outcome.to_visit, outcome.pages),) = database.read(
        f"SELECT count(*), coalesce(sum(u.state IN ('pending', 'waiting')), 0),"
        f" coalesce(sum({IS_KEPT}), 0) FROM urls u"
    )


def _note_scope(database: Database, crawl: int) -> None:
    """The hosts of the scope: those of seeds, which have depth 0."""
    notes = CrawlNotes(database, crawl)
    if notes.scope_hosts():
        return
    rows = database.read(
        "SELECT url FROM urls WHERE crawl_id = ? AND depth = 0 AND found_by = 'seed' ORDER BY id",
        (crawl,),
    ) or database.read("SELECT url FROM urls WHERE crawl_id = ? ORDER BY id LIMIT 1", (crawl,))
    notes.note_scope_hosts(list(dict.fromkeys(split(url).netloc for (url,) in rows)))


def _state_of(verdict: str, status: int) -> str:
    """Where a URL stands after this answer, as the judge of answers decides it."""
    judged = Verdict(verdict)
    if is_soft(judged):
        return UrlState.NEEDS_BROWSER.value
    is_given_up = judged is Verdict.HTTP_ERROR and status in RETRIED
    return UrlState.FAILED.value if is_hard(judged) or is_given_up else UrlState.DONE.value


def _found_by(depth: int, page_type: str, is_imported: int) -> str:
    if is_imported:
        return FoundBy.IMPORT.value
    if page_type == LISTING:
        return FoundBy.SITEMAP.value
    return FoundBy.SEED.value if depth == 0 else FoundBy.LINK.value
