"""Logs with one line per capture: after any crash every capture has one line (contract 1, G11)."""

import csv
import json
from pathlib import Path

import pytest

from crawl4r.archive.captures import Captures
from crawl4r.archive.lines.capture_log import CaptureLog, LineForm
from crawl4r.archive.lines.metadata_jsonl import METADATA
from crawl4r.archive.lines.pages_csv import PAGES
from crawl4r.frontier.priority import breadth_first
from crawl4r.frontier.sqlite import SqliteFrontier
from crawl4r.model import Capture, Found, FoundBy, Verdict
from crawl4r.storage.database import Database

CRAWL = 1

COUNT = 8
FORMS = {"crawl_metadata.jsonl": METADATA, "pages.csv": PAGES}


def capture(number: int) -> Capture:
    return Capture(
        url=f"http://e.org/{number}",
        fetched_at=1000.0 + number,
        status=200,
        verdict=Verdict.OK,
        reason="",
        sha256=f"{number:064x}",
        bytes=100 + number,
        content_type="text/html",
        encoding="utf-8",
        headers=[("content-type", "text/html"), ("set-cookie", "id=1"), ("x-é", "\u2028")],
        etag='"e"',
        last_modified=None,
        page_type="post",
        depth=number,
        referrer="http://e.org/é",
        latency_ms=12,
        retries=0,
    )


@pytest.fixture
def captures(database: Database) -> Captures:
    """A crawl that has kept a few pages."""
    frontier = SqliteFrontier(database, CRAWL, breadth_first)
    records = Captures(database)
    for number in range(1, COUNT + 1):
        found = Found(f"http://e.org/{number}", "e.org", 0, FoundBy.SEED, True, "")
        frontier.add([found], None, 0.0)
        frontier.lease("e.org", 1)
        records.add(capture(number))
    database.commit()
    return records


@pytest.fixture(params=FORMS)
def path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return tmp_path / "logs" / request.param


def form_of(path: Path) -> LineForm:
    return FORMS[path.name]


def lines_in(path: Path) -> list[bytes]:
    """Without the header."""
    data, header = path.read_bytes(), form_of(path).header
    assert data.startswith(header)
    assert data.endswith(b"\n")
    return data[len(header) :].split(b"\n")[:-1]


def reopen(path: Path, captures: Captures) -> list[int]:
    """Open and close the log; returns the capture ids of its lines, which must be complete."""
    form = form_of(path)
    CaptureLog(path, form, captures, lambda sha256: f"place of {sha256[-1]}").close()
    return [form.capture_id(line) for line in lines_in(path)]


def whole(path: Path, captures: Captures) -> bytes:
    assert reopen(path, captures) == list(range(1, COUNT + 1))
    return path.read_bytes()


def test_a_new_log_has_every_capture_once(path: Path, captures: Captures) -> None:
    assert reopen(path, captures) == list(range(1, COUNT + 1))
    assert reopen(path, captures) == list(range(1, COUNT + 1))


def test_a_line_of_metadata_tells_everything(tmp_path: Path, captures: Captures) -> None:
    path = tmp_path / "crawl_metadata.jsonl"
    whole(path, captures)
    line = json.loads(path.read_text("utf-8").split("\n")[1])
    assert line == {
        "capture_id": 2,
        "url": "http://e.org/2",
        "captured_at": "1970-01-01T00:16:42.000Z",
        "status": 200,
        "verdict": "ok",
        "reason": "",
        "page_type": "post",
        "depth": 2,
        "referrer": "http://e.org/é",
        "content_type": "text/html",
        "encoding": "utf-8",
        "sha256": f"{2:064x}",
        "bytes": 102,
        "stored_path": "place of 2",
        "etag": '"e"',
        "last_modified": None,
        "latency_ms": 12,
        "retries": 0,
        "proxy_id": "",
        "http_version": "",
        "address": "",
        "location": None,
        "crawl": None,
        "headers": [["content-type", "text/html"], ["x-é", "\u2028"]],
    }


def test_a_line_of_pages_has_a_cell_for_each_column(tmp_path: Path, captures: Captures) -> None:
    path = tmp_path / "pages.csv"
    whole(path, captures)
    with path.open(encoding="utf-8", newline="") as file:
        row = list(csv.DictReader(file))[1]
    assert row == {
        "timestamp": "1970-01-01T00:16:42.000Z",
        "url": "http://e.org/2",
        "page_type": "post",
        "depth": "2",
        "referrer": "http://e.org/é",
        "http_status": "200",
        "content_type": "text/html",
        "encoding": "utf-8",
        "content_sha256": f"{2:064x}",
        "content_bytes": "102",
        "stored_path": "place of 2",
        "etag": '"e"',
        "last_modified": "",
        "fetch_latency_ms": "12",
        "retries": "0",
        "proxy_id": "",
        "metadata": '{"capture_id": 2, "verdict": "ok", "reason": ""}',
    }


def test_lines_are_appended_after_those_that_were_there(path: Path, captures: Captures) -> None:
    data = whole(path, captures)
    log = CaptureLog(path, form_of(path), captures, lambda _: "")
    for number in (9, 10):
        captures.add(capture(number))
        log.add([capture(number)._replace(id=number)])
    log.add([])
    log.close()
    assert path.read_bytes().startswith(data)
    assert reopen(path, captures) == list(range(1, 11))


def test_a_torn_last_line_is_written_again_wherever_it_was_torn(
    path: Path, captures: Captures
) -> None:
    data = whole(path, captures)
    last = data.rindex(b"\n", 0, -1) + 1
    for end in range(last, len(data)):
        path.write_bytes(data[:end])
        assert reopen(path, captures) == list(range(1, COUNT + 1))
    assert path.read_bytes() == data


@pytest.mark.parametrize("kept", range(COUNT))
def test_lines_that_are_missing_are_written(path: Path, captures: Captures, kept: int) -> None:
    data = whole(path, captures)
    lines = b"".join(line + b"\n" for line in lines_in(path)[:kept])
    path.write_bytes(form_of(path).header + lines)
    assert reopen(path, captures) == list(range(1, COUNT + 1))
    assert path.read_bytes() == data


GARBAGE = {
    "zeros": b"\x00" * 4096,
    "zeros and a newline": b"\x00" * 4096 + b"\n",
    "a block of newlines": b"\n" * 300,
    "no JSON": b"oops\n" * 50,
    "JSON without an id": b'{"url": "x"}\n[1]\n"x"\n7\nnull\n',
    "an id that is no number": b'{"capture_id": "x"}\n{"capture_id": null}\n{"capture_id": []}\n',
    "an id beyond all numbers": b'{"capture_id": 1e999}\n{"capture_id": NaN}\n',
    "an id that is negative": b'{"capture_id": -3}\n',
    "an id that is a word": b'{"capture_id": true}\n',
    "cells without end": b'a,"b\n' + b"," * 16 + b"\n" + b"," * 16 + b'"{""capture_id"": true}"\n',
    "a cell beyond all limits": b'"' + b"x" * 300_000 + b'"\n',
    "nested without end": b"[" * 200_000 + b"\n",
    "bytes that are no text": b"\xff\xfe{\n\xc3(\n",
    "2 MB of zeros": b"\x00" * 2_000_000,
    "2 MB in one line": b"x" * 2_000_000 + b"\n",
    "2 MB in many lines": (b"y" * 997 + b"\n") * 2_000,
    "more than a line of 1 MiB": b"z" * 1_048_575 + b"\n" + b"z" * 1_048_577 + b"\n",
}


@pytest.mark.parametrize("tail", GARBAGE.values(), ids=GARBAGE)
def test_a_tail_of_garbage_is_cut(path: Path, captures: Captures, tail: bytes) -> None:
    data = whole(path, captures)
    path.write_bytes(data + tail)
    assert reopen(path, captures) == list(range(1, COUNT + 1))
    assert path.read_bytes() == data


@pytest.mark.parametrize("tail", GARBAGE.values(), ids=GARBAGE)
def test_a_file_of_garbage_is_written_anew(path: Path, captures: Captures, tail: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(tail)
    assert reopen(path, captures) == list(range(1, COUNT + 1))


def test_garbage_after_a_torn_line_is_cut_with_it(path: Path, captures: Captures) -> None:
    data = whole(path, captures)
    path.write_bytes(data[:-20] + b"\x00" * 1_100_000)
    assert reopen(path, captures) == list(range(1, COUNT + 1))
    assert path.read_bytes() == data


def test_an_empty_file_is_filled(path: Path, captures: Captures) -> None:
    path.parent.mkdir()
    path.touch()
    assert reopen(path, captures) == list(range(1, COUNT + 1))


def test_a_log_ahead_of_the_database_is_cut_back_to_it(path: Path, captures: Captures) -> None:
    """After restoring a backup of state.db, lines of captures that it lacks are cut."""
    data = whole(path, captures)
    ahead = form_of(path).line(capture(9)._replace(id=900), "", None)
    assert form_of(path).capture_id(ahead) == 900
    path.write_bytes(data + ahead + b"\n")
    assert reopen(path, captures) == list(range(1, COUNT + 1))


@pytest.mark.parametrize("head", [b"", b"url,title\n", b"\xef\xbb\xbf"])
def test_a_table_without_its_header_is_written_anew(
    tmp_path: Path, captures: Captures, head: bytes
) -> None:
    path = tmp_path / "pages.csv"
    data = whole(path, captures)
    path.write_bytes(head + data.removeprefix(PAGES.header))
    assert reopen(path, captures) == list(range(1, COUNT + 1))
    assert path.read_bytes() == data


def test_captures_come_back_as_they_were_kept(captures: Captures) -> None:
    kept = captures.of_url("http://e.org/3")
    assert kept == [capture(3)._replace(id=3)]
    assert captures.latest("http://e.org/3", before=1002.0) is None
    assert captures.latest("http://e.org/3", before=1003.0) == kept[0]
    assert [item.id for item in captures.after(5)] == [6, 7, 8]
