"""Everything that a workspace can be asked. Nothing here writes, and a crawl may run beside it."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawl4r.archive.documents import StoredDocument, id_of
from crawl4r.archive.site_blocks import SiteBlocks
from crawl4r.reports.url_story import PageRow
from crawl4r.storage.deletions import Deletions
from crawl4r.storage.lock import holder_of
from crawl4r.storage.organisation import Label, LabelCount, Organisation
from crawl4r.storage.tables import ROBOTS_RULES, RobotsRecords
from crawl4r.urls.canonical import split
from crawl4r.urls.scope import Scope
from crawl4r.workspace.blocking import run_blocking
from crawl4r.workspace.status import WorkspaceStatus

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from crawl4r.search.request import Answer, Hit
    from crawl4r.wiring.search import SearchHandle
    from crawl4r.workspace.difference import PageDifference
    from crawl4r.workspace.export_report import ExportReport
    from crawl4r.workspace.history import HistoryEntry
    from crawl4r.workspace.options import ExportForm, ExportOptions, Moment, PathLike, SearchOptions
    from crawl4r.workspace.organise import CrawlSummary
    from crawl4r.workspace.page import Page
    from crawl4r.workspace.page_reader import PageReader


class WorkspaceReader(WorkspaceStatus):
    """A workspace to look things up in."""

    _search: SearchHandle | None = None
    _pages_read_by: PageReader | None = None

    def close(self) -> None:
        if self._pages_read_by:
            self._pages_read_by.close()
        if self._search:
            self._search.close()
            self._search = None
        super().close()

    def crawls(self) -> list[CrawlSummary]:
        """The crawls of this store, in the order in which they were made."""
        from crawl4r.workspace.organise import list_crawls  # noqa: PLC0415 - few commands list them

        return list_crawls(self.parts, is_running=holder_of(self.path) is not None)

    def pages(
        self, state: str | None = None, verdict: str | None = None, found_by: str | None = None
    ) -> Iterator[PageRow]:
        """Every known URL with its state, as it is committed; `found_by` is `links` or `guesses`."""
        return self.report.pages(state, verdict, found_by)

    def get(self, url: str, at: Moment | None = None) -> Page | None:
        """The newest capture of a URL that has bytes, or the one that was newest at a moment."""
        from crawl4r.workspace.moments import epoch_seconds  # noqa: PLC0415
        from crawl4r.workspace.page import Page  # noqa: PLC0415 - loads what makes documents

        canonical = self.canonical(url)
        capture = self.captures.latest(canonical, epoch_seconds(at, "at"))
        if capture is None:
            return None
        stored = self._documents.get(canonical)
        is_current = stored is not None and stored.capture == capture.id
        document = stored.document if stored and is_current and not stored.deleted_at else None
        read_bytes = partial(self._read_bytes, canonical)
        return Page(capture, read_bytes, document=document, reader=self._page_reader)

    def _read_bytes(self, url: str, sha256: str) -> bytes | None:
        body = self.blobs.read(sha256)  # the store as it is open now
        if body is None:
            self.parts.dropped.refuse(sha256, url)
        return body

    @property
    def _page_reader(self) -> PageReader:
        if self._pages_read_by is None:
            from crawl4r.workspace.page_reader import PageReader  # noqa: PLC0415

            self._pages_read_by = PageReader(self.settings)
        return self._pages_read_by

    def documents(self, *, with_gone: bool = False) -> Generator[StoredDocument, None, None]:
        """Every document by URL; those whose page is gone only when asked for."""
        return self._documents.stream(with_gone=with_gone)

    def document(self, url: str) -> StoredDocument | None:
        """The newest good text of a URL; None for one that a user deleted."""
        stored = self._documents.get(self.canonical(url))
        return stored if stored and stored.deleted_at is None else None

    def is_deleted(self, url: str) -> bool:
        """Whether a user deleted the document of a URL."""
        return Deletions(self.database).at(id_of(self.canonical(url))) is not None

    def labels(self, label: Label) -> list[LabelCount]:
        """Every collection or every tag of the store, with the number of its documents."""
        return Organisation(self.database).all(label)

    def refuse_unknown_labels(self, options: Mapping[str, Any]) -> None:
        """Raise UsageError for `collections` or `tags` that are not in this store."""
        from crawl4r.workspace.organise import refuse_unknown_labels  # noqa: PLC0415

        refuse_unknown_labels(self.parts, options)

    def history(self, url: str) -> list[HistoryEntry]:
        """Every capture of a URL, oldest first, with what it meant for the document."""
        from crawl4r.workspace.history import entry_of  # noqa: PLC0415

        captures = self.captures.of_url(self.canonical(url))
        read, dropped = self._documents.extraction, self.parts.dropped
        return [entry_of(each, read(each.id), dropped.of(each.sha256)) for each in captures]

    def diff(self, url: str, before: int | None = None, after: int | None = None) -> PageDifference:
        """How the text of a page changed between two captures, by default the newest two."""
        from crawl4r.workspace.difference import Versions  # noqa: PLC0415

        canonical = self.canonical(url)
        versions = Versions(self.parts, self.settings, canonical, before, after, home=self.home)
        return run_blocking(versions.compare)

    def search(self, query: str, **options: Unpack[SearchOptions]) -> Answer:
        """Find passages by their words and by their meaning: iterate over the answer for its hits.

        Raises UsageError when nothing is indexed: call `index` first.
        """
        from crawl4r.workspace.search import request_of  # noqa: PLC0415

        self.refuse_unknown_labels(dict(options))
        request = request_of(query, self.settings.search, dict(options))
        return self.search_handle.searcher().search(request)

    def similar(self, url: str, limit: int = 10) -> list[Hit]:
        """Documents that say something like that of a URL, one passage of each."""
        return list(self.search_handle.searcher().similar(self.canonical(url), limit))

    @property
    def search_handle(self) -> SearchHandle:
        """The index, open until the workspace is closed."""
        if self._search is None:
            from crawl4r.wiring.search import SearchHandle  # noqa: PLC0415 - weighs more than a crawl

            self._search = SearchHandle(self.path, self.settings)
        return self._search

    def export(
        self, form: ExportForm, out: PathLike, **options: Unpack[ExportOptions]
    ) -> ExportReport:
        """Write documents (jsonl, markdown, parquet) or captures (csv, warc, wacz) to files."""
        from crawl4r.workspace.export import export  # noqa: PLC0415

        return export(self.parts, self.settings, form, Path(out), dict(options))

    def repeated_blocks(self, url: str) -> frozenset[int]:
        """Fingerprints of what repeats on most pages of the URL's site."""
        return SiteBlocks(self.database).repeated(split(url).host)

    @property
    def documents_cursor(self) -> int:
        """The capture up to which documents were made."""
        return self._documents.cursor()

    def why(self, url: str) -> dict[str, Any]:
        """What happened to a URL, and which rule decided."""
        rules = self.settings.robots_rules()
        scope = Scope(self.settings.scope_rules(self.parts.scope_hosts()))
        story = self.report.why(self.canonical(url), scope, tuple(rules.agents), self._now())
        return story | {"index": self._why_indexed(story.get("document"))}

    def _why_indexed(self, document: dict[str, Any] | None) -> dict[str, Any] | None:
        """How a document can be found, or the rule that keeps it out; None when neither is known."""
        if document is None or not (self.path / "index").exists():
            return None
        from crawl4r.wiring.search import open_catalogue  # noqa: PLC0415 - weighs more than a crawl

        with open_catalogue(self.path) as catalogue:
            if catalogue is None:
                return None
            if version := catalogue.current(document["document_id"]):
                passages = catalogue.passages_of(version)
                embedded = sum(found.entry.is_embedded for found in passages)
                cut = catalogue.why_left_out(document["document_id"])
                return {"passages": len(passages), "embedded": embedded} | (
                    {"cut": cut} if cut else {}
                )
            reason = catalogue.why_left_out(document["document_id"])
            return {"left_out": reason} if reason else None

    def host_report(
        self, host: str, since: float | None = None, until: float | None = None
    ) -> dict[str, Any]:
        """What a host was asked, as `crawl4r report --json` prints it. Times are epoch seconds."""
        # Only now: it counts with numpy.
        from crawl4r.reports.host.report import HostReporter  # noqa: PLC0415

        agents = self.settings.robots_rules().agents
        return HostReporter(self.database, agents).report(host, since, until)

    def robots_body(self, origin: str) -> bytes | None:
        """The robots.txt that an origin served, or None when it served none we know of."""
        record = RobotsRecords(self.database).get(origin)
        return record.body if record and record.outcome == ROBOTS_RULES else None

    def scope_hosts(self) -> list[str]:
        """Hosts of all seeds so far, and those that a seed redirected to."""
        return self.parts.scope_hosts()
