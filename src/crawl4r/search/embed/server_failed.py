"""A server that was asked for vectors or scores and did not give them: what to tell about it."""

from __future__ import annotations

import json
from typing import Any

from crawl4r.errors import Crawl4rError
from crawl4r.urls.credentials import HIDDEN, without_credentials

_SHOWN = 300  # characters of what a server said


class ServerFailed(Crawl4rError):
    """A server did not answer, refused, or answered nonsense; the message names it and what it said.

    `status` is that of its answer, 0 without one.
    """

    def __init__(self, url: str, problem: str, status: int = 0) -> None:
        super().__init__(f"{url}: {problem}")
        self.url = url
        self.problem = problem
        self.status = status


def public_url(url: str) -> str:
    """The address without a name and password before the host, and without a query."""
    return without_credentials(url.partition("?")[0]).replace(f"://{HIDDEN}@", "://")


def _error_of(body: bytes) -> dict[str, Any]:
    """The fields of an error, in TEI's shape, in OpenAI's or in neither."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    inner = found.get("error") if isinstance(found, dict) else None
    return inner if isinstance(inner, dict) else found if isinstance(found, dict) else {}


def error_words(body: bytes) -> set[str]:
    error = _error_of(body)
    return {word for key in ("type", "code") if isinstance(word := error.get(key), str)}


def what_it_said(body: bytes) -> str:
    """What the server gave as its reason, ready to stand at the end of a message."""
    error = _error_of(body)
    words = [error[key] for key in ("error", "message", "detail") if error.get(key)]
    text = str(words[0]) if words else body[: _SHOWN * 4].decode("utf-8", "replace")
    text = "".join(c if c.isprintable() else " " for c in text)
    text = " ".join(text.split())
    if len(text) > _SHOWN:
        text = text[: _SHOWN - 3] + "..."
    return f": {text}" if text else ""
