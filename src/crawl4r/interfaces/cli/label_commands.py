"""The commands of `crawl4r collections` and `crawl4r tags`, which differ in a word."""

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
from crawl4r.interfaces.cli.view.format import noun_for
from crawl4r.storage.organisation import Label

_HELP = """List {label}s of documents, or change them.

\b
crawl4r {label}s -w kb
crawl4r {label}s add news https://example.org/a https://example.org/b -w kb
crawl4r {label}s remove news https://example.org/a -w kb
crawl4r {label}s delete news -w kb

A document can {have} any number of {label}s. `crawl4r crawl --{label} NAME` gives them to all pages of
a crawl, `crawl4r search` and `crawl4r export` take `--{label} NAME`.
"""
_VERBS = {Label.COLLECTION: "be in", Label.TAG: "have"}


def commands_for(label: Label) -> click.Group:
    words = _HELP.format(label=label, have=_VERBS[label])

    @click.group(f"{label}s", invoke_without_command=True, help=words)
    @workspace_option
    @json_option
    @click.pass_context
    def group(context: click.Context, workspace: Path, as_json: bool) -> None:
        if not context.invoked_subcommand:
            _list(label, workspace, as_json=as_json)

    name = click.argument("name")
    urls = click.argument("urls", nargs=-1, required=True, metavar="URL...")

    @group.command("add", help=f"Give documents a {label}, which is made when it is new.")
    @name
    @urls
    @workspace_option
    @json_option
    def add(name: str, urls: tuple[str, ...], workspace: Path, as_json: bool) -> None:
        _change(label, "add", workspace, (name, *urls), as_json=as_json)

    @group.command("remove", help=f"Take a {label} from documents.")
    @name
    @urls
    @workspace_option
    @json_option
    def remove(name: str, urls: tuple[str, ...], workspace: Path, as_json: bool) -> None:
        _change(label, "remove", workspace, (name, *urls), as_json=as_json)

    @group.command("delete", help=f"Delete a {label}; its documents stay.")
    @name
    @workspace_option
    @click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
    @json_option
    def delete(name: str, workspace: Path, dry_run: bool, as_json: bool) -> None:
        _delete(label, name, workspace, dry_run=dry_run, as_json=as_json)

    if label is Label.COLLECTION:
        group.add_command(_keep)
    return group


@click.command("keep")
@click.argument("name")
@workspace_option
@click.option(
    "--captures",
    type=click.IntRange(min=1),
    metavar="N",
    help="Keep the bytes of the newest N good captures of each page.",
)
@click.option(
    "--days",
    type=click.IntRange(min=1),
    metavar="D",
    help="Keep the bytes of captures younger than D days.",
)
@json_option
def _keep(
    name: str, workspace: Path, captures: int | None, days: int | None, as_json: bool
) -> None:
    """Say which bytes gc keeps for a collection.

    They are those of some captures of each page.

    A document in several collections goes by the most generous rule. Without an option the rule is
    dropped, and the options of `crawl4r gc` count again.

    \b
    crawl4r collections keep news --captures 3 --days 90 -w kb
    crawl4r collections keep news -w kb
    """
    from crawl4r.workspace.workspace import Workspace  # noqa: PLC0415 - help goes without

    with Workspace(workspace, settings_for_reading(workspace)) as opened:
        opened.keep_bytes(name, captures=captures, days=days)
    if as_json:
        print_json({"collection": name, "captures": captures, "days": days})
        return
    words = [f"the newest {captures} good captures of each page"] if captures else []
    words += [f"captures younger than {days} days"] if days else []
    say(f"{name}: gc keeps {' and '.join(words) or 'what its options say'}")


def _list(label: Label, workspace: Path, *, as_json: bool) -> None:
    with open_for_reading(workspace) as opened:
        found = opened.labels(label)
    for each in found:
        if as_json:
            print_json(asdict(each))
        else:
            say(f"{each.name}: {each.documents:,} {noun_for(each.documents, 'document')}")
    if not found and not as_json:
        say(f"there is no {label} in {workspace}")


def _change(
    label: Label, verb: str, workspace: Path, words: tuple[str, ...], *, as_json: bool
) -> None:
    from crawl4r.workspace.workspace import Workspace  # noqa: PLC0415 - help goes without

    with open_for_reading(workspace) as reading:
        settings = reading.settings
    with Workspace(workspace, settings) as opened:
        change = opened.add_label if verb == "add" else opened.remove_label
        changed = change(label, *words)
    if as_json:
        print_json({label.value: words[0], verb: changed})
        return
    done = "now" if verb == "add" else "no longer"
    for url in changed:
        say(f"{url}: {done} {words[0]}")
    if not changed:
        say("nothing to change")


def _delete(label: Label, name: str, workspace: Path, *, dry_run: bool, as_json: bool) -> None:
    from crawl4r.workspace.organise import refuse_unknown_labels  # noqa: PLC0415
    from crawl4r.workspace.workspace import Workspace  # noqa: PLC0415

    with open_for_reading(workspace) as reading:
        refuse_unknown_labels(reading.parts, {f"{label}s": [name]})
        count = next(each.documents for each in reading.labels(label) if each.name == name)
    if not dry_run:
        with Workspace(workspace, settings_for_reading(workspace)) as opened:
            count = opened.delete_label(label, name)
    if as_json:
        print_json({label.value: name, "documents": count, "dry_run": dry_run})
        return
    word = "would delete" if dry_run else "deleted"
    say(f"{word} the {label} {name}; {count:,} {noun_for(count, 'document')} had it, and stay")
