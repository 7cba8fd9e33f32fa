"""Every request to a host in order of sending, from three tables of state.db.

Pages and refused answers are found through their URLs, robots.txt and probes by their host. SQLite
sorts them on disk, so the stream may be of any length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from msgspec import Struct

from crawl4r.errors import UsageError
from crawl4r.frontier.guesses import is_guess
from crawl4r.storage.database import Database
from crawl4r.urls.canonical import canonicalize, split, with_scheme

UNSENT = (
    "unsent"  # the kind of an attempt that sent no request: no name, no connection, our own gate
)
KINDS = ("pages", "revalidations", "retries", "robots", "probes", "guesses", "other")

_BATCH = 10_000
_HOSTS_NAMED = 12
_SCHEMES = ("http", "https")
_PORT = re.compile(r"^(?:[a-z]+://)?(?:\[[^\]]*\]|[^/:]+):(\d+)(?:/|$)", re.IGNORECASE)
# Failures before a request is sent, by the first word of their reason.
_UNSENT = (
    "('dns', 'proxy-dns', 'proxy', 'connect', 'url', 'protocol', 'tls', 'certificate', 'request')"
)


def _left(alias: str) -> str:
    first_word = f"substr({alias}.reason, 1, instr({alias}.reason, ':') - 1)"
    return f"({alias}.status IS NOT NULL OR {first_word} NOT IN {_UNSENT})"


def _attempt_left(alias: str) -> str:
    return f"({_left(alias)} AND {alias}.verdict != 'egress-refused')"


# A retry follows a failed request; a later visit to the page is no retry.
_IS_RETRY = f"""EXISTS (SELECT 1 FROM attempts a WHERE a.page_id = x.page_id AND a.at < x.{{0}}
        AND {_attempt_left("a")} AND NOT EXISTS (SELECT 1 FROM captures b
            WHERE b.page_id = x.page_id AND b.fetched_at > a.at AND b.fetched_at < x.{{0}}))"""
_IS_FINE = "x.verdict IN ('ok', 'not-modified', 'redirect')"
# Some crawl knows the page from a guess.
_IS_GUESS = f"""EXISTS (SELECT 1 FROM crawls k JOIN urls g ON g.crawl_id = k.id AND g.url = u.url
        WHERE {is_guess("g")})"""
_REASON = f"x.reason || iif({_IS_GUESS}, ' (a guess of ours)', '')"
# Captures of older versions have no request, and `fetched_at` is the time of the answer. Imported
# captures have no request either, and no latency.
_STREAM = f"""
SELECT x.fetched_at - CASE WHEN x.request IS NULL THEN x.latency_ms / 1000.0 ELSE 0 END AS at,
    x.latency_ms, x.status,
    CASE WHEN {_IS_RETRY.format("fetched_at")} THEN 'retries'
        WHEN x.status = 304 THEN 'revalidations' WHEN {_IS_GUESS} THEN 'guesses'
        ELSE 'pages' END,
    x.bytes, x.request, CASE WHEN NOT {_IS_FINE} THEN x.verdict END,
    CASE WHEN NOT {_IS_FINE} THEN {_REASON} END,
    CASE WHEN x.status IN (429, 503) THEN x.headers END, u.url
FROM captures x JOIN pages u ON u.id = x.page_id
WHERE u.host_id IN (:hosts:) AND NOT (x.request IS NULL AND x.latency_ms = 0) :within:
UNION ALL
SELECT x.at, x.latency_ms, x.status,
    CASE WHEN NOT {_attempt_left("x")} THEN '{UNSENT}'
        WHEN {_IS_RETRY.format("at")} THEN 'retries' WHEN {_IS_GUESS} THEN 'guesses'
        ELSE 'pages' END,
    0, 0, x.verdict, {_REASON}, NULL, u.url
FROM attempts x JOIN pages u ON u.id = x.page_id WHERE u.host_id IN (:hosts:) :within:
UNION ALL
SELECT u.at, u.latency_ms, u.status,
    CASE WHEN NOT {_left("u")} THEN '{UNSENT}' WHEN u.url LIKE '%/robots.txt' THEN 'robots'
        WHEN u.url LIKE '%/crawlr-asks-for-a-missing-page-%' THEN 'probes' ELSE 'other' END,
    0, 0,
    CASE WHEN u.status IS NULL THEN 'network-error'
        WHEN u.status = 429 OR u.status >= 500 THEN 'http-error' END,
    CASE WHEN u.status IS NULL THEN u.reason ELSE 'http-' || u.status END, NULL, u.url
FROM errands u WHERE u.host_id IN (:hosts:) :within:
ORDER BY 1
"""


class RequestBatch(NamedTuple):
    """A batch of requests, column by column."""

    at: Sequence[float]
    latency_ms: Sequence[int]
    status: Sequence[int | None]
    kind: Sequence[str]
    bytes: Sequence[int]
    request: Sequence[int | None]  # id of the headers; 0: not recorded, None: older format
    verdict: Sequence[str | None]  # None for a good answer
    reason: Sequence[str | None]
    headers: Sequence[str | None]  # JSON, of archived answers 429 and 503
    url: Sequence[str]

    def without(self, kind: str) -> RequestBatch:
        """The batch without the requests of a kind."""
        places = [place for place, found in enumerate(self.kind) if found != kind]
        columns: list[Any] = [[column[place] for place in places] for column in self]
        return RequestBatch(*columns)


class HostName(Struct, frozen=True):
    """The subject of a report: a host with all its ports, or the origins of one port."""

    name: str
    origins: tuple[str, ...] = ()  # empty: all

    @classmethod
    def parse(cls, text: str) -> HostName:
        """Parse `example.org`, `example.org:8080` or a URL. Raises InvalidUrl for other text."""
        url = with_scheme(text)
        name = split(canonicalize(url)).host
        if not _PORT.match(text.strip()):
            return cls(name)
        rest = url.partition("://")[2]
        return cls(name, tuple(split(canonicalize(f"{s}://{rest}")).origin for s in _SCHEMES))

    def __str__(self) -> str:
        return split(self.origins[0] + "/").netloc if self.origins else self.name


class HostRequests:
    """The requests of one host within a period."""

    def __init__(
        self, database: Database, host: HostName, since: float | None, until: float | None
    ) -> None:
        self._database = database
        self._host = host
        self._since = since
        self._until = until
        rows = database.read(
            "SELECT id FROM hosts WHERE name = ? OR (name > ? AND name < ?)",  # an import has ports
            (host.name, f"{host.name}:", f"{host.name};"),
        )
        if not rows:
            raise UsageError(f"{host.name} is not known here; {_hosts_known(database)}")
        self.host_ids = ", ".join(str(int(row[0])) for row in rows)

    def batches(self) -> Iterator[RequestBatch]:
        """All requests, the oldest first."""
        sql, values = self._filled(_STREAM)
        rows = self._database.stream(sql, values)
        while some := list(islice(rows, _BATCH)):
            yield RequestBatch(*zip(*some, strict=True))

    def of_urls(self, alias: str) -> tuple[str, list[Any]]:
        """A condition on rows of `urls`, and its values."""
        condition, values = self._of_origins(alias)
        return f"{alias}.host_id IN ({self.host_ids}){condition}", values

    def _filled(self, sql: str) -> tuple[str, list[Any]]:
        of_origins, values = self._of_origins("u")
        filled, parameters = [], []
        for part, column in zip(
            sql.split("UNION ALL"), ("x.fetched_at", "x.at", "u.at"), strict=True
        ):
            within, bounds = _between(column, self._since, self._until)
            text = part.replace(":hosts:", self.host_ids)
            filled.append(text.replace(":within:", of_origins + within))
            parameters += values + bounds
        return "UNION ALL".join(filled), parameters

    def _of_origins(self, alias: str) -> tuple[str, list[Any]]:
        if not self._host.origins:
            return "", []
        either = " OR ".join(f"substr({alias}.url, 1, ?) = ?" for _ in self._host.origins)
        values: list[Any] = []
        for origin in self._host.origins:
            values += [len(origin) + 1, origin + "/"]
        return f" AND ({either})", values


def _between(column: str, since: float | None, until: float | None) -> tuple[str, list[Any]]:
    condition, values = "", []
    for sign, moment in ((">=", since), ("<", until)):
        if moment is not None:
            condition += f" AND {column} {sign} ?"
            values.append(moment)
    return condition, values


def _hosts_known(database: Database) -> str:
    """Some hosts with requests, for an error message."""
    rows = database.read(
        "SELECT name FROM hosts h ORDER BY NOT EXISTS (SELECT 1 FROM errands e WHERE e.host_id = h.id),"
        f" id LIMIT {_HOSTS_NAMED + 1}"
    )
    if not rows:
        return "no host was asked anything yet"
    more = " and more" if len(rows) > _HOSTS_NAMED else ""
    return "known are " + ", ".join(row[0] for row in rows[:_HOSTS_NAMED]) + more
