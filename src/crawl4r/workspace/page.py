"""A page as it was kept, in somebody's hands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from crawl4r.archive.blobs.port import Blobs
from crawl4r.errors import StorageDamaged
from crawl4r.formats.charset import decode, guess_encoding
from crawl4r.model import Capture


@dataclass(frozen=True, slots=True)
class Page:
    """A capture with its bytes at hand."""

    capture: Capture
    _blobs: Callable[[], Blobs] = field(repr=False, compare=False)  # as open now

    @property
    def url(self) -> str:
        return self.capture.url

    @property
    def status(self) -> int:
        return self.capture.status

    @property
    def body(self) -> bytes:
        """The bytes as the server sent them, content codings removed; checked against their hash."""
        if self.capture.sha256 is None:
            return b""
        body = self._blobs().read(self.capture.sha256)
        if body is None:
            raise StorageDamaged(
                f"the bytes of {self.url} ({self.capture.sha256}) are not in the store"
            )
        return body

    @property
    def text(self) -> str:
        body = self.body
        declared = next((v for k, v in self.capture.headers if k == "content-type"), "")
        return decode(body, guess_encoding(body, declared))
