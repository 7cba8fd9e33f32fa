"""Copy what is left of a damaged state.db into the new one, row by row."""

from __future__ import annotations

from crawl4r.recovery.outcome import Outcome
from crawl4r.recovery.salvaged_tables import TABLES, is_true
from crawl4r.storage.database import Database
from crawl4r.storage.salvage import Salvage, Table
from crawl4r.urls.canonical import split

_AT_ONCE = 10_000  # rows a transaction
LINKS = "links that were known and not visited, and which rules refused"
_WHAT = {
    "crawls": "names and times of crawls",
    "crawl_notes": "options of crawls",
    "collections": "collections",
    "collection_documents": "documents in collections",
    "tags": "tags",
    "document_tags": "tags of documents",
    "deleted_documents": "deletions of documents by a user",
    "hosts": "slow-downs and failures of hosts",
    "robots": "answers for robots.txt",
    "requests": "headers that were sent",
    "pages": "pages without a capture",
    "attempts": "visits without an answer",
    "errands": "requests for robots.txt and probes",
    "revisits": "how often pages changed",
    "urls": LINKS,
}
# What a row names must be there. A URL whose host is gone gets it again by its name.
_REPAIRS = (
    "DELETE FROM errands WHERE host_id NOT IN (SELECT id FROM hosts)",
    "UPDATE crawls SET state = 'stopped' WHERE state = 'running'",
    "INSERT OR IGNORE INTO hosts (name) SELECT DISTINCT host_of(url) FROM pages",
    "INSERT OR IGNORE INTO hosts (name) SELECT DISTINCT host_of(url) FROM urls",
    "UPDATE pages SET host_id = (SELECT id FROM hosts WHERE name = host_of(url))",
    "UPDATE urls SET host_id = (SELECT id FROM hosts WHERE name = host_of(url))",
    "UPDATE urls SET referrer = NULL WHERE referrer NOT IN (SELECT id FROM urls)",
    "UPDATE urls SET state = 'pending' WHERE state = 'leased'",
    "DELETE FROM attempts WHERE page_id NOT IN (SELECT id FROM pages)",
    "DELETE FROM revisits WHERE page_id NOT IN (SELECT id FROM pages)",
    "DELETE FROM collection_documents WHERE collection_id NOT IN (SELECT id FROM collections)",
    "DELETE FROM document_tags WHERE tag_id NOT IN (SELECT id FROM tags)",
)


def salvage_tables(salvage: Salvage, database: Database, outcome: Outcome) -> None:
    """Bring back every row that can be read, and name what could not be."""
    database.define("host_of", 1, lambda url: split(url).host)
    for table in TABLES:
        found = _copy(table, salvage, database)
        if found:
            outcome.salvaged[table.name] = found
        if why := salvage.unread.get(table.name):
            outcome.lose(_WHAT[table.name], why)
    for repair in _REPAIRS:
        database.write(repair)
    database.commit()


def _copy(table: Table, salvage: Salvage, database: Database) -> int:
    columns = list(table.columns)
    marks = ", ".join("?" * len(columns))
    sql = f"INSERT OR IGNORE INTO {table.name} ({', '.join(columns)}) VALUES ({marks})"
    kept = 0
    for row in salvage.rows(table):
        if not is_true(table, row):
            salvage.unread.setdefault(table.name, "in part: a value in it is damaged")
            continue
        kept += max(0, database.write(sql, row).rowcount)
        if kept % _AT_ONCE == 0:
            database.commit()
    return kept


def nothing_salvaged(outcome: Outcome, why: str) -> None:
    """Name everything that only a state.db has."""
    for what in _WHAT.values():
        outcome.lose(what, why)
