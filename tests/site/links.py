"""Pages that name links in every way, with what a crawler should make of each.

`PAGES["frames"]` is served as `/links/frames`; everything else under `/links/` is a page without
links, so the access log shows which of them were followed.
"""

from dataclasses import dataclass
from html import escape

from tests.site.exchange import Reply, Request, Routes, html_page


@dataclass(frozen=True, slots=True)
class LinkPage:
    """`leads_to` maps the path (with query) of each target to how it is named.

    Kinds: a, area, frame, canonical, alternate, next, refresh, image, nofollow, and never for what
    looks like a link in the source but is none.
    """

    leads_to: dict[str, str]
    body: str = ""
    head: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    document: str | None = None  # in place of head and body, where those would not do

    def targets(self, *kinds: str) -> frozenset[str]:
        return frozenset(path for path, kind in self.leads_to.items() if kind in kinds)

    def source(self, name: str) -> bytes:
        if self.document is not None:
            return self.document.encode()
        return html_page(f"Links: {name}", self.body, self.head)


PAGES: dict[str, LinkPage] = {
    "base": LinkPage(
        {"/links/elsewhere/one.html": "a", "/links/two.html": "a"},
        head='<base href="/links/elsewhere/">',
        body='<a href="one.html">One</a> <a href="../two.html">Two</a>',
    ),
    "frames": LinkPage(
        {"/links/left.html": "frame", "/links/right.html": "frame"},
        document=(
            "<html><head><title>Frames</title></head><frameset cols='50%,50%'>"
            "<frame src='left.html'><frame src='right.html'></frameset></html>"
        ),
    ),
    "iframe": LinkPage(
        {"/links/inside.html": "frame"},
        body='<iframe src="inside.html"></iframe>',
    ),
    "head": LinkPage(
        {
            "/links/canonical.html": "canonical",
            "/links/de.html": "alternate",
            "/links/fr.html": "alternate",
            "/links/page-2.html": "next",
        },
        head=(
            '<link rel="canonical" href="/links/canonical.html">'
            '<link rel="alternate" hreflang="de" href="de.html">'
            '<link rel="alternate" hreflang="fr" href="fr.html">'
            '<link rel="next" href="page-2.html">'
        ),
    ),
    "nofollow": LinkPage(
        {
            "/links/followed.html": "a",
            "/links/unfollowed.html": "nofollow",
            "/links/unfollowed-too.html": "nofollow",
        },
        body=(
            '<a href="followed.html">Yes</a> <a rel="nofollow" href="unfollowed.html">No</a>'
            '<a rel="external NOFOLLOW" href="unfollowed-too.html">No</a>'
        ),
    ),
    "meta-nofollow": LinkPage(
        {"/links/unfollowed-by-meta.html": "nofollow"},
        head='<meta name="robots" content="noindex, NOFOLLOW">',
        body='<a href="unfollowed-by-meta.html">No</a>',
    ),
    "x-robots": LinkPage(
        {"/links/unfollowed-by-header.html": "nofollow"},
        headers=(("X-Robots-Tag", "noindex, nofollow"),),
        body='<a href="unfollowed-by-header.html">No</a>',
    ),
    "refresh": LinkPage(
        {"/links/refreshed.html": "refresh"},
        head="<meta http-equiv='Refresh' content=\"5; URL='refreshed.html'\">",
    ),
    "srcset": LinkPage(
        {
            "/links/plain.png": "image",
            "/links/small,1.png": "image",
            "/links/large.png": "image",
            "/links/wide.webp": "image",
        },
        body=(
            '<picture><source srcset="wide.webp 1200w"><img src="plain.png" '
            'srcset="small,1.png 480w,\n large.png 2x"></picture>'
        ),
    ),
    "schemes": LinkPage(
        {"/links/only.html": "a"},
        body=(
            '<a href="javascript:go(\'x.html\')">a</a> <a href=" JavaScript:void(0)">b</a>'
            '<a href="java\nscript:alert(1)">c</a> <a href="mailto:a@example.invalid">d</a>'
            '<a href="data:text/html,<p>e</p>">e</a> <a href="tel:+3212345">f</a>'
            '<a href="about:blank">g</a> <a href="file:///etc/passwd">h</a>'
            '<a href="http://">i</a> <a href="http://[bad/">j</a> <a href="only.html">k</a>'
        ),
    ),
    "hidden": LinkPage(
        {
            "/links/shown.html": "a",
            "/links/commented.html": "never",
            "/links/scripted.html": "never",
            "/links/styled.html": "never",
            "/links/written.html": "never",
        },
        body=(
            '<!-- <a href="commented.html">no</a> -->'
            "<script>document.write('<a href=\"scripted.html\">no</a>')</script>"
            '<style>/* <a href="styled.html"> */</style>'
            '<textarea><a href="written.html">no</a></textarea> <a href="shown.html">yes</a>'
        ),
    ),
    "odd": LinkPage(
        {
            "/links/spaced.html": "a",
            "/links/newline.html": "a",
            "/links/two%20words.html": "a",
            "/links/entity.html?a=1&b=2": "a",
            "/links/numeric.html": "a",
            "/links/UPPER.html": "a",
            "/links/unquoted.html": "a",
            "/links/single.html": "a",
            "/links/odd?q=1": "a",
            "/links/caf%C3%A9.html": "a",
            "/links/backslash.html": "a",
            "/links/area.html": "area",
            "/links/unclosed.html": "a",
        },
        body=(
            '<a href="  spaced.html \t">a</a> <a href="new\nline.html">b</a>'
            '<a href="two words.html">c</a> <a href="entity.html?a=1&amp;b=2">d</a>'
            '<a href="&#110;umeric.html">e</a> <A HREF="UPPER.html">f</A>'
            "<a href=unquoted.html>g</a> <a href='single.html'>h</a> <a href=\"?q=1\">i</a>"
            '<a href="café.html">j</a> <a href="\\links\\backslash.html">k</a>'
            '<map><area href="area.html"></map> <a>none</a> <a href>empty</a>'
            '<a href="unclosed.html">m'
        ),
    ),
}


async def send_link_page(request: Request, reply: Reply) -> None:
    page = PAGES.get(request.tail)
    if page is None:
        await reply.send(html_page("A leaf", f"<p>Nothing beyond {escape(request.path)}.</p>"))
    else:
        await reply.send(page.source(request.tail), headers=page.headers)


def routes() -> Routes:
    return {"/links": send_link_page}
