"""Bytes to text: the declared and the real encoding of a page."""

import codecs
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl4r.crawling.reader import Reader
from crawl4r.formats.charset import decode, guess_encoding
from crawl4r.model import PageBody
from crawl4r.urls.policy import LinkRules
from tests.properties import steady

HTML = "text/html"


def meta(charset: str) -> bytes:
    return f'<meta charset="{charset}">'.encode()


GUESSES = {
    "nothing said, ASCII": (b"hello", HTML, "utf-8"),
    "nothing said, UTF-8": ("é".encode(), HTML, "utf-8"),
    "nothing said, no UTF-8": (b"caf\xe9 au lait", HTML, "windows-1252"),
    "nothing at all": (b"", "", "utf-8"),
    "cut inside a character": ("é€".encode()[:-1], HTML, "utf-8"),
    "the header": (b"\xe9", "text/html; charset=ISO-8859-2", "iso8859-2"),
    "the header in quotes": (b"\xe9", 'text/html; Charset = "koi8-r"', "koi8-r"),
    "the header before meta": (meta("koi8-r"), "text/html;charset=utf-8", "utf-8"),
    "an unknown header, then meta": (meta("koi8-r"), "text/html;charset=bogus", "koi8-r"),
    "meta": (meta("Shift_JIS"), HTML, "cp932"),
    "meta of the old form": (
        b'<meta http-equiv="Content-Type" content="text/html; charset=big5">',
        HTML,
        "big5",
    ),
    "meta too late": (b" " * 1024 + meta("koi8-r"), HTML, "utf-8"),
    "meta that cannot be true": (meta("utf-16"), HTML, "utf-8"),
    "Latin-1 means windows-1252": (b"\x93", "text/html; charset=latin1", "cp1252"),
    "GB2312 means gb18030": (b"", "text/html; charset=gb2312", "gb18030"),
    "a mark of UTF-8 before all": (codecs.BOM_UTF8 + meta("koi8-r"), "x;charset=big5", "utf-8"),
    "a mark of UTF-16 LE": (codecs.BOM_UTF16_LE + b"a\x00", "x;charset=utf-8", "utf-16-le"),
    "a mark of UTF-16 BE": (codecs.BOM_UTF16_BE + b"\x00a", HTML, "utf-16-be"),
}


@pytest.mark.parametrize(("body", "header", "expected"), GUESSES.values(), ids=GUESSES)
def test_the_encoding_is_guessed_as_browsers_do(body: bytes, header: str, expected: str) -> None:
    assert codecs.lookup(guess_encoding(body, header)).name == codecs.lookup(expected).name


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        *(("utf-8", "añ€"), ("windows-1252", "añ€"), ("iso-8859-2", "łódź"), ("koi8-r", "привет")),
        *(("shift_jis", "日本"), ("euc-jp", "日本"), ("gb18030", "中文"), ("big5", "中文")),
        *(("euc-kr", "한국"), ("windows-1256", "مرحبا"), ("utf-16", "añ€")),
    ],
)
def test_a_link_is_read_in_any_encoding_that_the_header_names(encoding: str, text: str) -> None:
    body = f'<a href="/{text}">{text}</a>'.encode(encoding)
    reading = Reader(LinkRules()).read(
        PageBody(body, "http://e.org/", f"{HTML}; charset={encoding}"), 0
    )
    assert [unquote(found.url) for found in reading.found] == [f"http://e.org/{text}"]


@pytest.mark.parametrize(
    "label",
    [
        *("idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "utf-7", "mbcs"),
        *("base64", "rot13", "hex", "zlib", "\x00", "x" * 500, "é", "..", "-", "aliases"),
    ],
)
def test_a_label_that_is_no_encoding_of_the_web_is_passed_over(label: str) -> None:
    body = b'caf\xe9 \\ud800 +AGE- <a href="/x">'
    encoding = guess_encoding(body, f"text/html; charset={label}")
    assert encoding == "windows-1252"
    assert decode(body, encoding).startswith("café")


# Labels of the WHATWG Encoding standard, by the codec of Python that reads them.
LABELS = {
    "cp1252": [
        "ascii",
        "us-ascii",
        "iso-8859-1",
        "iso8859-1",
        "iso_8859-1",
        "latin1",
        "l1",
        "x-cp1252",
    ],
    "iso8859-2": [
        "iso-8859-2",
        "iso8859-2",
        "iso88592",
        "iso_8859-2",
        "latin2",
        "l2",
        "csisolatin2",
    ],
    "iso8859-8": ["iso-8859-8", "iso-8859-8-e", "hebrew", "visual", "iso-8859-8-i", "logical"],
    "cp1251": ["windows-1251", "cp1251", "x-cp1251"],
    "cp1254": ["iso-8859-9", "iso_8859-9", "latin5", "l5", "windows-1254", "x-cp1254"],
    "cp874": ["windows-874", "tis-620", "iso-8859-11", "iso8859-11", "dos-874"],
    "koi8-r": ["koi8-r", "koi8_r", "koi8", "koi", "cskoi8r"],
    "koi8-u": ["koi8-u", "koi8-ru"],
    "cp866": ["ibm866", "cp866", "866"],
    "cp932": ["shift_jis", "shift-jis", "sjis", "x-sjis", "ms_kanji", "windows-31j", "csshiftjis"],
    "euc_jp": ["euc-jp", "x-euc-jp"],
    "cp949": [
        "euc-kr",
        "korean",
        "ksc5601",
        "ksc_5601",
        "ks_c_5601-1987",
        "windows-949",
        "cseuckr",
    ],
    "gb18030": [
        "gb18030",
        "gb2312",
        "gb_2312",
        "gb_2312-80",
        "gbk",
        "x-gbk",
        "chinese",
        "csgb2312",
    ],
    "big5hkscs": ["big5-hkscs"],
    "big5": ["cn-big5", "x-x-big5", "csbig5"],
    "utf-8": ["utf-8", "utf8", "UTF8", "unicode-1-1-utf-8", "x-unicode20utf8"],
}


@pytest.mark.parametrize(
    ("label", "codec"), [(label, codec) for codec, labels in LABELS.items() for label in labels]
)
def test_every_label_of_the_web_is_known(label: str, codec: str) -> None:
    """The body is no UTF-8, so that falling back could not look right by chance."""
    guessed = codecs.lookup(guess_encoding(b"\x80\xe9 x", f"text/html; charset={label}")).name
    assert guessed == codec


def test_the_byte_order_mark_is_no_text() -> None:
    assert decode(codecs.BOM_UTF8 + b"a", "utf-8") == "a"
    assert decode(codecs.BOM_UTF16_LE + b"a\x00", "utf-16-le") == "a"


def test_a_page_with_a_byte_order_mark_still_has_a_head() -> None:
    body = codecs.BOM_UTF8 + b'<base href="/b/"><a href="x">'
    reading = Reader(LinkRules()).read(PageBody(body, "http://e.org/", HTML), 0)
    assert [found.url for found in reading.found] == ["http://e.org/b/x"]


def test_what_does_not_fit_becomes_a_mark_and_not_an_error() -> None:
    assert decode(b"a\xffb", "utf-8") == "a\ufffdb"


@steady
@given(st.binary(max_size=200), st.text(max_size=20))
def test_any_bytes_become_text(body: bytes, label: str) -> None:
    decode(body, guess_encoding(body, f"text/html; charset={label}")).encode()
