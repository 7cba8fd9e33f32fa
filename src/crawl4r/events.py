"""Names of log events, and how they are written.

One canonical line a page, on stderr, as `event key=value ...` for people or one JSON object a line
for machines. Names live here so that a test can assert them and nobody has to grep for spellings.
"""

from __future__ import annotations

import logging
import sys
import time
from typing import IO, Any

from crawl4r.moments import with_iso_times
from crawl4r.shown import json_text

CRAWL_STARTED = "crawl_started"
CRAWL_ENDED = "crawl_ended"
CRAWL_FAILED = "crawl_failed"  # nothing could be kept; why
CRAWL_STOPPING = "crawl_stopping"
CONTACT_MISSING = "contact_missing"
SCHEME_FOUND = "scheme_found"  # of a seed without one: what answered, and what did not
PAGE_KEPT = "page_kept"
PAGE_SHELVED = "page_needs_browser"
PAGE_REFUSED = "page_refused"
PAGE_FAILED = "page_failed"
PAGE_RETRIED = "page_retried"
HOST_OPENED = "host_breaker_opened"
HOST_CHALLENGED = "host_challenged"  # a challenge instead of a page: it is left alone for rest_s
HOST_CLOSED = "host_breaker_closed"
HOST_GIVEN_UP = "host_given_up"
HOST_EXPLORED = "host_explored"
HOST_PROBED = "host_probed"
ROBOTS_FETCHED = "robots_fetched"
REVISITS_CHOSEN = "revisits_chosen"
PAGE_UNREADABLE = "page_unreadable"
TEXTS_INCOMPARABLE = "texts_incomparable"
SCOPE_WIDENED = "scope_widened"
RULES_CHANGED = "rules_changed"
INDEX_FAILED = "index_failed"
INDEX_REPLACED = "index_replaced"  # made again, since the one that is there cannot be gone on with
DOCUMENT_LEFT_OUT = "document_left_out"
DOCUMENT_CUT = "document_cut"
BACKLOG_FULL = "backlog_full"
BACKLOG_DRAINED = "backlog_drained"
SPOOL_SKIPPED = "spool_lines_skipped"
CRAWL_PAUSED = "crawl_paused"
CRAWL_UNPAUSED = "crawl_unpaused"
CRAWL_STALLED = "crawl_stalled"
STALL_ENDED = "crawl_stall_ended"
LOOP_BLOCKED = "event_loop_blocked"
NETWORK_LOST = "network_lost"
NETWORK_BACK = "network_back"
MEMORY_HIGH = "memory_high"
WATCH_FAILED = "watch_failed"
CRAWL_RESTARTED = "crawl_restarted"
CRAWL_NOT_RESTARTED = "crawl_not_restarted"
STORE_RECOVERED = "store_recovered"
STORE_LOST = "store_lost"
STORE_REOPENED = "store_reopened"
SETTINGS_RELOADED = "settings_reloaded"
STATUS_DUMPED = "status_dumped"
CRAWL_PRESENTED = "crawl_presented"  # the banner of a crawl whose log is JSON
COMMAND_FAILED = "command_failed"
PROCESS_ENDED = "process_ended"  # by its watchdog, with an exit code
SAID = "said"  # a line that was written to stderr and is no event, in a log of JSON

_logger = logging.getLogger("crawl4r")
_logger.addHandler(logging.NullHandler())  # as a library, we are silent until somebody listens


def emit(event: str, level: int = logging.INFO, **fields: Any) -> None:
    """Log one event with its fields; nothing is formatted when the level is off."""
    if _logger.isEnabledFor(level):
        _logger.log(level, event, extra={"fields": fields})


def are_json() -> bool:
    """Whether events are written for machines."""
    return any(isinstance(handler.formatter, _JsonLines) for handler in _logger.handlers)


def is_enabled(level: int) -> bool:
    return _logger.isEnabledFor(level)


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", {})
        stamp = time.strftime("%H:%M:%S", time.localtime(record.created))
        pairs = " ".join(f"{key}={_plain(value)}" for key, value in fields.items())
        return f"{stamp} {record.levelname.lower():7} {record.getMessage()} {pairs}".rstrip()


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", {})
        return _json_line(record.created, record.levelname, record.getMessage(), fields)


def json_line(event: str, level: int = logging.INFO, **fields: Any) -> str:
    """An event of now as the log has it for machines, whatever its level."""
    return _json_line(time.time(), logging.getLevelName(level), event, fields)


def _json_line(at: float, level: str, event: str, fields: dict[str, Any]) -> str:
    return json_text(with_iso_times({"at": at, "level": level.lower(), "event": event, **fields}))


def _plain(value: Any) -> str:
    text = str(value)
    is_plain = text.isprintable() and not any(c in text for c in ' "')
    return text if text and is_plain else json_text(text)


class _StderrHandler(logging.StreamHandler[IO[str]]):
    """Follows `sys.stderr`: while something is drawn there, lines appear above it."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


def set_up_logging(
    level: str = "warning", *, as_json: bool = False, stream: IO[str] | None = None
) -> None:
    """Send crawl4r's events to `stream` (stderr), replacing what was set up before."""
    handler = logging.StreamHandler(stream) if stream else _StderrHandler()
    handler.setFormatter(_JsonLines() if as_json else _Lines())
    _logger.handlers[:] = [handler]
    _logger.propagate = False
    _logger.setLevel(level.upper())
