"""The strings of a vector index. Rows hold their numbers, and filters look the numbers up here."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

Name = str | tuple[str, ...]  # a value of a facet, or all tags of a passage in order


class Names:
    """A list of names that only grows. Add a name after it is durable."""

    def __init__(self) -> None:
        self.places: dict[Name, int] = {}
        self._within: defaultdict[str, list[int]] = defaultdict(
            list
        )  # by domain: it, its subdomains
        self._tagged: defaultdict[str, list[int]] = defaultdict(list)  # by tag: sets that have it

    def extend(self, names: Iterable[Name]) -> None:
        for name in names:
            place = len(self.places)
            if isinstance(name, tuple):
                for tag in name:
                    self._tagged[tag].append(place)
            else:
                for domain in domain_and_parents(name):
                    self._within[domain].append(place)
            self.places[name] = place

    def equal_to(self, values: Sequence[str]) -> npt.NDArray[np.bool_]:
        """For each name whether it is one of these values."""
        return self._mark([self.places[value] for value in values if value in self.places])

    def within(self, domains: Sequence[str]) -> npt.NDArray[np.bool_]:
        """For each name whether it is one of these domains or below one."""
        return self._mark([place for domain in domains for place in self._within.get(domain, ())])

    def tagged(self, tags: Sequence[str]) -> npt.NDArray[np.bool_]:
        """For each name whether it is a set with one of these tags."""
        return self._mark([place for tag in tags for place in self._tagged.get(tag, ())])

    def _mark(self, places: list[int]) -> npt.NDArray[np.bool_]:
        marks = np.zeros(
            len(self.places) + 1, np.bool_
        )  # one extra: another thread may be adding a name
        marks[[place for place in places if place < len(marks)]] = True
        return marks


def domain_and_parents(domain: str) -> list[str]:
    """`docs.python.org`, `python.org`, `org`."""
    labels = domain.split(".")
    return [".".join(labels[start:]) for start in range(len(labels))]


def to_lines(names: Iterable[Name]) -> bytes:
    """One JSON value a line: a string, or a list of tags."""
    return b"".join(json.dumps(name).encode() + b"\n" for name in names)


def from_lines(data: bytes) -> list[Name]:
    """Read the output of `to_lines`. Raises ValueError for other text."""
    names: list[Name] = []
    for line in data.splitlines():
        name = json.loads(line)
        if isinstance(name, list):
            name = tuple(name)
        elif not isinstance(name, str):
            raise ValueError(f"neither a string nor a list: {line[:80]!r}")
        names.append(name)
    return names
