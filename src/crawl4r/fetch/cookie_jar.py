"""A cookie jar with a limit: libcurl keeps every cookie, and scans all of them at each request."""

from __future__ import annotations

import re
from collections import Counter

import pycurl

_SET_COOKIE = re.compile(rb"^set-cookie", re.IGNORECASE | re.MULTILINE)
_COUNTED_AFTER = 250  # set cookies until the next count of the jar
_PER_DOMAIN = 180  # the limit of browsers
_IN_ALL = 3_000


class CookieJar:
    """One cookie jar for all handles of a transport.

    A domain with more cookies than a browser would keep loses all of them. When too many domains have
    set a few each, the jar is emptied.
    """

    def __init__(self) -> None:
        self._share = pycurl.CurlShare()
        self._share.setopt(pycurl.SH_SHARE, pycurl.LOCK_DATA_COOKIE)
        self._uncounted = 0

    def give_to(self, handle: pycurl.Curl) -> None:
        handle.setopt(pycurl.SHARE, self._share)
        handle.setopt(pycurl.COOKIEFILE, "")

    def heed(self, handle: pycurl.Curl, head: bytes) -> None:
        """Count the cookies of an answer with this head, on a handle that uses the jar."""
        self._uncounted += len(_SET_COOKIE.findall(head))
        if self._uncounted > _COUNTED_AFTER:
            self._uncounted = 0
            self._limit(handle)

    def _limit(self, handle: pycurl.Curl) -> None:
        cookies: list[bytes] = handle.getinfo_raw(pycurl.INFO_COOKIELIST)
        owners = Counter(map(_domain_of, cookies))
        kept = [cookie for cookie in cookies if owners[_domain_of(cookie)] <= _PER_DOMAIN]
        if len(kept) > _IN_ALL:
            kept = []
        if len(kept) == len(cookies):
            return
        handle.setopt(pycurl.COOKIELIST, "ALL")
        for cookie in kept:
            handle.setopt(pycurl.COOKIELIST, cookie)


def _domain_of(cookie: bytes) -> bytes:
    """The domain of a line in Netscape's format; HttpOnly cookies have a prefix."""
    return cookie.removeprefix(b"#HttpOnly_").partition(b"\t")[0].removeprefix(b".")
