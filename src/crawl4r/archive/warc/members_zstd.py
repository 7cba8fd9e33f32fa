"""zstd frames of a WARC file, optionally after a dictionary (the warc.zst specification)."""

from __future__ import annotations

import re
import struct
from typing import IO

from crawl4r.archive.warc.members import PIECE, ZSTD_MAGICS, Damaged, GoOn, Members
from crawl4r.formats import zstd

_WINDOW_LOG = 27  # 128 MiB, what zstd's strongest levels use
_MOST_DICTIONARY = 8 * 1024**2  # bytes, packed or unpacked; the size that readers must support
_SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")


class ZstdFrames(Members):
    """See `unpacking.Unpacker`."""

    magic = re.compile(rb"(?=\x28\xb5\x2f\xfd)")

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file)
        self._unpacker: zstd.ZstdDecompressor | None = None
        self._dictionary: zstd.ZstdDict | None = None

    def _is_open(self) -> bool:
        return self._unpacker is not None

    def _open(self) -> None:
        options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}
        self._unpacker = zstd.ZstdDecompressor(self._dictionary, options)

    def _close(self) -> None:
        self._unpacker = None

    def _open_member(self) -> bool:
        if self.consumed() == 0 and self._has(8) and self._input.startswith(ZSTD_MAGICS[1]):
            self._read_dictionary()
        self._skip_frames()
        return super()._open_member()

    def _skip_frames(self) -> None:
        """Skip skippable frames, all buffered ones at once, because each may have only 8 bytes."""
        while self._has(8) and _SKIPPABLE.match(self._input):
            at = 0
            while len(self._input) - at >= 8 and _SKIPPABLE.match(self._input, at):
                at += 8 + _length_in(self._input, at)
            if at <= len(self._input):
                self._input = self._input[at:]
            else:
                self._seek(self.consumed() + at)

    def _unpack(self) -> bytes:
        assert self._unpacker is not None
        fed = self._input if self._unpacker.needs_input else b""
        try:
            piece = self._unpacker.decompress(fed, PIECE)
        except zstd.ZstdError as problem:
            raise Damaged(self._member, f"damaged zstd: {problem}") from None
        if fed:
            self._input = b""
        if self._unpacker.eof:
            self._input = self._unpacker.unused_data
            self._close()
        return piece

    def _has(self, count: int) -> bool:
        while len(self._input) < count and self._more():
            pass
        return len(self._input) >= count

    def _read_dictionary(self) -> None:
        length = _length_in(self._input)
        if length > _MOST_DICTIONARY or not self._has(8 + length):
            raise Damaged(0, "its zstd dictionary is cut off or too large", GoOn.NOWHERE)
        packed, self._input = self._input[8 : 8 + length], self._input[8 + length :]
        try:
            self._dictionary = zstd.ZstdDict(_unpack_dictionary(packed))
        except (ValueError, zstd.ZstdError) as problem:
            reason = f"its zstd dictionary is damaged: {problem}"
            raise Damaged(0, reason, GoOn.NOWHERE) from None


def _length_in(head: bytes, at: int = 0) -> int:
    (length,) = struct.unpack_from("<I", head, at + 4)
    return int(length)


def _unpack_dictionary(data: bytes) -> bytes:
    """Unpack the dictionary, which may be packed itself (without a dictionary)."""
    if not data.startswith(ZSTD_MAGICS[0]):
        return data
    unpacker = zstd.ZstdDecompressor()
    found = unpacker.decompress(data, _MOST_DICTIONARY)
    if not unpacker.eof:
        raise ValueError("cut off or too large")
    return found
