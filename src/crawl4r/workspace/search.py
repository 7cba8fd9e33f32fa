"""Searches from Python and from the command line: options to a request, and a request to an answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crawl4r.errors import UsageError
from crawl4r.safe_text import well_formed
from crawl4r.search.port import Filters
from crawl4r.search.request import EVERYTHING, Fusion, Mode, SearchRequest
from crawl4r.settings.sections.content import Searching
from crawl4r.workspace.moments import epoch_seconds


def request_of(query: str, defaults: Searching, options: dict[str, Any]) -> SearchRequest:
    """What `SearchOptions` ask for; what they leave open is as in the settings."""

    def given(name: str) -> Any:
        value = options.get(name)
        return getattr(defaults, name) if value is None else value

    return SearchRequest(
        query,
        _member(Mode, "mode", options.get("mode") or Mode.HYBRID),
        options.get("limit", 10),
        _filters(options),
        _member(Fusion, "fusion", given("fusion")),
        given("keyword_weight"),
        given("vector_weight"),
        given("rrf_k"),
        min_score=options.get("min_score", 0.0),
        per_document=given("per_document"),
        neighbours=options.get("neighbours", 0),
        rerank=options.get("rerank", False),
        cursor=options.get("cursor"),
    )


def _filters(options: dict[str, Any]) -> Filters:
    since, before, as_of = (
        epoch_seconds(options.get(name), name) for name in ("since", "before", "as_of")
    )
    return Filters(
        domains=_words(options.get("domains")),
        types=_words(options.get("types")),
        languages=_words(options.get("languages")),
        collections=_words(options.get("collections")),
        tags=_words(options.get("tags")),
        since=EVERYTHING.since if since is None else since,
        before=EVERYTHING.before if before is None else before,
        as_of=EVERYTHING.as_of if as_of is None else as_of,
    )


def _words(values: Iterable[str] | None) -> tuple[str, ...]:
    """Well-formed: bytes of a command line that are no UTF-8 arrive as halves of pairs."""
    return tuple(well_formed(value) for value in values or ())


def _member(kind: Any, name: str, value: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise UsageError(f"{name}: {value!r} is not one of {', '.join(kind)}") from None
