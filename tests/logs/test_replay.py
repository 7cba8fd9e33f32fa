"""A replay gives byte for byte what the crawl wrote, and one bad page costs only itself."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import crawl4r
from crawl4r.logs.replay import ReplayReport
from crawl4r.wiring.logs import FILES
from tests.faults.killing import plan, start_dying, was_killed
from tests.interfaces.cli.running import run
from tests.logs.tables import ALL, EDGES, METADATA, PAGES, contents, rows
from tests.logs.world import SLOW, Answer, World, article, crawl, furnish, serving, settings_with

STEPS = {
    "during write .replay/*.new": 4,
    "before fsync .replay/*.new": 3,
    "during commit state.db": 1,
    "before replace .replay/*.new": 1,
    "after replace .replay/*.new": 3,
    "after fsync metadata": 1,
}
MANY = 300  # pages
SLOW_SECONDS = 60.0  # for a page that is slow on purpose


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with serving() as running:
        furnish(running)
        # Enough for several ranges, and for two processes at once.
        for number in range(MANY):
            further = (2 * number + 1, 2 * number + 2)
            links = "".join(f'<a href="/many/{n}">{n}</a>' for n in further if n < MANY)
            running.put(f"/many/{number}", article(f"Page {number}", links))
        running.put("/b", article("B", '<a href="/many/0">many</a>'))
        yield running


@pytest.fixture(scope="module", params=["segments", "files"])
def crawled(
    world: World, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Path:
    """Redirects, 404s, 304s after a refresh, duplicates, other types, refusals, rejections."""
    folder = tmp_path_factory.mktemp("replay") / "ws"
    store = {"kind": request.param}
    crawl(folder, world.url + "/", store=store)
    before = world.answers["/copy"]
    world.put("/copy", article("A new text", '<a href="/b">b</a>'))
    crawl(folder, world.url + "/", refresh=True, store=store)
    world.answers["/copy"] = before
    verdicts = {line.split('"verdict": "')[1].split('"')[0] for line in lines(folder / METADATA)}
    expected = {"ok", "redirect", "http-error", "not-modified", "blocked"}
    assert verdicts >= expected
    return folder


def lines(file: Path) -> list[str]:
    return file.read_text("utf-8").splitlines()


def replay(folder: Path, **sections: dict[str, object]) -> ReplayReport:
    async def work() -> ReplayReport:
        async with crawl4r.Workspace(folder, settings_with(**sections)) as workspace:
            return await workspace.replay()

    return asyncio.run(work())


def test_a_replay_gives_what_the_crawl_wrote(crawled: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(crawled, tmp_path / "ws")
    live = contents(folder)
    report = replay(folder)
    assert contents(folder) == live
    assert (report.damaged, report.unreadable) == ([], [])
    assert report.captures == len(lines(folder / METADATA))
    assert report.edges == len(rows(folder / EDGES)) > 300
    assert sorted(path.name for path in folder.glob(".*")) == []


def test_a_replay_needs_none_of_the_files(crawled: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(crawled, tmp_path / "ws")
    live = contents(folder)
    for path in ALL:
        (folder / path).unlink()
    replay(folder)
    assert contents(folder) == live


def test_a_crawl_goes_on_from_what_a_replay_wrote(
    world: World, crawled: Path, tmp_path: Path
) -> None:
    straight, replayed = tmp_path / "straight", tmp_path / "replayed"
    for folder in (straight, replayed):
        shutil.copytree(crawled, folder)
    replay(replayed)
    for folder in (straight, replayed):
        crawl(folder, world.url + "/", refresh=True)
    assert (replayed / EDGES).read_bytes() == (straight / EDGES).read_bytes()
    assert len(lines(replayed / PAGES)) == len(lines(straight / PAGES))


def test_it_goes_by_the_rules_of_the_last_crawl(world: World, tmp_path: Path) -> None:
    """The rules may come from a profile that the later command does not name."""
    folder = tmp_path / "ws"
    crawl(folder, world.url + "/", scope={"sort_params": False}, limits={"pages": 5})
    live = contents(folder)
    replay(folder)
    assert contents(folder) == live
    assert "x?b=2&a=1" in (folder / EDGES).read_text()


@pytest.mark.parametrize("kind", ["a page of the range", "its only page"])
def test_a_page_that_kills_its_reader_costs_only_itself(
    world: World, tmp_path: Path, kind: str
) -> None:
    slow = article("Slow", f'<a href="/a">a</a>{SLOW}')
    name = "/" if kind == "its only page" else "/slow"
    with serving() as other:
        if kind == "a page of the range":
            other.put("/", article("Start", '<a href="/slow">s</a><a href="/last">l</a>'))
            other.put("/last", article("Last", '<a href="/">home</a>'))
        other.put(name, slow)
        crawl(tmp_path / "ws", other.url + "/", reading={"seconds": SLOW_SECONDS})
        live = rows(tmp_path / "ws" / EDGES)
        pages = (tmp_path / "ws" / PAGES).read_bytes()
        report = replay(tmp_path / "ws", reading={"seconds": 0.3})
        left = rows(tmp_path / "ws" / EDGES)
    assert [url for url, _ in report.unreadable] == [other.url + name]
    assert "took longer" in report.unreadable[0][1]
    assert left == [row for row in live if row["source"] != other.url + name]
    assert (tmp_path / "ws" / PAGES).read_bytes() == pages


def test_what_was_imported_has_rows_and_no_links(tmp_path: Path) -> None:
    records = tmp_path / "records.jsonl"
    records.write_text('{"id": "1", "title": "=A1", "text": "<a href=/x>no page</a>"}\n')
    assert run("import", records, "-w", tmp_path / "ws").code == 0
    report = replay(tmp_path / "ws")
    assert (report.captures, report.edges) == (1, 0)
    assert len(rows(tmp_path / "ws" / PAGES)) == 1


def test_an_empty_workspace_has_headers_alone(tmp_path: Path) -> None:
    report = replay(tmp_path / "ws")
    assert (report.captures, rows(tmp_path / "ws" / PAGES)) == (0, [])


def test_it_can_be_watched_and_written_elsewhere_while_a_crawl_holds_the_workspace(
    crawled: Path, tmp_path: Path
) -> None:
    seen: list[int] = []

    async def work() -> ReplayReport:
        async with crawl4r.Workspace(crawled, settings_with()):
            with crawl4r.open(crawled, read_only=True) as reader:
                places = {kind: tmp_path / "out" / path.name for kind, path in FILES.items()}
                return await reader.replay_into(places, seen.append)

    report = asyncio.run(work())
    assert sum(seen) == report.captures
    for path in ALL:
        assert (tmp_path / "out" / path.name).read_bytes() == (crawled / path).read_bytes()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(
        path.name for path in ALL
    )


def test_a_replay_killed_at_any_step_leaves_whole_files(
    world: World, crawled: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(crawled, tmp_path / "ws")
    live = contents(folder)
    for kill in plan(random.Random("kill a replay"), STEPS):
        process = start_dying("replay", "-w", folder, "--no-documents", at=kill)
        assert was_killed(process), f"{kill} does not come"
        assert contents(folder) == live
    crawl(folder, world.url + "/")
    assert contents(folder) == live
    assert run("replay", "-w", folder, "--check").code == 0


def test_an_answer_larger_than_a_range_of_others_is_replayed_too(tmp_path: Path) -> None:
    with serving() as other:
        body = article("Big", f"<p>{'many words ' * 200_000}</p><a href='/a'>a</a>").encode()
        other.answers["/"] = Answer(body)
        crawl(tmp_path / "ws", other.url + "/")
        live = contents(tmp_path / "ws")
        replay(tmp_path / "ws")
        assert contents(tmp_path / "ws") == live
        assert len(rows(tmp_path / "ws" / EDGES)) == 1
