"""What `map` and `plan` have in common: a look at a site in a workspace that is gone afterwards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from crawl4r.mapping import MappedUrl
    from crawl4r.planning import Sample

_OPTIONS = [
    click.option(
        "--allow-private", multiple=True, metavar="CIDR_OR_HOST", help="Open the egress gate."
    ),
    click.option("--contact", help="Where a site's owner can reach you."),
    click.option(
        "--rate", type=click.FloatRange(0), help="Requests a second to a host.  [default: 1]"
    ),
    click.option("--profile", help="Start from a bundled configuration, e.g. github."),
    click.option("--deny", multiple=True, help="No URL that matches this pattern (RE2)."),
]


def looking_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for decorate in reversed(_OPTIONS):
        function = decorate(function)
    return function


async def sample_site(url: str, place: Path, options: dict[str, Any], pages: int) -> Sample:
    """What a short crawl of a site sees."""
    from crawl4r.planning import Sample  # noqa: PLC0415
    from crawl4r.workspace import open_workspace  # noqa: PLC0415

    profile = options.get("profile")
    asked = {name: value for name, value in options.items() if name != "profile"}
    asked |= {"max_pages": pages, "extract": False, "index": False, "explore": False}
    asked["store_patience"] = 0  # somebody sits and waits
    async with open_workspace(place, profile=profile, **asked) as workspace:
        run = workspace.crawl(url)
        await run.finish()
        assert run.crawl is not None
        traps = run.crawl.traps
        delays = [budget.delay for budget in run.crawl.budgets]
        return Sample(
            list(workspace.pages()),
            max(delays, default=0.0),
            [(each.pattern, each.reason) for each in traps.guard.suggest_excludes()]
            if traps
            else [],
        )


async def map_site(
    url: str, place: Path, options: dict[str, Any], common_crawl: str = ""
) -> list[MappedUrl]:
    """Everything that a site names."""
    from crawl4r.mapping import MapRun, map_settings, mapped  # noqa: PLC0415
    from crawl4r.workspace import open_workspace  # noqa: PLC0415

    profile = options.get("profile")
    asked = {name: value for name, value in options.items() if name != "profile"}
    async with open_workspace(place, profile=profile, **asked) as workspace:
        settings = map_settings(workspace.settings, common_crawl)
        run = MapRun(workspace.parts, settings, (url,), workspace.budgets_for(settings))
        await run.finish()
        return list(mapped(workspace.database))
