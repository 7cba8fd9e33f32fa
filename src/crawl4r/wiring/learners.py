"""The parts of a run that learn from each visit, in the commit that keeps it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from crawl4r.crawling.explorer import Explorer
from crawl4r.crawling.keeper import Learner
from crawl4r.crawling.labelling import Labelling
from crawl4r.crawling.revival import Revival
from crawl4r.crawling.trap_filter import TrapWatch
from crawl4r.storage.organisation import Label
from crawl4r.wiring.crawl_order import CrawlOrder
from crawl4r.wiring.parts import Parts

_LABELS = "labels"  # a note of the crawl: those that its pages have
_KEPT = "SELECT url FROM urls WHERE crawl_id = ? AND content IS NOT NULL"


def learners_of(
    parts: Parts, order: CrawlOrder, traps: TrapWatch | None, explorer: Explorer | None
) -> Sequence[Learner]:
    revival = Revival(parts.database)
    learners: list[Learner | None] = [
        order.announcer,
        explorer,
        traps,
        revival if revival.has_work else None,
        _make_labelling(parts, order),
    ]
    return [each for each in learners if each]


def _make_labelling(parts: Parts, order: CrawlOrder) -> Labelling | None:
    """None for a crawl whose pages get no labels. Labels that are new to it are for all its pages."""
    content = order.settings.content
    labels = [(Label.COLLECTION, name) for name in content.collections]
    labels += [(Label.TAG, name) for name in content.tags]
    if not labels:
        return None
    labelling = Labelling(parts.database, labels, parts.clock.wall())
    notes, now = parts.notes_of(order.crawl), json.dumps(labels)
    if notes.get(_LABELS) != now:
        labelling.add(row[0] for row in parts.database.read(_KEPT, (order.crawl,)))
        notes.put(_LABELS, now)
        parts.database.commit()
    return labelling
