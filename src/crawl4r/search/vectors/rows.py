"""The rows of the embedded vector index, and the selection of rows by number or filter."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crawl4r.search.port import Filters
from crawl4r.search.vectors.names import Names

ROW = np.dtype(
    [
        ("number", "<i8"),
        ("captured_at", "<f8"),
        ("retired_at", "<f8"),  # inf: not retired; -inf: deleted
        ("scale", "<f4"),  # times the int8 values gives the vector
        ("domain", "<u4"),
        ("language", "<u4"),
        ("kind", "<u4"),
        ("content_type", "<u4"),
        ("collection", "<u4"),
        ("tags", "<u4"),
        ("reserved", "<u4"),
    ]
)
NAME_FIELDS = ("domain", "language", "kind", "content_type", "collection", "tags")

Codes = npt.NDArray[np.int8]  # vectors, one a row
Signs = npt.NDArray[np.uint8]  # eight values of a vector a byte, one vector a row
Records = npt.NDArray[np.void]  # of ROW
Rows = npt.NDArray[np.intp]  # positions


class Snapshot(NamedTuple):
    """The valid rows at one moment. Only `retired_at` may still change while a reader uses it.

    Of several rows with one number the last one counts, which replaces a passage.
    """

    names: Names
    records: Records
    signs: Signs
    codes: Codes
    by_number: Rows  # sorted by number, equal numbers in order of appending
    sorted_numbers: npt.NDArray[np.int64]
    replaced: Rows


def snapshot_of(names: Names, records: Records, signs: Signs, codes: Codes) -> Snapshot:
    numbers = records["number"].astype(np.int64)
    by_number = np.argsort(numbers, kind="stable")
    ordered = numbers[by_number]
    replaced = by_number[:-1][ordered[1:] == ordered[:-1]]
    return Snapshot(names, records, signs, codes, by_number, ordered, replaced)


def signs_of(vectors: Codes | npt.NDArray[np.float32]) -> Signs:
    return np.packbits(vectors > 0, axis=1)


def rows_of(now: Snapshot, numbers: Sequence[int]) -> Rows:
    """One row for each number that exists and is not deleted."""
    wanted = np.unique(np.asarray(numbers, np.int64))
    places = np.searchsorted(now.sorted_numbers, wanted, side="right") - 1
    wanted, places = wanted[places >= 0], places[places >= 0]
    rows = now.by_number[places[now.sorted_numbers[places] == wanted]]
    return np.extract(now.records["retired_at"][rows] != -inf, rows)


def matching(now: Snapshot, where: Filters) -> Rows:
    """The rows of passages that pass the filters."""
    records, names = now.records, now.names
    mask: npt.NDArray[np.bool_]
    if where.as_of == inf:
        mask = records["retired_at"] == inf
    else:
        mask = (records["captured_at"] <= where.as_of) & (records["retired_at"] > where.as_of)
    mask[now.replaced] = False
    if where.since > -inf:
        mask &= records["captured_at"] >= where.since
    if where.before < inf:
        mask &= records["captured_at"] < where.before
    if where.up_to < Filters().up_to:
        mask &= records["number"] <= where.up_to
    if where.domains:
        mask &= names.within(where.domains)[records["domain"]]
    if where.languages:
        mask &= names.equal_to(where.languages)[records["language"]]
    if where.collections:
        mask &= names.tagged(where.collections)[records["collection"]]
    if where.tags:
        mask &= names.tagged(where.tags)[records["tags"]]
    if where.types:
        types = names.equal_to(where.types)
        mask &= types[records["kind"]] | types[records["content_type"]]
    return np.flatnonzero(mask)
