"""Which captures need their bytes: by default all of them, and by each rule of a policy."""

from __future__ import annotations

import pytest

from crawl4r.archive.captures import Captures
from crawl4r.archive.documents import Documents, id_of
from crawl4r.archive.retention import Retention
from crawl4r.errors import UsageError
from crawl4r.model import Document, Verdict
from crawl4r.storage.database import Database
from crawl4r.storage.organisation import KeepRule, Label, Organisation
from tests.archive.visits import DAY, NOW, capture_of


def visit(
    database: Database,
    url: str,
    days_ago: float,
    letter: str,
    verdict: Verdict = Verdict.OK,
    *,
    is_newest: bool = True,
) -> int:
    """A capture whose hash is a letter 64 times."""
    capture = capture_of(f"http://example.org/{url}", NOW - days_ago * DAY, letter * 64, verdict)
    return Captures(database).add(capture, is_newest=is_newest)


def kept(database: Database, captures: int | None = None, days: float | None = None) -> str:
    """The letters of the hashes that are needed."""
    needs = list(Retention(captures, days).needs(database, NOW))
    assert [name for name, _ in needs] == sorted({name for name, _ in needs})
    return "".join(name[0] for name, is_needed in needs if is_needed)


def test_every_capture_keeps_its_bytes_without_a_policy(database: Database) -> None:
    for days_ago, letter in ((900, "a"), (500, "b"), (1, "c")):
        visit(database, "x", days_ago, letter)
    visit(database, "x", 0, "d", Verdict.BLOCKED)
    assert kept(database) == "abcd"


@pytest.mark.parametrize(("count", "letters"), [(1, "d"), (2, "cd"), (3, "bcd"), (9, "abcd")])
def test_the_newest_good_captures_of_each_page_are_kept(
    database: Database, count: int, letters: str
) -> None:
    for days_ago, letter in ((9, "a"), (8, "b"), (7, "c"), (6, "d")):
        visit(database, "x", days_ago, letter)
    visit(database, "y", 900, "f")
    assert kept(database, count) == letters + "f"


def test_newest_goes_by_time_and_not_by_the_order_of_an_import(database: Database) -> None:
    visit(database, "x", 1, "a")
    visit(database, "x", 9, "b", is_newest=False)
    visit(database, "x", 5, "c", is_newest=False)
    assert kept(database, 2) == "ac"


def test_bytes_that_one_kept_capture_needs_are_kept(database: Database) -> None:
    for days_ago, letter in ((9, "a"), (8, "b"), (7, "c")):
        visit(database, "x", days_ago, letter)
    visit(database, "y", 900, "a")
    assert kept(database, 1) == "ac"


def test_what_was_refused_goes_unless_it_is_the_newest_of_its_page(database: Database) -> None:
    visit(database, "x", 9, "a")
    visit(database, "x", 8, "b", Verdict.SOFT_404)
    visit(database, "x", 7, "c", Verdict.BLOCKED)
    visit(database, "y", 9, "d", Verdict.BLOCKED)
    assert kept(database, 1) == "acd"


def test_a_page_that_has_not_changed_keeps_the_bytes_that_it_confirms(database: Database) -> None:
    visit(database, "x", 9, "a")
    visit(database, "x", 8, "b")
    visit(database, "x", 1, "b", Verdict.NOT_MODIFIED)
    assert kept(database, 1) == "b"


def test_what_a_document_was_made_from_is_kept(database: Database) -> None:
    first = visit(database, "x", 9, "a")
    visit(database, "x", 8, "b")
    visit(database, "x", 7, "c")  # judged again, it is no page: the text of the first stays
    database.write(
        "INSERT INTO documents (id, url, domain, title, content, content_hash, language, crawled_at,"
        " updated_at, capture, signature) VALUES ('1', 'http://example.org/x', '', '', '', '', '',"
        " 0, 0, ?, '')",
        (first,),
    )
    assert kept(database, 1) == "ac"


@pytest.mark.parametrize(("days", "letters"), [(0.5, "d"), (3, "cd"), (10, "bcd"), (99, "abcd")])
def test_younger_captures_keep_their_bytes(database: Database, days: float, letters: str) -> None:
    for days_ago, letter in ((20, "a"), (9, "b"), (2, "c"), (1, "d")):
        visit(database, "x", days_ago, letter)
    assert kept(database, days=days) == letters


def test_of_two_rules_either_keeps(database: Database) -> None:
    for days_ago, letter in ((20, "a"), (9, "b"), (2, "c"), (1, "d")):
        visit(database, "x", days_ago, letter)
    for days_ago, letter in ((30, "e"), (25, "f")):
        visit(database, "y", days_ago, letter)
    assert kept(database, 2, 10) == "bcdef"


@pytest.mark.parametrize(("captures", "days"), [(0, None), (-1, None), (None, 0), (None, -1)])
def test_numbers_that_no_policy_can_have_are_refused(
    captures: int | None, days: float | None
) -> None:
    with pytest.raises(UsageError, match="keep_"):
        Retention(captures, days).check()


def put_into(database: Database, collection: str, url: str, **rule: float) -> None:
    """A document of the newest capture of a page, in a collection with a rule."""
    newest = Captures(database).newest(f"http://example.org/{url}")
    document = Document(newest.url, "html", "", "text")
    Documents(database).put(document, newest, b"", None)
    organisation = Organisation(database)
    organisation.make(Label.COLLECTION, collection, NOW)
    organisation.add(Label.COLLECTION, collection, id_of(newest.url), NOW)
    organisation.set_keep_rule(collection, KeepRule(**rule))  # type: ignore[arg-type]


def test_a_collection_has_a_rule_of_its_own(database: Database) -> None:
    for page, letters in (("x", "abc"), ("y", "def")):
        for days_ago, letter in zip((9, 8, 7), letters, strict=True):
            visit(database, page, days_ago, letter)
    put_into(database, "news", "x", captures=2)
    assert kept(database) == "bcdef"
    assert kept(database, captures=1) == "bcf"
    assert kept(database, days=30) == "bcdef"


def test_the_most_generous_rule_counts_for_a_document_in_several_collections(
    database: Database,
) -> None:
    for days_ago, letter in zip((90, 50, 7), "abc", strict=True):
        visit(database, "x", days_ago, letter)
    put_into(database, "few", "x", captures=1)
    assert kept(database) == "c"
    put_into(database, "recent", "x", days=60)
    assert kept(database) == "bc"
    put_into(database, "all", "x")
    assert kept(database) == "abc"
    assert kept(database, captures=2) == "bc"
