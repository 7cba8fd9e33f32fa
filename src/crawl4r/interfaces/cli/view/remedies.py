"""Options and advice for URLs that were not kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from crawl4r.discovery.links.link_judge import DEPTH
from crawl4r.interfaces.cli.view.format import our_name
from crawl4r.model import Verdict
from crawl4r.safe_text import command_line

if TYPE_CHECKING:
    from crawl4r.wiring.parts import Parts
    from crawl4r.workspace.run_outcome import RunOutcome

_OPENS = "would open it"  # the end of an egress refusal, which names the option
_SPOOL_COMMANDS = frozenset(["run", "discover", "scrape"])
_UNANSWERED = frozenset([Verdict.NETWORK_ERROR, Verdict.ROBOTS_UNREACHABLE])


def option_for(verdict: str, reason: str) -> str:
    """The option or setting that admits such URLs, or an empty string."""
    if verdict == Verdict.EGRESS_REFUSED and reason.endswith(_OPENS):
        return "--allow-private"
    if verdict == Verdict.CAPPED and reason.startswith(DEPTH):
        return "--depth"
    if verdict == Verdict.CAPPED and reason.startswith("cap of "):
        return "limits.groups"
    if verdict == Verdict.CAPPED and reason.startswith("trap: "):
        return "limits.traps"
    if verdict == Verdict.TOO_LARGE:
        return "fetch.max_bytes"
    return ""


def command_again(outcome: RunOutcome, parts: Parts) -> tuple[str, ...]:
    """The words of the command that continues a run, without its workspace."""
    if outcome.role == "crawl":
        has_others = len(parts.crawls.all()) > 1
        return ("resume", "--name", outcome.name) if has_others else ("resume",)
    context = click.get_current_context(silent=True)
    name = context.info_name if context else None
    return ("spool", name if name in _SPOOL_COMMANDS else outcome.role)


def advice_for(summary: dict[str, Any], again: tuple[str, ...]) -> str:
    """Advice for a crawl without a page, by the verdict that its problem names; may be empty.

    `again` are the words of the command that continues it.
    """
    endings = sorted(summary["endings"], key=lambda ending: -ending["urls"])
    named = (ending for ending in endings if f"{ending['verdict']}: " in summary["problem"])
    first = next(named, None)
    if first is None:
        return ""
    return _advice(first["verdict"], first["reason"], summary["workspace"], again)


def _advice(verdict: str, reason: str, workspace: str, again: tuple[str, ...]) -> str:
    if reason.endswith(_OPENS):
        return ""  # the reason tells what to do
    if "resolve host" in reason:
        return "check how the host is spelled"
    if verdict in _UNANSWERED:
        command = command_line(our_name(), *again, "--retry-failed", "-w", workspace)
        return f"when the host answers, try `{command}`"
    if verdict == Verdict.HTTP_ERROR:
        return "check the URL"
    option = option_for(verdict, reason)
    return f"change {option}" if option else ""
