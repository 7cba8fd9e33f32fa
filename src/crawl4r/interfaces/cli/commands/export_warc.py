"""The part of `crawl4r export` that writes web archives: WARC files or a WACZ package."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crawl4r.errors import UsageError
from crawl4r.formats.units import bytes_of
from crawl4r.interfaces.cli.options import open_for_reading, print_json
from crawl4r.interfaces.cli.output import say
from crawl4r.interfaces.cli.view.format import human_bytes

if TYPE_CHECKING:
    from crawl4r.workspace.options import ExportForm

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


def export_archive(
    form: ExportForm,
    workspace: Path,
    out: Path,
    *,
    as_json: bool,
    is_quiet: bool,
    **options: Any,
) -> None:
    """Write the archive and tell what is in it."""
    # Only now: help goes without.
    from crawl4r.workspace.export import export  # noqa: PLC0415
    from crawl4r.workspace.moments import epoch_seconds  # noqa: PLC0415

    chosen = options | {
        "max_size": _bytes(options["max_size"]),
        "since": epoch_seconds(options["since"], "--since"),
        "until": epoch_seconds(options["until"], "--until"),
    }
    talk = {} if as_json or is_quiet else {"on_captures": _bar}
    with open_for_reading(workspace) as opened:
        report = export(opened.parts, opened.settings, form, out, chosen, **talk)
    if as_json:
        names = ("captures", "revisits", "records", "bytes", "files", "index", "dropped")
        print_json({name: getattr(report, name) for name in names})
        return
    if is_quiet:
        return
    say(
        f"{report.captures:,} captures in {report.records:,} records, {report.revisits:,} of bytes that"
        f" were there already; {human_bytes(report.bytes)} in {', '.join(report.files[:3])}"
        + (f" and {len(report.files) - 3:,} more" if len(report.files) > 3 else "")
    )
    if report.dropped:
        say(f"{report.dropped:,} captures left out: gc has dropped their bytes")


@contextmanager
def _bar(total: int) -> Iterator[Callable[[int], None]]:
    from crawl4r.interfaces.cli.view.progress_bar import progress_bar  # noqa: PLC0415

    with progress_bar(True) as bar:
        task = bar.add_task("captures", total=total)
        yield lambda more: bar.advance(task, more)


def _bytes(text: str) -> int:
    size = bytes_of(text)
    if not size:
        raise UsageError(f"--max-size: {text!r} is not a size like 500MB or 1GiB")
    return size
