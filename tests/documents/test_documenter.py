"""From captures to documents: results, changes, crashes and site blocks."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import crawl4r
from crawl4r.clock import with_iso_times
from crawl4r.transfer.export_documents import EXPORTS, row_of
from tests.content.extract.making_pdf import pdf_saying
from tests.faults.killing import start_dying, was_killed
from tests.interfaces.cli.running import run

PROSE = "The harbour keeper paints the lighthouse before sunrise, and the gulls watch him do it. "
WORDS_ONLY = {"CRAWL4R_EMBEDDER__KIND": "none"}
BLOCKED = (
    "<title>Attention Required! | Cloudflare</title><h1>Sorry, you have been blocked</h1>"
    "<p>You are unable to access this site. Cloudflare Ray ID: 7d2f</p>"
)


class Site:
    """Pages by path, changed by the test as it likes."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[int, str, bytes]] = {}
        self.url = ""

    def put(self, path: str, html: str, status: int = 200) -> None:
        self.pages[path] = (status, "text/html; charset=utf-8", html.encode())

    def put_file(self, path: str, content_type: str, body: bytes) -> None:
        self.pages[path] = (200, content_type, body)


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, kind, body = site.pages.get(self.path, (404, "text/plain", b"none"))
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        site.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield site
        server.shutdown()


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as running:
        yield running


def article(title: str, text: str, links: str = "") -> str:
    return f"<html lang=en><title>{title}</title><main><h1>{title}</h1><p>{text}</p>{links}</main>"


def crawl(folder: Path, url: str, **options: object) -> dict[str, crawl4r.StoredDocument]:
    async def work() -> dict[str, crawl4r.StoredDocument]:
        pace = {"rate": 0, "allow_private": ["127.0.0.1"], "probe": False}
        async with crawl4r.open(folder, **pace) as workspace, asyncio.timeout(90):
            await workspace.crawl(url, **options).finish()
            found = workspace.documents(with_gone=True)
            return {stored.document.url.removeprefix(url): stored for stored in found}

    return asyncio.run(work())


def changes(folder: Path, url: str) -> list[str]:
    with crawl4r.open(folder, read_only=True) as workspace:
        return [entry.change for entry in workspace.history(url)]


def test_each_kind_of_page_becomes_a_document(site: Site, tmp_path: Path) -> None:
    names = ("a.html", "b.txt", "c.json", "d.xml", "e.pdf", "f.png")
    links = "".join(f"<a href={name}>{name}</a>" for name in names)
    site.put("/", article("Start", PROSE * 5, links))
    site.put("/a.html", article("A <i>title</i>", PROSE * 3 + "Ein Ende."))
    site.put_file("/b.txt", "text/plain", PROSE.encode())
    site.put_file("/c.json", "application/json", b'{"a":[1,2]}')
    site.put_file("/d.xml", "application/xml", b"<x><y>words</y></x>")
    site.put_file("/e.pdf", "application/pdf", pdf_saying("Words on paper", title="Paper"))
    site.put_file("/f.png", "image/png", b"\x89PNG\r\n\x1a\n\0")
    found = crawl(tmp_path, site.url)
    kinds = {path: stored.document.kind for path, stored in found.items()}
    assert kinds == {
        "/": "html", "/a.html": "html", "/b.txt": "text", "/c.json": "json", "/d.xml": "xml",
        "/e.pdf": "pdf",
    }  # fmt: skip
    assert found["/e.pdf"].document.markdown == "Words on paper"
    assert found["/e.pdf"].document.title == "Paper"
    assert found["/"].document.language == "en"
    assert "harbour keeper" in found["/a.html"].document.markdown
    assert '"a": [' in found["/c.json"].document.markdown


def test_a_later_visit_is_unchanged_changed_or_gone(site: Site, tmp_path: Path) -> None:
    links = "".join(f"<a href=/{name}>{name}</a> " for name in ("same", "edited", "gone"))
    site.put("/", article("Start", PROSE * 5, links))
    for name in ("same", "edited", "gone"):
        site.put(f"/{name}", article(f"All about {name}", f"About {name}. {PROSE * 4}"))
    crawl(tmp_path, site.url)
    site.put(
        "/edited", article("All about edited", f"About edited. {PROSE * 4} And a new sentence.")
    )
    del site.pages["/gone"]
    crawl(tmp_path, site.url, refresh=True)
    found = crawl(tmp_path, site.url, refresh=True)
    assert changes(tmp_path, f"{site.url}/same") == ["new", "unchanged", "unchanged"]
    assert changes(tmp_path, f"{site.url}/edited") == ["new", "changed", "unchanged"]
    assert changes(tmp_path, f"{site.url}/gone") == ["new", "missing", "gone"]
    assert "a new sentence" in found["/edited"].document.markdown
    assert found["/gone"].gone_at is not None
    assert "About gone" in found["/gone"].document.markdown
    edited = (f"{site.url}/edited", "-w", tmp_path)
    first, second = (row["capture_id"] for row in run("history", *edited, "--json").json[:2])
    told = run("diff", *edited, "--from", str(first), "--to", str(second), "--json").json
    assert told["kind"] == "changed" and "And a new sentence." in told["diff"]
    assert run("diff", f"{site.url}/same", "-w", tmp_path).text == "the text is the same\n"


@pytest.mark.parametrize("status", [404, 410])
def test_a_page_is_gone_with_the_second_404_or_410_in_a_row(
    site: Site, tmp_path: Path, status: int
) -> None:
    page = article("Start", PROSE * 5)
    site.put("/", page)
    crawl(tmp_path, site.url)
    site.put("/", "none", status)
    assert crawl(tmp_path, site.url, refresh=True)["/"].gone_at is None
    site.put("/", page)
    assert crawl(tmp_path, site.url, refresh=True)["/"].gone_at is None
    site.put("/", "none", status)
    assert crawl(tmp_path, site.url, refresh=True)["/"].gone_at is None, "not two in a row"
    assert crawl(tmp_path, site.url, refresh=True)["/"].gone_at is not None
    words = ["new", "missing", "unchanged", "missing", "gone"]
    assert changes(tmp_path, site.url) == words
    site.put("/", page)
    assert crawl(tmp_path, site.url, refresh=True)["/"].gone_at is None, "it is back"
    assert changes(tmp_path, site.url) == [*words, "unchanged"]
    assert run("diff", site.url, "-w", tmp_path).text == "the text is the same\n"
    assert run("reprocess", "-w", tmp_path).code == 0
    assert changes(tmp_path, site.url) == [*words, "unchanged"]


def test_a_host_that_cannot_answer_is_no_reason_to_doubt_a_404(site: Site, tmp_path: Path) -> None:
    site.put("/", article("Start", PROSE * 5))
    crawl(tmp_path, site.url)
    for status in (404, 503, 404):
        site.put("/", "none", status)
        options = {"refresh": True, "retry_failed": True}
        (tmp_path / "crawl4r.yaml").write_text("fetch: {retries: 0}\n")
        found = crawl(tmp_path, site.url, **options)
    assert found["/"].gone_at is not None
    assert changes(tmp_path, site.url) == ["new", "missing", "none", "gone"]


def test_a_document_leaves_the_index_with_the_second_404_and_comes_back(
    site: Site, tmp_path: Path
) -> None:
    def hits() -> list[str]:
        assert run("index", "-w", tmp_path, env=WORDS_ONLY).code == 0
        answer = run("search", "lighthouse", "-w", tmp_path, "--json", env=WORDS_ONLY)
        return [hit["url"] for hit in answer.json["results"]]

    page = article("Start", PROSE * 5)
    for body, status, expected in (
        (page, 200, [f"{site.url}/"]),
        ("none", 404, [f"{site.url}/"]),
        ("none", 404, []),
        (page, 200, [f"{site.url}/"]),
    ):
        site.put("/", body, status)
        crawl(tmp_path, site.url, refresh=True)
        assert hits() == expected


def test_other_bytes_with_the_same_text_do_not_count_as_a_change(
    site: Site, tmp_path: Path
) -> None:
    def seen(folder: Path) -> tuple[int, int]:
        with crawl4r.open(folder, read_only=True) as workspace:
            told = workspace.why(site.url)["revisit"]
        return told["visits"], told["changes"]

    for visit in range(3):
        site.put("/", article("Start", PROSE * 5) + f"<!-- visit {visit} -->")
        crawl(tmp_path / "read", site.url, refresh=True)
        crawl(tmp_path / "unread", site.url, refresh=True, extract=False)
    assert seen(tmp_path / "read") == (2, 0)
    assert seen(tmp_path / "unread") == (2, 2), "no task has read the text yet"
    for _ in range(2):
        assert run("reprocess", "-w", tmp_path / "unread").code == 0
        assert seen(tmp_path / "unread") == (2, 0)
    site.put("/", article("Start", PROSE * 5 + "And one thing more."))
    crawl(tmp_path / "read", site.url, refresh=True)
    assert seen(tmp_path / "read") == (3, 1)
    assert run("reprocess", "-w", tmp_path / "read").code == 0
    assert seen(tmp_path / "read") == (3, 1)


def test_a_refusal_never_replaces_a_good_text(site: Site, tmp_path: Path) -> None:
    site.put("/", article("Start", PROSE * 5))
    crawl(tmp_path, site.url)
    site.put("/", BLOCKED)
    backoff = {"headers": {"X-Any": "1"}}
    found = crawl(tmp_path, site.url, refresh=True, **backoff)
    assert "harbour keeper" in found["/"].document.markdown
    with crawl4r.open(tmp_path, read_only=True) as workspace:
        story = workspace.why(site.url)
    assert story["verdict"] == "blocked"
    assert story["captures"][-1]["change"] == "rejected"


def test_what_repeats_over_a_site_is_left_out(site: Site, tmp_path: Path) -> None:
    """In no landmark and with no telling name: only its repetition gives it away."""
    plea = "<p>Please consider a donation to our harbour fund, which keeps this light burning.</p>"
    count = 30
    links = "".join(f"<a href=/{n}>{n}</a> " for n in range(count))
    site.put("/", f"<title>Start</title><h1>Start</h1><p>{PROSE * 3}</p>{plea}{links}")
    for n in range(count):
        own = f"Keeper number {n} lives on rock {n * n} with {n + 3} gulls. " * 4
        site.put(f"/{n}", f"<title>Rock {n}</title><h1>Rock {n}</h1><p>{own}</p>{plea}")
    found = crawl(tmp_path, site.url)
    with_plea = [path for path, s in found.items() if "donation" in s.document.markdown]
    assert len(found) == count + 1
    assert with_plea == []
    assert all("Keeper number" in s.document.markdown for path, s in found.items() if path != "/")


def test_near_duplicates_name_the_older_one(site: Site, tmp_path: Path) -> None:
    words = " ".join(f"word{n} and" for n in range(300))
    site.put("/", article("Start", PROSE * 3, "<a href=/a>a</a> <a href=/b>b</a>"))
    site.put("/a", article("One", words))
    site.put("/b", article("One", words + " indeed"))
    found = crawl(tmp_path, site.url)
    first, second = sorted((found["/a"], found["/b"]), key=lambda stored: stored.capture)
    assert (first.near_of, second.near_of) == (None, first.id)
    out = tmp_path / "out.jsonl"
    assert run("export", "jsonl", "-w", tmp_path, "-o", out, "--json").json["documents"] == 2
    run("export", "jsonl", "-w", tmp_path, "-o", out, "--with-near")
    assert len(out.read_text().splitlines()) == 3


@pytest.mark.parametrize("what", ["a little", "everything"])
def test_one_of_two_near_duplicates_stands_for_both_also_after_it_changed(
    site: Site, tmp_path: Path, what: str
) -> None:
    """If each were taken for a copy of the other, a search would find neither."""
    words = " ".join(f"word{n} and" for n in range(300))
    site.put("/", article("Start", PROSE * 3, "<a href=/a>a</a> <a href=/b>b</a>"))
    site.put("/a", article("One", words))
    site.put("/b", article("Two", words + " indeed"))
    before = crawl(tmp_path, site.url)
    first, second = sorted(("/a", "/b"), key=lambda path: before[path].capture)
    changed = f"{words} somewhat" if what == "a little" else PROSE * 20
    site.put(first, article("One again", changed))
    found = crawl(tmp_path, site.url, refresh=True)
    assert found[first].near_of is None
    assert found[second].near_of == (found[first].id if what == "a little" else None)


def test_a_page_is_not_found_by_what_it_said_before(site: Site, tmp_path: Path) -> None:
    old, new = (" ".join(f"{word}{n} and" for n in range(300)) for word in ("old", "new"))
    site.put("/", article("Start", PROSE * 3, "<a href=/a>a</a>"))
    site.put("/a", article("One", old))
    crawl(tmp_path, site.url)
    site.put("/", article("Start", PROSE * 3, "<a href=/a>a</a> <a href=/b>b</a> <a href=/c>c</a>"))
    site.put("/a", article("One", new))
    site.put("/b", article("Two", old))
    site.put("/c", article("Three", new))
    found = crawl(tmp_path, site.url, refresh=True)
    assert (found["/b"].near_of, found["/c"].near_of) == (None, found["/a"].id)
    with crawl4r.open(tmp_path, read_only=True) as workspace:
        rows = workspace.database.read(
            "SELECT document, count(*) FROM near_bands GROUP BY document"
        )
    assert dict(rows) == {stored.id: 16 for stored in found.values()}


def test_reprocessing_gives_the_same_documents_and_needs_no_network(tmp_path: Path) -> None:
    with serving(Site()) as site:
        site.put("/", article("Start", PROSE * 5, "<a href=/a>a</a>"))
        site.put("/a", article("A", PROSE * 4 + "Other."))
        before = crawl(tmp_path, site.url)
        url = site.url
    again = run("reprocess", "-w", tmp_path, "--json").json
    assert again == {"new": 2}
    with crawl4r.open(tmp_path, read_only=True) as workspace:
        after = {s.document.url.removeprefix(url): s for s in workspace.documents()}
    assert {
        url: stored._replace(revision=before[url].revision) for url, stored in after.items()
    } == before
    assert all(after[url].revision > before[url].revision for url in before)
    assert run("reprocess", "-w", tmp_path, "--missing", "--dry-run", "--json").json == {
        "captures": 0
    }


def test_without_extraction_there_are_no_documents_until_reprocess(
    site: Site, tmp_path: Path
) -> None:
    site.put("/", article("Start", PROSE * 5))
    assert crawl(tmp_path, site.url, extract=False) == {}
    assert run("reprocess", "-w", tmp_path, "--missing", "--json").json == {"new": 1}


def test_killed_while_reading_it_goes_on_and_doubles_nothing(tmp_path: Path) -> None:
    count = 60
    with serving(Site()) as site:
        links = "".join(f"<a href=/{n}>{n}</a> " for n in range(count))
        site.put("/", article("Start", PROSE * 5, links))
        for n in range(count):
            site.put(f"/{n}", article(f"Page {n}", f"Number {n}. {PROSE * 4}" + f"word{n} " * 90))
        crawl(tmp_path, site.url, extract=False)
    for kill in (
        "before statement state.db#40",
        "during commit state.db#1",
        "after commit state.db#1",
    ):
        process = start_dying("reprocess", "-w", tmp_path, "--missing", at=kill)
        assert was_killed(process), f"{kill} does not come"
    run("reprocess", "-w", tmp_path, "--missing")
    with crawl4r.open(tmp_path, read_only=True) as workspace:
        urls = [stored.document.url for stored in workspace.documents()]
        assert len(urls) == len(set(urls)) == count + 1
        assert all(changes(tmp_path, url) == ["new"] for url in urls[:5])


def test_a_page_that_breaks_its_reader_gets_a_verdict_and_the_rest_their_documents(
    site: Site, tmp_path: Path
) -> None:
    site.put("/", article("Start", PROSE * 5, "<a href=/deep>deep</a>"))
    site.put("/deep", "<p>" + PROSE * 30 + "<div>" * 60_000)
    (tmp_path / "crawl4r.yaml").write_text("content: {seconds: 2}\nreading: {seconds: 30}\n")
    found = crawl(tmp_path, site.url)
    assert "/" in found
    with crawl4r.open(tmp_path, read_only=True) as workspace:
        entry, *_ = workspace.history(f"{site.url}/deep")
    assert entry.verdict in {"unreadable", "ok"}


def test_every_export_holds_every_document(site: Site, tmp_path: Path) -> None:
    site.put("/", article('Start: a "title"', PROSE * 5, "<a href=/a>a</a>"))
    site.put("/a", article("- [x] & --- ", PROSE * 4 + "Ünïcödé 日本語"))
    found = crawl(tmp_path / "ws", site.url)
    for form in EXPORTS:
        out = tmp_path / f"out-{form}"
        assert (
            run("export", form, "-w", tmp_path / "ws", "-o", out, "--json").json["documents"] == 2
        )
    rows = [json.loads(line) for line in (tmp_path / "out-jsonl").read_text().splitlines()]
    assert rows == [with_iso_times(row_of(stored)) for _, stored in sorted(found.items())]
    files = list((tmp_path / "out-markdown").rglob("*.md"))
    assert len(files) == 2
    assert all(file.read_text().startswith("---\nid: ") for file in files)
    script = "import pyarrow.parquet as p, sys; print(p.read_table(sys.argv[1])['url'].to_pylist())"
    table = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "out-parquet")],
        capture_output=True, text=True, check=True, env=dict(os.environ),
    )  # fmt: skip
    assert table.stdout.strip() == str([row["url"] for row in rows])


def test_extract_reads_files_from_a_list_in_their_order(tmp_path: Path) -> None:
    for n in range(8):
        (tmp_path / f"{n}.html").write_text(article(f"Page {n}", PROSE * 3))
    lines = [{"url": f"http://e.org/{n}", "path": str(tmp_path / f"{n}.html")} for n in range(8)]
    lines.insert(3, {"url": "http://e.org/none", "path": str(tmp_path / "none.html")})
    text = "\n".join(json.dumps(line) for line in lines)
    rows = run("extract", "--jsonl", stdin=text).lines
    assert [row["url"] for row in rows] == [line["url"] for line in lines]
    assert "cannot be read" in rows[3]["error"]
    assert {row["verdict"] for row in rows if "verdict" in row} == {"ok"}
    bad = run("extract", "--jsonl", stdin='{"url": 1}')
    assert bad.code == 2 and "line 1" in bad.err


def test_a_byte_order_mark_does_not_end_the_head(tmp_path: Path) -> None:
    """Before the first tag it would be text, and the links behind it part of the body."""
    said = '<link rel="canonical" href="/own">'
    page = tmp_path / "page.html"
    page.write_bytes(f"\ufeff<head>{said}</head>{article('T', PROSE * 9)}".encode())
    told = run("extract", page, "--url", "http://e.org/", "--json").json
    assert told["canonical"] == "http://e.org/own"


def test_extract_reads_stdin_and_cuts_chunks() -> None:
    html = article("T", PROSE * 40, "<h2>Part</h2><pre>x = 1</pre><a href='/y'>why</a>")
    told = run("extract", "--url", "http://e.org/x", "--json", "--chunks", stdin=html).json
    assert (told["title"], told["verdict"], told["language"]) == ("T", "ok", "en")
    assert told["links"] == [{"url": "http://e.org/y", "text": "why", "section": "Part", "rel": ""}]
    assert "".join(chunk["text"] for chunk in told["chunks"]) == told["markdown"]
    assert told["chunks"][-1]["headings"] == ["T", "Part"]
    plain = run("extract", stdin=html)
    assert plain.text.startswith("# T\n") and "```\nx = 1\n```" in plain.text


def test_scrape_prints_the_page_behind_a_redirect_or_says_why_not(site: Site) -> None:
    site.put("/", article("Here", PROSE * 5, "<a href=/b>b</a>"))
    site.put("/robots.txt", "User-agent: *\nDisallow: /no")
    private = ("--allow-private", "127.0.0.1")
    told = run("scrape", f"{site.url}/", *private, "--json").json
    assert (told["title"], told["verdict"]) == ("Here", "ok")
    assert run("scrape", f"{site.url}/", *private).text.startswith("# Here\n")
    refused = run("scrape", f"{site.url}/no", *private)
    assert refused.code == 1 and "Disallow: /no" in refused.err
    missing = run("scrape", f"{site.url}/missing", *private)
    assert missing.code == 1 and "http-404" in missing.err
