"""The `crawl4r` command: finds the sub-command, shows errors, sets the exit code.

Exit codes: 0 done, or a limit that was asked for is reached; 1 failed (nothing could be kept); 2 usage
or configuration; 3 stopped with work left; 4 the store cannot be written or is damaged.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import click

from crawl4r import __version__
from crawl4r.errors import Crawl4rError

_COMMANDS = {
    "check-policy": "check_policy",
    "completion": "completion",
    "configure": "configure",
    "crawl": "crawl",
    "demo": "demo",
    "diff": "diff",
    "export": "export",
    "extract": "extract",
    "get": "get",
    "history": "history",
    "pages": "pages",
    "reprocess": "reprocess",
    "reset": "reset",
    "resume": "resume",
    "scrape": "scrape",
    "selftest": "selftest",
    "status": "status",
    "urls": "urls",
    "why": "why",
}


class _Commands(click.Group):
    """Imports a command when it is called: `--help` and tab completion stay quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = _COMMANDS.get(cmd_name)
        if module is None:
            return None
        command = import_module(f"crawl4r.interfaces.cli.{module}").command
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the reader of our output went away: `crawl4r pages | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return None


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
    try:
        group(standalone_mode=False)
    except click.ClickException as problem:
        problem.show()
        sys.exit(problem.exit_code)
    except Crawl4rError as problem:
        click.echo(f"crawl4r: {problem}", err=True)
        sys.exit(problem.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("crawl4r: stopped", err=True)
        sys.exit(3)
