"""WARC files out of a workspace, read by strangers: warcio, fastwarc, cdxj-indexer, and by the book."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from cdxj_indexer.main import CDXJIndexer

from crawl4r.errors import StorageDamaged, UsageError
from crawl4r.model import Verdict
from crawl4r.transfer.export_warc import Selection
from tests.transfer.warc.strangers import ArchiveIterator, WarcRecordType
from tests.transfer.warc.strict import StrictRecord, assert_index_fits, read_index, read_strictly
from tests.transfer.warc.workspaces import (
    COMMON,
    MOMENT,
    PACKINGS,
    Maker,
    captures_of,
    export,
    made,
    make_hostile,
    page,
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("hostile"), make_hostile)


def records_of(workspace: Path, out: Path) -> list[StrictRecord]:
    export(workspace, out)
    return read_strictly(out)


def of_url(records: list[StrictRecord], url: str) -> list[StrictRecord]:
    return [r for r in records if r.fields.get("WARC-Target-URI") == url]


@pytest.mark.parametrize("packing", PACKINGS)
def test_every_record_and_index_line_is_as_the_standards_say(
    hostile: Path, tmp_path: Path, packing: str
) -> None:
    result = export(hostile, tmp_path, packing, max_size=20_000)
    assert len(result.files) > 1
    assert all(file.endswith(PACKINGS[packing]) for file in result.files)
    records = [record for file in result.files for record in read_strictly(Path(file))]
    assert len(records) == result.records
    ids = Counter(record.fields["WARC-Record-ID"] for record in records)
    assert set(ids.values()) == {1}
    lines = read_index((tmp_path / "index.cdxj").read_bytes())
    assert len(lines) == result.captures == len(captures_of(hostile))
    assert_index_fits(lines, tmp_path)


@pytest.mark.parametrize("name", ["a.warc.gz", "a.warc"])
def test_warcio_finds_nothing_wrong(hostile: Path, tmp_path: Path, name: str) -> None:
    export(hostile, tmp_path / name)
    command = [sys.executable, "-m", "warcio.cli", "check", "-v", str(tmp_path / name)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
    said = Counter(line.strip() for line in checked.stdout.splitlines())
    assert said["digest pass"] > len(captures_of(hostile))
    assert not [line for line in said if "fail" in line]


@pytest.mark.parametrize("name", ["a.warc.gz", "a.warc.zst", "a.warc"])
def test_fastwarc_reads_the_same_records(hostile: Path, tmp_path: Path, name: str) -> None:
    export(hostile, tmp_path / name)
    strictly = {r.fields["WARC-Record-ID"]: r for r in read_strictly(tmp_path / name)}
    seen = 0
    for record in ArchiveIterator(str(tmp_path / name), parse_http=False):
        mine = strictly[record.record_id]
        assert repr(record.record_type).endswith(mine.kind)
        assert record.reader.read() == mine.block
        seen += 1
    assert seen == len(strictly)
    wanted = WarcRecordType.response | WarcRecordType.revisit
    for record in ArchiveIterator(
        str(tmp_path / name), record_types=wanted, max_header_len=200_000
    ):
        mine = strictly[record.record_id]
        if mine.block:
            status = int(mine.block.split(b" ", 2)[1])
            assert record.http_headers.status_code == status
    for record in ArchiveIterator(str(tmp_path / name), parse_http=False):
        assert record.verify_block_digest()


@pytest.mark.parametrize("name", ["a.warc.gz", "a.warc"])
def test_the_index_is_what_the_usual_indexer_writes(
    hostile: Path, tmp_path: Path, name: str
) -> None:
    export(hostile, tmp_path / name)
    out = StringIO()
    CDXJIndexer(out, str(tmp_path / name), sort=True).process_all()
    assert (tmp_path / "a.cdxj").read_text() == out.getvalue()


def test_the_same_workspace_is_the_same_bytes(hostile: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        export(hostile, tmp_path / name, max_size=20_000)
        export(hostile, tmp_path / name / "test.wacz")
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == files
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_file_begins_with_where_it_comes_from(hostile: Path, tmp_path: Path) -> None:
    result = export(hostile, tmp_path, max_size=20_000)
    for file in map(Path, result.files):
        first, *others = read_strictly(file)
        assert first.kind == "warcinfo"
        assert "warcinfo" not in {record.kind for record in others}
        assert first.fields["WARC-Filename"] == file.name
        assert b"software: crawl4r/test\r\n" in first.block


def test_a_body_is_written_once_and_then_referred_to(hostile: Path, tmp_path: Path) -> None:
    records = records_of(hostile, tmp_path / "a.warc.gz")
    by_id = {record.fields["WARC-Record-ID"]: record for record in records}
    bodies = [r.payload for r in records if r.kind == "response" and r.payload]
    assert len(bodies) == len(set(bodies))
    revisits = [record for record in records if record.kind == "revisit"]
    assert len(revisits) == 8
    for record in revisits:
        original = by_id[record.fields["WARC-Refers-To"]]
        assert original.kind == "response"
        assert original.offset < record.offset
        assert original.fields["WARC-Target-URI"] == record.fields["WARC-Refers-To-Target-URI"]
        assert original.fields["WARC-Date"] == record.fields["WARC-Refers-To-Date"]
        assert original.fields["WARC-Payload-Digest"] == record.fields["WARC-Payload-Digest"]


def test_a_304_is_a_revisit_without_a_block_and_its_head_is_kept(
    hostile: Path, tmp_path: Path
) -> None:
    records = of_url(records_of(hostile, tmp_path / "a.warc.gz"), "http://site.example/again")
    kinds = [record.kind for record in records]
    visits = (["response"], ["metadata", "revisit"], ["revisit"], ["metadata", "revisit"])
    assert kinds == [kind for visit in visits for kind in ("request", *visit)]
    not_modified, same_bytes = records[4], records[6]
    assert not_modified.fields["WARC-Profile"].endswith("/1.1/revisit/server-not-modified")
    assert not_modified.block == b""
    head = records[3]
    assert head.fields["WARC-Concurrent-To"] == not_modified.fields["WARC-Record-ID"]
    assert head.block.decode() == (
        'http-status: 304\r\nhttp-header: etag: "tag-1"\r\nhttp-header: x-a: M\xfcn\xff\r\n'
    )
    assert same_bytes.fields["WARC-Profile"].endswith("/1.1/revisit/identical-payload-digest")
    assert same_bytes.fields["WARC-Truncated"] == "length"
    assert same_bytes.block.startswith(b"HTTP/1.1 200 OK\r\n")


def test_a_request_is_written_as_it_was_sent(hostile: Path, tmp_path: Path) -> None:
    records = records_of(hostile, tmp_path / "a.warc.gz")
    requests = [r for r in of_url(records, "http://site.example/again") if r.kind == "request"]
    first, second, third, fourth = (record.block.decode() for record in requests)
    common = "\r\n".join(COMMON)
    assert first == f"GET /again HTTP/1.1\r\nHost: site.example\r\n{common}\r\n\r\n"
    tag = 'If-None-Match: "tag-1"\r\n'
    changed = "If-Modified-Since: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
    assert second == third == first.removesuffix("\r\n") + tag + changed + "\r\n"
    assert fourth == first.removesuffix("\r\n") + tag + "\r\n"  # of the newest good visit alone
    for record in requests:
        answers = [
            r for r in records if r.fields["WARC-Record-ID"] == record.fields["WARC-Concurrent-To"]
        ]
        assert answers[0].kind in {"response", "revisit"}
    old = of_url(records, "http://site.example/old")
    assert [record.kind for record in old] == ["response"]


def test_headers_that_speak_of_the_wire_are_renamed(hostile: Path, tmp_path: Path) -> None:
    records = records_of(hostile, tmp_path / "a.warc.gz")
    _, coded = of_url(records, "http://site.example/coded")
    assert coded.block.partition(b"\r\n\r\n")[0].split(b"\r\n") == [
        b"HTTP/1.1 200 OK",
        b"content-type: text/html",
        b"X-Crawler-Content-Encoding: gzip",
        b"X-Crawler-Content-Length: 99",
        b"X-Crawler-Transfer-Encoding: chunked",
        b"Content-Length: %d" % len(page("Coded")),
    ]
    _, lengths = of_url(records, "http://site.example/lengths")
    assert re.findall(rb"(?m)^.*length: .*(?=\r)", lengths.block, re.IGNORECASE) == [
        b"content-length: %d" % len(page("Two lengths")),
        b"X-Crawler-Content-Length: 3",
    ]
    _, nothing = of_url(records, "http://site.example/nothing")
    assert nothing.block == b"HTTP/1.1 204 No Content\r\n\r\n"
    for record in records:
        if record.kind == "response" and (
            length := re.search(rb"\ncontent-length: (\d+)\r\n", record.block, re.IGNORECASE)
        ):
            is_304 = record.block.startswith(b"HTTP/1.1 304")
            assert is_304 or int(length[1]) == len(record.payload)


def test_header_bytes_are_those_that_came(hostile: Path, tmp_path: Path) -> None:
    records = records_of(hostile, tmp_path / "a.warc.gz")
    block = {path: of_url(records, f"http://site.example{path}")[1].block for path in
             ("/latin-1", "/utf-8", "/controls", "/long", "/no-phrase")}  # fmt: skip
    assert b"x-town: M\xfcnchen\r\nx-bytes: \xff\x80\r\n" in block["/latin-1"]
    assert b'x-town: M\xc3\xbcnchen; a="b"\r\n' in block["/utf-8"]
    assert b"x-a: 1 2 3 4\x07\t5\r\n" in block["/controls"]
    assert b"x-long: " + b"x" * 100_000 + b"\r\n" in block["/long"]
    assert block["/no-phrase"].startswith(b"HTTP/1.1 299 \r\n")


def test_protocol_and_address_are_told_where_they_are_known(hostile: Path, tmp_path: Path) -> None:
    records = records_of(hostile, tmp_path / "a.warc.gz")
    told = {
        record.fields["WARC-Target-URI"]: (
            record.block.split(b" ")[0],
            record.fields.get("WARC-Protocol"),
            record.fields.get("WARC-IP-Address"),
        )
        for record in records
        if record.kind == "response"
    }
    assert told["http://site.example/"] == (b"HTTP/1.1", None, "192.0.2.1")
    assert told[f"https://h2.example/{'x' * 2000}"] == (b"HTTP/1.1", "h2", "2001:db8::1")
    assert told["http://[::1]:8080/"] == (b"HTTP/1.0", None, "::1")
    # What is written there belongs to the proxy.
    assert told["http://site.example/proxied"] == (b"HTTP/1.1", None, None)
    assert told["http://site.example/no-address"] == (b"HTTP/1.1", None, None)


def test_what_no_server_sent_is_a_resource(hostile: Path, tmp_path: Path) -> None:
    records = records_of(hostile, tmp_path / "a.warc.gz")
    (record,) = of_url(records, "https://imported.invalid/1")
    assert record.kind == "resource"
    assert record.fields["Content-Type"] == "application/vnd.crawl4r.record+json"
    assert record.block == b'{"id": "1", "text": "Words"}'


def test_a_part_can_be_exported_and_brings_what_it_refers_to(tmp_path: Path) -> None:
    def make(maker: Maker) -> None:
        maker.add("http://a.example/", page("A"), headers=[("etag", "1")])
        maker.add("http://b.example:81/", page("B"))
        maker.add("http://a.example/", b"", status=304, verdict=Verdict.NOT_MODIFIED)
        maker.add("http://a.example/later", page("Later"))

    workspace = made(tmp_path / "ws", make)

    def urls(selection: Selection) -> list[tuple[str, str]]:
        export(workspace, tmp_path / "a.warc", selection=selection)
        found = read_strictly(tmp_path / "a.warc")
        return [
            (r.kind, r.fields["WARC-Target-URI"])
            for r in found
            if r.kind in {"response", "revisit"}
        ]

    assert urls(Selection(site="b.example")) == [("response", "http://b.example:81/")]
    assert urls(Selection(site="b.example:81")) == [("response", "http://b.example:81/")]
    assert urls(Selection(until=MOMENT + 0.5)) == [("response", "http://a.example/")]
    assert urls(Selection(since=MOMENT + 1.5, until=MOMENT + 2.5)) == [
        ("response", "http://a.example/"),
        ("revisit", "http://a.example/"),
    ]
    with pytest.raises(UsageError, match="no capture is of that site"):
        urls(Selection(site="c.example"))


def test_a_shorter_series_leaves_nothing_of_a_longer_one(hostile: Path, tmp_path: Path) -> None:
    (tmp_path / "other-00000.warc.gz").write_bytes(b"somebody else's")
    (tmp_path / "test-00009.txt").write_bytes(b"somebody else's")
    assert len(export(hostile, tmp_path, max_size=9_000).files) > 2
    export(hostile, tmp_path, "zstd")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "index.cdxj", "other-00000.warc.gz", "test-00000.warc.zst", "test-00009.txt"
    ]  # fmt: skip


def test_an_export_that_fails_leaves_what_was_there(hostile: Path, tmp_path: Path) -> None:
    export(hostile, tmp_path / "a.warc.gz")
    before = (tmp_path / "a.warc.gz").read_bytes()
    workspace = made(tmp_path / "ws", add_without_bytes)
    with pytest.raises(StorageDamaged, match="not in the store"):
        export(workspace, tmp_path / "a.warc.gz")
    with pytest.raises(StorageDamaged, match="not in the store"):
        export(workspace, tmp_path / "a.wacz")
    assert (tmp_path / "a.warc.gz").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.cdxj", "a.warc.gz", "ws"]


def add_without_bytes(maker: Maker) -> None:
    maker.add("http://site.example/", page("There"))
    maker.add("http://site.example/lost", page("Lost"), sha256="0" * 64)
