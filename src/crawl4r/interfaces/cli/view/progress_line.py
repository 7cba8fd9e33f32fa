"""The progress line of a crawl in each phase, with the effect of Ctrl-C."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from crawl4r.interfaces.cli.view.fit_line import LinePart
from crawl4r.interfaces.cli.view.format import about_seconds, human_bytes, human_seconds
from crawl4r.safe_text import visible


class Phase(StrEnum):
    """The phase of a run. Reading, indexing and embedding follow the last visit."""

    STARTING = "starting"
    CRAWLING = "crawling"
    PAUSED = "paused"
    HELD = "held"
    NO_NETWORK = "waiting for the network"
    NO_STORE = "waiting for the store"
    STOPPING = "stopping"
    READING = "reading"
    INDEXING = "indexing"
    EMBEDDING = "embedding"
    FINISHING = "finishing"


_NOTHING_BEGINS = frozenset([Phase.PAUSED, Phase.HELD, Phase.NO_NETWORK, Phase.STOPPING])
_AFTER_VISITS = {
    Phase.READING: "page",
    Phase.INDEXING: "document",
    Phase.EMBEDDING: "passage",
}
_LATER = "Ctrl-C leaves the rest for later"


class Trouble(Struct, frozen=True):
    """A host that keeps failing."""

    host: str
    next_in: float  # seconds
    others: int  # other failing hosts


class Standing(Struct, frozen=True):
    """The state of a run. It counts durable results."""

    phase: Phase
    why: str = ""  # the reason of a pause or of a wait for the store
    kept: int = 0  # pages in the workspace
    waiting: int = 0  # pending URLs
    to_make: int = 0  # remaining documents, passages or vectors of the phase
    unread: int = 0  # kept pages without a document so far
    in_flight: int = 0
    rate: float = 0.0  # recent answers per second
    size: int = 0  # bytes of pages
    seconds: float = 0.0  # since the start
    left: float | None = None  # seconds; None when unknown
    limited_by: str | None = None  # the host or option that determines `left`
    next_in: float = 0.0  # seconds until the next request, when all hosts must wait
    trouble: Trouble | None = None


def pieces_of(standing: Standing) -> list[LinePart]:
    """The parts of the line in order."""
    if standing.phase in {Phase.STARTING, Phase.FINISHING}:
        return [LinePart(0, standing.phase), LinePart(2, _elapsed(standing))]
    if standing.phase is Phase.NO_STORE:
        most = f"at most {about_seconds(standing.left or 0.0)} more"
        return [LinePart(0, standing.phase), LinePart(1, most), LinePart(2, visible(standing.why))]
    if standing.phase in _AFTER_VISITS:
        return _after_the_visits(standing)
    if standing.phase in _NOTHING_BEGINS:
        return _while_nothing_begins(standing)
    return [
        LinePart(3, standing.phase),
        LinePart(0, f"{standing.kept:,} kept"),
        LinePart(1, f"{standing.waiting:,} waiting"),
        LinePart(2, _next_request(standing)),
        LinePart(4, _left(standing)),
        LinePart(5, f"{standing.rate:,.1f}/s" if standing.rate else ""),
        LinePart(6, _elapsed(standing)),
        LinePart(7, human_bytes(standing.size) if standing.size else ""),
        LinePart(8, f"{standing.unread:,} to read" if standing.unread else ""),
        LinePart(9, f"{standing.in_flight} in flight"),
    ]


def trouble_pieces(trouble: Trouble) -> list[LinePart]:
    """The second line: the failing host with the earliest retry."""
    others = f"and {trouble.others:,} more like it" if trouble.others else ""
    return [
        LinePart(0, f"{visible(trouble.host)} keeps failing"),
        LinePart(1, f"next try in {human_seconds(trouble.next_in)}"),
        LinePart(2, others),
    ]


def _while_nothing_begins(standing: Standing) -> list[LinePart]:
    again = "Ctrl-C again drops them" if standing.phase is Phase.STOPPING else ""
    is_stopping = standing.phase is Phase.STOPPING
    in_flight = f"{standing.in_flight} in flight"
    return [
        LinePart(0, standing.phase),
        LinePart(0, in_flight if is_stopping else ""),
        LinePart(1, f"{standing.kept:,} kept"),
        LinePart(3, f"{standing.waiting:,} waiting"),
        LinePart(5, "" if is_stopping or not standing.in_flight else in_flight),
        LinePart(2, again if standing.in_flight else ""),
        LinePart(4, visible(standing.why)),
        LinePart(6, _elapsed(standing)),
    ]


def _after_the_visits(standing: Standing) -> list[LinePart]:
    thing = _AFTER_VISITS[standing.phase]
    things = thing if standing.to_make == 1 else f"{thing}s"
    left = f"about {about_seconds(standing.left)}" if standing.left is not None else ""
    return [
        LinePart(0, f"{standing.phase} {standing.to_make:,} {things}"),
        LinePart(1, left),
        LinePart(2, _LATER),
        LinePart(3, f"{standing.kept:,} kept"),
    ]


def _left(standing: Standing) -> str:
    if standing.left is None:
        return ""
    by = standing.limited_by or ""
    to = f"to {by}" if by.startswith("--") else "left"
    return f"about {about_seconds(standing.left)} {to}"


def _next_request(standing: Standing) -> str:
    return f"next request in {about_seconds(standing.next_in)}" if standing.next_in else ""


def _elapsed(standing: Standing) -> str:
    return about_seconds(standing.seconds) if standing.seconds >= 1 else ""
