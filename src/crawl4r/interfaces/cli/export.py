"""`crawl4r export`: documents and captures for other programs."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import click

from crawl4r.errors import StorageFull, UsageError
from crawl4r.exporting import EXPORTS
from crawl4r.interfaces.cli.export_archive import (
    ARCHIVES,
    archive_options,
    check_options,
    export_archive,
)
from crawl4r.interfaces.cli.export_csv import CSV, export_csv
from crawl4r.interfaces.cli.options import (
    json_option,
    open_for_reading,
    print_json,
    workspace_option,
)
from crawl4r.interfaces.cli.output import say
from crawl4r.state.layout import refuse_output


@click.command("export")
@click.argument("form", type=click.Choice(sorted([*EXPORTS, *ARCHIVES, CSV])))
@workspace_option
@click.option("--out", "-o", type=click.Path(path_type=Path), required=True, help="File or folder.")
@click.option("--language", help="Only documents in this language, e.g. en.")
@click.option("--with-gone", is_flag=True, help="Also pages that are no longer there.")
@click.option("--with-near", is_flag=True, help="Also near-duplicates of other documents.")
@archive_options
@json_option
def command(
    form: str,
    workspace: Path,
    out: Path,
    language: str | None,
    with_gone: bool,
    with_near: bool,
    as_json: bool,
    **archive: Any,
) -> None:
    """Write documents or captures for other programs.

    \b
    crawl4r export jsonl -w docs --out docs.jsonl
    crawl4r export markdown -w docs --out docs-as-markdown
    crawl4r export parquet -w docs --out docs.parquet
    crawl4r export csv -w docs --out tables
    crawl4r export warc -w docs --out docs-as-warc
    crawl4r export wacz -w docs --out docs.wacz

    jsonl and parquet hold a document a line or row, markdown a file each. csv has a row a capture
    (pages.csv) and a row a link (edges.csv), or the first alone when --out is a .csv file. warc writes
    every capture as WARC 1.1 with a CDXJ index beside it, wacz a package that replay tools open as it
    is.
    """
    check_options(form)
    refuse_output(workspace, out)
    if form in ARCHIVES:
        export_archive(form, workspace, out, as_json=as_json, **archive)
        return
    if form == CSV:
        export_csv(workspace, out, as_json=as_json)
        return
    if (form == "markdown") == out.is_file() and out.exists():
        wanted = "a folder" if form == "markdown" else "a file"
        raise UsageError(f"--out: {out} is not {wanted}")
    with open_for_reading(workspace) as opened, ExitStack() as stack:
        # Ended before the database is closed, also when writing fails half-way.
        documents = stack.enter_context(closing(opened.documents(with_gone=with_gone)))
        chosen = (
            stored
            for stored in documents
            if (with_near or stored.near_of is None)
            and (language is None or stored.document.language == language)
        )
        try:
            count = EXPORTS[form](chosen, out)
        except OSError as problem:
            raise StorageFull(f"cannot write {out}: {problem.strerror}") from problem
    if as_json:
        print_json({"documents": count, "out": str(out)})
    else:
        say(f"{count:,} documents in {out}")
