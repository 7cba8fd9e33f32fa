"""One name for one thing: in the JSON of every command, in exports and in logs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crawl4r.clock import is_moment
from crawl4r.interfaces.json.names import FORMER, NAMES
from tests.interfaces.cli.running import LOOPBACK, Background, run
from tests.site.process import SiteProcess

_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_WORDS = {"CRAWL4R_INDEX__ENABLED": "true", "CRAWL4R_EMBEDDER__KIND": "none"}


@pytest.fixture(scope="module")
def told(site: SiteProcess, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What every command says of one crawl, by command."""
    ws, out = tmp_path_factory.mktemp("names") / "ws", tmp_path_factory.mktemp("out")
    url, place = site.url("/site/12/"), ("-w", str(ws))
    crawled = run("crawl", url, *place, *LOOPBACK, "--logs", "--json", env=_WORDS)
    assert crawled.code == 0
    run("crawl", *place, "--refresh", "--json", env=_WORDS)
    said = {"crawl": crawled.lines}
    commands = {
        "status": (), "pages": (), "why": (url,), "get": (url,), "history": (url,),
        "search": ("lighthouse",), "report": ("127.0.0.1",),
        "check-policy": (url,), "index": (), "replay": (),
    }  # fmt: skip
    for name, words in commands.items():
        answer = run(name, *words, *place, "--json", env=_WORDS)
        assert answer.code == 0, f"{name}: {answer.err}"
        said[name] = answer.lines
    said["get --markdown"] = run("get", url, "--markdown", *place, "--json").lines
    said["map"] = run("map", url, *LOOPBACK, "--json").lines
    said["plan"] = run("plan", url, *LOOPBACK, "--sample", "3", "--json").lines
    said["scrape"] = run("scrape", url, "--allow-private", "127.0.0.1", "--json").lines
    assert run("export", "jsonl", *place, "--out", out / "d.jsonl").code == 0
    said["export jsonl"] = _lines(out / "d.jsonl")
    said["crawl_metadata.jsonl"] = _lines(ws / "metadata" / "crawl_metadata.jsonl")
    more = ("-w", tmp_path_factory.mktemp("log") / "ws", *LOOPBACK, "--verbose", "--log-json")
    with Background("crawl", url, *more) as logged:
        said["log"] = [json.loads(line) for line in logged.end().err.splitlines()]
    more = ("-w", tmp_path_factory.mktemp("spool") / "ws", *LOOPBACK, "--json")
    assert run("spool", "discover", url, *more).code == 0
    segments = sorted(Path(more[1], "spool", "discoveries").glob("*.jsonl"))
    said["discoveries"] = [line for segment in segments for line in _lines(segment)]
    return said


def _lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield name, each
            yield from _fields(each)
    elif isinstance(value, list):
        for each in value:
            yield from _fields(each)


def test_every_command_says_something(told: dict[str, list[Any]]) -> None:
    assert [name for name, answers in told.items() if not answers] == []


def test_names_of_earlier_versions_are_gone(told: dict[str, list[Any]]) -> None:
    # robots.txt is no capture: when it was fetched is its own.
    for name, answers in told.items():
        found = {field for field, value in _fields(answers) if not isinstance(value, dict | list)}
        assert found & (FORMER.keys() - {"fetched_at"}) == set(), name
        assert "fetched_at" not in {f for answer in answers for f in _own(answer)}, name


def _own(answer: Any) -> set[str]:
    """The names of an answer outside of what it says of robots.txt."""
    if not isinstance(answer, dict):
        return {field for each in answer for field in _own(each)}
    return {f for name, each in answer.items() if name != "robots" for f in [name, *_names(each)]}


def _names(value: Any) -> list[str]:
    return [field for field, _ in _fields(value)]


def test_moments_are_iso_times(told: dict[str, list[Any]]) -> None:
    for name, answers in told.items():
        for field, value in _fields(answers):
            if is_moment(field) and value is not None:
                assert isinstance(value, str) and _ISO.fullmatch(value), f"{name}: {field} {value}"


def test_the_same_capture_is_told_alike_everywhere(told: dict[str, list[Any]]) -> None:
    got = told["get"][0]
    page = next(row for row in told["pages"] if row["url"] == got["url"])
    story = {capture["capture_id"]: capture for capture in told["why"][0]["captures"]}
    lines = {line["capture_id"]: line for line in told["crawl_metadata.jsonl"]}
    events = told["history"][0]
    shared = ("captured_at", "sha256", "status")
    newest = story[max(story)]
    assert [page[name] for name in shared] == [newest[name] for name in shared]
    for tells in (story, lines, {row["capture_id"]: row for row in events}):
        assert [tells[got["capture_id"]][name] for name in shared] == [got[name] for name in shared]
    url = got["url"]
    (document,) = [row for row in told["export jsonl"] if row["url"] == url]
    assert document["document_id"] == told["why"][0]["document"]["document_id"]
    assert document["capture_id"] in story


def test_what_several_commands_tell_is_in_the_table(told: dict[str, list[Any]]) -> None:
    """A name that stands at the top of several answers has a meaning in the reference."""
    tops: dict[str, set[str]] = {}
    for name, answers in told.items():
        for answer in answers:
            for field in answer if isinstance(answer, dict) else ():
                tops.setdefault(field, set()).add(name)
    data = ("pages", "get", "history", "export jsonl", "crawl_metadata.jsonl", "get --markdown")
    shared = {field for field, names in tops.items() if len(names.intersection(data)) > 2}
    assert shared - NAMES.keys() == set()
