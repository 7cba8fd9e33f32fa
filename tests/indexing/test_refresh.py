"""A refresh costs what has changed: the embedder sees that, and little more."""

from pathlib import Path

from crawl4r.indexing.index_all import index_all
from crawl4r.indexing.rules import IndexRules
from tests.indexing.indexed import indexing, put

DOCUMENTS = 60
PARTS = 12
CHANGED = DOCUMENTS * PARTS * 2 // 100  # parts
RULES = IndexRules(max_tokens=60, with_near=True)


def record(document: int, changed: frozenset[int] = frozenset()) -> dict[str, str]:
    """A document of several passages, which depend on nothing but their number."""
    parts = []
    for part in range(document * PARTS, (document + 1) * PARTS):
        said = "says something else now" if part in changed else "says what it always said"
        subjects = " ".join(f"subject{part}x{n}" for n in range(20))
        parts.append(f"## Part {part}\n\nThe keeper of number{part} {said} about {subjects}.")
    return {"id": f"d{document}", "title": f"Document {document}", "text": "\n\n".join(parts)}


def test_a_refresh_embeds_what_has_changed_and_little_more(tmp_path: Path) -> None:
    put(tmp_path, *(record(number) for number in range(DOCUMENTS)))
    with indexing(tmp_path, RULES) as (indexer, _, embedder):
        index_all(indexer)
        passages = indexer.totals()["passages"]
        assert len(embedder.texts) == passages == DOCUMENTS * PARTS
    changed = frozenset(range(0, DOCUMENTS * PARTS, DOCUMENTS * PARTS // CHANGED)[:CHANGED])
    put(tmp_path, *(record(number, changed) for number in range(DOCUMENTS)))
    with indexing(tmp_path, RULES) as (indexer, index, embedder):
        index_all(indexer)
        assert CHANGED <= len(embedder.texts) <= 0.03 * passages
        assert all("something else" in text for text in embedder.texts)
        assert indexer.totals() == {
            "documents": DOCUMENTS,
            "passages": passages,
            "embedded": passages,
            "other_languages": {},
        }
        assert index.keyword.count() == passages
        assert index.vectors is not None
        assert index.vectors.count() == passages


def test_a_refresh_without_changes_embeds_nothing(tmp_path: Path) -> None:
    records = [record(number) for number in range(5)]
    put(tmp_path, *records)
    with indexing(tmp_path, RULES) as (indexer, _, _):
        index_all(indexer)
    put(tmp_path, *records)
    with indexing(tmp_path, RULES) as (indexer, _, embedder):
        index_all(indexer)
        assert embedder.texts == []
        assert indexer.progress.reused == 0
