"""A network that fails in every way for ten minutes: the crawl waits, goes on, and has lost nothing.

The minutes are those of the crawl's own clock (`hurried`), and every setting that decides about time
has its default: timeouts, retries, cooldowns, probes and thresholds of the watchdog.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from crawl4r.resilience.health_file import read_health
from tests.faults.whole import assert_every_page_is_stored_once
from tests.hostile.rebound import PUBLIC
from tests.interfaces.cli.running import (
    EXECUTABLE,
    LOOPBACK,
    PATIENCE,
    Background,
    environment,
    run,
    wait_until,
)
from tests.resilience.test_watchdog import health_in
from tests.site.pages import page_bytes, page_path
from tests.site.process import REPOSITORY, SiteProcess
from tests.worlds.changing import Changing
from tests.worlds.fault_proxy import Fault, FaultProxy
from tests.worlds.own_network import NamesAre, OwnNetwork
from tests.worlds.process import WorldProcess

SIZE = 100
SPEED = 150  # seconds of the crawl's clock in one of ours
TEN_MINUTES = 600.0
# What answers in something else than HTTP has answered: that is no fault of the network.
FAULTS = [fault for fault in Fault if fault not in {Fault.NORMAL, Fault.GARBAGE}]


def start_hurried(
    url: str, workspace: Path, prefix: Sequence[str] = (), **told: Any
) -> subprocess.Popen[str]:
    program = [*prefix, sys.executable, "-m", "tests.tenacity.hurried"]
    return subprocess.Popen(
        [*program, str(SPEED), url, str(workspace), json.dumps(told)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def let_ten_minutes_pass(workspace: Path) -> None:
    """By the clock of the crawl there, which tells in `health.json` what time it is."""

    def time_there() -> float:
        return float((read_health(workspace) or {}).get("at", 0.0))

    wait_until(lambda: time_there() > 0)
    began = time_there()
    wait_until(lambda: time_there() > began + TEN_MINUTES)


def end_of(crawl: subprocess.Popen[str]) -> tuple[dict[str, Any], list[str]]:
    """Its summary, and the names of the events."""
    out, err = crawl.communicate(timeout=4 * PATIENCE)
    assert crawl.returncode == 0, err
    return json.loads(out), [json.loads(line)["event"] for line in err.splitlines()]


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name.lower() for fault in FAULTS])
def test_a_crawl_survives_ten_minutes_of_it_with_nothing_lost(tmp_path: Path, fault: Fault) -> None:
    with SiteProcess() as site, FaultProxy(site.port) as proxy:
        site.hold(after=20)
        with start_hurried(proxy.url(f"/site/{SIZE}/"), tmp_path) as crawl:
            wait_until(lambda: site.held() > 0)
            proxy.follow(fault)
            site.release()
            let_ten_minutes_pass(tmp_path)
            met = proxy.counts()
            proxy.behave()
            summary, events = end_of(crawl)
        origin = proxy.url("")
    assert summary["seconds"] > TEN_MINUTES
    assert (summary["ended"], summary["failed"]) == ("nothing left", 0)
    assert met.get(fault.value, 0) > 0 or "network_lost" in events, "it was met"
    assert "crawl_stalled" not in events, "waiting is no stall"
    bodies = {origin + page_path(SIZE, n): page_bytes(SIZE, n, origin) for n in range(SIZE)}
    assert_every_page_is_stored_once(tmp_path, bodies)


@pytest.mark.parametrize("names_are", [NamesAre.SERVFAIL, NamesAre.SILENT, NamesAre.NXDOMAIN])
def test_names_that_are_not_answered_for_ten_minutes_cost_nothing(
    tmp_path: Path, names_are: NamesAre
) -> None:
    if not OwnNetwork.can_be_made():
        pytest.skip("this kernel or user may not make a network namespace")
    world = Changing(SIZE)
    with (
        OwnNetwork({"site.test": "127.0.0.1"}) as network,
        WorldProcess(world, prefix=network.prefix) as site,
    ):
        url = f"http://site.test:{site.port}/"
        end_of(start_hurried(url, tmp_path, network.prefix, limits={"pages": 30}))
        # A connection is kept alive, and a name with it: this process has none yet.
        network.answer_names(names_are)
        before = network.asked()["site.test"]
        with start_hurried(url, tmp_path, network.prefix) as crawl:
            wait_until(lambda: network.asked()["site.test"] > before)
            let_ten_minutes_pass(tmp_path)
            asked = len(site.requests())
            network.answer_names(NamesAre.ANSWERED)
            summary, events = end_of(crawl)
        found = {record.path for record in site.requests() if record.status == 200}
    assert asked < SIZE
    assert (summary["ended"], summary["failed"], summary["retries"]) == ("nothing left", 0, 0)
    assert "network_lost" in events and "network_back" in events
    assert found >= world.truth(0).paths


def test_a_name_that_had_no_address_for_a_while_is_asked_for_again(tmp_path: Path) -> None:
    """Not only when the time is over for which libcurl remembers that it had none."""
    if not OwnNetwork.can_be_made():
        pytest.skip("this kernel or user may not make a network namespace")
    with (
        OwnNetwork({"site.test": "127.0.0.1"}) as network,
        WorldProcess(Changing(20), prefix=network.prefix) as site,
    ):
        url = f"http://site.test:{site.port}/"
        words = ["-w", str(tmp_path), "--allow-private", "127.0.0.1", "--rate", "100", "--json"]
        command = [*network.prefix, str(EXECUTABLE), "crawl", url, *words, "--no-extract"]
        env = environment({"CRAWL4R_RESILIENCE__PROBE_SECONDS": "0.2"})
        subprocess.run([*command, "--max-pages", "5"], check=True, capture_output=True, env=env)
        network.answer_names(NamesAre.NXDOMAIN)
        command += ["--forget", "max-pages"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=env, text=True) as crawl:
            wait_until(lambda: health_in(tmp_path).get("state") == "waiting for the network")
            network.answer_names(NamesAre.ANSWERED)
            out, _ = crawl.communicate(timeout=4 * PATIENCE)
    assert (json.loads(out)["pages"], json.loads(out)["retries"]) == (20, 0)


def test_a_host_that_refuses_connections_is_not_waited_for_as_a_network(tmp_path: Path) -> None:
    """Its machine answers, though by a refusal: a refresh ends by the host's own breaker."""
    if not OwnNetwork.can_be_made():
        pytest.skip("this kernel or user may not make a network namespace")
    with (
        OwnNetwork({"site.test": "127.0.0.1"}) as network,
        WorldProcess(Changing(5), prefix=network.prefix) as site,
    ):
        url = f"http://site.test:{site.port}/"
        words = ["-w", str(tmp_path), "--allow-private", "127.0.0.1", "--rate", "100", "--json"]
        command = [*network.prefix, str(EXECUTABLE), "crawl", url, *words, "--no-extract"]
        subprocess.run(command, check=True, capture_output=True, env=environment())
        env = environment(
            {
                "CRAWL4R_NETWORK__RESOLVE": json.dumps({"site.test": PUBLIC}),  # no server listens
                "CRAWL4R_FETCH__BACKOFF_BASE": "0.02",
                "CRAWL4R_FETCH__BACKOFF_CAP": "0.1",
                "CRAWL4R_POLITENESS__BREAKER_COOLDOWN": "0.1",
                "CRAWL4R_POLITENESS__BREAKER_GIVE_UP": "3",
            }
        )
        ended = subprocess.run(
            [*command, "--refresh", "--log-json"],
            check=False, capture_output=True, env=env, text=True, timeout=4 * PATIENCE,
        )  # fmt: skip
    assert (ended.returncode, json.loads(ended.stdout)["ended"]) == (3, "hosts given up")
    assert "network_lost" not in ended.stderr


def test_a_site_that_never_comes_back_keeps_its_urls_for_the_next_run(tmp_path: Path) -> None:
    """Time runs as always here; only the patience is short."""
    env = {
        "CRAWL4R_FETCH__TIMEOUT": "1",
        "CRAWL4R_FETCH__BACKOFF_BASE": "0.02",
        "CRAWL4R_FETCH__BACKOFF_CAP": "0.3",
        "CRAWL4R_POLITENESS__BREAKER_COOLDOWN": "0.1",
        "CRAWL4R_POLITENESS__BREAKER_GIVE_UP": "3",
        "CRAWL4R_RESILIENCE__PROBE_SECONDS": "0.2",
    }
    size = 80
    with SiteProcess() as site, FaultProxy(site.port) as proxy:
        start = proxy.url(f"/site/{size}/")
        words = ("--per-host", "4", "--no-extract", "--no-probe", "--json")
        arguments = ("crawl", start, "-w", tmp_path / "ws", *LOOPBACK, *words)
        site.hold(after=20)
        with Background(*arguments, env=env) as crawl:
            wait_until(lambda: site.held() > 0)
            proxy.follow(Fault.RESET)
            site.release()
            ended = crawl.end()
        assert (ended.code, ended.json["ended"]) == (3, "hosts given up")
        assert ended.json["failed"] == 0
        proxy.behave()
        answer = run(*arguments, env=env)
        assert (answer.code, answer.json["pages"]) == (0, size)
