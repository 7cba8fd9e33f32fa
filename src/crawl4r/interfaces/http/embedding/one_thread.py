"""Serve many concurrent requests with work that only one thread may do."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

from msgspec import Struct, field

T = TypeVar("T")
R = TypeVar("R")


class Overloaded(Exception):
    """The queue is full."""


class _Request(Struct, Generic[T, R]):
    items: Sequence[T]
    answer: Future[Sequence[R]] = field(default_factory=Future)


class OneThread(Generic[T, R]):
    """Runs `work` in one thread, on the items of all waiting requests, up to `max_batch`.

    `work` gives a result for each item, in their order. When it fails on several requests at once,
    each is tried alone, so that no request fails because of another one.
    """

    def __init__(
        self, work: Callable[[Sequence[T]], Sequence[R]], *, max_batch: int, max_waiting: int
    ) -> None:
        self._work = work
        self._max_batch = max_batch
        self._max_waiting = max_waiting
        self._waiting: deque[_Request[T, R]] = deque()
        self._changed = threading.Condition()
        self._is_closed = False
        self._thread = threading.Thread(target=self._serve, name="one-thread", daemon=True)
        self._thread.start()

    async def ask(self, items: Sequence[T]) -> Sequence[R]:
        """Queue items and return their results. Raises Overloaded when the queue is full."""
        request = _Request[T, R](items)
        with self._changed:
            if self._is_closed or len(self._waiting) >= self._max_waiting:
                raise Overloaded
            self._waiting.append(request)
            self._changed.notify()
        return await asyncio.wrap_future(request.answer)

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive() and not self._is_closed

    def close(self) -> None:
        """Refuse new requests, and return when the queued ones have their answers."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join()

    def _serve(self) -> None:
        while batch := self._next_batch():
            wanted = [one for one in batch if one.answer.set_running_or_notify_cancel()]
            if not self._is_answered(wanted):
                for request in wanted:
                    self._answer_alone(request)

    def _next_batch(self) -> list[_Request[T, R]]:
        """The next batch: one request, and more as long as they fit; empty at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed)
            batch: list[_Request[T, R]] = []
            size = 0
            while self._waiting:
                size += len(self._waiting[0].items)
                if batch and size > self._max_batch:
                    break
                batch.append(self._waiting.popleft())
            return batch

    def _is_answered(self, requests: Sequence[_Request[T, R]]) -> bool:
        """Try a batch of several requests; False when it failed, so that each is tried alone."""
        if len(requests) < 2:
            return False
        try:
            self._answer(requests)
        except Exception:  # the same error comes again for the request that caused it
            return False
        return True

    def _answer_alone(self, request: _Request[T, R]) -> None:
        try:
            self._answer([request])
        except Exception as problem:
            request.answer.set_exception(problem)

    def _answer(self, requests: Sequence[_Request[T, R]]) -> None:
        items = [item for request in requests for item in request.items]
        results = self._work(items)
        if len(results) != len(items):
            raise ValueError(f"{len(results)} results for {len(items)} items")
        start = 0
        for request in requests:
            end = start + len(request.items)
            request.answer.set_result(results[start:end])
            start = end
