"""Save the options of a crawl in its workspace, where later commands start from them.

Passwords are not saved.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawl4r.errors import UsageError
from crawl4r.safe_text import command_line
from crawl4r.settings.load import SHORT_NAMES
from crawl4r.storage.crawls import peek_crawl_note
from crawl4r.urls.credentials import are_hidden, without_credentials
from crawl4r.wiring.parts import discoverer_folder

if TYPE_CHECKING:
    from crawl4r.workspace.reader import WorkspaceReader
    from crawl4r.workspace.workspace import Workspace

NOTE = "options"
_PROXIES = "proxies"
# A budget belongs to one refresh, and the kind of store to the workspace.
_NOT_REMEMBERED = frozenset(["budget", "store"])
_REMEMBERED = frozenset([*(SHORT_NAMES.keys() - _NOT_REMEMBERED), "profile"])
_ALL = "all"
# Option names that are not the parameter name with dashes.
_TYPED = {
    "hosts": "host",
    "keywords": "keyword",
    "languages": "language",
    _PROXIES: "proxy",
    "collections": "collection",
    "tags": "tag",
}


def saved_options(workspace: WorkspaceReader, crawl: int | None = None) -> dict[str, Any]:
    """The saved options of a crawl, by default of the last one.

    Proxies lack their passwords, so they cannot be used as they are.
    """
    parts = workspace.parts
    return _of_note(parts.notes_of(crawl or parts.last_crawl()).get(NOTE))


def save_options(workspace: Workspace, named: Mapping[str, Any], crawl: int | None = None) -> None:
    parts = workspace.parts
    parts.notes_of(crawl or parts.last_crawl()).put(NOTE, note_of(named))
    workspace.database.commit()


def note_of(named: Mapping[str, Any]) -> str:
    """The note of a crawl that remembers these options."""
    given = {name: named[name] for name in sorted(_REMEMBERED) if _is_given(named.get(name))}
    if _PROXIES in given:
        given[_PROXIES] = [without_credentials(proxy) for proxy in given[_PROXIES]]
    return json.dumps(given, default=str)


def earlier_options(
    path: Path, crawl: str | None = None, *, is_discoverer: bool = False
) -> dict[str, Any]:
    """The options of a crawl in a workspace, by default of the last one; empty before the first.

    Each side of separated mode has its own options. A side that runs for the first time starts from
    those of the other.
    """
    places = [path, discoverer_folder(path)]
    places = places[::-1] if is_discoverer else places
    notes = (peek_crawl_note(place, NOTE, crawl) for place in places)
    return _of_note(next((note for note in notes if note), None))


def still_in_force(earlier: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The earlier options that a command neither sets nor drops with `--forget`."""
    forgotten = {_name_of(word) for word in options.get("forget") or ()}
    if _ALL in forgotten:
        return {}
    return {
        name: value
        for name, value in earlier.items()
        if name not in forgotten and not _is_given(options.get(name))
    }


def _is_given(value: Any) -> bool:
    """Whether the command sets an option; `--no-index` and 0 are values too."""
    return value is not None and value not in ((), [], {})


def with_passwords(saved: dict[str, Any], configured: Iterable[str]) -> dict[str, Any]:
    """Saved options with usable proxies: the `configured` ones supply the passwords.

    Raises UsageError for a proxy that is not configured: the crawl must not run without it.
    """
    known = {without_credentials(proxy): proxy for proxy in configured}
    proxies = [known.get(proxy, proxy) for proxy in saved.get(_PROXIES) or ()]
    if missing := [proxy for proxy in proxies if are_hidden(proxy)]:
        raise UsageError(
            f"the name and password of the proxy {missing[0]} are not kept: give --proxy again, or"
            " name it in crawl4r.yaml (fetch.proxies.servers) or in"
            " CRAWL4R_FETCH__PROXIES__SERVERS, or do without it: --forget proxy"
        )
    return {**saved, _PROXIES: proxies} if proxies else saved


def typed(options: Mapping[str, Any]) -> str:
    """Options in their typed form, quoted for the shell."""
    words: list[str] = []
    for name, value in options.items():
        flag = _word_of(name)
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
            continue
        for item in value if isinstance(value, list | tuple) else [value]:
            words += [f"--{flag}", f"{item:g}" if isinstance(item, float) else str(item)]
    return command_line(*words)


def forgettable(names: Iterable[str | None]) -> list[str]:
    """The valid values of `--forget` for a command with these options."""
    return [_ALL, *sorted(_word_of(name) for name in names if name in _REMEMBERED)]


def _word_of(name: str) -> str:
    """The typed name of an option: `max_pages` becomes `max-pages`."""
    return _TYPED.get(name, name.replace("_", "-"))


def _name_of(word: str) -> str:
    """The option with this typed name."""
    names = {typed_as: name for name, typed_as in _TYPED.items()}
    return names.get(word, word.replace("-", "_"))


def _of_note(note: str | None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(note or "{}")
    return {name: value for name, value in found.items() if name in _REMEMBERED}
