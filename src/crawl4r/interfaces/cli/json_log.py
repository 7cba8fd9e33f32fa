"""`--log-json`: every line on stderr is a JSON object, including the output of libraries.

events ────────────────────────────────────────> lines as they are ──┐
prompts, errors, warnings ──> sys.stderr ──> an event `said` a line ──┼──> stderr
libraries in C or Rust ──> descriptor 2 ──> a pipe, read by a thread ─┘
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import sys
import threading
import traceback
from collections.abc import Sequence
from io import TextIOBase
from types import TracebackType
from typing import Any, TextIO, cast

from crawl4r import events
from crawl4r.interfaces.cli.log_lines import json_line
from crawl4r.interfaces.cli.output import say_prose

OPTION = "--log-json"
_COMMANDS = frozenset(["crawl", "resume", "spool", "supervise"])  # commands with the option
_GROUPS = frozenset(["spool"])  # commands whose option follows a sub-command
_BLOCK = 64 * 1024
_TO_END = 1.0  # seconds to drain the pipe at the end


def is_asked_for(arguments: Sequence[str]) -> bool:
    """Whether a command line has `--log-json`. Checked before parsing, so that parse errors are JSON
    too."""
    return bool(arguments) and arguments[0] in _COMMANDS and OPTION in arguments


def with_option(arguments: Sequence[str]) -> list[str]:
    """Whether the command line of a supervised crawl has `--log-json`."""
    words = list(arguments)
    if not is_asked_for(words):
        words.insert(2 if words[0] in _GROUPS else 1, OPTION)
    return words


class _Lines(TextIOBase):
    """Takes whole lines of JSON and writes each at once."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        left = memoryview(text.encode("utf-8", "backslashreplace"))
        with contextlib.suppress(OSError):  # the reader closed the pipe, or the disk is full
            while left:
                left = left[os.write(self.fd, left) :]
        return len(text)


class _Said(TextIOBase):
    """Replaces sys.stderr: each printed line becomes an event."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, lines: _Lines) -> None:
        self.lines = lines
        self._lock = threading.RLock()
        self._rest = ""  # of an incomplete line

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with self._lock:
            *ended, self._rest = (self._rest + text).split("\n")
            for line in ended:
                self._tell(line)
        return len(text)

    def finish(self) -> None:
        """Write out an incomplete last line."""
        self.write("\n")

    def _tell(self, line: str) -> None:
        if line.strip():
            self.lines.write(json_line(events.SAID, text=line) + "\n")


def begin() -> None:
    """Turn all further output of this process on stderr into JSON lines."""
    stream = sys.__stderr__
    if stream is None:  # closed by the shell: `2>&-`
        return
    stream.flush()
    said = _Said(_Lines(os.dup(stream.fileno())))
    # Also `sys.__stderr__`, on which rich draws.
    sys.stderr = sys.__stderr__ = cast(TextIO, said)  # type: ignore[misc, assignment]
    sys.excepthook = _tell_crash
    atexit.register(said.finish)


def is_on() -> bool:
    return isinstance(sys.stderr, _Said)


def event_stream() -> TextIO | None:
    """The stream for JSON events; None without `--log-json`."""
    return cast(TextIO, sys.stderr.lines) if isinstance(sys.stderr, _Said) else None


def descriptor() -> int | None:
    """The original stderr, for a child process that writes JSON lines itself."""
    return sys.stderr.lines.fd if isinstance(sys.stderr, _Said) else None


def tell(event: str, level: int = logging.INFO, **fields: Any) -> None:
    """Write an event regardless of the log level; does nothing without `--log-json`."""
    if isinstance(sys.stderr, _Said):
        sys.stderr.lines.write(json_line(event, level, **fields) + "\n")


def complain(problem: str, code: int) -> None:
    """Write the event with the reason for an exit code."""
    if is_on():
        tell(events.COMMAND_FAILED, logging.ERROR, problem=problem, code=code)
    else:
        say_prose(f"crawl4r: {problem}", err=True)


class Descriptor:
    """Descriptor 2 as a pipe. Processes forked between `catch` and `read` write there too."""

    def __init__(self) -> None:
        self._ends: tuple[int, int] | None = None
        self._thread = threading.Thread(target=self._relay, name="stderr", daemon=True)

    def catch(self) -> None:
        """Redirect descriptor 2 into the pipe, so that only JSON lines reach the original stderr."""
        if is_on():
            self._ends = os.pipe()
            os.dup2(self._ends[1], 2)
            os.close(self._ends[1])

    def read(self) -> None:
        """Start the thread that reads the pipe. Fork other processes before this call."""
        if self._ends:
            self._thread.start()
            atexit.register(self._end)

    def _relay(self) -> None:
        assert self._ends is not None
        rest = b""
        while block := os.read(self._ends[0], _BLOCK):
            *lines, rest = (rest + block).split(b"\n")
            self._tell(lines)
        self._tell([rest])

    def _tell(self, lines: Sequence[bytes]) -> None:
        for line in lines:
            if line.strip():
                tell(events.SAID, text=line.decode("utf-8", "backslashreplace"))

    def _end(self) -> None:
        real = descriptor()
        if real is not None:
            os.dup2(real, 2)  # closes the last write end, so the thread reaches the end of the pipe
        self._thread.join(_TO_END)


def _tell_crash(
    kind: type[BaseException], problem: BaseException, trace: TracebackType | None
) -> None:
    text = "".join(traceback.format_exception(kind, problem, trace))
    tell(events.COMMAND_FAILED, logging.CRITICAL, problem=repr(problem), code=1, traceback=text)
