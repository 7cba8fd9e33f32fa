"""The composition root of search: names the adapters of its ports, and owns their lifetimes.

Beside `app.py`, so that a crawl that indexes nothing loads none of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from crawl4r import events
from crawl4r.archive.captures import Captures
from crawl4r.archive.documents import Documents
from crawl4r.errors import UsageError
from crawl4r.indexing.indexer import Indexer
from crawl4r.indexing.passages import SafeCutter
from crawl4r.indexing.rules import IndexRules
from crawl4r.indexing.searcher import Searcher
from crawl4r.processes.blocking_sandbox import BlockingSandbox
from crawl4r.processes.entrypoints import CUTTER
from crawl4r.search.catalogue import Catalogue
from crawl4r.search.embed.checked import CheckedEmbedder
from crawl4r.search.generations import Generations
from crawl4r.search.index import Index
from crawl4r.search.languages import ALL
from crawl4r.search.places import LostPlace
from crawl4r.search.port import Embedder, Reranker
from crawl4r.settings.load import Settings, cache_folder
from crawl4r.storage.database import Database
from crawl4r.storage.layout import refuse_links
from crawl4r.storage.lock import WorkspaceLock
from crawl4r.wiring.index_places import begin_places, drop_others, open_index, open_previous
from crawl4r.wiring.readers import make_readers

_FOLDER = "index"


@contextlib.contextmanager
def open_indexer(
    path: Path,
    settings: Settings,
    *,
    rebuild: bool = False,
    may_replace: bool = True,
    on_replaced: Callable[[str], None] | None = None,
) -> Iterator[Indexer]:
    """The one indexer of this workspace now; everything in the thread that opens it.

    A rebuild fills a new generation, which searches use once this context ends without an error. An
    index that other workspaces share is replaced in the same way; without `may_replace` it raises
    LostPlace. `on_replaced` receives the reason, which is logged otherwise.
    """
    refuse_links(path)
    folder = path / _FOLDER
    tell = (on_replaced or _log_replaced) if may_replace else None
    with contextlib.ExitStack() as stack:
        stack.callback(WorkspaceLock(path, "index").close)
        state = Database(path / "state.db", read_only=True)
        stack.callback(state.close)
        embedder = build_embedder(settings)
        if embedder:
            stack.callback(embedder.close)
        generations = Generations(folder)
        generations.remove_others()
        drop_others(folder, generations.current(), settings)
        current, index, previous = _open_target(
            generations, settings, embedder, stack, rebuild=rebuild, tell=tell
        )
        cutters = stack.enter_context(contextlib.closing(_make_cutters(settings)))
        indexer = Indexer(
            Documents(state),
            Captures(state),
            index,
            embedder,
            SafeCutter(cutters, settings.content.max_characters),
            index_rules(settings),
            previous=previous,
        )
        indexer.take_over_past()
        yield indexer
        if current != generations.current() and not indexer.is_stopped:
            generations.switch_to(current)
            drop_others(folder, current, settings)


def _open_target(
    generations: Generations,
    settings: Settings,
    embedder: Embedder | None,
    stack: contextlib.ExitStack,
    *,
    rebuild: bool,
    tell: Callable[[str], None] | None,
) -> tuple[Path, Index, Index | None]:
    """The generation to fill, its index, and the index that it is to replace, if there is one."""
    current = generations.current()
    if current and not rebuild and (index := _go_on(current, settings, embedder, tell)):
        return current, stack.enter_context(contextlib.closing(index)), None
    previous = _open_replaced(current, settings, embedder, stack)
    folder, index = _begin(generations, settings, embedder)
    return folder, stack.enter_context(contextlib.closing(index)), previous


def _open_replaced(
    current: Path | None,
    settings: Settings,
    embedder: Embedder | None,
    stack: contextlib.ExitStack,
) -> Index | None:
    """The index that a new one is to replace; None when there is none, or it is broken."""
    if current is None:
        return None
    try:
        previous = open_previous(current, settings, embedder)
    except Exception:  # damage may show in any way, and is the usual reason to replace an index
        return None
    stack.callback(previous.close)
    return previous


def _begin(
    generations: Generations, settings: Settings, embedder: Embedder | None
) -> tuple[Path, Index]:
    """A new generation and its empty index."""
    is_first = generations.current() is None
    folder = generations.begin()
    begin_places(folder, settings, embedder)
    index = open_index(folder, settings, embedder, writable=True)
    if is_first:
        generations.switch_to(folder)  # a search finds it empty, but whole
    return folder, index


def _go_on(
    current: Path,
    settings: Settings,
    embedder: Embedder | None,
    tell: Callable[[str], None] | None,
) -> Index | None:
    """The current index; None when this workspace needs a new one. Reports why, or raises LostPlace."""
    try:
        return open_index(current, settings, embedder, writable=True)
    except LostPlace as problem:
        if not tell:
            raise
        tell(str(problem))
        return None


def _log_replaced(problem: str) -> None:
    events.emit(events.INDEX_REPLACED, 30, problem=problem)


def _make_cutters(settings: Settings) -> BlockingSandbox:
    """The timeout factor of readers: beside a crawl they have low priority and take longer."""
    section = settings.index
    config = {
        "max_tokens": section.max_tokens,
        "min_tokens": section.min_tokens,
        "overlap_tokens": section.overlap_tokens,
    }
    return BlockingSandbox(make_readers(CUTTER, config, settings, workers=1, patience=6))


def index_rules(settings: Settings) -> IndexRules:
    section = settings.index
    return IndexRules(
        frozenset() if ALL in section.languages else frozenset(section.languages),
        section.near_duplicates,
        section.max_tokens,
        section.min_tokens,
        section.overlap_tokens,
    )


@contextlib.contextmanager
def open_catalogue(path: Path) -> Iterator[Catalogue | None]:
    """The catalogue of a workspace, for queries about its index; None before the first indexing."""
    folder = Generations(path / _FOLDER).current()
    if folder is None:
        yield None
        return
    with contextlib.closing(Catalogue(folder / "catalogue.db", writable=False)) as catalogue:
        yield catalogue


class SearchHandle:
    """Search a workspace, also during a crawl. The searcher switches to a rebuilt index by itself."""

    def __init__(self, path: Path, settings: Settings) -> None:
        refuse_links(path)
        self._settings = settings
        self._generations = Generations(path / _FOLDER)
        self._embedder = build_embedder(settings)
        self._reranker = build_reranker(settings)
        self._folder: Path | None = None
        self._index: Index | None = None
        self._searcher: Searcher | None = None

    def searcher(self) -> Searcher:
        """Raises UsageError when there is no index yet."""
        folder = self._generations.current()
        if folder is None:
            raise UsageError("nothing is indexed here yet; `crawl4r index` does it")
        if self._searcher is None or folder != self._folder:
            self._close_index()
            self._index = open_index(folder, self._settings, self._embedder, writable=False)
            self._folder = folder
            if self._embedder and self._index.vectors:
                self._index.check_model(self._embedder.model)
            self._searcher = Searcher(self._index, self._embedder, self._reranker)
        return self._searcher

    @property
    def catalogue(self) -> Catalogue:
        self.searcher()
        assert self._index is not None
        return self._index.catalogue

    def close(self) -> None:
        self._close_index()
        for part in (self._embedder, self._reranker):
            if part:
                part.close()

    def _close_index(self) -> None:
        if self._index:
            self._index.close()
        self._index = self._searcher = None


def build_embedder(settings: Settings) -> Embedder | None:
    """The configured embedder; None without one, or when the optional local model is missing."""
    section = settings.embedder
    kind = section.kind
    if kind == "none":
        return None
    if kind == "tei":
        from crawl4r.search.embed.tei import TeiEmbedder  # noqa: PLC0415

        return CheckedEmbedder(TeiEmbedder(section.url, api_key=section.api_key))
    if kind == "openai":
        from crawl4r.search.embed.openai import OpenAiEmbedder  # noqa: PLC0415

        return CheckedEmbedder(OpenAiEmbedder(section.url, section.model, section.api_key))
    if kind == "static":
        from crawl4r.search.embed.static import StaticEmbedder  # noqa: PLC0415

        return CheckedEmbedder(StaticEmbedder())
    from crawl4r.search.embed.minilm import MiniLmEmbedder, is_installed  # noqa: PLC0415

    if kind == "auto" and not is_installed():
        return None
    return CheckedEmbedder(MiniLmEmbedder(cache_folder() / "models", threads=section.threads))


def build_reranker(settings: Settings) -> Reranker | None:
    where = settings.search.reranker
    if not where:
        return None
    if "://" in where:
        from crawl4r.search.embed.tei import TeiReranker  # noqa: PLC0415

        return TeiReranker(where)
    from crawl4r.search.rank.rerank_onnx import OnnxReranker  # noqa: PLC0415

    return OnnxReranker(Path(where))
