"""A URL that was written without a scheme: the one by which its host answers."""

from __future__ import annotations

from crawl4r.errors import PageUnavailable
from crawl4r.settings.load import Settings
from crawl4r.urls.canonical import has_scheme
from crawl4r.wiring.seeds import FoundSeed


async def find_scheme(settings: Settings, url: str) -> str:
    """The same URL with a scheme. Raises PageUnavailable when its host does not answer."""
    if has_scheme(url):
        return url
    from crawl4r.wiring.seeds import find_schemes  # noqa: PLC0415 - most URLs have one

    (found,) = await find_schemes(settings, [url], lambda url: False)
    if found.url is None:
        raise PageUnavailable(words_of(found))
    return found.url


def words_of(seed: FoundSeed) -> str:
    """What was found, in a sentence."""
    if seed.url is None:
        return f"{seed.typed} {seed.why_not}"
    if seed.why_not:
        return f"{seed.url} is taken for {seed.typed}: https does not answer ({seed.why_not})"
    return f"{seed.url} is taken for {seed.typed}"
