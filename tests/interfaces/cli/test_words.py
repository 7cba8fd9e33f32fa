"""The commands that need no crawl: policy, canonical URLs, configuration, completion."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.interfaces.cli.running import LOOPBACK, run
from tests.site.process import SiteProcess

ROBOTS = """\
User-agent: *
Disallow: /private/
Allow: /private/open

User-agent: special
Disallow: /
"""


@pytest.fixture
def robots(tmp_path: Path) -> Path:
    file = tmp_path / "robots.txt"
    file.write_text(ROBOTS)
    return file


def check(url: str, robots: Path, agent: str = "anybot") -> dict[str, object]:
    answer = run("check-policy", url, "--robots", robots, "--agent", agent, "--json")
    policy: dict[str, object] = answer.json
    assert answer.code == (0 if policy["allowed"] else 1)
    assert {"allowed", "reason", "rule"} <= policy.keys()
    return policy


def test_check_policy_says_which_line_of_robots_decides(robots: Path) -> None:
    denied = check("https://example.org/private/a", robots)
    assert (denied["allowed"], denied["reason"]) == (False, "robots-denied")
    assert "/private/" in str(denied["rule"]) and "2" in str(denied["rule"])
    assert check("https://example.org/private/open", robots)["allowed"] is True
    assert check("https://example.org/public", robots)["allowed"] is True
    assert check("https://example.org/public", robots, "special")["allowed"] is False


def test_check_policy_speaks_to_people_too(robots: Path) -> None:
    answer = run("check-policy", "https://example.org/private/a", "--robots", robots)
    assert answer.text.startswith("denied: robots-denied")


def test_check_policy_knows_the_scope_of_a_profile_without_a_contact() -> None:
    answer = run("check-policy", "https://github.com/login", "--profile", "github", "--json")
    assert (answer.code, answer.json["allowed"], answer.json["reason"]) == (
        1,
        False,
        "out-of-scope",
    )


def test_check_policy_names_a_robots_file_that_is_not_there(tmp_path: Path) -> None:
    missing = tmp_path / "none.txt"
    answer = run("check-policy", "https://example.org/", "--robots", missing)
    assert answer.code == 2
    assert str(missing) in answer.err


def test_canonical_reads_and_writes_json_lines() -> None:
    questions = [
        {"url": "../c?utm_source=x&b=2&a=1#top", "base": "https://Example.org:443/a/b/"},
        {"url": "HTTP://EXAMPLE.org/%7Ea", "base": None},
        {"url": "mailto:a@example.org"},
        {"url": "http://[::1", "base": ""},
    ]
    answer = run("urls", "canonical", "--jsonl", stdin="\n".join(map(json.dumps, questions)))
    assert answer.code == 0
    assert [line.keys() for line in answer.lines] == [{"url", "canonical", "error"}] * 4
    assert [line["url"] for line in answer.lines] == [question["url"] for question in questions]
    assert [line["canonical"] for line in answer.lines] == [
        "https://example.org/a/c?a=1&b=2",
        "http://example.org/~a",
        None,
        None,
    ]
    assert [line["error"] for line in answer.lines] == [None, None, "scheme", "unparsable"]


def test_canonical_takes_arguments_too() -> None:
    answer = run("urls", "canonical", "HTTP://Example.org:80/a/../b?utm_source=x")
    assert (answer.code, answer.text) == (0, "http://example.org/b\n")
    assert run("urls", "canonical", "mailto:me@example.org").code == 2


@pytest.mark.parametrize("line", ["{", '"text"', "{}", '{"url": 3}', "[" * 100_000])
def test_a_bad_json_line_is_named_by_its_number(line: str) -> None:
    answer = run("urls", "canonical", "--jsonl", stdin='{"url": "http://a/"}\n' + line + "\n")
    assert answer.code == 2
    assert "line 2" in answer.err
    assert answer.lines[0]["canonical"] == "http://a/"


def test_configure_writes_a_file_that_a_crawl_obeys(site: SiteProcess, tmp_path: Path) -> None:
    url = site.url("/site/4/")
    written = run("configure", url, "-w", tmp_path, "--contact", "https://me.example/bot", "--json")
    assert (written.code, written.json) == (0, {"written": str(tmp_path / "crawl4r.yaml")})
    settings = yaml.safe_load((tmp_path / "crawl4r.yaml").read_text())
    assert settings["seeds"] == [url]
    before = len(site.requests())
    assert run("crawl", "-w", tmp_path, *LOOPBACK, "--json").json["pages"] == 4
    agents = {record.user_agent for record in site.requests()[before:]}
    assert len(agents) == 1 and "https://me.example/bot" in str(agents)


def test_configure_never_replaces_a_file_unasked(tmp_path: Path) -> None:
    file = tmp_path / "crawl4r.yaml"
    file.write_text("seeds: []\n")
    refused = run("configure", "https://example.org/", "-w", tmp_path)
    assert refused.code == 2
    assert str(file) in refused.err
    assert file.read_text() == "seeds: []\n"
    assert run("configure", "https://example.org/", "-w", tmp_path, "--force").code == 0
    assert "example.org" in file.read_text()


def test_configure_shows_what_is_in_force_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "crawl4r.yaml").write_text("politeness: {rate: 3}\n")
    shown = run(
        "configure", "-w", tmp_path, "--show", "--json", env={"CRAWL4R_LIMITS__PAGES": "7"}
    ).json
    assert (shown["politeness"]["rate"], shown["limits"]["pages"]) == (3, 7)
    as_yaml = yaml.safe_load(run("configure", "-w", tmp_path, "--show").text)
    assert as_yaml["politeness"]["rate"] == 3
    assert "github" in run("configure", "--profiles").text.split()
    assert [path.name for path in tmp_path.iterdir()] == ["crawl4r.yaml"]


@pytest.mark.parametrize("profile", ["github"])
def test_a_configured_profile_needs_its_contact_and_can_be_shown(
    tmp_path: Path, profile: str
) -> None:
    refused = run("configure", "-w", tmp_path, "--profile", profile)
    assert refused.code == 2
    assert "agent.contact" in refused.err
    contact = ("--contact", "me@example.org")
    assert run("configure", "-w", tmp_path, "--profile", profile, *contact).code == 0
    shown = run("configure", "-w", tmp_path, "--show", "--json").json
    assert shown["agent"]["contact"] == "me@example.org"
    assert shown["scope"]["hosts"] == ["github.com"]


def test_completion_is_a_script_the_shell_accepts() -> None:
    script = run("completion", "bash")
    assert script.code == 0
    subprocess.run(["bash", "-n"], input=script.out, check=True)
    words = {"COMP_WORDS": "crawl4r sta", "COMP_CWORD": "1"}
    completed = run(env={"_CRAWL4R_COMPLETE": "bash_complete", **words})
    assert "status" in completed.text
    assert run("completion", "tcsh").code == 2
