"""Run separated mode from a terminal: either side, or both."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from crawl4r.errors import Crawl4rError, WorkspaceError
from crawl4r.interfaces.cli import json_log
from crawl4r.interfaces.cli.output import say
from crawl4r.interfaces.cli.run_crawl import run_crawl
from crawl4r.processes.parent_death import end_with
from crawl4r.safe_text import command_line
from crawl4r.settings.load import Settings
from crawl4r.storage.lock import holder_of
from crawl4r.wiring.parts import discoverer_folder, spool_folder
from crawl4r.wiring.spool import shared_budgets
from crawl4r.workspace.run import CrawlRun
from crawl4r.workspace.separated_run import DiscoverRun, ScrapeRun
from crawl4r.workspace.workspace import Workspace

# Separated mode is for operators and analysts: it writes CSV by default.
_DEFAULTS = {"logs": {"enabled": True}}


def run_discover(path: Path, urls: tuple[str, ...], options: dict[str, Any]) -> None:
    run_crawl(path, urls, options, _begin_discover, _DEFAULTS, is_discoverer=True)


def run_scrape(
    path: Path,
    options: dict[str, Any],
    expects_more: Callable[[], bool],
    *,
    has_discoverer: bool = False,
) -> None:
    """`expects_more`: wait even if no discoverer runs. `has_discoverer`: a discoverer with the same
    options runs too, and chooses the revisits for both."""
    if not expects_more() and not spool_folder(path).exists() and not options["refresh"]:
        discover = command_line("crawl4r", "spool", "discover", "URL", "--workspace", path)
        raise WorkspaceError(
            f"there is no spool in {path}; start one with `{discover}`, or wait for one with --follow"
        )

    def begin(
        path: Path, settings: Settings, urls: tuple[str, ...], options: dict[str, Any]
    ) -> tuple[Workspace, CrawlRun]:
        workspace = Workspace(path, settings)
        is_told = has_discoverer and settings.limits.revisits is not None
        return workspace, ScrapeRun(
            workspace.parts,
            settings,
            shared_budgets(path, settings),
            expects_more=expects_more,
            refresh=options["refresh"] and not is_told,
            retry_failed=options["retry_failed"],
            reopen=workspace.reopen,
        )

    run_crawl(path, None, options, begin, _DEFAULTS)


def run_both(path: Path, urls: tuple[str, ...], options: dict[str, Any]) -> None:
    """Discover in a second process and scrape in this one. Exits with the worse code of both."""
    if (running := holder_of(discoverer_folder(path))) is not None:
        say(f"process {running} discovers here already; fetching what it finds", err=True)
        run_scrape(path, options, lambda: False)
        return
    child = _Child(path, urls, {**options, "quiet": True, "as_json": False})
    try:
        run_scrape(path, options, child.is_running, has_discoverer=True)
    finally:
        child.end()
    if child.code:
        say("the discoverer did not finish: run the same command again to go on", err=True)
        sys.exit(child.code)


def _begin_discover(
    path: Path, settings: Settings, urls: tuple[str, ...], options: dict[str, Any]
) -> tuple[Workspace, CrawlRun]:
    workspace = Workspace(discoverer_folder(path), settings, home=path)
    return workspace, DiscoverRun(
        workspace.parts,
        settings,
        urls,
        shared_budgets(path, settings),
        workspace=path,
        refresh=options["refresh"],
        retry_failed=options["retry_failed"],
        reopen=workspace.reopen,
    )


class _Child:
    """A discoverer in a second process. It always ends with this process."""

    def __init__(self, path: Path, urls: tuple[str, ...], options: dict[str, Any]) -> None:
        self.code = 0
        parent = os.getpid()
        self._pid: int | None = os.fork()  # before any thread or event loop starts
        if self._pid == 0:
            end_with(parent)
            os._exit(_exit_code_of(lambda: run_discover(path, urls, options)))

    def is_running(self) -> bool:
        self._look(os.WNOHANG)
        return self._pid is not None

    def end(self) -> None:
        """Stop it after its pages in flight."""
        if self.is_running() and self._pid is not None:
            os.kill(self._pid, signal.SIGTERM)
            self._look(0)

    def _look(self, flags: int) -> None:
        if self._pid is None:
            return
        pid, status = os.waitpid(self._pid, flags)
        if pid:
            self._pid = None
            self.code = os.waitstatus_to_exitcode(status)
            if self.code < 0:
                self.code = 128 - self.code


def _exit_code_of(work: Callable[[], None]) -> int:
    """Run like `main`, in a forked process that must not return to it."""
    try:
        work()
    except SystemExit as leaving:
        return int(leaving.code or 0)
    except Crawl4rError as problem:
        json_log.complain(str(problem), problem.exit_code)
        return problem.exit_code
    except BaseException:
        traceback.print_exc()
        return 1
    return 0
