"""All documents of a workspace become searchable, in the thread that asks for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct

from crawl4r.indexing.index_all import index_all
from crawl4r.indexing.indexer import IndexProgress
from crawl4r.settings.load import Settings
from crawl4r.wiring.search import open_indexer

# Called with what is done, and with how many documents and passages are still to be done.
OnIndexed: TypeAlias = Callable[[IndexProgress, tuple[int, int]], None]


class IndexReport(Struct, frozen=True):
    """What was indexed, and what the index holds now."""

    documents: int  # that were looked at
    passages: int  # that were indexed
    embedded: int  # passages that got a vector
    reused: int  # passages whose text had a vector already
    left_out: dict[str, int]  # documents, by reason
    documents_behind: int
    passages_behind: int  # without a vector
    vectors_waiting: bool  # for a server that does not answer; the next run sends them
    totals: dict[str, Any]


def index_workspace(
    path: Path,
    settings: Settings,
    *,
    rebuild: bool = False,
    with_vectors: bool = True,
    on_progress: OnIndexed | None = None,
    on_begin: Callable[[int], None] = lambda documents: None,
    on_replaced: Callable[[str], None] | None = None,
) -> IndexReport:
    """Index what is new. `on_begin` is called with how many documents that are, `on_replaced` with the
    reason why a new index is made."""
    with open_indexer(path, settings, rebuild=rebuild, on_replaced=on_replaced) as indexer:
        on_begin(indexer.behind()[0])
        done = index_all(indexer, with_vectors=with_vectors, on_progress=on_progress)
        documents, passages = indexer.behind()
        return IndexReport(
            done.documents, done.passages, done.embedded, done.reused, done.left_out,
            documents, passages, indexer.has_waiting_vectors(), indexer.totals(),
        )  # fmt: skip


def count_behind(path: Path, settings: Settings) -> tuple[int, int]:
    """How many documents are not indexed, and how many passages have no vector; nothing is changed."""
    with open_indexer(path, settings, may_replace=False) as indexer:
        return indexer.behind()
