"""Run a crawl from a terminal: signals, progress, summary, exit code."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from crawl4r import events
from crawl4r.crawling.loop import EndedBy
from crawl4r.errors import Crawl4rError, UsageError, WorkspaceError
from crawl4r.interfaces.cli import json_log
from crawl4r.interfaces.cli.log_lines import set_up_logging
from crawl4r.interfaces.cli.options import print_json
from crawl4r.interfaces.cli.output import draws_on_stderr, say_prose
from crawl4r.interfaces.cli.saved_options import (
    earlier_options,
    save_options,
    saved_options,
    still_in_force,
    typed,
    with_passwords,
)
from crawl4r.interfaces.cli.typed_seeds import with_schemes
from crawl4r.interfaces.cli.view.remedies import advice_for, command_again
from crawl4r.interfaces.json.crawl_summary import summary_of
from crawl4r.processes.malloc import keep_freed_memory
from crawl4r.safe_text import visible
from crawl4r.settings.load import FILE_NAME, SHORT_NAMES, Settings, load_settings, overrides_of
from crawl4r.wiring.crawl import make_readers_ahead
from crawl4r.workspace.run import CrawlRun
from crawl4r.workspace.workspace import Workspace

_RESTARTED = {EndedBy.STALLED: 5, EndedBy.MEMORY: 6}  # codes for `supervise`
_WORK_LEFT = frozenset([EndedBy.STOPPED, EndedBy.HOSTS_GIVEN_UP])
_CHANGE = "name an option to change it, --forget NAME to drop it"


Begin = Callable[[Path, Settings, tuple[str, ...], dict[str, Any]], tuple[Workspace, CrawlRun]]


def begin_crawl(
    path: Path, settings: Settings, urls: tuple[str, ...], options: dict[str, Any]
) -> tuple[Workspace, CrawlRun]:
    workspace = Workspace(path, settings)
    return workspace, workspace.crawl(
        *urls,
        name=options.get("name"),
        refresh=options["refresh"],
        retry_failed=options["retry_failed"],
    )


def run_crawl(
    path: Path,
    urls: tuple[str, ...] | None,
    options: dict[str, Any],
    begin: Begin = begin_crawl,
    defaults: Mapping[str, Any] | None = None,
    *,
    is_discoverer: bool = False,
) -> None:
    """Crawl and exit with the documented code; `defaults` are settings of this kind of crawl.

    An option that this crawl does not name keeps its value from the last crawl of the workspace. `urls`
    is None for a crawl without seeds, which also ignores those of crawl4r.yaml.
    """
    level = "info" if options["verbose"] else "warning"
    set_up_logging(level, as_json=options["log_json"], stream=json_log.event_stream())
    stderr = json_log.Descriptor()
    stderr.catch()
    keep_freed_memory()
    gc.freeze()  # loaded modules stay, so the collector can skip them
    noted = earlier_options(path, options.get("name"), is_discoverer=is_discoverer)
    earlier = still_in_force(noted, options)
    in_force = {**options, **earlier}
    make_readers_ahead(with_documents=in_force.get("extract") is not False)
    stderr.read()
    load = partial(load_settings, profile=in_force.get("profile"), defaults=defaults)
    if "proxies" in earlier:
        earlier = with_passwords(earlier, load(path / FILE_NAME).fetch.proxies.servers)
    load = partial(load, remembered=_overrides(earlier), overrides=_overrides(options))
    settings = load(path / FILE_NAME)

    async def crawl() -> int:
        wanted = () if urls is None else urls or settings.seeds
        seeds = await with_schemes(settings, wanted, path, as_json=options["log_json"])
        start = partial(begin, path, settings, seeds, options)
        return await _crawl(start, load, in_force, earlier)

    try:
        code = asyncio.run(crawl())
    except WorkspaceError:
        raise  # whatever the options are
    except UsageError as problem:
        raise _with_origin(problem, earlier) from problem
    if code:
        sys.exit(code)


def _overrides(options: Mapping[str, Any]) -> dict[str, Any]:
    return overrides_of(**{name: options.get(name) for name in SHORT_NAMES})


def _with_origin(problem: UsageError, earlier: Mapping[str, Any]) -> UsageError:
    """The same error, with the remembered options that took part in it."""
    if not earlier:
        return problem
    return UsageError(f"{problem}\nIn force from the last crawl here: {typed(earlier)} ({_CHANGE})")


async def _crawl(
    start: Callable[[], tuple[Workspace, CrawlRun]],
    load: Callable[[Path], Settings],
    options: dict[str, Any],
    earlier: Mapping[str, Any],
) -> int:
    workspace, run = start()
    run.may_exit = True
    async with workspace:
        save_options(workspace, options, run.record.id)
        talks = not (options["quiet"] or options["as_json"])
        if talks:
            # Imported late: they load rich, which JSON output does not need.
            from crawl4r.interfaces.cli.view import banner, live_progress  # noqa: PLC0415

        if talks and not options["log_json"]:
            banner.print_banner(run, workspace)
            if earlier:
                say_prose(f"  from the last crawl here: {typed(earlier)}", err=True)
                say_prose(f"  ({_CHANGE})", err=True)
        elif options["log_json"] or not options["quiet"]:
            _log_banner(run, workspace, with_pace=talks)
        shows = talks and not (options["verbose"] or options["log_json"])
        _handle_signals(run, workspace, load, draws=shows and draws_on_stderr())
        if shows:
            ended = await live_progress.show_progress(run, workspace, enabled=True)
        else:
            ended = await run.finish()
        summary = summary_of(run, workspace, ended) | {
            "options": saved_options(workspace, run.record.id)
        }
        if options["as_json"]:
            print_json(summary)
        elif talks:
            banner.print_summary(run, workspace, summary)
        if summary["problem"]:
            _tell_problem(summary, command_again(run), as_json=options["log_json"])
        return exit_code_of(ended, summary)


def _log_banner(run: CrawlRun, workspace: Workspace, *, with_pace: bool) -> None:
    """Log the compliance banner: how this crawl presents itself to sites."""
    agent, pace = run.settings.agent, run.settings.politeness
    if with_pace:
        json_log.tell(
            events.CRAWL_PRESENTED,
            agent=agent.header,
            rate=pace.rate,
            per_host=pace.per_host,
            obeys_robots=pace.obey_robots,
            workspace=str(workspace.home),
        )
    if not agent.has_contact:
        events.emit(events.CONTACT_MISSING, 30, advice="add --contact URL_OR_ADDRESS")


def exit_code_of(ended: EndedBy, summary: dict[str, Any]) -> int:
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


def _handle_signals(
    run: CrawlRun, workspace: Workspace, load: Callable[[Path], Settings], *, draws: bool
) -> None:
    loop = asyncio.get_running_loop()
    asked = 0
    # A terminal prints `^C` at the cursor; redraw the line without it.
    start = "\n" if draws_on_stderr() and not draws else ""

    def stop() -> None:
        nonlocal asked
        asked += 1
        if run.seconds:  # after the last visit
            say_prose(f"{start}leaving what is not searchable yet for later", err=True)
            run.stop()
            run.stop_now()
        elif asked == 1:
            say_prose(f"{start}finishing the pages in flight; once more to stop at once", err=True)
            run.stop()
        else:
            run.stop_now()

    def dump_status() -> None:
        fields: dict[str, Any] = {}
        with contextlib.suppress(Crawl4rError):  # the store may be away
            fields["urls"] = workspace.report.counts()
        if run.reopening.problem:
            fields["waits_for"] = run.reopening.problem
        if run.crawl:
            fields |= {"in_flight": run.crawl.in_flight, "visits": run.crawl.progress.visits}
        events.emit(events.STATUS_DUMPED, 30, **fields)

    def reload() -> None:
        try:
            run.reload(load(run.control_folder / FILE_NAME))
        except Exception as problem:  # an invalid edit must not end a running crawl
            events.emit(events.SETTINGS_RELOADED, 40, problem=str(problem))
        else:
            events.emit(events.SETTINGS_RELOADED, 30)

    loop.add_signal_handler(signal.SIGINT, stop)
    loop.add_signal_handler(signal.SIGTERM, stop)
    loop.add_signal_handler(signal.SIGUSR1, dump_status)
    loop.add_signal_handler(signal.SIGHUP, reload)
