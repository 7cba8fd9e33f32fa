"""Bytes to text: BOM, then the header, then meta, then UTF-8, then what the old web was written in."""

from __future__ import annotations

import codecs
import re

_BOMS = [
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
]
_HEADER_CHARSET = re.compile(r"charset\s*=\s*[\"']?([^\s\"';,]+)", re.IGNORECASE)
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_META_WINDOW = 1024  # bytes, as in the HTML standard's prescan
# The labels of the web mean the superset that browsers use (WHATWG Encoding).
_WEB_ALIASES = {
    "iso-8859-1": "windows-1252",
    "latin1": "windows-1252",
    "latin-1": "windows-1252",
    "ascii": "windows-1252",
    "us-ascii": "windows-1252",
    "iso-8859-9": "windows-1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-sjis": "cp932",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949",
    "x-gbk": "gb18030",
    "utf8": "utf-8",
}
FALLBACK = "windows-1252"


def guess_encoding(body: bytes, content_type: str) -> str:
    """The name of the encoding to read `body` with; always one that Python knows."""
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return encoding
    if (match := _HEADER_CHARSET.search(content_type)) and (declared := _known(match.group(1))):
        return declared
    if found := _META_CHARSET.search(body[:_META_WINDOW]):
        declared = _known(found.group(1).decode("ascii", "replace"))
        # The tag was found by reading ASCII, so the page cannot be UTF-16.
        if declared and not declared.startswith("utf-16"):
            return declared
    return "utf-8" if _is_utf8(body) else FALLBACK


def decode(body: bytes, encoding: str) -> str:
    """Text, whatever the bytes are: what does not fit becomes U+FFFD."""
    return body.decode(encoding, "replace").removeprefix("\ufeff")


def _known(label: str) -> str | None:
    label = label.strip().lower()
    label = _WEB_ALIASES.get(label, label)
    try:
        codec = codecs.lookup(label)
    except (LookupError, ValueError):
        return None
    return codec.name if codec._is_text_encoding else None  # not base64, rot13 and the like


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as problem:
        # A body cut at its cap may end inside a character.
        return problem.end == len(body) and problem.start > len(body) - 4
    return True
