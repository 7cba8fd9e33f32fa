"""Documents out of the workspace: JSON lines, Parquet, or a tree of markdown files."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

import yaml

from crawl4r.archive.documents import StoredDocument
from crawl4r.errors import UsageError
from crawl4r.urls.canonical import split

_COLUMNS = (
    "id", "url", "kind", "title", "markdown", "author", "published", "description", "keywords",
    "image", "canonical", "site_name", "language", "note", "domain", "parent_url", "content_hash",
    "crawled_at", "updated_at", "capture", "near_of",
)  # fmt: skip
_ROWS_AT_ONCE = 1_000  # in memory, for Parquet
_LONGEST_NAME = 100  # characters of one folder or file
_UNSAFE = re.compile(r"[^\w.,@+=~-]+")


def row_of(stored: StoredDocument) -> dict[str, Any]:
    """One document as plain values; times are epoch seconds."""
    said = stored.document._asdict()
    said["keywords"] = list(said["keywords"])
    return {
        "id": stored.id,
        **said,
        "domain": stored.domain,
        "parent_url": stored.parent_url,
        "content_hash": stored.content_hash,
        "crawled_at": stored.crawled_at,
        "updated_at": stored.updated_at,
        "capture": stored.capture,
        "near_of": stored.near_of,
    }


def export_jsonl(documents: Iterable[StoredDocument], out: Path) -> int:
    with _replacing(out) as file:
        count = 0
        for stored in documents:
            file.write(json.dumps(row_of(stored), ensure_ascii=False).encode() + b"\n")
            count += 1
    return count


def export_parquet(documents: Iterable[StoredDocument], out: Path) -> int:
    try:
        pa = importlib.import_module("pyarrow")
        pq = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install 'crawl4r[parquet]'") from None
    special = {"keywords": pa.list_(pa.string()), "capture": pa.int64()}
    special |= dict.fromkeys(("crawled_at", "updated_at"), pa.timestamp("us", tz="UTC"))
    schema = pa.schema([(name, special.get(name, pa.string())) for name in _COLUMNS])
    count = 0
    with _replacing(out) as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        rows = (_timed(row_of(stored)) for stored in documents)
        while group := list(islice(rows, _ROWS_AT_ONCE)):
            writer.write_table(pa.Table.from_pylist(group, schema=schema))
            count += len(group)
    return count


def export_markdown(documents: Iterable[StoredDocument], out: Path) -> int:
    """`host/path.md` with what is known of the page in front; the same URL is always the same file."""
    count = 0
    for stored in documents:
        file = out / path_of(stored.document.url)
        file.parent.mkdir(parents=True, exist_ok=True)
        row = row_of(stored)
        text = row.pop("markdown")
        front = {key: value for key, value in row.items() if value not in (None, "", [])}
        head = yaml.safe_dump(front, allow_unicode=True, sort_keys=False, width=1000)
        with _replacing(file) as writer:
            writer.write(f"---\n{head}---\n\n{text}\n".encode("utf-8", "replace"))
        count += 1
    return count


EXPORTS: dict[str, Callable[[Iterable[StoredDocument], Path], int]] = {
    "jsonl": export_jsonl,
    "parquet": export_parquet,
    "markdown": export_markdown,
}


def path_of(url: str) -> Path:
    """Where a page stands in the tree. Names are made safe; what that could confuse gets a hash."""
    parts = split(url)
    path, _, query = url.partition("://")[2].partition("?")
    names = [name for name in path.split("/")[1:] if name]
    is_folder = path.endswith("/")
    if is_folder:
        names.append("index")
    safe = [_safe(name) for name in names]
    is_exact = not query and safe == names and (is_folder or names[-1] != "index")
    mark = "" if is_exact else f"-{hashlib.sha256(url.encode()).hexdigest()[:8]}"
    return Path(_safe(parts.netloc), *safe[:-1], f"{safe[-1]}{mark}.md")


def _safe(name: str) -> str:
    tidy = _UNSAFE.sub("_", name)[:_LONGEST_NAME].strip(".")
    return tidy or "_"


def _timed(row: dict[str, Any]) -> dict[str, Any]:
    for name in ("crawled_at", "updated_at"):
        row[name] = int(row[name] * 1_000_000)
    return row


@contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    """Write beside it and move it there when it is complete: no half file under the right name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
