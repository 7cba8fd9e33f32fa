"""The `crawl4r` command: finds the sub-command, shows errors, sets the exit code.

Exit codes: 0 done, or a requested limit is reached; 1 failed: no page could be kept, or none of the
requested seeds or pages could be fetched (no such name, connection refused, TLS, robots.txt, egress
gate), or `check-policy` denies a URL; 2 usage or configuration, also a seed that is no URL or out of
scope; 3 stopped with work left; 4 the store cannot be written or is damaged; 5 the crawl stalled and
could not recover; 6 it exceeded its memory limit. With 1 and 2 the last line gives the reason. After 5
and 6 all kept pages are safe, and the same command continues: `crawl4r supervise` restarts it by
itself.
"""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from importlib import import_module
from io import StringIO
from keyword import iskeyword
from typing import Any

import click
from click.shell_completion import CompletionItem

from crawl4r._version import __version__
from crawl4r.errors import Crawl4rError
from crawl4r.interfaces.cli import json_log
from crawl4r.interfaces.cli.output import guard_streams, say_prose
from crawl4r.safe_text import command_line

# Each in the module of its name. The line is the first of its help, here so that a list of all
# commands loads none of them.
_GROUPS = {
    "Crawl": {
        "crawl": "Crawl from URLs into a workspace, or continue a crawl.",
        "resume": "Continue a crawl with the options of its start.",
        "scrape": "Fetch one page politely and print its markdown.",
        "map": "List the URLs that a site names, without fetching them.",
        "plan": "Estimate pages, hours and bytes of a crawl, and name traps.",
        "spool": "Discover pages in one process and fetch them in another.",
    },
    "Read": {
        "pages": "List every known URL, in the order of discovery.",
        "get": "Print a stored page: by URL, by hash, or as of a moment.",
        "history": "List the captures of a URL, and what each one meant.",
        "diff": "Compare the text of two captures of a page.",
        "why": "Show what happened to a URL, and which rule decided.",
    },
    "Search": {
        "search": "Search passages by words and by meaning.",
        "similar": "List documents with a content like that of a URL.",
        "index": "Make the documents of a workspace searchable.",
        "embed": "Install, test and serve the model for text vectors.",
    },
    "Export and import": {
        "export": "Write documents or captures for other programs.",
        "import": "Import pages from JSON lines, WARC or WACZ files.",
        "extract": "Convert an HTML file or stdin to markdown, and judge it.",
        "replay": "Rewrite the logs and the metadata from the archive.",
        "reprocess": "Judge and read every stored page again.",
    },
    "Operate": {
        "crawls": "List the crawls of a store, or delete one.",
        "collections": "List collections of documents, or change them.",
        "tags": "List tags of documents, or change them.",
        "status": "Show totals, hosts and errors of a crawl.",
        "report": "Report the requests to a host, and their politeness.",
        "pause": "Hold the crawls of a workspace, or let them continue.",
        "stop": "End the crawls of a workspace, like Ctrl-C.",
        "supervise": "Run a crawl, and start it again when it stalls or dies.",
        "delete": "Delete documents from search and exports, for good.",
        "restore": "Bring back documents that were deleted.",
        "recover": "Make a lost or damaged state.db again.",
        "gc": "Remove stored bytes that no capture needs.",
        "reset": "Delete everything that a crawl made, except crawl4r.yaml.",
    },
    "Set up and try": {
        "configure": "Write crawl4r.yaml in a workspace, or show the settings.",
        "check-policy": "Show whether a URL may be crawled, and which rule decides.",
        "urls": "Show URLs in the crawler's spelling.",
        "pagination": "Find the other pages of a list in an HTML file.",
        "demo": "Crawl a bundled sample site on loopback, as a demo.",
        "selftest": "Kill crawls of the bundled site, and count losses.",
        "completion": "Print a script for tab completion in a shell.",
    },
}
_COMMANDS = {name: line for group in _GROUPS.values() for name, line in group.items()}


class _Commands(click.Group):
    """Imports a command when it is called, so that `--help` and tab completion stay fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = cmd_name.replace("-", "_") + "_" * iskeyword(cmd_name)
        command = import_module(f"crawl4r.interfaces.cli.commands.{module}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, _COMMANDS))
        for title, commands in _GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), line) for name, line in commands.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(_unknown(args[0]), ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [
            CompletionItem(command.name, help=command.get_short_help_str())
            for command in _listed(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the reader of the output closed it: `crawl4r pages | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return None
        except Crawl4rError as problem:
            from crawl4r.interfaces.cli.own_commands import with_workspace  # noqa: PLC0415

            problem.args = (with_workspace(str(problem)),)
            raise


def _unknown(word: str) -> str:
    """The error for an unknown command, with a suggestion."""
    if near := get_close_matches(word, _COMMANDS, n=2, cutoff=0.5):
        return f"There is no command {word!r}. Did you mean {' or '.join(near)}?"
    if "." in word or ":" in word:
        crawl = command_line("crawl4r", "crawl", word)
        return f"There is no command {word!r}. To crawl it: `{crawl}`"
    return f"There is no command {word!r}. `crawl4r --help` lists them."


def _show(problem: click.ClickException) -> None:
    """Print an error of click, laid out like all others."""
    shown = StringIO()
    problem.show(shown)
    say_prose(shown.getvalue().rstrip("\n"), err=True)


def _listed(start: str) -> list[click.Command]:
    """Placeholders for commands whose names begin like this, for completion."""
    return [
        click.Command(name, help=line)
        for name, line in sorted(_COMMANDS.items())
        if name.startswith(start)
    ]


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="crawl4r")
def group() -> None:
    """Crawl sites into an archive, with clean text and search.

    \b
    crawl4r crawl https://example.org/      crawl a site into ./workspace
    crawl4r status                          show the progress
    crawl4r pages                           list every known URL and its state
    crawl4r get https://example.org/        print a stored page
    crawl4r scrape https://example.org/     print one page as markdown
    crawl4r why https://example.org/x       show what happened to a URL, and why
    crawl4r demo                            try all of it on a bundled site
    """


def main() -> None:
    # numpy's threads cost 0.1 s of CPU at its import, and crawl4r multiplies no matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    guard_streams()
    if json_log.is_asked_for(sys.argv[1:]):
        json_log.begin()
    try:
        group(standalone_mode=False)
    except click.ClickException as problem:
        if json_log.is_on():
            json_log.complain(problem.format_message(), problem.exit_code)
        else:
            _show(problem)
        sys.exit(problem.exit_code)
    except Crawl4rError as problem:
        json_log.complain(str(problem), problem.exit_code)
        sys.exit(problem.exit_code)
    except (click.Abort, KeyboardInterrupt):
        json_log.complain("stopped", 3)
        sys.exit(3)
