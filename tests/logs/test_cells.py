"""No cell is a formula, a row is a line, and all else comes back as it was."""

from __future__ import annotations

import csv
import json
from io import StringIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawl4r.archive.lines.pages_csv import COLUMNS, PAGES
from crawl4r.clock import iso_time
from crawl4r.formats.csv_line import cell, cells_of, lines_of, quoted
from crawl4r.model import Capture, Verdict
from tests.logs.tables import FORMULA

BREAKS = "\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"
TEXTS = st.text() | st.text(alphabet="=+-@＝＋－＠ \t\r\n\"',;a1\u3000\u200b\ufeff\u2028")  # noqa: RUF001


FORMULAS = [
    "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\rx", "  =1", "\u3000\uff1d1", "\uff0b1", "\uff0d1",
    "\uff20x", "\xa0-1", "\u200b=1", "\ufe661",
]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_gets_an_apostrophe(text: str) -> None:
    assert cell(text).startswith("'")


@pytest.mark.parametrize("text", ["a=1", "1-1", "'=1", "https://e.org/?a=1", 'W/"x"', " a", "é"])
def test_what_is_no_formula_is_left_alone(text: str) -> None:
    assert cell(text) == text


@given(TEXTS)
@example("\n=1")
@example(" \u2028@")
@example("\u2028\t")
def test_no_cell_begins_like_a_formula_and_values_come_back(text: str) -> None:
    made = cell(text)
    assert not FORMULA.match(made)
    assert not set(made) & set(BREAKS)
    line = text
    for place in BREAKS:
        line = line.replace("\r\n", " ").replace(place, " ")
    assert (made[1:] if FORMULA.match(text) or FORMULA.match(line) else made) == line


@given(st.lists(TEXTS, min_size=2, max_size=6))
def test_cells_quoted_one_by_one_are_the_row_that_a_writer_writes(texts: list[str]) -> None:
    cells = [cell(text) for text in texts]
    ours = ",".join(map(quoted, cells))
    theirs = StringIO()
    csv.writer(theirs, lineterminator="\n").writerow(cells)
    assert next(csv.reader([ours], strict=True)) == cells
    assert next(csv.reader([theirs.getvalue()], strict=True)) == cells
    line = lines_of([cells])
    if line.decode() == theirs.getvalue():  # no lone surrogate among them
        assert cells_of(line[:-1]) == cells


@given(
    url=TEXTS, reason=TEXTS, etag=st.none() | TEXTS, page_type=TEXTS, proxy=TEXTS, path=TEXTS,
    referrer=st.none() | TEXTS, encoding=TEXTS, modified=st.none() | TEXTS, media=TEXTS,
    at=st.floats(0, 4e9), verdict=st.sampled_from(list(Verdict)), size=st.integers(0, 10**12),
)  # fmt: skip
def test_a_line_of_pages_is_safe_and_names_its_capture_whatever_a_server_says(
    url: str, reason: str, etag: str | None, page_type: str, proxy: str, path: str,
    referrer: str | None, encoding: str, modified: str | None, media: str, at: float,
    verdict: Verdict, size: int,
) -> None:  # fmt: skip
    capture = Capture(
        url=url, fetched_at=at, status=200, verdict=verdict, reason=reason, sha256="ab" * 32,
        bytes=size, content_type=media, encoding=encoding, headers=[], etag=etag,
        last_modified=modified, page_type=page_type, depth=3, referrer=referrer, latency_ms=12,
        retries=1, proxy=proxy, id=77,
    )  # fmt: skip
    line = PAGES.line(capture, path, None)
    text = line.decode()
    assert len(text.splitlines()) == 1
    cells = next(csv.reader([text], strict=True))
    assert len(cells) == len(COLUMNS) == 17
    assert [found for found in cells if FORMULA.match(found)] == []
    assert PAGES.capture_id(line) == 77
    if reason.isprintable():
        assert json.loads(cells[16])["reason"] == reason.encode("utf-8", "replace").decode()
    assert cells[9] == ("0" if verdict is Verdict.NOT_MODIFIED else str(size))


def test_times_are_in_utc_to_the_millisecond() -> None:
    assert iso_time(0) == "1970-01-01T00:00:00.000Z"
    assert iso_time(1_700_000_000.9996) == "2023-11-14T22:13:21.000Z"
    assert iso_time(1_700_000_000.1234) == "2023-11-14T22:13:20.123Z"
