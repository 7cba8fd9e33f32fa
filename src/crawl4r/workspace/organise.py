"""What people decide about the crawls and documents of a store: which of them go, and come back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from crawl4r.archive.documents import Documents, id_of
from crawl4r.archive.retention import Retention
from crawl4r.errors import UsageError
from crawl4r.storage.crawls import CrawlRecord, CrawlState
from crawl4r.storage.deletions import Deletions
from crawl4r.storage.organisation import KeepRule, Label, Organisation
from crawl4r.wiring.parts import Parts

_WAITING = ("pending", "leased", "waiting")
# Documents of a crawl's pages that no other crawl and no collection holds.
_HELD_BY_IT_ALONE = """
SELECT d.id, d.url FROM urls u JOIN documents d ON d.url = u.url
WHERE u.crawl_id = ?1 AND u.content IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM collection_documents c WHERE c.document = d.id)
    AND NOT EXISTS (SELECT 1 FROM crawls k JOIN urls o ON o.crawl_id = k.id AND o.url = u.url
        WHERE k.id != ?1 AND o.content IS NOT NULL)
ORDER BY d.url
"""


class CrawlSummary(Struct, frozen=True):
    """A crawl of a store; times are epoch seconds."""

    id: int
    name: str
    kind: str
    state: str
    pages: int
    waiting: int
    created_at: float
    started_at: float | None
    ended_at: float | None
    ended_by: str


def list_crawls(parts: Parts, *, is_running: bool) -> list[CrawlSummary]:
    """Every crawl; `is_running`: some process crawls in this store now."""
    return [_summary(parts, crawl, is_running) for crawl in parts.crawls.all()]


def _summary(parts: Parts, crawl: CrawlRecord, is_running: bool) -> CrawlSummary:
    state = crawl.state
    if state == CrawlState.RUNNING and not is_running:
        state = "interrupted"  # its process died, and the same command goes on
    # The state is part of the statement, because SQLite chooses no partial index by a parameter.
    waiting = sum(
        parts.database.read(
            f"SELECT count(*) FROM urls WHERE crawl_id = ? AND state = '{each}'", (crawl.id,)
        )[0][0]
        for each in _WAITING
    )
    return CrawlSummary(
        crawl.id, crawl.name, crawl.kind, state, parts.notes_of(crawl.id).tally("pages"), waiting,
        crawl.created_at, crawl.started_at, crawl.ended_at, crawl.ended_by,
    )  # fmt: skip


class DeletedCrawl(Struct, frozen=True):
    """What went, or would go, with a crawl."""

    name: str
    urls: int
    documents: Sequence[str]  # their URLs


def delete_crawl(
    parts: Parts, name: str, *, with_documents: bool, dry_run: bool = False
) -> DeletedCrawl:
    """Delete the frontier and the settings of a crawl, and on request the documents it alone holds.

    Captures and their bytes stay. A later crawl that keeps one of the pages brings its document back.
    """
    crawl = parts.crawls.get(name)
    ((urls,),) = parts.database.read("SELECT count(*) FROM urls WHERE crawl_id = ?", (crawl.id,))
    rows = parts.database.read(_HELD_BY_IT_ALONE, (crawl.id,)) if with_documents else []
    if not dry_run:
        Deletions(parts.database).add(rows, parts.clock.wall(), lasts=False)
        for _, url in rows:
            Documents(parts.database).note_deletion(url)
        parts.crawls.delete(crawl.id)
        parts.database.commit()
    return DeletedCrawl(crawl.name, urls, [url for _, url in rows])


def refuse_unknown_labels(parts: Parts, options: Mapping[str, Any]) -> None:
    """Raise UsageError for `collections` or `tags` that are not in this store."""
    organisation = Organisation(parts.database)
    organisation.refuse_unknown(Label.COLLECTION, options.get("collections") or ())
    organisation.refuse_unknown(Label.TAG, options.get("tags") or ())


def add_labels(parts: Parts, label: Label, name: str, urls: Iterable[str]) -> list[str]:
    """Give documents a collection or tag, which is made when it is new; the URLs of those that had
    it not. Raises UsageError for a URL without a document, and changes nothing then."""
    wanted = _known_documents(parts, urls)
    organisation, documents, now = (
        Organisation(parts.database), Documents(parts.database), parts.clock.wall(),
    )  # fmt: skip
    organisation.make(label, name, now)
    added = [url for url in wanted if organisation.add(label, name, id_of(url), now)]
    for url in added:
        documents.note_labels(url)
    parts.database.commit()
    return added


def remove_labels(parts: Parts, label: Label, name: str, urls: Iterable[str]) -> list[str]:
    """Take a collection or tag from documents; the URLs of those that had it."""
    organisation, documents = Organisation(parts.database), Documents(parts.database)
    organisation.refuse_unknown(label, [name])
    removed = [url for url in dict.fromkeys(urls) if organisation.remove(label, name, id_of(url))]
    for url in removed:
        documents.note_labels(url)
    parts.database.commit()
    return removed


def delete_label(parts: Parts, label: Label, name: str) -> int:
    """Delete a collection or tag; how many documents had it. They stay."""
    organisation, documents = Organisation(parts.database), Documents(parts.database)
    organisation.refuse_unknown(label, [name])
    members = organisation.members(label, name)
    organisation.delete(label, name)
    for document in members:
        documents.note_labels_of(document)
    parts.database.commit()
    return len(members)


def set_keep_rule(parts: Parts, collection: str, rule: KeepRule) -> None:
    """Say which captures of a collection's pages keep their bytes when gc runs."""
    Retention(rule.captures, rule.days).check()
    organisation = Organisation(parts.database)
    organisation.refuse_unknown(Label.COLLECTION, [collection])
    organisation.set_keep_rule(collection, rule)
    parts.database.commit()


def _known_documents(parts: Parts, urls: Iterable[str]) -> list[str]:
    documents, wanted = Documents(parts.database), list(dict.fromkeys(urls))
    for url in wanted:
        if documents.get(url) is None:
            raise UsageError(f"there is no document of {url} in this store")
    return wanted


def delete_documents(parts: Parts, urls: Iterable[str]) -> list[str]:
    """Delete documents by their canonical URLs; returns those that were there.

    Raises UsageError for a URL without a document, and deletes nothing then.
    """
    documents, wanted = Documents(parts.database), _known_documents(parts, urls)
    deletions, now = Deletions(parts.database), parts.clock.wall()
    gone = [url for url in wanted if deletions.add([(id_of(url), url)], now)]
    for url in gone:
        documents.note_deletion(url)
    parts.database.commit()
    return gone


def restore_documents(parts: Parts, urls: Iterable[str]) -> list[str]:
    """Bring deleted documents back; returns those that were deleted."""
    documents, deletions = Documents(parts.database), Deletions(parts.database)
    back = [url for url in dict.fromkeys(urls) if deletions.lift([id_of(url)])]
    for url in back:
        documents.note_deletion(url)
    parts.database.commit()
    return back
