"""Running totals, counted again from the rows that came back."""

from __future__ import annotations

from crawl4r.frontier.kept import IS_KEPT
from crawl4r.storage.crawls import STORE
from crawl4r.storage.database import Database
from crawl4r.storage.tables import BYTES, IMPORTED_BYTES, IMPORTED_PAGES, PAGES

# As `archive/visit_classes.py` counts visits. An import is no visit, and belongs to no crawl.
_COUNTED = f"""
CREATE TEMP TABLE counted AS
    SELECT c.crawl_id AS crawl, c.verdict AS verdict, c.status AS status, '' AS reason,
        c.encoding != '' AS is_html
    FROM captures c WHERE c.crawl_id IS NOT NULL
    UNION ALL
    SELECT {STORE}, verdict, status, substr(reason, 1, instr(reason || ':', ':') - 1), 0
    FROM attempts
"""
_TALLIES = (
    "SELECT crawl, 'visits', count(*) FROM counted GROUP BY crawl",
    """
    SELECT crawl, CASE WHEN status = 304 THEN 'not_modified'
        WHEN status BETWEEN 200 AND 599 THEN 'status_' || (status / 100) || 'xx'
        WHEN status IS NOT NULL THEN 'status_other'
        WHEN verdict = 'egress-refused' THEN 'not_asked' ELSE 'no_answer' END AS name, count(*)
    FROM counted GROUP BY crawl, name
    """,
    """
    SELECT crawl, 'ended_' || replace(verdict, '-', '_') || CASE verdict
        WHEN 'ok' THEN iif(is_html, '_html', '_other')
        WHEN 'http-error' THEN CASE WHEN status = 429 THEN '_429' WHEN status / 100 = 4 THEN '_4xx'
            WHEN status / 100 = 5 THEN '_5xx' ELSE '_other' END
        WHEN 'network-error' THEN CASE
            WHEN reason IN ('dns', 'connect', 'tls', 'timeout', 'reset', 'truncated', 'proxy')
                THEN '_' || reason
            WHEN reason = 'certificate' THEN '_tls' WHEN reason = 'proxy-dns' THEN '_proxy'
            WHEN reason IN ('send', 'empty-reply') THEN '_reset'
            WHEN reason IN ('not-http', 'http2') THEN '_not_http'
            ELSE '_other' END
        ELSE '' END AS name, count(*)
    FROM counted GROUP BY crawl, name
    """,
    f"SELECT u.crawl_id, '{PAGES}', count(*) FROM urls u WHERE {IS_KEPT} GROUP BY u.crawl_id",
    f"SELECT u.crawl_id, '{IMPORTED_PAGES}', count(*) FROM urls u"
    f" WHERE u.found_by = 'import' AND {IS_KEPT} GROUP BY u.crawl_id",
    f"SELECT coalesce(crawl_id, {STORE}) AS crawl, '{BYTES}', sum(bytes) FROM captures GROUP BY crawl",
    f"SELECT {STORE}, '{IMPORTED_BYTES}', sum(bytes) FROM captures WHERE crawl_id IS NULL"
    " HAVING count(*)",
)
_UNUSED = """
INSERT INTO notes SELECT 'unused_urls', coalesce(max(id), 0) - count(*) FROM urls WHERE true
ON CONFLICT DO UPDATE SET value = excluded.value
"""


def count_again(database: Database) -> None:
    """Write the totals of all crawls, as if they had been counted all the time."""
    database.write(_COUNTED)
    for sql in _TALLIES:
        database.write(f"INSERT INTO tallies {sql}")
    database.write(_UNUSED)
    database.commit()
