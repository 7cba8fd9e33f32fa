"""Find the random values in the URLs of a host that are session ids, under any name.

A session id changes while the page stays the same; the id of an article does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zlib import crc32

from crawl4r.discovery.traps.url_shapes import Shape, Token

_MOST_PAGES = 4_000  # pages with a remembered value; the latest are kept
_MOST_PLACES = 48
_PROOFS = 3  # pages with the same content under another value
_DIFFERENT = 2  # distinct pages among the proofs: a single page may just be gone


class SessionIds:
    """Learns which random values of one host's URLs are session ids."""

    def __init__(self) -> None:
        self._first: dict[int, int] = {}  # by URL without the value: its first value
        self._places: dict[str, list[int]] = {}  # by place: pages with same, with other content
        self._proofs: dict[str, list[int]] = {}  # by place: a few pages with the same content

    def refusal(self, shape: Shape) -> str:
        """Why this URL repeats a known one under another session id; empty if it does not."""
        if not shape.tokens or not self._is_other(shape):
            return ""
        for token in shape.tokens:
            if self.is_session(token.place):
                where = "scope.drop_params can drop it" if token.place[0] == "?" else "in the path"
                return f"the same page but for the session id {_named(token)}; {where}"
        return ""

    def is_session(self, place: str) -> bool:
        same, different = self._places.get(place, (0, 0))
        proofs = self._proofs.get(place, ())
        return same >= _PROOFS and same >= 4 * different and len(proofs) >= _DIFFERENT

    def places(self) -> list[str]:
        return [place for place in self._places if self.is_session(place)]

    def admit(self, shape: Shape) -> None:
        if shape.tokens:
            self._first.setdefault(_hash(shape.rest), _value(shape))
            if len(self._first) > _MOST_PAGES:
                del self._first[next(iter(self._first))]

    def observe(self, shape: Shape, *, is_new: bool) -> None:
        """Report the visit of a page known under another value: was its content new?"""
        if not shape.tokens or not self._is_other(shape):
            return
        for token in shape.tokens:
            if token.place not in self._places and len(self._places) >= _MOST_PLACES:
                continue
            self._places.setdefault(token.place, [0, 0])[is_new] += 1
            proofs = self._proofs.setdefault(token.place, [])
            rest = _hash(shape.rest)
            if not is_new and rest not in proofs and len(proofs) < _DIFFERENT:
                proofs.append(rest)

    def _is_other(self, shape: Shape) -> bool:
        return self._first.get(_hash(shape.rest), _value(shape)) != _value(shape)

    def as_json(self) -> dict[str, Any]:
        return {
            "first": [number for pair in self._first.items() for number in pair],
            "places": self._places,
            "proofs": self._proofs,
        }

    @staticmethod
    def from_json(plain: Mapping[str, Any]) -> SessionIds:
        made = SessionIds()
        made._first = dict(zip(plain["first"][::2], plain["first"][1::2], strict=True))
        made._places = {place: list(counts) for place, counts in plain["places"].items()}
        made._proofs = {place: list(pages) for place, pages in plain["proofs"].items()}
        return made


def _named(token: Token) -> str:
    return f"{token.place[1:]}=" if token.place[0] == "?" else f"in segment {token.place[1:]}"


def _value(shape: Shape) -> int:
    return _hash("\n".join(token.value for token in shape.tokens))


def _hash(text: str) -> int:
    return crc32(text.encode("utf-8", "replace"))
