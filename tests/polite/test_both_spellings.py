"""robots.txt is asked about a link as the page wrote it and about its canonical spelling."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interfaces.cli.running import crawl, run
from tests.logs.world import Answer, World, article, serving

ROBOTS = b"User-agent: *\nDisallow: /*?sort=\nDisallow: /*?a=1&\n"
LINKS = {
    "/list?sort=up&page=2": False,  # sorted, it would read /list?page=2&sort=up
    "/list?b=2&a=1": False,  # as it is written, no rule matches
    "/list?page=2": True,
    "/list?utm_source=x&page=3": True,
}


@pytest.fixture(scope="module")
def site() -> Iterator[World]:
    with serving() as world:
        world.answers["/robots.txt"] = Answer(ROBOTS, content_type="text/plain")
        links = "".join(f'<a href="{href.replace("&", "&amp;")}">x</a>' for href in LINKS)
        world.put("/", article("Start", links))
        for path in ("/list?page=2&sort=up", "/list?a=1&b=2", "/list?page=2", "/list?page=3"):
            world.put(path, article(path))
        yield world


@pytest.mark.parametrize("spooled", [False, True])
def test_either_spelling_may_be_denied(site: World, tmp_path: Path, spooled: bool) -> None:
    workspace = tmp_path / "ws"
    if spooled:
        options = ("--rate", "0", "--allow-private", "127.0.0.1", "--json")
        assert run("spool", "run", f"{site.url}/", "-w", workspace, *options).code == 0
    else:
        assert crawl(f"{site.url}/", workspace).code == 0
    rows = run("pages", "-w", workspace, "--json").lines
    verdicts = {row["url"].removeprefix(site.url): row["verdict"] for row in rows}
    assert verdicts == {
        "/": "ok",
        "/list?page=2&sort=up": "robots-denied",
        "/list?a=1&b=2": "robots-denied",
        "/list?page=2": "ok",
        "/list?page=3": "ok",
    }
    denied = run("why", f"{site.url}/list?page=2&sort=up", "-w", workspace, "--json").json
    assert denied["reason"] == (
        "robots.txt: Disallow: /*?sort=, for the link /list?sort=up&page=2 (line 2)"
    )


def test_check_policy_judges_a_url_as_it_is_typed(tmp_path: Path) -> None:
    robots = tmp_path / "robots.txt"
    robots.write_bytes(ROBOTS)
    for path, allowed in LINKS.items():
        answer = run("check-policy", f"https://e.org{path}", "--robots", robots, "--json")
        assert answer.json["allowed"] is allowed, path
