"""Sizes and durations as people write them, on the command line and in crawl4r.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawl4r.errors import SettingsError
from crawl4r.formats.units import bytes_of, seconds_of
from crawl4r.settings.load import load_settings
from tests.interfaces.cli.running import crawl, run
from tests.site.process import SiteProcess


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("5000", 5000), ("10MB", 10_000_000), ("10 mb", 10_000_000), ("1KiB", 1024)]
    + [("1.5GiB", 1536 * 1024**2), ("2K", 2048), ("1GB", 10**9), ("7B", 7), ("1T", 1024**4)],
)
def test_a_size_has_a_unit_or_is_of_bytes(text: str, size: int) -> None:
    assert bytes_of(text) == size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("45", 45),
        ("1.5", 1.5),
        ("90s", 90),
        ("10m", 600),
        ("1h30m", 5400),
        ("2d", 172_800),
    ]
    + [("500ms", 0.5), ("1 h 5 min", 3900), ("1W", 604_800)],
)
def test_a_duration_has_a_unit_or_is_of_seconds(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "MB", "-1", "ten", "10XB", "1.5", "10MBs", "1e3", "٣", "10 M B"]
)
def test_what_is_no_size(text: str) -> None:
    assert bytes_of(text) is None


@pytest.mark.parametrize("text", ["", "m", "-1m", "ten", "10x", "10m!", "1h nothing", "٣m"])
def test_what_is_no_duration(text: str) -> None:
    assert seconds_of(text) is None


def test_settings_take_units(tmp_path: Path) -> None:
    file = tmp_path / "crawl4r.yaml"
    file.write_text("limits: {bytes: 10MB, seconds: 10m}\nfetch: {max_bytes: 1MiB, timeout: 5s}\n")
    settings = load_settings(file, environment={"CRAWL4R_POLITENESS__ROBOTS_TTL": "2h"})
    assert (settings.limits.bytes, settings.limits.seconds) == (10_000_000, 600.0)
    assert (settings.fetch.max_bytes, settings.fetch.timeout) == (1024**2, 5.0)
    assert settings.politeness.robots_ttl == 7200.0


def test_a_setting_that_is_no_size_says_what_is_one() -> None:
    with pytest.raises(SettingsError, match=r"limits.bytes: must be a number of bytes.*10MB"):
        load_settings(environment={}, overrides={"limits": {"bytes": "ten"}})
    with pytest.raises(SettingsError, match=r"fetch.timeout: must be a number of seconds.*10m"):
        load_settings(environment={}, overrides={"fetch": {"timeout": "long"}})


def test_options_take_units(tmp_path: Path) -> None:
    with SiteProcess() as site:
        told = ("--max-bytes", "1KB", "--max-seconds", "10m")
        answer = crawl(site.url("/site/40/"), tmp_path, *told)
    assert (answer.code, answer.json["ended"]) == (0, "max bytes")
    for option, word in [("--max-bytes", "10XB"), ("--max-seconds", "long")]:
        answer = run("crawl", "http://127.0.0.1:1/", "-w", tmp_path, option, word)
        assert answer.code == 2
        assert option in answer.err
        assert word in answer.err.splitlines()[-1]
