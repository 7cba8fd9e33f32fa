"""`crawl4r plan`: estimate a crawl before it begins."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from crawl4r.interfaces.cli.options import json_option, print_json
from crawl4r.interfaces.cli.output import say, say_command
from crawl4r.interfaces.cli.survey_options import STOPPED, crawl_command, run_survey, survey_options
from crawl4r.interfaces.cli.view.format import human_bytes, human_seconds
from crawl4r.safe_text import command_line

if TYPE_CHECKING:
    from crawl4r.workspace.survey import Survey


@click.command("plan")
@click.argument("url")
@survey_options
@click.option(
    "--sample", type=click.IntRange(1), default=50, show_default=True, help="Sample so many pages."
)
@json_option
def command(url: str, sample: int, as_json: bool, **options: Any) -> None:
    """Estimate pages, hours and bytes of a crawl, and name traps.

    Uses the site's sitemaps and a sample of its pages.

    \b
    crawl4r plan https://example.org/
    crawl4r plan https://example.org/ --sample 200 --json | jq .traps

    Keeps nothing and is as polite as a crawl. Draws the pages of the sample at random from the known
    ones. Ctrl-C ends it with an estimate from the pages so far, and exit code 3.
    """
    from crawl4r.workspace.plan import plan_of  # noqa: PLC0415 - help goes without

    async def work(survey: Survey) -> dict[str, Any] | None:
        named = await survey.map(with_links=True)
        return plan_of(url, named, await survey.sample(sample)) if named else None

    plan, is_partial = run_survey(url, options, work)
    if plan is None:
        say("crawl4r: stopped before anything was known", err=True)
        sys.exit(STOPPED)
    denied = [item["deny"] for item in plan["traps"]["excludes"]]
    plan |= {"partial": is_partial, "next": crawl_command(url, options, denied)}
    if as_json:
        print_json(plan)
    else:
        _tell(plan)
    if is_partial:
        sys.exit(STOPPED)


def _time_words(plan: dict[str, Any]) -> str:
    if not plan["delay_s"]:
        return "no delay between requests: as long as the site takes to answer"
    hours = human_seconds(plan["hours"] * 3600)
    return f"about {hours} at {plan['delay_s']:g} s between two requests"


def _tell(plan: dict[str, Any]) -> None:
    pages = plan["pages"]
    if plan["partial"]:
        say(f"partial: stopped after {plan['sampled']:,} pages; more of them would say more")
    say(f"pages   about {pages['estimate']:,} (between {pages['low']:,} and {pages['high']:,})")
    say(f"        {pages['basis']}")
    say(f"time    {_time_words(plan)}")
    say(f"bytes   about {human_bytes(plan['bytes'])}, from {plan['sampled']:,} sampled pages")
    named = ", ".join(f"{count:,} by {source}" for source, count in plan["sources"].items())
    say(f"named   {named or 'nothing'}")
    for item in plan["folders"]:
        say(f"        {item['urls']:>8,}  {item['folder']}")
    if plan["refused_by_robots"]:
        say(f"robots  {plan['refused_by_robots']:,} URLs that were found are off limits")
    if plan["capped"]:
        say(f"caps    {plan['capped']:,} URLs that were found are past a cap of the profile")
    if plan["copies"]:
        say(f"copies  {plan['copies']:,} sampled pages say what another one says; not counted")
    if excludes := plan["traps"]["excludes"]:
        say("traps   you may want to leave these out:")
    for item in excludes:
        say(f"        {command_line('--deny', item['deny'])}")
        say(f"            {item['why']}")
    say("next:")
    say_command(plan["next"])
