"""`configure --profile github`, and then `crawl` with nothing but the workspace."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.github.crawling import CONTACT, PROFILE, SEEDS, rows_of
from tests.github.server import GithubSite
from tests.interfaces.cli.running import run


def test_a_crawl_begins_at_the_seeds_that_configure_wrote(
    github: GithubSite, tmp_path: Path
) -> None:
    written = run("configure", "-w", tmp_path, "--profile", "github", *CONTACT)
    assert written.code == 0
    file = tmp_path / "crawl4r.yaml"
    settings = yaml.safe_load(file.read_text())
    assert tuple(settings["seeds"]) == SEEDS
    # Where github.com is, in this test.
    file.write_text(yaml.safe_dump({**settings, "network": github.settings}))
    fast = {"CRAWL4R_POLITENESS__RATE": "0"}
    answer = run("crawl", "-w", tmp_path, "--depth", "0", "--json", env=fast)
    assert (answer.code, answer.json["pages"]) == (0, 2), answer.err
    assert set(SEEDS) <= rows_of(tmp_path).keys()


def test_seeds_that_are_given_replace_those_of_the_profile(tmp_path: Path) -> None:
    seed = "https://github.com/a/b"
    run("configure", seed, "-w", tmp_path, "--profile", "github", *CONTACT)
    assert yaml.safe_load((tmp_path / "crawl4r.yaml").read_text())["seeds"] == [seed]


def test_a_crawl_by_the_profile_does_not_add_its_seeds(tmp_path: Path) -> None:
    answer = run("crawl", "-w", tmp_path, *PROFILE)
    assert answer.code == 2
    assert "nothing to crawl" in answer.err


def test_configure_refuses_a_seed_that_could_never_be_crawled(tmp_path: Path) -> None:
    for seed, reason in [
        ("mailto:x", "only http:// and https://"),
        ("http://./", "names no host"),
        ("http://me:hunter2@e.org/", "fetch.auth"),
    ]:
        answer = run("configure", seed, "-w", tmp_path)
        assert (answer.code, answer.out) == (2, b"")
        assert reason in answer.err
        assert "hunter2" not in answer.err
    denied = run(
        "configure", "https://github.com/login", "-w", tmp_path, "--profile", "github", *CONTACT
    )
    assert denied.code == 2
    assert "https://github.com/login is out of scope: deny " in denied.err
    assert not (tmp_path / "crawl4r.yaml").exists()
