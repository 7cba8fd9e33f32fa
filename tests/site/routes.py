"""Which handler answers which path."""

from tests.site import (
    bodies,
    bombs,
    content,
    encodings,
    heads,
    identity,
    links,
    pages,
    redirects,
    stress,
    timing,
    traps,
)
from tests.site.exchange import Reply, Request, Routes
from tests.site.robots import RobotsAnswers

FAMILIES = (
    pages,
    timing,
    redirects,
    bodies,
    heads,
    encodings,
    bombs,
    content,
    links,
    stress,
    traps,
    identity,
)


def build_routes(robots: RobotsAnswers) -> Routes:
    """A fresh table: families that count (flaky answers) start again from zero."""
    routes: Routes = robots.routes()
    for family in FAMILIES:
        added = family.routes()
        assert not routes.keys() & added.keys(), "two families claim one path"
        routes |= added
    listing = "\n".join(sorted(routes)).encode()

    # Plain text: a crawl that starts here must not wander into the traps.
    async def list_routes(request: Request, reply: Reply) -> None:
        await reply.send(listing, content_type="text/plain")

    return routes | {"/": list_routes}
