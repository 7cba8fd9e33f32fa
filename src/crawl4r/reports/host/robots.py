"""The rules in the robots.txt files of a host, which has one for each origin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from crawl4r.storage.database import Database
from crawl4r.storage.tables import RobotsRecord
from crawl4r.urls.robots import RobotsFile

_OF_HOST = """
SELECT origin, outcome, status, body, fetched_at, expires_at FROM robots
WHERE origin IN ('http://' || ?1, 'https://' || ?1)
    OR (origin > 'http://' || ?1 || ':' AND origin < 'http://' || ?1 || ';')
    OR (origin > 'https://' || ?1 || ':' AND origin < 'https://' || ?1 || ';')
ORDER BY origin
"""


class AskedDelay(NamedTuple):
    """The newest robots.txt of an origin, and its crawl-delay for us in seconds."""

    record: RobotsRecord
    seconds: float | None


def delays_asked(
    database: Database, host: str, agents: Sequence[str], origins: Sequence[str] = ()
) -> list[AskedDelay]:
    """Every robots.txt of a host name on any port; or only those of some origins."""
    records = [RobotsRecord(*row) for row in database.read(_OF_HOST, (host,))]
    return [
        AskedDelay(record, _delay_in(record, agents))
        for record in records
        if not origins or record.origin in origins
    ]


def longest_delay(asked: Sequence[AskedDelay]) -> float | None:
    """The longest crawl-delay of all files, which satisfies all; None without one."""
    return max((item.seconds for item in asked if item.seconds), default=None)


def _delay_in(record: RobotsRecord, agents: Sequence[str]) -> float | None:
    return RobotsFile(record.body).crawl_delay(agents) if record.outcome == "rules" else None
