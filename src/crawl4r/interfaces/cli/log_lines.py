"""Write log events, one line each, as `event key=value ...` or as a JSON object."""

from __future__ import annotations

import logging
import sys
import time
from typing import IO, Any

from crawl4r import events
from crawl4r.clock import with_iso_times
from crawl4r.interfaces.cli.output import wrapped_for_stderr
from crawl4r.safe_text import json_text


class _PlainLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", {})
        stamp = time.strftime("%H:%M:%S", time.localtime(record.created))
        pairs = " ".join(f"{key}={_plain(value)}" for key, value in fields.items())
        return f"{stamp} {record.levelname.lower():7} {record.getMessage()} {pairs}".rstrip()


class _JsonLines(logging.Formatter):
    is_json = True  # read by `events.are_json`

    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", {})
        return _json_line(record.created, record.levelname, record.getMessage(), fields)


def json_line(event: str, level: int = logging.INFO, **fields: Any) -> str:
    """A JSON line for an event that happens now, with any level."""
    return _json_line(time.time(), logging.getLevelName(level), event, fields)


def _json_line(at: float, level: str, event: str, fields: dict[str, Any]) -> str:
    return json_text(with_iso_times({"at": at, "level": level.lower(), "event": event, **fields}))


def _plain(value: Any) -> str:
    text = str(value)
    is_plain = text.isprintable() and not any(c in text for c in ' "')
    return text if text and is_plain else json_text(text)


class _StderrHandler(logging.StreamHandler[IO[str]]):
    """Writes to the current `sys.stderr`, so that lines appear above a drawn part."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        return line if isinstance(self.formatter, _JsonLines) else wrapped_for_stderr(line)


def set_up_logging(
    level: str = "warning", *, as_json: bool = False, stream: IO[str] | None = None
) -> None:
    """Send crawl4r's events to `stream` (stderr). Replaces the earlier handler."""
    handler = logging.StreamHandler(stream) if stream else _StderrHandler()
    handler.setFormatter(_JsonLines() if as_json else _PlainLines())
    logger = logging.getLogger(events.LOGGER)
    logger.handlers[:] = [handler]
    logger.propagate = False
    logger.setLevel(level.upper())
