"""Give the pages of a crawl its collections and tags, in the commit that keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crawl4r.archive.documents import Documents, id_of
from crawl4r.model import Verdict, Visit
from crawl4r.storage.database import Database
from crawl4r.storage.organisation import Label, Organisation

_KEPT = frozenset([Verdict.OK, Verdict.NOT_MODIFIED])


class Labelling:
    """See `keeper.Learner`."""

    def __init__(self, database: Database, labels: Sequence[tuple[Label, str]], now: float) -> None:
        self._organisation = Organisation(database)
        self._documents = Documents(database)
        self._labels = labels
        self._now = now
        for label, name in labels:
            self._organisation.make(label, name, now)

    def add(self, urls: Iterable[str]) -> None:
        """Label pages that were kept before."""
        for url in urls:
            self._label(url)

    def learn(self, visit: Visit, admitted: int) -> None:
        if visit.ending.verdict in _KEPT:
            self._label(visit.lease.url)

    def _label(self, url: str) -> None:
        document = id_of(url)
        added = [
            self._organisation.add(label, name, document, self._now) for label, name in self._labels
        ]
        if any(added):
            self._documents.note_labels(url)
