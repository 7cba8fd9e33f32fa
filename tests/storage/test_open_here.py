"""What is committed stays in reach of other processes, however often a database is opened here."""

import subprocess
import sys
from pathlib import Path

import pytest

from crawl4r.storage.crawls import peek_crawl_note
from crawl4r.storage.database import Database
from crawl4r.storage.ownership import why_foreign
from crawl4r.storage.tables import Notes

READ = """
import sys
from pathlib import Path
from crawl4r.storage.database import Database
from crawl4r.storage.tables import Notes
database = Database(Path(sys.argv[1]), read_only=True)
print(Notes(database).get("word"))
database.close()
"""


def read_elsewhere(path: Path) -> str:
    """What another process reads; it closes the database behind it."""
    command = [sys.executable, "-c", READ, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def note(database: Database, word: str) -> None:
    Notes(database).put("word", word)
    database.commit()


def open_twice(path: Path) -> None:
    Database(path, read_only=True).close()


def open_writable(path: Path) -> None:
    Database(path).close()


def look_at_file(path: Path) -> None:
    assert why_foreign(path, frozenset()) is None


def peek(path: Path) -> None:
    assert peek_crawl_note(path.parent, "options") is None


@pytest.mark.parametrize("touch", [open_twice, open_writable, look_at_file, peek])
def test_a_reader_elsewhere_leaves_the_log_of_a_writer_alone(tmp_path: Path, touch) -> None:
    path = tmp_path / "state.db"
    database = Database(path)
    note(database, "first")
    touch(path)
    assert read_elsewhere(path) == "first"
    assert path.with_name("state.db-wal").exists()
    note(database, "second")
    assert read_elsewhere(path) == "second"
    database.close()
    assert read_elsewhere(path) == "second"
