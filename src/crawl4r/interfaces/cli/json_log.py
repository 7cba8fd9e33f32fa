"""`--log-json`: every line on stderr is a JSON object, also what libraries write there.

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
from crawl4r.interfaces.cli.output import say_text

OPTION = "--log-json"
_COMMANDS = frozenset(["crawl", "resume", "spool", "supervise"])  # those that have the option
_GROUPS = frozenset(["spool"])  # those whose option stands behind a second word
_BLOCK = 64 * 1024
_TO_END = 1.0  # seconds that the rest of the pipe may take at the end


def is_asked_for(arguments: Sequence[str]) -> bool:
    """Whether a command line asks for JSON lines: known before it is parsed, so that its errors are
    lines too."""
    return bool(arguments) and arguments[0] in _COMMANDS and OPTION in arguments


def with_option(arguments: Sequence[str]) -> list[str]:
    """The command line of a crawl that asks for JSON lines, too."""
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
        with contextlib.suppress(OSError):  # the reader went away, or its disk is full
            while left:
                left = left[os.write(self.fd, left) :]
        return len(text)


class _Said(TextIOBase):
    """In the place of sys.stderr: each line that is printed there becomes an event."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, lines: _Lines) -> None:
        self.lines = lines
        self._lock = threading.RLock()
        self._rest = ""  # of a line that has not ended yet

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with self._lock:
            *ended, self._rest = (self._rest + text).split("\n")
            for line in ended:
                self._tell(line)
        return len(text)

    def finish(self) -> None:
        """Nothing more comes: what has no end of a line gets one."""
        self.write("\n")

    def _tell(self, line: str) -> None:
        if line.strip():
            self.lines.write(json_line(events.SAID, text=line) + "\n")


def begin() -> None:
    """Make JSON lines of everything that this process says from now on."""
    stream = sys.__stderr__
    if stream is None:  # closed by the shell: `2>&-`
        return
    stream.flush()
    said = _Said(_Lines(os.dup(stream.fileno())))
    # Also what rich draws on, which goes past `sys.stderr`.
    sys.stderr = sys.__stderr__ = cast(TextIO, said)  # type: ignore[misc, assignment]
    sys.excepthook = _tell_crash
    atexit.register(said.finish)


def is_on() -> bool:
    return isinstance(sys.stderr, _Said)


def event_stream() -> TextIO | None:
    """Where events go as they are; None as long as stderr is for people."""
    return cast(TextIO, sys.stderr.lines) if isinstance(sys.stderr, _Said) else None


def descriptor() -> int | None:
    """The real stderr, for a process that writes JSON lines itself."""
    return sys.stderr.lines.fd if isinstance(sys.stderr, _Said) else None


def tell(event: str, level: int = logging.INFO, **fields: Any) -> None:
    """Say something that is no matter of a log level; nothing when stderr is for people."""
    if isinstance(sys.stderr, _Said):
        sys.stderr.lines.write(json_line(event, level, **fields) + "\n")


def complain(problem: str, code: int) -> None:
    """Say why a command ends with this exit code."""
    if is_on():
        tell(events.COMMAND_FAILED, logging.ERROR, problem=problem, code=code)
    else:
        say_text(f"crawl4r: {problem}", err=True)


class Descriptor:
    """Descriptor 2 as a pipe. Processes that are forked between `catch` and `read` write there too."""

    def __init__(self) -> None:
        self._ends: tuple[int, int] | None = None
        self._thread = threading.Thread(target=self._relay, name="stderr", daemon=True)

    def catch(self) -> None:
        """Nothing but lines of ours reaches the real stderr any more."""
        if is_on():
            self._ends = os.pipe()
            os.dup2(self._ends[1], 2)
            os.close(self._ends[1])

    def read(self) -> None:
        """Pass on what is caught. It takes a thread, so first fork what is to be forked."""
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
            os.dup2(real, 2)  # the last end to write into: the thread comes to the end of the pipe
        self._thread.join(_TO_END)


def _tell_crash(
    kind: type[BaseException], problem: BaseException, trace: TracebackType | None
) -> None:
    text = "".join(traceback.format_exception(kind, problem, trace))
    tell(events.COMMAND_FAILED, logging.CRITICAL, problem=repr(problem), code=1, traceback=text)
