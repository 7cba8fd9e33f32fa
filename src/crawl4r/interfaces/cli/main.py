"""The `crawl4r` command: finds the sub-command, shows errors, sets the exit code.

Exit codes: 0 done, or a limit that was asked for is reached; 1 failed (nothing could be kept); 2 usage
or configuration; 3 stopped with work left; 4 the store cannot be written or is damaged; 5 the crawl
stalled and could not recover; 6 it held more memory than it may. After 5 and 6 nothing that was kept is
lost, and the same command goes on: `crawl4r supervise` starts it again by itself.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from keyword import iskeyword
from typing import Any

import click
from click.shell_completion import CompletionItem

from crawl4r import __version__
from crawl4r.errors import Crawl4rError
from crawl4r.interfaces.cli import json_log
from crawl4r.interfaces.cli.output import guard_streams

# Each in the module of its name. The line is the first of its help, here so that a list of all
# commands loads none of them.
_COMMANDS = {
    "check-policy": "Say whether a URL may be crawled, with the rule that decides.",
    "completion": "Print a script that teaches a shell to complete crawl4r's commands and options.",
    "configure": "Write crawl4r.yaml in a workspace, or show the settings in force.",
    "crawl": "Crawl from URLs into a workspace; the same command again goes on where it was.",
    "demo": "Serve a bundled sample site on loopback, crawl it, and show what came of it.",
    "diff": "Compare the text of two captures of a page; navigation and the like do not count.",
    "embed": "Get, try and serve the model that turns texts into vectors.",
    "export": "Write what a workspace holds: its documents, or its captures as a web archive.",
    "extract": "Judge a page and turn it into markdown; from a file, or from stdin.",
    "get": "Print a stored page: by URL, by hash, or as of a moment.",
    "history": "List the captures of a URL: new, unchanged, changed, missing, gone or rejected.",
    "import": "Read JSON lines, WARC or WACZ files and keep them like pages that were crawled.",
    "index": "Make the documents of a workspace searchable: by their words, then by their meaning.",
    "map": "List the URLs that a site names in sitemaps, feeds and on its first page; none is fetched.",
    "pages": "List every known URL in the order of discovery, also while a crawl runs.",
    "pagination": "Find the other pages of a list in an HTML file, and the rule that spells them.",
    "pause": "Hold the crawl of a workspace until it is let go on; what is in flight is finished.",
    "plan": "Estimate pages, hours and bytes of a crawl, and name traps, from sitemaps and a sample.",
    "replay": "Write the logs anew from what was stored: pages.csv, edges.csv, crawl_metadata.jsonl.",
    "report": "Say what a host was asked, at what pace, and which lines of robots.txt were obeyed.",
    "reprocess": "Judge and read every stored page again: verdicts, markdown, metadata, changes.",
    "reset": "Delete everything a crawl has made; crawl4r.yaml stays.",
    "resume": "Go on with a crawl, with the options it was started with.",
    "scrape": "Fetch one page, as politely as a crawl does, and print its markdown.",
    "search": "Find passages by their words and by their meaning, also while a crawl runs.",
    "selftest": "Crawl the bundled site while killing the crawl (SIGKILL) again and again, then count.",
    "similar": "List documents that say something like the document of a URL.",
    "spool": "Find pages in one process and fetch them in another, with a spool between them.",
    "status": "Show totals, hosts and errors of a crawl, also while it runs.",
    "stop": "End the crawl of a workspace as Ctrl-C would; the same command goes on with it later.",
    "supervise": "Run a crawl, and start it again when it stalls, leaks or is killed.",
    "urls": "Look at URLs the way the crawler does.",
    "why": "Tell the story of a URL: where it was found, what admitted or refused it, every attempt.",
}


class _Commands(click.Group):
    """Imports a command when it is called: `--help` and tab completion stay quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = cmd_name.replace("-", "_") + "_" * iskeyword(cmd_name)
        command = import_module(f"crawl4r.interfaces.cli.{module}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        click.Group(commands=_listed("")).format_commands(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [
            CompletionItem(command.name, help=command.get_short_help_str())
            for command in _listed(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the reader of our output went away: `crawl4r pages | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return None


def _listed(start: str) -> list[click.Command]:
    """Stand-ins for the commands whose names begin so, to be shown and not called."""
    return [
        click.Command(name, help=line) for name, line in _COMMANDS.items() if name.startswith(start)
    ]


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="crawl4r")
def group() -> None:
    """Point it at a site: an archive that loses nothing, and every answer explained.

    \b
    crawl4r crawl https://example.org/      crawl a site into ./workspace
    crawl4r status                          how far it is
    crawl4r pages                           every known URL and its state
    crawl4r get https://example.org/        a page as it was stored
    crawl4r scrape https://example.org/     one page as markdown
    crawl4r why https://example.org/x       what happened to a URL, and why
    crawl4r demo                            all of it on a bundled site, with no network
    """


def main() -> None:
    # numpy's threads: where it is loaded they cost 0.1 s of CPU, and nobody here multiplies matrices.
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
            problem.show()
        sys.exit(problem.exit_code)
    except Crawl4rError as problem:
        json_log.complain(str(problem), problem.exit_code)
        sys.exit(problem.exit_code)
    except (click.Abort, KeyboardInterrupt):
        json_log.complain("stopped", 3)
        sys.exit(3)
