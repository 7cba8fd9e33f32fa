"""`crawl4r export`: documents for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from crawl4r.errors import StorageFull, UsageError
from crawl4r.exporting import EXPORTS
from crawl4r.interfaces.cli.options import (
    json_option,
    open_for_reading,
    print_json,
    workspace_option,
)


@click.command("export")
@click.argument("form", type=click.Choice(sorted(EXPORTS)))
@workspace_option
@click.option("--out", "-o", type=click.Path(path_type=Path), required=True, help="File or folder.")
@click.option("--language", help="Only documents in this language, e.g. en.")
@click.option("--with-gone", is_flag=True, help="Also pages that are no longer there.")
@click.option("--with-near", is_flag=True, help="Also near-duplicates of other documents.")
@json_option
def command(
    form: str,
    workspace: Path,
    out: Path,
    language: str | None,
    with_gone: bool,
    with_near: bool,
    as_json: bool,
) -> None:
    """Write the documents of a workspace: one a line, as a table, or as markdown files.

    \b
    crawl4r export jsonl -w docs --out docs.jsonl
    crawl4r export markdown -w docs --out docs-as-markdown
    crawl4r export parquet -w docs --out docs.parquet
    """
    if (form == "markdown") == out.is_file() and out.exists():
        wanted = "a folder" if form == "markdown" else "a file"
        raise UsageError(f"--out: {out} is not {wanted}")
    with open_for_reading(workspace) as opened:
        chosen = (
            stored
            for stored in opened.documents(with_gone=with_gone)
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
        click.echo(f"{count:,} documents in {out}")
