"""`crawl4r plan`: what a crawl would take, before it is begun."""

from __future__ import annotations

from tests.cli.running import LOOPBACK, run
from tests.worlds.news import News
from tests.worlds.process import WorldProcess
from tests.worlds.traps import Traps


def test_a_plan_tells_pages_and_hours_from_sitemaps_and_a_sample() -> None:
    news = News(articles=400)
    with WorldProcess(news) as site:
        polite = ("--rate", "20", "--allow-private", "127.0.0.1")
        plan = run("plan", site.url("/"), *polite, "--sample", "30", "--json").json
        requests = len(site.requests())
    assert 400 <= plan["pages"]["estimate"] <= 1200
    assert plan["pages"]["at_least"] >= 400
    assert plan["delay_s"] == 0.05
    assert plan["hours"] == round(plan["pages"]["estimate"] * 0.05 / 3600, 2)
    assert plan["bytes"] > 0
    assert plan["sources"]["sitemap"] > 300
    assert requests < 100, "a look, and no crawl"


def test_a_plan_for_people_ends_with_the_command_to_run() -> None:
    with WorldProcess(Traps()) as site:
        answer = run("plan", site.url("/"), *LOOPBACK, "--sample", "400")
    assert answer.code == 0
    assert "pages   about" in answer.text
    assert f"crawl4r crawl {site.url('/')}" in answer.text
    assert "--deny" in answer.text, "traps were met, and are named"
