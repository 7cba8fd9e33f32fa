"""`crawl4r export`: write documents and captures for other programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from click.core import ParameterSource

from crawl4r.errors import UsageError
from crawl4r.interfaces.cli.commands.export_csv import export_csv
from crawl4r.interfaces.cli.commands.export_warc import archive_options, export_archive
from crawl4r.interfaces.cli.options import (
    json_option,
    open_for_reading,
    print_json,
    workspace_option,
)
from crawl4r.interfaces.cli.output import refuse_terminal, say, write_file
from crawl4r.storage.layout import refuse_output
from crawl4r.workspace.export import ARCHIVES, CSV, FORMS, foreign_options
from crawl4r.workspace.options import ExportForm

_STREAMS = {"jsonl": "out.jsonl", CSV: "out.csv", "warc": "out.warc.gz"}
_NO_STREAM = {
    "markdown": "markdown is a folder of files; `export jsonl --out -` holds the same texts",
    "parquet": "a Parquet file has its index at its end, so it is no stream: name a file",
    "wacz": "a package has its index at its end, so it is no stream: name a file, or export warc",
}


@click.command("export")
@click.argument("form", type=click.Choice(FORMS))
@workspace_option
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path),
    required=True,
    help="Write to this file or folder; - is stdout.",
)
@click.option(
    "--collection", "collections", multiple=True, help="Export only documents of this collection."
)
@click.option("--tag", "tags", multiple=True, help="Export only documents with this tag.")
@click.option("--language", help="Export only documents in this language, e.g. en.")
@click.option("--with-gone", is_flag=True, help="Include pages that are gone.")
@click.option("--with-near", is_flag=True, help="Include near-duplicates of other documents.")
@archive_options
@json_option
def command(
    form: ExportForm,
    workspace: Path,
    out: Path,
    as_json: bool,
    **options: Any,
) -> None:
    """Write documents or captures for other programs.

    \b
    crawl4r export jsonl -w docs --out docs.jsonl
    crawl4r export markdown -w docs --out docs-as-markdown
    crawl4r export parquet -w docs --out docs.parquet
    crawl4r export csv -w docs --out tables
    crawl4r export warc -w docs --out docs-as-warc
    crawl4r export wacz -w docs --out docs.wacz

    jsonl and parquet have a line or row for each document, markdown a file. csv has a row for each
    capture (pages.csv) and each link (edges.csv), or only the captures if --out is a .csv file. warc
    writes every capture as WARC 1.1 with a CDXJ index, wacz a package for replay tools. `--out -`
    writes jsonl, csv (the captures) and warc to stdout after the export is complete.
    """
    _refuse_foreign(form)
    with ExitStack() as stack:
        is_stream = str(out) == "-"
        if is_stream:
            out = stack.enter_context(_for_stdout(form, options["compression"], as_json=as_json))
        refuse_output(workspace, out)
        if form in ARCHIVES:
            chosen = {name: options[name] for name in foreign_options("jsonl")}
            export_archive(form, workspace, out, as_json=as_json, is_quiet=is_stream, **chosen)
        elif form == CSV:
            export_csv(workspace, out, as_json=as_json, is_quiet=is_stream)
        else:
            chosen = {name: options[name] for name in foreign_options("warc")}
            _export_documents(form, workspace, out, chosen, as_json=as_json, is_quiet=is_stream)


def _refuse_foreign(form: str) -> None:
    """An option of another form of export would be ignored: say so instead."""
    context, foreign = click.get_current_context(), foreign_options(form)
    for parameter in context.command.params:
        is_given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if parameter.name in foreign and is_given:
            raise UsageError(f"{parameter.opts[0]} is not for `export {form}`")


@contextmanager
def _for_stdout(form: str, compression: str | None, *, as_json: bool) -> Iterator[Path]:
    """A temporary file that is copied to stdout when complete, so that a failure prints nothing."""
    if form not in _STREAMS:
        raise UsageError(f"--out -: {_NO_STREAM[form]}")
    if as_json:
        raise UsageError("--json: stdout holds the export itself; leave --json out, or name a file")
    refuse_terminal("add `> FILE` or `| less`, or name a file with --out")
    name = _STREAMS[form]
    if form == "warc" and compression:
        name = {"gzip": "out.warc.gz", "zstd": "out.warc.zst", "none": "out.warc"}[compression]
    with TemporaryDirectory(prefix="crawl4r-export-") as place:
        file = Path(place, name)
        yield file
        write_file(file)


def _export_documents(
    form: ExportForm,
    workspace: Path,
    out: Path,
    options: dict[str, Any],
    *,
    as_json: bool,
    is_quiet: bool,
) -> None:
    with open_for_reading(workspace) as opened:
        report = opened.export(form, out, **options)
    if as_json:
        print_json({"documents": report.documents, "out": str(out)})
    elif not is_quiet:
        say(f"{report.documents:,} documents in {out}")
