"""Documents and captures out of a workspace, in one of six forms."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from crawl4r.archive.documents import Documents, StoredDocument
from crawl4r.errors import StorageFull, UsageError
from crawl4r.settings.load import Settings
from crawl4r.storage.layout import refuse_output
from crawl4r.transfer.export_documents import EXPORTS
from crawl4r.wiring.parts import Parts
from crawl4r.workspace.blocking import run_blocking
from crawl4r.workspace.export_report import ExportReport
from crawl4r.workspace.options import ExportForm
from crawl4r.workspace.organise import refuse_unknown_labels

CSV = "csv"
ARCHIVES = ("warc", "wacz")
FORMS = tuple(sorted([*EXPORTS, *ARCHIVES, CSV]))
_OF_DOCUMENTS = frozenset(["language", "with_gone", "with_near", "collections", "tags"])
_OF_ARCHIVES = frozenset(["compression", "max_size", "site", "since", "until"])


def foreign_options(form: str) -> frozenset[str]:
    """The options that mean nothing to this form."""
    if form in ARCHIVES:
        return _OF_DOCUMENTS
    return _OF_ARCHIVES if form in EXPORTS else _OF_ARCHIVES | _OF_DOCUMENTS


def export(
    parts: Parts,
    settings: Settings,
    form: ExportForm,
    out: Path,
    options: dict[str, Any],
    **talk: Any,
) -> ExportReport:
    """Export by `ExportOptions`; `talk` is for `export_archive`.

    Raises UsageError, and StorageFull when `out` cannot be written.
    """
    if form not in FORMS:
        raise UsageError(f"{form!r} is no form of export; there are: {', '.join(FORMS)}")
    if foreign := sorted(foreign_options(form) & options.keys()):
        raise UsageError(f"{foreign[0]} is not for the export {form}")
    refuse_output(parts.path, out)
    if form == CSV:
        return _export_csv(parts, settings, out)
    try:
        if form in ARCHIVES:
            # Only now: web archives take modules that documents do without.
            from crawl4r.workspace.export_archive import export_archive  # noqa: PLC0415

            return export_archive(parts, settings, form, out, options, **talk)
        return _export_documents(parts, form, out, options)
    except OSError as problem:
        raise StorageFull(f"cannot write {out}: {problem.strerror}") from problem


def _export_documents(parts: Parts, form: str, out: Path, options: dict[str, Any]) -> ExportReport:
    if (form == "markdown") == out.is_file() and out.exists():
        wanted = "a folder" if form == "markdown" else "a file"
        raise UsageError(f"--out: {out} is not {wanted}")
    refuse_unknown_labels(parts, options)
    # Ended before the database is closed, also when writing fails half-way.
    found = Documents(parts.database).stream(with_gone=options.get("with_gone", False))
    with closing(found) as documents:
        count = EXPORTS[form](_chosen(documents, options), out)
    return ExportReport(form, str(out), documents=count, files=[str(out)])


def _chosen(
    documents: Iterator[StoredDocument], options: dict[str, Any]
) -> Iterator[StoredDocument]:
    language, with_near = options.get("language"), options.get("with_near", False)
    collections, tags = set(options.get("collections") or ()), set(options.get("tags") or ())
    for stored in documents:
        is_labelled = (not collections or not collections.isdisjoint(stored.collections)) and (
            not tags or not tags.isdisjoint(stored.tags)
        )
        is_wanted = language in {None, stored.document.language} and is_labelled
        if is_wanted and (with_near or stored.near_of is None):
            yield stored


def _export_csv(parts: Parts, settings: Settings, out: Path) -> ExportReport:
    """pages.csv and edges.csv in a folder, or the pages alone in a file that ends with .csv."""
    from crawl4r.wiring.logs import write_logs  # noqa: PLC0415 - most exports go without

    if out.is_file() or (out.suffix == ".csv" and not out.is_dir()):
        places = {"pages": out}
    else:
        places = {"pages": out / "pages.csv", "edges": out / "edges.csv"}
    found = run_blocking(lambda: write_logs(parts, settings, places))
    files = [str(path) for path in places.values()]
    return ExportReport(
        CSV, str(out), captures=found.captures, edges=found.edges, files=files,
        dropped=found.dropped, damaged=found.damaged, unreadable=found.unreadable,
    )  # fmt: skip
