"""Bytes to text: BOM, then the header, then meta, then UTF-8, then what the bytes look like."""

from __future__ import annotations

import codecs
import re

from chardetng_py import EncodingDetector

_BOMS = [
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
]
_HEADER_CHARSET = re.compile(r"charset\s*=\s*[\"']?([^\s\"';,]+)", re.IGNORECASE)
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_DETECTED = 64 * 1024  # bytes that a guess is made from
_META_WINDOW = 1024  # bytes, as in the HTML standard's prescan
# What the labels of the web mean to browsers (WHATWG Encoding); Python's own names differ.
_CODECS = {
    "utf-8": "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
    "cp866": "866 cp866 csibm866 ibm866",
    "iso8859-2": "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 l2 latin2",
    "iso8859-3": "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 l3 latin3",
    "iso8859-4": "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 l4 latin4",
    "iso8859-5": "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5",
    "iso8859-6": "arabic asmo-708 csisolatinarabic ecma-114 iso-8859-6 iso8859-6 iso88596 iso_8859-6",
    "iso8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso8859-7 iso88597"
    " iso_8859-7 sun_eu_greek",
    "iso8859-8": "csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-8859-8-i iso-ir-138 iso8859-8"
    " iso88598 iso_8859-8 logical visual csiso88598e csiso88598i",
    "iso8859-10": "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso8859-15": "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8-u": "koi8-ru koi8-u",
    "mac-roman": "csmacintosh mac macintosh x-mac-roman",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "cp874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "cp1250": "cp1250 windows-1250 x-cp1250",
    "cp1251": "cp1251 windows-1251 x-cp1251",
    "cp1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1"
    " iso88591 iso_8859-1 l1 latin1 us-ascii windows-1252 x-cp1252",
    "cp1253": "cp1253 windows-1253 x-cp1253",
    "cp1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 l5 latin5"
    " windows-1254 x-cp1254",
    "cp1255": "cp1255 windows-1255 x-cp1255",
    "cp1256": "cp1256 windows-1256 x-cp1256",
    "cp1257": "cp1257 windows-1257 x-cp1257",
    "cp1258": "cp1258 windows-1258 x-cp1258",
    "gb18030": "chinese csgb2312 csiso58gb231280 gb18030 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk",
    "big5": "big5 cn-big5 csbig5 x-x-big5",
    "big5hkscs": "big5-hkscs",
    "euc_jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "iso2022_jp": "csiso2022jp iso-2022-jp",
    "cp932": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "cp949": "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601"
    " ksc_5601 windows-949",
    "utf-16-be": "unicodefffe utf-16be",
    "utf-16-le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
}
_CODEC_OF = {label: codec for codec, labels in _CODECS.items() for label in labels.split()}
FALLBACK = "windows-1252"


def load_codecs() -> None:
    """Load what decodes every known encoding, for a process that cannot open a file later."""
    for codec in _CODECS:
        codecs.lookup(codec)


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
    return "utf-8" if _is_utf8(body) else _detected(body)


def decode(body: bytes, encoding: str) -> str:
    """Text, whatever the bytes are: what does not fit becomes U+FFFD."""
    return body.decode(encoding, "replace").removeprefix("\ufeff")


def as_utf8(body: bytes, encoding: str) -> bytes:
    """What the parser reads. A byte order mark would stand before the head, and end it."""
    if encoding == "utf-8":
        return body.removeprefix(codecs.BOM_UTF8)
    return decode(body, encoding).encode("utf-8", "replace")


def _detected(body: bytes) -> str:
    detector = EncodingDetector()
    detector.feed(body[:_DETECTED], last=len(body) <= _DETECTED)
    guess = _known(detector.guess(tld=None, allow_utf8=False))
    return guess if guess and guess != "cp1252" else FALLBACK


def _known(label: str) -> str | None:
    return _CODEC_OF.get(label.strip().lower())


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as problem:
        # A body cut at its cap may end inside a character.
        return problem.end == len(body) and problem.start > len(body) - 4
    return True
