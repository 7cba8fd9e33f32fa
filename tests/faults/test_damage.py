"""Damaged bytes on disk are reported or harmless, and never trusted."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import crawl4r
from crawl4r.errors import Crawl4rError
from tests.faults.whole import METADATA, assert_every_page_is_stored_once, expected_bodies
from tests.interfaces.cli.running import Answer, crawl, run
from tests.site.process import SiteProcess

SIZE = 12  # pages
FLIPS = 200
STATE = Path("state.db")
SEGMENT = Path("store", "segments", "000001.c4s")
Damage = Callable[[Path], None]


@pytest.fixture(scope="module")
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as running:
        yield running


@pytest.fixture(scope="module")
def sound(site: SiteProcess, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A finished crawl in each kind of store, to be copied before it is damaged."""
    folder = tmp_path_factory.mktemp("sound")
    for store in ("segments", "files"):
        url = site.url(f"/site/{SIZE}/")
        assert crawl(url, folder / store, "--per-host", "8", "--store", store).code == 0
    return {store: folder / store for store in ("segments", "files")}


def cut_to_half(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def overwrite_the_start(file: Path) -> None:
    file.write_bytes(b"\xa5" * 100 + file.read_bytes()[100:])


def flip_a_bit_in_the_middle(file: Path) -> None:
    flip(file, file.stat().st_size * 4)


def flip_two_hundred_bits(file: Path) -> None:
    chance = random.Random("two hundred at once")
    for _ in range(200):
        flip(file, chance.randrange(file.stat().st_size * 8))


def delete(file: Path) -> None:
    file.unlink()


def flip(file: Path, bit: int) -> None:
    data = bytearray(file.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    file.write_bytes(data)


def is_report_of(answer: Answer, file: Path) -> bool:
    return answer.code == 4 and str(file) in answer.err


ON_STATE = [cut_to_half, empty, overwrite_the_start, flip_two_hundred_bits]
ON_SEGMENT = [cut_to_half, empty, overwrite_the_start, flip_a_bit_in_the_middle, delete]


@pytest.mark.parametrize("damage", ON_STATE)
def test_a_damaged_state_is_reported_by_every_command(
    site: SiteProcess, sound: dict[str, Path], tmp_path: Path, damage: Damage
) -> None:
    workspace = shutil.copytree(sound["segments"], tmp_path / "ws")
    damage(workspace / STATE)
    url = site.url(f"/site/{SIZE}/")
    for command in (["pages"], ["get", url, "--raw"]):
        answer = run(*command, "--workspace", workspace)
        assert is_report_of(answer, workspace / STATE), f"{command}: {answer}"
    assert is_report_of(crawl(url, workspace), workspace / STATE)


@pytest.mark.parametrize("damage", ON_SEGMENT)
def test_a_damaged_segment_gives_right_bytes_or_none(
    site: SiteProcess, sound: dict[str, Path], tmp_path: Path, damage: Damage
) -> None:
    workspace = shutil.copytree(sound["segments"], tmp_path / "ws")
    damage(workspace / SEGMENT)
    reports = assert_right_bytes_or_a_report(site, workspace, workspace / SEGMENT)
    assert reports > 0
    answer = crawl(site.url(f"/site/{SIZE}/"), workspace)
    assert answer.code == 0 or is_report_of(answer, workspace / SEGMENT)


@pytest.mark.parametrize("damage", [cut_to_half, empty, flip_a_bit_in_the_middle, delete])
def test_a_damaged_file_of_the_store_gives_right_bytes_or_none(
    site: SiteProcess, sound: dict[str, Path], tmp_path: Path, damage: Damage
) -> None:
    workspace = shutil.copytree(sound["files"], tmp_path / "ws")
    victim = min(workspace.glob("store/html/*/*/*.zst"))
    damage(victim)
    assert assert_right_bytes_or_a_report(site, workspace, victim) == 1


def assert_right_bytes_or_a_report(site: SiteProcess, workspace: Path, file: Path) -> int:
    """Ask for every page; how many were reported as damaged. One is asked for by the command."""
    reports = 0
    bodies = expected_bodies(site, SIZE)
    with crawl4r.open(workspace, read_only=True) as opened:
        for url, body in bodies.items():
            page = opened.get(url)
            assert page is not None
            try:
                assert page.body == body
            except Crawl4rError as problem:
                assert problem.exit_code == 4
                assert str(file) in str(problem) or file.stem.partition(".")[0] in str(problem)
                reports += 1
                damaged = url
    if reports:
        answer = run("get", damaged, "--workspace", workspace, "--raw")
        assert (answer.code, answer.out) == (4, b"")
    return reports


@pytest.mark.parametrize("damage", [delete, empty, cut_to_half])
def test_a_damaged_metadata_file_is_made_whole_again(
    site: SiteProcess, sound: dict[str, Path], tmp_path: Path, damage: Damage
) -> None:
    workspace = shutil.copytree(sound["segments"], tmp_path / "ws")
    damage(workspace / METADATA)
    answer = crawl(site.url(f"/site/{SIZE}/"), workspace)
    if is_report_of(answer, workspace / METADATA):
        return
    assert answer.code == 0
    assert_every_page_is_stored_once(workspace, expected_bodies(site, SIZE))


class Reading(NamedTuple):
    """What a workspace says of itself through the Python API."""

    rows: object
    bodies: dict[str, bytes]
    captures: object


@pytest.fixture(scope="module")
def flipped(
    site: SiteProcess, sound: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Reading, dict[int, Reading | Exception]]:
    """The sound reading, and for each flipped bit of state.db what was read or raised."""
    workspace = shutil.copytree(sound["segments"], tmp_path_factory.mktemp("flips") / "ws")
    urls = list(expected_bodies(site, SIZE))
    truth = read(workspace, urls)
    state = (workspace / STATE).read_bytes()
    chance = random.Random("one at a time")
    readings: dict[int, Reading | Exception] = {}
    for bit in (chance.randrange(len(state) * 8) for _ in range(FLIPS)):
        (workspace / STATE).write_bytes(state)
        flip(workspace / STATE, bit)
        try:
            readings[bit] = read(workspace, urls)
        except Exception as problem:
            readings[bit] = problem
    return truth, readings


def read(workspace: Path, urls: list[str]) -> Reading:
    for left_over in workspace.glob("state.db-*"):
        left_over.unlink()
    with crawl4r.open(workspace, read_only=True) as opened:
        rows = list(opened.pages())
        pages = {url: opened.get(url) for url in urls}
        bodies = {url: page.body for url, page in pages.items() if page}
        opened.status(), opened.why(urls[-1])
        return Reading(rows, bodies, list(opened.captures.after(0)))


Flipped = tuple[Reading, dict[int, Reading | Exception]]


def test_no_flipped_bit_of_the_state_makes_get_give_wrong_bytes(flipped: Flipped) -> None:
    truth, readings = flipped
    found = {bit: r.bodies for bit, r in readings.items() if isinstance(r, Reading)}
    wrong = {
        bit: [url for url in bodies if bodies[url] != truth.bodies[url]]
        for bit, bodies in found.items()
    }
    assert {bit: urls for bit, urls in wrong.items() if urls} == {}


def test_no_flipped_bit_of_the_state_ends_in_a_traceback(flipped: Flipped) -> None:
    _, readings = flipped
    raised = {bit: r for bit, r in readings.items() if isinstance(r, Exception)}
    assert {bit: r for bit, r in raised.items() if not isinstance(r, Crawl4rError)} == {}
    assert [str(r) for r in raised.values() if str(STATE) not in str(r)] == []


def test_no_flipped_bit_of_the_state_is_read_as_another_value(flipped: Flipped) -> None:
    truth, readings = flipped
    silent = [bit for bit, r in readings.items() if isinstance(r, Reading) and r != truth]
    assert silent == []
