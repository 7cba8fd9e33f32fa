"""WARC files and WACZ packages made to hang, fill or break an import: what is good in them is kept."""

from __future__ import annotations

import gzip
import random
import struct
import zipfile
from collections.abc import Callable, Iterable
from hashlib import sha1
from pathlib import Path
from typing import Any

import pytest

from crawl4r.archive.warc.reader import read_warc
from crawl4r.archive.warc.wacz_reader import warcs_in
from crawl4r.errors import UsageError
from tests.hostile.measured import suffer
from tests.interfaces.cli.running import Answer, run
from tests.transfer.warc.files import DATE, html_page, http, record, response, skippable, zstandard

SITE = "http://site.example"
GOOD = f"{SITE}/good"
LARGEST = 32 << 20  # bytes of a body that is kept
IDENTICAL = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"


def good() -> bytes:
    return response(GOOD, html_page("The good page"))


def one_member(*records: bytes) -> bytes:
    """Packed together, as few writers do: what repeats costs next to nothing."""
    return gzip.compress(b"".join(records), 6, mtime=0)


def members(*records: bytes) -> bytes:
    return b"".join(gzip.compress(each, 6, mtime=0) for each in records)


def interim_answers() -> bytes:
    block = b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000_000 + http(b"at last")
    return members(record("response", f"{SITE}/interim", block), good())


def folded_heads() -> bytes:
    folds = b"\r\n ".join([b"X-Folded: a", *[b"b"] * 70_000])
    block = b"HTTP/1.1 200 OK\r\n" + folds + b"\r\n\r\nbody"
    fields = (
        b"WARC/1.1\r\nX-Folded: a\r\n" + b" b\r\n" * 240_000 + b"Content-Length: 0\r\n\r\n\r\n\r\n"
    )
    return members(record("response", f"{SITE}/folded", block), fields, good())


def heads_of_a_megabyte() -> bytes:
    head = "".join(f"X-{n}: 1\r\n" for n in range(80_000)).encode()
    block = b"HTTP/1.1 200 OK\r\n" + head + b"\r\nbody"
    return members(*[record("response", f"{SITE}/{n}", block) for n in range(30)], good())


def notes_of_blank_lines() -> bytes:
    return members(record("metadata", f"{SITE}/note", b"\r\n" * (LARGEST // 2)), good())


def chunks_of_one_byte() -> bytes:
    block = http(b"1\r\nx\r\n" * (LARGEST // 7), "Transfer-Encoding: chunked")
    return members(record("response", f"{SITE}/chunks", block), good())


def empty_records() -> bytes:
    nothing = b"WARC/1.1\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
    return members(good()) + one_member(nothing * 3_000_000)


def blank_lines() -> bytes:
    return members(good(), b"\r\n" * (200 << 20))


def lengths_that_lie() -> bytes:
    """Each says that all the others are its own block."""
    liars = [record("response", f"{SITE}/{n}", b"", length=10**17) for n in range(50)]
    near = [record("response", f"{SITE}/{n}", b"", length=60 << 20) for n in range(999)]
    return good() + b"".join(liars + near) + bytes(80 << 20)


def empty_frames() -> bytes:
    return zstandard([good()]) + skippable(b"") * 4_000_000


def one_moment() -> bytes:
    pages = [response(f"{SITE}/same", b"%d" % number) for number in range(5_000)]
    return members(good(), *pages)


def revisits_of_a_large_page() -> bytes:
    body = bytes(LARGEST - 1000)
    digest = f"sha1:{sha1(body + b'another', usedforsecurity=False).hexdigest()}"
    fields = {"WARC_Profile": IDENTICAL, "WARC_Payload_Digest": digest}
    again = [
        record("revisit", f"{SITE}/large", date=f"2027-01-01T00:00:{n % 60:02}Z", **fields)
        for n in range(2_000)
    ]
    return members(record("resource", f"{SITE}/large", body, date=DATE), *again, good())


# name: the file, and what its counts tell of the attack
ATTACKS: dict[str, tuple[Callable[[], bytes], dict[str, Any]]] = {
    "interim.warc.gz": (interim_answers, {"added": 1, "broken": 1}),
    "folded.warc.gz": (folded_heads, {"added": 2, "broken": 0}),
    "heads.warc.gz": (heads_of_a_megabyte, {"added": 1, "broken": 30}),
    "notes.warc.gz": (notes_of_blank_lines, {"added": 1, "broken": 0}),
    "chunks.warc.gz": (chunks_of_one_byte, {"added": 1, "broken": 1}),
    "empty.warc.gz": (empty_records, {"added": 1, "broken": 1}),
    "blank.warc.gz": (blank_lines, {"added": 1, "broken": 1}),
    "lengths.warc": (lengths_that_lie, {"added": 1, "broken": 68}),
    "frames.warc.zst": (empty_frames, {"added": 1, "broken": 0}),
    "moment.warc.gz": (one_moment, {"added": 101, "skipped": {"too-many-at-a-moment": 4_900}}),
    "revisits.warc.gz": (
        revisits_of_a_large_page,
        {"added": 2, "skipped": {"unknown-original": 2_000}},
    ),
}


def assert_the_good_page_is_found(workspace: Path) -> None:
    shown = run("get", GOOD, "-w", workspace)
    assert shown.code == 0
    assert "The good page" in shown.text


@pytest.mark.parametrize("name", ATTACKS)
def test_an_archive_made_to_hang_is_read_to_its_end(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    make, told = ATTACKS[name]
    file.write_bytes(make())
    ended = suffer("import", file, "-w", tmp_path / "ws", "--json").within_limits()
    assert ended.answer.code == 0
    counts = ended.answer.json
    assert {key: counts[key] for key in told} == told
    assert_the_good_page_is_found(tmp_path / "ws")


def zipped(
    path: Path, files: Iterable[tuple[str, bytes]], method: int = zipfile.ZIP_STORED
) -> Path:
    with zipfile.ZipFile(path, "w", method) as package:
        for name, data in files:
            package.writestr(name, data)
    return path


def rewritten(path: Path, *edits: tuple[str, Callable[[bytearray, int], None]]) -> Path:
    """Change entries of the directory of a package: `edit(bytes, where the entry begins)`."""
    data = bytearray(path.read_bytes())
    for name, edit in edits:
        at = data.rindex(b"PK\x01\x02", 0, data.rindex(name.encode()))
        edit(data, at)
    path.write_bytes(data)
    return path


def put(place: int, value: int, size: str = "<I") -> Callable[[bytearray, int], None]:
    return lambda data, at: struct.pack_into(size, data, at + place, value)


def bring(package: Path, workspace: Path) -> Answer:
    return suffer("import", package, "-w", workspace, "--json").within_limits().answer


def put_far_away(path: Path) -> Path:
    """The offset of `bad.warc` becomes 2**64 - 1, in a field of zip64."""
    info = zipfile.ZipInfo("bad.warc")
    info.extra = struct.pack("<HHQ", 0x6666, 8, 0)
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("good.warc", good())
        package.writestr(info, b"bad")

    def edit(data: bytearray, at: int) -> None:
        struct.pack_into("<I", data, at + 42, 0xFFFFFFFF)
        extra = at + 46 + len("bad.warc")
        struct.pack_into("<HHQ", data, extra, 1, 8, 2**64 - 1)

    return rewritten(path, ("bad.warc", edit))


def with_sizes(path: Path, size: int) -> Path:
    zipped(path, [("good.warc", good()), ("bad.warc", b"bad")])
    return rewritten(path, ("bad.warc", put(20, size)), ("bad.warc", put(24, size)))


def with_method(path: Path, method: int) -> Path:
    zipped(path, [("good.warc", good()), ("bad.warc", b"bad")])
    return rewritten(path, ("bad.warc", put(10, method, "<H")))


def sharing_their_bytes(path: Path) -> Path:
    """A thousand entries for the bytes of one."""
    names = [f"{n:04}.warc" for n in range(1_000)]
    large = [("shared.warc", response(f"{SITE}/shared", bytes(1 << 20)))]
    zipped(path, [*large, ("good.warc", good()), *[(name, b"") for name in names]])
    size = len(large[0][1])
    edits = [(name, put(20, size)) for name in names] + [(name, put(24, size)) for name in names]
    edits += [(name, put(42, 0)) for name in names]
    return rewritten(path, *edits)


PACKAGES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "an offset of 2**64-1": (put_far_away, "bad.warc"),
    "sizes past the end": (lambda path: with_sizes(path, 0xFFFFFFF0), "bad.warc"),
    "lzma": (lambda path: with_method(path, zipfile.ZIP_LZMA), "bad.warc"),
    "a method that nobody knows": (lambda path: with_method(path, 99), "bad.warc"),
    "shared bytes": (sharing_their_bytes, "0000.warc"),
}


@pytest.mark.parametrize("attack", PACKAGES)
def test_a_package_whose_directory_lies_gives_what_is_good_in_it(
    tmp_path: Path, attack: str
) -> None:
    make, damaged = PACKAGES[attack]
    answer = bring(make(tmp_path / "a.wacz"), tmp_path / "ws")
    assert answer.code == 0
    damages: list[dict[str, Any]] = answer.json["damages"]
    assert damaged in {damage["file"] for damage in damages}
    assert all(damage["reason"] for damage in damages)
    assert answer.json["added"] == 1
    assert_the_good_page_is_found(tmp_path / "ws")


def test_a_package_whose_directory_has_no_end_is_refused(tmp_path: Path) -> None:
    entry = struct.pack("<4s16x10xHHH12x", b"PK\x01\x02", 1, 0, 0) + b"x"
    size = len(entry) * 1_000_000
    end = struct.pack("<4s4xHHIIH", b"PK\x05\x06", 0xFFFF, 0xFFFF, size, 4, 0)
    package = tmp_path / "a.wacz"
    package.write_bytes(b"PK\x03\x04" + entry * 1_000_000 + end)
    answer = bring(package, tmp_path / "ws")
    assert answer.code == 2
    assert "its directory has more than 8,388,608 bytes" in answer.err


def test_no_change_of_bytes_in_a_package_or_a_file_is_a_traceback(tmp_path: Path) -> None:
    """The reader alone, a thousand times: `run` of one more would take a second each."""
    chance = random.Random(17)
    files = [("a.warc.gz", members(good(), good())), ("b.warc", good() * 3), ("c.txt", b"text")]
    whole = zipped(tmp_path / "a.wacz", files, zipfile.ZIP_DEFLATED).read_bytes()
    for _ in range(1_000):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 8)):
            at = chance.choice([chance.randrange(len(data)), len(data) - chance.randint(1, 300)])
            data[at] = chance.choice([0, 0xFF, 0x7F, 0x80, chance.randrange(256)])
        changed = tmp_path / "changed.wacz"
        changed.write_bytes(data)
        try:
            for inner in warcs_in(changed):
                if inner.file is not None:
                    list(read_warc(inner.file, LARGEST))
        except UsageError:
            pass


def test_a_line_without_end_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    with file.open("wb") as lines:
        lines.write(b'{"id": "1", "text": "' + b"x" * (1 << 20))
        lines.truncate(600 << 20)
    answer = bring(file, tmp_path / "ws")
    assert answer.code == 2
    assert "line 1: longer than" in answer.err
