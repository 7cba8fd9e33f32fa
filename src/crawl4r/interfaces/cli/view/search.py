"""Print search results for people."""

from __future__ import annotations

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from crawl4r.interfaces.cli.output import say_prose
from crawl4r.interfaces.cli.own_commands import with_workspace
from crawl4r.interfaces.cli.screen import Screen
from crawl4r.interfaces.cli.view.format import clock_time
from crawl4r.safe_text import command_line, visible, visible_text
from crawl4r.search.rank.snippet import Snippet
from crawl4r.search.request import Answer, Hit, SearchRequest

_INDENT = 4


def print_answer(answer: Answer, request: SearchRequest, *, explain: bool) -> None:
    screen = Screen()
    if not answer.hits:
        screen.print("Nothing found.")
    for number, hit in enumerate(answer.hits, 1):
        print_hit(screen, number, hit, explain=explain)
    for note in answer.notes:
        say_prose(with_workspace(visible(note)), colour="yellow")
    took = answer.milliseconds.get("total", 0.0)
    words = f"{len(answer.hits)} of {answer.candidates} candidates in {took:.0f} ms"
    if explain:
        parts = [f"{k} {v:.1f}" for k, v in answer.milliseconds.items() if k != "total"]
        words += f" ({', '.join(parts)})"
    screen.print(Text(words, "dim"), soft_wrap=not screen.is_terminal)
    if answer.cursor:
        more = command_line("--limit", request.limit * 2)
        screen.print(Text(f"more: {more}, or --cursor with --json", "dim"))


def print_hit(screen: Screen, number: int, hit: Hit, *, explain: bool) -> None:
    entry, version = hit.found
    names = dict.fromkeys([version.title, *entry.headings])
    way = visible_text(" > ".join(" ".join(name.split()) for name in names) or version.url)
    _print_title(screen, Text(f"{number:2}. ", "dim"), way, Text(f"  {hit.score:.3f}", "dim"))
    _print_below(screen, _excerpt(hit.snippet))
    # A live link on a terminal, the whole URL in a pipe.
    target = hit.link or version.url
    screen.print_link(target, version.url if screen.is_terminal else target)
    source = (
        f"{clock_time(version.captured_at)}  sha256 {version.sha256[:12]}"
        f"  characters {entry.start:,} to {entry.end:,}"
    )
    _print_below(screen, Text(source, "dim"))
    if explain:
        _print_below(screen, Text(_explained(hit), "magenta"))
    screen.print()


def _print_title(screen: Screen, number: Text, way: str, score: Text) -> None:
    """On a terminal a long title hangs below itself, with the score beside it; whole in a pipe."""
    title = Text(way, "bold")
    if not screen.is_terminal:
        screen.print(Text.assemble(number, title, score), soft_wrap=True)
        return
    line = Table.grid()
    line.add_column(no_wrap=True)
    line.add_column(overflow="fold")
    line.add_column(no_wrap=True)
    line.add_row(number, title, score)
    screen.print(line)


def _print_below(screen: Screen, text: Text) -> None:
    """Print lines under the title: wrapped on a terminal, whole in a pipe."""
    if screen.is_terminal:
        screen.print(Padding(text, (0, 0, 0, _INDENT)))
    else:
        for line in text.split("\n"):
            screen.print(Text(" " * _INDENT) + line, soft_wrap=True)


def _explained(hit: Hit) -> str:
    def half(name: str, rank: int | None, score: float | None) -> str:
        if score is None:
            return f"{name}: no"
        place = f"rank {rank}" if rank else "not among the best"
        return f"{name}: {place}, {score:.3f}"

    parts = [
        half("words", hit.keyword_rank, hit.keyword_score),
        half("meaning", hit.vector_rank, hit.vector_score),
    ]
    if hit.rerank_score is not None:
        parts.append(f"reranker: {hit.rerank_score:.3f}")
    return "; ".join(parts)


def _excerpt(snippet: Snippet) -> Text:
    """The snippet with its marks. Escapes change offsets, so each piece is escaped on its own."""
    shown, at = Text(), 0
    if snippet.is_cut_before:
        shown.append("... ", "dim")
    for first, last in snippet.marks:
        shown.append(visible_text(snippet.text[at:first]))
        shown.append(visible_text(snippet.text[first:last]), "bold yellow")
        at = last
    shown.append(visible_text(snippet.text[at:]))
    lines = Text("\n").join(line for line in shown.split("\n") if line.plain.strip())
    return lines + Text(" ..." if snippet.is_cut_after else "", "dim")
