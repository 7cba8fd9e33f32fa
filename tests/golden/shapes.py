"""Exports, logs and help as text that can be compared."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet

from tests.golden.normalising import Normaliser
from tests.transfer.warc.strangers import ArchiveIterator

_COMMAND = re.compile(r"(?m)^  ([a-z][a-z-]*) {2,}\S")
_OPTION = re.compile(r"(?m)^  (-.+?)(?:  |$)")
_NAMES = re.compile(r"--?[a-z0-9][a-z0-9-]*|(?<=\s)\[[^\]]*\|[^\]]*\]", re.IGNORECASE)
_RANDOM_NAME = re.compile(r"\b[0-9a-f]{24,32}\b")
_DIGESTED = frozenset({"request", "response", "revisit"})  # of others, the block measures this run


def markdown_tree(folder: Path, normal: Normaliser) -> str:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    parts = [f"=== {file.relative_to(folder)}\n{file.read_text('utf-8')}" for file in files]
    return normal.text("".join(parts))


def warc_records(file: Path) -> str:
    """A line a record: its type, URI and digests."""
    with file.open("rb") as stream:
        lines = [_record_line(dict(record.headers)) for record in ArchiveIterator(stream)]
    return "".join(lines)


def _record_line(headers: dict[str, str]) -> str:
    kind = headers["WARC-Type"]
    names = [
        "WARC-Target-URI",
        "WARC-Payload-Digest",
        "WARC-Refers-To-Target-URI",
        "WARC-Truncated",
    ]
    names += ["WARC-Block-Digest"] if kind in _DIGESTED else []
    words = [f"{name.removeprefix('WARC-')}={headers[name]}" for name in names if name in headers]
    return " ".join([kind, *words]) + "\n"


def wacz_members(file: Path) -> str:
    with zipfile.ZipFile(file) as package:
        return "".join(f"{name}\n" for name in package.namelist())


def parquet_rows(file: Path, normal: Normaliser) -> str:
    """The schema, then a line a row with a hash in the place of its text."""
    table = pyarrow.parquet.read_table(file)
    rows = [_with_hash(row) for row in table.to_pylist()]
    lines = [json.dumps(normal.json(row), ensure_ascii=False, default=str) for row in rows]
    schema = [f"{field.name}: {field.type}" for field in table.schema]
    return normal.text("\n".join([*schema, "", *lines]) + "\n")


def _with_hash(row: dict[str, object]) -> dict[str, object]:
    text = str(row["markdown"])
    return row | {"markdown": hashlib.sha256(text.encode()).hexdigest()}


def event_fields(log: str) -> str:
    """The names of events with those of their fields, in the order of the log."""
    events = [json.loads(line) for line in log.splitlines()]
    return "".join(f"{event['event']}: {' '.join(event)}\n" for event in events)


def layout(workspace: Path) -> str:
    """The files of a workspace; those with random names are counted as one.

    Where passages were deleted, tantivy keeps a `.del` file until it merges them away.
    """
    files = (file for file in workspace.rglob("*") if file.is_file() and file.suffix != ".del")
    names = {_RANDOM_NAME.sub("<random>", str(file.relative_to(workspace))) for file in files}
    return "".join(f"{name}\n" for name in sorted(names))


def help_of_all(help_of: Callable[[str], str]) -> str:
    """A line for each command with its options and their choices; `help_of` runs `--help`."""
    return "".join(f"{line}\n" for line in _help_lines(help_of, ""))


def _help_lines(help_of: Callable[[str], str], command: str) -> Iterator[str]:
    text = help_of(command)
    options = [" ".join(_NAMES.findall(option)) for option in _OPTION.findall(text)]
    yield f"crawl4r {command}".rstrip() + "".join(f"\n    {option}" for option in options)
    for name in sorted(set(_COMMAND.findall(text))):
        yield from _help_lines(help_of, f"{command} {name}".strip())
