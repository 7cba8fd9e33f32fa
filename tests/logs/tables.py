"""The CSV files of a workspace, read as an analyst reads them, and held against state.db."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

PAGES = Path("logs", "pages.csv")
EDGES = Path("logs", "edges.csv")
METRICS = Path("logs", "crawl_metrics.csv")
METADATA = Path("metadata", "crawl_metadata.jsonl")
ALL = (PAGES, EDGES, METADATA)
FORMULA = re.compile(r"[\s\u200b\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[ \u3000]*[\t\r\n]")


def rows(file: Path) -> list[dict[str, str]]:
    """Every row; each must be whole, and a line of its own."""
    text = file.read_bytes().decode("utf-8")
    assert text.endswith("\n")
    lines = text.split("\n")[:-1]
    assert lines == text.splitlines(), "a cell holds a line break"
    header, *rest = [next(csv.reader([line], strict=True)) for line in lines]
    assert {len(cells) for cells in rest} <= {len(header)}
    return [dict(zip(header, cells, strict=True)) for cells in rest]


def about(row: dict[str, str]) -> dict[str, object]:
    """The JSON in the last cell of a row of pages.csv."""
    return dict(json.loads(row["metadata"]))


def contents(workspace: Path) -> dict[Path, bytes]:
    return {path: (workspace / path).read_bytes() for path in ALL}


def state(workspace: Path, sql: str) -> list[tuple]:
    with closing(sqlite3.connect(workspace / "state.db")) as connection:
        return connection.execute(sql).fetchall()


def assert_metrics_agree(workspace: Path, file: Path = METRICS) -> None:
    """The last word on each metric is what state.db says, and every group of rows is whole."""
    groups = rows(workspace / file)
    last = {row["metric"]: int(row["value"]) for row in groups}
    tallies = dict(state(workspace, "SELECT name, value FROM tallies"))
    counts = dict(state(workspace, "SELECT state, count(*) FROM urls GROUP BY state"))
    names = ("done", "pending", "waiting", "failed", "refused")
    gauges = {name: counts.get(name, 0) for name in names}
    gauges |= {
        "known": sum(counts.values()),
        "in_flight": counts.get("leased", 0),
        "needs_browser": counts.get("needs-browser", 0),
    }
    always = ["visits", "retries", "pages", "bytes", "not_modified", "no_answer", "not_asked"]
    always += [f"status_{number}" for number in ("2xx", "3xx", "4xx", "5xx", "other")]
    ended = {name: count for name, count in tallies.items() if name.startswith("ended_")}
    assert last == {name: tallies.get(name, 0) for name in always} | ended | gauges
    assert sum(ended.values()) == last["visits"]
    always += [*gauges]
    counted = Counter(row["metric"] for row in groups if row["metric"] in always)
    assert set(counted) == set(always) and len(set(counted.values())) == 1, "a group is torn"
    assert groups[0]["metric"] == "visits" and groups[-1]["metric"] == "in_flight"
