"""The schema of state.db, version by version. Opening an older workspace upgrades it.

Never edit a released version: add the next one.
"""

from __future__ import annotations

from crawl4r.storage.many_crawls import MANY_CRAWLS

VERSIONS: dict[int, str] = {
    1: """
CREATE TABLE hosts (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    next_at REAL NOT NULL DEFAULT 0,      -- epoch seconds: not asked again before
    delay REAL NOT NULL DEFAULT 0,        -- seconds between requests it had slowed us down to
    failures INTEGER NOT NULL DEFAULT 0,  -- in a row
    openings INTEGER NOT NULL DEFAULT 0,  -- of its breaker, in a row
    open_until REAL NOT NULL DEFAULT 0
);
CREATE TABLE urls (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
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
    capture INTEGER,                      -- the newest
    content INTEGER                       -- the newest that holds content
);
CREATE INDEX urls_ready ON urls(host_id, priority, id) WHERE state = 'pending';
CREATE INDEX urls_waiting ON urls(due_at) WHERE state = 'waiting';
CREATE INDEX urls_leased ON urls(id) WHERE state = 'leased';
CREATE TABLE groups (key TEXT PRIMARY KEY, admitted INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE captures (
    id INTEGER PRIMARY KEY,
    url_id INTEGER NOT NULL REFERENCES urls(id),
    fetched_at REAL NOT NULL,
    status INTEGER NOT NULL,
    verdict TEXT NOT NULL,
    reason TEXT NOT NULL,
    sha256 BLOB,
    bytes INTEGER NOT NULL,
    content_type TEXT NOT NULL,
    encoding TEXT NOT NULL,
    headers TEXT NOT NULL,                -- JSON list of [name, value]
    etag TEXT,
    last_modified TEXT,
    page_type TEXT NOT NULL,
    depth INTEGER NOT NULL,
    referrer TEXT,
    latency_ms INTEGER NOT NULL,
    retries INTEGER NOT NULL,
    proxy TEXT NOT NULL,
    http_version TEXT NOT NULL,
    address TEXT NOT NULL,
    location TEXT
);
CREATE INDEX captures_of_url ON captures(url_id, fetched_at);
CREATE TABLE blobs (
    sha256 BLOB PRIMARY KEY,
    segment INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    raw_length INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE attempts (
    url_id INTEGER NOT NULL REFERENCES urls(id),
    at REAL NOT NULL,
    verdict TEXT NOT NULL,
    reason TEXT NOT NULL,
    status INTEGER,
    latency_ms INTEGER NOT NULL
);
CREATE INDEX attempts_of_url ON attempts(url_id, at);
CREATE TABLE robots (
    origin TEXT PRIMARY KEY,
    outcome TEXT NOT NULL,
    status INTEGER,
    body BLOB NOT NULL,
    fetched_at REAL NOT NULL,
    expires_at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE notes (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
""",
    2: """
-- What the crawl has kept so far, so that caps and status need no count over all rows.
CREATE TABLE tallies (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO tallies
    SELECT 'pages', count(*) FROM urls WHERE state = 'done' AND verdict IN ('ok', 'not-modified')
    UNION ALL SELECT 'bytes', coalesce(sum(bytes), 0) FROM captures;
""",
    3: """
CREATE TABLE documents (
    id TEXT PRIMARY KEY,                  -- a UUID made from the URL
    url TEXT NOT NULL UNIQUE,
    domain TEXT NOT NULL,
    parent_url TEXT,
    title TEXT NOT NULL,
    content BLOB NOT NULL,                -- markdown, zstd
    content_hash TEXT NOT NULL,           -- sha256 of the markdown
    language TEXT NOT NULL,               -- ISO 639; empty when unknown
    source TEXT NOT NULL DEFAULT 'crawl',
    collection_id TEXT,
    metadata TEXT NOT NULL DEFAULT '{}',  -- JSON: kind, author, published, description ...
    crawled_at REAL NOT NULL,             -- epoch seconds: when its bytes were fetched
    updated_at REAL NOT NULL,             -- when its text last changed
    deleted_at REAL,                      -- when the site said that it is gone
    capture INTEGER NOT NULL REFERENCES captures(id),
    signature BLOB NOT NULL,              -- MinHash; empty for a text too short
    near_of TEXT                          -- the older document that says almost the same
) WITHOUT ROWID;
CREATE INDEX documents_of_domain ON documents(domain);
CREATE INDEX documents_by_hash ON documents(content_hash);
CREATE TABLE near_bands (
    band INTEGER NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (band, document)
) WITHOUT ROWID;
CREATE TABLE extractions (
    capture INTEGER PRIMARY KEY REFERENCES captures(id),
    version INTEGER NOT NULL,             -- of the extractor
    verdict TEXT NOT NULL,
    reason TEXT NOT NULL,
    signals TEXT NOT NULL,                -- JSON list
    content_hash TEXT,
    change TEXT NOT NULL,                 -- new, unchanged, changed, gone, rejected or none
    added INTEGER NOT NULL DEFAULT 0,     -- words
    removed INTEGER NOT NULL DEFAULT 0
);
-- What repeats over a site's pages and so belongs to none of them.
CREATE TABLE site_blocks (
    host TEXT NOT NULL,
    fingerprint INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    PRIMARY KEY (host, fingerprint)
) WITHOUT ROWID;
CREATE TABLE sites_sampled (
    host TEXT PRIMARY KEY,
    pages INTEGER NOT NULL
) WITHOUT ROWID;
""",
    4: """
-- Grows with every change of a document, so that a follower needs to remember one number.
ALTER TABLE documents ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
UPDATE documents SET revision = counted.number
    FROM (SELECT id, row_number() OVER (ORDER BY capture) AS number FROM documents) AS counted
    WHERE counted.id = documents.id;
INSERT INTO tallies SELECT 'revisions', count(*) FROM documents;
CREATE UNIQUE INDEX documents_by_revision ON documents(revision);
CREATE INDEX documents_like ON documents(near_of) WHERE near_of IS NOT NULL;
""",
    5: """
-- What was sent: headers that many requests have in common, without credentials and validators.
CREATE TABLE requests (id INTEGER PRIMARY KEY, headers TEXT NOT NULL UNIQUE);
ALTER TABLE captures ADD COLUMN request INTEGER REFERENCES requests(id);
-- Requests that led to no capture: robots.txt, probes.
CREATE TABLE errands (
    host_id INTEGER NOT NULL REFERENCES hosts(id),
    at REAL NOT NULL,                     -- epoch seconds: when it left
    url TEXT NOT NULL,
    status INTEGER,                       -- NULL: no answer, and `reason` says why
    latency_ms INTEGER NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX errands_of_host ON errands(host_id, at);
-- What a discoverer has admitted, until it is in the spool; numbers are never used twice.
CREATE TABLE announcements (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    url_id INTEGER NOT NULL REFERENCES urls(id),
    at REAL NOT NULL,                     -- epoch seconds
    again INTEGER NOT NULL                -- 1: it was announced before, and is to be visited again
);
-- Endings of requests, so that metrics need no count over all rows.
INSERT INTO tallies SELECT 'status_' || (status / 100) || 'xx', count(*) FROM captures
    WHERE status != 304 GROUP BY status / 100;
INSERT INTO tallies SELECT 'not_modified', count(*) FROM captures WHERE status = 304;
INSERT INTO tallies SELECT 'no_answer', count(*) FROM attempts;
""",
    6: """
-- How often a page was seen to change, so that it is visited again when that is worth it.
CREATE TABLE revisits (
    url_id INTEGER PRIMARY KEY REFERENCES urls(id),
    visits INTEGER NOT NULL DEFAULT 0,    -- that could tell: those after the first
    changes INTEGER NOT NULL DEFAULT 0,   -- that they found
    still REAL NOT NULL DEFAULT 0,        -- seconds of the gaps between visits without a change
    moving REAL NOT NULL DEFAULT 0,       -- seconds of those with one
    visited_at REAL,                      -- epoch seconds; NULL: once, see the captures
    gone INTEGER NOT NULL DEFAULT 0,      -- answers 404 or 410 in a row
    lastmod REAL,                         -- what a sitemap or a feed says, epoch seconds
    corrected INTEGER NOT NULL DEFAULT 0  -- the newest capture whose text had not changed after all
);
-- Documents that name URLs and are no pages: sitemaps, feeds, listings of an index.
CREATE TABLE sources (
    url TEXT PRIMARY KEY,
    host_id INTEGER NOT NULL REFERENCES hosts(id),
    kind TEXT NOT NULL,
    found_by TEXT NOT NULL,               -- robots, place, sitemap, feed, page, pattern ...
    read_at REAL,                         -- epoch seconds; NULL: not yet
    lastmod REAL,
    named INTEGER NOT NULL DEFAULT 0,     -- URLs in it
    admitted INTEGER NOT NULL DEFAULT 0,  -- of them, new and in scope
    problem TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX sources_of_host ON sources(host_id);
-- What was learnt of a host: archive patterns, paginated lists, budgets of paths.
CREATE TABLE lessons (
    host_id INTEGER NOT NULL REFERENCES hosts(id),
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    lesson TEXT NOT NULL,                 -- JSON
    PRIMARY KEY (host_id, kind, key)
) WITHOUT ROWID;
""",
    7: """
-- Path and query as a page wrote them, where the canonical URL has others. robots.txt is asked about
-- both spellings.
ALTER TABLE urls ADD COLUMN written TEXT NOT NULL DEFAULT '';
""",
    8: """
-- Passwords of proxies stood among the options, and any header of `fetch.headers` among the requests.
-- What is deleted here is overwritten; a table that is dropped takes along what it held before.
PRAGMA secure_delete = ON;
CREATE TABLE notes_without_passwords (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO notes_without_passwords SELECT key,
    CASE WHEN key = 'options' AND json_type(value, '$.proxies') = 'array' THEN
        json_set(value, '$.proxies', json((
            SELECT json_group_array(CASE WHEN instr(p.value, '@') THEN
                substr(p.value, 1, instr(p.value, '://') + 2) || '***'
                    || substr(p.value, instr(p.value, '@'))
                ELSE p.value END)
            FROM json_each(notes.value, '$.proxies') AS p)))
    ELSE value END FROM notes;
DROP TABLE notes;
ALTER TABLE notes_without_passwords RENAME TO notes;
-- Spaces behind it keep two rows apart that are now the same.
UPDATE requests SET headers = (
        SELECT json_group_array(l.value) FROM json_each(requests.headers) AS l
        WHERE lower(substr(l.value, 1, instr(l.value, ':') - 1)) IN
            ('user-agent', 'accept', 'accept-language', 'accept-encoding', 'from', 'referer')
    ) || printf('%*s', id, '')
    WHERE EXISTS (
        SELECT 1 FROM json_each(requests.headers) AS l
        WHERE lower(substr(l.value, 1, instr(l.value, ':') - 1)) NOT IN
            ('user-agent', 'accept', 'accept-language', 'accept-encoding', 'from', 'referer'));
PRAGMA secure_delete = OFF;
""",
    9: """
-- URLs that were answered and wait for another visit: a full cap of pages does not hold them back.
CREATE INDEX IF NOT EXISTS urls_again ON urls(host_id, priority, id)
    WHERE state = 'pending' AND capture IS NOT NULL;
""",
    10: """
-- Running totals left out what was imported. A limit of pages still does.
INSERT INTO tallies SELECT 'imported_pages', count(*) FROM urls
    WHERE found_by = 'import' AND content IS NOT NULL;
INSERT INTO tallies SELECT 'imported_bytes', coalesce(sum(c.bytes), 0)
    FROM captures c JOIN urls u ON u.id = c.url_id
    WHERE u.found_by = 'import' AND c.request IS NULL;
INSERT INTO tallies SELECT substr(name, 10), value FROM tallies WHERE name LIKE 'imported%'
    ON CONFLICT DO UPDATE SET value = value + excluded.value;
""",
    11: """
-- Every visit was counted by its status or as `no_answer`, also what was refused or tried again. Now
-- each is in one class by how it ended and in one by what was answered (archive/visit_classes.py).
-- Visits that asked for nothing left no row: they are counted from here on.
DELETE FROM tallies WHERE name IN ('no_answer', 'not_modified') OR name GLOB 'status_*';
CREATE TEMP TABLE counted AS
    SELECT c.verdict AS verdict, c.status AS status, '' AS reason, c.encoding != '' AS is_html
    FROM captures c JOIN urls u ON u.id = c.url_id WHERE u.found_by != 'import'
    UNION ALL
    SELECT verdict, status, substr(reason, 1, instr(reason || ':', ':') - 1), 0 FROM attempts;
INSERT INTO tallies SELECT 'visits', count(*) FROM counted;
INSERT INTO tallies
    SELECT CASE WHEN status = 304 THEN 'not_modified'
        WHEN status BETWEEN 200 AND 599 THEN 'status_' || (status / 100) || 'xx'
        WHEN status IS NOT NULL THEN 'status_other'
        WHEN verdict = 'egress-refused' THEN 'not_asked' ELSE 'no_answer' END AS name, count(*)
    FROM counted GROUP BY name;
INSERT INTO tallies
    SELECT 'ended_' || replace(verdict, '-', '_') || CASE verdict
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
    FROM counted GROUP BY name;
DROP TABLE counted;
-- A discoverer tells of a URL once it has visited it, and of what came of that. Until then it
-- waits in `unannounced`.
CREATE TABLE unannounced (
    url_id INTEGER PRIMARY KEY REFERENCES urls(id),
    at REAL NOT NULL,                     -- epoch seconds: when it was admitted, or wished for again
    again INTEGER NOT NULL
);
ALTER TABLE announcements ADD COLUMN status INTEGER;
ALTER TABLE announcements ADD COLUMN bytes INTEGER;
ALTER TABLE announcements ADD COLUMN latency_ms INTEGER;
""",
    12: MANY_CRAWLS,
    13: """
-- Bytes of captures that gc removed by a policy. A row whose bytes are stored again means nothing.
CREATE TABLE dropped_blobs (
    sha256 BLOB PRIMARY KEY,
    at REAL NOT NULL,                     -- epoch seconds
    why TEXT NOT NULL                     -- the policy, in the words of its option
) WITHOUT ROWID;
""",
    14: """
-- To which worker a host belongs, for all crawls.
CREATE TABLE claims (
    host_id INTEGER PRIMARY KEY REFERENCES hosts(id),
    owner TEXT NOT NULL,                  -- the last one; empty: it let go
    epoch INTEGER NOT NULL,               -- grows with each owner
    until REAL NOT NULL                   -- epoch seconds; 0: it has no owner
);
CREATE INDEX claims_until ON claims(until) WHERE until > 0;
-- What was kept in the last hour, so that a unit kept twice is known.
CREATE TABLE units (
    unit TEXT PRIMARY KEY,
    outcome TEXT NOT NULL,                -- JSON
    at REAL NOT NULL
) WITHOUT ROWID;
""",
    15: """
-- Which captures of a collection's pages keep their bytes; both NULL: those that gc is told to keep.
ALTER TABLE collections ADD COLUMN keep_captures INTEGER;
ALTER TABLE collections ADD COLUMN keep_days REAL;
""",
}

CURRENT = max(VERSIONS)
