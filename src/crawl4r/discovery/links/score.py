"""How promising is a link, from 0 to 1, before it is fetched?"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote

_PLAIN_PATH_SEGMENTS = 3


class LinkScorer:
    """Keywords in the URL and the anchor text count most; short plain URLs break ties."""

    def __init__(self, keywords: Sequence[str] = ()) -> None:
        self._keywords = [word.lower() for word in keywords if word.strip()]

    @property
    def reads_anchors(self) -> bool:
        return bool(self._keywords)

    def score(self, url: str, anchor: str = "") -> float:
        plainness = _plainness(url)
        if not self._keywords:
            return plainness
        address = unquote(url).lower()
        text = anchor.lower()
        points = sum((word in address) + (word in text) for word in self._keywords)
        return 0.8 * min(1.0, points / (len(self._keywords) + 1)) + 0.2 * plainness


def _plainness(url: str) -> float:
    path, _, query = url.partition("://")[2].partition("?")
    extra = max(0, path.rstrip("/").count("/") - _PLAIN_PATH_SEGMENTS) + 2 * query.count("=")
    return 1.0 / (1.0 + extra / 4)
