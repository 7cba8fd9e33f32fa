"""A page from Python: what the server sent, and what the page says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from crawl4r.content.extract.select import Element, Selected
from crawl4r.errors import StorageDamaged, UsageError
from crawl4r.formats.charset import decode, guess_encoding
from crawl4r.model import (
    Capture,
    Document,
    Extraction,
    PageImage,
    PageLink,
    PageVerdict,
    Verdict,
)
from crawl4r.workspace.page_reader import PageReader


class Page:
    """A capture, its bytes, and what a reading process makes of them.

    A crawl, `scrape` and `extract` read a page before they hand it over. A page that was looked up in
    the archive has the title, the markdown and the metadata of its document; `text`, `links`, `images`,
    `select` and `records` read its bytes again, in a process that owns nothing.
    """

    def __init__(
        self,
        capture: Capture,
        read_bytes: Callable[[str], bytes | None],
        *,
        extraction: Extraction | None = None,
        document: Document | None = None,
        reader: PageReader | None = None,
    ) -> None:
        """`read_bytes` finds bytes by their hash. `document` is what was made of the capture before,
        `reader` makes all of it anew."""
        self.capture = capture
        self._read_bytes = read_bytes
        self._extraction = extraction
        self._document = document
        self._reader = reader

    def __repr__(self) -> str:
        return f"Page({self.url!r}, status={self.status}, verdict={self.capture.verdict.value!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Page) and self.capture == other.capture

    def __hash__(self) -> int:
        return hash((self.url, self.capture.id))

    @property
    def url(self) -> str:
        return self.capture.url

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.capture.status

    @property
    def headers(self) -> Sequence[tuple[str, str]]:
        """As the server sent them, names in lower case."""
        return self.capture.headers

    @property
    def body(self) -> bytes:
        """The bytes as the server sent them, content codings removed; checked against their hash."""
        if self.capture.sha256 is None:
            return b""
        body = self._read_bytes(self.capture.sha256)
        if body is None:
            raise StorageDamaged(
                f"the bytes of {self.url} ({self.capture.sha256}) are not in the store"
            )
        return body

    @property
    def html(self) -> str:
        """The body as text, in the encoding that it declares or seems to have."""
        body = self.body
        return decode(body, guess_encoding(body, self._declared_type))

    @property
    def _declared_type(self) -> str:
        return next((v for k, v in self.capture.headers if k == "content-type"), "")

    @property
    def extraction(self) -> Extraction:
        """All that reading the body gave."""
        if self._extraction is None:
            if self._reader is None or self.capture.sha256 is None:
                self._extraction = Extraction(
                    PageVerdict(self.capture.verdict, self.capture.reason)
                )
            else:
                self._extraction = self._reader.read(self.capture, self.body)
        return self._extraction

    @property
    def document(self) -> Document | None:
        """What the page says, with what it says of itself; None for what is no text."""
        return self._document or self.extraction.document

    @property
    def verdict(self) -> str:
        """Whether it is a real page: "ok", or what it is instead, e.g. "soft-404"."""
        if self._document:
            return Verdict.OK.value
        return self.extraction.verdict.verdict.value

    @property
    def reason(self) -> str:
        """Why the verdict is what it is."""
        return "" if self._document else self.extraction.verdict.reason

    @property
    def title(self) -> str:
        """Empty where the page has none."""
        return self.document.title if self.document else ""

    @property
    def markdown(self) -> str:
        """The main content, without navigation and the like."""
        return self.document.markdown if self.document else ""

    @property
    def text(self) -> str:
        """The markdown without its marks."""
        return self.extraction.text

    @property
    def links(self) -> Sequence[PageLink]:
        """Every link, with its anchor text and the heading that it stands under."""
        return self.extraction.links

    @property
    def images(self) -> Sequence[PageImage]:
        """Every image file once, with its alternative text."""
        return self.extraction.images

    @property
    def metadata(self) -> dict[str, Any]:
        """What the page says of itself: author, published, description, language and more."""
        if self.document is None:
            return {}
        said = self.document._asdict()
        for name in ("url", "title", "markdown"):
            del said[name]
        return said | {"keywords": list(self.document.keywords)}

    def select(self, css: str) -> list[Element]:
        """The elements that match a CSS selector: tag, text and attributes of each."""
        return self._select(css, {}).elements

    def records(self, css: str, **fields: str) -> list[dict[str, str]]:
        """A record for each element that matches: its fields, by CSS selectors below the element.

        A field is the text of the first match, empty without one; `::attr(name)` at the end of its
        selector takes an attribute instead, and alone an attribute of the element itself.
        """
        return self._select(css, fields).records

    def _select(self, css: str, fields: dict[str, str]) -> Selected:
        if self._reader is None:
            raise UsageError(f"{self.url} cannot be read here")
        return self._reader.select(self.body, self._declared_type, css, fields)
