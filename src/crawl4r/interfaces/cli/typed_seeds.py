"""Turn typed seeds into URLs: find a missing scheme, and report it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from crawl4r import events
from crawl4r.errors import PageUnavailable
from crawl4r.interfaces.cli.output import draws_on_stderr, say
from crawl4r.urls.canonical import has_scheme

if TYPE_CHECKING:
    from crawl4r.settings.load import Settings
    from crawl4r.wiring.seeds import FoundSeed


async def with_schemes(
    settings: Settings,
    typed: Iterable[str],
    workspace: Path | None = None,
    *,
    as_json: bool = False,
) -> tuple[str, ...]:
    """The same seeds, each with a scheme. Prints the chosen schemes on stderr, as text or JSON.

    A URL that the workspace already holds decides; otherwise the host is probed.
    """
    seeds = tuple(typed)
    if all(has_scheme(seed) for seed in seeds):
        return seeds
    from crawl4r.wiring.seeds import find_schemes  # noqa: PLC0415 - most seeds have one
    from crawl4r.workspace.seeds import words_of  # noqa: PLC0415

    if draws_on_stderr() and not as_json:
        say("a URL without a scheme: trying https, then http ...", err=True)

    with ExitStack() as stack:
        found = await find_schemes(settings, seeds, _is_kept_in(workspace, stack))
    for seed in found:
        if not has_scheme(seed.typed) and (seed.url or len(found) > 1):
            _tell(seed, as_json=as_json)
    urls = tuple(seed.url for seed in found if seed.url)
    if not urls:
        raise PageUnavailable(words_of(found[0]) if len(found) == 1 else "no seed answers")
    return urls


def _is_kept_in(path: Path | None, stack: ExitStack) -> Callable[[str], bool]:
    if path is None or not (path / "state.db").exists():
        return lambda url: False
    from crawl4r.interfaces.cli.options import open_for_reading  # noqa: PLC0415

    opened = stack.enter_context(open_for_reading(path))
    return lambda url: bool(opened.captures.of_url(url))


def _tell(seed: FoundSeed, *, as_json: bool) -> None:
    from crawl4r.workspace.seeds import words_of  # noqa: PLC0415

    if as_json:
        why = {"why_not": seed.why_not} if seed.why_not else {}
        events.emit(events.SCHEME_FOUND, 30, typed=seed.typed, url=seed.url, **why)
    else:
        say(f"crawl4r: {words_of(seed)}", err=True)
