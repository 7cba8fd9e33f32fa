"""Sitemaps as they are found in the wild."""

import gzip
from datetime import UTC, datetime

import pytest

from crawl4r.discovery.listings.sitemap import MOST_ENTRIES, Sitemap, SitemapEntry, read_sitemap

HOME = "https://e.org/maps/sitemap.xml"
SPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def read(text: str | bytes) -> Sitemap:
    return read_sitemap(text.encode() if isinstance(text, str) else text, HOME)


def urls(text: str | bytes) -> list[str]:
    return [entry.url.removeprefix("https://e.org") for entry in read(text).entries]


def urlset(*entries: str) -> str:
    return f'{HEAD}<urlset xmlns="{SPACE}">{"".join(entries)}</urlset>'


def url(loc: str, more: str = "") -> str:
    return f"<url><loc>{loc}</loc>{more}</url>"


def test_a_urlset_gives_its_entries_with_all_that_they_say() -> None:
    text = urlset(
        url(
            "https://e.org/a?x=1&amp;y=2",
            "<lastmod>2024-05-17</lastmod><changefreq>Daily</changefreq><priority>0.8</priority>",
        ),
        "\n  <url>\n    <loc>\n      https://e.org/b\n    </loc>\n  </url>\n",
    )
    day = datetime(2024, 5, 17, tzinfo=UTC).timestamp()
    assert read(text) == Sitemap(
        "urlset",
        [
            SitemapEntry("https://e.org/a?x=1&y=2", day, "daily", 0.8),
            SitemapEntry("https://e.org/b"),
        ],
    )


def test_an_index_names_sitemaps() -> None:
    text = (
        f'<sitemapindex xmlns="{SPACE}"><sitemap><loc>https://e.org/1.xml.gz</loc>'
        "<lastmod>2024-05-17T08:30:00+02:00</lastmod></sitemap><sitemap><loc>2.xml</loc></sitemap>"
        "</sitemapindex>"
    )
    found = read(text)
    assert (found.kind, found.problem) == ("index", "")
    assert [entry.url for entry in found.entries] == [
        "https://e.org/1.xml.gz",
        "https://e.org/maps/2.xml",
    ]
    assert found.entries[0].lastmod == datetime(2024, 5, 17, 6, 30, tzinfo=UTC).timestamp()


SPELLINGS = {
    "no namespace": "<urlset><url><loc>/x</loc></url></urlset>",
    "an old one": '<urlset xmlns="http://www.google.com/schemas/sitemap/0.84"><url><loc>/x</loc></url></urlset>',
    "a wrong one": '<urlset xmlns="https://www.sitemap.org/nonsense"><url><loc>/x</loc></url></urlset>',
    "a prefix": f'<s:urlset xmlns:s="{SPACE}"><s:url><s:loc>/x</s:loc></s:url></s:urlset>',
    "a prefix that is not declared": "<s:urlset><s:url><s:loc>/x</s:loc></s:url></s:urlset>",
    "two prefixes for one": f'<urlset xmlns="{SPACE}" xmlns:s="{SPACE}">'
    "<url><s:loc>/x</s:loc></url></urlset>",
    "upper case": "<URLSET><URL><LOC>/x</LOC></URL></URLSET>",
    "CDATA": "<urlset><url><loc><![CDATA[ /x ]]></loc></url></urlset>",
    "white space first": f"\n\n  {urlset(url('/x'))}",
    "a comment first": f"<!-- made by a plugin -->\n{urlset(url('/x'))}",
    "a comment and a style sheet": f'<?xml version="1.0"?><!-- a > b --><?xml-stylesheet href="s.xsl"?>'
    f'<urlset xmlns="{SPACE}">{url("/x")}</urlset>',
    "a byte order mark": "\ufeff" + urlset(url("/x")),
    "a byte order mark after white space": " \ufeff" + urlset(url("/x")),
    "a comment last": urlset(url("/x")) + "<!-- cached -->\n",
    "from the host's root": urlset(url("//e.org/x")),
    "upwards": urlset(url("../x")),
    "character references": urlset(url("&#x2F;&#120;")),
}


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS)
def test_a_urlset_is_read_in_every_spelling(text: str) -> None:
    found = read(text)
    assert (found.kind, found.problem, urls(text)) == ("urlset", "", ["/x"])


ENCODINGS = {
    "UTF-8 with a mark": ("utf-8-sig", "utf-8"),
    "UTF-16 with a mark": ("utf-16", "utf-16"),
    "UTF-16 without one, little end first": ("utf-16-le", "utf-16"),
    "UTF-16 without one, big end first": ("utf-16-be", "UTF-16"),
    "Latin 1": ("latin-1", "ISO-8859-1"),
    "Windows": ("cp1252", "windows-1252"),
    "GBK, called by nothing": ("utf-8", "no-such-encoding"),
}


@pytest.mark.parametrize(("codec", "declared"), ENCODINGS.values(), ids=ENCODINGS)
def test_an_encoding_is_found(codec: str, declared: str) -> None:
    text = f'<?xml version="1.0" encoding="{declared}"?><urlset>{url("/é")}</urlset>'
    assert urls(text.encode(codec)) == ["/%C3%A9"]


def test_encodings_of_two_bytes_a_character_are_read() -> None:
    text = '<?xml version="1.0" encoding="Shift_JIS"?><urlset><url><loc>/日本</loc></url></urlset>'
    assert urls(text.encode("shift_jis")) == ["/%E6%97%A5%E6%9C%AC"]


def test_images_videos_and_news_are_no_pages() -> None:
    text = (
        f'<urlset xmlns="{SPACE}" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
        ' xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'
        ' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">'
        "<url><image:image><image:loc>/i.jpg</image:loc></image:image><loc>/x</loc>"
        "<image:loc>/stray.jpg</image:loc>"
        "<video:video><video:content_loc>/v.mp4</video:content_loc>"
        "<video:player_loc>/player</video:player_loc></video:video>"
        "<news:news><news:publication><news:name>N</news:name></news:publication>"
        "<news:publication_date>2024-05-17</news:publication_date></news:news></url></urlset>"
    )
    assert urls(text) == ["/x"]
    assert read(text).problem == ""


def test_an_image_before_the_address_is_not_taken_for_it() -> None:
    text = (
        "<urlset><url><image:loc>/i.jpg</image:loc><loc>/x</loc></url>"
        '<url><i:loc xmlns:i="http://www.google.com/schemas/sitemap-image/1.1">/i.jpg</i:loc></url>'
        "</urlset>"
    )
    assert urls(text) == ["/x"]


def test_translations_are_pages_once_each_and_a_page_speaks_for_itself() -> None:
    def link(lang: str) -> str:
        return f'<xhtml:link rel="alternate" hreflang="{lang}" href="https://e.org/{lang}"/>'

    links = link("en") + link("de") + link("fr")
    text = urlset(
        url("https://e.org/en", links),
        url("https://e.org/de", f"{links}<lastmod>2024</lastmod>"),
        url("/x", '<xhtml:link rel="alternate" media="print" href="/print"/>'),
    ).replace("<urlset", '<urlset xmlns:xhtml="http://www.w3.org/1999/xhtml"')
    assert urls(text) == ["/en", "/de", "/fr", "/x"]
    assert read(text).entries[1].lastmod == datetime(2024, 1, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("<priority>1</priority>", ("", 1.0)),
        ("<priority>1.0</priority>", ("", 1.0)),
        ("<priority> 0,5 </priority>", ("", 0.5)),
        ("<priority>.25</priority>", ("", 0.25)),
        ("<priority>5</priority>", ("", None)),
        ("<priority>nan</priority>", ("", None)),
        ("<priority>-1</priority>", ("", None)),
        ("<priority>1.5</priority>", ("", None)),
        ("<priority>high</priority>", ("", None)),
        ("<changefreq> WEEKLY </changefreq>", ("weekly", None)),
        ("<changefreq>sometimes</changefreq>", ("", None)),
        ("<lastmod>yesterday</lastmod>", ("", None)),
        ("<lastmod/><changefreq/><priority/>", ("", None)),
    ],
)
def test_fields_that_make_no_sense_are_left_out(
    field: str, expected: tuple[str, float | None]
) -> None:
    (entry,) = read(urlset(url("/x", field))).entries
    assert (entry.changefreq, entry.priority) == expected
    assert entry.lastmod is None


@pytest.mark.parametrize(
    "loc", ["", "  ", "ftp://e.org/x", "javascript:void(0)", "http://a b/", "/" + "x" * 3_000]
)
def test_what_is_no_address_is_passed_over(loc: str) -> None:
    found = read(urlset(url(loc), url("/x")))
    assert ([entry.url for entry in found.entries], found.problem) == (["https://e.org/x"], "")


def test_parameters_stay_as_they_are_written() -> None:
    assert urls(urlset(url("/x?b=1&amp;a=2&amp;utm_source=map"))) == ["/x?b=1&a=2&utm_source=map"]


BREAKS = {
    "inside an address": "<url><loc>/a</loc></url><url><loc>https://e.org/bro",
    "inside a tag": "<url><loc>/a</loc></url><url><lo",
    "between entries": "<url><loc>/a</loc></url>",
    "before the entry ends": "<url><loc>/a</loc>",
    "inside CDATA": "<url><loc>/a</loc></url><url><loc><![CDATA[/b",
}


@pytest.mark.parametrize("rest", BREAKS.values(), ids=BREAKS)
def test_a_file_that_ends_too_early_keeps_what_came_before(rest: str) -> None:
    found = read(f"<urlset>{rest}")
    assert [entry.url for entry in found.entries] == ["https://e.org/a"]
    assert found.problem == "the file ends too early"


@pytest.mark.parametrize(
    "breakage",
    [
        "<url><loc>/b?x=1&y=2</loc></url>",
        "<url><loc>/b</url>",
        "<url><loc>/b&nbsp;</loc></url>",
        "\x01",
    ],
)
def test_a_broken_file_keeps_what_came_before_and_says_where(breakage: str) -> None:
    found = read(f"<urlset>{url('/a')}\n{breakage}{url('/c')}</urlset>")
    assert [entry.url for entry in found.entries] == ["https://e.org/a"]
    assert found.problem.startswith("broken in line 2: ")


def test_what_follows_the_root_is_told_and_does_no_harm() -> None:
    found = read(urlset(url("/a")) + "Notice: out of memory")
    assert len(found.entries) == 1
    assert found.problem.startswith("broken in line 2: ")


def test_gzip_shows_by_its_bytes() -> None:
    packed = gzip.compress(urlset(url("/x")).encode())
    assert (urls(packed), read(packed).problem) == (["/x"], "")
    two_members = gzip.compress(b"<urlset><url><loc>/x</loc>") + gzip.compress(b"</url></urlset>")
    assert (urls(two_members), read(two_members).problem) == (["/x"], "")
    assert urls(packed + b"\0\0\0") == ["/x"]


def test_gzip_that_breaks_off_gives_what_it_held() -> None:
    text = urlset(*(url(f"/{number}") for number in range(20_000))).encode()
    packed = gzip.compress(text, 1)
    found = read(packed[: len(packed) // 2])
    assert 1_000 < len(found.entries) < 20_000
    assert found.problem == "gzip ends too early; the file ends too early"
    damaged = packed[: len(packed) // 2] + b"\xff" * 1_000
    assert len(read(damaged).entries) < 20_000
    assert "gzip" in read(damaged).problem


def test_a_text_file_has_one_url_a_line() -> None:
    body = b"\xef\xbb\xbfhttps://e.org/a\r\n\r\n  HTTPS://E.org/b?x=1&y=2  \nhttp://f.org\rhttps://e.org/a"
    assert read(body) == Sitemap(
        "text",
        [
            SitemapEntry("https://e.org/a"),
            SitemapEntry("https://e.org/b?x=1&y=2"),
            SitemapEntry("http://f.org/"),
        ],
    )
    assert urls("https://e.org/a\nhttps://e.org/b\n".encode("utf-16")) == ["/a", "/b"]
    assert urls(gzip.compress(b"https://e.org/a\n")) == ["/a"]


def test_lines_that_are_no_urls_are_counted() -> None:
    found = read("https://e.org/a\nnot a url\n/relative\nhttp://a b/\n")
    assert (found.kind, len(found.entries)) == ("text", 1)
    assert found.problem == "lines that are no URLs: 3"


FEEDS = {
    "RSS": "<rss version='2.0'><channel><item><link>/x</link>"
    "<pubDate>Fri, 17 May 2024 06:30:00 GMT</pubDate></item></channel></rss>",
    "RDF": '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><item rdf:about="/y">'
    "<link>/x</link><dc:date>2024-05-17T08:30+02:00</dc:date></item></rdf:RDF>",
    "Atom": '<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="/x"/>'
    "<published>2024-05-17T06:30:00Z</published></entry></feed>",
}


@pytest.mark.parametrize("text", FEEDS.values(), ids=FEEDS)
def test_a_feed_may_stand_for_a_sitemap(text: str) -> None:
    moment = datetime(2024, 5, 17, 6, 30, tzinfo=UTC).timestamp()
    assert read(text) == Sitemap("feed", [SitemapEntry("https://e.org/x", moment)])


NO_SITEMAPS = {
    "an HTML page": (b"<!DOCTYPE html><html><body><a href='/x'>x</a>", "an HTML page"),
    "an old one": (b"<!-- x --><!doctype HTML PUBLIC '-//W3C//DTD'><html>", "an HTML page"),
    "XHTML": (b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">', "an HTML page"),
    "a piece of HTML": (b"<h1>Not found</h1>", "an HTML page"),
    "some other XML": (b"<?xml version='1.0'?><opml><url><loc>/x</loc></url></opml>", "<opml>"),
    "nothing": (b"", "neither XML nor a list of URLs"),
    "white space": (b" \n\n ", "neither XML nor a list of URLs"),
    "JSON": (b'{"error": "https://e.org/"}', "neither XML nor a list of URLs"),
    "robots.txt": (b"User-agent: *\nSitemap: https://e.org/s.xml", "neither XML nor"),
    "an image": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "neither XML nor a list of URLs"),
}


@pytest.mark.parametrize(("body", "problem"), NO_SITEMAPS.values(), ids=NO_SITEMAPS)
def test_what_is_no_sitemap_is_told_apart(body: bytes, problem: str) -> None:
    found = read(body)
    assert (found.kind, list(found.entries)) == ("none", [])
    assert problem in found.problem


def test_a_file_gives_at_most_fifty_thousand_entries() -> None:
    whole = urlset(*(url(f"/{number}") for number in range(MOST_ENTRIES)))
    found = read(whole)
    assert (len(found.entries), found.problem) == (MOST_ENTRIES, "")
    found = read(whole.replace("</urlset>", url("/one-more") + "</urlset>"))
    assert len(found.entries) == MOST_ENTRIES
    assert found.problem == "more than 50,000 entries: the rest was left out"
    found = read("\n".join(f"https://e.org/{number}" for number in range(MOST_ENTRIES + 1)))
    assert len(found.entries) == MOST_ENTRIES
    assert found.problem == "more than 50,000 entries: the rest was left out"


def test_entries_that_no_end_tag_follows_are_capped_too() -> None:
    links = (f'<link rel="alternate" hreflang="x" href="/{n}"/>' for n in range(MOST_ENTRIES + 1))
    found = read(f"<urlset><url>{''.join(links)}")
    assert len(found.entries) == MOST_ENTRIES
    assert "the file ends too early; more than 50,000 entries" in found.problem
