"""`crawl4r supervise`: start a crawl again when it stalls, leaks or is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from types import FrameType

import click

from crawl4r import events
from crawl4r.errors import UsageError
from crawl4r.interfaces.cli import json_log
from crawl4r.interfaces.cli.log_lines import set_up_logging
from crawl4r.processes.parent_death import end_with
from crawl4r.resilience.diagnostics import within
from crawl4r.resilience.restarts import Restarts, reason_of

_STOPS = frozenset([signal.SIGINT, signal.SIGTERM])
_PASSED_ON = (*_STOPS, signal.SIGHUP, signal.SIGUSR1)
# Options that put pages back into the queue once; a restart finds those pages there.
_ONCE = frozenset(["--refresh", "--retry-failed"])
_SPEECH = 2.0  # seconds that writing a log line may take


@click.command(
    "supervise",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option(
    "--max-restarts",
    type=click.IntRange(0),
    metavar="N",
    help="Give up after so many restarts in a row that each ran for less than ten minutes."
    "  [default: never]",
)
@click.option(
    "--backoff",
    type=click.FloatRange(0),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="Wait so long before the first restart; doubles with each in a row, up to ten minutes.",
)
@click.option(
    "--log-json", is_flag=True, help="Write only JSON lines to stderr, also from the crawl."
)
@click.argument("arguments", nargs=-1, required=True, type=click.UNPROCESSED, metavar="COMMAND...")
def command(
    max_restarts: int | None, backoff: float, log_json: bool, arguments: tuple[str, ...]
) -> None:
    """Run a crawl, and start it again when it stalls or dies.

    \b
    crawl4r supervise -- crawl https://example.org/ -w docs
    crawl4r supervise --max-restarts 20 -- spool run https://example.org/ -w docs

    Restarts the crawl after exit code 5 (stalled) or 6 (memory), or after a signal from another process
    killed it; the crawl then continues. Passes SIGINT, SIGTERM, SIGHUP and SIGUSR1 on to the crawl.
    After any other exit code it ends with that code: before code 4 the crawl has already waited for its
    store (resilience.store_patience).
    """
    if arguments[0] == "supervise":
        raise UsageError("`crawl4r supervise` does not supervise itself: give it a crawl to run")
    as_json = log_json or json_log.is_on()  # supervisor and crawl share one stderr
    set_up_logging("warning", as_json=as_json, stream=json_log.event_stream())
    words = json_log.with_option(arguments) if as_json else list(arguments)
    sys.exit(_Supervisor(Restarts(backoff, max_restarts)).run(words))


class _Supervisor:
    def __init__(self, restarts: Restarts) -> None:
        self._restarts = restarts
        self._child: subprocess.Popen[bytes] | None = None
        self._is_stopped = threading.Event()
        self._is_told_early = False  # a signal arrived before there was a child

    def run(self, arguments: list[str]) -> int:
        """Run and restart the crawl; returns its last exit code."""
        for number in _PASSED_ON:
            signal.signal(number, self._pass_on)
        while True:
            started = time.monotonic()
            code = self._run_once(arguments)
            wait = self._restarts.wait_after(code, time.monotonic() - started)
            if self._is_stopped.is_set() or wait is None:
                self._say_goodbye(code)
                return code if code >= 0 else 128 - code
            self._say(events.CRAWL_RESTARTED, code, after_s=round(wait, 1))
            if self._is_stopped.wait(wait):
                return code if code >= 0 else 128 - code
            arguments = [word for word in arguments if word not in _ONCE]

    def _run_once(self, arguments: list[str]) -> int:
        parent = os.getpid()
        self._child = subprocess.Popen(
            [sys.executable, "-m", "crawl4r", *arguments],
            # Only this process gets Ctrl-C and passes it on: a second one would mean "stop at once".
            process_group=0,
            stderr=json_log.descriptor(),
            preexec_fn=lambda: end_with(parent),  # noqa: PLW1509 - it takes no lock
        )
        if self._is_told_early:
            self._child.send_signal(signal.SIGTERM)
        try:
            return self._child.wait()
        finally:
            self._child = None

    def _pass_on(self, number: int, _: FrameType | None) -> None:
        if number in _STOPS:
            self._is_stopped.set()
            self._is_told_early = self._child is None
        if self._child:
            self._child.send_signal(number)

    def _say_goodbye(self, code: int) -> None:
        if reason_of(code) and not self._is_stopped.is_set():
            self._say(events.CRAWL_NOT_RESTARTED, code)

    def _say(self, event: str, code: int, **more: float) -> None:
        fields = {"reason": reason_of(code), "code": code, "restarts": self._restarts.total, **more}
        # The reader of the log may hang, which may be the reason for the stall of the crawl.
        within(_SPEECH, lambda: events.emit(event, 30, **fields), None)
