"""python -m tests.search.vectors.vector_writer FOLDER: writes until it is killed.

A line on stdout for each confirmed call: `put FIRST LAST`, `retire NUMBER`, `delete NUMBER`. Numbers go
on where the index ends. The vector of a number is `vector_of`, its collection its decimal digits.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from crawl4r.search.port import Facets, Filters, Vectors
from crawl4r.search.vectors.scan import ScanVectors
from tests.search.vectors.vector_model import DIMENSION, unit

BATCH = 7


def vector_of(number: int) -> Vectors:
    return unit(np.random.default_rng(number).standard_normal(DIMENSION))


def passage(number: int) -> tuple[int, Facets]:
    return number, Facets(domain="a.org", collections=(str(number),), captured_at=1.0)


def main(folder: Path) -> None:
    index = ScanVectors(folder, DIMENSION, writable=True)
    everything = index.nearest(vector_of(0), 10**6, Filters(as_of=1.5))
    first = max([found.number for found in everything], default=0) + 1
    while True:
        numbers = range(first, first + BATCH)
        index.put([passage(n) for n in numbers], np.stack([vector_of(n) for n in numbers]))
        _say(f"put {numbers[0]} {numbers[-1]}")
        index.retire([first + 1], 2.0)
        _say(f"retire {first + 1}")
        index.delete([first + 2])
        _say(f"delete {first + 2}")
        first += BATCH


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
