"""What a workspace says of itself, to be held against what it says after a recovery."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import crawl4r
from crawl4r.model import Capture
from tests.interfaces.cli.running import Answer, run

STATE = Path("state.db")
LINES = Path("metadata", "crawl_metadata.jsonl")
WORDS = {"CRAWL4R_INDEX__ENABLED": "true", "CRAWL4R_EMBEDDER__KIND": "none"}
QUERIES = ("robots", "crawler politeness", "canonical url", "guide")


class Said(NamedTuple):
    captures: list[Capture]
    bodies: dict[str, bytes]
    rows: dict[str, tuple[Any, ...]]
    documents: dict[str, tuple[str, str]]


def said_by(workspace: Path) -> Said:
    with crawl4r.open(workspace, read_only=True) as opened:
        captures = [_plain(each) for each in opened.captures.after(0)]
        bodies = {}
        for url in dict.fromkeys(each.url for each in captures):
            page = opened.get(url)
            if page is not None:
                bodies[url] = page.body
        rows = {
            row.url: (row.state, row.status, row.sha256, row.verdict, row.depth, row.kept)
            for row in opened.pages()
        }
        documents = {
            each.document.url: (each.id, each.document.markdown) for each in opened.documents()
        }
    return Said(captures, bodies, rows, documents)


def _plain(capture: Capture) -> Capture:
    """Without what the lines do not have: part of a millisecond, cookies, what was sent."""
    return capture._replace(fetched_at=round(capture.fetched_at, 3), request=None)


def hits_of(workspace: Path) -> list[list[tuple[str, str]]]:
    """The answers of searches, in order."""
    answers = (run("search", query, "-w", workspace, "--json", env=WORDS) for query in QUERIES)
    found = [answer.json["results"] for answer in answers]
    assert all(found), "a query of this test finds nothing"
    return [[(hit["url"], hit["text"]) for hit in hits] for hits in found]


def recover(workspace: Path, *options: str, code: int = 0) -> dict[str, Any]:
    answer = run("recover", "-w", workspace, "--json", *options)
    assert answer.code == code, answer
    told: dict[str, Any] = answer.json
    return told


def refusal(workspace: Path) -> Answer:
    answer = run("recover", "-w", workspace)
    assert (answer.code, answer.out) == (2, b""), answer
    return answer


def fingerprints(workspace: Path) -> dict[str, str]:
    """Every file with a hash of its bytes."""
    return {
        str(path.relative_to(workspace)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(workspace.rglob("*"))
        if path.is_file()
    }


@contextlib.contextmanager
def rows_of(workspace: Path) -> Iterator[sqlite3.Connection]:
    """state.db, to look at or to damage."""
    with contextlib.closing(sqlite3.connect(workspace / STATE)) as connection:
        yield connection
        connection.commit()
