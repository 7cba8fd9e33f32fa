"""What a world answers, and how that goes over the wire: validators, 304 and redirects included."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any, Protocol

from tests.site.exchange import HTML, Handler, Reply, Request, Routes

TEXT = "text/plain; charset=utf-8"
XML = "application/xml"
GZIP = "application/gzip"


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and a body. `changed` becomes Last-Modified; without `has_etag` there is no ETag."""

    body: bytes = b""
    content_type: str = HTML
    status: int = 200
    location: str = ""  # of a redirect
    changed: datetime | None = None
    has_etag: bool = True
    may_be_304: bool = True

    @property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.body).hexdigest()[:16]}"'

    @property
    def validators(self) -> list[tuple[str, str]]:
        if self.status != 200:
            return []
        tags = [("ETag", self.etag)] if self.has_etag else []
        changed = self.changed
        return tags + (
            [("Last-Modified", format_datetime(changed, usegmt=True))] if changed else []
        )


MISSING = Answer(b"There is no such page.\n", TEXT, 404)
GONE = Answer(b"This page was taken away for good.\n", TEXT, 410)


def redirect(location: str) -> Answer:
    return Answer(status=301, location=location)


class World(Protocol):
    """A site: a pure function of its parameters, of what it was told, and of the request."""

    def answer(self, request: Request) -> Answer: ...

    def hear(self, words: Mapping[str, Any]) -> None:
        """What the test says while the site runs; a world that cannot change raises ValueError."""


class Parameters(Protocol):
    """A frozen dataclass of plain values that says all about a world."""

    def world(self) -> World: ...


class _EveryPath(dict[str, Handler]):
    """A table of routes in which one handler answers all: a world knows its own paths."""

    def __init__(self, handler: Handler) -> None:
        super().__init__()
        self._handler = handler

    def __contains__(self, path: object) -> bool:
        return True

    def __missing__(self, path: str) -> Handler:
        return self._handler


def routes_of(world: World) -> Routes:
    async def handle(request: Request, reply: Reply) -> None:
        await _send(world.answer(request), request, reply)

    return _EveryPath(handle)


async def _send(answer: Answer, request: Request, reply: Reply) -> None:
    if answer.location:
        await reply.redirect(answer.location, answer.status)
    elif _is_unchanged(answer, request):
        await reply.send(status=304, headers=answer.validators)
    else:
        await reply.send(
            answer.body,
            status=answer.status,
            content_type=answer.content_type,
            headers=answer.validators,
        )


def _is_unchanged(answer: Answer, request: Request) -> bool:
    """RFC 9110 section 13.2.2: If-None-Match, when present, decides alone."""
    if answer.status != 200 or not answer.may_be_304:
        return False
    known = request.header("If-None-Match")
    if answer.has_etag and known is not None:
        tags = {tag.strip().removeprefix("W/") for tag in known.split(",")}
        return bool(tags & {answer.etag, "*"})
    since = request.header("If-Modified-Since")
    if since is None or known is not None or answer.changed is None:
        return False
    return answer.changed.replace(microsecond=0) <= parsedate_to_datetime(since)
