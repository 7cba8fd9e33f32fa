"""Pages whose declared type or charset is missing, unusual or a lie."""

import struct
import zlib
from dataclasses import dataclass

from tests.site.exchange import HTML, Reply, Request, Routes, html_page

FRENCH = "Le café où l'été s'achève, à la fenêtre du château."
JAPANESE = "港の灯台は冬の夜も船を導いている。"


@dataclass(frozen=True, slots=True)
class Document:
    """A body and the Content-Type it is served with; `text` is what it says once well decoded."""

    content_type: str | None
    body: bytes
    text: str = ""


def _png_chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)


def make_png() -> bytes:
    """One grey pixel."""
    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"\x00\x80")
    chunks = [(b"IHDR", header), (b"IDAT", pixels), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(*chunk) for chunk in chunks)


def _encoded_page(text: str, charset: str, head: str = "") -> bytes:
    return html_page("Charset", f"<p>{text}</p>", head).decode().encode(charset)


LYING: dict[str, Document] = {
    "html-as-png": Document("image/png", html_page("Not an image", "<p>Text.</p>"), "Text."),
    "binary-as-html": Document(HTML, make_png() + bytes(range(256)) * 40),
    "html-as-text": Document("text/plain", html_page("Not plain", "<p>Text.</p>"), "Text."),
    "no-type": Document(None, html_page("No type", "<p>Text.</p>"), "Text."),
    "nonsense-type": Document(";;=/", html_page("Odd type", "<p>Text.</p>"), "Text."),
}

META_SHIFT_JIS = '<meta charset="shift_jis">'
CHARSETS: dict[str, Document] = {
    "latin-1": Document("text/html; charset=ISO-8859-1", _encoded_page(FRENCH, "latin-1"), FRENCH),
    "shift_jis": Document(
        "text/html; charset=Shift_JIS", _encoded_page(JAPANESE, "shift_jis"), JAPANESE
    ),
    "shift_jis-by-meta": Document(
        "text/html", _encoded_page(JAPANESE, "shift_jis", META_SHIFT_JIS), JAPANESE
    ),
    # Python's utf-16 writes the byte order mark.
    "utf-16": Document("text/html", _encoded_page(JAPANESE, "utf-16"), JAPANESE),
    "utf-8-bom": Document("text/html", _encoded_page(JAPANESE, "utf-8-sig"), JAPANESE),
    "undeclared": Document("text/html", _encoded_page(FRENCH * 20, "cp1252"), FRENCH),
    "latin-1-as-utf-8": Document(HTML, _encoded_page(FRENCH, "latin-1"), FRENCH),
    "unknown": Document("text/html; charset=klingon", _encoded_page(FRENCH, "utf-8"), FRENCH),
}


async def send_lying_type(request: Request, reply: Reply) -> None:
    await _send_document(reply, LYING[request.tail])


async def send_charset(request: Request, reply: Reply) -> None:
    await _send_document(reply, CHARSETS[request.tail])


async def _send_document(reply: Reply, document: Document) -> None:
    await reply.send(document.body, content_type=document.content_type)


def routes() -> Routes:
    return {"/lying": send_lying_type, "/charset": send_charset}
