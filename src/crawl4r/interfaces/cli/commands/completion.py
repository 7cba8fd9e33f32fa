"""`crawl4r completion`: tab completion for a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from crawl4r.errors import UsageError
from crawl4r.interfaces.cli.output import say_text


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print a script for tab completion in a shell.

    \b
    crawl4r completion bash >> ~/.bashrc
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise UsageError(f"no completion for {shell}")
    say_text(kind(ctx.find_root().command, {}, "crawl4r", "_CRAWL4R_COMPLETE").source())
