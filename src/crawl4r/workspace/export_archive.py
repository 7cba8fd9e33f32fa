"""Captures out of a workspace as WARC files or as a WACZ package."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from crawl4r._version import __version__
from crawl4r.archive.documents import Documents
from crawl4r.archive.requests import Requests
from crawl4r.archive.warc.writer import Packing
from crawl4r.errors import InvalidUrl, UsageError
from crawl4r.settings.load import Settings
from crawl4r.transfer.export_warc import (
    Archive,
    ExportResult,
    Selection,
    export_wacz,
    export_warc,
    single_file_packing,
)
from crawl4r.urls.canonical import canonicalize, split
from crawl4r.wiring.parts import Parts
from crawl4r.workspace.export_report import ExportReport
from crawl4r.workspace.moments import epoch_seconds

_LARGEST_FILE = 1024**3  # bytes
OnCaptures = Callable[[int], AbstractContextManager[Callable[[int], None]]]


def export_archive(
    parts: Parts,
    settings: Settings,
    form: str,
    out: Path,
    options: dict[str, Any],
    *,
    on_captures: OnCaptures = lambda total: nullcontext(lambda more: None),
) -> ExportReport:
    """`on_captures` is called with how many captures there are; what it enters hears of more."""
    selection = Selection(
        _host(options.get("site")),
        epoch_seconds(options.get("since"), "--since"),
        epoch_seconds(options.get("until"), "--until"),
    )
    compression = options.get("compression")
    max_size = options.get("max_size") or _LARGEST_FILE
    database = parts.database
    archive = Archive(
        parts.captures, parts.blobs, Requests(database), Documents(database), parts.dropped
    )
    name = _name_of(parts.path)
    facts = _facts(settings, name)
    with on_captures(parts.captures.count_after(0)) as show:
        if form == "wacz":
            _check_wacz(out, compression)
            found = export_wacz(archive, out, name, max_size, facts, selection, show)
        else:
            packing = _packing(out, compression)
            found = export_warc(archive, out, name, packing, max_size, facts, selection, show)
    return _report(form, out, found)


def _report(form: str, out: Path, found: ExportResult) -> ExportReport:
    return ExportReport(
        form, str(out), captures=found.captures, revisits=found.revisits, records=found.records,
        bytes=found.bytes, files=found.files, index=found.index_file, dropped=found.dropped,
    )  # fmt: skip


def _name_of(path: Path) -> str:
    """The folder's name, as it may stand in names of files."""
    return re.sub(r"[^a-z0-9._-]+", "-", path.resolve().name.lower()).strip(".-") or "archive"


def _facts(settings: Settings, name: str) -> dict[str, str]:
    """What a WARC file says of its origin."""
    obeys = settings.politeness.obey_robots
    return {
        "software": f"crawl4r/{__version__}",
        "format": "WARC File Format 1.1",
        "isPartOf": name,
        "operator": settings.agent.contact,
        "http-header-user-agent": settings.agent.header,
        "robots": "obeyed (RFC 9309)" if obeys else "ignored",
    }


def _packing(out: Path, compression: str | None) -> Packing:
    single = single_file_packing(out)
    if single and compression and single != compression:
        raise UsageError(f"--out: a file called {out.name} is not packed with {compression}")
    if single and out.is_dir():
        raise UsageError(f"--out: {out} is a folder")
    if not single and out.is_file():
        raise UsageError(
            f"--out: {out} is a file; give a folder, or a name that ends in .warc, .warc.gz"
            " or .warc.zst"
        )
    return single or Packing(compression or "gzip")


def _check_wacz(out: Path, compression: str | None) -> None:
    if out.is_dir():
        raise UsageError(f"--out: {out} is a folder")
    if out.suffix != ".wacz":
        raise UsageError(f"--out: the name of a package ends in .wacz; {out.name!r} does not")
    if compression not in {None, "gzip"}:
        raise UsageError("--compression: a package holds .warc.gz files")


def _host(text: str | None) -> str:
    if not text:
        return ""
    try:
        return split(canonicalize(f"http://{text.rpartition('://')[2]}")).netloc
    except InvalidUrl:
        raise UsageError(f"--site: {text!r} is not a host like example.org") from None
