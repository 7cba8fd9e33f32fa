"""python -m tests.resilience.blocking URL WORKSPACE SECONDS [exits]: a program that blocks its loop.

It iterates over a crawl and calls `time.sleep` at the third page, as programs do that know no better.
"""

from __future__ import annotations

import asyncio
import sys
import time

import crawl4r
from crawl4r.interfaces.cli.log_lines import set_up_logging


def do_something_slow_with_a_page(seconds: float) -> None:
    time.sleep(seconds)


async def main(url: str, workspace: str, seconds: float, *, exits: bool) -> None:
    options = {"allow_private": ["127.0.0.1"], "rate": 0, "extract": False}
    async with crawl4r.open(workspace, **options) as opened:
        crawl = opened.crawl(url)
        crawl.may_exit = exits
        number = 0
        async for _ in crawl:
            number += 1
            if number == 3:
                do_something_slow_with_a_page(seconds)
        print(number, "pages")


if __name__ == "__main__":
    set_up_logging("warning", as_json=True)
    url, workspace, seconds, *words = sys.argv[1:]
    asyncio.run(main(url, workspace, float(seconds), exits="exits" in words))
