"""WARC files of others into a workspace: decoded, referred to, cut off, hostile."""

from __future__ import annotations

import gzip
import hashlib
import random
import zipfile
import zlib
from base64 import b32encode
from pathlib import Path

import brotli
import pytest

import crawl4r
from crawl4r.formats import zstd
from crawl4r.model import Capture, Verdict
from crawl4r.transfer.import_warc import ArchiveCounts
from tests.interfaces.cli.running import run
from tests.transfer.warc.files import (
    PACKERS,
    gzip_bomb,
    gzipped,
    html_page,
    http,
    record,
    response,
    zstandard,
)
from tests.transfer.warc.strict import read_index
from tests.transfer.warc.workspaces import captures_of, export, made, page

SITE = "http://site.example"
IDENTICAL = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.0/revisit/server-not-modified"


def bring(
    folder: Path, *records: bytes, packing: str = "gzip"
) -> tuple[ArchiveCounts, list[Capture]]:
    """Import these records into the folder's workspace; documents are made when they are asked for."""
    file = folder / {"gzip": "a.warc.gz", "zstd": "a.warc.zst", "none": "a.warc"}[packing]
    file.write_bytes(PACKERS[packing](records))
    with crawl4r.open(folder / "ws") as opened:
        counts = opened.import_file(file, with_documents=False)
        return counts, list(opened.captures.after(0))


def documents_of(workspace: Path) -> list[str]:
    """URLs of the documents that the captures give."""
    assert run("reprocess", "--missing", "-w", workspace).code == 0
    with crawl4r.open(workspace, read_only=True) as opened:
        return [stored.document.url for stored in opened.documents()]


def body_of(workspace: Path, capture: Capture) -> bytes | None:
    with crawl4r.open(workspace, read_only=True) as opened:
        return opened.blobs.read(capture.sha256) if capture.sha256 else None


def chunked(body: bytes, size: int = 700) -> bytes:
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


PAGE = html_page("A page")
CODED = {
    "plain": (PAGE, []),
    "gzip": (gzip.compress(PAGE, mtime=0), ["Content-Encoding: gzip"]),
    "deflate": (zlib.compress(PAGE), ["Content-Encoding: deflate"]),
    "br": (brotli.compress(PAGE), ["Content-Encoding: br"]),
    "zstd": (zstd.compress(PAGE), ["Content-Encoding: zstd"]),
    "chunked": (chunked(PAGE), ["Transfer-Encoding: chunked"]),
    "both": (
        chunked(gzip.compress(PAGE, mtime=0)),
        ["Transfer-Encoding: chunked", "Content-Encoding: gzip"],
    ),
    "said and not done": (PAGE, ["Transfer-Encoding: chunked", "Content-Encoding: gzip"]),
    "by common crawl": (PAGE, ["X-Crawler-Content-Encoding: gzip", "X-Crawler-Content-Length: 9"]),
}


@pytest.mark.parametrize("coding", CODED)
def test_a_body_is_stored_without_its_codings(tmp_path: Path, coding: str) -> None:
    body, headers = CODED[coding]
    _, (capture,) = bring(tmp_path, response(f"{SITE}/", body, "Content-Type: text/html", *headers))
    assert body_of(tmp_path / "ws", capture) == PAGE
    assert (capture.status, capture.verdict, capture.bytes) == (200, Verdict.OK, len(PAGE))


def test_headers_that_common_crawl_renamed_are_as_the_server_sent_them(tmp_path: Path) -> None:
    renamed = (
        "X-Crawler-Content-Encoding: gzip",
        "X-Crawler-Content-Length: 9",
        "Content-Length: 99",
    )
    _, (capture,) = bring(tmp_path, response(f"{SITE}/", PAGE, *renamed, "Vary: x"))
    assert capture.headers == [("content-encoding", "gzip"), ("content-length", "9"), ("vary", "x")]


def test_a_record_becomes_a_capture_of_its_own_time_and_kind(tmp_path: Path) -> None:
    moved = http(b"", "Location: /a b?x=1#y", status="301 Moved")
    records = [
        record("warcinfo", "", b"software: x\r\n"),
        record("request", f"{SITE}/", b"GET / HTTP/1.1\r\nAuthorization: Basic c2VjcmV0\r\n\r\n"),
        response(f"{SITE}/", PAGE, "Content-Type: text/html", 'ETag: "e"', date="2020-01-02T03:04:05Z",
                 WARC_IP_Address="192.0.2.9", WARC_Protocol="h2"),
        record("response", f"{SITE}/moved", moved),
        record("response", f"{SITE}/lost", http(b"no", status="404 Not Found"), date="2019"),
        record("response", f"{SITE}/broken", http(b"", status="503")),
        record("resource", f"{SITE}/file.txt", b"some words", Content_Type="text/plain"),
        record("response", f"{SITE}/interim", b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + http(PAGE)),
        record("response", f"<{SITE}/wget>", http(PAGE + b"w"), date="2021-05-06T07:08:09.123456789Z"),
        record("metadata", f"{SITE}/", b"via: x\r\n", Content_Type="application/warc-fields"),
        record("conversion", f"{SITE}/pdf", b"text"),
    ]  # fmt: skip
    counts, captures = bring(tmp_path, *records)
    assert (counts.skipped, counts.broken) == ({}, 0)
    found = {c.url.removeprefix(SITE): c for c in captures}
    assert list(found) == ["/", "/moved", "/lost", "/broken", "/file.txt", "/interim", "/wget"]
    first = found["/"]
    assert (first.fetched_at, first.etag, first.address) == (1577934245.0, '"e"', "192.0.2.9")
    assert (first.http_version, found["/moved"].http_version) == ("2", "1.1")
    assert found["/moved"].verdict is Verdict.REDIRECT
    assert (found["/moved"].location, found["/moved"].sha256) == (f"{SITE}/a%20b?x=1", None)
    assert (found["/lost"].status, found["/lost"].verdict) == (404, Verdict.HTTP_ERROR)
    assert found["/lost"].fetched_at == 1546300800.0
    assert (found["/broken"].reason, found["/broken"].sha256) == ("http-503", None)
    assert found["/file.txt"].content_type == "text/plain"
    assert found["/wget"].fetched_at == 1620284889.123457
    assert "c2VjcmV0" not in str(captures)
    read = [url.removeprefix(SITE) for url in documents_of(tmp_path / "ws")]
    assert read == ["/", "/file.txt", "/interim", "/wget"]


def test_what_is_not_for_us_is_counted_by_its_reason(tmp_path: Path) -> None:
    long_url = f"{SITE}/{'x' * 3000}"
    records = [
        record("response", "dns:site.example", b"20260101 192.0.2.1"),
        record("resource", "urn:thumbnail:http://site.example/", b"png"),
        record("response", "", http(PAGE)),
        record("response", long_url, http(PAGE)),
        record("response", f"{SITE}/part", http(PAGE), WARC_Segment_Number="1"),
        record("response", f"{SITE}/coding", http(PAGE, "Content-Encoding: br")),
        record("response", f"{SITE}/other", http(PAGE, "Content-Encoding: compress")),
        record("revisit", f"{SITE}/x", b"", WARC_Profile="http://other.example/profile"),
        record("revisit", f"{SITE}/y", b"", WARC_Profile=NOT_MODIFIED),
    ]
    counts, captures = bring(tmp_path, *records)
    assert captures == []
    assert counts.skipped == {
        "not-http": 3, "segmented": 1, "undecodable": 2, "unknown-original": 1,
        "unknown-profile": 1, "url-too-long": 1,
    }  # fmt: skip


def test_what_is_no_http_message_is_broken(tmp_path: Path) -> None:
    records = [
        record("response", f"{SITE}/1", b"just words"),
        record("response", f"{SITE}/2", b"HTTP/1.1 200 OK\r\nno end"),
        record("response", f"{SITE}/3", http(PAGE), date="yesterday"),
        record("response", f"{SITE}/4", http(PAGE), date="2026-02-30T00:00:00Z"),
        record("response", f"{SITE}/4", http(PAGE), date="9999-12-31T23:59:59.999999Z"),
        record("response", f"{SITE}/5", b"HTTP/1.1 200 OK\r\nX: " + b"x" * 2_000_000 + b"\r\n\r\n"),
        response(f"{SITE}/good", PAGE),
    ]
    counts, captures = bring(tmp_path, *records)
    assert [capture.url for capture in captures] == [f"{SITE}/good"]
    assert counts.broken == 6
    offsets = [damage.offset for damage in counts.damages]
    starts = [len(gzipped(records[:n])) for n in range(6)]
    assert offsets == starts
    told = run("import", tmp_path / "a.warc.gz", "-w", tmp_path / "ws2").text
    assert "broken: 6" in told and f"a.warc.gz at {starts[1]}: " in told


def revisit(
    uri: str, date: str, profile: str = IDENTICAL, block: bytes = b"", **fields: str
) -> bytes:
    return record("revisit", uri, block, date=date, WARC_Profile=profile, **fields)


REFERS = {"WARC_Refers_To_Target_URI": f"{SITE}/", "WARC_Refers_To_Date": "2020-01-01T00:00:00Z"}


@pytest.mark.parametrize("order", ["behind", "before", "in another file"])
def test_a_revisit_points_to_the_bytes_that_came_before(tmp_path: Path, order: str) -> None:
    original = response(f"{SITE}/", PAGE, date="2020-01-01T00:00:00Z")
    block = http(b"", "Content-Type: text/html", "X-New: yes")
    revisits = [
        revisit(f"{SITE}/copy", "2020-01-02T00:00:00Z", block=block, **REFERS),
        revisit(f"{SITE}/bare", "2020-01-03T00:00:00Z", **REFERS),
        revisit(f"{SITE}/", "2020-01-04T00:00:00Z", NOT_MODIFIED, **REFERS),
        revisit(f"{SITE}/", "2020-01-05T00:00:00Z", NOT_MODIFIED, http(b"", status="304 Same")),
        record("response", f"{SITE}/", http(b"", status="304 Same"), date="2020-01-06T00:00:00Z"),
    ]
    if order == "in another file":
        bring(tmp_path, original)
        counts, captures = bring(tmp_path, *revisits)
    else:
        records = [original, *revisits] if order == "behind" else [*revisits, original]
        counts, captures = bring(tmp_path, *records)
        again, same = bring(tmp_path, *records)
        assert (again.added, same) == (0, captures)
    assert counts.skipped == {} and len(captures) == 6
    captures = sorted(captures, key=lambda capture: capture.fetched_at)
    sha256 = captures[0].sha256
    assert sha256 is not None and {capture.sha256 for capture in captures} == {sha256}
    same, other = Verdict.OK, Verdict.NOT_MODIFIED
    assert [c.verdict for c in captures] == [same, same, same, other, other, other]
    assert [c.status for c in captures] == [200, 200, 200, 304, 304, 304]
    assert [c.bytes for c in captures] == [len(PAGE)] * 3 + [0] * 3
    assert ("x-new", "yes") in captures[1].headers
    assert captures[2].content_type == "text/html"
    assert documents_of(tmp_path / "ws") == [f"{SITE}/", f"{SITE}/bare", f"{SITE}/copy"]


def test_a_revisit_that_names_no_original_is_believed_by_its_digest(tmp_path: Path) -> None:
    sha1 = f"sha1:{b32encode(hashlib.sha1(PAGE).digest()).decode()}"
    records = [
        response(f"{SITE}/", PAGE, date="2020-01-01T00:00:00Z"),
        revisit(f"{SITE}/", "2020-01-02T00:00:00Z", WARC_Payload_Digest=sha1),
        revisit(f"{SITE}/", "2020-01-03T00:00:00Z", WARC_Payload_Digest="sha1:" + "A" * 32),
        revisit(f"{SITE}/", "2020-01-04T00:00:00Z"),
    ]
    counts, captures = bring(tmp_path, *records)
    assert len(captures) == 2
    assert counts.skipped == {"unknown-original": 2}


def test_the_past_of_a_page_does_not_replace_its_present(tmp_path: Path) -> None:
    new, old = (
        response(f"{SITE}/", html_page("New"), date="2026-01-01T00:00:00Z"),
        response(f"{SITE}/", html_page("Old"), date="2019-01-01T00:00:00Z"),
    )
    gone = record(
        "response", f"{SITE}/", http(b"gone", status="404 Gone"), date="2018-01-01T00:00:00Z"
    )
    bring(tmp_path, new, old, gone)
    workspace = tmp_path / "ws"
    assert documents_of(workspace) == [f"{SITE}/"]
    assert run("get", f"{SITE}/", "-w", workspace, "--markdown").text.startswith("# New")
    assert b"<title>New" in run("get", f"{SITE}/", "-w", workspace, "--raw").out
    assert (
        b"<title>Old" in run("get", f"{SITE}/", "-w", workspace, "--raw", "--at", "2020-01-01").out
    )
    history = run("history", f"{SITE}/", "-w", workspace, "--json").json
    assert [row["status"] for row in history] == [404, 200, 200]
    (listed,) = run("pages", "-w", workspace, "--json").lines
    assert (listed["state"], listed["status"]) == ("done", 200)


def test_an_older_capture_does_not_change_what_a_crawl_found(tmp_path: Path) -> None:
    workspace = made(tmp_path / "ws", lambda maker: maker.add(f"{SITE}/", page("Crawled")) and None)
    assert documents_of(workspace) == [f"{SITE}/"]
    bring(tmp_path, response(f"{SITE}/", html_page("Old"), date="2001-01-01T00:00:00Z"))
    assert documents_of(workspace) == [f"{SITE}/"]
    assert run("get", f"{SITE}/", "-w", workspace, "--markdown").text.startswith("# Crawled")
    bring(tmp_path, response(f"{SITE}/", html_page("Newer"), date="2031-01-01T00:00:00Z"))
    assert documents_of(workspace) == [f"{SITE}/"]
    assert run("get", f"{SITE}/", "-w", workspace, "--markdown").text.startswith("# Newer")


def test_times_at_the_ends_of_the_calendar_come_through(tmp_path: Path) -> None:
    dates = ["0001-01-01T00:00:00Z", "0987-06-05T04:03:02Z", "9998-06-05T04:03:02Z"]
    pages = [response(f"{SITE}/{n}", html_page(date), date=date) for n, date in enumerate(dates)]
    bring(tmp_path, *pages)
    export(tmp_path / "ws", tmp_path / "b.wacz")
    export(tmp_path / "ws", tmp_path / "b.warc")
    lines = read_index((tmp_path / "b.cdxj").read_bytes())
    assert [line.timestamp for line in lines] == [
        "00010101000000", "09870605040302", "99980605040302"
    ]  # fmt: skip
    with crawl4r.open(tmp_path / "again") as opened:
        assert opened.import_file(tmp_path / "b.wacz", with_documents=False).added == 3


@pytest.mark.parametrize("packing", PACKERS)
def test_the_rest_of_a_damaged_file_is_kept(tmp_path: Path, packing: str) -> None:
    pages = [response(f"{SITE}/{n}", html_page(f"Page {n}") * 9) for n in range(4)]
    data = bytearray(PACKERS[packing](pages))
    start, end = len(PACKERS[packing](pages[:1])), len(PACKERS[packing](pages[:2]))
    data[start : start + 5] = b"XXXXX"
    file = tmp_path / "a.warc"
    file.write_bytes(data[: len(data) - 200])
    answer = run("import", file, "-w", tmp_path / "ws", "--json")
    assert answer.code == 0
    assert [c.url for c in captures_of(tmp_path / "ws")] == [f"{SITE}/0", f"{SITE}/2"]
    assert answer.json["broken"] == 2
    assert answer.json["damages"][0]["offset"] == start < end


def test_bodies_past_the_cap_are_skipped_and_counted(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "crawl4r.yaml").write_text("fetch: {max_decoded_bytes: 100000}\n")
    bomb = gzip.compress(bytes(5_000_000))
    twice = gzip.compress(gzip.compress(bytes(50_000_000)))
    records = [
        response(f"{SITE}/large", random.Random(1).randbytes(200_000)),
        response(f"{SITE}/bomb", bomb, "Content-Encoding: gzip"),
        response(f"{SITE}/twice", twice, "Content-Encoding: gzip, gzip"),
        response(f"{SITE}/br", brotli.compress(bytes(50_000_000)), "Content-Encoding: br"),
        response(f"{SITE}/good", PAGE),
    ]
    counts, captures = bring(tmp_path, *records)
    assert [capture.url for capture in captures] == [f"{SITE}/good"]
    assert counts.skipped == {"too-large": 4}


def test_a_member_that_is_a_bomb_costs_nothing_but_itself(tmp_path: Path) -> None:
    file = tmp_path / "a.warc.gz"
    start = b"WARC/1.1\r\nWARC-Type: "
    file.write_bytes(gzip_bomb(start, 200 * 1024**2) + gzipped([response(f"{SITE}/", PAGE)]))
    answer = run("import", file, "-w", tmp_path / "ws", "--json")
    assert (answer.json["added"], answer.json["broken"]) == (1, 1)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.warc", b"<html>no archive", "begins with"),
        ("a.warc.gz", b"", "is empty"),
        ("a.warc.gz", gzip.compress(b"just words", mtime=0), "no WARC file in it"),
        ("a.jsonl.gz", gzip.compress(b'{"id": 1}', mtime=0), "no WARC file in it"),
        ("a.warc.zst", zstd.compress(b"just words"), "no WARC file in it"),
        ("a.wacz", b"PK\x03\x04 and no more", "cannot be read as a WACZ"),
        ("a.wacz", b"not even a zip", "begins with"),
    ],
)
def test_a_file_that_is_no_archive_is_refused(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    answer = run("import", tmp_path / name, "-w", tmp_path / "ws")
    assert answer.code == 2
    assert words in answer.err and name in answer.err


def test_first_bytes_decide_and_not_the_name(tmp_path: Path) -> None:
    (tmp_path / "records.txt").write_bytes(response(f"{SITE}/", PAGE))
    (tmp_path / "more.json").write_bytes(zstandard([response(f"{SITE}/2", PAGE)]))
    for name in ("records.txt", "more.json"):
        answer = run("import", tmp_path / name, "-w", tmp_path / "ws", "--json")
        assert answer.json["added"] == 1


def zipped(path: Path, files: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as package:
        for name, data in files.items():
            package.writestr(name, data)
    return path


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_every_warc_file_of_a_package_is_read(tmp_path: Path, compression: int) -> None:
    copy = revisit(f"{SITE}/copy", "2020-01-02T00:00:00Z", **REFERS)
    files = {
        "archive/a.warc.gz": gzipped([copy]),
        "archive/b.warc": response(f"{SITE}/", PAGE, date="2020-01-01T00:00:00Z"),
        "archive/c.warc.zst": zstandard([response(f"{SITE}/c", PAGE)])[:-30],
        "archive/d.warc": b"rubbish",
        "pages/pages.jsonl": b"{}",
        "nested.wacz": b"PK\x03\x04",
    }
    answer = run(
        "import", zipped(tmp_path / "a.wacz", files, compression), "-w", tmp_path / "ws", "--json"
    )
    assert {c.url for c in captures_of(tmp_path / "ws")} == {f"{SITE}/", f"{SITE}/copy"}
    damages = [(d["file"], d["offset"]) for d in answer.json["damages"]]
    assert damages == [("archive/c.warc.zst", 0), ("archive/d.warc", 0)]


def test_a_package_that_would_fill_the_disk_is_not_unpacked(tmp_path: Path) -> None:
    files = {"archive/a.warc": bytes(50_000_000), "archive/b.warc": response(f"{SITE}/", PAGE)}
    package = zipped(tmp_path / "a.wacz", files, zipfile.ZIP_DEFLATED)
    answer = run("import", package, "-w", tmp_path / "ws", "--json")
    assert (answer.json["added"], answer.json["broken"]) == (1, 1)
    assert "far more" in answer.json["damages"][0]["reason"]
    empty = run("import", zipped(tmp_path / "b.wacz", {"x": b""}), "-w", tmp_path / "ws")
    assert empty.code == 2 and "without a WARC file" in empty.err
