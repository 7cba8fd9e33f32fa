"""How much of a site that hides itself is found, and at which price?

    python -m bench.exploring [--articles 3000]

A generated news site (sections, twelve months, paginated lists, feed, nested gzip sitemaps) whose front
page links 30 articles, with more and more of what leads to the others taken away; and a site of 400
pages behind calendars, sessions and filters without end. Beside each: what links alone find. Exit code
1 when a bar does not hold.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from bench import measure
from bench.contenders import CRAWL4R
from tests.worlds.news import News
from tests.worlds.process import WorldProcess
from tests.worlds.traps import Traps

OPTIONS = ["--rate", "0", "--per-host", "16", "--no-extract", "--no-index", "--json"]
MOST_WASTED = 0.05
NEWS = {
    "everything": ({}, 0.99),
    "no sitemaps": ({"sitemaps": False}, 0.95),
    "no links past page 2": ({"pagination_links": "first-two", "month_links": False}, 0.90),
    "the same, no sitemaps, archives or feed": (
        {
            "pagination_links": "first-two",
            "month_links": False,
            "sitemaps": False,
            "archives": False,
            "feed": False,
        },
        0.90,
    ),
}
TRAP_BUDGET = 4_000  # requests


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--articles", type=int, default=3_000)
    arguments = parser.parse_args()
    fine = True
    for name, (switches, bar) in NEWS.items():
        fine &= _news(name, News(articles=arguments.articles, **switches), bar)
    return 0 if fine & _traps() else 1


def _news(name: str, news: News, bar: float) -> bool:
    truth = news.truth()
    total = len(truth.articles)
    shares = {}
    for explore in ("--no-explore", "--explore"):
        with WorldProcess(news) as site:
            _crawl(site.url("/"), explore)
            tally = truth.tally(site.requests())
        shares[explore] = tally.articles / total
    wasted = (tally.wasted + tally.repeated) / tally.requests
    print(
        f"{name}: {shares['--explore']:.1%} of {total} articles (bar {bar:.0%}; by links alone "
        f"{shares['--no-explore']:.1%}), {wasted:.1%} of {tally.requests} requests wasted"
    )
    return shares["--explore"] >= bar and wasted < MOST_WASTED


def _traps() -> bool:
    world = Traps()
    truth = world.truth()
    with WorldProcess(world) as site:
        ended = _crawl(site.url("/"), "--explore", "--max-pages", str(TRAP_BUDGET))["ended"]
        paths = [record.path for record in site.requests()]
    found = {truth.real_of(path) for path in paths} & set(truth.real)
    print(f"traps: {len(found)} of {len(truth.real)} real pages, {len(paths)} requests, {ended}")
    return len(found) == len(truth.real) and len(paths) < TRAP_BUDGET


def _crawl(url: str, *options: str) -> dict:
    with tempfile.TemporaryDirectory(prefix="crawl4r-exploring-") as folder:
        where = ["--workspace", folder, "--allow-private", "127.0.0.1"]
        command = [str(CRAWL4R), "crawl", url, *where, *OPTIONS, *options]
        usage = measure.run(command, cwd=Path(folder))
        if usage.exit_code:
            raise RuntimeError(f"ended with {usage.exit_code}: {usage.stderr[-2_000:]}")
        return json.loads(usage.stdout)


if __name__ == "__main__":
    sys.exit(main())
