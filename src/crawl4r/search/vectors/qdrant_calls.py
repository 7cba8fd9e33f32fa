"""Calls to a Qdrant server: retries while it is away, and translates its errors."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeVar

from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import (
    ApiException,
    ResponseHandlingException,
    UnexpectedResponse,
)

from crawl4r.errors import StorageError
from crawl4r.politeness.backoff import Backoff
from crawl4r.urls.credentials import without_credentials

_PASSING = {408, 429, 500, 502, 503, 504}  # statuses worth a retry
_LONGEST_WAIT = 30.0  # seconds, even if the server asks for more

Answer = TypeVar("Answer")


class ServerAway(StorageError):
    """The server did not answer, or refused for the moment."""


def answer_of(
    ask: Callable[[], Answer], backoff: Backoff, sleep: Callable[[float], None]
) -> Answer:
    """Call with the retries of the backoff. Raises ServerAway when all failed, StorageError when the
    server refuses for good."""
    chance = random.Random()
    attempt = 0
    while True:
        try:
            return ask()
        except (ApiException, QdrantException) as problem:
            if not _is_passing(problem):
                words = without_credentials(str(problem))
                raise StorageError(f"Qdrant refused: {words}") from problem
            if attempt == backoff.retries:
                raise ServerAway(f"Qdrant does not answer: {_reason(problem)}") from problem
            sleep(max(backoff.delay(attempt, chance), _asked_wait(problem)))
        attempt += 1


def _is_passing(problem: Exception) -> bool:
    if isinstance(problem, UnexpectedResponse):
        return problem.status_code in _PASSING
    return isinstance(problem, ResponseHandlingException | ResourceExhaustedResponse)


def _reason(problem: Exception) -> str:
    source = problem.source if isinstance(problem, ResponseHandlingException) else problem
    return without_credentials(str(source))


def _asked_wait(problem: Exception) -> float:
    if isinstance(problem, ResourceExhaustedResponse):
        return min(float(problem.retry_after_s), _LONGEST_WAIT)
    return 0.0
