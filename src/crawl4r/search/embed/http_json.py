"""JSON requests over HTTP, for servers that embed or rank texts.

The address comes from the operator's configuration and never from a page, so the egress gate of the
crawler does not apply: an embedding server on a private network is the usual case. The client follows
no redirects, because they would receive the token.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import certifi
import pycurl
from msgspec import Struct, field

from crawl4r.errors import UsageError
from crawl4r.politeness.backoff import Backoff, parse_retry_after
from crawl4r.search.embed.server_failed import ServerFailed, error_words, public_url, what_it_said

_BUSY = {429, 502, 503, 504}
_NO_MONEY = {"insufficient_quota", "credit_balance_exhausted"}  # with 429, but no retry helps
_TRANSIENT = {
    pycurl.E_COULDNT_RESOLVE_HOST,
    pycurl.E_COULDNT_CONNECT,
    pycurl.E_PARTIAL_FILE,
    pycurl.E_SSL_CONNECT_ERROR,
    pycurl.E_GOT_NOTHING,
    pycurl.E_SEND_ERROR,
    pycurl.E_RECV_ERROR,
    pycurl.E_HTTP2,
}


class _Answer(Struct, frozen=True):
    status: int
    body: bytes
    retry_after: str | None


class _NoAnswer(Struct, frozen=True):
    problem: str
    is_transient: bool


class Retrying(Struct, frozen=True):
    """How long to wait before a question is asked again, and by which clock."""

    backoff: Backoff = Backoff(retries=4, base=0.5, cap=20.0)
    max_wait: float = 60.0  # seconds; a server that asks for more is given up
    sleep: Callable[[float], object] = time.sleep
    clock: Callable[[], float] = time.time  # epoch seconds
    chance: random.Random = field(default_factory=random.Random)


class JsonClient:
    """A client with one kept connection to one server. One thread at a time may use it."""

    def __init__(
        self,
        url: str,
        *,
        token: str = "",
        timeout: float = 60.0,  # seconds for one answer
        max_bytes: int = 64 * 1024 * 1024,  # of an answer, unpacked
        retrying: Retrying | None = None,
    ) -> None:
        self._url = _checked(url)
        self._token = _checked_token(token)
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._retrying = retrying or Retrying()
        self._handle = pycurl.Curl()

    def get(self, path: str) -> Any:
        """GET and parse the answer; None for an empty one. Raises ServerFailed."""
        return self._ask(path, None)

    def post(self, path: str, question: Any) -> Any:
        """POST, else like `get`. A failed request is repeated, so it must have no side effects."""
        text = json.dumps(question, ensure_ascii=False, separators=(",", ":"))
        return self._ask(path, text.encode("utf-8", "replace"))  # lone surrogates

    def failure(self, path: str, problem: str, status: int = 0) -> ServerFailed:
        """The error for a caller to raise when the content of an answer is invalid."""
        return ServerFailed(public_url(self._url + path), self._without_token(problem), status)

    def close(self) -> None:
        self._handle.close()

    def _ask(self, path: str, question: bytes | None) -> Any:
        retries = self._retrying.backoff.retries
        for attempt in range(retries + 1):
            answer = self._send(path, question)
            if isinstance(answer, _Answer) and answer.status // 100 == 2:
                return self._parse(path, answer)
            wait = self._wait_after(answer, attempt)
            if wait is None or attempt == retries:
                break
            self._retrying.sleep(wait)
        tries = f" ({attempt + 1} times)" if attempt else ""
        if isinstance(answer, _NoAnswer):
            raise self.failure(path, answer.problem + tries)
        raise self.failure(
            path, f"answers {answer.status}{tries}{what_it_said(answer.body)}", answer.status
        )

    def _wait_after(self, answer: _Answer | _NoAnswer, attempt: int) -> float | None:
        """Seconds until the next try; None when there should be none."""
        retrying = self._retrying
        backoff = retrying.backoff.delay(attempt, retrying.chance)
        if isinstance(answer, _NoAnswer):
            return backoff if answer.is_transient else None
        if answer.status not in _BUSY or error_words(answer.body) & _NO_MONEY:
            return None
        asked = parse_retry_after(answer.retry_after, retrying.clock())
        if asked is None:
            return backoff
        return asked if asked <= retrying.max_wait else None

    def _send(self, path: str, question: bytes | None) -> _Answer | _NoAnswer:
        head: list[bytes] = []
        body = bytearray()

        def take(chunk: bytes) -> int | None:
            body.extend(chunk)
            return 0 if len(body) > self._max_bytes else None

        handle = self._handle
        self._aim(path, question)
        handle.setopt(pycurl.HEADERFUNCTION, head.append)
        handle.setopt(pycurl.WRITEFUNCTION, take)
        try:
            handle.perform()
        except pycurl.error as problem:
            if len(body) > self._max_bytes:
                return _NoAnswer(f"answers with more than {self._max_bytes:,} bytes", False)
            return self._explain(*problem.args)
        status = handle.getinfo(pycurl.RESPONSE_CODE)
        return _Answer(status, bytes(body), _header(head, b"retry-after"))

    def _aim(self, path: str, question: bytes | None) -> None:
        handle = self._handle
        handle.reset()  # the connection stays
        handle.setopt(pycurl.URL, self._url + path)
        handle.setopt(pycurl.NOSIGNAL, 1)  # alarms and threads conflict
        handle.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        handle.setopt(pycurl.PROXY, "")  # ignore proxies of the environment, like the crawler
        handle.setopt(pycurl.CAINFO, certifi.where())
        handle.setopt(pycurl.ACCEPT_ENCODING, "gzip")
        handle.setopt(pycurl.TIMEOUT_MS, int(self._timeout * 1000))
        handle.setopt(pycurl.CONNECTTIMEOUT_MS, int(min(self._timeout, 10.0) * 1000))
        # An empty Expect sends a large body at once, without a round trip for its announcement.
        lines = ["Accept: application/json", "Content-Type: application/json", "Expect:"]
        if self._token:
            lines.append(f"Authorization: Bearer {self._token}")
        handle.setopt(pycurl.HTTPHEADER, lines)
        if question is not None:
            handle.setopt(pycurl.POST, 1)
            handle.setopt(pycurl.POSTFIELDS, question)

    def _explain(self, code: int, message: str) -> _NoAnswer:
        if code == pycurl.E_OPERATION_TIMEDOUT:
            if self._handle.getinfo(pycurl.REQUEST_SIZE) == 0:  # the request was not sent
                return _NoAnswer(f"cannot be connected to: {message}", True)
            # No retry: the caller has waited long enough, and retries slow the server down further.
            return _NoAnswer(f"gave no answer within {self._timeout:g} s", False)
        return _NoAnswer(f"cannot be asked: {message or f'curl {code}'}", code in _TRANSIENT)

    def _parse(self, path: str, answer: _Answer) -> Any:
        if not answer.body.strip():
            return None
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError) as problem:
            told = f"answers with something that is not JSON: {problem}"
            raise self.failure(path, told, answer.status) from None

    def _without_token(self, text: str) -> str:
        return text.replace(self._token, "***") if self._token else text


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
        is_good = is_good and not parts.query and not parts.fragment  # the client appends paths
    except ValueError:
        is_good = False
    if not is_good or not url.isascii() or not url.isprintable() or " " in url:
        raise UsageError(f"{public_url(url)!r} is not the http:// address of a server")
    return url.rstrip("/")


def _checked_token(token: str) -> str:
    if token.isascii() and token.isprintable():
        return token
    raise UsageError("the API key has a character that cannot be sent")  # not shown


def _header(lines: list[bytes], wanted: bytes) -> str | None:
    for line in reversed(lines):
        name, _, value = line.partition(b":")
        if name.strip().lower() == wanted:
            return value.strip().decode("latin-1")
    return None
