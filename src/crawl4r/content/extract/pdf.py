"""Extract the text of a PDF file. PDFium is native code: run it in a sandbox process."""

from __future__ import annotations

from typing import NamedTuple

import pypdfium2

_MOST_PAGES = 2_000
_MOST_CHARACTERS = 10_000_000


class PdfText(NamedTuple):
    title: str
    author: str
    markdown: str  # the paragraphs of each page
    note: str = ""


def read_pdf(body: bytes) -> PdfText | None:
    """Read a PDF; None when it is broken or needs a password."""
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError:
        return None
    try:
        parts, size = [], 0
        for number in range(min(len(document), _MOST_PAGES)):
            page = document[number]
            textpage = page.get_textpage()
            text = textpage.get_text_bounded().replace("\r\n", "\n").strip()
            textpage.close()
            page.close()
            parts.append(text)
            size += len(text)
            if size > _MOST_CHARACTERS:
                break
        note = "" if len(parts) == len(document) else f"only the first {len(parts)} pages were read"
        markdown = "\n\n".join(part for part in parts if part)
        return PdfText(_said(document, "Title"), _said(document, "Author"), markdown, note)
    except pypdfium2.PdfiumError:
        return None
    finally:
        document.close()


def _said(document: pypdfium2.PdfDocument, name: str) -> str:
    """An entry of the metadata; empty when it is missing or no valid UTF-16."""
    try:
        return str(document.get_metadata_value(name))
    except UnicodeDecodeError:
        return ""
