"""Run a crawl from a terminal: signals, progress, summary, exit code."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from crawl4r import events
from crawl4r.errors import Crawl4rError, UsageError, WorkspaceBusy, WorkspaceError
from crawl4r.interfaces.cli import crawl_report, json_log, run_guest
from crawl4r.interfaces.cli.log_lines import set_up_logging
from crawl4r.interfaces.cli.options import open_for_reading
from crawl4r.interfaces.cli.output import draws_on_stderr, say_prose
from crawl4r.interfaces.cli.saved_options import (
    earlier_options,
    save_options,
    still_in_force,
    typed,
    with_passwords,
)
from crawl4r.interfaces.cli.typed_seeds import with_schemes
from crawl4r.processes.malloc import keep_freed_memory
from crawl4r.settings.load import FILE_NAME, SHORT_NAMES, Settings, load_settings, overrides_of
from crawl4r.wiring.crawl import make_readers_ahead
from crawl4r.workspace.run import CrawlRun
from crawl4r.workspace.workspace import Workspace

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
    stderr = _set_up_process(options)
    store = _SharedStore(path, urls or (), options) if begin is begin_crawl else None
    is_guest = store is not None and store.is_taken
    options = store.name_crawl() if store and is_guest else options
    # A crawl that begins beside others starts from no options.
    is_new = is_guest and not options["name"]
    noted = earlier_options(path, options.get("name"), is_discoverer=is_discoverer)
    earlier = {} if is_new else still_in_force(noted, options)
    in_force = {**options, **earlier}
    if not is_guest:
        make_readers_ahead(with_documents=in_force.get("extract") is not False)
    stderr.read()
    plain = partial(load_settings, profile=in_force.get("profile"), defaults=defaults)
    load, earlier = _with_options(plain, path, options, earlier)
    settings = load(path / FILE_NAME)

    async def crawl() -> int:
        wanted = () if urls is None else urls or settings.seeds
        seeds = await with_schemes(settings, wanted, path, as_json=options["log_json"])
        crawl_here = partial(_crawl, partial(begin, path, settings, seeds), load, in_force, earlier)
        if store is None:
            return await crawl_here(options)
        return await store.crawl(settings, seeds, (in_force, earlier), crawl_here)

    _exit_with(crawl, earlier)


def _exit_with(crawl: Callable[[], Coroutine[Any, Any, int]], earlier: Mapping[str, Any]) -> None:
    try:
        code = asyncio.run(crawl())
    except WorkspaceError:
        raise  # whatever the options are
    except UsageError as problem:
        raise _with_origin(problem, earlier) from problem
    if code:
        sys.exit(code)


def _set_up_process(options: Mapping[str, Any]) -> json_log.Descriptor:
    level = "info" if options["verbose"] else "warning"
    set_up_logging(level, as_json=options["log_json"], stream=json_log.event_stream())
    stderr = json_log.Descriptor()
    stderr.catch()
    keep_freed_memory()
    gc.freeze()  # loaded modules stay, so the collector can skip them
    return stderr


class _SharedStore:
    """A store in which another process may crawl: then that process runs this crawl too."""

    def __init__(self, path: Path, urls: tuple[str, ...], options: dict[str, Any]) -> None:
        self._path = path
        self._urls = urls
        self._options = options
        self.is_taken = run_guest.is_taken(path)

    def name_crawl(self) -> dict[str, Any]:
        """The options with the name of the crawl that goes on; without a name a new one begins."""
        meant = run_guest.crawl_meant(self._path, self._options["name"], self._urls)
        self._options = {**self._options, "name": meant.name if meant else self._options["name"]}
        return self._options

    async def crawl(
        self,
        settings: Settings,
        seeds: tuple[str, ...],
        told: tuple[dict[str, Any], dict[str, Any]],
        crawl_here: Callable[[dict[str, Any]], Awaitable[int]],
    ) -> int:
        """Crawl as a guest as long as another process has the store, and else here."""
        options, in_force = self._options, told[0]
        guest = run_guest.GuestRun(self._path, settings, options, in_force)
        has_told = False
        while True:
            if run_guest.is_taken(self._path):
                if not has_told:
                    crawl_report.tell_start(options, settings, self._path, told[1])
                    run_guest.tell_host(self._path, options)
                    has_told = True
                outcome = await guest.follow(seeds)
                if outcome:
                    with open_for_reading(self._path) as opened:
                        return crawl_report.tell_end(options, outcome, settings, opened)
                if guest.was_stopped:
                    return guest.tell_left()
            elif guest.crawl:
                options = options | {
                    "name": str(guest.crawl),
                    "refresh": False,
                    "retry_failed": False,
                }
            try:
                return await crawl_here(options)
            except WorkspaceBusy:
                if has_told:  # the process that crawled here makes its pages searchable
                    await run_guest.is_left(self._path)
                elif not await run_guest.becomes_taken(self._path):
                    raise
                if not has_told and options["name"] is None:
                    self.name_crawl()


def _with_options(
    load: Callable[..., Settings], path: Path, options: Mapping[str, Any], earlier: dict[str, Any]
) -> tuple[Callable[[Path], Settings], dict[str, Any]]:
    """What loads settings with the options in force, and the earlier ones with their passwords."""
    if "proxies" in earlier:
        earlier = with_passwords(earlier, load(path / FILE_NAME).fetch.proxies.servers)
    return partial(load, remembered=_overrides(earlier), overrides=_overrides(options)), earlier


def _overrides(options: Mapping[str, Any]) -> dict[str, Any]:
    return overrides_of(**{name: options.get(name) for name in SHORT_NAMES})


def _with_origin(problem: UsageError, earlier: Mapping[str, Any]) -> UsageError:
    """The same error, with the remembered options that took part in it."""
    if not earlier:
        return problem
    return UsageError(
        f"{problem}\nIn force from the last crawl here: {typed(earlier)} ({crawl_report.CHANGE})"
    )


async def _crawl(
    start: Callable[[dict[str, Any]], tuple[Workspace, CrawlRun]],
    load: Callable[[Path], Settings],
    in_force: dict[str, Any],
    earlier: Mapping[str, Any],
    options: dict[str, Any],
) -> int:
    workspace, run = start(options)
    run.may_exit = True
    run.takes_guests = run.role == "crawl"
    async with workspace:
        save_options(workspace, in_force, run.record.id)
        crawl_report.tell_start(options, run.settings, workspace.home, earlier)
        talks = crawl_report.talks(options)
        shows = talks and not (options["verbose"] or options["log_json"])
        _handle_signals(run, workspace, load, draws=shows and draws_on_stderr())
        if shows:
            from crawl4r.interfaces.cli.view import live_progress  # noqa: PLC0415 - rich

            ended = await live_progress.show_progress(run, workspace, enabled=True)
        else:
            ended = await run.finish()
        return crawl_report.tell_end(options, run.outcome(ended), run.settings, workspace)


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
