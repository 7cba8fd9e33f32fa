"""A cache of answers until the index changes. Threads that need the same answer compute it once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class AnswerCache(Generic[T]):
    """A cache shared by threads. An answer is valid only for the mark it was made under."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._answers: OrderedDict[Hashable, tuple[object, T]] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, mark: object, make: Callable[[], T]) -> tuple[T, bool]:
        """The answer, and whether it came from the cache."""
        if (known := self._look_up(key, mark)) is not None:
            return known[0], True
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:  # a second thread waits here, then finds the answer of the first
            if (known := self._look_up(key, mark)) is not None:
                return known[0], True
            try:
                answer = make()
                self._keep(key, mark, answer)
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return answer, False

    def _look_up(self, key: Hashable, mark: object) -> tuple[T] | None:
        with self._lock:
            known = self._answers.get(key)
            if known is None or known[0] != mark:
                return None
            self._answers.move_to_end(key)
            return (known[1],)

    def _keep(self, key: Hashable, mark: object, answer: T) -> None:
        with self._lock:
            self._answers[key] = (mark, answer)
            self._answers.move_to_end(key)
            while len(self._answers) > self._size:
                self._answers.popitem(last=False)
