"""The options of `crawl`, `resume` and `spool`, and their help in groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
from click.shell_completion import CompletionItem

from crawl4r.errors import UsageError
from crawl4r.frontier.priority import Strategy
from crawl4r.interfaces.cli.options import DURATION, SIZE, json_option, workspace_option

_WIDEST = 30  # columns of an option whose help begins beside it, as in all of click's lists
_OTHERS, _OUTPUT, _WORKSPACE = "Other", "Output", "This workspace"


class CrawlCommand(click.Command):
    """Lists its options in the groups of `crawl_options`, like commands in `crawl4r --help`."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows: dict[str, list[tuple[str, str]]] = {title: [] for title in [*_GROUPS, _OTHERS]}
        for option in self.get_params(ctx):
            row = option.get_help_record(ctx) if isinstance(option, click.Option) else None
            if row:
                is_help = "--help" in option.opts
                rows[_OUTPUT if is_help else _TITLES.get(option.name or "", _OTHERS)].append(row)
        words = [word for group in rows.values() for word, _ in group]
        width = max(len(word) for word in words if len(word) <= _WIDEST)
        for title, group in rows.items():
            if group:
                with formatter.section(title):
                    aligned = [(word.ljust(width), line) for word, line in group]
                    formatter.write_dl(aligned, col_max=width)


def crawl_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that all these commands share."""
    for group in reversed(_GROUPS.values()):
        for decorate in reversed(group):
            function = decorate(function)
    return function


def _check_budget(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """Raise UsageError for a typed --budget without --refresh; a remembered one is ignored."""
    if value is not None and not context.params.get("refresh"):
        raise UsageError("--budget says how much of a refresh: add --refresh")
    return value


class _Remembered(click.ParamType[str]):
    """The name of an option that a workspace remembers. The list is loaded only on use."""

    name = "NAME"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        choice = click.Choice(_remembered(ctx) if ctx else [])
        return choice.convert(value.removeprefix("--"), param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(word) for word in _remembered(ctx) if word.startswith(incomplete)]


def _remembered(context: click.Context) -> list[str]:
    from crawl4r.interfaces.cli.saved_options import forgettable  # noqa: PLC0415

    return forgettable(param.name for param in context.command.params)


name_option = click.option(
    "--name", help="Begin or continue the crawl of this name.  [default: the last one]"
)
same_name_option = click.option("--crawl", metavar="NAME", help="The same as --name.")
_GROUPS: dict[str, list[Callable[[Any], Any]]] = {
    "Which pages": [
        click.option(
            "--max-pages",
            type=click.IntRange(0),
            metavar="N",
            help="Stop after this many pages are kept.",
        ),
        click.option("--max-bytes", type=SIZE, help="Stop after this much content, like 500MB."),
        click.option("--max-seconds", type=DURATION, help="Stop after this time, like 90s or 10m."),
        click.option(
            "--depth",
            type=click.IntRange(0),
            metavar="N",
            help="Follow at most so many links from a seed.",
        ),
        click.option(
            "--host", "hosts", multiple=True, help="Stay on this host.  [default: the seeds' hosts]"
        ),
        click.option(
            "--include-subdomains/--no-include-subdomains",
            default=None,
            help="Also visit the hosts below these.",
        ),
        click.option(
            "--allow", multiple=True, help="Visit only URLs that match this pattern (RE2)."
        ),
        click.option("--deny", multiple=True, help="Skip URLs that match this pattern (RE2)."),
        click.option(
            "--strategy",
            type=click.Choice([s.value for s in Strategy]),
            help="Visit URLs in this order.  [default: bfs]",
        ),
        click.option(
            "--keyword", "keywords", multiple=True, help="Prefer links with this word (best-first)."
        ),
        click.option(
            "--explore/--no-explore",
            default=None,
            help="Try sitemaps, archives and further pages of lists when links run out."
            "  [default: explore]",
        ),
        click.option(
            "--refresh",
            is_flag=True,
            is_eager=True,  # parsed before --budget
            help="Visit known pages again, with their validators.",
        ),
        click.option(
            "--budget",
            metavar="N|N%",
            callback=_check_budget,
            help="Visit only so many known pages, the likeliest to have changed first.",
        ),
        click.option("--retry-failed", is_flag=True, help="Try failed URLs again."),
    ],
    "How fast and how politely": [
        click.option(
            "--rate",
            type=click.FloatRange(0),
            metavar="N",
            help="Make so many requests a second to a host; 0 is no delay.  [default: 1]",
        ),
        click.option(
            "--per-host",
            type=click.IntRange(1),
            metavar="N",
            help="Make so many requests at once to a host.  [default: 1]",
        ),
        click.option(
            "--fresh-for",
            type=DURATION,
            help="Take answers that other crawls of the store got so recently.  [default: 1h]",
        ),
        click.option(
            "--concurrency",
            type=click.IntRange(1),
            metavar="N",
            help="Make so many requests at once.  [default: 16]",
        ),
        click.option(
            "--contact", help="Tell sites how their owner can reach you: a URL or an address."
        ),
        click.option(
            "--proxy", "proxies", multiple=True, help="Go through a proxy; several rotate."
        ),
        click.option(
            "--allow-private",
            multiple=True,
            metavar="CIDR_OR_HOST",
            help="Open the egress gate for a private network or host.",
        ),
    ],
    "What is made of the pages": [
        click.option(
            "--extract/--no-extract",
            default=None,
            help="Make documents of the pages, in a separate process.  [default: extract]",
        ),
        click.option(
            "--probe/--no-probe",
            default=None,
            help="Request a missing page once per host, to recognise its soft 404s.  [default: probe]",
        ),
        click.option(
            "--index/--no-index",
            default=None,
            help="Make the documents searchable: words at once, vectors following.  [default: index]",
        ),
        click.option(
            "--collection",
            "collections",
            multiple=True,
            metavar="NAME",
            help="Put the documents of this crawl into this collection.",
        ),
        click.option(
            "--tag",
            "tags",
            multiple=True,
            metavar="NAME",
            help="Give the documents of this crawl this tag.",
        ),
        click.option(
            "--language",
            "languages",
            multiple=True,
            metavar="CODE|all",
            help="Make only pages in this language searchable; `all` for every one.  [default: en]",
        ),
        click.option(
            "--logs/--no-logs",
            default=None,
            help="Write CSV files of pages, links and metrics beside the crawl.  [default: no-logs]",
        ),
    ],
    _WORKSPACE: [
        workspace_option,
        click.option("--profile", help="Start from a bundled configuration, e.g. github."),
        click.option(
            "--store",
            type=click.Choice(["segments", "files"]),
            help="Keep bytes in segments, or in one file per page.",
        ),
        click.option(
            "--forget",
            multiple=True,
            type=_Remembered(),
            help="Drop an option of the last crawl here, e.g. deny; `all` drops every one.",
        ),
    ],
    _OUTPUT: [
        click.option("--quiet", "-q", is_flag=True, help="Show no progress and no summary."),
        click.option("--verbose", "-v", is_flag=True, help="Write a line on stderr for each page."),
        click.option("--log-json", is_flag=True, help="Write only JSON lines to stderr."),
        json_option,
    ],
}


def _names() -> dict[str, str]:
    """The title of the group that an option belongs to, by the option's name."""
    found: dict[str, str] = {}
    for title, group in [*_GROUPS.items(), (_WORKSPACE, [name_option, same_name_option])]:
        probe = click.Command("probe")
        for decorate in group:
            decorate(probe)
        found |= {option.name or "": title for option in probe.params}
    return found


_TITLES = _names()
