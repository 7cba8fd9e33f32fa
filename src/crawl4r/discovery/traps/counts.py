"""Count what the URLs of one shape brought, in a bounded table for each host."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import log
from typing import Any
from zlib import crc32

from msgspec import Struct

_BITS = 256  # size of the sketch that counts distinct parameters
_COUNTABLE = 4  # unset bits that the sketch needs to count
_COMBINED = 10  # more combinations per parameter than this: a product of filters, not a list


class ShapeTally(Struct):
    """The counts of one shape of URLs."""

    admitted: int = 0
    fresh: int = 0  # pages with new content
    led: int = 0  # pages that were first to name URLs of another shape
    barren: int = 0  # pages in a row that brought nothing new
    params: int = 0  # a sketch of the parameters with their values

    def count_params(self, params: Iterable[tuple[str, str]]) -> None:
        for name, value in params:
            text = f"{name}={value}".encode("utf-8", "replace")
            self.params |= 1 << crc32(text) % _BITS

    @property
    def is_product(self) -> bool:
        """Whether few values make many combinations, as filters do. Ids have a value for each URL."""
        unset = _BITS - self.params.bit_count()
        if unset < _COUNTABLE or unset == _BITS:
            return False
        different = -_BITS * log(unset / _BITS)  # linear counting
        return self.admitted > _COMBINED * different

    def as_json(self) -> list[Any]:
        return [self.admitted, self.fresh, self.led, self.barren, f"{self.params:x}"]

    @staticmethod
    def from_json(plain: list[Any]) -> ShapeTally:
        admitted, fresh, led, barren, params = plain
        return ShapeTally(admitted, fresh, led, barren, int(params, 16))


_NOTHING = ShapeTally()  # a constant: no caller changes it


class Tallies:
    """Tallies by key. When there are too many, the table drops those with the lowest counts."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._by_key: dict[str, ShapeTally] = {}

    def __len__(self) -> int:
        return len(self._by_key)

    def get(self, key: str) -> ShapeTally:
        """The tally of a key; an empty one for an unknown key."""
        return self._by_key.get(key) or _NOTHING

    def open(self, key: str) -> ShapeTally:
        """The tally of a key, to be changed; made if it is missing."""
        tally = self._by_key.get(key)
        if tally is None:
            if len(self._by_key) >= self._most:
                self._forget()
            tally = self._by_key[key] = ShapeTally()
        return tally

    def items(self) -> Iterator[tuple[str, ShapeTally]]:
        return iter(self._by_key.items())

    def _forget(self) -> None:
        def weight(key: str) -> tuple[int, int]:
            tally = self._by_key[key]
            return tally.barren, tally.admitted

        kept = sorted(self._by_key, key=weight, reverse=True)[: self._most // 2]
        self._by_key = {key: self._by_key[key] for key in kept}

    def as_json(self) -> dict[str, list[Any]]:
        return {key: tally.as_json() for key, tally in self._by_key.items()}

    @staticmethod
    def from_json(plain: Mapping[str, list[Any]], most: int) -> Tallies:
        made = Tallies(most)
        made._by_key = {key: ShapeTally.from_json(value) for key, value in plain.items()}
        return made
