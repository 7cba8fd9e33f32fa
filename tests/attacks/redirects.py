"""Redirects and other statements about a page's address: Location, Refresh, base, canonical, links."""

from __future__ import annotations

import random

from tests.attacks.mutating import mutated, odd_word
from tests.attacks.site import Site, answer, html_page, prose

# `{}` is the origin of the bad host.
TARGETS = (
    "", "/", "//", "///", "/\\evil", "http:", "http:///", "http://", "https:{}",
    "file:///etc/passwd", "javascript:id()", "data:text/html,<p>x", "gopher://127.0.0.1:25/_x",
    "dict://127.0.0.1:11/", "ftp://127.0.0.1/", "blob:x", "about:blank", "http://127.0.0.1:0/",
    "http://127.0.0.1:99999/", "http://[::1]/", "http://[", "http://[::1%25lo]/", "http://0x7f.1/",
    "http://2130706433/", "http://user:pa%00ss@{}/", "http://a@b@c/", "http://xn--/",
    "http://xn--a-ecp.invalid/", "http://" + "a" * 300 + ".invalid/",
    "http://" + "a." * 130 + "invalid/", "{}/" + "a/" * 900, "{}/?" + "q" * 3_000, "{}/%",
    "{}/%zz%00", "{}/\x00", "{}/\x1b[2J", "{}/\u202e", "{}/\ud800", "{}/a b", "{}/a\tb\nc",
    "{}/..%2f..", "{}/./../..", "?", "#", "?" + "&" * 500, ";", "{}:80:80/", "{}/#" + "#" * 50,
    "http://\uff11\uff12\uff17.0.0.1/", "http://例え.テスト/", "http://ß.invalid/",
)  # fmt: skip


_HEADS = (
    '<base href="{}">',
    '<link rel=canonical href="{}">',
    '<link rel=next href="{}">',
    '<meta http-equiv=refresh content="0; url={}">',
    '<meta property="og:url" content="{}">',
    '<link rel=alternate type="application/rss+xml" href="{}">',
    '<link rel=alternate hreflang=x href="{}">',
)


def target(chance: random.Random, origin: str) -> bytes:
    """Where a redirect or a link leads; `origin` is the host that says so."""
    chosen = chance.choice(TARGETS).replace("{}", origin)
    if chance.random() < 0.2:
        chosen += odd_word(chance)
    spelled = chosen.encode("utf-8", "surrogatepass")
    return mutated(chance, spelled, most=2) if chance.random() < 0.3 and spelled else spelled


def _location(chance: random.Random, site: Site) -> None:
    status = chance.choice(
        (b"301 Moved", b"302 Found", b"303 See", b"307 T", b"308 P", b"300 Many", b"201 Made")
    )
    place = target(chance, site.bad.url).replace(b"\n", b"")
    site.attack("redirects", answer(b"moved", b"text/html", b"Location: " + place, status=status))


def _loop(chance: random.Random, site: Site) -> None:
    """A circle of a few, or a chain that is longer than a browser follows."""
    start = f"/redirects/round{len(site.attacks)}"
    length = chance.choice((1, 2, 15))
    for hop in range(length):
        following = b"%s-%d" % (start.encode(), (hop + 1) % length)
        sent = answer(b"", b"text/html", b"Location: " + following, status=b"302 Found")
        site.put(f"{start}-{hop}", sent, is_linked=hop == 0)


def _page_that_points_elsewhere(chance: random.Random, site: Site) -> None:
    def href() -> str:
        return (
            target(chance, site.bad.url).decode("utf-8", "surrogateescape").replace('"', "&quot;")
        )

    head = "".join(chance.choice(_HEADS).replace("{}", href()) for _ in range(chance.randint(0, 4)))
    links = "".join(
        f'<a href="{href()}">{odd_word(chance)}</a>' for _ in range(chance.randint(1, 40))
    )
    page = html_page("Pointing", prose(chance), "@links@", "@head@")
    filled = page.replace(b"@head@", head.encode("utf-8", "surrogateescape"))
    filled = filled.replace(b"@links@", links.encode("utf-8", "surrogateescape"))
    site.attack("redirects", answer(filled))


_KINDS = (_location, _location, _loop, _page_that_points_elsewhere, _page_that_points_elsewhere)


def attack(chance: random.Random, site: Site, count: int) -> None:
    for _ in range(count):
        chance.choice(_KINDS)(chance, site)
