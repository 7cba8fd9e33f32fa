"""Rows of a damaged database are read around the damage, and never without end."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from crawl4r.storage.database import Database
from crawl4r.storage.salvage import Salvage, Table

PAGE = 4096
ROWS = 20_000
TAGS = Table(
    "tags",
    {
        "id": lambda value: type(value) is int,
        "name": lambda value: isinstance(value, str) and value.startswith("tag "),
        "created_at": lambda value: value == 1.0,
    },
)
MEMBERS = Table(
    "document_tags",
    {"tag_id": lambda value: type(value) is int, "document": lambda value: isinstance(value, str)},
    ("tag_id", "document"),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "state.db"
    database = Database(path, is_derived=True)
    numbers = range(1, ROWS + 1)
    database.write_many("INSERT INTO tags VALUES (?, ?, 1.0)", ((n, f"tag {n}") for n in numbers))
    rows = ((n, f"document {n}") for n in numbers)
    database.write_many("INSERT INTO document_tags VALUES (?, ?, 1.0)", rows)
    database.commit()
    database.close()
    return path.read_bytes()


def read(path: Path, data: bytes, table: Table) -> tuple[list[int], bool]:
    """The numbers of the rows that were read, and whether some could not be."""
    path.write_bytes(data)
    with Salvage(path) as salvage:
        assert salvage.why_nothing is None
        numbers = [row[0] for row in salvage.rows(table)]
        return numbers, table.name in salvage.unread


@pytest.mark.parametrize("table", [TAGS, MEMBERS], ids=lambda table: table.name)
def test_a_sound_table_is_read_whole(whole: bytes, tmp_path: Path, table: Table) -> None:
    assert read(tmp_path / "x.db", whole, table) == (list(range(1, ROWS + 1)), False)


@pytest.mark.parametrize("seed", range(5))
def test_zeroed_pages_cost_their_rows_alone(whole: bytes, tmp_path: Path, seed: int) -> None:
    data = bytearray(whole)
    pages = range(len(data) // PAGE // 2, len(data) // PAGE)  # behind the schema
    for page in random.Random(seed).sample(pages, 10):
        data[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    numbers, is_noted = read(tmp_path / "x.db", bytes(data), TAGS)
    assert is_noted == (len(numbers) < ROWS)
    assert len(set(numbers)) == len(numbers) > ROWS * 3 // 4
    members, is_noted = read(tmp_path / "x.db", bytes(data), MEMBERS)
    assert len(set(members)) == len(members)
    assert is_noted == (len(members) < ROWS)


def test_a_value_that_cannot_be_true_is_left_out(whole: bytes, tmp_path: Path) -> None:
    data = whole.replace(b"tag 12345", b"tXg 12345")
    assert data != whole
    numbers, is_noted = read(tmp_path / "x.db", data, TAGS)
    assert (set(range(1, ROWS + 1)) - set(numbers), is_noted) == ({12345}, True)


def test_random_bytes_end_soon_and_give_no_row_twice(whole: bytes, tmp_path: Path) -> None:
    chance = random.Random("bytes")
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 30, 1000])):
            data[chance.randrange(PAGE, len(data))] = chance.randrange(256)
        (tmp_path / "x.db").write_bytes(data)
        with Salvage(tmp_path / "x.db") as salvage:
            for table in (TAGS, MEMBERS):
                numbers = [row[0] for row in salvage.rows(table)]
                assert len(numbers) <= ROWS + 100


def test_a_tree_whose_pages_name_each_other_ends(whole: bytes, tmp_path: Path) -> None:
    """All children of the root become one leaf: its rows come again, out of order."""
    data = bytearray(whole)
    for page in range(len(data) // PAGE):
        start = page * PAGE
        if page and data[start] == 5 and data[start + 3 : start + 5] > b"\x00\x20":
            count = int.from_bytes(data[start + 3 : start + 5])
            first = int.from_bytes(data[start + 12 : start + 14])
            child = data[start + first : start + first + 4]
            for cell in range(count):
                at = int.from_bytes(data[start + 12 + 2 * cell : start + 14 + 2 * cell])
                data[start + at : start + at + 4] = child
    assert data != whole
    numbers, is_noted = read(tmp_path / "x.db", bytes(data), TAGS)
    assert is_noted
    assert len(set(numbers)) == len(numbers)
