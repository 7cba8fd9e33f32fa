"""`crawl4r crawls`: list the crawls of a store, or delete one."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec.structs import asdict

from crawl4r.interfaces.cli.options import (
    json_option,
    open_for_reading,
    print_json,
    settings_for_reading,
    workspace_option,
)
from crawl4r.interfaces.cli.output import say
from crawl4r.storage.crawls import CrawlState

_SHOWN = 10  # URLs of documents that go


@click.group("crawls", invoke_without_command=True)
@workspace_option
@json_option
@click.pass_context
def command(context: click.Context, workspace: Path, as_json: bool) -> None:
    """List the crawls of a store, or delete one.

    \b
    crawl4r crawls -w kb
    crawl4r crawls -w kb --json
    crawl4r crawls delete news -w kb --dry-run

    A store holds several crawls: `crawl4r crawl URL -w kb --name news` begins or continues the one
    called news. They share pages, documents and the index.
    """
    if context.invoked_subcommand:
        return
    with open_for_reading(workspace) as opened:
        crawls = opened.crawls()
    if as_json:
        for crawl in crawls:
            print_json(asdict(crawl))
        return
    width = max((len(crawl.name) for crawl in crawls), default=0)
    for crawl in crawls:
        why = f" ({crawl.ended_by})" if crawl.state == CrawlState.STOPPED else ""
        say(
            f"{crawl.id:>4}  {crawl.name:<{width}}  {crawl.state}{why}: {crawl.pages:,} pages,"
            f" {crawl.waiting:,} waiting"
        )


@command.command("delete")
@click.argument("name")
@workspace_option
@click.option(
    "--documents",
    "with_documents",
    is_flag=True,
    help="Delete its documents too, unless another crawl or a collection holds them.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be deleted, and delete nothing.")
@json_option
def delete(name: str, workspace: Path, with_documents: bool, dry_run: bool, as_json: bool) -> None:
    """Delete a crawl: the URLs that it knows, and its settings.

    Pages and documents stay, and a crawl of the same pages brings deleted documents back.

    \b
    crawl4r crawls delete news -w kb --dry-run
    crawl4r crawls delete news -w kb --documents
    """
    from crawl4r.workspace.organise import delete_crawl  # noqa: PLC0415 - help goes without
    from crawl4r.workspace.workspace import Workspace  # noqa: PLC0415

    if dry_run:
        with open_for_reading(workspace) as reading:
            gone = delete_crawl(reading.parts, name, with_documents=with_documents, dry_run=True)
    else:
        with open_for_reading(workspace) as reading:
            reading.parts.crawls.get(name)
        with Workspace(workspace, settings_for_reading(workspace)) as opened:
            gone = opened.delete_crawl(name, with_documents=with_documents)
    if as_json:
        told = {"crawl": gone.name, "urls": gone.urls, "documents": list(gone.documents)}
        print_json(told | {"dry_run": dry_run})
        return
    say(
        f"{'would delete' if dry_run else 'deleted'} the crawl {gone.name}:"
        f" {gone.urls:,} URLs and {len(gone.documents):,} documents"
    )
    for url in gone.documents[:_SHOWN]:
        say(f"  {url}")
    if len(gone.documents) > _SHOWN:
        say(f"  and {len(gone.documents) - _SHOWN:,} more")
