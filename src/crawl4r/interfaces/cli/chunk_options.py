"""The options of `extract` and `scrape` for cutting a page into chunks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from crawl4r.workspace.chunks import ChunkRules

_OPTIONS = [
    click.option("--chunks", is_flag=True, help="Also cut the text into chunks (with --json)."),
    click.option(
        "--chunk-tokens",
        type=click.IntRange(16, 8192),
        default=512,
        show_default=True,
        help="Limit a chunk to so many tokens.",
    ),
    click.option(
        "--chunk-by",
        type=click.Choice(["structure", "window"]),
        default="structure",
        show_default=True,
        help="Cut along headings, lists and code; or by a sliding window.",
    ),
]


def chunk_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for decorate in reversed(_OPTIONS):
        function = decorate(function)
    return function


def chunk_rules(*, chunks: bool, chunk_tokens: int, chunk_by: str) -> ChunkRules | None:
    """The options as a value; None without chunks."""
    from crawl4r.workspace.chunks import ChunkRules  # noqa: PLC0415 - help goes without

    return ChunkRules(chunk_tokens, chunk_by) if chunks else None
