"""A command in a pseudo-terminal, and which characters of its output a site must have smuggled in."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import unicodedata
from pathlib import Path

from tests.interfaces.cli.running import EXECUTABLE, PATIENCE, environment

WIDTH = 2000  # columns: no line is folded, so that whole words can be looked for
WIDE = {"COLUMNS": str(WIDTH)}
# What rich sends: colours, and the moves of a live view. Of OSC only links of ours, which have an id.
_OUR_LINK = re.compile(
    r"\x1b\]8;id=[-0-9]+;(https?://[!-~]+)\x1b\\((?:(?!\x1b\]).)*?)\x1b\]8;;\x1b\\", re.DOTALL
)
_OURS = re.compile(
    r"\r(?=\x1b\[(?:2K|1A))|\x1b\[(?!5;7;8m)[0-9;]*m|\x1b\[(?:\?25[hl]|2K|[0-9]*A)|\r(?=\n)"
)
_BIDI_CONTROLS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def in_terminal(
    *arguments: str | Path,
    env: dict[str, str] | None = None,
    folder: Path | None = None,
    until: str | None = None,
) -> tuple[int, str]:
    """The exit code of a crawl4r command, and all that stdout and stderr show on one terminal.

    A command that does not end by itself gets Ctrl-C when it has shown `until`.
    """
    code, text = on_terminal([str(EXECUTABLE), *map(str, arguments)], env, folder, until)
    assert "Traceback" not in text, text
    return code, text


def on_terminal(
    command: list[str],
    env: dict[str, str] | None = None,
    folder: Path | None = None,
    until: str | None = None,
) -> tuple[int, str]:
    """Any program on a terminal, as `in_terminal`."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 60, WIDTH, 0, 0))
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=environment({"TERM": "xterm-256color", **WIDE, **(env or {})}),
    ) as process:
        os.close(theirs)
        shown = b""
        while more := _read(ours):
            shown += more
            if until is not None and until.encode() in shown:
                process.send_signal(signal.SIGINT)
                until = None
        os.close(ours)
        code = process.wait(PATIENCE)
    return code, shown.decode()


def smuggled(output: str) -> list[str]:
    """Characters, by name, that a terminal obeys or a reader is misled by, and that are not ours."""
    words = _OUR_LINK.sub(r"\2", output)
    return sorted({ascii(c) for c in _OURS.sub("", words) if _is_harmful(c)})


def live_links(output: str) -> list[str]:
    """The addresses of all links that a terminal would follow."""
    ours = _OUR_LINK.findall(output)
    assert output.count("\x1b]8;") == 2 * len(ours), "each opened by us, and closed"
    return [url for url, _ in ours]


def _is_harmful(character: str) -> bool:
    if character in "\n\t":
        return False
    kind = unicodedata.category(character)
    is_tag = "\U000e0000" <= character <= "\U000e007f"
    return kind in {"Cc", "Zl", "Zp", "Cs"} or character in _BIDI_CONTROLS + "\ufeff" or is_tag


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the last process that held it has ended
        return b""
