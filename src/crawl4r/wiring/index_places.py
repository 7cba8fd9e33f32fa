"""Open the parts of an index, in the workspace or on the servers that the settings name.

Each place on a server belongs to one workspace: see `search/places.py`.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from crawl4r.errors import Crawl4rError, UsageError
from crawl4r.search.catalogue import Catalogue
from crawl4r.search.index import Index
from crawl4r.search.keyword.tantivy import TantivyIndex
from crawl4r.search.places import KEYWORD, VECTORS, Claim, LostPlace, Places, ServerPlace
from crawl4r.search.port import Embedder, KeywordIndex, VectorIndex
from crawl4r.search.vectors.scan import ScanVectors
from crawl4r.settings.load import Settings

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

_EMBEDDED = "embedded"
_REMEDY = "`crawl4r index --rebuild` makes it again"


def open_index(
    folder: Path, settings: Settings, embedder: Embedder | None, *, writable: bool
) -> Index:
    """Open a generation. Raises LostPlace when its parts are elsewhere than the settings say."""
    with contextlib.ExitStack() as undo:
        catalogue = Catalogue(folder / "catalogue.db", writable=writable)
        undo.callback(catalogue.close)
        keyword = _open_keyword(folder, settings, writable=writable)
        undo.callback(keyword.close)
        vectors = None
        if embedder:
            has_some = catalogue.has_vectors()
            vectors = _open_vectors(folder, settings, embedder, has_some, writable=writable)
        undo.pop_all()
    return Index(catalogue, keyword, vectors)


def open_previous(folder: Path, settings: Settings, embedder: Embedder | None) -> Index:
    """Copy what a rebuild reuses: retired passages, and the vectors if they belong to this index."""
    catalogue = Catalogue(folder / "catalogue.db", writable=False)
    vectors = None
    places = _places_of(folder)
    is_ours = places.find(folder.name, VECTORS) or settings.index.vectors == _EMBEDDED
    if embedder and is_ours:
        with contextlib.suppress(Exception):  # the index that is replaced may be broken
            vectors = _open_vectors(folder, settings, embedder, has_some=True, writable=False)
    # A folder without an index gives an empty one: the rebuild reads the words from the documents.
    return Index(catalogue, TantivyIndex(folder / "no-keyword", writable=False), vectors)


def begin_places(folder: Path, settings: Settings, embedder: Embedder | None) -> None:
    """Choose names for the parts of a new generation on servers."""
    for part in _parts_on_servers(settings):
        if part == KEYWORD or embedder:
            _places_of(folder).begin(folder.name, part, settings.index.collection)


def drop_others(index: Path, current: Path | None, settings: Settings) -> None:
    """Delete the parts of removed generations on servers; failed deletions are tried again later."""
    places = Places(index.parent)
    own = [p for p in places.own() if current is None or p.generation != current.name]
    for place in own:
        with contextlib.suppress(Crawl4rError):
            _drop(place, places, settings)
    if current is not None:
        places.forget_others(current.name)


def drop_places(workspace: Path, settings: Settings) -> list[str]:
    """Delete all parts of a workspace on servers. Returns the failures with their reasons."""
    places = Places(workspace)
    failed = []
    for place in places.own():
        try:
            _drop(place, places, settings)
        except Crawl4rError as problem:
            failed.append(f"{place.name} on its server ({problem})")
    return failed


def _drop(place: ServerPlace, places: Places, settings: Settings) -> None:
    if place.part not in _parts_on_servers(settings):
        raise UsageError(f"index.{place.part} names no server")
    with contextlib.suppress(LostPlace):  # a copy has taken it over, or it is gone
        _drop_claimed(place.part, places.to_write(place), settings)
    places.forget({place.name})


def _drop_claimed(part: str, claim: Claim, settings: Settings) -> None:
    if part == KEYWORD:
        from crawl4r.search.keyword.postgres import PostgresKeywordIndex  # noqa: PLC0415

        PostgresKeywordIndex(settings.index.keyword, claim.name, claim).drop()
        return
    with contextlib.closing(_client(settings)) as client:
        from crawl4r.search.vectors.qdrant_owner import drop_collection  # noqa: PLC0415

        drop_collection(client, claim)


def _open_keyword(folder: Path, settings: Settings, *, writable: bool) -> KeywordIndex:
    where = settings.index.keyword
    place = _places_of(folder).find(folder.name, KEYWORD)
    if where == _EMBEDDED:
        if place:
            raise _elsewhere(folder, KEYWORD, f"on a server ({place.name})")
        return TantivyIndex(folder / "keyword", writable=writable)
    if place is None and (folder / "keyword").exists():
        raise _elsewhere(folder, KEYWORD, "in the workspace")
    from crawl4r.search.keyword.postgres import PostgresKeywordIndex  # noqa: PLC0415

    if place is None:
        return PostgresKeywordIndex(where, _old_name(folder, settings, writable=writable))
    claim = _claim(folder, place, writable=writable)
    return PostgresKeywordIndex(where, claim.name, claim)


def _open_vectors(
    folder: Path, settings: Settings, embedder: Embedder, has_some: bool, *, writable: bool
) -> VectorIndex | None:
    where = settings.index.vectors
    place = _places_of(folder).find(folder.name, VECTORS)
    if where == _EMBEDDED:
        if place:
            raise _elsewhere(folder, VECTORS, f"on a server ({place.name})")
        return ScanVectors(folder / "vectors", embedder.dimension, writable=writable)
    if place is None and has_some and (folder / "vectors").exists():
        raise _elsewhere(folder, VECTORS, "in the workspace")
    from crawl4r.search.vectors.qdrant import QdrantVectors  # noqa: PLC0415

    queue = folder / "waiting" if writable else None
    if place is None and not has_some:  # there was no embedder before
        if not writable:
            return None
        _places_of(folder).begin(folder.name, VECTORS, settings.index.collection)
        place = _places_of(folder).find(folder.name, VECTORS)
    if place is None:
        name = _old_name(folder, settings, writable=writable)
        return QdrantVectors(_client(settings), name, embedder.dimension, queue=queue)
    if not (writable or place.is_made):  # the server was away: keywords alone for now
        return None
    claim = _claim(folder, place, writable=writable)
    return QdrantVectors(
        _client(settings), claim.name, embedder.dimension, queue=queue, claim=claim
    )


def _client(settings: Settings) -> QdrantClient:
    from crawl4r.search.vectors.qdrant import connect  # noqa: PLC0415

    return connect(settings.index.vectors, settings.index.vectors_key or None)


def _claim(folder: Path, place: ServerPlace, *, writable: bool) -> Claim:
    places = _places_of(folder)
    return places.to_write(place) if writable else places.to_read(place)


def _old_name(folder: Path, settings: Settings, *, writable: bool) -> str:
    """Refuse a place of an older crawl4r, where two workspaces could share one name on a server."""
    name = f"{settings.index.collection}_{folder.name}".replace("-", "_")
    if writable:
        raise LostPlace(
            f"the index of {folder.parent.parent} is on a server under a name that other workspaces"
            f" may use too ({name}); {_REMEDY}"
        )
    return name


def _elsewhere(folder: Path, part: str, where: str) -> LostPlace:
    return LostPlace(
        f"the index of {folder.parent.parent} was made {where}, and index.{part} now names another"
        f" place; {_REMEDY}, or set it back"
    )


def _places_of(folder: Path) -> Places:
    return Places(folder.parent.parent)


def _parts_on_servers(settings: Settings) -> list[str]:
    where = {KEYWORD: settings.index.keyword, VECTORS: settings.index.vectors}
    return [part for part, address in where.items() if address != _EMBEDDED]
