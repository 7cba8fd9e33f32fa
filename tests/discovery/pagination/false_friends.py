"""Numbers in links that do not count the pages of a list."""

# ruff: noqa: E501, RUF001 - pages are text, in several scripts

from __future__ import annotations

from typing import NamedTuple


class FalseFriend(NamedTuple):
    """A page with no pager; what it may still name as next and previous is said."""

    name: str
    url: str
    html: str
    next: str | None = None
    previous: str | None = None


def links(*pairs: tuple[str, str], around: str = "div") -> str:
    tag = around.partition(" ")[0]
    return f"<{around}>" + " ".join(f'<a href="{h}">{t}</a>' for h, t in pairs) + f"</{tag}>"


FALSE_FRIENDS = [
    FalseFriend(
        "years of an archive",
        "/archive/2022/",
        links(*[(f"/archive/{y}/", str(y)) for y in range(2018, 2026)]),
    ),
    FalseFriend(
        "years beside each other, with arrows",
        "/reports/2022",
        '<nav class="pagination"><a href="/reports/2021">«</a><a href="/reports/2021">2021</a><a href="/reports/2023">2023</a><a href="/reports/2023">»</a></nav>',
        next="/reports/2023",
        previous="/reports/2021",
    ),
    FalseFriend(
        "months of a year",
        "/2024/05",
        links(*[(f"/2024/{m}", str(m)) for m in range(1, 13)]),
    ),
    FalseFriend(
        "months with two digits",
        "/blog/2024/05/",
        links(*[(f"/blog/2024/{m:02}/", f"{m:02}") for m in range(1, 13)]),
    ),
    FalseFriend(
        "days in the calendar of WordPress",
        "/2024/05/",
        '<table id="wp-calendar" class="wp-calendar-table">'
        + "".join(f'<td><a href="/2024/05/{d}/">{d}</a></td>' for d in (3, 4, 5, 17, 18))
        + '</table><nav class="wp-calendar-nav"><a href="/2024/04/">« Apr</a></nav>',
    ),
    FalseFriend(
        "days as a parameter",
        "/events?month=5&year=2024",
        links(*[(f"/events?day={d}&month=5&year=2024", str(d)) for d in range(1, 32)]),
    ),
    FalseFriend(
        "days whose parameter says nothing",
        "/termine?jahr=2024",
        '<table class="calendar">'
        + "".join(f'<td><a href="/termine?jahr=2024&tag={d}">{d}</a>' for d in range(1, 29))
        + "</table>",
    ),
    FalseFriend(
        "months as a parameter, next and previous",
        "/calendar?month=5",
        '<div class="cal-nav"><a href="/calendar?month=4">‹</a><a href="/calendar?month=6">›</a></div>',
    ),
    FalseFriend(
        "weeks of a timetable",
        "/timetable?week=21",
        '<a href="/timetable?week=20">Previous</a> <a href="/timetable?week=22">Next</a>',
    ),
    FalseFriend(
        "articles by id",
        "/article.php?id=120",
        links(
            ("/article.php?id=121", "Rain"),
            ("/article.php?id=122", "Snow"),
            ("/article.php?id=119", "Hail"),
        ),
    ),
    FalseFriend(
        "articles by id, next and previous",
        "/article.php?id=120",
        '<a rel="prev" href="/article.php?id=119">« Previous</a><a rel="next" href="/article.php?id=121">Next »</a>',
        next="/article.php?id=121",
        previous="/article.php?id=119",
    ),
    FalseFriend(
        "articles by an id of another name",
        "/news.php?nid=77",
        links(
            ("/news.php?nid=78", "78"), ("/news.php?nid=79", "79"), around='div class="pagination"'
        ),
    ),
    FalseFriend(
        "posts at /p/",
        "/",
        links(("/p/123", "A walk"), ("/p/124", "A talk"), ("/p/480", "A song")),
    ),
    FalseFriend(
        "posts at /p/, seen from one of them",
        "/p/123",
        links(("/p/124", "A talk"), ("/p/9", "A song"), ("/p/122", "A dance")),
    ),
    FalseFriend(
        "slugs that end in ids",
        "/news/",
        links(
            ("/news/rain-in-bergen-12345.html", "Rain in Bergen"),
            ("/news/snow-in-oslo-12346.html", "Snow in Oslo"),
            ("/news/hail-in-bodo-12347.html", "Hail in Bodø"),
        ),
    ),
    FalseFriend(
        "one slug with ids",
        "/offers.html",
        links(
            ("/offers-881.html", "Red chair"),
            ("/offers-882.html", "Blue chair"),
            ("/offers-883.html", "Table"),
        ),
    ),
    FalseFriend(
        "an article and the one after it, by slug and id",
        "/news/rain-12345.html",
        '<nav class="pagination"><a rel="next" href="/news/snow-12346.html">Next</a></nav>',
        next="/news/snow-12346.html",
    ),
    FalseFriend(
        "versions of a manual",
        "/docs/3/",
        links(
            ("/docs/2/", "2"),
            ("/docs/4/", "4"),
            ("/docs/5/", "5"),
            around='ul class="version-list"',
        ),
    ),
    FalseFriend(
        "versions of a manual without any name around them",
        "/manual/14/",
        links(("/manual/13/", "13"), ("/manual/15/", "15")),
    ),
    FalseFriend(
        "versions in the middle of a path",
        "/docs/14/queries.html",
        links(
            ("/docs/13/queries.html", "13"),
            ("/docs/15/queries.html", "15"),
            ("/docs/16/queries.html", "16"),
        ),
    ),
    FalseFriend(
        "versions with a v",
        "/api/v2/",
        links(("/api/v1/", "v1"), ("/api/v3/", "v3")),
    ),
    FalseFriend(
        "versions as a parameter",
        "/spec",
        links(("/spec?version=1", "1"), ("/spec?version=2", "2"), ("/spec?version=3", "3")),
    ),
    FalseFriend(
        "releases",
        "/releases",
        links(
            ("/releases/1", "1"), ("/releases/2", "2"), ("/releases/3", "3"), ("/releases/4", "4")
        ),
    ),
    FalseFriend(
        "sizes of a picture",
        "/photo",
        links(
            ("/photo?width=320", "320"), ("/photo?width=640", "640"), ("/photo?width=1280", "1280")
        ),
    ),
    FalseFriend(
        "how many a page shows",
        "/shop",
        links(
            ("/shop?per_page=10", "10"),
            ("/shop?per_page=20", "20"),
            ("/shop?per_page=30", "30"),
            around='div class="pagination"',
        ),
    ),
    FalseFriend(
        "how many a page shows, by another name",
        "/shop",
        links(("/shop?limit=24", "24"), ("/shop?limit=48", "48"), ("/shop?pagesize=96", "96")),
    ),
    FalseFriend(
        "tabs",
        "/product/lamp",
        links(
            ("/product/lamp?tab=1", "1"), ("/product/lamp?tab=2", "2"), ("/product/lamp?tab=3", "3")
        ),
    ),
    FalseFriend(
        "tabs whose parameter says nothing",
        "/konto",
        links(("/konto?ansicht=1", "1"), ("/konto?ansicht=2", "2"), around='ul role="tablist"'),
    ),
    FalseFriend(
        "slides",
        "/",
        links(
            ("/?slide=1", "1"),
            ("/?slide=2", "2"),
            ("/?slide=3", "3"),
            around='div class="swiper-pagination"',
        ),
    ),
    FalseFriend(
        "posts of WordPress by number",
        "/",
        links(("/?p=121", "Hello"), ("/?p=122", "World"), ("/?p=123", "Again")),
    ),
    FalseFriend(
        "a post of WordPress and its neighbours",
        "/?p=122",
        '<nav class="post-navigation"><div class="nav-links"><a href="/?p=121" rel="prev">Hello</a><a href="/?p=123" rel="next">Again</a></div></nav>',
        next="/?p=123",
        previous="/?p=121",
    ),
    FalseFriend(
        "pages of WordPress by number",
        "/",
        links(("/?page_id=2", "About"), ("/?page_id=3", "Contact"), ("/?page_id=4", "Imprint")),
    ),
    FalseFriend(
        "pages of a small site by number, as a menu",
        "/index.php",
        links(
            ("/index.php?page=1", "Home"),
            ("/index.php?page=2", "About us"),
            ("/index.php?page=3", "Our work"),
            ("/index.php?page=4", "Contact"),
            ("/index.php?page=7", "Imprint"),
            around='ul class="menu"',
        ),
    ),
    FalseFriend(
        "pages that have names",
        "/index.php?page=home",
        links(("/index.php?page=about", "About"), ("/index.php?page=team2", "Team")),
    ),
    FalseFriend(
        "pages of comments, WordPress",
        "/2024/05/rope/",
        '<nav class="comment-navigation"><div class="nav-links"><a href="/2024/05/rope/comment-page-1/#comments">1</a><a href="/2024/05/rope/comment-page-2/#comments">2</a><a class="next" href="/2024/05/rope/comment-page-2/#comments">Next</a></div></nav>',
    ),
    FalseFriend(
        "pages of comments as a parameter",
        "/rope/",
        '<div id="comments"><nav class="pagination"><a href="/rope/?cpage=2#comments">2</a><a href="/rope/?cpage=3#comments">3</a></nav></div>',
    ),
    FalseFriend(
        "pages of comments in a pager that looks like any other",
        "/story/rope",
        '<section id="comments" class="comments-area"><div><nav class="pagination"><a href="/story/rope?page=2">2</a><a href="/story/rope?page=3">3</a></nav></div></section>',
    ),
    FalseFriend(
        "replies to comments",
        "/rope/",
        links(("/rope/?replytocom=4411", "Reply"), ("/rope/?replytocom=4412", "Reply")),
    ),
    FalseFriend(
        "reviews",
        "/item/lamp",
        links(
            ("/item/lamp?review_page=2", "2"),
            ("/item/lamp?review_page=3", "3"),
            around='div class="pagination"',
        ),
    ),
    FalseFriend(
        "stars",
        "/film/stalker",
        links(
            *[(f"/film/stalker?rating={n}", str(n)) for n in range(1, 6)],
            around='div class="rating"',
        ),
    ),
    FalseFriend(
        "a filter that nobody knows, with small numbers",
        "/trails",
        links(*[(f"/trails?grade={n}", str(n)) for n in range(1, 6)]),
    ),
    FalseFriend(
        "folders of classes",
        "/school",
        links(*[(f"/school/{n}/", str(n)) for n in range(1, 7)]),
    ),
    FalseFriend(
        "footnotes",
        "/essay?page=1",
        links(("#fn1", "1"), ("#fn2", "2"), ("#fn3", "3")),
    ),
    FalseFriend(
        "issues of a project",
        "/o/r/issues",
        links(("/o/r/issues/311", "311"), ("/o/r/issues/312", "312"), ("/o/r/issues/313", "313")),
    ),
    FalseFriend(
        "posts within a topic of Discourse",
        "/t/how-to-start/812",
        links(
            ("/t/how-to-start/812/2", "Re: start"),
            ("/t/how-to-start/812/3", "Re: start"),
            ("/t/how-to-start/812/17", "last"),
        ),
    ),
    FalseFriend(
        "topics whose last page is linked from a list of topics",
        "/forum",
        links(("/threads/rope.5/page-4", "last post"), ("/threads/string.6/page-9", "last post")),
    ),
    FalseFriend(
        "small pagers of other lists",
        "/forum",
        links(("/threads/rope.5/page-2", "2"), ("/threads/rope.5/page-3", "3"))
        + links(("/threads/string.6/page-2", "2"), ("/threads/string.6/page-3", "3")),
    ),
    FalseFriend(
        "a second page on another host",
        "/news",
        '<a rel="next" href="https://other.example/news?page=2">Next</a><a href="https://other.example/news?page=3">3</a>',
    ),
    FalseFriend(
        "dates as offsets",
        "/log",
        links(("/log?from=20240501", "May"), ("/log?from=20240601", "June")),
    ),
    FalseFriend(
        "a range of years",
        "/stats",
        links(("/stats?from=1990&to=1999", "1990-1999"), ("/stats?from=2000&to=2009", "2000-2009")),
    ),
    FalseFriend(
        "moments as offsets",
        "/history?title=Rope",
        '<a href="/history?offset=20240501120000&title=Rope" class="mw-nextlink">older 50</a>',
        next="/history?offset=20240501120000&title=Rope",
    ),
    FalseFriend(
        "old revisions",
        "/w/index.php?title=Rope",
        links(
            ("/w/index.php?oldid=1201&title=Rope", "12:01"),
            ("/w/index.php?oldid=1202&title=Rope", "12:02"),
        ),
    ),
    FalseFriend(
        "the page itself, by its number",
        "/news",
        links(("/news?page=1", "1")),
    ),
    FalseFriend(
        "resolutions and qualities",
        "/watch",
        links(
            ("/watch?quality=1", "1"),
            ("/watch?quality=2", "2"),
            ("/watch?quality=3", "3"),
            around='div class="pagination"',
        ),
    ),
    FalseFriend(
        "prices",
        "/flats",
        links(
            ("/flats?price_from=100", "100"),
            ("/flats?price_from=200", "200"),
            ("/flats?price_from=300", "300"),
        ),
    ),
    FalseFriend(
        "telephone extensions and rooms",
        "/staff",
        links(("/room-214", "214"), ("/room-215", "215")),
    ),
]
