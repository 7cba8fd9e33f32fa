"""What all worlds have in common: they are the same each time, and their log tells who asked."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.site.exchange import Request
from tests.site.process import REPOSITORY
from tests.worlds.answer import Parameters
from tests.worlds.changing import Changing
from tests.worlds.news import News
from tests.worlds.process import WorldProcess
from tests.worlds.traps import Traps
from tests.worlds.walking import get

WORLDS = (News(60), Traps(), Changing(60))
EACH_WORLD = pytest.mark.parametrize("parameters", WORLDS, ids=["news", "traps", "changing"])


def paths_of(parameters: Parameters) -> list[str]:
    """A few pages of any kind."""
    match parameters:
        case News():
            return sorted(parameters.truth().articles)[:10] + ["/world", "/2025/11/", "/tag/bridge"]
        case Traps():
            return [*sorted(parameters.truth().real)[::40], "/shop?size=m", "/search?q=x"]
    return ["/", *(f"/page/{number}" for number in range(1, 10))]


@EACH_WORLD
def test_another_process_serves_the_same_bytes_and_another_seed_does_not(
    parameters: Parameters,
) -> None:
    paths = paths_of(parameters)
    here, other = parameters.world(), type(parameters)(seed=2).world()  # type: ignore[call-arg]
    with WorldProcess(parameters, hosts=["127.0.0.2"]) as site:
        for path in paths:
            served = get(site.url(path, "127.0.0.2"))
            asked = Request("127.0.0.2", "GET", path, "HTTP/1.1", ())
            assert served.status == 200
            assert served.body == here.answer(asked).body != other.answer(asked).body
        records = site.requests()
    assert [record.path for record in records] == paths
    assert {(record.status, record.host) for record in records} == {(200, "127.0.0.2")}


def test_a_world_that_cannot_change_ends_when_it_is_told_to(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with WorldProcess(News(60)) as site, pytest.raises(RuntimeError, match="has ended"):
        site.tell(round=1)
    assert "ValueError: a news site stays as it is" in capfd.readouterr().err
    with pytest.raises(ValueError, match="stay as they are"):
        Traps().world().hear({"round": 1})


def test_a_world_is_on_loopback_only() -> None:
    options = ["News", "{}", "--hosts", "0.0.0.0", "--log", "unused"]
    child = subprocess.run(
        [sys.executable, "-m", "tests.worlds", *options],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 2
    assert "not all loopback addresses" in child.stderr
