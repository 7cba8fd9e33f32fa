"""The SURT key under which replay tools look up a URL: `org,example)/path?query`.

The labels of the host are reversed, so that a site and its subdomains are neighbours. Spellings that
mostly mean the same page get one key (case, `www.`, a final slash, session ids). The rules are those of
the Wayback Machine's canonicalizer, because writers and readers of an index must use the same keys.
"""

from __future__ import annotations

import re
from urllib.parse import quote_from_bytes, unquote_to_bytes

from crawl4r.urls.canonical import host_of_netloc, split

_WWW = re.compile(r"www\d*\.")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
# All printable characters except `#`, `%` and the space.
_UNESCAPED = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
_PATH_SESSIONS = [
    re.compile(rb"^(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)$", re.IGNORECASE),
    re.compile(rb"^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$", re.IGNORECASE),
]
_QUERY_SESSIONS = [
    re.compile(rb"^(.*)" + parameter + rb"(?:&(.*))?$", re.IGNORECASE)
    for parameter in (
        rb"jsessionid=[0-9a-z]{32}",
        rb"phpsessid=[0-9a-z]{32}",
        rb"sid=[0-9a-z]{32}",
        rb"aspsessionid[a-z]{8}=[a-z]{24}",
        rb"cfid=[^&]+&cftoken=[^&]+",
    )
]


def surt_key(url: str) -> str:
    """The key of a canonical http(s) URL."""
    parts = split(url)
    path, _, query = parts.path.partition("?")
    key = f"{_host(parts.scheme, parts.netloc)}){_path(path)}"
    query = _query(query)
    return f"{key}?{query}" if query else key


def _host(scheme: str, netloc: str) -> str:
    host = host_of_netloc(netloc)
    port = netloc[len(host) + 1 :]
    host = host.strip("[]")
    if match := _WWW.match(host):
        host = host[match.end() :]
    labels = ",".join(reversed(host.split(".")))
    return labels if port in {"", _DEFAULT_PORTS[scheme]} else f"{labels}:{port}"


def _path(path: str) -> str:
    spelled = _escape(_without_dots(_unescape(path))).lower()
    for pattern in _PATH_SESSIONS:
        spelled = pattern.sub(rb"\1\2", spelled)
    if len(spelled) > 1 and spelled.endswith(b"/"):
        spelled = spelled[:-1]
    return spelled.decode("ascii")


def _without_dots(path: bytes) -> bytes:
    """Remove `.` and `..`, which unescaping may reveal, and empty segments."""
    kept: list[bytes] = []
    for name in path.split(b"/")[1:]:
        if name == b".." and kept:
            kept.pop()
        elif name != b".":
            kept.append(name)
    if not kept:
        return b"/"
    *folders, last = kept
    return b"/" + b"".join(folder + b"/" for folder in folders if folder) + last


def _query(query: str) -> str:
    spelled = _escape(_unescape(query))
    for pattern in _QUERY_SESSIONS:
        if match := pattern.match(spelled):
            spelled = match[1] + (match[2] or b"")
    # By name, then by value; a parameter without `=` before one with it.
    parameters = sorted(tuple(one.split(b"=", 1)) for one in spelled.lower().split(b"&"))
    return b"&".join(b"=".join(one) for one in parameters).decode("ascii")


def _unescape(text: str | bytes) -> bytes:
    """Unescape repeatedly: `%2525` becomes a percent sign."""
    while (plain := unquote_to_bytes(text)) != text:
        text = plain
    return plain


def _escape(plain: bytes) -> bytes:
    return quote_from_bytes(plain, safe=_UNESCAPED).encode("ascii")
