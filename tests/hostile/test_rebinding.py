"""DNS answers that change between check and connect: the address judged is the one connected to."""

import json
import shutil
import subprocess
import sys
from typing import Any

import pytest

from tests.site.process import REPOSITORY

NAMESPACES = ["unshare", "--net", "--mount"]


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    """What the crawls in a network of their own found (see rebound.py)."""
    if not shutil.which("unshare") or subprocess.run([*NAMESPACES, "true"], check=False).returncode:
        pytest.skip("this kernel or user may not make a network namespace")
    command = [*NAMESPACES, sys.executable, "-m", "tests.hostile.rebound"]
    child = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False
    )
    assert child.returncode == 0, child.stderr
    answer: dict[str, Any] = json.loads(child.stdout)
    return answer


def test_no_connection_ever_reached_a_private_address(report: dict[str, Any]) -> None:
    assert report["private_visits"] == 0


def test_a_name_is_crawled_while_it_is_public_and_refused_once_it_is_private(
    report: dict[str, Any],
) -> None:
    assert report["asked"]["changes.test"] >= 2
    assert report["verdicts"]["http://changes.test/"] == "ok"
    assert report["verdicts"]["http://changes.test:8080/"] == "egress-refused"
    assert report["again"] == {"http://changes.test/": "egress-refused"}
    assert report["public_visits"] >= 2  # robots.txt and the page


def test_the_private_one_of_two_addresses_is_never_fallen_back_to(report: dict[str, Any]) -> None:
    assert report["verdicts"]["http://both.test/"] in {"robots-unreachable", "egress-refused"}


def test_a_name_with_a_public_and_a_private_address_may_end_either_way_but_not_inside(
    report: dict[str, Any],
) -> None:
    assert report["verdicts"]["http://both-ways.test/"] in {"ok", "egress-refused"}


def test_a_name_with_a_private_address_is_refused(report: dict[str, Any]) -> None:
    assert report["verdicts"]["http://private.test/"] == "egress-refused"
