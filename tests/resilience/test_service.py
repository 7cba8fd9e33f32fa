"""The unit for systemd: it is one, and it knows our exit codes."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from crawl4r.interfaces.cli import main
from crawl4r.resilience.restarts import reason_of
from tests.site.process import REPOSITORY

UNIT = REPOSITORY / "deploy" / "crawl4r.service"


def test_systemd_understands_the_unit() -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd is not installed")
    checked = subprocess.run(
        ["systemd-analyze", "verify", UNIT], capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


def test_it_restarts_after_the_exit_codes_that_supervise_restarts_after() -> None:
    (codes,) = re.findall(r"^RestartForceExitStatus=(.+)$", UNIT.read_text(), re.MULTILINE)
    assert {int(code) for code in codes.split()} == {code for code in range(64) if reason_of(code)}


def test_every_exit_code_is_documented() -> None:
    text = " ".join((main.__doc__ or "").split())
    assert re.findall(r"(?:: |; )(\d) ", text) == list("0123456")
