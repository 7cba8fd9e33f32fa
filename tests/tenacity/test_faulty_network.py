"""A network that fails in every way for a while: the crawl waits, goes on, and has lost nothing."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.running import (
    EXECUTABLE,
    LOOPBACK,
    Background,
    environment,
    run,
    wait_until,
)
from tests.faults.whole import assert_every_page_is_stored_once
from tests.site.pages import page_bytes, page_path
from tests.site.process import SiteProcess
from tests.worlds.changing import Changing
from tests.worlds.fault_proxy import Fault, FaultProxy
from tests.worlds.own_network import NamesAre, OwnNetwork
from tests.worlds.process import WorldProcess

SIZE = 300
# Ten minutes of trouble in a few seconds: what waits for seconds in life waits for hundredths here.
HURRIED = {
    "CRAWL4R_FETCH__TIMEOUT": "1",
    "CRAWL4R_FETCH__CONNECT_TIMEOUT": "0.5",
    "CRAWL4R_FETCH__BACKOFF_BASE": "0.02",
    "CRAWL4R_FETCH__BACKOFF_CAP": "0.3",
    "CRAWL4R_POLITENESS__BREAKER_COOLDOWN": "0.1",
    "CRAWL4R_POLITENESS__BREAKER_GIVE_UP": "100",
    "CRAWL4R_RESILIENCE__PROBE_SECONDS": "0.2",
}
# What answers in something else than HTTP has answered: that is no fault of the network.
FAULTS = [fault for fault in Fault if fault not in {Fault.NORMAL, Fault.GARBAGE}]


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name.lower() for fault in FAULTS])
def test_a_crawl_survives_a_while_of_it_with_nothing_lost(tmp_path: Path, fault: Fault) -> None:
    with SiteProcess() as site, FaultProxy(site.port) as proxy:
        start = proxy.url(f"/site/{SIZE}/")
        words = ("--per-host", "4", "--no-extract", "--no-probe", "--json")
        arguments = ("crawl", start, "-w", tmp_path / "ws", *LOOPBACK, *words)
        with Background(*arguments, env=HURRIED) as crawl:
            wait_until(lambda: len(site.requests()) > 20)
            proxy.follow(fault)
            time.sleep(3)
            proxy.behave()
            ended = crawl.end()
        assert ended.code == 0, ended.err
        origin = proxy.url("")
        bodies = {origin + page_path(SIZE, n): page_bytes(SIZE, n, origin) for n in range(SIZE)}
        assert ended.json["failed"] == 0
        assert_every_page_is_stored_once(tmp_path / "ws", bodies)


def test_a_site_that_never_comes_back_keeps_its_urls_for_the_next_run(tmp_path: Path) -> None:
    env = {**HURRIED, "CRAWL4R_POLITENESS__BREAKER_GIVE_UP": "3"}
    with SiteProcess() as site, FaultProxy(site.port) as proxy:
        start = proxy.url(f"/site/{SIZE}/")
        words = ("--per-host", "4", "--no-extract", "--no-probe", "--json")
        arguments = ("crawl", start, "-w", tmp_path / "ws", *LOOPBACK, *words)
        with Background(*arguments, env=env) as crawl:
            wait_until(lambda: len(site.requests()) > 20)
            proxy.follow(Fault.RESET)
            ended = crawl.end()
        assert (ended.code, ended.json["ended"]) == (3, "hosts given up")
        assert ended.json["failed"] == 0
        proxy.behave()
        answer = run(*arguments, env=env)
        assert (answer.code, answer.json["pages"]) == (0, SIZE)


@pytest.mark.parametrize("names_are", [NamesAre.SERVFAIL, NamesAre.SILENT, NamesAre.NXDOMAIN])
def test_names_that_are_not_answered_for_a_while_cost_nothing(
    tmp_path: Path, names_are: NamesAre
) -> None:
    if not OwnNetwork.can_be_made():
        pytest.skip("this kernel or user may not make a network namespace")
    world = Changing(200)
    with (
        OwnNetwork({"site.test": "127.0.0.1"}) as network,
        WorldProcess(world, prefix=network.prefix) as site,
    ):
        url = f"http://site.test:{site.port}/"
        words = ["--per-host", "2", "--rate", "100", "--no-extract", "--no-probe", "--json"]
        options = ["-w", str(tmp_path), "--allow-private", "127.0.0.1", *words]
        command = [*network.prefix, str(EXECUTABLE), "crawl", url, *options]
        env = environment(HURRIED)
        subprocess.run([*command, "--max-pages", "50"], check=True, capture_output=True, env=env)
        # A connection is kept alive, and a name with it: this process has none yet.
        network.answer_names(names_are)
        crawl = subprocess.Popen(command, stdout=subprocess.PIPE, env=env)
        time.sleep(3)
        network.answer_names(NamesAre.ANSWERED)
        out, _ = crawl.communicate(timeout=120)
        found = {record.path for record in site.requests() if record.status == 200}
    assert crawl.returncode == 0
    assert json.loads(out)["failed"] == 0
    assert found >= world.truth(0).paths
