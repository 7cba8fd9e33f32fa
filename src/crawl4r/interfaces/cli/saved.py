"""The options of the crawl that ran in a workspace last."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crawl4r.workspace import Workspace

_NOTE = "options"


def saved_options(workspace: Workspace) -> dict[str, Any]:
    return dict(json.loads(workspace.notes.get(_NOTE) or "{}"))


def save_options(workspace: Workspace, named: dict[str, Any]) -> None:
    given = {name: value for name, value in named.items() if value not in (None, (), {})}
    workspace.notes.put(_NOTE, json.dumps(given, default=str))
    workspace.database.commit()
