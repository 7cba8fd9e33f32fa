"""Bring a document back that went with its crawl, once another crawl keeps its page."""

from __future__ import annotations

from crawl4r.archive.documents import Documents, id_of
from crawl4r.model import Verdict, Visit
from crawl4r.storage.database import Database
from crawl4r.storage.deletions import Deletions

_KEPT = frozenset([Verdict.OK, Verdict.NOT_MODIFIED])


class Revival:
    """See `keeper.Learner`."""

    def __init__(self, database: Database) -> None:
        self._deletions = Deletions(database)
        self._documents = Documents(database)

    @property
    def has_work(self) -> bool:
        return self._deletions.have_passing()

    def learn(self, visit: Visit, admitted: int) -> None:
        url = visit.lease.url
        if visit.ending.verdict in _KEPT and self._deletions.lift_passing(id_of(url)):
            self._documents.note_deletion(url)
