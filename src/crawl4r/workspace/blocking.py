"""Coroutines for code that has no event loop, or that is called inside one and cannot wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

_Result = TypeVar("_Result")


def run_blocking(work: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
    """Run a coroutine to its end.

    Inside a running event loop, as in a notebook, it runs in a thread of its own while that loop waits:
    so it must not touch an open workspace.
    """
    if not has_event_loop():
        return asyncio.run(work())
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(work())).result()


def has_event_loop() -> bool:
    """Whether the caller runs inside an event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def iterate_blocking(items: AsyncGenerator[_Result, None]) -> Iterator[_Result]:
    """The items of an asynchronous generator, which goes on only while the next one is waited for."""

    async def next_item() -> _Result:
        return await anext(items)

    async def close() -> None:
        await items.aclose()

    with asyncio.Runner() as runner:
        try:
            while True:
                try:
                    item = runner.run(next_item())
                except StopAsyncIteration:
                    return
                yield item
        finally:
            runner.run(close())
