"""How far a crawl is: one line on a terminal of any width, lines in a pipe, and a clean end."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from rich.cells import cell_len

from crawl4r.interfaces.cli.view.fit_line import fit, room_on
from crawl4r.interfaces.cli.view.live_progress import show_progress
from crawl4r.interfaces.cli.view.progress_bar import progress_bar
from crawl4r.interfaces.cli.view.progress_line import (
    Phase,
    Standing,
    Trouble,
    pieces_of,
    trouble_pieces,
)
from crawl4r.resilience.health_file import health_of
from crawl4r.settings.load import load_settings
from crawl4r.workspace.workspace import Workspace
from tests.interfaces.cli.running import EXECUTABLE, LOOPBACK, environment, run, wait_until
from tests.site.process import SiteProcess
from tests.tenacity.hurried import ABOUT_US, HurriedLoop, hurried_clock

_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_SLOW = ("--allow-private", "127.0.0.1", "--rate", "20")
HUGE = Standing(
    Phase.CRAWLING,
    why="paused by /a/very/long/path/of/a/workspace/that/nobody/would/type/by/hand/ws/pause",
    kept=12_345_678,
    waiting=98_765_432,
    to_make=1_234_567,
    unread=54_321,
    in_flight=256,
    rate=1234.5,
    size=10**13,
    seconds=400_000.0,
    left=500_000.0,
    limited_by="--max-seconds",
    next_in=3_600.0,
    trouble=Trouble("a-host-with-a-rather-long-name.of-a-company.example", 86_400.0, 1_234),
)


class OnTerminal:
    """A command on a terminal of a certain size, and all that it has shown there."""

    def __init__(self, arguments: tuple[str | Path, ...], columns: int, lines: int) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        env = environment({"TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": str(lines)})
        self.process = subprocess.Popen(
            [str(EXECUTABLE), *map(str, arguments)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=env,
        )
        os.close(theirs)
        self._shown = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                more = os.read(self._ours, 65_536)
            except OSError:  # the other end is closed
                return
            self._shown += more

    @property
    def raw(self) -> str:
        return self._shown.decode(errors="replace")

    @property
    def lines(self) -> list[str]:
        """Everything that was ever written on one line of the terminal."""
        return [line for line in re.split(r"[\r\n]+", _SEQUENCE.sub("", self.raw)) if line]

    def wait_until_it_shows(self, words: str) -> None:
        wait_until(lambda: words in self.raw or self.process.poll() is not None)
        assert words in self.raw, self.raw

    def end(self) -> int:
        code = self.process.wait(60)
        self._reader.join()
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join()
        os.close(self._ours)


@contextmanager
def on_terminal(*arguments: str | Path, columns: int = 80, lines: int = 24) -> Iterator[OnTerminal]:
    terminal = OnTerminal(arguments, columns, lines)
    try:
        yield terminal
    finally:
        terminal.close()


@pytest.mark.parametrize("phase", list(Phase))
def test_the_line_fits_at_every_width(phase: Phase) -> None:
    from msgspec.structs import replace

    standing = replace(HUGE, phase=phase)
    for width in range(40, 201):
        for pieces in (pieces_of(standing), trouble_pieces(HUGE.trouble or Trouble("", 0, 0))):
            assert cell_len(fit(pieces, room_on(width))) <= width - 3


@pytest.mark.parametrize("phase", list(Phase))
def test_what_matters_most_is_there_at_60_columns(phase: Phase) -> None:
    standing = Standing(phase, kept=1_234, waiting=567, to_make=89, in_flight=4, left=200.0)
    line = fit(pieces_of(standing), room_on(60))
    assert line.startswith(phase.value)
    if phase in {Phase.READING, Phase.INDEXING, Phase.EMBEDDING}:
        assert "89 " in line and "about 3 min" in line
    elif phase not in {Phase.STARTING, Phase.FINISHING, Phase.NO_STORE}:
        assert "1,234 kept" in line
    if phase is Phase.STOPPING:
        assert "4 in flight" in line
    wide = fit(pieces_of(standing), room_on(80))
    if phase in {Phase.READING, Phase.INDEXING, Phase.EMBEDDING}:
        assert "Ctrl-C leaves the rest for later" in wide


def test_an_estimate_names_the_limit_that_comes_first() -> None:
    standing = Standing(Phase.CRAWLING, kept=1, waiting=900, left=65.0, limited_by="--max-pages")
    assert "about 1 min to --max-pages" in fit(pieces_of(standing), 77)


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_a_crawl_is_drawn_on_one_line_and_ctrl_c_leaves_a_clean_screen(
    site: SiteProcess, tmp_path: Path, columns: int
) -> None:
    site.hold(after=5)
    url = site.url("/site/60/")
    with on_terminal("crawl", url, "-w", tmp_path / "w", *_SLOW, columns=columns) as shown:
        wait_until(lambda: site.held() == 1)
        shown.wait_until_it_shows(" kept")
        shown.process.send_signal(signal.SIGINT)
        shown.wait_until_it_shows("stopping")
        shown.wait_until_it_shows("1 in flight")
        site.release()
        assert shown.end() == 3
        drawn = [line for line in shown.lines if " kept" in line and "pages kept" not in line]
        assert drawn and max(map(cell_len, drawn)) <= columns - 1
        assert any(line.startswith("finishing the pages in flight") for line in shown.lines)
        end = shown.raw.rindex("\x1b[?25h")  # the cursor is back
        assert "\x1b[?25l" not in shown.raw[end:] and "stopping" not in shown.raw[end:]
        assert "Stopped. Nothing is lost." in shown.raw
        assert f"resume -w {tmp_path / 'w'}" in shown.raw


def test_a_paused_crawl_says_so_on_its_screen_and_in_its_health(
    site: SiteProcess, tmp_path: Path
) -> None:
    words = ("crawl", site.url("/site/3000/"), "-w", tmp_path, *_SLOW)
    with on_terminal(*words, columns=200) as shown:
        shown.wait_until_it_shows("waiting")
        run("pause", "-w", tmp_path)
        shown.wait_until_it_shows("paused  ")
        shown.wait_until_it_shows(f"crawl4r pause --off -w {tmp_path}")
        pid = shown.process.pid
        wait_until(lambda: (health_of(tmp_path, pid) or {}).get("state") == "paused")
        run("pause", "-w", tmp_path, "--off")
        shown.wait_until_it_shows("crawl_unpaused")
        shown.process.send_signal(signal.SIGINT)
        assert shown.end() == 3
        # Log lines stand on lines of their own, above what is drawn.
        (line,) = [line for line in shown.lines if "crawl_paused" in line]
        assert line[2] == ":" and "kept" not in line


def hurried_crawl(site: SiteProcess, workspace: Path, seconds: float) -> None:
    """With its progress told to a pipe, and held by the site for so many seconds of its clock."""
    clock = hurried_clock(50.0)
    settings = load_settings(environment={}, overrides=ABOUT_US)

    async def crawl() -> None:
        async with Workspace(workspace, settings, clock=clock) as opened:
            crawling = opened.crawl(site.url("/links/leaf.html"))
            showing = asyncio.create_task(show_progress(crawling, opened, enabled=True))
            await asyncio.sleep(seconds)
            site.release()
            await showing

    with asyncio.Runner(loop_factory=lambda: HurriedLoop(clock)) as runner:
        runner.run(crawl())


def test_a_pipe_gets_a_line_every_ten_seconds(
    site: SiteProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.hold()
    hurried_crawl(site, tmp_path, 35.0)
    told = [line for line in capsys.readouterr().err.splitlines() if "crawling" in line]
    assert len(told) >= 3
    assert told[0].startswith("crawl4r: crawling, 0 kept, 1 waiting")


def test_a_crawl_of_less_than_ten_seconds_tells_a_pipe_nothing(
    site: SiteProcess, tmp_path: Path
) -> None:
    answer = run("crawl", site.url("/site/3/"), "-w", tmp_path, *LOOPBACK)
    assert answer.code == 0 and "crawling" not in answer.err


def test_bars_in_a_pipe_are_a_line_every_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    with progress_bar(True, lambda: now[0]) as bar:
        task = bar.add_task("importing", total=10_000_000, in_bytes=True)
        for _ in range(25):
            now[0] += 1.0
            bar.advance(task, 100_000)
    told = capsys.readouterr().err.splitlines()
    assert told == [
        "crawl4r: importing, 1.0 MB/10.0 MB, about 2 min",
        "crawl4r: importing, 2.0 MB/10.0 MB, about 1 min",
    ]


@pytest.mark.parametrize("columns", [40, 80])
def test_bars_fit_on_a_terminal(crawled: Path, columns: int) -> None:
    with on_terminal("reprocess", "-w", crawled, columns=columns) as shown:
        assert shown.end() == 0
        assert max(map(cell_len, shown.lines)) <= columns - 1
        assert "captures read: 12 " in shown.raw
