"""Print text: all output of a command passes through this module or `screen`.

Both escape untrusted text (`crawl4r.safe_text`), on a terminal and in a pipe, because piped output may
reach a terminal later. Files that a command writes keep the exact characters.

Only a terminal gets line breaks at its width (`view.prose`): in what `say`, `say_prose`, `say_markdown`
and `say_coloured` print. The other functions print lines as they are.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

import click

from crawl4r.clock import with_iso_times
from crawl4r.errors import UsageError
from crawl4r.interfaces.cli.view.prose import laid_out, wrapped, wrapped_markdown
from crawl4r.safe_text import json_text, visible, visible_text

_ANSWERS = " [y/N]:"
_USUAL_COLUMNS = 80  # of a terminal that does not tell


class _VisibleStream(TextIOWrapper):
    """Escapes text that bypasses this module: tracebacks, warnings, logs of libraries."""

    def write(self, text: str) -> int:
        super().write(visible_text(text))
        return len(text)


def guard_streams() -> None:
    """Guard `sys.stdout` and `sys.stderr`; `sys.__stdout__` and `sys.__stderr__` stay unchanged.

    Neither object buffers, so their lines arrive in the order of writing.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, TextIOWrapper):  # closed by the shell: `>&-`
            continue
        # Click would bypass an ASCII stream to write UTF-8.
        encoding = "utf-8" if stream.encoding.lower() in {"ascii", "us-ascii"} else stream.encoding
        stream.reconfigure(encoding=encoding, errors="backslashreplace", write_through=True)
        guarded = _VisibleStream(
            stream.buffer,
            encoding=encoding,
            errors="backslashreplace",
            line_buffering=stream.line_buffering,
            write_through=True,
        )
        setattr(sys, name, guarded)


def say(line: str = "", *, err: bool = False) -> None:
    """Print one line; a line break in it appears as `\\n`."""
    stream = sys.stderr if err else sys.stdout
    _write(_for_screen(visible(line), stream, wrapped) + "\n", stream)


def say_prose(text: str, *, err: bool = False, colour: str | None = None) -> None:
    """Print sentences of ours, of any number of lines, in a colour if stdout is a terminal."""
    shown = _for_screen(visible_text(text), sys.stderr if err else sys.stdout, laid_out)
    say_text(shown, err=err, colour=colour)


def say_markdown(text: str) -> None:
    """Print the markdown of a page."""
    say_text(_for_screen(visible_text(text), sys.stdout, wrapped_markdown))


def say_coloured(line: str, colour: str | None) -> None:
    """Print one line of a page's text, in a colour if stdout is a terminal."""
    say_text(_for_screen(visible_text(line), sys.stdout, wrapped), colour=colour)


def say_command(command: str) -> None:
    """Print a command on a line of its own, which only the terminal breaks."""
    _write(f"  {visible(command)}\n", sys.stdout)


def say_row(*cells: object) -> None:
    """Print cells separated by tabs; a tab inside a cell appears as `\\t`."""
    _write("\t".join(visible(str(cell)) for cell in cells) + "\n", sys.stdout)


def say_text(text: str, *, err: bool = False, end: str = "\n", colour: str | None = None) -> None:
    """Print a text of any number of lines, in a colour if stdout is a terminal."""
    shown = visible_text(text)
    if colour and _is_coloured():
        _write(click.style(shown, fg=colour) + end, sys.__stdout__)
    else:
        _write(shown + end, sys.stderr if err else sys.stdout)


def draws_on_stderr() -> bool:
    """Whether stderr is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def print_json(value: Any) -> None:
    """Print a value as one line of JSON, with ISO times."""
    _write(json_text(with_iso_times(value)) + "\n", sys.stdout)


def write_bytes(body: bytes) -> None:
    """Write exactly these bytes to stdout. Raises UsageError if they could harm a terminal."""
    if sys.stdout is None:
        return
    if sys.stdout.isatty() and not _is_harmless(body):
        raise UsageError(
            "these bytes are not plain text and could take over your terminal:"
            " write them to a file (> FILE) or into another program (| less)"
        )
    sys.stdout.buffer.write(body)
    sys.stdout.flush()


def write_file(path: Path) -> None:
    """Copy a file of any size to stdout, which must not be a terminal."""
    if sys.stdout is None:
        return
    with path.open("rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.flush()


def refuse_terminal(advice: str) -> None:
    """Raise UsageError when stdout is a terminal."""
    if sys.stdout is not None and sys.stdout.isatty():
        raise UsageError(f"this is for a file or another program, not for a terminal: {advice}")


def confirm(question: str, *, err: bool = False) -> None:
    """Ask a yes-or-no question. Any answer except yes ends the command."""
    stream = sys.stderr if err else sys.stdout
    shown = _for_screen(visible(question) + _ANSWERS, stream, wrapped)
    click.confirm(shown, abort=True, err=err, show_default=False, prompt_suffix=" ")


def _write(text: str, stream: TextIO | None) -> None:
    if stream is not None:
        stream.write(text)
        stream.flush()


def wrapped_for_stderr(line: str) -> str:
    """A line as `say` would print it on stderr, for a printer of its own."""
    return _for_screen(line, sys.stderr, wrapped)


def _for_screen(text: str, stream: TextIO | None, lay_out: Callable[[str, int], str]) -> str:
    if stream is None or not stream.isatty():
        return text
    return lay_out(text, _columns_of(stream))


def _columns_of(terminal: TextIO) -> int:
    """As rich and click measure it: COLUMNS goes before the terminal's own answer."""
    named = os.environ.get("COLUMNS", "")
    if named.isdecimal() and int(named):
        return int(named)
    try:
        return os.get_terminal_size(terminal.fileno()).columns or _USUAL_COLUMNS
    except OSError:
        return _USUAL_COLUMNS


def _is_coloured() -> bool:
    return sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _is_harmless(body: bytes) -> bool:
    try:
        text = body.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        return False
    return visible_text(text) == text
