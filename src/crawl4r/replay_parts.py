"""What passes between a replay and its workers: the files of a range, and what is said of it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from crawl4r.archive.capture_log import LineForm
from crawl4r.archive.csv_cells import EDGES_HEADER
from crawl4r.archive.metadata import METADATA
from crawl4r.archive.pages_csv import PAGES

FORMS: dict[str, LineForm] = {"pages": PAGES, "metadata": METADATA}
EDGES = "edges"
HEADERS = {name: form.header for name, form in FORMS.items()} | {EDGES: EDGES_HEADER}


class RangeDone(NamedTuple):
    """What a range held. `damaged` and `unreadable` are pairs of a URL and what is wrong there."""

    captures: int
    edges: int
    damaged: list[tuple[str, str]]
    unreadable: list[tuple[str, str]]
    unwritten: str = ""  # why the parts could not be written


def part_path(folder: Path, number: int, kind: str) -> Path:
    return folder / f"{number}.{kind}"
