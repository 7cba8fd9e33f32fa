"""The one bounded inflate: sitemaps, content codings and WARC files are unpacked by it."""

import gzip
import random
import zlib

import pytest

from crawl4r.formats.inflate import RAW, ZLIB, DamagedStream, Inflater, inflate

NOISE = random.Random(1).randbytes(256 * 1024)


@pytest.mark.parametrize("cut", range(-40, 40))
def test_a_member_may_begin_anywhere_in_a_body(cut: int) -> None:
    """Bodies are unpacked in pieces: the signs of a member may stand on both sides of a border."""
    first = gzip.compress(NOISE[: 256 * 1024 - 100 + cut])
    assert inflate(first + gzip.compress(b"more"), 1 << 20).data.endswith(b"more")


@pytest.mark.parametrize("container", [ZLIB, RAW])
def test_no_second_stream_follows_but_in_gzip(container: int) -> None:
    packer = zlib.compressobj(wbits=container)
    stream = packer.compress(b"page") + packer.flush()
    assert inflate(stream * 2, 100, container) == (b"page", "")


def test_what_came_before_a_damage_is_given() -> None:
    whole = gzip.compress(NOISE)
    data, problem = inflate(whole[:-9], 1 << 20)
    assert (len(data) > 1000, NOISE.startswith(data), problem) == (
        True,
        True,
        "gzip ends too early",
    )
    data, problem = inflate(gzip.compress(b"good") + gzip.compress(b"bad")[:-1] + b"!", 100)
    assert (data, problem[:8]) == (b"good", "not gzip")


def test_a_member_is_unpacked_in_steps_and_says_what_it_left() -> None:
    inflater, packed, steps = Inflater(), gzip.compress(b"0123456789") + b"next", []
    while not inflater.is_done:
        piece, packed = inflater.unpack(packed, 4)
        steps.append(piece)
    assert (b"".join(steps), packed) == (b"0123456789", b"next")
    with pytest.raises(DamagedStream, match="not gzip"):
        Inflater().unpack(b"no gzip at all", 4)
