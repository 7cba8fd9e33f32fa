"""`crawl4r check-policy`: tell whether a URL may be crawled, and by which rule."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from crawl4r.interfaces.cli.options import (
    json_option,
    open_for_reading,
    print_json,
    settings_for_reading,
    workspace_option,
)
from crawl4r.interfaces.cli.output import say
from crawl4r.urls.canonical import canonicalize, split, with_scheme, written_path
from crawl4r.urls.egress import AddressGate
from crawl4r.urls.robots import RobotsFile
from crawl4r.urls.scope import Scope

if TYPE_CHECKING:
    from crawl4r.settings.load import Settings
    from crawl4r.workspace.workspace import Workspace


@click.command("check-policy")
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@workspace_option
@click.option(
    "--robots",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Use this robots.txt.",
)
@click.option("--agent", help="Use this product token for robots.txt.  [default: crawlr]")
@click.option("--profile", help="Use a bundled configuration, e.g. github.")
@click.option(
    "--allow-private",
    multiple=True,
    metavar="CIDR_OR_HOST",
    help="Open the egress gate for a private network or host.",
)
@json_option
def command(
    urls: tuple[str, ...],
    workspace: Path,
    robots: Path | None,
    agent: str | None,
    profile: str | None,
    allow_private: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show whether a URL may be crawled, and which rule decides. Nothing is fetched.

    Uses the scope and the caps of the workspace's last crawl, if there is one, and the given or cached
    robots.txt. Prints a line for each URL. The exit code is 1 when one is denied.

    \b
    crawl4r check-policy https://github.com/login --profile github
    crawl4r check-policy https://example.org/a --robots robots.txt --agent mybot
    crawl4r check-policy https://example.org/a https://example.org/b -w docs
    """
    with contextlib.ExitStack() as stack:
        opened = None
        if (workspace / "state.db").exists():
            opened = stack.enter_context(open_for_reading(workspace))
        if opened is None or profile:
            settings = settings_for_reading(workspace, profile)
        else:
            settings = opened.settings
        policy = _Policy.of(settings, opened, robots, agent, allow_private)
        answers = [policy.decide(url) for url in urls]
    for answer in answers:
        if as_json:
            print_json(answer)
        else:
            words = _words_of(answer)
            say(f"{answer['url']} {words}" if len(urls) > 1 else words)
    denied = [answer for answer in answers if not answer["allowed"]]
    if denied:
        if len(urls) > 1 and not as_json:
            first = f"{denied[0]['url']} {_words_of(denied[0])}"
            say(f"crawl4r: {len(denied)} of {len(urls)} URLs are denied; {first}", err=True)
        sys.exit(1)


def _words_of(answer: dict[str, Any]) -> str:
    word = "allowed" if answer["allowed"] else "denied"
    return f"{word}: {answer['reason']} ({answer['rule']})"


class _Policy(Struct, frozen=True):
    """The rulings of all stages; with a robots.txt from the user, of that file alone."""

    settings: Settings
    opened: Workspace | None
    file: RobotsFile | None
    scope: Scope
    gate: AddressGate
    agents: tuple[str, ...]

    @classmethod
    def of(
        cls,
        settings: Settings,
        opened: Workspace | None,
        robots: Path | None,
        agent: str | None,
        allow_private: tuple[str, ...],
    ) -> _Policy:
        return cls(
            settings,
            opened,
            RobotsFile(robots.read_bytes()) if robots else None,
            Scope(settings.scope_rules(opened.scope_hosts() if opened and not robots else [])),
            AddressGate([*settings.network.allow_private, *allow_private]),
            (agent,) if agent else tuple(settings.robots_rules().agents),
        )

    def decide(self, url: str) -> dict[str, Any]:
        typed = with_scheme(url)
        canonical = canonicalize(typed, None, self.settings.scope.canonical())
        allowed, reason, rule = self._judge(canonical, written_path(typed, None, canonical))
        page_type = self.scope.judge(canonical).page_type
        return {
            "allowed": allowed,
            "reason": reason,
            "rule": rule,
            "url": canonical,
            "page_type": page_type,
        }

    def _judge(self, url: str, written: str) -> tuple[bool, str, str]:
        """Whether the URL may be crawled, the deciding stage and its rule, in the order of a crawl."""
        parts = split(url)
        ruling = self.scope.judge(url)
        if not ruling.admitted:
            return False, "out-of-scope", ruling.rule
        closed = self.gate.refusal(parts.host.strip("[]"), 80, parts.host)
        if closed and "is not an address" not in closed and self.file is None:
            return False, "egress-refused", closed
        file = self.file or self._cached_robots(parts.origin)
        word = file.judge_spellings(parts.path, written, self.agents) if file else None
        if word and not word.allowed:
            return False, "robots-denied", f"{word.rule} (line {word.line})"
        if self.opened and self.file is None:
            caps = {name: group.max for name, group in self.settings.limits.groups.items()}
            crawl = self.opened.parts.last_crawl()
            if reached := self.opened.report.cap_reached(crawl, url, ruling.groups, caps):
                return False, "capped", reached
        if word is None:
            return True, "scope", ruling.rule
        line = f" (line {word.line})" if word.line else ""
        return True, "robots-allowed", f"{word.rule}{line}"

    def _cached_robots(self, origin: str) -> RobotsFile | None:
        body = self.opened.robots_body(origin) if self.opened else None
        return RobotsFile(body) if body is not None else None
