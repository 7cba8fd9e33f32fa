"""Answers that are kept until the index changes, and made once however many ask at the same time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class AnswerCache(Generic[T]):
    """Shared by threads. An answer is good for the mark it was made under, and no other."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._answers: OrderedDict[Hashable, tuple[object, T]] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, mark: object, make: Callable[[], T]) -> tuple[T, bool]:
        """The answer, and whether it was there already."""
        if (known := self._look_up(key, mark)) is not None:
            return known[0], True
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:  # whoever comes second waits for the first, and takes what that one made
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
