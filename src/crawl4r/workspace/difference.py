"""How the texts of two captures of a page differ."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from crawl4r.archive.site_blocks import SiteBlocks
from crawl4r.clock import iso_time
from crawl4r.documents.compare import Incomparable, compare_safely
from crawl4r.documents.extract_safely import extract_safely, page_of
from crawl4r.errors import PageUnavailable, UsageError
from crawl4r.model import Capture, ReadOptions, Verdict
from crawl4r.safe_text import command_line
from crawl4r.settings.load import Settings
from crawl4r.urls.canonical import split
from crawl4r.wiring.documents import make_comparers, make_extractors
from crawl4r.wiring.parts import Parts

if TYPE_CHECKING:
    from crawl4r.content.compare.changes import TextComparison

_UNCHANGED = 304  # the status of an answer without a body


class PageDifference(Struct, frozen=True):
    """How the text of one capture differs from that of an earlier one."""

    url: str
    before: int  # the number of a capture
    after: int
    kind: str  # unchanged or changed
    added: int  # words
    removed: int
    ratio: float  # share of the words of both that were added or removed
    is_cut: bool  # the texts are too long to be compared to their ends
    diff: str  # unified


class Versions:
    """Two captures of a URL with their bytes, to be compared anywhere."""

    def __init__(
        self,
        parts: Parts,
        settings: Settings,
        url: str,
        before: int | None,
        after: int | None,
        *,
        home: Path,
    ) -> None:
        """By their numbers; without them, the newest two that have a text. Raises UsageError, with
        commands for the workspace at `home`."""
        self._url = url
        self._settings = settings
        self._pair = _pair(parts, url, before, after, home)
        blocks = SiteBlocks(parts.database)
        self._bodies = [parts.blobs.read(each.sha256 or "") or b"" for each in self._pair]
        self._repeated = [blocks.repeated(split(each.url).host) for each in self._pair]

    async def compare(self) -> PageDifference:
        """Raises PageUnavailable when the texts cannot be compared."""
        old, new = self._pair
        compared = await self._compare(self._settings)
        change = compared.change
        return PageDifference(
            self._url, old.id, new.id, change.kind, change.added, change.removed, change.ratio,
            change.is_cut, compared.diff,
        )  # fmt: skip

    async def _compare(self, settings: Settings) -> TextComparison:
        before, after = await self._texts(settings)
        async with make_comparers(settings) as sandbox:
            try:
                labels = (self._label(self._pair[0]), self._label(self._pair[1]))
                return await compare_safely(sandbox, before, after, labels=labels)
            except Incomparable as problem:
                raise PageUnavailable(
                    f"the texts of {self._url} cannot be compared: {problem}"
                ) from None

    async def _texts(self, settings: Settings) -> list[str]:
        texts = []
        async with make_extractors(settings) as sandbox:
            for capture, body, repeated in zip(
                self._pair, self._bodies, self._repeated, strict=True
            ):
                options = ReadOptions(False, list(repeated))
                found = await extract_safely(sandbox, page_of(capture, body), options)
                texts.append(found.document.markdown if found.document else "")
        return texts

    def _label(self, capture: Capture) -> str:
        return f"{self._url} ({iso_time(capture.fetched_at)[:19]}Z)"


def _why_not_two(
    url: str, captures: list[Capture], stored: list[Capture], gone: str, home: Path
) -> str:
    """Why there is nothing to compare, and the command that tells more or changes it."""
    if not stored:
        why = command_line("crawl4r", "why", url, "-w", home)
        lack = f"has no capture with text{gone}" if captures else "was never captured"
        return f"{url} {lack}; `{why}` says what happened"
    if any(
        each.fetched_at > stored[0].fetched_at and each.status == _UNCHANGED for each in captures
    ):
        history = command_line("crawl4r", "history", url, "-w", home)
        return f"{url} is unchanged since its only capture with text; `{history}` lists its visits"
    again = command_line("crawl4r", "crawl", "--refresh", "-w", home)
    return f"{url} has only one capture with text{gone}; `{again}` visits it again"


def _pair(
    parts: Parts, url: str, before: int | None, after: int | None, home: Path
) -> tuple[Capture, Capture]:
    captures = parts.captures.of_url(url)
    read = [each for each in captures if each.verdict is Verdict.OK and each.sha256]
    stored = [each for each in read if parts.dropped.of(each.sha256) is None]
    if len(stored) < 2 and not (before and after):
        raise UsageError(_why_not_two(url, captures, stored, _gone(parts, read), home))
    by_id = {capture.id: capture for capture in read}
    for number in (before, after):
        if number is not None and number not in by_id:
            history = command_line("crawl4r", "history", url, "-w", home)
            raise UsageError(f"capture {number} is not one of {url}; see `{history}`")
        if number is not None:
            parts.dropped.refuse(by_id[number].sha256, f"capture {number} of {url}")
    new = by_id[after] if after else stored[-1]
    earlier = [capture for capture in stored if capture.id < new.id]
    if before is None and not earlier:
        raise UsageError(f"there is no capture before {new.id}; name one (--from)")
    return by_id[before] if before else earlier[-1], new


def _gone(parts: Parts, captures: list[Capture]) -> str:
    """What became of the bytes of others."""
    words = {found.words() for each in captures if (found := parts.dropped.of(each.sha256))}
    return f" ({', '.join(sorted(words))})" if words else ""
