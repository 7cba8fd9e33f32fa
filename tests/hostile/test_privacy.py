"""crawl4r writes only to the workspace and its cache, and connects only to the crawl's hosts.

Everything runs in a network of its own with a home of its own, and each call to the kernel that changes
a file or names an address is watched. A library that counts its users, or asks for a newer version of
itself, fails here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from crawl4r.search.embed.minilm import is_installed
from tests.hostile.rebound import NAME_SERVER
from tests.hostile.traced import Traced, can_trace, trace
from tests.interfaces.cli.running import EXECUTABLE, LOOPBACK, environment
from tests.worlds.changing import Changing
from tests.worlds.own_network import OwnNetwork
from tests.worlds.process import WorldProcess

NAME = "site.test"
# The environment of the tests may already switch telemetry off, which would hide a fault.
ASKED_FOR = ("CI", "TF_BUILD", "GITHUB_ACTIONS", "DO_NOT_TRACK", "ORT_", "HF_", "XDG_", "TMPDIR")
NAMES = frozenset([f"{NAME_SERVER}:53", "/var/run/nscd/socket"])  # whom the C library asks
NOWHERE = frozenset(map(Path, ("/dev/null", "/dev/tty")))

needs_model = pytest.mark.skipif(not is_installed(), reason="the model package is not installed")


@dataclass
class House:
    """A home, a place for temporary files and a workspace, beside each other in a folder."""

    folder: Path
    network: OwnNetwork
    site: WorldProcess
    done: dict[str, Traced] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://{NAME}:{self.site.port}/"

    def crawl4r(self, *arguments: str) -> Traced:
        """Run it once; the same again is what came of it then."""
        if arguments[0] not in self.done:
            options = ["--workspace", str(self.folder / "ws")]
            self.done[arguments[0]] = self.run([EXECUTABLE, *arguments, *options])
        return self.done[arguments[0]]

    def run(self, command: Sequence[str | Path]) -> Traced:
        kept = {k: v for k, v in environment().items() if not k.startswith(ASKED_FOR)}
        kept |= {"HOME": str(self.folder / "home"), "TMPDIR": str(self.folder / "tmp")}
        kept |= {"PYTHONDONTWRITEBYTECODE": "1", "CRAWL4R_INDEX__ENABLED": "true"}
        return trace(command, env=kept, prefix=self.network.prefix)

    def outside(self, traced: Traced) -> set[Path]:
        own = [self.folder / "ws", self.folder / "home" / ".cache" / "crawl4r"]
        ways = {self.folder / "home", self.folder / "home" / ".cache"}  # to our cache
        places = traced.changed - NOWHERE - ways
        return {path for path in places if not any(path.is_relative_to(one) for one in own)}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    if not OwnNetwork.can_be_made() or not can_trace():
        pytest.skip("needs network namespaces and strace")
    folder = tmp_path_factory.mktemp("house")
    for name in ("home", "tmp"):
        (folder / name).mkdir()
    with (
        OwnNetwork({NAME: "127.0.0.1"}) as network,
        WorldProcess(Changing(10), prefix=network.prefix) as site,
    ):
        yield House(folder, network, site)


def crawled(house: House) -> Traced:
    return house.crawl4r("crawl", house.url, *LOOPBACK, "--logs", "--max-pages", "8", "--json")


COMMANDS = {
    "crawl": ["crawl"],
    "index": ["index", "--rebuild"],
    "search": ["search", "news of the town"],
    "embed": ["embed", "test", "where is the cat?"],
    "export": ["export", "parquet", "--out", "{folder}/ws/documents.parquet"],
}


@needs_model
@pytest.mark.parametrize("name", COMMANDS)
def test_only_the_workspace_and_our_cache_are_written_and_only_the_site_is_asked(
    house: House, name: str
) -> None:
    before = crawled(house)
    assert before.code == 0, before.err
    words = [word.format(folder=house.folder) for word in COMMANDS[name]]
    traced = before if name == "crawl" else house.crawl4r(*words)
    assert traced.code == 0, traced.err
    assert house.outside(traced) == set()
    allowed = {f"127.0.0.1:{house.site.port}", *NAMES} if name == "crawl" else set()
    # A resolver asks for the way to an address, without a port, to sort what it found.
    assert {place for place in traced.addressed if not place.endswith(":0")} <= allowed
    assert list((house.folder / "tmp").iterdir()) == []
    kept = {path.name for path in (house.folder / "home" / ".cache").iterdir()}
    assert kept == {"crawl4r"}
    assert {path.name for path in (house.folder / "home").iterdir()} == {".cache"}
    assert set(house.network.asked()) <= {NAME}


def test_a_page_in_any_language_is_read_without_a_file_or_a_question(house: House) -> None:
    page = house.folder / "page.html"
    words = "Der Fuchs schläft am Fluss, während die alte Mühle sich im Wind dreht. "
    page.write_text(f"<title>Fuchs</title><h1>Fuchs</h1><p>{words * 20}</p>")
    traced = house.run([EXECUTABLE, "extract", page, "--json"])
    assert json.loads(traced.out)["language"] == "de"
    assert (house.outside(traced), traced.addressed) == (set(), set())


def test_the_watch_sees_what_it_is_there_for(house: House) -> None:
    mine = house.folder / "home" / "device-id"
    script = (
        "import os, socket, sys\n"
        "if not os.fork():\n"
        "    os.mkdir(sys.argv[1]); open(sys.argv[1] + '/x', 'w').close()\n"
        "    with socket.socket() as s: s.connect_ex(('93.184.216.35', 443))\n"
        "    with socket.socket(type=socket.SOCK_DGRAM) as s: s.sendto(b'', ('93.184.216.35', 53))\n"
        "    with socket.socket(socket.AF_UNIX) as s: s.connect_ex('/run/collector')\n"
        "else: os.wait()\n"
    )
    traced = house.run([sys.executable, "-c", script, str(mine)])
    assert house.outside(traced) == {mine, mine / "x"}
    assert traced.addressed == {"93.184.216.35:443", "93.184.216.35:53", "/run/collector"}
    (mine / "x").unlink()
    mine.rmdir()
