"""In a network of its own, names are answered as the test says, to the crawler too."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interfaces.cli.running import EXECUTABLE, LOOPBACK, environment
from tests.worlds.changing import Changing
from tests.worlds.own_network import NamesAre, OwnNetwork
from tests.worlds.process import WorldProcess

LOOK_UP = """
import socket, sys
try:
    print(socket.getaddrinfo(sys.argv[1], 80, type=socket.SOCK_STREAM)[0][4][0])
except socket.gaierror as error:
    print(error.errno)
"""


@pytest.fixture(scope="module")
def network() -> Iterator[OwnNetwork]:
    if not OwnNetwork.can_be_made():
        pytest.skip("this kernel or user may not make a network namespace")
    with OwnNetwork({"site.test": "127.0.0.1"}) as running:
        yield running


def look_up(network: OwnNetwork, name: str) -> str:
    command = [*network.prefix, sys.executable, "-c", LOOK_UP, name]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize(
    ("names_are", "found"),
    [
        (NamesAre.ANSWERED, "127.0.0.1"),
        (NamesAre.SERVFAIL, "-3"),  # EAI_AGAIN
        (NamesAre.NXDOMAIN, "-2"),  # EAI_NONAME
        (NamesAre.SILENT, "-3"),
    ],
)
def test_a_name_is_answered_as_told(network: OwnNetwork, names_are: NamesAre, found: str) -> None:
    before = network.asked().get("site.test", 0)
    network.answer_names(names_are)
    assert look_up(network, "site.test") == found
    assert network.asked()["site.test"] > before


def test_a_name_that_nobody_has_is_not_found(network: OwnNetwork) -> None:
    network.answer_names(NamesAre.ANSWERED)
    assert int(look_up(network, "other.test")) < 0


def test_the_crawler_asks_this_name_server_and_no_other(
    network: OwnNetwork, tmp_path: Path
) -> None:
    network.answer_names(NamesAre.ANSWERED)
    before = network.asked().get("site.test", 0)
    with WorldProcess(Changing(10), prefix=network.prefix) as site:
        url = f"http://site.test:{site.port}/"
        options = ["--workspace", str(tmp_path), *LOOPBACK, "--no-probe", "--no-extract"]
        command = [*network.prefix, str(EXECUTABLE), "crawl", url, *options]
        subprocess.run(command, check=True, capture_output=True, env=environment())
        asked = {record.path for record in site.requests() if record.status == 200}
    assert asked == Changing(10).truth(0).paths | {"/robots.txt"}
    assert network.asked()["site.test"] > before
