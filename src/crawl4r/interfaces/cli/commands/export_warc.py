"""The part of `crawl4r export` that writes web archives: WARC files or a WACZ package."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from crawl4r._version import __version__
from crawl4r.errors import InvalidUrl, StorageFull, UsageError
from crawl4r.formats.units import bytes_of
from crawl4r.interfaces.cli.options import open_for_reading, print_json
from crawl4r.interfaces.cli.output import say
from crawl4r.interfaces.cli.view.format import human_bytes

if TYPE_CHECKING:
    from crawl4r.transfer.export_warc import ExportResult, Selection
    from crawl4r.workspace.workspace import Workspace

ARCHIVES = ("warc", "wacz")
_OPTIONS = (
    click.option(
        "--compression",
        type=click.Choice(["gzip", "zstd", "none"]),
        help="Compress each WARC record so.  [default: gzip, or by the file's name]",
    ),
    click.option(
        "--max-size",
        default="1G",
        show_default=True,
        help="Begin a new WARC file after this size, in a folder or a package.",
    ),
    click.option(
        "--site", metavar="HOST", help="Export only captures of this host (warc and wacz)."
    ),
    click.option(
        "--since", metavar="TIME", help="Export only captures from this time on: 2026-11-15."
    ),
    click.option(
        "--until", metavar="TIME", help="Export only captures up to this time: 2026-11-15T10:00:00."
    ),
)


def archive_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the forms warc and wacz."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def check_options(form: str) -> None:
    """Raise UsageError for an option of another form, instead of ignoring it."""
    context = click.get_current_context()
    own = {"compression", "max_size", "site", "since", "until"}
    foreign = {"language", "with_gone", "with_near"} if form in ARCHIVES else own
    for parameter in context.command.params:
        is_given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if parameter.name in foreign and is_given:
            raise UsageError(f"{parameter.opts[0]} is not for `export {form}`")


def export_archive(
    form: str,
    workspace: Path,
    out: Path,
    *,
    compression: str | None,
    max_size: str,
    site: str | None,
    since: str | None,
    until: str | None,
    as_json: bool,
    is_quiet: bool,
) -> None:
    """Write the archive and print its counts."""
    # Imported late: help does not need it.
    from crawl4r.transfer.export_warc import Selection  # noqa: PLC0415

    selection = Selection(_host(site), _moment(since, "--since"), _moment(until, "--until"))
    size = _bytes(max_size)
    with open_for_reading(workspace) as opened:
        try:
            result = _write(
                form, opened, out, compression, size, selection, talks=not (as_json or is_quiet)
            )
        except OSError as problem:
            raise StorageFull(f"cannot write {out}: {problem.strerror}") from problem
    if as_json:
        told = result._asdict()
        print_json(told | {"index": told.pop("index_file")})
        return
    if is_quiet:
        return
    say(
        f"{result.captures:,} captures in {result.records:,} records, {result.revisits:,} of bytes that"
        f" were there already; {human_bytes(result.bytes)} in {', '.join(result.files[:3])}"
        + (f" and {len(result.files) - 3:,} more" if len(result.files) > 3 else "")
    )


def _write(
    form: str,
    opened: Workspace,
    out: Path,
    compression: str | None,
    max_size: int,
    selection: Selection,
    *,
    talks: bool,
) -> ExportResult:
    from crawl4r.archive.documents import Documents  # noqa: PLC0415
    from crawl4r.archive.requests import Requests  # noqa: PLC0415
    from crawl4r.interfaces.cli.view.progress_bar import progress_bar  # noqa: PLC0415
    from crawl4r.transfer.export_warc import Archive, export_wacz, export_warc  # noqa: PLC0415

    database = opened.database
    archive = Archive(opened.captures, opened.blobs, Requests(database), Documents(database))
    name = (
        re.sub(r"[^a-z0-9._-]+", "-", opened.path.resolve().name.lower()).strip(".-") or "archive"
    )
    facts = _facts(opened, name)
    with progress_bar(talks) as bar:
        task = bar.add_task("captures", total=opened.captures.count_after(0))

        def show(more: int) -> None:
            bar.advance(task, more)

        if form == "wacz":
            _check_wacz(out, compression)
            return export_wacz(archive, out, name, max_size, facts, selection, show)
        packing = _packing(out, compression)
        return export_warc(archive, out, name, packing, max_size, facts, selection, show)


def _facts(opened: Workspace, name: str) -> dict[str, str]:
    """The fields of the warcinfo record."""
    settings = opened.settings
    obeys = settings.politeness.obey_robots
    return {
        "software": f"crawl4r/{__version__}",
        "format": "WARC File Format 1.1",
        "isPartOf": name,
        "operator": settings.agent.contact,
        "http-header-user-agent": settings.agent.header,
        "robots": "obeyed (RFC 9309)" if obeys else "ignored",
    }


def _packing(out: Path, compression: str | None) -> Any:
    from crawl4r.archive.warc.writer import Packing  # noqa: PLC0415
    from crawl4r.transfer.export_warc import single_file_packing  # noqa: PLC0415

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


def _bytes(text: str) -> int:
    size = bytes_of(text)
    if not size:
        raise UsageError(f"--max-size: {text!r} is not a size like 500MB or 1GiB")
    return size


def _host(text: str | None) -> str:
    if not text:
        return ""
    from crawl4r.urls.canonical import canonicalize, split  # noqa: PLC0415

    try:
        return split(canonicalize(f"http://{text.rpartition('://')[2]}")).netloc
    except InvalidUrl:
        raise UsageError(f"--site: {text!r} is not a host like example.org") from None


def _moment(text: str | None, option: str) -> float | None:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option}: {text!r} is not a time like 2026-11-15T10:00:00") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
