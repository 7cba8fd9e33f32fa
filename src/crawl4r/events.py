"""The names of all log events, and the function that logs one.

The program chooses the handler for events; the command line does so in `interfaces/cli/log_lines`. As a
library, crawl4r writes no events until the program adds a handler.
"""

from __future__ import annotations

import logging
from typing import Any

CRAWL_STARTED = "crawl_started"
CRAWL_ENDED = "crawl_ended"
CRAWL_FAILED = "crawl_failed"  # the crawl kept no page; with the reason
CRAWL_STOPPING = "crawl_stopping"
CONTACT_MISSING = "contact_missing"
SCHEME_FOUND = "scheme_found"  # the scheme chosen for a seed without one
PAGE_KEPT = "page_kept"
PAGE_SHELVED = "page_needs_browser"
PAGE_REFUSED = "page_refused"
PAGE_FAILED = "page_failed"
PAGE_RETRIED = "page_retried"
HOST_OPENED = "host_breaker_opened"
HOST_CHALLENGED = "host_challenged"  # a challenge instead of a page: the host rests for rest_s
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
INDEX_REPLACED = "index_replaced"  # made again, because the old index cannot be continued
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
CRAWL_PRESENTED = "crawl_presented"  # the banner, in a JSON log
COMMAND_FAILED = "command_failed"
PROCESS_ENDED = "process_ended"  # by its watchdog, with an exit code
SAID = "said"  # another line on stderr, in a JSON log

LOGGER = "crawl4r"
_logger = logging.getLogger(LOGGER)
_logger.addHandler(logging.NullHandler())  # as a library, write nothing by default


def emit(event: str, level: int = logging.INFO, **fields: Any) -> None:
    """Log one event with its fields. A disabled level costs no formatting."""
    if _logger.isEnabledFor(level):
        _logger.log(level, event, extra={"fields": fields})


def is_enabled(level: int) -> bool:
    return _logger.isEnabledFor(level)


def are_json() -> bool:
    """Whether events are written as JSON."""
    return any(getattr(each.formatter, "is_json", False) for each in _logger.handlers)
