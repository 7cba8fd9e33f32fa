"""`crawl4r search`: find passages, with their sources."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from crawl4r.errors import UsageError
from crawl4r.interfaces.cli.options import (
    json_option,
    open_for_reading,
    print_json,
    workspace_option,
)
from crawl4r.interfaces.cli.output import say, say_row
from crawl4r.safe_text import load_json

if TYPE_CHECKING:
    from crawl4r.indexing.searcher import Searcher
    from crawl4r.search.request import Answer, SearchRequest


class _Search(click.Command):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as problem:
            if problem.option_name.startswith("--"):
                raise
            # As in `search full text -russian`.
            hint = "To leave out a word, quote the whole query: 'full text -russian'."
            message = f"No such option {problem.option_name!r}. {hint}"
            raise click.NoSuchOption(problem.option_name, message, ctx=ctx) from None


@click.command("search", cls=_Search)
@click.argument("words", nargs=-1, metavar="[QUERY]...")
@workspace_option
@click.option("--limit", "-n", type=click.IntRange(1, 200), default=10, show_default=True)
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "keyword", "vector"]),
    default="hybrid",
    show_default=True,
    help="Search by words and meaning, or by one of them.",
)
@click.option(
    "--site", "domains", multiple=True, help="Search only this domain and those below it."
)
@click.option(
    "--type",
    "types",
    multiple=True,
    help="Search only this type: html, pdf, ... or code, table, list.",
)
@click.option("--language", "languages", multiple=True, help="Search only this language, e.g. en.")
@click.option(
    "--collection", "collections", multiple=True, help="Search only documents of this collection."
)
@click.option("--tag", "tags", multiple=True, help="Search only documents with this tag.")
@click.option("--since", help="Search only captures on or after this date.")
@click.option("--before", help="Search only captures before this date.")
@click.option("--as-of", help="Search the state of this date.")
@click.option(
    "--per-document", type=click.IntRange(0), help="Show so many passages of a document; 0: any."
)
@click.option(
    "--neighbours", type=click.IntRange(0, 5), default=0, help="Add so many passages around each."
)
@click.option(
    "--min-score",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Omit results below this score, from 0 to 1.",
)
@click.option(
    "--fusion",
    type=click.Choice(["convex", "rrf"]),
    help="Join words and meaning by their scores, or by their ranks.  [default: convex]",
)
@click.option(
    "--keyword-weight", type=click.FloatRange(0), help="Set the weight of words.  [default: 0.3]"
)
@click.option(
    "--vector-weight", type=click.FloatRange(0), help="Set the weight of meaning.  [default: 0.7]"
)
@click.option("--rrf-k", type=click.IntRange(1), help="Set the constant k of rrf.  [default: 60]")
@click.option("--rerank", is_flag=True, help="Reorder the best with the configured cross-encoder.")
@click.option("--cursor", help="Continue after an earlier answer.")
@click.option(
    "--queries",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help='Read many queries from lines like {"id": "1", "text": "..."}.',
)
@click.option("--explain", is_flag=True, help="Show the ranks, scores and times of both rankings.")
@json_option
def command(
    words: tuple[str, ...],
    workspace: Path,
    queries: Path | None,
    explain: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Search passages by words and by meaning.

    It also works during a crawl.

    \b
    crawl4r search "how do I roll back to a savepoint" -w docs
    crawl4r search '"full text search" -russian site:postgresql.org type:table'
    crawl4r search 'connect* after:2026-01' --mode keyword --explain
    crawl4r search --queries questions.jsonl --limit 100 --json

    Words, "phrases", prefix*, -without, +with, site:, type:, lang:, tag:, collection:, before: and
    after:. Several words are one query; quote it for the shell. Scores are from 0 to 1 and can be
    compared between queries.
    """
    from crawl4r.workspace.moments import epoch_seconds  # noqa: PLC0415 - help goes without
    from crawl4r.workspace.search import request_of  # noqa: PLC0415

    if bool(words) == (queries is not None):
        raise UsageError("give a query, or a file of them with --queries")
    for name in ("since", "before", "as_of"):
        options[name] = epoch_seconds(options[name], "--" + name.replace("_", "-"))
    with open_for_reading(workspace) as opened:
        opened.refuse_unknown_labels(options)
        handle = opened.search_handle
        request = request_of(" ".join(words), opened.settings.search, options)
        if queries is not None:
            _answer_many(handle.searcher(), queries, request, as_json)
            return
        answer = handle.searcher().search(request)
        if len(answer.hits) < request.limit:
            note = _note_on_languages(handle.catalogue.other_languages(), workspace)
            answer = replace(answer, notes=[*answer.notes, *note])
        _tell(answer, request, explain, as_json)


def _note_on_languages(kept_out: dict[str, int], workspace: Path) -> list[str]:
    """The languages outside of the index, and the command that adds them."""
    from crawl4r.interfaces.cli.view.format import languages_kept_out  # noqa: PLC0415

    return [languages_kept_out(kept_out, workspace)] if kept_out else []


def _tell(answer: Answer, request: SearchRequest, explain: bool, as_json: bool) -> None:
    from crawl4r.interfaces.cli.view.search import print_answer  # noqa: PLC0415
    from crawl4r.interfaces.json.search import answer_json  # noqa: PLC0415

    if as_json:
        print_json(answer_json(answer, explain=explain))
    else:
        print_answer(answer, request, explain=explain)


def _answer_many(searcher: Searcher, file: Path, request: SearchRequest, as_json: bool) -> None:
    """One line a result; each document once, since documents are what such lists are judged by."""
    for name, text in _queries_in(file):
        answer = searcher.search(replace(request, query=text, per_document=1))
        for rank, hit in enumerate(answer.hits, 1):
            line = {"query": name, "rank": rank, "id": hit.id, "score": round(hit.score, 6)}
            if as_json:
                print_json(line)
            else:
                say_row(*line.values())


def _queries_in(file: Path) -> list[tuple[str, str]]:
    """Read and check all queries before the first search. Long ones are cut."""
    from crawl4r.search.query import LONGEST_QUERY, parse_checked  # noqa: PLC0415

    found = []
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            place = f"{file}, line {number}"
            name, text = _query_in(line, number, place)
            if len(text) > LONGEST_QUERY:
                say(f"{place}: only the first {LONGEST_QUERY:,} characters are read", err=True)
                text = text[:LONGEST_QUERY]
            try:
                parse_checked(text)
            except UsageError as problem:
                raise UsageError(f"{place}: {problem}") from None
            found.append((name, text))
    return found


def _query_in(line: bytes, number: int, place: str) -> tuple[str, str]:
    try:
        record = load_json(line)
        text = record.get("text", record.get("query"))
        name = str(record.get("id", number))
    except (ValueError, AttributeError, RecursionError):
        text = None
    if not isinstance(text, str):
        raise UsageError(f'{place}: not like {{"id": "1", "text": "..."}}')
    return name, text
