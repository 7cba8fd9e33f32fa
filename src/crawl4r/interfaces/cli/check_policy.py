"""`crawl4r check-policy`: would this URL be crawled, and which rule says so?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crawl4r.interfaces.cli.options import json_option, print_json, workspace_option
from crawl4r.settings import FILE_NAME, Settings, load_settings
from crawl4r.urls.address import AddressGate
from crawl4r.urls.canonical import canonicalize, split, with_scheme
from crawl4r.urls.robots import RobotsFile
from crawl4r.urls.scope import Scope
from crawl4r.workspace import open_workspace


@click.command("check-policy")
@click.argument("url")
@workspace_option
@click.option(
    "--robots",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A robots.txt to ask.",
)
@click.option("--agent", help="Product token to ask for.  [default: crawlr]")
@click.option("--profile", help="Use a bundled configuration, e.g. github.")
@json_option
def command(
    url: str,
    workspace: Path,
    robots: Path | None,
    agent: str | None,
    profile: str | None,
    as_json: bool,
) -> None:
    """Say whether a URL may be crawled, with the rule that decides. Nothing is fetched.

    The scope is the workspace's, when there is one; robots.txt is the given file or the cached one.

    \b
    crawl4r check-policy https://github.com/login --profile github
    crawl4r check-policy https://example.org/a --robots robots.txt --agent mybot --json
    """
    overrides = {"agent": {"require_contact": False}}
    settings = load_settings(workspace / FILE_NAME, profile=profile, overrides=overrides)
    answer = _decide(url, settings, workspace, robots, agent)
    if as_json:
        print_json(answer)
    else:
        click.echo(
            f"{'allowed' if answer['allowed'] else 'denied'}: {answer['reason']} ({answer['rule']})"
        )


def _decide(
    url: str, settings: Settings, workspace: Path, robots: Path | None, agent: str | None
) -> dict[str, Any]:
    canonical = canonicalize(with_scheme(url), None, settings.scope.canonical())
    parts = split(canonical)
    agents = (agent,) if agent else tuple(settings.robots_rules().agents)
    file = RobotsFile(robots.read_bytes()) if robots else None
    cached, hosts = _from_workspace(workspace, parts.origin)
    ruling = Scope(settings.scope_rules([] if robots else hosts)).judge(canonical)
    if not ruling.admitted:
        return _answer(False, "out-of-scope", ruling.rule, canonical, ruling.page_type)
    closed = AddressGate(settings.network.allow_private).refusal(
        parts.host.strip("[]"), 80, parts.host
    )
    if closed and "is not an address" not in closed and robots is None:
        return _answer(False, "egress-refused", closed, canonical, ruling.page_type)
    file = file or cached
    if file is None:
        return _answer(True, "scope", ruling.rule, canonical, ruling.page_type)
    word = file.judge(parts.path, agents)
    rule = f"{word.rule} (line {word.line})" if word.line else word.rule
    reason = "robots-allowed" if word.allowed else "robots-denied"
    return _answer(word.allowed, reason, rule, canonical, ruling.page_type)


def _from_workspace(workspace: Path, origin: str) -> tuple[RobotsFile | None, list[str]]:
    """The cached robots.txt of an origin and the hosts of the seeds, where a crawl exists."""
    if not (workspace / "state.db").exists():
        return None, []
    with open_workspace(workspace, read_only=True) as opened:
        body = opened.robots_body(origin)
        return (RobotsFile(body) if body is not None else None), opened.scope_hosts()


def _answer(allowed: bool, reason: str, rule: str, url: str, page_type: str) -> dict[str, Any]:
    return {"allowed": allowed, "reason": reason, "rule": rule, "url": url, "page_type": page_type}
