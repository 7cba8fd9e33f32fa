"""python -m tests.resilience.blocking URL WORKSPACE [exits]: a program that blocks its loop.

It iterates over a crawl and waits at the third page for something slow, as programs do that know no
better: until the watchdog has seen the loop blocked for longer than it would bear, were the process its
own to end. When it is (`exits`), for ever.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time

import crawl4r
from crawl4r.interfaces.cli.log_lines import set_up_logging
from crawl4r.workspace.run import CrawlRun

UNBEARABLE = 2.0  # seconds: two thresholds


def do_something_slow_with_a_page(done: int) -> None:
    os.read(done, 1)


def end_when_it_was_seen(crawl: CrawlRun, done: int) -> None:
    """In a thread, as the event loop is blocked."""
    while (crawl.history["last_stall"] or {}).get("loop_blocked_s", 0.0) < UNBEARABLE:
        time.sleep(0.01)
    os.write(done, b".")


async def main(url: str, workspace: str, *, exits: bool) -> None:
    options = {"allow_private": ["127.0.0.1"], "rate": 0, "extract": False}
    is_done, done = os.pipe()
    async with crawl4r.open(workspace, **options) as opened:
        crawl = opened.crawl(url)
        crawl.may_exit = exits
        number = 0
        async for _ in crawl:
            number += 1
            if number == 3:
                if not exits:
                    threading.Thread(target=end_when_it_was_seen, args=(crawl, done)).start()
                do_something_slow_with_a_page(is_done)
        print(number, "pages")


if __name__ == "__main__":
    set_up_logging("warning", as_json=True)
    url, workspace, *words = sys.argv[1:]
    asyncio.run(main(url, workspace, exits="exits" in words))
