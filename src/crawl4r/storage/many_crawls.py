"""Step 12 of the schema of state.db: one store for many crawls.

What a site answered belongs to the store: `pages`, with captures, attempts and revisits. What a crawl
wants and decided belongs to that crawl: `urls`, groups, notes and tallies. What people decide about
documents (collections, tags, deletions) stands in tables of its own, which no rebuild touches.
"""

from __future__ import annotations

MANY_CRAWLS = """
CREATE TABLE crawls (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- a number is never used twice
    name TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at REAL NOT NULL,             -- epoch seconds, as all times
    started_at REAL,
    ended_at REAL,
    ended_by TEXT NOT NULL DEFAULT ''
);
-- A store that was used becomes its first crawl, named after its first host.
INSERT INTO crawls (id, name, kind, state, created_at)
    SELECT 1, coalesce((
        SELECT json_extract(value, '$[0]') FROM notes WHERE key = 'scope_hosts'
        AND json_extract(value, '$[0]') NOT GLOB '*[^a-z0-9.:-]*'), 'crawl'),
    'crawl', 'stopped', coalesce((SELECT min(found_at) FROM urls), 0)
    WHERE EXISTS (SELECT 1 FROM urls)
    OR EXISTS (SELECT 1 FROM notes WHERE key IN ('scope_hosts', 'options'));
CREATE TABLE crawl_notes (
    crawl_id INTEGER NOT NULL REFERENCES crawls(id),
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (crawl_id, key)
) WITHOUT ROWID;
INSERT INTO crawl_notes SELECT c.id, n.key, n.value FROM notes n, crawls c
    WHERE n.key IN ('scope_hosts', 'judged_by', 'options', 'revisit_round');
DELETE FROM notes WHERE key IN ('scope_hosts', 'judged_by', 'options', 'revisit_round');

-- Captures, attempts and revisits name rows of `urls`. The new name of the table makes them name pages.
ALTER TABLE urls RENAME TO pages;
DROP INDEX urls_ready;
DROP INDEX urls_waiting;
DROP INDEX urls_leased;
DROP INDEX urls_again;
DROP INDEX IF EXISTS urls_failed;
DROP INDEX IF EXISTS urls_refused;
DROP INDEX IF EXISTS urls_needs_browser;
CREATE TABLE urls (
    id INTEGER PRIMARY KEY,
    crawl_id INTEGER NOT NULL REFERENCES crawls(id),
    url TEXT NOT NULL,
    host_id INTEGER NOT NULL REFERENCES hosts(id),
    state TEXT NOT NULL,
    priority REAL NOT NULL,               -- lower is sooner
    depth INTEGER NOT NULL,
    found_by TEXT NOT NULL,
    found_at REAL NOT NULL,
    referrer INTEGER REFERENCES urls(id),
    rule TEXT NOT NULL,                   -- which rule admitted or refused it
    page_type TEXT NOT NULL DEFAULT '',
    nofollow INTEGER NOT NULL DEFAULT 0,
    redirects INTEGER NOT NULL DEFAULT 0, -- hops that led here
    attempts INTEGER NOT NULL DEFAULT 0,  -- failed ones
    due_at REAL,
    verdict TEXT,
    reason TEXT,
    capture INTEGER,                      -- the newest that this crawl knows
    content INTEGER,                      -- the newest of them that holds content
    written TEXT NOT NULL DEFAULT '',     -- path and query as the page wrote them, if they differ
    UNIQUE (crawl_id, url)
);
INSERT INTO urls SELECT id, 1, url, host_id, state, priority, depth, found_by, found_at, referrer,
    rule, page_type, nofollow, redirects, attempts, due_at, verdict, reason, capture, content, written
    FROM pages;
CREATE INDEX urls_ready ON urls(crawl_id, host_id, priority, id) WHERE state = 'pending';
CREATE INDEX urls_waiting ON urls(crawl_id, due_at) WHERE state = 'waiting';
CREATE INDEX urls_leased ON urls(crawl_id, id) WHERE state = 'leased';
-- URLs that were answered and wait for another visit: a full cap of pages does not hold them back.
CREATE INDEX urls_again ON urls(crawl_id, host_id, priority, id)
    WHERE state = 'pending' AND capture IS NOT NULL;
-- A row for each URL that a site was asked for, or whose last change a sitemap states.
CREATE TABLE known_pages (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    host_id INTEGER NOT NULL REFERENCES hosts(id),
    capture INTEGER,                      -- the newest
    content INTEGER                       -- the newest that holds content
);
INSERT INTO known_pages SELECT id, url, host_id, capture, content FROM pages
    WHERE id IN (SELECT url_id FROM captures) OR id IN (SELECT url_id FROM attempts)
    OR id IN (SELECT url_id FROM revisits);
DROP TABLE pages;
ALTER TABLE known_pages RENAME TO pages;
ALTER TABLE captures RENAME COLUMN url_id TO page_id;
ALTER TABLE attempts RENAME COLUMN url_id TO page_id;
ALTER TABLE revisits RENAME COLUMN url_id TO page_id;
-- Which crawl asked. NULL: none (an import), or a crawl of an older version.
ALTER TABLE captures ADD COLUMN crawl_id INTEGER REFERENCES crawls(id);

-- These name a URL of a crawl again. The numbers of announcements go on.
CREATE TEMP TABLE numbers AS SELECT seq FROM sqlite_sequence WHERE name = 'announcements';
-- `again` is 1 for a URL that was announced before, and is to be visited again.
CREATE TABLE announced (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    url_id INTEGER NOT NULL REFERENCES urls(id),
    at REAL NOT NULL,
    again INTEGER NOT NULL,
    status INTEGER,
    bytes INTEGER,
    latency_ms INTEGER
);
INSERT INTO announced SELECT id, url_id, at, again, status, bytes, latency_ms FROM announcements;
DROP TABLE announcements;
ALTER TABLE announced RENAME TO announcements;
DELETE FROM sqlite_sequence WHERE name = 'announcements' AND EXISTS (SELECT 1 FROM numbers);
INSERT INTO sqlite_sequence SELECT 'announcements', seq FROM numbers;
DROP TABLE numbers;
CREATE TABLE to_announce (
    url_id INTEGER PRIMARY KEY REFERENCES urls(id),
    at REAL NOT NULL,                     -- when it was admitted, or wished for again
    again INTEGER NOT NULL
);
INSERT INTO to_announce SELECT url_id, at, again FROM unannounced;
DROP TABLE unannounced;
ALTER TABLE to_announce RENAME TO unannounced;

CREATE TABLE crawl_groups (
    crawl_id INTEGER NOT NULL REFERENCES crawls(id),
    key TEXT NOT NULL,
    admitted INTEGER NOT NULL,
    PRIMARY KEY (crawl_id, key)
) WITHOUT ROWID;
INSERT INTO crawl_groups SELECT c.id, g.key, g.admitted FROM groups g, crawls c;
DROP TABLE groups;
ALTER TABLE crawl_groups RENAME TO groups;
-- Crawl 0 is the store: what no crawl counts, and what deleted crawls had counted.
CREATE TABLE crawl_tallies (
    crawl_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (crawl_id, name)
) WITHOUT ROWID;
INSERT INTO crawl_tallies SELECT iif(t.name = 'revisions', 0, coalesce((SELECT id FROM crawls), 0)),
    t.name, t.value FROM tallies t;
DROP TABLE tallies;
ALTER TABLE crawl_tallies RENAME TO tallies;
-- Crawl 0: a lesson of the host for all crawls.
CREATE TABLE crawl_lessons (
    crawl_id INTEGER NOT NULL,
    host_id INTEGER NOT NULL REFERENCES hosts(id),
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    lesson TEXT NOT NULL,                 -- JSON
    PRIMARY KEY (crawl_id, host_id, kind, key)
) WITHOUT ROWID;
INSERT INTO crawl_lessons SELECT iif(l.kind = 'traps', coalesce((SELECT id FROM crawls), 0), 0),
    l.host_id, l.kind, l.key, l.lesson FROM lessons l;
DROP TABLE lessons;
ALTER TABLE crawl_lessons RENAME TO lessons;

-- `gone_at`: the site said that it is gone. What a user deletes stands in `deleted_documents`.
ALTER TABLE documents RENAME COLUMN deleted_at TO gone_at;
ALTER TABLE documents DROP COLUMN collection_id;
CREATE TABLE collections (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    created_at REAL NOT NULL
);
CREATE TABLE collection_documents (
    collection_id INTEGER NOT NULL REFERENCES collections(id),
    document TEXT NOT NULL,               -- its id, which is made from the URL
    added_at REAL NOT NULL,
    PRIMARY KEY (collection_id, document)
) WITHOUT ROWID;
CREATE INDEX collections_of_document ON collection_documents(document);
CREATE TABLE tags (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    created_at REAL NOT NULL
);
CREATE TABLE document_tags (
    tag_id INTEGER NOT NULL REFERENCES tags(id),
    document TEXT NOT NULL,
    added_at REAL NOT NULL,
    PRIMARY KEY (tag_id, document)
) WITHOUT ROWID;
CREATE INDEX tags_of_document ON document_tags(document);
CREATE TABLE deleted_documents (
    document TEXT PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    deleted_at REAL NOT NULL,
    lasts INTEGER NOT NULL                -- 0: it went with its crawl, and another crawl brings it back
) WITHOUT ROWID;
"""
