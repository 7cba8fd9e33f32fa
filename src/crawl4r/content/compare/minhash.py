"""Make the signature of a text for finding near-duplicates; `near_duplicates` describes it."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from crawl4r.content.compare.near_duplicates import BINS

_Hashes = npt.NDArray[np.uint64]
_Bytes = npt.NDArray[np.uint8]
_Places = npt.NDArray[np.intp]

_SHINGLE = 4  # words
_MIN_SHINGLES = 16  # in a shorter text one changed word makes it a different one
_MAX_BYTES = 1 << 18  # of text that count: some 40,000 words
_RADIX = 0x9E3779B97F4A7C15  # odd, so that multiplying by it loses nothing modulo 2**64
_MIXER = 0xFF51AFD7ED558CCD  # of MurmurHash3
_ATTEMPTS = 64  # bins from which an empty bin may copy
_WORD_BYTES = 32  # that count of a word, besides its length
_MASKS = np.array([(1 << 8 * kept) - 1 for kept in range(9)], dtype=np.uint64)
_BLANK = 0x20
# ASCII letters become lower case, ASCII characters other than letters and digits become blanks.
# Characters beyond ASCII count as letters and keep their case.
_FOLDED = bytes(
    byte if byte >= 128 or chr(byte).isalnum() else _BLANK for byte in bytes(range(256)).lower()
)


def signature(text: str) -> bytes:
    """256 bytes for `similarity` and `bands`; empty for a text below some twenty words."""
    hashes = _shingle_hashes(text)
    if len(hashes) < _MIN_SHINGLES:
        return b""
    bins = hashes >> np.uint64(56)
    smallest = np.full(BINS, np.iinfo(np.uint64).max, dtype=np.uint64)
    np.minimum.at(smallest, bins, hashes)
    is_empty = np.ones(BINS, dtype=bool)
    is_empty[bins] = False
    values = (smallest >> np.uint64(24)).astype(np.uint8)
    return (_densify(values, is_empty) if is_empty.any() else values).tobytes()


def _shingle_hashes(text: str) -> _Hashes:
    words = _word_hashes(text)
    count = len(words) - _SHINGLE + 1
    if count < 1:
        return words[:0]
    hashes = words[:count].copy()
    for offset in range(1, _SHINGLE):
        hashes *= np.uint64(_RADIX)
        hashes += words[offset : offset + count]
    hashes ^= hashes >> np.uint64(32)
    hashes *= np.uint64(_MIXER)
    return hashes


def _word_hashes(text: str) -> _Hashes:
    """A hash of each word in order, from its length and its first 32 bytes, eight at a time."""
    encoded = text[:_MAX_BYTES].encode("utf-8", "replace")[:_MAX_BYTES].translate(_FOLDED)
    starts, ends = _word_edges(np.frombuffer(encoded, dtype=np.uint8), text.isascii())
    lengths = ends - starts
    # The eight bytes from each place on, as one number.
    eights: _Hashes = np.ndarray(
        (len(encoded) + _WORD_BYTES,), "<u8", buffer=encoded + bytes(_WORD_BYTES + 7), strides=(1,)
    )
    hashes = lengths.astype(np.uint64)
    for offset in range(0, _WORD_BYTES, 8):
        longer = np.flatnonzero(lengths > offset)
        own_bytes = _MASKS[np.minimum(lengths[longer] - offset, 8)]
        eight = eights[starts[longer] + offset] & own_bytes
        hashes[longer] = hashes[longer] * np.uint64(_RADIX) + eight
    return hashes


def _word_edges(data: _Bytes, is_ascii: bool) -> tuple[_Places, _Places]:
    """The starts and ends of words. Each Han character or kana is a word."""
    is_word = np.zeros(len(data) + 2, dtype=bool)
    is_word[1:-1] = data != _BLANK
    if is_ascii:
        edges = np.flatnonzero(is_word[1:] != is_word[:-1])
        return edges[::2], edges[1::2]
    leads = np.zeros(len(data) + 1, dtype=bool)
    leads[:-1] = (data >= 0xE3) & (data <= 0xE9)  # first bytes of U+3000 to U+9FFF
    starts = is_word[1:] & (leads | ~is_word[:-1])
    ends = is_word[:-1] & (leads | ~is_word[1:])
    return np.flatnonzero(starts), np.flatnonzero(ends)


def _densify(values: _Bytes, is_empty: npt.NDArray[np.bool_]) -> _Bytes:
    """Let each empty bin copy the first filled bin on its fixed list."""
    asked = _donors()[:, is_empty]
    is_filled = ~is_empty[asked]
    donors = asked[is_filled.argmax(axis=0), np.arange(asked.shape[1])]
    unlucky = ~is_filled.any(axis=0)
    donors[unlucky] = np.flatnonzero(~is_empty)[0]
    dense = values.copy()
    dense[is_empty] = values[donors]
    return dense


@cache
def _donors() -> npt.NDArray[np.uint8]:
    """The list of each bin: pseudo-random, and equal on every machine."""
    stream = b"".join(
        blake2b(attempt.to_bytes(2, "big") + bytes([part])).digest()
        for attempt in range(_ATTEMPTS)
        for part in range(BINS // 64)
    )
    return np.frombuffer(stream, dtype=np.uint8).reshape(_ATTEMPTS, BINS)
