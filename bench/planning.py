"""How near does `crawl4r plan` come to what a crawl keeps?

    python -m bench.planning [--sample 50] [--rounds 3] [NAME ...]

Each site is crawled to its end, which is the truth, and planned some times, as the sample differs
from time to time. For the site of traps the truth is the pages that it was made of; beside it stands
what a crawl keeps. Exit code 1 when an estimate is off by more than a factor of two.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from bench.contenders import CRAWL4R
from bench.server import DOCUMENTATION, serve
from crawl4r.sample.server import SampleSite
from tests.github.server import GithubSite
from tests.site.process import SiteProcess
from tests.worlds.answer import Parameters
from tests.worlds.news import News
from tests.worlds.process import WorldProcess
from tests.worlds.traps import Traps

OPTIONS = ["--rate", "0", "--allow-private", "127.0.0.1", "--json"]
CRAWL_OPTIONS = ["--per-host", "8", "--no-extract", "--no-index", "--max-pages", "8000"]
MOST_OFF = 2.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these sites")
    parser.add_argument("--sample", type=int, default=50, help="pages of each plan")
    parser.add_argument("--rounds", type=int, default=3, help="plans of each site")
    arguments = parser.parse_args()
    is_fine = True
    for name, serving in sites().items():
        if not arguments.names or name in arguments.names:
            with serving as (url, truth, options):
                is_fine &= _compare(name, url, truth, options, arguments)
    return 0 if is_fine else 1


def sites() -> dict[str, AbstractContextManager[tuple[str, int | None, list[str]]]]:
    """By name: a site that is served as long as it is open, its pages where a crawl does not say it."""
    found = {name: _documentation(root) for name, root in DOCUMENTATION.items()}
    found["sample site"] = _sample()
    found["test site"] = _test_site()
    for count in (400, 3_000):
        for has_sitemaps in (True, False):
            words = "" if has_sitemaps else ", no sitemaps"
            news = News(articles=count, sitemaps=has_sitemaps)
            found[f"news {count:,}{words}"] = _world(news, None)
    found["github"] = _github()
    found["traps"] = _world(Traps(), len(Traps().truth().real))
    return found


def _compare(
    name: str, url: str, truth: int | None, options: list[str], arguments: argparse.Namespace
) -> bool:
    kept = _run("crawl", url, *CRAWL_OPTIONS, *options)["pages"]
    truth = truth or kept
    plans = [
        _run("plan", url, *options, "--sample", str(arguments.sample))["pages"]
        for _ in range(arguments.rounds)
    ]
    off = [max(plan["estimate"] / truth, truth / max(1, plan["estimate"])) for plan in plans]
    covered = sum(plan["low"] <= truth <= plan["high"] for plan in plans)
    shown = "; ".join(f"{p['low']:,} - {p['estimate']:,} - {p['high']:,}" for p in plans)
    print(
        f"{name}: {truth:,} pages (a crawl keeps {kept:,}), planned {shown};"
        f" off by at most {max(off):.2f}, in the range {covered} of {len(plans)}",
        flush=True,
    )
    return max(off) <= MOST_OFF


def _run(command: str, url: str, *options: str) -> dict:
    with tempfile.TemporaryDirectory(prefix="crawl4r-planning-") as folder:
        where = ["-w", f"{folder}/workspace"] if command == "crawl" else []
        words = [str(CRAWL4R), command, url, *where, *OPTIONS, *options]
        answer = subprocess.run(words, capture_output=True, text=True, check=True)
        return json.loads(answer.stdout)


@contextlib.contextmanager
def _documentation(root: Path) -> Iterator[tuple[str, int | None, list[str]]]:
    with serve(root) as server:
        yield f"{server.url}/index.html", None, []


@contextlib.contextmanager
def _sample() -> Iterator[tuple[str, int | None, list[str]]]:
    with SampleSite() as site:
        yield site.url, None, []


@contextlib.contextmanager
def _test_site() -> Iterator[tuple[str, int | None, list[str]]]:
    with SiteProcess() as site:
        yield site.url("/site/500/"), None, []


@contextlib.contextmanager
def _world(
    parameters: Parameters, truth: int | None
) -> Iterator[tuple[str, int | None, list[str]]]:
    with WorldProcess(parameters) as site:
        yield site.url("/"), truth, []


@contextlib.contextmanager
def _github() -> Iterator[tuple[str, int | None, list[str]]]:
    with (
        tempfile.TemporaryDirectory(prefix="crawl4r-github-") as folder,
        GithubSite(Path(folder)) as site,
    ):
        os.environ["CRAWL4R_NETWORK__RESOLVE"] = json.dumps(site.settings["resolve"])
        os.environ["CRAWL4R_NETWORK__CA_FILE"] = site.settings["ca_file"]
        contact = ["--contact", "bench@example.org", "--allow-private", site.address]
        try:
            yield "https://github.com/topics", None, ["--profile", "github", *contact]
        finally:
            del os.environ["CRAWL4R_NETWORK__RESOLVE"], os.environ["CRAWL4R_NETWORK__CA_FILE"]


if __name__ == "__main__":
    sys.exit(main())
