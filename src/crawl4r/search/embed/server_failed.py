"""The error of a server that returned no vectors or scores, and its message."""

from __future__ import annotations

import json
from typing import Any

from crawl4r.errors import Crawl4rError
from crawl4r.urls.credentials import HIDDEN, without_credentials

_SHOWN = 300  # characters of a server's message


class ServerFailed(Crawl4rError):
    """A server did not answer, refused, or answered nonsense. The message quotes the server.

    `status` is the status of its answer, 0 without one.
    """

    def __init__(self, url: str, problem: str, status: int = 0) -> None:
        super().__init__(f"{url}: {problem}")
        self.url = url
        self.problem = problem
        self.status = status


def public_url(url: str) -> str:
    """The address without user name, password and query."""
    return without_credentials(url.partition("?")[0]).replace(f"://{HIDDEN}@", "://")


def _error_of(body: bytes) -> dict[str, Any]:
    """The fields of an error, in the shape of TEI, of OpenAI or of neither."""
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
    """The server's reason, as the end of a message."""
    error = _error_of(body)
    words = [error[key] for key in ("error", "message", "detail") if error.get(key)]
    text = str(words[0]) if words else body[: _SHOWN * 4].decode("utf-8", "replace")
    text = "".join(c if c.isprintable() else " " for c in text)
    text = " ".join(text.split())
    if len(text) > _SHOWN:
        text = text[: _SHOWN - 3] + "..."
    return f": {text}" if text else ""
