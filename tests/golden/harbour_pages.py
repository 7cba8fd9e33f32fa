"""The pages of http://harbour.test/ on two days: a bit of everything that a crawl has to tell of."""

from __future__ import annotations

from typing import NamedTuple

from tests.content.extract.making_pdf import pdf_saying

ORIGIN = "http://harbour.test"
DAYS = (1, 2)


class Answer(NamedTuple):
    """What the server sends for a path."""

    body: bytes = b""
    status: int = 200
    content_type: str = "text/html; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()


def answers_of(day: int) -> dict[str, Answer]:
    """Every path that is there on this day, with its query; everything else is a 404."""
    pages = {path: Answer(html.encode()) for path, html in _articles(day).items()}
    return pages | _files() | _odd_answers() | (_VANISHED if day > 1 else {})


def _articles(day: int) -> dict[str, str]:
    pages = {
        "/": _page("Harbour of Lower Quay", _START, _FEED),
        "/boats.html": _page("Boats for hire", _BOATS),
        "/pilots.html": _page("How a pilot brings a ship in", _PILOTS, _PILOTS_HEAD),
        "/pilots-again.html": _page("How a pilot brings a ship in", _PILOTS),
        "/tides.html": _page("Tides of the week", _TIDES[day]),
        "/ferry.html": _page("The night ferry", _FERRY),
        "/orphan.html": _page("The old crane", _CRANE),
        "/odd.html": _page("=SUM(A1) \x1b[31mred\x1b[0m", _ODD),
        "/hafen.html": _page("Der Hafen im Winter", _GERMAN, language="de"),
        "/news/": _page("News of the harbour", _list_of(1)),
        "/news/?page=2": _page("News of the harbour, page 2", _list_of(2)),
    }
    news = {f"/news/{name}.html": _page(title, text) for name, (title, text) in _NEWS.items()}
    return pages | news


def _page(title: str, main: str, head: str = "", language: str = "en") -> str:
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
        f"<title>{title}</title>{head}</head><body>{_NAVIGATION}"
        f"<main><h1>{title}</h1>{main}</main>"
        "<footer><p>Harbour office, Lower Quay, open from six to six.</p></footer></body></html>"
    )


def _list_of(page: int) -> str:
    names = list(_NEWS)[2 * (page - 1) : 2 * page]
    items = "".join(f'<li><a href="/news/{name}.html">{_NEWS[name][0]}</a></li>' for name in names)
    pager = (
        '<a rel="next" href="/news/?page=2">older</a>'
        if page == 1
        else '<a rel="prev" href="/news/">newer</a>'
    )
    return (
        f"<p>What the harbour master told the town, the newest first, page {page} of two.</p>"
        f"<ul>{items}</ul><nav>{pager}</nav>"
    )


def _files() -> dict[str, Answer]:
    robots = f"User-agent: *\nDisallow: /private/\n\nSitemap: {ORIGIN}/sitemap.xml\n"
    return {
        "/robots.txt": Answer(robots.encode(), content_type="text/plain"),
        "/sitemap.xml": Answer(_SITEMAP.encode(), content_type="application/xml"),
        "/feed.xml": Answer(_ATOM.encode(), content_type="application/atom+xml"),
        "/notes.txt": Answer(_NOTES.encode(), content_type="text/plain; charset=utf-8"),
        "/chart.pdf": Answer(
            pdf_saying("Depth of the fairway in fathoms", "Chart"), content_type="application/pdf"
        ),
        "/flag.png": Answer(b"\x89PNG\r\n\x1a\n" + bytes(range(64)), content_type="image/png"),
        "/latin.html": Answer(
            _page("Café at the pier", _CAFE)
            .replace('<meta charset="utf-8">', "")
            .encode("latin-1"),
            content_type="text/html; charset=iso-8859-1",
            headers=(("Last-Modified", "Mon, 02 Mar 2020 10:00:00 GMT"),),
        ),
    }


def _odd_answers() -> dict[str, Answer]:
    """Redirects, errors, and pages that are none."""
    return {
        "/old": Answer(status=301, headers=(("Location", "/boats.html"),)),
        "/loop": Answer(status=302, headers=(("Location", "/loop"),)),
        "/broken": Answer(b"out of order", 500, "text/plain"),
        "/empty.html": Answer(),
        "/blocked.html": Answer(_BLOCKED.encode()),
        "/lost.html": Answer(
            _page("Page not found", "<p>Sorry, this page is not here.</p>").encode()
        ),
        "/packed.html": Answer(b"no gzip", headers=(("Content-Encoding", "gzip"),)),
    }


_VANISHED = {"/ferry.html": Answer(b"gone for good", 410, "text/plain")}
_NAVIGATION = (
    '<nav><a href="/">Start</a> <a href="/boats.html">Boats</a> <a href="/news/">News</a></nav>'
)
_FEED = '<link rel="alternate" type="application/atom+xml" href="/feed.xml">'
_START = """
<p>The harbour of Lower Quay has been open to fishing boats, ferries and small freighters since
the quay was built of granite. This site tells skippers what they need to know before they come in.</p>
<ul>
<li><a href="pilots.html">Pilots</a></li><li><a href="/pilots-again.html">Pilots, as printed</a></li>
<li><a href="/tides.html">Tides</a></li><li><a href="/ferry.html">The night ferry</a></li>
<li><a href="/old">Boats, the old address</a></li><li><a href="/loop">A loop</a></li>
<li><a href="/missing.html">A missing page</a></li><li><a href="/broken">A broken page</a></li>
<li><a href="/empty.html">An empty page</a></li><li><a href="/blocked.html">A blocked page</a></li>
<li><a href="/lost.html">A lost page</a></li><li><a href="/packed.html">A torn page</a></li>
<li><a href="/private/plans.html" rel="nofollow">Plans</a></li><li><a href="/odd.html">=1+1</a></li>
<li><a href="/hafen.html" hreflang="de">Auf Deutsch</a></li><li><a href="/latin.html">Caf\u00e9</a></li>
<li><a href="/notes.txt">Notes</a></li><li><a href="/chart.pdf">Chart</a></li>
<li><a href="/flag.png">Flag</a></li><li><a href="#top">Top</a></li>
<li><a href="mailto:office@harbour.test">Mail</a></li>
<li><a href="http://elsewhere.test/page?utm_source=quay&amp;b=2&amp;a=1">Elsewhere</a></li>
<li><a href="/boats.html?utm_source=start#prices">Prices</a></li>
</ul>
"""
_BOATS = """
<p>Six boats lie at the inner pier and can be hired by the hour or for a whole day. Every boat comes
with life jackets, an anchor and a chart of the bay.</p>
<h2 id="prices">Prices</h2>
<p>The deposit is paid in the office and returned when the boat is back, dry and undamaged.</p>
<table><tr><th>Boat</th><th>Seats</th><th>Price an hour</th></tr>
<tr><td>Gull</td><td>4</td><td>20</td></tr><tr><td>Heron</td><td>6</td><td>32</td></tr>
<tr><td>Cormorant</td><td>9</td><td>45</td></tr></table>
<h2>What to bring</h2>
<ol><li>A sailing licence or a skipper who has one</li><li>Warm clothes</li><li>Drinking water</li></ol>
"""
_PILOTS_HEAD = (
    '<meta name="author" content="Ada Keel"><meta name="description" content="On pilots.">'
    '<meta property="article:published_time" content="2020-03-01">'
    f'<link rel="canonical" href="{ORIGIN}/pilots.html">'
)
_PILOTS = """
<p>A pilot boards the ship two miles before the breakwater, when the wind is below seven, and stays on
the bridge until the last line is fast. The captain keeps the command, the pilot gives the advice.</p>
<h2>Calling a pilot</h2>
<p>Call on channel twelve an hour before arrival. Name the ship, her draught and her length, and repeat
the berth that the harbour master assigns.</p>
<pre><code>LOWER QUAY PILOT, this is GULL
draught 3.2 metres, length 41 metres
estimated arrival 05:40</code></pre>
<h2>When the fog comes</h2>
<p>In fog the bell on the breakwater rings every thirty seconds, and no ship moves without a pilot.
Small boats wait at the outer buoy until the bell falls silent.</p>
"""
_TIDES = {
    1: """
<p>High water comes at six in the morning on Monday, and fifty minutes later on each day after it.</p>
<p>The spring tide on Thursday lifts the water a metre above the mark on the quay, so move your car.</p>
""",
    2: """
<p>High water comes at seven in the morning on Monday, and fifty minutes later on each day after it.</p>
<p>The neap tide on Thursday leaves the inner basin dry, so deep boats lie at the outer pier.</p>
""",
}
_FERRY = """
<p>The night ferry leaves at eleven and reaches the islands at dawn. Cabins have two beds, a porthole
and a heater that rattles. Bicycles travel for free, and dogs sleep on deck with the sailors.</p>
"""
_CRANE = """
<p>The old crane at the end of the pier was built of iron and driven by steam. It lifted anchors and
boilers for ninety years, and its brake never failed. Today a pair of ospreys breeds on the jib.</p>
"""
_ODD = """
<p>This page has a title that a careless program would take for a formula, or for a command to the
terminal, and a word with a bell \x07 in it. Programs that show it write the characters harmlessly.</p>
<p><a href="javascript:alert(1)">Never followed</a>, <a href="/boats.html">=cmd|' /C calc'!A0</a>.</p>
"""
_GERMAN = """
<p>Im Winter liegt der Hafen still, und die Fischer flicken ihre Netze in der alten Halle am Kai. Nur
die F\u00e4hre f\u00e4hrt noch jede Nacht hinaus zu den Inseln, wenn das Eis es erlaubt.</p>
<p>Der Hafenmeister streicht dann die Bojen, und die M\u00f6wen sitzen frierend auf den Dalben.</p>
"""
_CAFE = """
<p>The caf\u00e9 at the pier serves coffee, soup and a cr\u00eape with honey from eight in
the morning until the last ferry has gone. Sailors who come in wet sit by the stove for nothing.</p>
"""
_BLOCKED = (
    "<title>Attention Required! | Cloudflare</title><h1>Sorry, you have been blocked</h1>"
    "<p>You are unable to access this site. Cloudflare Ray ID: 7d2f</p>"
)
_NOTES = (
    "Notes of the harbour master\n\n"
    "The buoy off the northern reef has drifted and is put back on Friday.\n"
    "The lamp on the breakwater burns oil again until the cable is mended.\n"
)
_NEWS = {
    "lamp": (
        "A new lamp for the lighthouse",
        "<p>The lighthouse has a new lamp that burns with a third of the power and is seen nine"
        " miles further out. The old one goes to the museum in the tower.</p>",
    ),
    "seal": (
        "A seal in the inner basin",
        "<p>A young seal has made the inner basin its home and steals herring from the nets. The"
        " fishermen have named it Inspector and leave it the small ones.</p>",
    ),
    "dredger": (
        "The dredger comes in May",
        "<p>The dredger clears the fairway in May, from the outer buoy to the slipway. Ships with"
        " more than four metres of draught wait outside until it has passed.</p>",
    ),
    "regatta": (
        "Who won the regatta",
        "<p>The regatta was won by the Heron, in front of the Gull, after the Cormorant had lost her"
        " rudder at the northern mark. The prize is a barrel of tar.</p>",
    ),
}
_SITEMAP = f"""<?xml version="1.0" encoding="utf-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>{ORIGIN}/</loc><lastmod>2020-03-01</lastmod></url>
<url><loc>{ORIGIN}/orphan.html</loc><lastmod>2020-02-01</lastmod></url>
</urlset>
"""
_ATOM = f"""<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>Harbour</title><id>{ORIGIN}/feed.xml</id>
<updated>2020-03-01T00:00:00Z</updated>
<entry><title>A new lamp for the lighthouse</title><id>{ORIGIN}/news/lamp.html</id>
<link href="{ORIGIN}/news/lamp.html"/><updated>2020-03-01T00:00:00Z</updated></entry>
</feed>
"""
