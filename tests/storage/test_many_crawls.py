"""One store holds many crawls: what is whose, and what an older workspace becomes."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import crawl4r
from crawl4r.errors import UsageError
from crawl4r.frontier.priority import breadth_first
from crawl4r.frontier.sqlite import SqliteFrontier
from crawl4r.model import Ending, Found, FoundBy, UrlState, Verdict
from crawl4r.storage.crawls import CrawlNotes, Crawls, count_urls, peek_crawl_note
from crawl4r.storage.database import Database
from crawl4r.storage.host_lessons import Lessons
from crawl4r.storage.tables import Notes

HOST = "example.org"
OLDER = Path(__file__).with_name("fixtures") / "workspace-11.tar.xz"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with closing(Database(tmp_path / "state.db")) as opened:
        yield opened


def found(path: str, group: str = "") -> Found:
    groups = (group,) if group else ()
    return Found(f"http://{HOST}/{path}", HOST, 1, FoundBy.LINK, True, "", groups=groups)


def frontier_of(database: Database, crawl: int) -> SqliteFrontier:
    return SqliteFrontier(database, crawl, breadth_first, {"posts": 1})


def test_two_crawls_lease_the_same_url_without_each_other(database: Database) -> None:
    crawls = Crawls(database)
    first, second = (crawls.add(name, 0.0).id for name in ("first", "second"))
    one, other = frontier_of(database, first), frontier_of(database, second)
    for frontier in (one, other):
        frontier.add([found("a", "posts"), found("b", "posts")], None, 0.0)
    (lease,) = one.lease(HOST, 9)  # the cap of posts holds for each crawl alone
    one.settle([Ending(lease.url_id, UrlState.DONE, Verdict.OK, "")])
    assert (one.count_unfinished(), other.count_unfinished()) == (0, 1)
    assert [lease.url for lease in other.lease(HOST, 9)] == [f"http://{HOST}/a"]
    assert one.recover() == 0
    assert other.recover() == 1


def test_a_deleted_crawl_leaves_the_others_and_its_totals(database: Database) -> None:
    crawls = Crawls(database)
    first, second = (crawls.add(name, 0.0) for name in ("first", "second"))
    for crawl in (first, second):
        frontier_of(database, crawl.id).add([found("a"), found("b")], None, 0.0)
        CrawlNotes(database, crawl.id).count("pages", 3)
        CrawlNotes(database, crawl.id).put("options", crawl.name)
        Lessons(database, crawl.id).put(HOST, "traps", HOST, {"of": crawl.name})
    Lessons(database).put(HOST, "usual-place", "/archive", {"tried": 1})
    crawls.delete(second.id)
    assert [crawl.name for crawl in crawls.all()] == ["first"]
    assert (count_urls(database), Notes(database).tally("pages")) == (2, 6)
    assert CrawlNotes(database, second.id).get("options") is None
    assert Lessons(database, second.id).get(HOST, "traps", HOST) is None
    assert Lessons(database, first.id).get(HOST, "traps", HOST) == {"of": "first"}
    assert Lessons(database).get(HOST, "usual-place", "/archive") == {"tried": 1}
    third = crawls.add("second", 0.0)
    assert third.id > second.id
    frontier_of(database, third.id).add([found("c")], None, 0.0)
    assert count_urls(database) == 3


@pytest.mark.parametrize("name", ["", "A", "a b", "../a", "7", "-a", "a/b", "a" * 65, "é"])
def test_a_name_that_no_crawl_can_have_is_refused(database: Database, name: str) -> None:
    with pytest.raises(UsageError, match="no name for a crawl"):
        Crawls(database).add(name, 0.0)


def test_a_crawl_is_found_by_name_and_number_and_no_name_is_given_twice(
    database: Database,
) -> None:
    crawls = Crawls(database)
    made = crawls.add("news", 0.0)
    assert crawls.get("news") == crawls.get(str(made.id)) == made
    with pytest.raises(UsageError, match="already"):
        crawls.add("news", 0.0)
    with pytest.raises(UsageError, match="no crawl 'blog' in this store; there are: news"):
        crawls.get("blog")


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("docs.example.org", "docs.example.org"),
        ("127.0.0.1:8000", "127.0.0.1:8000"),
        ("[::1]:80", "1-:80"),
        ("7", "crawl-7"),
        ("", "crawl"),
    ],
)
def test_a_new_crawl_is_named_after_its_host(database: Database, host: str, name: str) -> None:
    crawls = Crawls(database)
    assert crawls.add(crawls.free_name(host), 0.0).name == name
    assert crawls.free_name(host) == f"{name}-2"


def test_the_crawl_that_began_last_is_the_one_that_a_command_means(database: Database) -> None:
    crawls = Crawls(database)
    assert crawls.last() is None
    first, second = (crawls.add(name, 0.0) for name in ("first", "second"))
    crawls.begin(second.id, 1.0)
    crawls.begin(first.id, 2.0)
    CrawlNotes(database, first.id).put("options", "of the first")
    database.commit()
    last = crawls.last()
    assert last is not None and last.name == "first"
    folder = database.path.parent
    assert peek_crawl_note(folder, "options") == "of the first"
    assert peek_crawl_note(folder, "options", "second") is None


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """Four pages of the bundled site, visited twice, and an imported text, as format 11 kept them."""
    with tarfile.open(OLDER) as archive:
        archive.extractall(tmp_path / "older", filter="data")
    return tmp_path / "older"


def test_an_older_workspace_becomes_a_store_with_one_crawl(older: Path) -> None:
    before = peek_crawl_note(older, "scope_hosts")
    with crawl4r.open(older) as workspace:
        (crawl,) = workspace.parts.crawls.all()
        assert (crawl.id, crawl.name) == (1, "127.0.0.1:35025")
        notes = workspace.parts.notes_of(1)
        assert notes.get("scope_hosts") == before == '["127.0.0.1:35025"]'
        assert workspace.status()["urls"] == {"done": 5, "pending": 24, "refused": 8}
        assert (workspace.status()["known"], workspace.status()["pages"]) == (37, 5)
        assert notes.tally("imported_pages") == 1
        pages = workspace.database.read("SELECT count(capture), count(content) FROM pages")
        assert pages == [(5, 5)]
        home = workspace.history("http://127.0.0.1:35025/")
        assert [entry.status for entry in home] == [200, 304]
        assert workspace.why("http://127.0.0.1:35025/")["revisit"]["visits"] == 1
        assert len(list(workspace.documents())) == 5
        page = workspace.get("http://127.0.0.1:35025/guide/robots.html")
        assert page is not None and "robots.txt" in page.title


def test_an_older_workspace_is_visited_again_with_what_it_knows(older: Path) -> None:
    with crawl4r.open(older) as workspace:
        frontier = frontier_of(workspace.database, 1)
        frontier.keeps_to_known = True
        assert frontier.requeue([UrlState.DONE]) == 5
        leases = {lease.url: lease for lease in frontier.lease("127.0.0.1", 99)}
        assert len(leases) == 4
        home = leases["http://127.0.0.1:35025/"]
        assert home.validators is not None
        assert home.validators.etag or home.validators.last_modified
        assert all(lease.is_revisit and lease.was_answered for lease in leases.values())
