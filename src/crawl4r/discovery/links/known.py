"""What is known of links by their raw hrefs, before anything is parsed."""

from __future__ import annotations

from typing import TypeVar

from crawl4r.urls.canonical import OTHER_SCHEME, split

_ABSOLUTE = ("https://", "http://")  # `http:a` and `httpd.conf` are relative
_BLANKS = "".join(map(chr, range(33)))  # what a browser strips
_ITSELF = 0  # the key of what leads to the page itself

Value = TypeVar("Value")


class KnownLinks(dict[int, Value]):
    """Values of the hrefs on one page after the other, by `key`.

    An href that starts with a slash or a scheme means the same on every page of an origin, almost any
    other the same on every page of a folder. A 64-bit hash stands for place and text, at a third of
    their memory: Python keys its hashes with a secret, so no site can make two of its links collide.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def turn_to(self, base: str, itself: Value) -> None:
        """The next hrefs stand on a page with this base, for which `itself` is the value."""
        if len(self) > self._most:
            self.clear()
        self[_ITSELF] = itself
        self._base = base
        self._path = base.partition("?")[0]
        self._folder = self._path[: self._path.rindex("/") + 1]
        self._origin = split(self._path).origin

    def key(self, href: str) -> int:
        """The same for any fragment."""
        if "#" in href:
            href = href.partition("#")[0]
        first = href[:1]
        if first <= " ":
            href = href.strip(_BLANKS)
            return self.key(href) if href else _ITSELF
        if first == "/":
            place = self._origin
        elif first == "?":
            place = self._path
        elif ":" not in href:
            place = self._folder
        elif href.startswith(_ABSOLUTE):
            place = self._origin
        elif ":" not in href.partition("?")[0] or OTHER_SCHEME.match(href):
            place = self._folder
        else:
            place = self._base  # `http:?q`, and whatever else a browser takes for that
        return hash((place, href))
