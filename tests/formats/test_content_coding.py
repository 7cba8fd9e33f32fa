"""Content codings: every lawful form is undone, every other has a name, nothing has no end."""

import gzip
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import suppress

import brotli
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl4r.formats.content_coding import TooLarge, Undecodable, remove_codings
from tests.fetch.memory import MEGABYTE, watch_memory
from tests.site.bombs import make_bomb
from tests.site.encodings import deflate_raw

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CAP = 1 << 20
PAGE = b"<!doctype html><p>The harbour keeper paints the lighthouse.</p>" * 30
SKIPPABLE_FRAME = b"\x50\x2a\x4d\x18\x04\x00\x00\x00skip"

Encode = Callable[[bytes], bytes]
ENCODERS: dict[str, tuple[str, Encode]] = {
    "gzip": ("gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "raw-deflate": ("deflate", deflate_raw),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstd.compress),
}
every_coding = pytest.mark.parametrize(("name", "encode"), ENCODERS.values(), ids=ENCODERS)


@every_coding
def test_each_coding_is_undone(name: str, encode: Encode) -> None:
    assert remove_codings(encode(PAGE), name, CAP) == PAGE
    assert remove_codings(encode(PAGE), f" {name.upper()} ", CAP) == PAGE
    assert remove_codings(encode(b""), name, CAP) == b""
    assert remove_codings(b"", name, CAP) == b""  # what a 304 or a HEAD leaves


@pytest.mark.parametrize("codings", [None, "", "identity", "identity, identity", " , "])
def test_no_coding_leaves_the_bytes_alone(codings: str | None) -> None:
    assert remove_codings(PAGE, codings, CAP) == PAGE


def test_the_old_name_of_gzip_is_known() -> None:
    assert remove_codings(gzip.compress(PAGE), "x-gzip", CAP) == PAGE


def test_two_codings_are_undone_last_applied_first() -> None:
    assert remove_codings(gzip.compress(gzip.compress(PAGE)), "gzip, gzip", CAP) == PAGE
    assert remove_codings(brotli.compress(gzip.compress(PAGE)), "gzip, br", CAP) == PAGE
    assert remove_codings(gzip.compress(PAGE), "identity, gzip", CAP) == PAGE


def test_three_codings_on_top_of_each_other_are_refused() -> None:
    body = gzip.compress(gzip.compress(gzip.compress(PAGE)))
    with pytest.raises(Undecodable, match="3 content codings"):
        remove_codings(body, "gzip, gzip, gzip", CAP)


def test_the_members_of_one_body_are_joined() -> None:
    members = gzip.compress(PAGE) + gzip.compress(b"") + gzip.compress(b"more")
    assert remove_codings(members, "gzip", CAP) == PAGE + b"more"
    frames = zstd.compress(PAGE) + SKIPPABLE_FRAME + zstd.compress(b"more")
    assert remove_codings(frames, "zstd", CAP) == PAGE + b"more"


@pytest.mark.parametrize("tail", [b"trailing garbage", b"\0" * 512, b"\n"])
def test_what_follows_a_whole_gzip_member_is_ignored(tail: bytes) -> None:
    assert remove_codings(gzip.compress(PAGE) + tail, "gzip", CAP) == PAGE


@every_coding
def test_a_body_cut_anywhere_is_never_taken_for_whole(name: str, encode: Encode) -> None:
    whole = encode(PAGE[:400])
    for end in range(1, len(whole)):
        with pytest.raises(Undecodable):
            remove_codings(whole[:end], name, CAP)


@pytest.mark.parametrize("name", ["gzip", "br", "zstd"])
def test_a_body_that_is_something_else_is_refused_by_name(name: str) -> None:
    with pytest.raises(Undecodable, match=f"not {name}"):
        remove_codings(PAGE, name, CAP)


def test_a_damaged_body_is_refused() -> None:
    damaged = bytearray(gzip.compress(PAGE))
    damaged[-6] ^= 0xFF  # in the checksum
    with pytest.raises(Undecodable, match="not gzip"):
        remove_codings(bytes(damaged), "gzip", CAP)


def test_a_damaged_second_member_is_not_passed_over_as_garbage() -> None:
    second = bytearray(gzip.compress(PAGE))
    second[-6] ^= 0xFF
    with pytest.raises(Undecodable):
        remove_codings(gzip.compress(PAGE) + bytes(second), "gzip", CAP)


def test_an_unknown_coding_is_named() -> None:
    with pytest.raises(Undecodable, match="unknown content coding 'rot13'"):
        remove_codings(PAGE, "rot13", CAP)


@every_coding
def test_the_cap_is_exact(name: str, encode: Encode) -> None:
    assert len(remove_codings(encode(bytes(CAP)), name, CAP)) == CAP
    with pytest.raises(TooLarge, match=f"more than {CAP} bytes"):
        remove_codings(encode(bytes(CAP + 1)), name, CAP)


def test_the_cap_counts_all_members_and_every_layer() -> None:
    half = bytes(CAP // 2)
    for encode, name in ((gzip.compress, "gzip"), (zstd.compress, "zstd")):
        assert len(remove_codings(encode(half) + encode(half), name, CAP)) == CAP
        with pytest.raises(TooLarge):
            remove_codings(encode(half) + encode(half) + encode(b"x"), name, CAP)
    inner_too_large = gzip.compress(gzip.compress(bytes(range(256)) * 64))
    with pytest.raises(TooLarge):
        remove_codings(inner_too_large, "gzip, gzip", 64)


@pytest.mark.parametrize("kind", ["gzip", "br", "zstd", "double-gzip"])
def test_a_bomb_costs_a_few_times_the_cap_and_no_more(kind: str) -> None:
    cap = 8 * MEGABYTE
    body = make_bomb(kind, 200)
    name = "gzip, gzip" if kind == "double-gzip" else kind
    with watch_memory() as growth, pytest.raises(TooLarge):
        remove_codings(body, name, cap)
    assert growth.peak < 5 * cap


def test_a_zstd_window_larger_than_the_standard_allows_is_refused() -> None:
    parameter = zstd.CompressionParameter
    compressor = zstd.ZstdCompressor(options={parameter.window_log: 27})
    # Without FLUSH_FRAME at the first write the size is unknown, and the window is announced.
    body = compressor.compress(bytes(20 * MEGABYTE)) + compressor.flush()
    with pytest.raises(Undecodable, match="not zstd"):
        remove_codings(body, "zstd", 64 * MEGABYTE)


def test_very_many_empty_gzip_members_take_no_more_than_a_moment() -> None:
    """The wire cap admits 1.6 million of them, and this runs on the event loop."""
    _assert_decoded_at_once("gzip", gzip.compress(b"") * 90_000 + gzip.compress(PAGE))


def test_very_many_skippable_zstd_frames_take_no_more_than_a_moment() -> None:
    _assert_decoded_at_once("zstd", SKIPPABLE_FRAME * 60_000 + zstd.compress(PAGE))


def _assert_decoded_at_once(name: str, body: bytes) -> None:
    started = time.process_time()
    with suppress(Undecodable):  # a cap on members is as good
        assert remove_codings(body, name, CAP) == PAGE
    assert time.process_time() - started < 1.0


@given(st.binary(max_size=300), st.sampled_from(sorted(ENCODERS)), st.integers(0, 300))
@settings(max_examples=300, deadline=None)
def test_any_bytes_end_as_a_page_within_the_cap_or_as_a_named_refusal(
    body: bytes, kind: str, flipped: int
) -> None:
    name, encode = ENCODERS[kind]
    damaged = bytearray(encode(body))
    damaged[flipped % len(damaged)] ^= 1 + flipped % 255
    for candidate in (body, encode(body), bytes(damaged)):
        try:
            assert len(remove_codings(candidate, name, 256)) <= 256 or candidate == b""
        except (TooLarge, Undecodable) as refusal:
            assert str(refusal)
