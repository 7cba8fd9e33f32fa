"""The options of the crawl that ran in a workspace last, without the passwords among them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from crawl4r.errors import UsageError
from crawl4r.urls.credentials import are_hidden, without_credentials

if TYPE_CHECKING:
    from crawl4r.workspace import Workspace

_NOTE = "options"
_PROXIES = "proxies"


def saved_options(workspace: Workspace) -> dict[str, Any]:
    """As they were given; proxies that needed a password are without it, and cannot be used."""
    return dict(json.loads(workspace.notes.get(_NOTE) or "{}"))


def save_options(workspace: Workspace, named: dict[str, Any]) -> None:
    given = {name: value for name, value in named.items() if value not in (None, (), {})}
    if _PROXIES in given:
        given[_PROXIES] = [without_credentials(proxy) for proxy in given[_PROXIES]]
    workspace.notes.put(_NOTE, json.dumps(given, default=str))
    workspace.database.commit()


def with_passwords(saved: dict[str, Any], configured: Iterable[str]) -> dict[str, Any]:
    """Saved options with which a crawl can go on: `configured` proxies know their passwords.

    Raises UsageError when some proxy is not among them: the crawl must not go on past it.
    """
    known = {without_credentials(proxy): proxy for proxy in configured}
    proxies = [known.get(proxy, proxy) for proxy in saved.get(_PROXIES, ())]
    if missing := [proxy for proxy in proxies if are_hidden(proxy)]:
        raise UsageError(
            f"the name and password of the proxy {missing[0]} are not kept: give --proxy again, or"
            " name it in crawl4r.yaml (fetch.proxies.servers) or in"
            " CRAWL4R_FETCH__PROXIES__SERVERS"
        )
    return {**saved, _PROXIES: proxies} if proxies else saved
