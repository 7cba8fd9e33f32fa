"""python -m tests.tenacity.hurried SPEED URL WORKSPACE [OPTIONS]: a crawl for which time runs faster.

Its clock and its event loop run SPEED times as fast as the machine's; OPTIONS are settings as JSON, and
all others have their defaults. Prints how it ended as JSON; events go to stderr as JSON lines.
"""

from __future__ import annotations

import asyncio
import json
import selectors
import sys
import time
from pathlib import Path
from typing import Any

from crawl4r.clock import Clock
from crawl4r.interfaces.cli.log_lines import set_up_logging
from crawl4r.interfaces.json.crawl_summary import summary_of
from crawl4r.settings.load import load_settings, merge
from crawl4r.workspace.workspace import Workspace

# The site is on this machine, and what is made of pages, or guessed, is no matter of the network.
ABOUT_US: dict[str, Any] = {
    "network": {"allow_private": ["127.0.0.1"]},
    "content": {"extract": False, "probe": False},
    "explore": {"enabled": False},
}


def hurried_clock(speed: float) -> Clock:
    began, began_wall = time.monotonic(), time.time()

    def passed() -> float:
        return (time.monotonic() - began) * speed

    return Clock(lambda: began + passed(), lambda: began_wall + passed(), speed)


class _Selector(selectors.DefaultSelector):
    """Waits for a shorter time than it is told."""

    def __init__(self, speed: float) -> None:
        super().__init__()
        self._speed = speed

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(timeout / self._speed if timeout else timeout)


class HurriedLoop(asyncio.SelectorEventLoop):
    """Every `sleep`, `timeout` and `call_later` is of the clock's seconds."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(_Selector(clock.speed))
        self._hurried = clock

    def time(self) -> float:
        return self._hurried.monotonic()


async def crawl(clock: Clock, url: str, workspace: Path, told: dict[str, Any]) -> dict[str, Any]:
    settings = load_settings(environment={}, overrides=merge(ABOUT_US, told))
    async with Workspace(workspace, settings, clock=clock) as opened:
        run = opened.crawl(url)
        ended = await run.finish()
        return summary_of(run.outcome(ended), opened)


def main() -> None:
    speed, url, workspace, *options = sys.argv[1:]
    told = json.loads(options[0]) if options else {}
    set_up_logging("warning", as_json=True)
    clock = hurried_clock(float(speed))
    with asyncio.Runner(loop_factory=lambda: HurriedLoop(clock)) as runner:
        print(json.dumps(runner.run(crawl(clock, url, Path(workspace), told))))


if __name__ == "__main__":
    main()
