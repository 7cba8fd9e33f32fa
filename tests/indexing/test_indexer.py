"""From documents to passages: what is in, what is out, what is embedded, what was known when."""

from pathlib import Path

import pytest

import crawl4r
from crawl4r.errors import UsageError
from crawl4r.indexing.cutter import cut, embedded_text
from crawl4r.indexing.index_all import index_all
from crawl4r.indexing.rules import IndexRules
from crawl4r.search.port import Filters
from crawl4r.search.query import parse
from tests.indexing.indexed import count_words, found, index, indexing, opened, put

HARBOUR = "The harbour keeper paints the lighthouse before sunrise while the gulls watch him."
VALLEY = "A train leaves the valley every morning and returns with coal, letters and rumours."


def record(name: str, text: str, title: str = "") -> dict[str, str]:
    return {"id": name, "title": title or f"Title of {name}", "text": text}


def captured_at(path: Path, name: str) -> list[float]:
    with crawl4r.open(path, read_only=True) as workspace:
        captures = workspace.captures.of_url(f"https://imported.invalid/{name}")
        return [capture.fetched_at for capture in captures]


def test_a_document_is_found_by_its_words_and_has_vectors(tmp_path: Path) -> None:
    put(tmp_path, record("a", HARBOUR), record("b", VALLEY))
    index(tmp_path)
    assert found(tmp_path, "lighthouse") == [HARBOUR]
    assert found(tmp_path, "title") != []
    with opened(tmp_path / "index" / "one", writable=False) as parts:
        assert parts.catalogue.totals()["embedded"] == 2
        assert parts.catalogue.totals()["passages"] == 2
        assert parts.vectors is not None
        assert parts.vectors.count() == 2


def test_the_same_run_again_does_nothing(tmp_path: Path) -> None:
    put(tmp_path, record("a", HARBOUR))
    index(tmp_path)
    with indexing(tmp_path) as (indexer, _, embedder):
        index_all(indexer)
        assert indexer.progress.documents == 0
        assert embedder.texts == []


def test_a_changed_document_replaces_the_old_one_at_once(tmp_path: Path) -> None:
    put(tmp_path, record("a", HARBOUR))
    index(tmp_path)
    put(tmp_path, record("a", VALLEY))
    index(tmp_path)
    assert found(tmp_path, "lighthouse") == []
    assert found(tmp_path, "train") == [VALLEY]


def test_as_of_searches_what_was_known_then(tmp_path: Path) -> None:
    put(tmp_path, record("a", HARBOUR))
    index(tmp_path)
    put(tmp_path, record("a", VALLEY))
    index(tmp_path)
    first, second = captured_at(tmp_path, "a")
    assert found(tmp_path, "lighthouse", Filters(as_of=first)) == [HARBOUR]
    assert found(tmp_path, "train", Filters(as_of=first)) == []
    assert found(tmp_path, "lighthouse", Filters(as_of=second)) == []
    assert found(tmp_path, "train", Filters(as_of=second)) == [VALLEY]
    assert found(tmp_path, "lighthouse", Filters(as_of=first - 1)) == []


def test_only_changed_passages_are_embedded_again(tmp_path: Path) -> None:
    parts = [f"## Part {n}\n\nWords of part number{n} are about subject{n}." for n in range(20)]
    put(tmp_path, record("a", "\n\n".join(parts)))
    assert len(index(tmp_path).texts) == 20
    parts[7] = "## Part 7\n\nThis part says something else now."
    put(tmp_path, record("a", "\n\n".join(parts)))
    again = index(tmp_path).texts
    assert len(again) == 1
    assert "something else" in again[0]


def test_the_same_text_in_two_documents_is_embedded_once(tmp_path: Path) -> None:
    rules = IndexRules(max_tokens=60, with_near=True)
    put(tmp_path, record("a", HARBOUR, "Same"), record("b", HARBOUR, "Same"))
    assert len(index(tmp_path, rules).texts) == 1
    with opened(tmp_path / "index" / "one", writable=False) as parts:
        assert parts.catalogue.totals()["embedded"] == 2


def test_near_duplicates_stay_out_and_the_reason_is_kept(tmp_path: Path) -> None:
    words = " ".join(f"word{n} and" for n in range(300))
    put(tmp_path, record("a", words), record("b", words + " indeed"))
    with indexing(tmp_path) as (indexer, parts, _):
        index_all(indexer)
        assert parts.catalogue.totals()["documents"] == 1
        assert indexer.progress.left_out == {"almost the same as another document": 1}


def test_an_index_of_another_model_is_refused_with_the_remedy(tmp_path: Path) -> None:
    put(tmp_path, record("a", HARBOUR))
    index(tmp_path)
    with opened(tmp_path / "index" / "one") as parts:
        parts.note_model("another")
        parts.catalogue.commit()
    with pytest.raises(UsageError, match="index --rebuild"):
        index(tmp_path)
    with pytest.raises(UsageError, match="index --rebuild"):
        index(tmp_path, IndexRules(max_tokens=99))


def test_what_the_archive_no_longer_reads_leaves_after_reprocessing(tmp_path: Path) -> None:
    put(tmp_path, record("a", HARBOUR), record("b", VALLEY))
    index(tmp_path)
    with crawl4r.open(tmp_path) as workspace:  # as if the reader had learnt better
        workspace.database.write("DELETE FROM documents WHERE url LIKE '%/b'")
        workspace.database.write("INSERT OR REPLACE INTO notes VALUES ('documents_epoch', '1')")
        workspace.database.commit()
    index(tmp_path)
    assert found(tmp_path, "train") == []
    assert found(tmp_path, "lighthouse") == [HARBOUR]


def test_a_new_index_uses_the_vectors_of_the_old_one(tmp_path: Path) -> None:
    put(tmp_path, record("a", HARBOUR), record("b", VALLEY))
    index(tmp_path)
    put(tmp_path, record("c", "Something that nobody has embedded before."))
    with (
        opened(tmp_path / "index" / "one", writable=False) as old,
        indexing(tmp_path, name="two", previous=old) as (indexer, parts, embedder),
    ):
        index_all(indexer)
        assert len(embedder.texts) == 1
        assert parts.catalogue.totals()["embedded"] == 3
        assert parts.catalogue.totals()["documents"] == 3


def test_words_can_be_searched_before_vectors_are_made(tmp_path: Path) -> None:
    put(tmp_path, record("a", HARBOUR))
    with indexing(tmp_path) as (indexer, _, embedder):
        indexer.catch_up()
        assert indexer.behind() == (0, 1)
        assert embedder.texts == []
    assert found(tmp_path, "lighthouse") == [HARBOUR]


def test_the_way_to_a_passage_stands_before_it_once() -> None:
    assert embedded_text("Book", ["Book", "Chapter"], "Text.") == "Book > Chapter\nText."
    assert embedded_text("", [], " Text. ") == "Text."


def test_a_new_index_still_knows_what_was_known_then(tmp_path: Path) -> None:
    put(tmp_path, record("a", HARBOUR))
    index(tmp_path)
    put(tmp_path, record("a", VALLEY))
    index(tmp_path)
    first, _ = captured_at(tmp_path, "a")
    with (
        opened(tmp_path / "index" / "one", writable=False) as old,
        indexing(tmp_path, name="two", previous=old) as (indexer, parts, embedder),
    ):
        indexer.take_over_past()
        index_all(indexer)
        assert embedder.texts == []
        past = parts.keyword.best(parse("lighthouse").keywords, 5, Filters(as_of=first))
        assert len(past) == 1
        assert parts.keyword.best(parse("lighthouse").keywords, 5, Filters()) == []
        assert parts.vectors is not None
        vector = embedder.embed_query(HARBOUR)
        near = parts.vectors.nearest(vector, 5, Filters(as_of=first))
        assert [hit.number for hit in near] == [hit.number for hit in past]


def test_lists_of_links_are_no_passages() -> None:
    links = "\n".join(f"- [Chapter {n}, about something](https://a.example/{n})" for n in range(30))
    text = f"# Contents\n\n{links}\n\n# Preface\n\n{HARBOUR}"
    made = cut("Book", text, count_words, 60).pieces
    assert [entry.headings for entry in made] == [("Preface",)]


def test_a_passage_is_as_long_as_its_words_not_its_addresses() -> None:
    address = "https://a.example/" + "/very-long-path" * 20
    text = " ".join(f"Word{n} of [a link]({address}) here." for n in range(10))
    made = cut("Book", text, count_words, 60).pieces
    assert len(made) == 1
    assert made[0].tokens == 50
