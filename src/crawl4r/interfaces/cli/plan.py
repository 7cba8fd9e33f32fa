"""`crawl4r plan`: what a crawl would take, before it is begun."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import click

from crawl4r.interfaces.cli.looking import looking_options
from crawl4r.interfaces.cli.options import json_option, print_json
from crawl4r.interfaces.cli.output import say
from crawl4r.interfaces.cli.wording import human_bytes, human_seconds
from crawl4r.shown import command_line


@click.command("plan")
@click.argument("url")
@looking_options
@click.option(
    "--sample", type=click.IntRange(1), default=50, show_default=True, help="Pages to look at."
)
@json_option
def command(url: str, sample: int, as_json: bool, **options: Any) -> None:
    """Estimate pages, hours and bytes of a crawl, and name traps.

    It goes by the site's sitemaps and a sample of its pages.

    \b
    crawl4r plan https://example.org/
    crawl4r plan https://example.org/ --sample 200 --json | jq .traps

    Nothing is kept; the site is asked as politely as by a crawl.
    """
    from crawl4r.interfaces.cli.looking import map_site, sample_site  # noqa: PLC0415
    from crawl4r.planning import plan_of  # noqa: PLC0415 - help goes without

    async def look(place: Path) -> dict[str, Any]:
        named = await map_site(url, place / "map", options)
        return plan_of(url, named, await sample_site(url, place / "sample", options, sample))

    with tempfile.TemporaryDirectory(prefix="crawl4r-plan-") as place:
        plan = asyncio.run(look(Path(place)))
    if as_json:
        print_json(plan)
    else:
        _tell(plan)


def _tell(plan: dict[str, Any]) -> None:
    pages = plan["pages"]
    pace = f"{plan['delay_s']:g} s between two requests" if plan["delay_s"] else "no delay"
    say(f"pages   about {pages['estimate']:,} (at least {pages['at_least']:,})")
    say(f"        {pages['basis']}")
    say(f"time    about {human_seconds(plan['hours'] * 3600)} at {pace}")
    say(f"bytes   about {human_bytes(plan['bytes'])}, from {plan['sampled']:,} sampled pages")
    named = ", ".join(f"{count:,} by {source}" for source, count in plan["sources"].items())
    say(f"named   {named or 'nothing'}")
    for item in plan["folders"]:
        say(f"        {item['urls']:>8,}  {item['folder']}")
    if plan["refused_by_robots"]:
        say(f"robots  {plan['refused_by_robots']:,} URLs of the sample are off limits")
    if excludes := plan["traps"]["excludes"]:
        say("traps   you may want to leave these out:")
    for item in plan["traps"]["excludes"]:
        say(f"        {command_line('--deny', item['deny'])}   {item['why']}")
    denied = [word for item in excludes for word in ("--deny", item["deny"])]
    say(f"next    {command_line('crawl4r', 'crawl', plan['url'], *denied)}")
