"""WARC files: records with wrong lengths, types, moments, digests and HTTP inside, oddly packed."""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Callable

from crawl4r.formats import zstd
from tests.attacks.exports import Exports
from tests.attacks.mutating import ANY_BYTES, NUMBERS, POISON_BYTES, mutated
from tests.attacks.redirects import target
from tests.attacks.rounds import REFUSED, Round

_START = re.compile(rb"(?=WARC/1\.[01]\r\n)")
_TYPES = (
    b"response",
    b"revisit",
    b"resource",
    b"conversion",
    b"continuation",
    b"metadata",
    b"request",
    b"warcinfo",
    b"x",
)
_VERSIONS = (b"WARC/1.0", b"WARC/1.1", b"WARC/0.18", b"WARC/2.0", b"WARC/", b"HTTP/1.1", b"\x1b[2J")
_INTERIM = b"HTTP/1.1 100 Continue\r\n\r\n"
_HEADERS = (
    b"WARC-Type", b"WARC-Date", b"WARC-Target-URI", b"Content-Length", b"Content-Type",
    b"WARC-Record-ID", b"WARC-Payload-Digest", b"WARC-Block-Digest", b"WARC-Refers-To",
    b"WARC-Truncated", b"WARC-Segment-Number", b"WARC-Profile", b"WARC-Refers-To-Target-URI",
    b"WARC-Filename", b"WARC-IP-Address",
)  # fmt: skip


def _value(chance: random.Random) -> bytes:
    odd = (
        *NUMBERS,
        *POISON_BYTES,
        *_TYPES,
        b"9999-99-99T99:99:99Z",
        b"0000-00-00",
        b"sha1:",
        b"md5:%s",
        b"x" * 9_000,
    )
    if chance.random() < 0.3:
        return target(chance, "http://127.0.0.2:54321")
    return chance.choice(odd)


def _edit_header(chance: random.Random, record: bytes) -> bytes:
    head, gap, block = record.partition(b"\r\n\r\n")
    line = chance.choice(_HEADERS) + b": " + _value(chance)
    lines = head.split(b"\r\n")
    at = chance.randrange(len(lines))
    lines[at : at + chance.choice((0, 1))] = [line] * chance.choice((1, 1, 1, 40))
    if chance.random() < 0.1:
        lines[0] = chance.choice(_VERSIONS)
    return b"\r\n".join(lines) + gap + block


def with_block(record: bytes, block: bytes) -> bytes:
    """The record with another block, and the length that goes with it."""
    head = record.partition(b"\r\n\r\n")[0]
    head = re.sub(rb"Content-Length: \d+", b"Content-Length: %d" % len(block), head)
    return head + b"\r\n\r\n" + block + b"\r\n\r\n"


def _edit_block(chance: random.Random, record: bytes) -> bytes:
    block = record.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n\r\n")
    if chance.random() < 0.2:
        block = _INTERIM * chance.choice((1, 500, 20_000)) + block
    elif chance.random() < 0.4:
        coding = chance.choice((b"gzip", b"br", b"zstd", b"[/bold]", b"gzip, gzip", b"chunked"))
        name = chance.choice((b"Content-Encoding: ", b"Transfer-Encoding: "))
        block = block.replace(b"\r\n", b"\r\n" + name + coding + b"\r\n", 1)
    else:
        block = mutated(chance, block) if block else b""
    return with_block(record, block)


def _repeat(chance: random.Random, record: bytes) -> bytes:
    return record * chance.choice((0, 2, 60))


_EDITS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _edit_header, _edit_header, _edit_block, _edit_block, _repeat,
)  # fmt: skip


def hostile_warc(chance: random.Random, warc: bytes) -> bytes:
    records = _START.split(warc)[1:]
    for _ in range(chance.choice((0, 1, 3, 10))):
        at = chance.randrange(len(records))
        records[at] = chance.choice(_EDITS)(chance, records[at])
    if chance.random() < 0.2:
        chance.shuffle(records)
    data = b"".join(records)
    return mutated(chance, data, by=ANY_BYTES) if chance.random() < 0.4 else data


def packed(chance: random.Random, warc: bytes) -> tuple[str, bytes]:
    """The end of a name and the bytes: plain, or packed a record at a time, or as a whole."""
    records = _START.split(warc) if chance.random() < 0.7 else [warc]
    suffix = chance.choice((".warc", ".warc.gz", ".warc.zst"))
    if suffix == ".warc.gz":
        data = b"".join(gzip.compress(record, mtime=0) for record in records)
    elif suffix == ".warc.zst":
        data = b"".join(zstd.compress(record) for record in records)
    else:
        return suffix, warc
    return suffix, mutated(chance, data, by=ANY_BYTES) if chance.random() < 0.4 else data


def attack(this: Round, exports: Exports) -> None:
    workspace = exports.workspace(this)
    for number in range(2):
        suffix, data = packed(this.chance, hostile_warc(this.chance, exports.warc))
        file = this.folder / f"hostile{number}{suffix}"
        file.write_bytes(data)
        this.run(
            "import", file, "-w", workspace, *this.chance.choice(((), ("--json",))), codes=REFUSED
        )
    look_after(this, exports, workspace)


def look_after(this: Round, exports: Exports, workspace: object) -> None:
    """Use a workspace after an import like a user."""
    steps = (
        ("index",), ("reprocess",), ("replay",),
        ("export", "jsonl", "--out", this.folder / "o.jsonl"),
        ("export", "markdown", "--out", this.folder / "md"),
        ("export", "warc", "--out", this.folder / "w"), ("status",),
    )  # fmt: skip
    for step in this.chance.sample(steps, min(2, this.steps)):
        this.json(*step, "-w", str(workspace))
    this.check_good_pages(workspace, exports.goods)
    this.check_that_one_is_found(workspace, exports.goods)
