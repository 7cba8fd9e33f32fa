"""Export documents as JSON lines, Parquet, or a tree of markdown files."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from crawl4r.archive.documents import StoredDocument
from crawl4r.clock import with_iso_times
from crawl4r.content.markdown.safe_links import without_unsafe_links
from crawl4r.errors import UsageError
from crawl4r.storage.own_files import replacing
from crawl4r.urls.file_names import file_of

_COLUMNS = (
    "id", "document_id", "url", "kind", "title", "markdown", "author", "published", "description",
    "keywords", "image", "canonical", "site_name", "language", "note", "domain", "referrer",
    "content_hash", "captured_at", "updated_at", "capture_id", "near_of", "collections", "tags",
)  # fmt: skip
_NO_FOLDING = 2**31  # maximum line length of front matter: values are never wrapped
_ROWS_AT_ONCE, _CHARACTERS_AT_ONCE = 1_000, 8_000_000  # in memory, for Parquet


def row_of(stored: StoredDocument) -> dict[str, Any]:
    """One document as plain values with times in epoch seconds. `id` is the name from an import."""
    said = stored.document._asdict()
    said["keywords"] = list(said["keywords"])
    return {
        "id": said.pop("external_id") or stored.id,
        "document_id": stored.id,
        **said,
        "domain": stored.domain,
        "referrer": stored.parent_url,
        "content_hash": stored.content_hash,
        "captured_at": stored.crawled_at,
        "updated_at": stored.updated_at,
        "capture_id": stored.capture,
        "near_of": stored.near_of,
        "collections": list(stored.collections),
        "tags": list(stored.tags),
    }


def export_jsonl(documents: Iterable[StoredDocument], out: Path) -> int:
    out.parent.mkdir(parents=True, exist_ok=True)
    with replacing(out) as file:
        count = 0
        for stored in documents:
            file.write(
                json.dumps(with_iso_times(row_of(stored)), ensure_ascii=False).encode() + b"\n"
            )
            count += 1
    return count


def export_parquet(documents: Iterable[StoredDocument], out: Path) -> int:
    try:
        pa = importlib.import_module("pyarrow")
        pq = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install 'crawl4r[parquet]'") from None
    special = dict.fromkeys(("keywords", "collections", "tags"), pa.list_(pa.string()))
    special["capture_id"] = pa.int64()
    special |= dict.fromkeys(("captured_at", "updated_at"), pa.timestamp("us", tz="UTC"))
    schema = pa.schema([(name, special.get(name, pa.string())) for name in _COLUMNS])
    count = 0
    out.parent.mkdir(parents=True, exist_ok=True)
    with replacing(out) as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for group in _groups(_timed(row_of(stored)) for stored in documents):
            writer.write_table(pa.Table.from_pylist(group, schema=schema))
            count += len(group)
    return count


def _groups(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Groups of rows, smaller for long rows."""
    group: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        group.append(row)
        size += len(row["markdown"])
        if len(group) == _ROWS_AT_ONCE or size > _CHARACTERS_AT_ONCE:
            yield group
            group, size = [], 0
    if group:
        yield group


def export_markdown(documents: Iterable[StoredDocument], out: Path) -> int:
    """Write `host/path.md` with metadata as front matter. The same URL always gives the same file.

    Unsafe links are made harmless, also in documents of earlier versions.
    """
    count = 0
    folders: set[Path] = set()
    for stored in documents:
        place = file_of(stored.document.url)
        file = out / place
        if file.parent not in folders:
            _make_folders(out, Path(place.parent))
            folders.add(file.parent)
        row = with_iso_times(row_of(stored))
        text = without_unsafe_links(row.pop("markdown"))
        front = {key: value for key, value in row.items() if value not in (None, "", [])}
        with replacing(file) as writer:
            writer.write(f"---\n{_front_matter(front)}---\n\n{text}\n".encode("utf-8", "replace"))
        count += 1
    return count


EXPORTS: dict[str, Callable[[Iterable[StoredDocument], Path], int]] = {
    "jsonl": export_jsonl,
    "parquet": export_parquet,
    "markdown": export_markdown,
}


def _make_folders(out: Path, below: Path) -> None:
    """Make the folders of a tree. Raises UsageError for a file or a symbolic link in their place."""
    out.mkdir(parents=True, exist_ok=True)
    for folder in [*reversed(below.parents[:-1]), below]:
        try:
            (out / folder).mkdir(exist_ok=True)
        except FileExistsError:
            raise UsageError(f"--out: {out / folder} is not a folder: move it away") from None
        if (out / folder).is_symlink():
            raise UsageError(f"--out: {out / folder} is a symbolic link: move it away")


class _FrontMatter(yaml.SafeDumper):
    """YAML in which every text is one line."""


def _one_line(dumper: _FrontMatter, text: str) -> yaml.ScalarNode:
    style = None if text.isprintable() else '"'  # the only style with escapes
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_FrontMatter.add_representer(str, _one_line)


def _front_matter(values: dict[str, Any]) -> str:
    text: str = yaml.dump(
        values, Dumper=_FrontMatter, allow_unicode=True, sort_keys=False, width=_NO_FOLDING
    )
    return text


def _timed(row: dict[str, Any]) -> dict[str, Any]:
    for name in ("captured_at", "updated_at"):
        row[name] = int(row[name] * 1_000_000)
    return row
