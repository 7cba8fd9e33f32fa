"""A strict reader of WARC files and their index, written from the standards and nothing else."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from crawl4r.formats import zstd

LINE = re.compile(rb"([\x21-\x7e]+) (\d{14}) (\{.*\})\n")
FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([^\r\n]*)")
FIELDS = ["url", "mime", "status", "digest", "length", "offset", "filename"]
TYPES = {"warcinfo", "request", "response", "resource", "metadata", "revisit"}


class StrictRecord(NamedTuple):
    offset: int
    length: int
    fields: dict[str, str]
    block: bytes

    @property
    def kind(self) -> str:
        return self.fields["WARC-Type"]

    @property
    def payload(self) -> bytes:
        is_http = self.fields.get("Content-Type", "").startswith("application/http")
        return self.block.partition(b"\r\n\r\n")[2] if is_http else self.block


def read_strictly(path: Path) -> list[StrictRecord]:
    """Every record; anything that the standards do not allow fails."""
    records = []
    for offset, length, data in _members(path):
        assert data.startswith(b"WARC/1.1\r\n")
        head, end, rest = data.partition(b"\r\n\r\n")
        assert end
        fields: dict[str, str] = {}
        for line in head.split(b"\r\n")[1:]:
            match = FIELD.fullmatch(line)
            assert match, line
            name, value = match[1].decode(), match[2].decode("utf-8")
            assert name not in fields, f"{name} twice"
            fields[name] = value
        size = int(fields["Content-Length"])
        assert rest[size:] == b"\r\n\r\n"
        record = StrictRecord(offset, length, fields, rest[:size])
        _check(record)
        records.append(record)
    return records


def _check(record: StrictRecord) -> None:
    fields = record.fields
    assert fields["WARC-Type"] in TYPES
    assert re.fullmatch(r"<urn:uuid:[0-9a-f-]{36}>", fields["WARC-Record-ID"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z", fields["WARC-Date"])
    assert fields["WARC-Block-Digest"] == _sha256(record.block)
    assert ("WARC-Target-URI" in fields) == (record.kind != "warcinfo")
    assert ("WARC-Profile" in fields) == ("WARC-Refers-To" in fields) == (record.kind == "revisit")
    if record.kind in {"response", "resource"}:
        assert fields["WARC-Payload-Digest"] == _sha256(record.payload)
    if record.kind == "revisit":
        assert record.payload == b""
    if record.kind in {"warcinfo", "metadata"}:
        assert fields["Content-Type"] == "application/warc-fields"
        assert all(FIELD.fullmatch(line) for line in record.block.split(b"\r\n")[:-1])


def _sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _members(path: Path) -> Iterator[tuple[int, int, bytes]]:
    data = path.read_bytes()
    at = 0
    while at < len(data):
        end, record = _unpack_one(path, data, at)
        yield at, end - at, record
        at = end


def _unpack_one(path: Path, data: bytes, at: int) -> tuple[int, bytes]:
    if path.suffix == ".gz":
        inflater = zlib.decompressobj(wbits=31)
        record = inflater.decompress(data[at:])
        assert inflater.eof
        return len(data) - len(inflater.unused_data), record
    if path.suffix == ".zst":
        assert data[at : at + 4] == b"\x28\xb5\x2f\xfd"
        descriptor = data[at + 4]
        assert descriptor & 0b100, "no check sum"
        assert descriptor >> 6 or descriptor & 0b100000, "no content size"
        unpacker = zstd.ZstdDecompressor()
        record = unpacker.decompress(data[at:])
        assert unpacker.eof
        return len(data) - len(unpacker.unused_data), record
    head = data.index(b"\r\n\r\n", at)
    length = int(re.search(rb"\r\nContent-Length: (\d+)", data[at : head + 2])[1])  # type: ignore[index]
    end = head + 4 + length + 4
    return end, data[at:end]


class IndexLine(NamedTuple):
    key: str
    timestamp: str
    fields: dict[str, str]


def read_index(data: bytes) -> list[IndexLine]:
    """Lines of CDXJ, which must be sorted and have no other fields than they may."""
    lines = data.splitlines(keepends=True)
    assert lines == sorted(lines)
    found = []
    for line in lines:
        match = LINE.fullmatch(line)
        assert match, line
        fields = json.loads(match[3])
        assert list(fields) == [name for name in FIELDS if name in fields]
        assert {"url", "digest", "length", "offset", "filename"} <= fields.keys()
        assert all(isinstance(value, str) for value in fields.values())
        found.append(IndexLine(match[1].decode(), match[2].decode(), fields))
    return found


def assert_index_fits(lines: list[IndexLine], folder: Path) -> None:
    """Each line leads to its record, and each record that can be replayed has a line."""
    indexed = 0
    for name in {line.fields["filename"] for line in lines}:
        path = folder / name
        records = {record.offset: record for record in read_strictly(path)}
        replayable = [r for r in records.values() if r.kind in {"response", "resource", "revisit"}]
        indexed += len(replayable)
        gap = 0 if path.suffix in {".gz", ".zst"} else 4
        for line in lines:
            if line.fields["filename"] != name:
                continue
            record = records[int(line.fields["offset"])]
            assert int(line.fields["length"]) == record.length - gap
            assert record.fields["WARC-Target-URI"] == line.fields["url"]
            assert record.fields["WARC-Payload-Digest"] == line.fields["digest"]
            assert re.sub(r"\D", "", record.fields["WARC-Date"])[:14] == line.timestamp
            assert (line.fields.get("mime") == "warc/revisit") == (record.kind == "revisit")
            if status := line.fields.get("status"):
                assert record.block.split(b" ", 2)[1] == status.encode()
    assert indexed == len(lines)


def unpacked_index(data: bytes) -> bytes:
    return gzip.decompress(data)
