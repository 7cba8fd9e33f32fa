"""The archive's documents become passages that can be searched: from a cursor, restartable.

    documents after the cursor ──> sandbox: passages ──> keyword index ──> catalogue, with the cursor
                                                                    │
    passages without a vector <─────────────────────────────────────┘
          └──> embedder ──> vector index ──> catalogue

Words can be searched as soon as a document is indexed; vectors follow. An index is told before the
catalogue commits: a crash repeats a batch, and what the indexes know too much is dropped first. What
they may have lost is in doubt until the batch is done, and is given to them again.

A document that cannot be cut or indexed is left out, with the reason; it costs no other its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

from msgspec import Struct, field

from crawl4r import events
from crawl4r.archive.captures import Captures
from crawl4r.archive.documents import Documents, StoredDocument
from crawl4r.errors import Crawl4rError, StorageDamaged, UsageError
from crawl4r.indexing.changes import Changes, put_again
from crawl4r.indexing.documents_in_doubt import DocumentsInDoubt
from crawl4r.indexing.passages import Cut, CutDocuments, Uncut, searchable
from crawl4r.indexing.rules import IndexRules
from crawl4r.indexing.vector_filler import VectorFiller
from crawl4r.search.catalogue import Catalogue
from crawl4r.search.index import Index
from crawl4r.search.indexed_passage import IndexedPassage, Version
from crawl4r.search.port import Embedder

_DOCUMENTS = 512  # in one commit of the keyword index, which costs a tenth of a second
_CHARACTERS = 8_000_000  # of markdown in one commit, unless a single document has more
_CURSOR, _RULES, _LANGUAGES, _EPOCH = "cursor", "rules", "languages", "epoch"


class IndexProgress(Struct):
    """What has been done in this run."""

    documents: int = 0
    passages: int = 0
    embedded: int = 0  # by the embedder
    reused: int = 0  # vectors of texts that had one
    left_out: dict[str, int] = field(default_factory=dict)  # by reason


class _Plan(NamedTuple):
    """What is to be done with a document."""

    stored: StoredDocument
    before: Version | None  # what the index has of it
    reason: str | None  # to leave it out
    stays: bool  # the index has it as it is


class Indexer:
    """Follows the documents of a workspace. One thread, one writer of the index."""

    def __init__(
        self,
        documents: Documents,
        captures: Captures,
        index: Index,
        embedder: Embedder | None,
        cut: CutDocuments,
        rules: IndexRules,
        *,
        previous: Index | None = None,
    ) -> None:
        """`previous`: the index that this one is to replace, whose vectors are used again."""
        self._documents = documents
        self._captures = captures
        self._index = index
        self._catalogue = index.catalogue
        self._embedder = embedder if index.vectors else None
        self._cut = cut
        self._rules = rules
        self._previous = previous
        self._vectors = VectorFiller(index, self._embedder, previous)
        self.is_stopped = False
        self.progress = IndexProgress()
        self._prepare()
        self._in_doubt = DocumentsInDoubt(self._catalogue)

    def _prepare(self) -> None:
        """Make sure that this index is ours to go on with, and drop what a crash left over."""
        rules = self._rules.cutting
        if self._embedder:
            self._index.check_model(self._embedder.model)
        if (made_by := self._catalogue.fact(_RULES)) not in {None, rules}:
            raise UsageError(
                f"the index has passages cut as {made_by}, the settings (index.max_tokens, min_tokens,"
                f" overlap_tokens) ask for {rules}; `crawl4r index --rebuild` makes it again"
            )
        self._catalogue.put_fact(_RULES, rules)
        if self._embedder:
            self._index.note_model(self._embedder.model)
        languages = ",".join(sorted(self._rules.languages)) + f" near={self._rules.with_near}"
        if self._catalogue.fact(_LANGUAGES) != languages:
            self._catalogue.put_fact(_LANGUAGES, languages)
            self._catalogue.put_fact(_CURSOR, "0")  # everything is judged again
        self._index.keyword.delete_beyond(self._catalogue.last_number())
        self._index.keyword.commit()
        self._catalogue.commit()

    def take_over_past(self) -> None:
        """What was replaced before the index that this one replaces was: `as_of` asks for it still."""
        if self._previous is None:
            return
        versions = self._previous.catalogue.retired()
        while batch := list(islice(versions, _DOCUMENTS)):
            changes = Changes()
            for version in batch:
                old = self._previous.catalogue.passages_of(version)
                entries = [found.entry._replace(is_embedded=False) for found in old]
                added = self._catalogue.add(version, entries)
                changes.put += [searchable(found) for found in added]
            self._apply(changes, set())

    @property
    def cursor(self) -> int:
        return cursor_of(self._catalogue)

    def behind(self) -> tuple[int, int]:
        """Documents to be indexed, and passages that wait for a vector."""
        waiting = self._catalogue.count_waiting() if self._embedder else 0
        return self._documents.count_revised(self.cursor), waiting

    def has_waiting_vectors(self) -> bool:
        """Whether vectors wait for a server that does not answer; the next opening sends them."""
        return self._index.vectors is not None and self._index.vectors.has_waiting

    def totals(self) -> dict[str, Any]:
        """What can be found now, and what is kept out for its language."""
        return self._catalogue.totals()

    def stop(self) -> None:
        """Leave what is left for the next run."""
        self.is_stopped = True

    def catch_up(self) -> int:
        """Index the words of all documents that changed; how many that were."""
        total = 0
        while not self.is_stopped and (batch := self._next_batch()):
            self._index_batch(batch)
            total += len(batch)
        if not self.is_stopped:
            self._drop_vanished()
        return total

    def _next_batch(self) -> list[StoredDocument]:
        batch: list[StoredDocument] = []
        size = 0
        for stored in islice(self._documents.revised_after(self.cursor), _DOCUMENTS):
            batch.append(stored)
            size += len(stored.document.markdown)
            if size > _CHARACTERS:
                break
        return batch

    def _index_batch(self, batch: Sequence[StoredDocument]) -> None:
        """If a document breaks its batch, go back and index one by one, to tell and pass over it."""
        try:
            self._index_together(batch)
        except Crawl4rError:
            raise
        except Exception as problem:
            self._go_back()
            if len(batch) > 1:
                for stored in batch:
                    self._index_batch([stored])
            else:
                reason = f"could not be indexed: {type(problem).__name__}: {problem}"
                self._index_together(batch, Uncut(reason[:300]))

    def _go_back(self) -> None:
        """To the last commit, as after a crash."""
        self._catalogue.rollback()
        self._index.keyword.delete_beyond(self._catalogue.last_number())
        self._index.keyword.commit()

    def _index_together(self, batch: Sequence[StoredDocument], broken: Uncut | None = None) -> None:
        """`broken` says why none of them can be indexed."""
        plans = [self._plan(stored, may_stay=not broken) for stored in batch]
        self._in_doubt.add({plan.stored.id for plan in plans if plan.before and not plan.stays})
        wanted = [plan.stored for plan in plans if not plan.stays and not plan.reason]
        made = [broken] * len(wanted) if broken else self._cut([each.document for each in wanted])
        cuts = {stored.id: cut for stored, cut in zip(wanted, made, strict=True)}
        changes = Changes()
        for plan in plans:
            self._take(plan, cuts.get(plan.stored.id), changes)
        self._catalogue.put_fact(_CURSOR, str(batch[-1].revision))
        self._apply(changes, {stored.id for stored in batch})
        self._count(changes, len(batch))

    def _plan(self, stored: StoredDocument, *, may_stay: bool) -> _Plan:
        before = self._catalogue.current(stored.id)
        reason = self._rules.reason_against(stored)
        is_same = bool(before and not reason and _is_same(before, stored))
        return _Plan(stored, before, reason, is_same and may_stay)

    def _count(self, changes: Changes, documents: int) -> None:
        progress = self.progress
        progress.documents += documents
        progress.passages += changes.passages
        for reason, count in changes.left_out.items():
            progress.left_out[reason] = progress.left_out.get(reason, 0) + count

    def _take(self, plan: _Plan, cut: Cut | Uncut | None, changes: Changes) -> None:
        stored, before, reason, stays = plan
        if before and stays:
            if (before.collections, before.tags) != (stored.collections, stored.tags):
                self._relabel(before, stored, changes)
            elif stored.id in self._in_doubt:
                passages = self._catalogue.passages_of(before)
                changes.put += [searchable(found) for found in passages]
                self._catalogue.mark_embedded([f.entry.number for f in passages], False)
            return
        if before:
            self._remove(before, stored, changes)
        elif stored.deleted_at is not None:
            self._remove_all(stored.document.url, changes)
        if isinstance(cut, Cut):
            self._take_in(stored, cut, changes)
            return
        if cut:
            reason = cut.reason
            events.emit(events.DOCUMENT_LEFT_OUT, 30, url=stored.document.url, reason=reason)
        assert reason is not None, "what is neither cut nor left out stays"
        self._catalogue.leave_out(stored.id, reason)
        changes.left_out[reason] = changes.left_out.get(reason, 0) + 1

    def _relabel(self, before: Version, stored: StoredDocument, changes: Changes) -> None:
        """The same passages with other collections or tags; their vectors stay."""
        now = before._replace(collections=stored.collections, tags=stored.tags)
        self._catalogue.relabel(now)
        passages = self._catalogue.passages_of(now)
        changes.put += [searchable(found) for found in passages]
        if stored.id in self._in_doubt:
            self._catalogue.mark_embedded([f.entry.number for f in passages], False)
        else:
            changes.relabelled += [found.passage() for found in passages if found.entry.is_embedded]

    def _take_in(self, stored: StoredDocument, cut: Cut, changes: Changes) -> None:
        self._catalogue.take_in(stored.id)
        if cut.note:
            self._catalogue.leave_out(stored.id, cut.note)  # a part of it
            events.emit(events.DOCUMENT_CUT, 30, url=stored.document.url, reason=cut.note)
        added = self._catalogue.add(self._version(stored), cut.entries)
        changes.put += [searchable(found) for found in added]
        changes.passages += len(added)

    def _remove(self, before: Version, stored: StoredDocument, changes: Changes) -> None:
        """The old version goes into the past; one that was only read again was never there.

        Of a document that a user deleted, no version is left.
        """
        if stored.deleted_at is not None:
            self._remove_all(stored.document.url, changes)
            return
        old = self._catalogue.passages_of(before)
        numbers = [found.entry.number for found in old]
        if before.capture == stored.capture and stored.gone_at is None:
            self._catalogue.delete(before)
            changes.deleted += numbers
            return
        at = stored.gone_at or stored.updated_at
        self._catalogue.retire(before, at)
        changes.retired.append((numbers, at))
        retired = before._replace(retired_at=at)
        changes.put += [searchable(IndexedPassage(found.entry, retired)) for found in old]

    def _remove_all(self, url: str, changes: Changes) -> None:
        for version in self._catalogue.versions_of(url):
            changes.deleted += [f.entry.number for f in self._catalogue.passages_of(version)]
            self._catalogue.delete(version)

    def _apply(self, changes: Changes, done: set[str]) -> None:
        keyword, vectors = self._index.keyword, self._index.vectors
        keyword.delete(changes.deleted)
        keyword.put(changes.put)
        keyword.commit()
        if vectors:
            vectors.delete(changes.deleted)
            for numbers, at in changes.retired:
                vectors.retire(numbers, at)
            put_again(vectors, changes.relabelled)
        self._in_doubt.settle(done)
        self._catalogue.commit()

    def _drop_vanished(self) -> None:
        """Drop documents that a new reading of the archive no longer has, once it is over."""
        epoch = self._documents.epoch()
        if self._catalogue.fact(_EPOCH) == epoch or self._documents.is_behind():
            return
        known = self._documents.ids()
        vanished = {each for each in self._catalogue.current_ids() if each not in known}
        self._in_doubt.add(vanished)
        changes = Changes()
        for document_id in vanished:
            before = self._catalogue.current(document_id)
            assert before is not None
            changes.deleted += [f.entry.number for f in self._catalogue.passages_of(before)]
            self._catalogue.delete(before)
        for each in [each for each in self._catalogue.left_out_ids() if each not in known]:
            self._catalogue.take_in(each)
        self._catalogue.put_fact(_EPOCH, epoch)
        self._apply(changes, vanished)

    def embed_some(self) -> int:
        """Give some passages their vectors; how many, 0 when all have one."""
        if self.is_stopped:
            return 0
        filled = self._vectors.fill_some()
        self.progress.embedded += filled.embedded
        self.progress.reused += filled.reused
        return sum(filled)

    def _version(self, stored: StoredDocument) -> Version:
        capture = self._captures.by_id(stored.capture)
        if capture is None:
            raise StorageDamaged(
                f"state.db: capture {stored.capture} of {stored.document.url} is missing"
            )
        document = stored.document
        return Version(
            stored.id, document.external_id, document.url, document.title, stored.domain,
            document.language, document.kind, stored.collections, stored.tags, stored.capture,
            capture.sha256 or "", stored.content_hash, capture.fetched_at,
        )  # fmt: skip


def cursor_of(catalogue: Catalogue) -> int:
    """The revision up to which documents are indexed."""
    return int(catalogue.fact(_CURSOR) or 0)


def _is_same(before: Version, stored: StoredDocument) -> bool:
    return (before.content_hash, before.title, before.language) == (
        stored.content_hash,
        stored.document.title,
        stored.document.language,
    )
