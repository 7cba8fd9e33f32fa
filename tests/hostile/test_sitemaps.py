"""Sitemaps without end, and those that lead where the scope does not."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import crawl4r
from crawl4r.reports.url_story import PageRow
from tests.hostile.measured import suffer
from tests.hostile.raw_site import GOOD, Pieces, RawSite, answer
from tests.interfaces.cli.running import LOOPBACK, Answer, run

EXPLORING = {"CRAWL4R_EXPLORE__ENABLED": "true"}
MOST_LISTINGS, MOST_NESTING = 500, 3  # by default
OTHER = "127.0.0.2"


def xml(root: str, entry: str, urls: Iterable[str]) -> bytes:
    named = "".join(f"<{entry}><loc>{url}</loc></{entry}>" for url in urls)
    text = f'<{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{named}</{root}>'
    return answer(text.encode(), "application/xml")


def index(urls: Iterable[str]) -> bytes:
    return xml("sitemapindex", "sitemap", urls)


def urlset(urls: Iterable[str]) -> bytes:
    return xml("urlset", "url", urls)


def redirect(url: str) -> bytes:
    return f"HTTP/1.1 302 Found\r\nLocation: {url}\r\nContent-Length: 0\r\n\r\n".encode()


def robots(*lines: str) -> bytes:
    return answer("\n".join(["User-agent: *", *lines, ""]).encode(), "text/plain")


def crawl(site: RawSite, workspace: Path, *options: str, **env: str) -> Answer:
    words = ("crawl", site.url(), "--workspace", workspace, *LOOPBACK, *options, "--json")
    ended = suffer(*words, env=EXPLORING | env).within_limits()
    assert ended.answer.code == 0
    return ended.answer


def rows_of(workspace: Path, site: RawSite) -> dict[str, PageRow]:
    with crawl4r.open(workspace, read_only=True) as opened:
        rows = {row.url: row for row in opened.pages()}
    assert {rows[site.url(path)].verdict for path in GOOD} == {"ok"}
    return rows


def test_indexes_nested_without_end_are_followed_to_a_depth(tmp_path: Path) -> None:
    def nested(path: str) -> Pieces | None:
        if path != "/sitemap.xml" and not path.startswith("/nested"):
            return None
        stem = path.removesuffix(".xml").removeprefix("/sitemap").removeprefix("/nested")
        return [index(site.url(f"/nested{stem}-{n}.xml") for n in range(5))]

    with RawSite({}, otherwise=nested) as site:
        crawl(site, tmp_path)
        rows = rows_of(tmp_path, site)
        asked = [path for path in site.paths() if path.endswith(".xml")]
        assert len(asked) == len(set(asked)) == 1 + 5 + 25
        told = run("why", site.url("/nested-0-0-0.xml"), "-w", tmp_path).text
    assert "state: refused, capped" in told
    assert "reason: depth 4 of sitemaps in sitemaps is past the limit of 3" in told
    assert sum("of sitemaps in sitemaps" in (row.reason or "") for row in rows.values()) == 125


def test_a_host_has_so_many_sitemaps_and_no_more(tmp_path: Path) -> None:
    def wide(path: str) -> Pieces | None:
        if path == "/sitemap.xml":
            return [index(site.url(f"/map/{n}.xml") for n in range(2_000))]
        return [urlset([site.url("/good/0")])] if path.startswith("/map/") else None

    with RawSite({}, otherwise=wide) as site:
        crawl(site, tmp_path)
        rows = rows_of(tmp_path, site)
        asked = [path for path in site.paths() if path.endswith(".xml")]
        told = run("why", site.url("/map/1999.xml"), "-w", tmp_path).text
    assert len(asked) == MOST_LISTINGS
    assert "reason: cap of 500 reached for explore.max_listings 127.0.0.1" in told
    assert sum(row.verdict == "capped" for row in rows.values()) == 2_001 - MOST_LISTINGS


def test_pages_that_turn_out_to_be_sitemaps_are_not_followed_without_end(tmp_path: Path) -> None:
    """Each names the next as a page; they are read all the same, since they look like sitemaps."""

    def chain(path: str) -> Pieces | None:
        if path == "/sitemap.xml":
            return [urlset([site.url("/chain/0.xml")])]
        if not path.startswith("/chain/"):
            return None
        number = int(path.removeprefix("/chain/").removesuffix(".xml"))
        return [urlset([site.url(f"/chain/{number + 1}.xml")])]

    with RawSite({}, otherwise=chain) as site:
        crawl(site, tmp_path)
        rows_of(tmp_path, site)
        assert len([path for path in site.paths() if path.endswith(".xml")]) == MOST_NESTING + 1


def test_redirects_between_sitemaps_do_not_hide_how_deep_they_are(tmp_path: Path) -> None:
    def hops(path: str) -> Pieces | None:
        if path == "/sitemap.xml" or path.startswith("/hop/"):
            return [redirect(site.url(f"/level/{path.removeprefix('/hop/').strip('/')}"))]
        if path.startswith("/level/"):
            return [index([site.url(f"/hop/{path.removeprefix('/level/')}x")])]
        return None

    with RawSite({}, otherwise=hops) as site:
        crawl(site, tmp_path)
        rows_of(tmp_path, site)
        levels = [path for path in site.paths() if path.startswith("/level/")]
    assert len(levels) == MOST_NESTING


def test_further_pages_of_a_feed_are_bounded_like_sitemaps(tmp_path: Path) -> None:
    def feed(path: str) -> Pieces | None:
        if not path.startswith("/feed/"):
            return None
        following = site.url(f"/feed/{int(path.removeprefix('/feed/')) + 1}")
        text = (
            '<feed xmlns="http://www.w3.org/2005/Atom"><title>A feed</title>'
            f'<link rel="next" href="{following}"/></feed>'
        )
        return [answer(text.encode(), "application/atom+xml")]

    with RawSite({"/feed/0": lambda: feed("/feed/0") or []}, otherwise=feed) as site:
        crawl(site, tmp_path, CRAWL4R_EXPLORE__MAX_LISTINGS="20")
        rows_of(tmp_path, site)
        assert len([path for path in site.paths() if path.startswith("/feed/")]) == 1 + 20


def test_sitemaps_of_robots_txt_elsewhere_are_refused_by_the_scope(tmp_path: Path) -> None:
    with RawSite({}, hosts=("127.0.0.1", OTHER)) as other:
        elsewhere = [
            other.url("/other-port.xml"),
            other.url("/other-host.xml", OTHER),
            "file:///etc/passwd",
            "gopher://127.0.0.1:70/",
            "//127.0.0.3/sitemap.xml",
        ]
        lines = [f"Sitemap: {url}" for url in elsewhere]
        with RawSite(
            {
                "/robots.txt": lambda: [robots("Disallow: /denied", *lines, "Sitemap: /named.xml")],
                "/named.xml": lambda: [index(["/denied.xml", *elsewhere, "/inner.xml"])],
                "/inner.xml": lambda: [urlset([site.url("/hidden"), *elsewhere])],
            },
            otherwise=lambda path: [answer(b"<p>hidden</p>")] if path == "/hidden" else None,
        ) as site:
            crawl(site, tmp_path, "--allow-private", "127.0.0.0/8")
            rows = rows_of(tmp_path, site)
            told = run("why", elsewhere[1], "-w", tmp_path).text
    assert other.asked == []
    assert f"reason: host {OTHER}:{other.port} is not in scope" in told
    assert {rows[url].state for url in elsewhere[:2]} == {"refused"}
    assert (rows[site.url("/denied.xml")].verdict, rows[site.url("/hidden")].verdict) == (
        "robots-denied",
        "too-small",
    )
    assert "/denied.xml" not in site.paths()


def test_a_sitemap_on_another_host_of_the_scope_is_read(tmp_path: Path) -> None:
    hosts = ("127.0.0.1", OTHER)
    answers = {
        "/robots.txt": lambda: [robots(f"Sitemap: {site.url('/shared.xml', OTHER)}")],
        "/shared.xml": lambda: [index([site.url("/inner.xml")])],
        "/inner.xml": lambda: [urlset([site.url("/good/2")])],
    }
    with RawSite(answers, hosts=hosts) as site:
        both = [word for host in hosts for word in ("--host", f"{host}:{site.port}")]
        crawl(site, tmp_path, *both, "--allow-private", OTHER)
        rows = rows_of(tmp_path, site)
    assert rows[site.url("/shared.xml", OTHER)].verdict == "ok"
    assert rows[site.url("/inner.xml")].verdict == "ok"


def test_a_sitemap_that_redirects_does_not_widen_the_scope(tmp_path: Path) -> None:
    """A seed that moves takes the scope along; what else redirects stays outside."""
    with RawSite({}, hosts=(OTHER,)) as other:
        hops = {"/sitemap.xml": "/hop", "/hop": other.url("/moved.xml", OTHER)}
        with RawSite({}, otherwise=lambda path: _hop(hops.get(path))) as site:
            crawl(site, tmp_path, "--allow-private", OTHER)
            rows = rows_of(tmp_path, site)
    assert other.asked == []
    assert rows[other.url("/moved.xml", OTHER)].verdict == "out-of-scope"


def _hop(target: str | None) -> Pieces | None:
    return [redirect(target)] if target else None


def test_usual_places_are_asked_for_only_where_the_scope_lets_them_in(tmp_path: Path) -> None:
    with RawSite({}) as site:
        crawl(site, tmp_path, "--allow", "/$", "--allow", "/good/", "--allow", "/wp-sitemap")
        rows_of(tmp_path, site)
        asked = set(site.paths()) - {"/", "/robots.txt", *GOOD}
    guesses = {path for path in asked if not path.startswith("/crawlr-asks-for-a-missing-page")}
    assert guesses == {"/wp-sitemap.xml"}
