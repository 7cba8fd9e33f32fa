"""Build request headers, and send credentials only to their origin."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping

from crawl4r.errors import SettingsError
from crawl4r.formats.content_coding import ACCEPTED
from crawl4r.model import Validators
from crawl4r.urls.canonical import split

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BAD_VALUE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_OURS = frozenset(["host", "content-length", "transfer-encoding", "connection", "accept-encoding"])
_CREDENTIALS = frozenset(["authorization", "proxy-authorization", "cookie"])
# Headers that output and archive may show. Any other may carry a key.
_PUBLIC = frozenset(
    [
        "accept",
        "accept-charset",
        "accept-encoding",
        "accept-language",
        "cache-control",
        "dnt",
        "from",
    ]
    + ["max-forwards", "pragma", "priority", "range", "referer", "save-data", "sec-gpc", "te"]
    + ["upgrade-insecure-requests", "user-agent", "via", "x-requested-with"]
)
_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


def check_header(name: str, value: str, key: str) -> None:
    """Refuse values that could inject a second header or request; `key` names the setting."""
    if not _NAME.fullmatch(name):
        raise SettingsError(key, f"{name!r} is not a header name")
    if name.lower() in _OURS:
        raise SettingsError(key, f"{name} is set by crawl4r itself")
    if name.lower() in _CREDENTIALS:
        raise SettingsError(
            key, f"{name} would go to every host; put it under fetch.auth with its origin"
        )
    if _BAD_VALUE.search(value):
        raise SettingsError(key, f"the value of {name} holds a control character or a line break")


def is_public(name: str) -> bool:
    """Whether a request header may be shown, and stored with the capture."""
    return name.lower() in _PUBLIC


class RequestHeaders:
    """Builds the header lines of a request. Credentials go only to their own origin.

    `recorded` are the storable lines that all requests share.
    """

    def __init__(
        self,
        user_agent: str,
        language: str = "en",
        extra: Mapping[str, str] | None = None,
        auth: Mapping[str, str] | None = None,
    ) -> None:
        lines = {
            "User-Agent": user_agent,
            "Accept": _ACCEPT,
            "Accept-Language": language,
            **(extra or {}),
            "Accept-Encoding": ACCEPTED,
        }
        self.common = [f"{name}: {value}" for name, value in lines.items() if value]
        self.recorded = [line for line in self.common if is_public(line.partition(":")[0])]
        self._auth = {origin: _credentials(value) for origin, value in (auth or {}).items()}

    def for_url(self, url: str, validators: Validators | None = None) -> list[str]:
        if not self._auth and validators is None:
            return self.common
        lines = list(self.common)
        if self._auth and (credentials := self._auth.get(split(url).origin)):
            lines.append(f"Authorization: {credentials}")
        return lines + validator_lines(validators) if validators else lines


def validator_lines(validators: Validators) -> list[str]:
    """The headers of a conditional request, without values that could inject a line."""
    pairs = (
        ("If-None-Match", validators.etag),
        ("If-Modified-Since", validators.last_modified),
    )
    return [f"{name}: {value}" for name, value in pairs if value and not _BAD_VALUE.search(value)]


def _credentials(value: str) -> str:
    """`user:password` becomes Basic; a value with a scheme, like `Bearer ...`, stays as it is."""
    if value.partition(" ")[0] in {"Basic", "Bearer", "Token", "Negotiate", "Digest"}:
        return value
    return "Basic " + base64.b64encode(value.encode()).decode()


def as_utf8(value: str) -> str:
    """Decode as UTF-8 if possible: servers that send raw bytes mostly mean UTF-8, not Latin-1."""
    if value.isascii():
        return value
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


def parse_head(head: bytes) -> list[tuple[str, str]]:
    """The headers of the last answer in `head`, with lower-case names and unfolded lines."""
    headers: list[tuple[str, str]] = []
    folded: list[str] = []  # continuation lines of the last header
    for line in head.decode("latin-1").split("\n"):
        if line[:1] in {" ", "\t"}:
            if headers and (more := line.strip()):
                folded.append(more)
            continue
        if folded:
            headers[-1] = _unfolded(headers[-1], folded)
            folded.clear()
        name, colon, value = line.partition(":")
        if line.startswith("HTTP/"):  # a further answer after an interim one (103)
            headers.clear()
        elif colon and name:
            headers.append((name.strip().lower(), value.strip()))
    if folded:
        headers[-1] = _unfolded(headers[-1], folded)
    return headers


def _unfolded(header: tuple[str, str], more: list[str]) -> tuple[str, str]:
    """Join all lines at once, because joining line by line takes quadratic time."""
    name, value = header
    return name, " ".join([value, *more])
