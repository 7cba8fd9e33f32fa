"""Workspaces for these tests: made capture by capture where no server would send such answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import crawl4r
from crawl4r.archive.documents import Documents
from crawl4r.archive.requests import Requests
from crawl4r.archive.warc.writer import Packing
from crawl4r.model import Capture, Ending, Found, FoundBy, UrlState, Verdict
from crawl4r.transfer.export_warc import Archive, ExportResult, Selection, export_wacz, export_warc
from crawl4r.urls.canonical import split
from crawl4r.wiring.frontier import make_frontier
from crawl4r.workspace.workspace import Workspace

FACTS = {"software": "crawl4r/test", "format": "WARC File Format 1.1", "robots": "obeyed"}
EVERYTHING = Selection()
MOMENT = 1_790_000_000.123456  # epoch seconds: when the first capture was made
PROSE = "The harbour keeper paints the lighthouse before sunrise, and the gulls watch him do it. "
COMMON = ["User-Agent: tester", "Accept: */*", "Accept-Encoding: gzip, deflate, br, zstd"]
PACKINGS = {"gzip": ".warc.gz", "zstd": ".warc.zst", "none": ".warc"}


class Maker:
    """Adds captures to a workspace as a crawl does, one a second."""

    def __init__(self, opened: Workspace) -> None:
        self._opened = opened
        crawl = opened.parts.crawls.add("made", MOMENT)
        self._frontier = make_frontier(opened.parts, crawl.id, opened.settings)
        self._request = Requests(opened.database).number_of(COMMON)
        self._moment = MOMENT

    def add(
        self,
        url: str,
        body: bytes | None = b"",
        *,
        status: int = 200,
        headers: Sequence[tuple[str, str]] | None = None,
        verdict: Verdict | None = None,
        **fields: Any,
    ) -> Capture:
        opened = self._opened
        headers = [("content-type", "text/html")] if headers is None else headers
        named = dict(reversed(headers))
        found = Found(url, split(url).netloc, 0, FoundBy.SEED, admitted=True, rule="")
        self._frontier.add([found], None, self._moment)
        url_id = self._frontier.id_of(url)
        assert url_id is not None
        verdict = verdict or (Verdict.OK if status < 300 else Verdict.HTTP_ERROR)
        sha256 = opened.captures.sha256_before(url) if status == 304 else None
        if body is not None and status != 304:
            sha256 = opened.blobs.add(body, named.get("content-type", ""))[0]
        values = {
            "url": url, "fetched_at": self._moment, "status": status, "verdict": verdict,
            "reason": "", "sha256": sha256, "bytes": len(body or b""),
            "content_type": named.get("content-type", "").partition(";")[0].strip().lower(),
            "encoding": "", "headers": headers, "etag": named.get("etag"),
            "last_modified": named.get("last-modified"), "page_type": "", "depth": 0,
            "referrer": None, "latency_ms": 5, "retries": 0, "http_version": "1.1",
            "address": "192.0.2.1", "request": self._request,
        }  # fmt: skip
        capture = Capture(**(values | fields))
        number = opened.captures.add(capture)
        content = number if verdict is Verdict.OK else None
        ending = Ending(url_id, UrlState.DONE, verdict, "", None, number, content)
        self._frontier.settle([ending])
        self._moment += 1
        return capture._replace(id=number)


def made(folder: Path, make: Callable[[Maker], None]) -> Path:
    with crawl4r.open(folder) as opened:
        make(Maker(opened))
        opened.blobs.flush()
        opened.database.commit()
    return folder


def page(title: str, more: str = "") -> bytes:
    text = (
        f"<html lang=en><title>{title}</title><main><h1>{title}</h1><p>{more}{PROSE * 5}</p></main>"
    )
    return text.encode()


def make_hostile(maker: Maker) -> None:
    """Answers that are hard to write down, or to read back."""
    site = "http://site.example"
    maker.add(f"{site}/", page("Start"), headers=[("content-type", "text/html; charset=utf-8")])
    maker.add(f"{site}/empty", b"")
    maker.add(f"{site}/copy", page("Start"))
    maker.add(f"{site}/no-headers", page("No headers"), headers=[])
    maker.add(f"{site}/binary", bytes(range(256)) * 40, headers=[("content-type", "image/png")])
    maker.add(f"{site}/text", b"WARC/1.1\r\n\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\n\r\n")
    maker.add(
        f"{site}/latin-1",
        page("Latin"),
        headers=[("x-town", "M\xfcnchen"), ("x-bytes", "\xff\x80")],
    )
    maker.add(f"{site}/utf-8", page("UTF-8"), headers=[("x-town", 'MÃ¼nchen; a="b"')])
    maker.add(f"{site}/controls", page("Controls"), headers=[("x-a", "1\r2\n3\x004\x07\t5")])
    maker.add(f"{site}/odd-names", page("Odd"), headers=[("x y", "1"), ("x:", ":"), ("é", "2")])
    maker.add(f"{site}/long", page("Long"), headers=[("x-long", "x" * 100_000)])
    maker.add(f"{site}/many", page("Many"), headers=[(f"x-{n}", str(n)) for n in range(500)])
    maker.add(f"{site}/no-phrase", b"what?", status=299)
    maker.add(f"{site}/teapot", b"short and stout", status=418)
    maker.add(f"{site}/nothing", b"", status=204, headers=[])
    maker.add(f"{site}/strange", None, status=999, headers=[("content-length", "7")])
    coded = [
        ("content-encoding", "gzip"),
        ("content-length", "99"),
        ("transfer-encoding", "chunked"),
    ]
    maker.add(f"{site}/coded", page("Coded"), headers=[("content-type", "text/html"), *coded])
    body = page("Two lengths")
    lengths = [("content-length", str(len(body))), ("content-length", "3")]
    maker.add(f"{site}/lengths", body, headers=lengths)
    _make_visits(maker, site)
    _make_origins(maker)


def _make_visits(maker: Maker, site: str) -> None:
    """Redirects, errors, and what came again."""
    moved = {"status": 301, "verdict": Verdict.REDIRECT, "location": f"{site}/"}
    maker.add(f"{site}/moved", None, headers=[("location", "/")], **moved)
    maker.add(f"{site}/moved-with-words", b"<p>moved</p>", headers=[("location", "/")], **moved)
    maker.add(f"{site}/moved-again", b"<p>moved</p>", headers=[("location", "/")], **moved)
    # The server sent raw UTF-8.
    elsewhere = moved | {"location": f"{site}/stra%C3%9Fe"}
    maker.add(f"{site}/moved-far", None, headers=[("location", "/straÃ\x9fe")], **elsewhere)
    maker.add(f"{site}/gone", b"<p>no such page</p>", status=404)
    maker.add(f"{site}/gone-too", b"<p>no such page</p>", status=404)
    tag = [("content-type", "text/html"), ("etag", '"tag-1"')]
    changed = [("last-modified", "Mon, 01 Jan 2024 00:00:00 GMT")]
    maker.add(f"{site}/again", page("Again"), headers=tag + changed)
    not_modified = {"status": 304, "verdict": Verdict.NOT_MODIFIED}
    maker.add(
        f"{site}/again", b"", headers=[("etag", '"tag-1"'), ("x-a", "M\xfcn\xff")], **not_modified
    )
    maker.add(f"{site}/again", page("Again"), headers=tag)
    maker.add(f"{site}/again", b"", headers=[], **not_modified)
    maker.add(f"{site}/empty-again", b"", headers=tag)
    maker.add(f"{site}/empty-again", b"", headers=[("content-length", "0")], **not_modified)
    maker.add(f"{site}/unknown-304", b"", headers=[("content-length", "77")], **not_modified)
    maker.add(f"{site}/soft", page("Soft"), verdict=Verdict.SOFT_404, reason="looks\nlike none")
    maker.add(
        f"{site}/map", b"<urlset/>", page_type="listing", headers=[("content-type", "text/xml")]
    )
    maker.add(f"{site}/soft-copy", page("Soft"), verdict=Verdict.SOFT_404, reason="like none")


def _make_origins(maker: Maker) -> None:
    """By other protocols, from other addresses, or not from a server at all."""
    maker.add(
        f"https://h2.example/{'x' * 2000}", page("Huge"), http_version="2", address="2001:db8::1"
    )
    maker.add(
        "https://h2.example/?a=%22%3C%3E&b=%E2%82%AC&c=%27()*!", page("Odd URL"), http_version="3"
    )
    maker.add("http://[::1]:8080/", page("Six"), address="::1", http_version="1.0")
    maker.add(
        "http://site.example/proxied", page("Proxied"), proxy="proxy.example", address="10.0.0.1"
    )
    maker.add("http://site.example/no-address", page("Nowhere"), address="not an address")
    maker.add("http://site.example/old", page("Old"), request=None)
    record = [("content-type", "application/vnd.crawl4r.record+json")]
    unasked = {"address": "", "http_version": "", "request": None}
    for name in ("1", "2"):  # the same words twice, under two names
        maker.add(
            f"https://imported.invalid/{name}",
            b'{"id": "1", "text": "Words"}',
            headers=record,
            **unasked,
        )


def archive_of(opened: Workspace) -> Archive:
    database = opened.database
    return Archive(
        opened.captures, opened.blobs, Requests(database), Documents(database), opened.parts.dropped
    )


def export(
    workspace: Path,
    out: Path,
    packing: str = "gzip",
    max_size: int = 1024**3,
    selection: Selection = EVERYTHING,
) -> ExportResult:
    """A file, a folder or a package, by the name that is given."""

    def ignore(done: int) -> None:
        pass

    with crawl4r.open(workspace, read_only=True) as opened:
        archive = archive_of(opened)
        if out.suffix == ".wacz":
            return export_wacz(archive, out, "test", max_size, FACTS, selection, ignore)
        pack = Packing(packing)
        return export_warc(archive, out, "test", pack, max_size, FACTS, selection, ignore)


def captures_of(workspace: Path) -> list[Capture]:
    with crawl4r.open(workspace, read_only=True) as opened:
        return list(opened.captures.after(0))
