"""The real command line on the site, and what the crawl and the site each say of it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml

from tests.github.server import GithubSite
from tests.interfaces.cli.running import Answer, Background, run
from tests.site.access_log import AccessRecord

SEEDS = ("https://github.com/topics", "https://github.com/trending")
CONTACT = ("--contact", "crawl@example.org")
PROFILE = ("--profile", "github", *CONTACT)
PAGES, ISSUES, PULLS = 30, 10, 10  # of a repository: what the profile promises


def prepare(site: GithubSite, workspace: Path, *, quick: bool = True, **sections: Any) -> Path:
    """Write the workspace's crawl4r.yaml: where github.com is, and perhaps no delay between pages."""
    pace = {"politeness": {"rate": 0}} if quick else {}
    settings: dict[str, Any] = {"network": site.settings, **pace, **sections}
    workspace.mkdir(parents=True, exist_ok=True)
    (workspace / "crawl4r.yaml").write_text(yaml.safe_dump(settings))
    return workspace


def crawl(workspace: Path, *words: str, seeds: Iterable[str] = SEEDS) -> Answer:
    """`crawl4r crawl --profile github` to its end, with its summary as JSON."""
    return run("crawl", *seeds, "-w", workspace, *PROFILE, *words, "--json")


def crawl_beside(workspace: Path, *words: str) -> Background:
    """The same, while the test goes on."""
    return Background("crawl", *SEEDS, "-w", workspace, *PROFILE, *words, "--json")


def rows_of(workspace: Path, *words: str) -> dict[str, dict[str, Any]]:
    """What `crawl4r pages` says of every known URL."""
    answer = run("pages", "-w", workspace, *words, "--json")
    assert answer.code == 0
    return {row["url"]: row for row in answer.lines}


def was_asked_for(row: dict[str, Any]) -> bool:
    return row["state"] in {"done", "failed"}


def repository_of(path: str) -> str:
    """The `owner/name` whose caps a path counts against, in lower case."""
    match = re.match(r"/([^/]+/[^/]+)", path)
    return match.group(1).lower() if match else ""


def by_repository(urls: Iterable[str]) -> dict[str, list[str]]:
    """What follows `owner/name` in each URL, by `owner/name`."""
    found: dict[str, list[str]] = defaultdict(list)
    for url in urls:
        path = urlsplit(url).path
        if repository := repository_of(path):
            found[repository].append(unquote(path[len(repository) + 2 :]))
    return found


def issues_among(tails: Iterable[str]) -> list[str]:
    return [tail for tail in tails if re.fullmatch(r"issues(/\d+)?", tail)]


def pulls_among(tails: Iterable[str]) -> list[str]:
    return [tail for tail in tails if re.fullmatch(r"pulls|pull/\d+", tail)]


def pages_asked(records: Iterable[AccessRecord]) -> list[str]:
    """Paths in order of arrival, without robots.txt."""
    ordered = sorted(records, key=lambda record: record.arrived_monotonic)
    return [record.path for record in ordered if record.path != "/robots.txt"]
