"""Running a crawl from a terminal: signals, progress, summary, exit code."""

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
from crawl4r.app import make_readers_ahead
from crawl4r.crawl import EndedBy
from crawl4r.crawl_run import CrawlRun
from crawl4r.errors import Crawl4rError
from crawl4r.interfaces.cli import json_log
from crawl4r.interfaces.cli.options import print_json
from crawl4r.interfaces.cli.output import say_text
from crawl4r.interfaces.cli.saved import save_options
from crawl4r.interfaces.cli.summary import summary_of
from crawl4r.resilience.allocator import keep_freed_memory
from crawl4r.settings import FILE_NAME, SHORT_NAMES, Settings, load_settings, overrides_of
from crawl4r.workspace import Workspace

_LIMITS = frozenset([EndedBy.MAX_PAGES, EndedBy.MAX_BYTES, EndedBy.MAX_SECONDS])
_RESTARTED = {EndedBy.STALLED: 5, EndedBy.MEMORY: 6}  # by whoever looks after it: `supervise`
_WORK_LEFT = frozenset([EndedBy.STOPPED, EndedBy.HOSTS_GIVEN_UP])


Begin = Callable[[Path, Settings, tuple[str, ...], dict[str, Any]], tuple[Workspace, CrawlRun]]


def begin_crawl(
    path: Path, settings: Settings, urls: tuple[str, ...], options: dict[str, Any]
) -> tuple[Workspace, CrawlRun]:
    workspace = Workspace(path, settings)
    return workspace, workspace.crawl(
        *urls, refresh=options["refresh"], retry_failed=options["retry_failed"]
    )


def run_crawl(
    path: Path,
    urls: tuple[str, ...],
    options: dict[str, Any],
    begin: Begin = begin_crawl,
    defaults: Mapping[str, Any] | None = None,
) -> None:
    """Crawl and leave with the documented exit code; `defaults` are settings of this kind of crawl."""
    level = "info" if options["verbose"] else "warning"
    events.set_up_logging(level, as_json=options["log_json"], stream=json_log.event_stream())
    stderr = json_log.Descriptor()
    stderr.catch()
    keep_freed_memory()
    gc.freeze()  # what is loaded stays: the collector need not look through it, least of all at the end
    make_readers_ahead(with_documents=options.get("extract") is not False)
    stderr.read()
    named = {name: options.get(name) for name in SHORT_NAMES}
    load = partial(
        load_settings,
        profile=options.get("profile"),
        overrides=overrides_of(**named),
        defaults=defaults,
    )
    settings = load(path / FILE_NAME)
    start = partial(begin, path, settings, urls, options)
    code = asyncio.run(_crawl(start, load, named, options))
    if code:
        sys.exit(code)


async def _crawl(
    start: Callable[[], tuple[Workspace, CrawlRun]],
    load: Callable[[Path], Settings],
    named: dict[str, Any],
    options: dict[str, Any],
) -> int:
    workspace, run = start()
    run.may_exit = True
    async with workspace:
        save_options(workspace, {**named, "profile": options.get("profile")})
        talks = not (options["quiet"] or options["as_json"])
        if talks:
            # Only now: they load rich, and a script that reads JSON needs none of it.
            from crawl4r.interfaces.cli import progress, talking  # noqa: PLC0415

        if talks and not options["log_json"]:
            talking.print_banner(run, workspace)
        else:
            _log_banner(run, workspace, with_pace=talks)
        _handle_signals(run, workspace, load)
        if talks and not options["verbose"]:
            ended = await progress.show_progress(run, enabled=True)
        else:
            ended = await run.finish()
        summary = summary_of(run, workspace, ended)
        if options["as_json"]:
            print_json(summary)
        elif talks:
            talking.print_summary(summary)
        return exit_code_of(ended, summary)


def _log_banner(run: CrawlRun, workspace: Workspace, *, with_pace: bool) -> None:
    """The compliance banner in a log: how this crawl presents itself to the sites."""
    agent, pace = run.settings.agent, run.settings.politeness
    if with_pace:
        json_log.tell(
            events.CRAWL_PRESENTED,
            agent=agent.header,
            rate=pace.rate,
            per_host=pace.per_host,
            obeys_robots=pace.obey_robots,
            workspace=str(workspace.path),
        )
    if not agent.has_contact:
        events.emit(events.CONTACT_MISSING, 30, advice="add --contact URL_OR_ADDRESS")


def exit_code_of(ended: EndedBy, summary: dict[str, Any]) -> int:
    """A limit that was asked for and reached is a success; see `main` for the codes."""
    if ended in _LIMITS:
        return 0
    if ended in _RESTARTED:
        return _RESTARTED[ended]
    if ended in _WORK_LEFT and summary["pending"]:
        return 3
    has_nothing_to_do = summary["known"] == 0  # a scraper whose spool is empty
    return 0 if summary["pages"] or has_nothing_to_do else 1


def _handle_signals(run: CrawlRun, workspace: Workspace, load: Callable[[Path], Settings]) -> None:
    loop = asyncio.get_running_loop()
    asked = 0

    def stop() -> None:
        nonlocal asked
        asked += 1
        if asked == 1:
            say_text("\nfinishing the pages in flight; once more to stop at once", err=True)
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
        except Exception as problem:  # a bad edit must not end a crawl that runs well
            events.emit(events.SETTINGS_RELOADED, 40, problem=str(problem))
        else:
            events.emit(events.SETTINGS_RELOADED, 30)

    loop.add_signal_handler(signal.SIGINT, stop)
    loop.add_signal_handler(signal.SIGTERM, stop)
    loop.add_signal_handler(signal.SIGUSR1, dump_status)
    loop.add_signal_handler(signal.SIGHUP, reload)
