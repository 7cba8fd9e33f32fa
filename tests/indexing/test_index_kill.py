"""kill -9 while an index is made: searches go on, and the next run makes it equal to the archive."""

from __future__ import annotations

import contextlib
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from crawl4r.archive.documents import Documents, StoredDocument
from crawl4r.errors import UsageError
from crawl4r.indexing.index_all import index_all
from crawl4r.indexing.passages import embedded_text
from crawl4r.indexing.rules import IndexRules
from crawl4r.search.catalogue import Catalogue
from crawl4r.search.generations import Generations
from crawl4r.search.index import Index
from crawl4r.search.indexed_passage import IndexedPassage
from crawl4r.search.keyword.tantivy import TantivyIndex
from crawl4r.search.port import Filters
from crawl4r.search.query import parse
from crawl4r.search.request import SearchRequest
from crawl4r.search.vectors.scan import ScanVectors
from crawl4r.settings.load import Settings, load_settings
from crawl4r.storage.database import Database
from crawl4r.wiring import search
from crawl4r.wiring.search import SearchHandle, index_rules
from tests.faults.killing import killed_workspaces, plan, start_dying, was_killed
from tests.indexing.indexed import WordVectors, indexing, put
from tests.interfaces.cli.running import LOOPBACK, run
from tests.search.embed.embedding_servers import DIMENSION, HashEmbedder, our_service, vector_of
from tests.site.process import SiteProcess

PAGES = 60
RECORDS = 60
SHARE = 0.04  # of the soak's kills
# What is made first, and what each batch writes: keywords or vectors, then the catalogue.
IN_A_CRAWL = {
    "none": {
        "after script index/*/catalogue.db": 1,
        "before statement index/*/catalogue.db": 200,
        "before commit index/*/keyword/current": 1,
        "during commit index/*/keyword/current": 1,
        "after commit index/*/keyword/current": 1,
        "during commit index/*/catalogue.db": 1,
        "after commit index/*/catalogue.db": 1,
        "before replace index/current.new": 1,
    },
    "tei": {
        "before ftruncate index/*/vectors/*": 3,
        "during pwrite index/*/vectors/rows.bin": 1,
        "after pwrite index/*/vectors/vectors.bin": 1,
        "after fsync index/*/vectors/*": 6,
        "during pwrite index/*/vectors/head": 1,
        "after pwrite index/*/vectors/head": 1,
        "during commit index/*/catalogue.db": 2,
    },
}
IN_A_REBUILD = {
    "none": {
        "after mkdir index/generation-*": 1,
        "before statement index/*/catalogue.db": 200,
        "during commit index/*/keyword/current": 1,
        "before replace index/current.new": 1,
        "after replace index/current.new": 1,
    },
    "tei": {
        "after pwrite index/*/vectors/head.new": 1,
        "after pwrite index/*/vectors/vectors.bin": 1,
        "before commit index/*/catalogue.db": 2,
        "after replace index/current.new": 1,
    },
}
ALL = 100_000  # passages: more than any index here has
EVERYTHING = Filters()


@pytest.fixture(scope="module")
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as running:
        yield running


@pytest.fixture
def teller() -> Iterator[str]:
    """The address of a server that embeds."""
    with our_service(HashEmbedder()) as address:
        yield address


def test_a_crawl_killed_again_and_again_leaves_an_index_of_all_its_pages(
    site: SiteProcess, tmp_path: Path
) -> None:
    _crawl_with_kills(site, tmp_path, _settings("none"))


def test_a_killed_crawl_that_embeds_leaves_a_vector_for_each_passage(
    site: SiteProcess, tmp_path: Path, teller: str
) -> None:
    _crawl_with_kills(site, tmp_path, _settings("tei", teller))


@pytest.mark.parametrize("kind", ["none", "tei"])
def test_a_killed_rebuild_leaves_the_old_index_or_the_new_one(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    settings = _settings(kind, request.getfixturevalue("teller") if kind == "tei" else "")
    put(tmp_path, *(_record(number) for number in range(RECORDS)))
    env = _environment(settings)
    assert run("index", "-w", tmp_path, "--json", env=env).code == 0
    for kill in plan(random.Random(f"rebuild {kind}"), IN_A_REBUILD[kind], SHARE):
        rebuild = start_dying("index", "-w", tmp_path, "--rebuild", at=kill, env=env)
        assert was_killed(rebuild), f"{kill} does not come"
        assert_index_equals_archive(tmp_path, settings, with_leftovers=True)
        assert len(_answer(tmp_path, settings, "harbour")) == 10
    assert run("index", "-w", tmp_path, "--json", env=_environment(settings)).code == 0
    assert_index_equals_archive(tmp_path, settings)
    assert run("index", "-w", tmp_path, "--rebuild", env=_environment(settings)).code == 0
    assert_index_equals_archive(tmp_path, settings)


class Killed(BaseException):
    """No code catches this error: uncommitted data is lost, as after the death of a process."""


def test_death_between_any_two_steps_of_an_update_is_made_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when the site takes back the change that was being indexed."""
    rules = IndexRules(max_tokens=60)
    archives = _archives(tmp_path, rules)
    for fatal_step in range(1, 1_000):
        path = tmp_path / str(fatal_step)
        shutil.copytree(archives[0], path)
        was_killed = False
        with monkeypatch.context() as patched, indexing(path, rules) as (indexer, _, _):
            _die_before(patched, fatal_step)
            try:
                index_all(indexer)
            except Killed:
                was_killed = True
        shutil.copytree(archives[1], path, dirs_exist_ok=True)
        with indexing(path, rules) as (indexer, index, _):
            index_all(indexer)
            _assert_says_what_the_archive_says(path, rules, index)
            _assert_vectors_belong(index, WordVectors().embed_query)
        if not was_killed:
            assert fatal_step > 8
            return


def _archives(folder: Path, rules: IndexRules) -> tuple[Path, Path]:
    """One with an index that has not seen its last change; the same where that was taken back."""
    changed, back = folder / "changed", folder / "back"
    put(changed, *(_record(number) for number in range(4)))
    with indexing(changed, rules) as (indexer, _, _):
        index_all(indexer)
    put(changed, _record(1, "Nothing is as it was."), _record(9))
    shutil.copytree(changed, back, ignore=shutil.ignore_patterns("index"))
    put(back, _record(1))
    return changed, back


def _die_before(patched: pytest.MonkeyPatch, fatal_step: int) -> None:
    """Whatever writes is a step."""
    steps = 0

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any) -> Any:
            nonlocal steps
            steps += 1
            if steps == fatal_step:
                raise Killed
            return real(*arguments)

        return step

    for part, names in (
        (Catalogue, ("commit", "mark_embedded", "retire")),
        (TantivyIndex, ("put", "delete", "commit")),
        (ScanVectors, ("put", "retire", "delete")),
    ):
        for name in names:
            patched.setattr(part, name, counted(getattr(part, name)))


def test_an_index_that_was_begun_and_no_more_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object, **__: object) -> None:
        raise Killed

    settings = _settings("none")
    put(tmp_path, _record(1))
    with monkeypatch.context() as patched:
        patched.setattr(search, "open_index", die)
        with pytest.raises(Killed), search.open_indexer(tmp_path, settings):
            pass
    assert _folders(tmp_path) == 1
    with pytest.raises(UsageError, match="nothing is indexed here yet"):
        _answer(tmp_path, settings, "harbour")
    (tmp_path / "index" / "current.new").write_text("gener")
    assert run("index", "-w", tmp_path, env=_environment(settings)).code == 0
    assert_index_equals_archive(tmp_path, settings)


def assert_index_equals_archive(
    path: Path, settings: Settings, *, with_leftovers: bool = False
) -> None:
    """Every document that belongs into the index is in all its parts, and nothing else is."""
    current = Generations(path / "index").current()
    assert current is not None
    if not with_leftovers:
        names = sorted(each.name for each in (path / "index").iterdir())
        assert names == ["current", current.name]
    with _opened(current, settings) as index:
        _assert_says_what_the_archive_says(path, index_rules(settings), index)
        if settings.embedder.kind != "none":
            _assert_vectors_belong(index, vector_of)


def _assert_says_what_the_archive_says(path: Path, rules: IndexRules, index: Index) -> None:
    with contextlib.closing(Database(path / "state.db", read_only=True)) as state:
        admitted = {s.id: s for s in Documents(state).stream() if _is_admitted(s, rules)}
    assert admitted
    assert sorted(index.catalogue.current_ids()) == sorted(admitted)
    passages = [found for stored in admitted.values() for found in _passages(index, stored)]
    numbers = {found.entry.number for found in passages}
    assert index.keyword.count() == len(numbers)
    titles = dict.fromkeys(word for found in passages for word in found.version.title.split())
    by_words = index.keyword.best(parse(" ".join(titles)).keywords, ALL, EVERYTHING)
    assert {hit.number for hit in by_words} == numbers


def _assert_vectors_belong(index: Index, vector_of_text: Callable[[str], Any]) -> None:
    """Each passage has the vector of its text, and nothing else has one."""
    assert index.vectors is not None
    totals = index.catalogue.totals()
    assert index.vectors.count() == totals["embedded"] == totals["passages"]
    direction = vector_of_text("harbour")
    numbers = [hit.number for hit in index.vectors.nearest(direction, ALL, EVERYTHING)]
    found = index.catalogue.find(numbers)
    assert len(found) == len(numbers) == totals["passages"]
    for number, vector in index.vectors.vectors(numbers).items():
        entry, version = found[number]
        assert version.retired_at is None
        text = embedded_text(version.title, entry.headings, entry.text)
        assert float(vector @ vector_of_text(text)) > 0.99


def _is_admitted(stored: StoredDocument, rules: IndexRules) -> bool:
    language = stored.document.language
    is_ours = not language or language in rules.languages or bool(stored.document.external_id)
    return stored.gone_at is None and not stored.near_of and is_ours


def _passages(index: Index, stored: StoredDocument) -> list[IndexedPassage]:
    """Of a document, once it is certain that they are its text."""
    version = index.catalogue.current(stored.id)
    assert version is not None
    assert version.content_hash == stored.content_hash
    passages = index.catalogue.passages_of(version)
    markdown, end = stored.document.markdown, 0
    for entry, _ in passages:
        assert entry.text == markdown[entry.start : entry.end]
        assert _is_left_out(markdown[end : entry.start])
        end = entry.end
    assert passages
    assert _is_left_out(markdown[end:])
    return passages


def _is_left_out(text: str) -> bool:
    """Blank, or a list of links."""
    return all("](" in line for line in text.splitlines() if line.strip())


def _crawl_with_kills(site: SiteProcess, folder: Path, settings: Settings) -> None:
    known: dict[Path, set[str]] = {}
    env = _environment(settings)

    def look(workspace: Path) -> None:
        now = _documents_found(workspace, settings)
        assert known.get(workspace, set()) <= now
        known[workspace] = now

    def start(workspace: Path, at: str) -> subprocess.Popen[bytes]:
        look(workspace)
        return start_dying(*_crawl(site, workspace), at=at, env=env)

    kind = settings.embedder.kind
    kills = plan(random.Random(f"crawl {kind}"), IN_A_CRAWL[kind], SHARE)
    for workspace, _ in killed_workspaces(folder, kills, start):
        look(workspace)
        assert run(*_crawl(site, workspace), env=env).code == 0
        assert_index_equals_archive(workspace, settings)


def _crawl(site: SiteProcess, workspace: Path) -> list[str]:
    return ["crawl", site.url(f"/site/{PAGES}/"), "-w", str(workspace), *LOOPBACK, "--json"]


def _documents_found(workspace: Path, settings: Settings) -> set[str]:
    """What can be found in the state that a kill left: never an error, never half a document."""
    if not (workspace / "state.db").exists():
        return set()
    try:
        hits = _answer(workspace, settings, "page")
    except UsageError as nothing:
        assert "nothing is indexed here yet" in str(nothing)
        return set()
    current = Generations(workspace / "index").current()
    assert current is not None
    with _opened(current, settings) as index:
        documents = set(index.catalogue.current_ids())
        assert index.keyword.count() >= index.catalogue.totals()["passages"]
    assert bool(hits) == bool(documents)
    return documents


def _answer(workspace: Path, settings: Settings, query: str) -> list[str]:
    door = SearchHandle(workspace, settings)
    try:
        answer = door.searcher().search(SearchRequest(query, per_document=0))
        return [hit.found.version.url for hit in answer.hits]
    finally:
        door.close()


@contextlib.contextmanager
def _opened(folder: Path, settings: Settings) -> Iterator[Index]:
    has_vectors = settings.embedder.kind != "none"
    index = Index(
        Catalogue(folder / "catalogue.db", writable=False),
        TantivyIndex(folder / "keyword", writable=False),
        ScanVectors(folder / "vectors", DIMENSION, writable=False) if has_vectors else None,
    )
    try:
        yield index
    finally:
        index.close()


def _record(number: int, text: str = "") -> dict[str, str]:
    words = random.Random(number)
    paragraphs = [
        f"## Part {part}\n\n" + " ".join(f"harbour{words.randrange(5_000)}" for _ in range(40))
        for part in range(3)
    ]
    text = text or f"The harbour of keeper{number}.\n\n" + "\n\n".join(paragraphs)
    return {"id": f"record-{number}", "title": f"Record {number}", "text": text}


def _settings(kind: str, url: str = "") -> Settings:
    return load_settings(environment={}, overrides={"embedder": {"kind": kind, "url": url}})


def _environment(settings: Settings) -> dict[str, str]:
    section = settings.embedder
    where = {"CRAWL4R_EMBEDDER__URL": section.url} if section.url else {}
    return {"CRAWL4R_INDEX__ENABLED": "true", "CRAWL4R_EMBEDDER__KIND": section.kind, **where}


def _folders(path: Path) -> int:
    return len(list((path / "index").glob("generation-*")))
