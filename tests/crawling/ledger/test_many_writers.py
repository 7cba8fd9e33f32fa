"""Eight processes keep pages at the same time, and a follower reads along.

CRAWL4R_CAPTURES is the number of pages.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from tests.crawling.ledger.stores import PostgresStore
from tests.crawling.ledger.writing import WRITERS

PAGES = int(os.environ.get("CRAWL4R_CAPTURES", "1600")) // WRITERS
_CAP = 5  # of the group `few`
_REPOSITORY = Path(__file__).resolve().parents[3]


def test_a_follower_of_eight_writers_sees_each_capture_once_and_in_order(
    postgres_server: str, postgres_schema: str
) -> None:
    with closing(PostgresStore(postgres_server, postgres_schema)) as store:
        store.begin_crawl(1)
        follower = store.worker()
        command = [sys.executable, "-m", "tests.crawling.ledger.writing", postgres_server]
        writers = [
            subprocess.Popen([*command, postgres_schema, str(n), str(PAGES)], cwd=_REPOSITORY)
            for n in range(WRITERS)
        ]
        try:
            seen: list[tuple[int, str]] = []
            while True:
                is_over = all(writer.poll() is not None for writer in writers)
                while captures := follower.captures_after(seen[-1][0] if seen else 0, 300):
                    seen += ((capture.id, capture.url) for capture in captures)
                if is_over:
                    break
        finally:
            for writer in writers:
                writer.kill()
                writer.wait()
        assert [writer.returncode for writer in writers] == [0] * WRITERS
        expected = WRITERS * PAGES + _CAP
        assert [number for number, _ in seen] == list(range(1, expected + 1))
        assert len({url for _, url in seen}) == expected
        assert store.rows("SELECT name, value FROM tallies ORDER BY 1") == [
            ("pages", expected),
            ("visits", expected),
        ]
        assert store.rows("SELECT admitted FROM groups") == [(_CAP,)]
        assert store.rows("SELECT count(*) FROM urls WHERE state = 'done'") == [(expected,)]
