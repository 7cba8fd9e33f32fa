"""One canonical spelling for each URL, so that the crawl fetches a page once.

ada parses by the WHATWG standard: case, default ports, dot segments, IDNA and odd IPv4 spellings come
out as in a browser. In addition: no fragment, no credentials, no tracking or session parameters, one
spelling of percent escapes, no doubled slashes. The result is a fixed point: canonical(canonical(u)) is
itself.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import ada_url
from msgspec import Struct

from crawl4r.errors import InvalidUrl
from crawl4r.urls.credentials import without_credentials

TRACKING_PREFIXES = ("utm_", "mtm_", "pk_", "piwik_", "matomo_", "hsa_", "oly_", "vero_")
TRACKING_PARAMS = frozenset(
    ["fbclid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "ysclid"]
    + ["twclid", "ttclid", "igshid", "igsh", "li_fat_id", "mc_cid", "mc_eid", "_hsenc", "_hsmi"]
    + ["__hssc", "__hstc", "__hsfp", "hsctatracking", "mkt_tok", "s_cid", "_ga", "_gl", "_openstat"]
    + ["wickedid", "rb_clickid", "sscid", "srsltid", "epik", "spm", "trk_contact", "trk_msg"]
)
SESSION_PARAMS = frozenset(
    ["phpsessid", "jsessionid", "aspsessionid", "sessionid", "session_id", "sessid"]
    + ["cfid", "cftoken", "zenid", "oscsid"]
)
# Short names that are a session only when the value looks like a token; `sid=12` may be a story.
SUSPECT_SESSION_PARAMS = frozenset(["sid", "session", "token"])

_SESSION_TOKEN = re.compile(
    r"(?=[^&]*[0-9])(?=[^&]*[A-Za-z])[0-9A-Za-z_-]{16,}|[0-9a-fA-F]{16,}|[0-9]{20,}"
)
_PATH_SESSION = re.compile(r";jsessionid=[^/;]*", re.IGNORECASE)
# Not after a stray `%` or `%2`: unescaping `%%32e` would make a new escape and change the URL.
_ESCAPE = re.compile(r"(?<!%)(?<!%[0-9A-Fa-f])%[0-9A-Fa-f]{2}")
_DOUBLED_SLASHES = re.compile(r"(?<!:)//+")
OTHER_SCHEME = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*:")
_SCHEME_NAME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_PORT = re.compile(r"[0-9]{1,5}(?:[/?#]|$)")
_NO_HOST = re.compile(r"https?:(?![/\\]{2}[^/\\?#])", re.IGNORECASE)
_USER = re.compile(r"[^/?#\\]*@")
_MAIL = "mailto:"
# Schemes with digits behind the colon: `tel:112` is no host called tel.
_PORTLESS = frozenset(["data", "javascript", "mailto", "news", "sms", "tel", "urn"])
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ROUNDS_TO_A_FIXED_POINT = 8
_MAY_DIFFER = re.compile(r"[?;%]|[^:]//|/$")  # a link with one may not be canonical
_LONGEST_WRITTEN = 2048  # characters


class CanonicalRules(Struct, frozen=True):
    """How to spell URLs. A profile may change any field."""

    drop_all_params: bool = False
    drop_tracking: bool = True
    drop_params: frozenset[str] = frozenset()  # lower case; added to the tracking and session ones
    keep_params: frozenset[str] = frozenset()  # kept even if another rule drops them
    sort_params: bool = True
    strip_trailing_slash: bool = False
    max_length: int = 2048  # characters


DEFAULT_RULES = CanonicalRules()
AS_WRITTEN = CanonicalRules(drop_tracking=False, sort_params=False)  # parameters keep their order


class UrlParts(NamedTuple):
    """The parts of a canonical URL."""

    scheme: str
    netloc: str  # host, and the port unless it is the scheme's default
    path: str  # with the query

    @property
    def host(self) -> str:
        """The host name or address alone, which identifies a host budget."""
        return host_of_netloc(self.netloc)

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.netloc}"


@lru_cache(maxsize=1024)  # a page's own URL is split a dozen times
def split(canonical_url: str) -> UrlParts:
    """Split a canonical URL. The result is undefined for other text."""
    scheme, _, rest = canonical_url.partition("://")
    netloc, slash, path = rest.partition("/")
    return UrlParts(scheme, netloc, slash + path)


def host_of_netloc(netloc: str) -> str:
    if netloc.startswith("["):
        return netloc[: netloc.index("]") + 1]
    return netloc.partition(":")[0]


def with_scheme(url: str) -> str:
    """Add https to a typed URL without a scheme, such as `example.org/a` or `localhost:8000`.

    Raises InvalidUrl when it is no http(s) URL."""
    url = url.strip()
    if has_scheme(url):
        if _NO_HOST.match(url):
            raise InvalidUrl("host", url)
        return url
    if not url or url[0] in "/?#\\:@":
        raise InvalidUrl("host", url)
    return f"https://{url}"


def has_scheme(typed: str) -> bool:
    """Whether a typed URL has a scheme. Raises InvalidUrl for a scheme other than http or https."""
    name, colon, rest = typed.strip().partition(":")
    if not colon or not _SCHEME_NAME.fullmatch(name):
        return False
    if name.lower() in {"http", "https"} and not _PORT.match(rest):
        return True
    if _PORT.match(rest) and name.lower() not in _PORTLESS:
        return False  # `host:port`
    raise InvalidUrl("scheme", without_credentials(typed) if "://" in typed else typed)


def as_seed(typed: str) -> str:
    """Like `with_scheme`, for a seed: a URL with a user name and password raises InvalidUrl."""
    url = typed.strip()
    if _USER.match(url.partition("://")[2] or url) and not url.lower().startswith(_MAIL):
        raise InvalidUrl("credentials", without_credentials(url))
    return with_scheme(url)


def canonicalize(url: str, base: str | None = None, rules: CanonicalRules = DEFAULT_RULES) -> str:
    """The canonical spelling of `url`, read relative to `base`.

    Raises InvalidUrl when it is not http(s), cannot be parsed or is longer than `rules.max_length`.
    """
    if len(url) > rules.max_length * 4:  # before parsing: a data: URL can be megabytes
        raise InvalidUrl("too-long", url)
    if OTHER_SCHEME.match(url):  # mail, scripts and telephones: not worth parsing
        raise InvalidUrl("scheme", url)
    try:
        href = ada_url.join_url(base, url) if base else ada_url.normalize_url(url)
    except ValueError:
        raise InvalidUrl("unparsable", url) from None
    for _ in range(_ROUNDS_TO_A_FIXED_POINT):
        spelled = _respell(href, rules)
        if spelled == href:
            break
        # Our edits can expose what the parser would resolve (`/a/..;jsessionid=1`): parse again.
        href = _parsed_again(spelled, url)
    else:
        raise InvalidUrl("unparsable", url)
    if len(href) > rules.max_length:
        raise InvalidUrl("too-long", url)
    return href


def written_path(url: str, base: str | None, canonical: str) -> str:
    """Path and query of `url` as it was written, relative to `base`; empty where they are the canonical
    ones. A site's robots.txt may speak of either spelling."""
    if not _MAY_DIFFER.search(url):
        return ""
    try:
        href = ada_url.join_url(base, url) if base else ada_url.normalize_url(url)
    except ValueError:
        return ""
    path = split(href.partition("#")[0]).path
    return path if path != split(canonical).path and len(path) <= _LONGEST_WRITTEN else ""


def _parsed_again(spelled: str, original: str) -> str:
    try:
        return ada_url.normalize_url(spelled)
    except ValueError:
        raise InvalidUrl("unparsable", original) from None


def _respell(href: str, rules: CanonicalRules) -> str:
    scheme, mark, rest = href.partition("://")
    if not mark or scheme not in {"http", "https"}:
        raise InvalidUrl("scheme", href)
    address, _, query = rest.partition("#")[0].partition("?")
    authority, _, path = address.partition("/")
    netloc = _spell_netloc(authority, href)
    path = _spell_path("/" + path, rules)
    if query and (query := _spell_query(query, rules)):
        return f"{scheme}://{netloc}{path}?{query}"
    return f"{scheme}://{netloc}{path}"


def _spell_netloc(authority: str, href: str) -> str:
    netloc = authority.rpartition("@")[2]
    host = host_of_netloc(netloc)
    if host.endswith("."):  # the dot of the DNS root: the same host in another spelling
        netloc = host[:-1] + netloc[len(host) :]
        host = host[:-1]
    if not host or host.startswith(".") or ".." in host or host.endswith("."):
        raise InvalidUrl("host", href)
    return netloc


def _spell_path(path: str, rules: CanonicalRules) -> str:
    if "%" in path:
        path = _ESCAPE.sub(_spell_escape, path)
    if ";" in path:
        path = _PATH_SESSION.sub("", path)
    if "//" in path:
        path = _DOUBLED_SLASHES.sub("/", path)
    if rules.strip_trailing_slash and len(path) > 1:
        path = path.rstrip("/") or "/"
    return path


def _spell_query(query: str, rules: CanonicalRules) -> str:
    if rules.drop_all_params and not rules.keep_params:
        return ""
    if "%" in query:
        query = _ESCAPE.sub(_spell_escape, query)
    params = [param for param in query.split("&") if param and not _is_dropped(param, rules)]
    if rules.sort_params and len(params) > 1:
        params.sort(key=_param_name)  # stable: repeated names keep their order
    return "&".join(params)


def _param_name(param: str) -> str:
    return param.partition("=")[0]


def _is_dropped(param: str, rules: CanonicalRules) -> bool:
    name, _, value = param.partition("=")
    name = name.lower()
    if name in rules.keep_params:
        return False
    if rules.drop_all_params or name in rules.drop_params:
        return True
    if not rules.drop_tracking:
        return False
    if name in TRACKING_PARAMS or name in SESSION_PARAMS or name.startswith(TRACKING_PREFIXES):
        return True
    return name in SUSPECT_SESSION_PARAMS and _SESSION_TOKEN.fullmatch(value) is not None


def _spell_escape(match: re.Match[str]) -> str:
    escape = match.group()
    character = chr(int(escape[1:], 16))
    return character if character in _UNRESERVED else escape.upper()


def try_canonicalize(text: str, base: str | None = None) -> str:
    """The http(s) URL that `text` names, relative to `base`, with all its parameters; else empty.

    A text of white space names no URL, although a browser would take it for `base` itself.
    """
    if not text or text.isspace():
        return ""
    try:
        return canonicalize(text, base, AS_WRITTEN)
    except InvalidUrl:
        return ""
