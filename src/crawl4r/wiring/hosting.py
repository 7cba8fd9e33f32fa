"""What the crawls of one process have in common: its logs, and the answers that they share."""

from __future__ import annotations

import contextlib

from crawl4r.archive.lines.capture_log import CaptureLog
from crawl4r.archive.lines.metadata_jsonl import METADATA
from crawl4r.crawling.shared_answers import AnswersUnderWay, SharedAnswers
from crawl4r.settings.load import Settings
from crawl4r.wiring.crawl_order import CrawlOrder, Hosting
from crawl4r.wiring.parts import METADATA_FILE, PAGES_FILE, Parts


def make_hosting(parts: Parts, order: CrawlOrder, stack: contextlib.AsyncExitStack) -> Hosting:
    logs = [] if order.announcer else _open_logs(parts, order.settings, stack)
    return Hosting(logs, AnswersUnderWay())


def share_answers(parts: Parts, order: CrawlOrder, hosting: Hosting) -> SharedAnswers:
    if order.hosting or len(parts.crawls.all()) > 1:
        hosting.under_way.has_neighbours = True
    return SharedAnswers(
        parts.captures,
        parts.blobs,
        parts.clock,
        order.crawl,
        order.settings.fetch.fresh_for,
        hosting.under_way,
    )


def _open_logs(
    parts: Parts, settings: Settings, stack: contextlib.AsyncExitStack
) -> list[CaptureLog]:
    """The files that have a line for each capture."""
    forms = {parts.path / METADATA_FILE: METADATA}
    if settings.logs.enabled and settings.logs.pages:
        from crawl4r.archive.lines.pages_csv import PAGES  # noqa: PLC0415 - most crawls go without

        forms[parts.path / PAGES_FILE] = PAGES
    logs = []
    for path, form in forms.items():
        logs.append(CaptureLog(path, form, parts.captures, parts.blobs.locate))
        stack.callback(logs[-1].close)
    return logs
