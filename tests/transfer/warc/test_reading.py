"""Records out of WARC files: whole, damaged, cut off and hostile ones."""

from __future__ import annotations

import gzip
import random
import sys
import tracemalloc
import zlib
from importlib import import_module
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from crawl4r.archive.warc.reader import Broken, WarcRecord, read_warc
from crawl4r.formats import zstd
from tests.transfer.warc.files import (
    PACKERS,
    gzip_bomb,
    gzipped,
    html_page,
    http,
    record,
    response,
    skippable,
    zstandard,
)
from tests.transfer.warc.strict import read_strictly
from tests.transfer.warc.workspaces import PACKINGS, export, made, make_hostile

MEBIBYTE = 1024**2


def read(data: bytes, largest: int = 32 * MEBIBYTE) -> list[WarcRecord | Broken]:
    return list(read_warc(BytesIO(data), largest))


def whole(data: bytes) -> list[str]:
    """The URLs of records that could be read."""
    return [r.fields["warc-target-uri"] for r in read(data) if isinstance(r, WarcRecord)]


def broken(data: bytes) -> list[Broken]:
    return [item for item in read(data) if isinstance(item, Broken)]


def three() -> list[bytes]:
    return [response(f"http://site.example/{n}", html_page(f"Page {n}") * 3) for n in range(3)]


URLS = [f"http://site.example/{n}" for n in range(3)]


@pytest.mark.parametrize("packing", PACKINGS)
def test_what_we_write_is_what_we_read(tmp_path: Path, packing: str) -> None:
    workspace = made(tmp_path / "ws", make_hostile)
    out = tmp_path / f"a{PACKINGS[packing]}"
    export(workspace, out)
    strictly = [(r.offset, r.kind, r.block) for r in read_strictly(out)]
    with out.open("rb") as file:
        found = list(read_warc(file, 32 * MEBIBYTE))
    assert [tuple(r[:2]) + (r[3],) for r in found] == strictly  # type: ignore[misc]
    if packing != "zstd":  # which warcio does not know
        with out.open("rb") as file:
            theirs = ArchiveIterator(file, no_record_parse=True)
            blocks = [(r.rec_type, r.raw_stream.read(), theirs.get_record_offset()) for r in theirs]
        assert [(offset, kind, block) for kind, block, offset in blocks] == strictly


@pytest.mark.parametrize("packing", PACKERS)
def test_a_file_that_is_cut_off_loses_the_record_at_its_end(packing: str) -> None:
    data = PACKERS[packing](three())
    starts = [item.offset for item in read(data)]
    cuts = random.Random(packing).sample(range(starts[1] + 1, len(data) - 4), 60)
    for cut in cuts:
        kept = 2 if cut > starts[2] else 1
        if cut == starts[2]:
            continue
        assert whole(data[:cut]) == URLS[:kept]
        assert [item.offset for item in broken(data[:cut])] == [starts[kept]]


@pytest.mark.parametrize("packing", ["gzip", "zstd"])
def test_a_damaged_member_is_passed_over(packing: str) -> None:
    chance = random.Random(packing)
    data = PACKERS[packing](three())
    starts = [item.offset for item in read(data)]
    for _ in range(100):
        spot = chance.randrange(starts[1] + 4, starts[2])
        hurt = bytearray(data)
        hurt[spot] ^= 1 << chance.randrange(8)
        found = whole(bytes(hurt))
        assert found[0] == URLS[0] and found[-1] == URLS[2]
        damages = broken(bytes(hurt))
        # Where it is not seen, nothing that counts was hit: a time stamp, or a flag without meaning.
        assert found == URLS or [item.offset for item in damages] == [starts[1]]


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("lie", [-40, -1, 5, 40, 100_000])
def test_a_length_that_is_a_lie_costs_one_record(packing: str, lie: int) -> None:
    first, second, third = three()
    block = http(html_page("Page 1") * 3)
    second = record("response", URLS[1], block, length=len(block) + lie)
    data = PACKERS[packing]([first, second, third])
    assert whole(data) == [URLS[0], URLS[2]]
    (damage,) = broken(data)
    assert damage.offset == len(PACKERS[packing]([first]))


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize(
    "rubbish",
    [
        b"rubbish\r\n\r\n",
        b"WARC/9.9\r\n\r\n",
        b"WARC/1.1\r\nContent-Length: x\r\n\r\n",
        b"\0" * 99 + b"\n\n",
    ],
    ids=["words", "version", "length", "zeros"],
)
def test_rubbish_between_records_costs_none(packing: str, rubbish: bytes) -> None:
    first, second, third = three()
    assert whole(PACKERS[packing]([first, rubbish, second, third])) == URLS


@pytest.mark.parametrize("packing", PACKERS)
def test_writers_may_be_careless_about_blank_lines(packing: str) -> None:
    lines = [data.removesuffix(b"\r\n\r\n") + end for data, end in
             zip(three(), [b"\n", b"\r\n\r\n\r\n\r\n", b""], strict=True)]  # fmt: skip
    assert whole(PACKERS[packing](lines)) == URLS
    unix = [data.replace(b"\r\n", b"\n", 6) for data in three()]
    assert whole(PACKERS[packing](unix)) == URLS
    assert broken(PACKERS[packing](lines)) == []


def test_a_file_that_was_packed_as_a_whole_is_read_too() -> None:
    assert whole(gzip.compress(b"".join(three()))) == URLS
    assert whole(zstd.compress(b"".join(three()))) == URLS


def test_a_record_may_be_in_many_frames_and_frames_may_be_skipped() -> None:
    first, second, third = three()
    halves = zstandard([second[:500]]) + skippable(b"a note") + zstandard([b"", second[500:]])
    data = (
        zstandard([first])
        + skippable(b"")
        + halves
        + skippable(b"x" * 200_000)
        + zstandard([third])
    )
    assert whole(data) == URLS
    assert broken(data) == []


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_dictionary_may_stand_in_front(is_packed: bool) -> None:
    samples = [response(f"http://site.example/{n}", html_page(f"Sample {n}")) for n in range(200)]
    trained = zstd_dictionary(samples)
    content = trained.dict_content
    packed = zstd.compress(content) if is_packed else content
    data = skippable(packed, 0x5D) + zstandard(three(), trained)
    assert whole(data) == URLS
    assert (
        "dictionary"
        in broken(skippable(b"no dictionary at all", 0x5D) + zstandard(three()))[0].reason
    )
    assert "dictionary" in broken(skippable(packed, 0x5D)[:60])[0].reason
    assert broken(zstandard(three(), trained))[0].offset == 0


def zstd_dictionary(samples: list[bytes]) -> zstd.ZstdDict:
    module = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    trained: zstd.ZstdDict = module.train_dict(samples, 4096)
    return trained


def test_members_in_a_page_are_not_taken_for_records() -> None:
    """A page may itself be a WARC file: what is in it happened elsewhere."""
    inner = gzipped([response("http://inner.example/", html_page("Inner"))])
    assert whole(gzipped([response("http://site.example/a.warc.gz", inner)])) == [
        "http://site.example/a.warc.gz"
    ]
    plain = response("http://inner.example/", html_page("Inner"))
    data = response("http://site.example/a.warc", b"\r\n\r\n" + plain)
    assert whole(data) == ["http://site.example/a.warc"]
    # Cut off in the middle of the inner one, there is still nothing of it.
    packed = gzip.compress(response("http://site.example/a.warc.gz", inner * 3), compresslevel=0)
    assert whole(packed[: len(packed) - 40]) == []


@pytest.mark.parametrize("packing", PACKERS)
def test_a_block_past_the_cap_is_left_out_and_the_next_one_read(packing: str) -> None:
    large = response(URLS[0], random.Random(1).randbytes(300_000))
    data = PACKERS[packing]([large, *three()[1:]])
    first, second, third = read(data, largest=100_000)
    assert isinstance(first, WarcRecord) and first.block is None
    assert first.fields["warc-target-uri"] == URLS[0]
    assert isinstance(second, WarcRecord) and isinstance(third, WarcRecord)


@pytest.mark.parametrize(
    ("start", "size", "expected"),
    [
        (b"WARC/1.1\r\nX-Endless: ", 60, URLS[1:]),
        (record("response", URLS[0], http(), length=10**12)[:-4], 600, URLS[1:]),
        (record("response", URLS[0], http(b"x")), 60, URLS),
        (b"", 60, URLS[1:]),
    ],
    ids=["header", "body", "behind a record", "no record"],
)
def test_a_bomb_is_passed_over_without_being_held(
    start: bytes, size: int, expected: list[str]
) -> None:
    """Each goes on with mebibytes of zeros that were packed in a thousandth."""
    data = gzip_bomb(start, size * MEBIBYTE) + gzipped(three()[1:])
    tracemalloc.start()
    try:
        found = whole(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == expected
    assert peak < 16 * MEBIBYTE


@settings(max_examples=300, deadline=None)
@given(data=st.data(), packing=st.sampled_from(sorted(PACKERS)))
def test_whatever_happens_to_a_file_reading_ends_well(data: st.DataObject, packing: str) -> None:
    file = bytearray(PACKERS[packing](three()))
    for _ in range(data.draw(st.integers(1, 6))):
        spot = data.draw(st.integers(0, max(0, len(file) - 1)))
        match data.draw(st.sampled_from(["flip", "cut", "drop", "repeat"])):
            case "flip" if file:
                file[spot] ^= 1 << data.draw(st.integers(0, 7))
            case "cut":
                del file[spot:]
            case "drop":
                del file[spot : spot + data.draw(st.integers(1, 300))]
            case "repeat":
                file[spot:spot] = file[spot : spot + data.draw(st.integers(1, 3000))]
    for item in read(bytes(file)):
        assert 0 <= item.offset <= len(file)


def test_a_file_of_nothing_but_false_starts_ends() -> None:
    assert whole(b"\x1f\x8b\x08" * 50_000) == []
    assert whole(zlib.compress(b"x")) == []
    lies = record("response", URLS[0], b"", length=50_000) * 3_000
    assert len(broken(lies)) <= 1_000
