"""The text of a sitemap or a feed, piece by piece: gzip removed, decoded, and never more than a cap."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple

from crawl4r.formats.inflate import GZIP_MAGIC, inflate

MOST_BYTES = 50 * 1024 * 1024  # of a file, unpacked: the most that sitemaps.org lets one have
_PIECE = 256 * 1024  # bytes that are decoded at a time

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?\sencoding\s*=\s*[\"']\s*([\w.:-]{1,40})")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_DECLARATION_WINDOW = 1024  # bytes
# Of Python's codecs those that the web uses: some others are slow on purpose or no text at all.
_CODECS = frozenset(
    ["utf-8", "cp1252", "koi8-r", "koi8-u", "gb2312", "gbk", "gb18030", "big5", "shift_jis"]
    + ["cp932", "euc_jp", "euc_kr", "cp949", "iso2022_jp"]
    + [f"cp125{number}" for number in range(9)]
    + [f"iso8859-{number}" for number in range(2, 17)]
)
_READ_AS = {"ascii": "cp1252", "iso8859-1": "cp1252"}  # as browsers do


class Unpacked(NamedTuple):
    body: bytes
    problem: str = ""  # why there is less than there was


def unpack(body: bytes, cap: int = MOST_BYTES) -> Unpacked:
    """The body without gzip, which shows by its first bytes whatever the file is called.

    A file that breaks off or is larger than `cap` is cut there. Gzip inside gzip is refused: only
    attacks on memory have it.
    """
    if not body.startswith(GZIP_MAGIC):
        if len(body) > cap:
            return Unpacked(body[:cap], f"only the first {_size(cap)} were read")
        return Unpacked(body)
    inflated, problem = inflate(body, cap)
    if inflated.startswith(GZIP_MAGIC):
        return Unpacked(b"", "gzip inside gzip is refused")
    if len(inflated) > cap:
        return Unpacked(inflated[:cap], f"unpacks to more than {_size(cap)}: the rest was left out")
    return Unpacked(inflated, problem)


def text_pieces(body: bytes, content_type: str = "") -> Iterator[str]:
    """The text, in pieces; what does not fit the encoding becomes U+FFFD."""
    codec, skipped = _codec_of(body, content_type)
    decoder = codecs.getincrementaldecoder(codec)("replace")
    for start in range(skipped, len(body), _PIECE):
        end = start + _PIECE
        yield decoder.decode(body[start:end], end >= len(body))


def _codec_of(body: bytes, content_type: str) -> tuple[str, int]:
    """Python's name of the encoding, and the length of the byte order mark."""
    for bom, codec in _BOMS:
        if body.startswith(bom):
            return codec, len(bom)
    if body[:2] in {b"<\0", b"\0<"}:  # UTF-16 without a mark: XML 1.0, appendix F
        return ("utf-16-le" if body[0] else "utf-16-be"), 0
    if found := _DECLARED.search(body[:_DECLARATION_WINDOW]):
        return _known(found.group(1).decode("ascii", "replace")), 0
    if match := _CHARSET.search(content_type):
        return _known(match.group(1)), 0
    return "utf-8", 0


def _known(label: str) -> str:
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return "utf-8"
    name = _READ_AS.get(name, name)
    # A declaration that could be read as ASCII cannot be of a file in UTF-16.
    return name if name in _CODECS else "utf-8"


def _size(cap: int) -> str:
    return f"{cap / (1024 * 1024):g} MiB"
