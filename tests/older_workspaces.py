"""A state.db as an earlier version left it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

_TO_11 = """
PRAGMA legacy_alter_table = ON;
ALTER TABLE urls RENAME TO urls_of_crawls;
DROP INDEX urls_ready;
DROP INDEX urls_waiting;
DROP INDEX urls_leased;
DROP INDEX urls_again;
CREATE TABLE urls (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, host_id INTEGER NOT NULL REFERENCES hosts(id),
    state TEXT NOT NULL, priority REAL NOT NULL, depth INTEGER NOT NULL, found_by TEXT NOT NULL,
    found_at REAL NOT NULL, referrer INTEGER REFERENCES urls(id), rule TEXT NOT NULL,
    page_type TEXT NOT NULL DEFAULT '', nofollow INTEGER NOT NULL DEFAULT 0,
    redirects INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0, due_at REAL,
    verdict TEXT, reason TEXT, capture INTEGER, content INTEGER, written TEXT NOT NULL DEFAULT ''
);
INSERT INTO urls SELECT id, url, host_id, state, priority, depth, found_by, found_at, referrer, rule,
    page_type, nofollow, redirects, attempts, due_at, verdict, reason, capture, content, written
    FROM urls_of_crawls;
DROP TABLE urls_of_crawls;
CREATE INDEX urls_ready ON urls(host_id, priority, id) WHERE state = 'pending';
CREATE INDEX urls_waiting ON urls(due_at) WHERE state = 'waiting';
CREATE INDEX urls_leased ON urls(id) WHERE state = 'leased';
CREATE INDEX urls_again ON urls(host_id, priority, id)
    WHERE state = 'pending' AND capture IS NOT NULL;
UPDATE captures SET page_id = (SELECT u.id FROM pages p JOIN urls u USING (url) WHERE p.id = page_id);
UPDATE attempts SET page_id = (SELECT u.id FROM pages p JOIN urls u USING (url) WHERE p.id = page_id);
UPDATE revisits SET page_id = -(SELECT u.id FROM pages p JOIN urls u USING (url) WHERE p.id = page_id);
UPDATE revisits SET page_id = -page_id;
DROP TABLE pages;
ALTER TABLE captures DROP COLUMN crawl_id;
ALTER TABLE captures RENAME COLUMN page_id TO url_id;
ALTER TABLE attempts RENAME COLUMN page_id TO url_id;
ALTER TABLE revisits RENAME COLUMN page_id TO url_id;
INSERT INTO notes SELECT key, value FROM crawl_notes;
DROP TABLE crawl_notes;
CREATE TABLE one_groups (key TEXT PRIMARY KEY, admitted INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO one_groups SELECT key, admitted FROM groups;
DROP TABLE groups;
ALTER TABLE one_groups RENAME TO groups;
CREATE TABLE one_tallies (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO one_tallies SELECT name, sum(value) FROM tallies GROUP BY name;
DROP TABLE tallies;
ALTER TABLE one_tallies RENAME TO tallies;
CREATE TABLE one_lessons (host_id INTEGER NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL,
    lesson TEXT NOT NULL, PRIMARY KEY (host_id, kind, key)) WITHOUT ROWID;
INSERT INTO one_lessons SELECT host_id, kind, key, lesson FROM lessons;
DROP TABLE lessons;
ALTER TABLE one_lessons RENAME TO lessons;
ALTER TABLE documents RENAME COLUMN gone_at TO deleted_at;
ALTER TABLE documents ADD COLUMN collection_id TEXT;
DROP TABLE collection_documents;
DROP TABLE collections;
DROP TABLE document_tags;
DROP TABLE tags;
DROP TABLE deleted_documents;
DROP TABLE dropped_blobs;
DROP TABLE claims;
DROP TABLE units;
DROP TABLE crawls;
PRAGMA user_version = 11;
"""
_TO_8 = """
DROP INDEX urls_again;
DROP TABLE unannounced;
ALTER TABLE announcements DROP COLUMN status;
ALTER TABLE announcements DROP COLUMN bytes;
ALTER TABLE announcements DROP COLUMN latency_ms;
DELETE FROM tallies WHERE name GLOB 'ended_*' OR name GLOB 'status_*' OR name GLOB 'imported_*'
    OR name IN ('visits', 'retries', 'not_asked', 'not_modified');
PRAGMA user_version = 8;
"""


def set_back_to_8(workspace: Path, more: str = "") -> None:
    """Undo what was added since version 8; no process may have the workspace open."""
    set_back_to_11(workspace, _TO_8 + more)


def set_back_to_11(workspace: Path, more: str = "") -> None:
    """Undo what was added since version 11, in a workspace with one crawl."""
    _tell_less(workspace / "metadata" / "crawl_metadata.jsonl")
    (workspace / "state.sum").unlink(missing_ok=True)
    with closing(sqlite3.connect(workspace / "state.db")) as database:
        database.executescript(_TO_11 + more)


def _tell_less(metadata: Path) -> None:
    """Take out what lines of captures did not say yet."""
    if not metadata.exists():
        return
    newer = ("http_version", "address", "location", "crawl", "headers")
    lines = [json.loads(line) for line in metadata.read_text("utf-8").splitlines()]
    told = [{key: line[key] for key in line if key not in newer} for line in lines]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in told)
    metadata.write_text(text, "utf-8")
