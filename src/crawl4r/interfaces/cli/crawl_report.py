"""What a terminal or a log is told of a crawl: how it presents itself, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crawl4r import events
from crawl4r.crawling.loop import EndedBy
from crawl4r.interfaces.cli import json_log
from crawl4r.interfaces.cli.options import print_json
from crawl4r.interfaces.cli.output import say_prose
from crawl4r.interfaces.cli.saved_options import saved_options, typed
from crawl4r.interfaces.cli.view.remedies import advice_for, command_again
from crawl4r.interfaces.json.crawl_summary import summary_of
from crawl4r.safe_text import visible
from crawl4r.settings.load import Settings
from crawl4r.workspace.reader import WorkspaceReader
from crawl4r.workspace.run_outcome import RunOutcome

CHANGE = "name an option to change it, --forget NAME to drop it"
_RESTARTED = {EndedBy.STALLED: 5, EndedBy.MEMORY: 6}  # codes for `supervise`
_WORK_LEFT = frozenset([EndedBy.STOPPED, EndedBy.HOSTS_GIVEN_UP])


def talks(options: Mapping[str, Any]) -> bool:
    return not (options["quiet"] or options["as_json"])


def tell_start(
    options: Mapping[str, Any], settings: Settings, home: Path, earlier: Mapping[str, Any]
) -> None:
    """Tell how the crawl presents itself to sites, and which options are in force from before."""
    if talks(options) and not options["log_json"]:
        # Imported late: it loads rich, which JSON output does not need.
        from crawl4r.interfaces.cli.view.banner import print_banner  # noqa: PLC0415

        print_banner(settings, home)
        if earlier:
            say_prose(f"  from the last crawl here: {typed(earlier)}", err=True)
            say_prose(f"  ({CHANGE})", err=True)
    elif options["log_json"] or not options["quiet"]:
        _log_start(settings, home, with_pace=talks(options))


def tell_end(
    options: Mapping[str, Any], outcome: RunOutcome, settings: Settings, workspace: WorkspaceReader
) -> int:
    """Tell what the crawl did; the exit code."""
    summary = summary_of(outcome, workspace) | {"options": saved_options(workspace, outcome.crawl)}
    if options["as_json"]:
        print_json(summary)
    elif talks(options):
        from crawl4r.interfaces.cli.view.banner import print_summary  # noqa: PLC0415

        print_summary(outcome, settings, workspace, summary)
    if summary["problem"]:
        again = command_again(outcome, workspace.parts)
        _tell_problem(summary, again, as_json=options["log_json"])
    return _exit_code_of(outcome.ended, summary)


def _log_start(settings: Settings, home: Path, *, with_pace: bool) -> None:
    agent, pace = settings.agent, settings.politeness
    if with_pace:
        json_log.tell(
            events.CRAWL_PRESENTED,
            agent=agent.header,
            rate=pace.rate,
            per_host=pace.per_host,
            obeys_robots=pace.obey_robots,
            workspace=str(home),
        )
    if not agent.has_contact:
        events.emit(events.CONTACT_MISSING, 30, advice="add --contact URL_OR_ADDRESS")


def _exit_code_of(ended: EndedBy, summary: dict[str, Any]) -> int:
    """The exit code; see `main`. Reaching a requested limit is a success."""
    if ended in _RESTARTED:
        return _RESTARTED[ended]
    if ended in _WORK_LEFT and summary["pending"]:
        return 3
    return 1 if summary["problem"] else 0


def _tell_problem(summary: dict[str, Any], again: tuple[str, ...], *, as_json: bool) -> None:
    """Print the reason of a failure as the last line."""
    problem = summary["problem"]
    if as_json:
        events.emit(events.CRAWL_FAILED, 40, problem=problem)
        return
    advice = advice_for(summary, again)
    say_prose(visible(f"crawl4r: {problem}" + (f" ({advice})" if advice else "")), err=True)
